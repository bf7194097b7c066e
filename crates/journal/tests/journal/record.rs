//! What the journal tells of itself: the list rebuilt, the health, a long run, a record written long ago.

use crate::support::{Place, append, fact, fill, lease, read_beyond, read_proven, verified, wait};
use rusqlite::Connection;
use windlass_engine::engine::replay;
use windlass_engine::{Journal, JournalError};
use windlass_journal::Integrity;
use windlass_protocols::{Fact, Millis, Run, RunId};

fn headline(run: &Run) -> String {
    format!("{{\"facts\":{}}}", run.version)
}

#[test]
fn the_list_of_runs_can_be_thrown_away_and_rebuilt() {
    let place = Place::new();
    let journal = place.open();
    for (name, facts) in [("short", 1), ("long", 5)] {
        wait(fill(&journal, &RunId::new(name), facts));
    }
    let before = wait(journal.runs()).unwrap();
    let vandal = Connection::open(place.file()).unwrap();
    vandal.execute_batch("DELETE FROM runs; INSERT INTO runs VALUES ('ghost', 1, 1, 1, '')").unwrap();
    wait(journal.rebuild_read_models(headline)).unwrap();
    let after = wait(journal.runs()).unwrap();
    assert_eq!(after.len(), 2);
    for (rebuilt, original) in after.iter().zip(&before) {
        assert_eq!(rebuilt.run, original.run);
        assert_eq!((rebuilt.version, rebuilt.started_at), (original.version, original.started_at));
        assert_eq!(rebuilt.updated_at, original.updated_at);
        assert_eq!(rebuilt.headline, format!("{{\"facts\":{}}}", rebuilt.version));
    }
}

#[test]
fn a_rebuild_that_cannot_read_a_fact_changes_nothing() {
    let place = Place::new();
    let journal = place.open();
    for name in ["a", "b", "c"] {
        wait(fill(&journal, &RunId::new(name), 2));
    }
    let before = wait(journal.runs()).unwrap();
    let vandal = Connection::open(place.file()).unwrap();
    vandal.execute_batch("UPDATE facts SET payload = '{}' WHERE run = 'b' AND version = 1").unwrap();
    match wait(journal.rebuild_read_models(headline)) {
        Err(JournalError::Corrupt { run, version: 1, .. }) => assert_eq!(run, RunId::new("b")),
        other => unreachable!("the unreadable fact must be named, got {other:?}"),
    }
    assert_eq!(wait(journal.runs()).unwrap(), before);
}

#[test]
fn an_append_heals_a_list_that_lost_its_line() {
    let place = Place::new();
    let journal = place.open();
    let run = RunId::new("lost");
    let lease = wait(fill(&journal, &run, 2));
    let vandal = Connection::open(place.file()).unwrap();
    vandal.execute_batch("DELETE FROM runs").unwrap();
    wait(journal.append(append(&lease, &run, 2, vec![fact("two")]))).unwrap();
    let heads = wait(journal.runs()).unwrap();
    assert_eq!((heads[0].version, heads[0].started_at), (3, Millis(1_000)));
}

#[test]
fn health_tells_what_is_there() {
    let place = Place::new();
    let journal = place.open();
    wait(fill(&journal, &RunId::new("a"), 3));
    wait(fill(&journal, &RunId::new("b"), 4));
    let health = wait(journal.health()).unwrap();
    assert_eq!(health.path, place.file());
    assert_eq!((health.runs, health.facts), (Some(2), Some(7)));
    assert_eq!(health.integrity, Integrity::Sound);
    assert_eq!(health.schema_version, 2);
    assert!(health.sqlite_version.starts_with("3."));
    assert!(health.size > 0 && health.wal_size > 0, "{health:?}");
}

#[test]
fn a_long_run_read_with_its_proof_is_the_run_that_was_stored() {
    let place = Place::new();
    let journal = place.open();
    let run = RunId::new("long");
    wait(async {
        let lease = lease(&journal, &run).await;
        let facts: Vec<Fact> = (0..10_000).map(|number| fact(&number.to_string())).collect();
        journal.append(append(&lease, &run, 0, facts.clone())).await.unwrap();
        let (found, tip) = read_proven(&journal, &run).await.unwrap();
        assert_eq!(found, facts);
        assert_eq!(tip.version(), 10_000);
        journal.append(append(&lease, &run, 10_000, vec![fact("news")])).await.unwrap();
        let (news, tip) = read_beyond(&journal, tip).await.unwrap();
        assert_eq!(news, [fact("news")], "only what is new is read again");
        assert_eq!(tip.version(), 10_001);
    });
}

/// Everything written to the log must be flushed before an append is acknowledged.
#[test]
fn an_append_writes_little_more_than_its_facts() {
    let place = Place::new();
    let journal = place.open();
    let run = RunId::new("weighed");
    let lease = wait(fill(&journal, &run, 1));
    let log = || std::fs::metadata(place.directory().join("journal.db-wal")).unwrap().len();
    let before = log();
    let facts: Vec<Fact> = (0..64).map(|_| fact(&"x".repeat(1_200))).collect();
    wait(journal.append(append(&lease, &run, 1, facts))).unwrap();
    let written = log() - before;
    assert!(written < 64 * 1_200 * 3 / 2, "{written} bytes of log for 64 facts of 1,200");
}

#[test]
fn a_number_that_does_not_fit_is_refused_and_stores_nothing() {
    let place = Place::new();
    let journal = place.open();
    let run = RunId::new("far");
    wait(async {
        let lease = lease(&journal, &run).await;
        let mut far = append(&lease, &run, 0, vec![fact("far")]);
        far.at = Millis(u64::MAX);
        assert!(matches!(journal.append(far).await, Err(JournalError::Unavailable { .. })));
        assert!(journal.read(&run, u64::MAX).await.unwrap().is_empty());
        assert!(journal.read(&run, 0).await.unwrap().is_empty());
        assert!(journal.runs().await.unwrap().is_empty());
    });
}

#[test]
#[expect(clippy::disallowed_methods, reason = "the time is printed, nothing depends on it")]
fn a_hundred_thousand_facts_are_read_at_once() {
    const FACTS: u64 = 100_000;
    let place = Place::new();
    let journal = place.open();
    let run = RunId::new("long");
    // Made by SQL: what is tried here is reading, and hashing that many in a test build takes seconds.
    Connection::open(place.file())
        .unwrap()
        .execute(
            "WITH RECURSIVE numbers (n) AS (SELECT 0 UNION ALL SELECT n + 1 FROM numbers WHERE n + 1 < ?1)
             INSERT INTO facts SELECT 'long', n, n, hex(zeroblob(32)), ?2 FROM numbers",
            (i64::try_from(FACTS).unwrap(), "x".repeat(300)),
        )
        .unwrap();
    wait(async {
        let begin = std::time::Instant::now();
        let stored = journal.read(&run, 0).await.unwrap();
        println!("{} facts read in {:?}", stored.len(), begin.elapsed());
        assert_eq!(stored.len() as u64, FACTS);
        assert_eq!(journal.read(&run, FACTS - 7).await.unwrap().len(), 7);
    });
}

/// A journal as version 1 wrote it. This file is never changed: whatever comes later must be able to read it.
#[test]
fn a_journal_of_version_1_is_read_for_ever() {
    let place = Place::new();
    Connection::open(place.file()).unwrap().execute_batch(include_str!("../fixtures/v1.sql")).unwrap();
    let journal = place.open();
    wait(async {
        let run = RunId::new("RUN-fixture");
        let stored = verified(&journal, &run).await;
        let names: Vec<&str> = stored.iter().map(|row| row.fact(&run).unwrap().name()).collect();
        assert_eq!(names, ["run-started", "effect-requested", "effect-settled", "stop-asked", "run-ended"]);
        let state = replay(&run, &stored).unwrap();
        assert_eq!(state.version, 5);
        assert!(state.ended && state.unsettled.is_empty());
        assert_eq!(state.started.unwrap().id, run);
        let started = stored[0].fact(&run).unwrap();
        assert!(matches!(started, Fact::RunStarted { version: 1, .. }));
        let heads = journal.runs().await.unwrap();
        assert_eq!(heads.len(), 1);
        assert_eq!((heads[0].version, heads[0].headline.as_str()), (5, "{\"task\":\"TASK-1\"}"));
        let waiting = journal.messages(&run).await.unwrap();
        assert_eq!(waiting.len(), 1);
        assert_eq!(waiting[0].body, "{\"stop\":\"enough\"}");
        let lease = lease(&journal, &run).await;
        assert_eq!(lease.fence, 3, "fences go on where they were");
        journal.append(append(&lease, &run, 5, vec![fact("new")])).await.unwrap();
        assert_eq!(verified(&journal, &run).await.len(), 6);
    });
}

#[test]
fn an_old_journal_gets_the_tables_of_a_new_one() {
    let (old, new) = (Place::new(), Place::new());
    Connection::open(old.file()).unwrap().execute_batch(include_str!("../fixtures/v1.sql")).unwrap();
    let tables = |place: &Place| -> Vec<(String, Option<String>)> {
        drop(place.open());
        Connection::open(place.file())
            .unwrap()
            .prepare("SELECT name, sql FROM sqlite_schema ORDER BY name")
            .unwrap()
            .query_map((), |row| Ok((row.get(0)?, row.get(1)?)))
            .unwrap()
            .map(Result::unwrap)
            .collect()
    };
    assert_eq!(tables(&old), tables(&new));
}
