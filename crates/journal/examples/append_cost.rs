//! What an append costs against one bare SQLite commit of the same bytes, taken in turns so that both meet the same
//! disk: `append_cost <directory> [rounds]`. Prints the two medians and their ratio. Only a release build counts.

#![expect(clippy::disallowed_methods, reason = "this program measures time")]

use rusqlite::Connection;
use std::io::{Write, stdout};
use std::path::Path;
use std::time::{Duration, Instant};
use windlass_engine::{Append, Journal, Lease, LeaseAnswer};
use windlass_journal::SqliteJournal;
use windlass_protocols::{Actor, Fact, Millis, RunId};

const FACTS_PER_APPEND: u64 = 3;

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let directory = Path::new(arguments.first().expect("usage: append_cost <directory> [rounds]"));
    let rounds: u64 = arguments.get(1).map_or(1_000, |text| text.parse().expect("a number"));
    let bare = bare(directory);
    let journal = SqliteJournal::open(directory.join("journal.db")).expect("the journal opens");
    let run = RunId::new("measured");
    let (mut bare_times, mut journal_times) = (Vec::new(), Vec::new());
    tokio::runtime::Builder::new_current_thread()
        .build()
        .expect("a runtime without drivers needs nothing from the system")
        .block_on(async {
            let answer = journal.acquire("measured", "append_cost", Millis(1)).await;
            let Ok(LeaseAnswer::Granted(lease)) = answer else {
                unreachable!("a new directory is needed, got {answer:?}");
            };
            for round in 0..rounds {
                let append = append(&lease, &run, round * FACTS_PER_APPEND);
                bare_times.push(timed(|| commit_bare(&bare, &append.facts)));
                let begin = Instant::now();
                journal.append(append).await.expect("the append works");
                journal_times.push(begin.elapsed());
            }
        });
    let (bare, journal) = (median(bare_times), median(journal_times));
    let ratio = journal.as_secs_f64() / bare.as_secs_f64();
    writeln!(stdout(), "bare commit {bare:?}, append {journal:?}, ratio {ratio:.2}")
        .expect("somebody reads the result");
}

/// The least that keeps the same bytes: one table, one row for each fact, one transaction.
fn bare(directory: &Path) -> Connection {
    let connection = Connection::open(directory.join("bare.db")).expect("a new file opens");
    connection
        .execute_batch(
            "PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL;
             CREATE TABLE facts (id INTEGER PRIMARY KEY, payload TEXT NOT NULL) STRICT;",
        )
        .expect("a new file takes a table");
    connection
}

fn commit_bare(connection: &Connection, facts: &[Fact]) {
    let execute = |sql: &str| {
        connection
            .prepare_cached(sql)
            .and_then(|mut statement| statement.execute(()))
            .expect("the statement works");
    };
    execute("BEGIN IMMEDIATE");
    for fact in facts {
        let payload = serde_json::to_string(fact).expect("facts are plain data");
        connection
            .prepare_cached("INSERT INTO facts (payload) VALUES (?1)")
            .and_then(|mut insert| insert.execute([payload]))
            .expect("the insert works");
    }
    execute("COMMIT");
}

fn append(lease: &Lease, run: &RunId, expected_version: u64) -> Append {
    let fact = Fact::StopAsked {
        by: Actor::Human("append_cost".to_owned()),
        reason: "a sentence of about the length that facts have ".repeat(6),
    };
    Append {
        lease: lease.clone(),
        run: run.clone(),
        expected_version,
        at: Millis(expected_version),
        facts: (0..FACTS_PER_APPEND).map(|_| fact.clone()).collect(),
        headline: "{\"state\":\"measured\"}".to_owned(),
    }
}

fn timed(work: impl FnOnce()) -> Duration {
    let begin = Instant::now();
    work();
    begin.elapsed()
}

fn median(mut times: Vec<Duration>) -> Duration {
    times.sort();
    times[times.len() / 2]
}
