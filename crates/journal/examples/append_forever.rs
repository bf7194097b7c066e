//! Appends to one run and prints each version once it is acknowledged, until it has appended as often as asked, is
//! refused, or is killed: `append_forever <database> <run> [how often]`. The tests start it and kill it.

use std::io::{Write, stdout};
use std::process::ExitCode;
use windlass_engine::{Append, Journal, JournalError, Lease, LeaseAnswer};
use windlass_journal::SqliteJournal;
use windlass_protocols::{Actor, Fact, Millis, RunId};

/// More than one, so that half an append could be seen.
const FACTS_PER_APPEND: u64 = 2;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [database, run, times @ ..] = arguments.as_slice() else {
        say("usage: append_forever <database> <run> [how often]");
        return ExitCode::FAILURE;
    };
    let times = times.first().map_or(u64::MAX, |text| text.parse().expect("a number"));
    let runtime = tokio::runtime::Builder::new_current_thread()
        .build()
        .expect("a runtime without drivers needs nothing from the system");
    let journal = SqliteJournal::open(database).expect("the journal opens");
    match runtime.block_on(append_all(&journal, &RunId::new(run), times)) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            say(&format!("refused {error}"));
            ExitCode::FAILURE
        }
    }
}

async fn append_all(journal: &SqliteJournal, run: &RunId, times: u64) -> Result<(), JournalError> {
    let lease = lease(journal, run).await?;
    let mut version = journal.read(run, 0).await?.len() as u64;
    say(&format!("lease {}", lease.fence));
    for _ in 0..times {
        let facts = (version..version + FACTS_PER_APPEND).map(fact).collect();
        journal
            .append(Append {
                lease: lease.clone(),
                run: run.clone(),
                expected_version: version,
                at: Millis(version),
                facts,
                headline: version.to_string(),
            })
            .await?;
        version += FACTS_PER_APPEND;
        say(&format!("acknowledged {version}"));
    }
    Ok(())
}

fn fact(version: u64) -> Fact {
    Fact::StopAsked { by: Actor::Human("append_forever".to_owned()), reason: format!("fact {version}") }
}

/// Whoever held the lease before is dead: the test killed it.
async fn lease(journal: &SqliteJournal, run: &RunId) -> Result<Lease, JournalError> {
    let owner = format!("process {}", std::process::id());
    let holder = match journal.acquire(run.as_str(), &owner, Millis(1)).await? {
        LeaseAnswer::Granted(lease) => return Ok(lease),
        LeaseAnswer::Held(holder) => holder,
    };
    match journal.take_over(&holder, &owner, Millis(2)).await? {
        LeaseAnswer::Granted(lease) => Ok(lease),
        LeaseAnswer::Held(holder) => Err(JournalError::Fenced { key: holder.key }),
    }
}

fn say(line: &str) {
    writeln!(stdout().lock(), "{line}").expect("the test reads what is said");
}
