//! Several handles and several processes on one file.

use crate::support::{Appender, Place, append, fact, fill, granted, lease, number, verified, wait};
use std::sync::Barrier;
use windlass_engine::{Holder, Journal, JournalError};
use windlass_journal::SqliteJournal;
use windlass_protocols::{Millis, RunId};

#[test]
fn two_processes_append_to_different_runs_without_loss() {
    let place = Place::new();
    let runs = [RunId::new("left"), RunId::new("right")];
    let children = runs.each_ref().map(|run| Appender::start(&place.file(), run, &["150"], &[]));
    for child in children {
        let (acknowledged, last, status) = child.end();
        assert!(status.success(), "{last}");
        assert_eq!(acknowledged, 300);
    }
    let journal = place.open();
    for run in &runs {
        assert_eq!(wait(verified(&journal, run)).len(), 300);
    }
}

#[test]
fn a_process_whose_lease_was_taken_over_is_refused() {
    let place = Place::new();
    let run = RunId::new("fenced");
    let mut child = Appender::start(&place.file(), &run, &[], &[]);
    let fence = number(child.line().unwrap().strip_prefix("lease ").unwrap());
    assert!(child.line().unwrap().starts_with("acknowledged "));
    let journal = place.open();
    let seen = Holder { key: run.as_str().to_owned(), owner: String::new(), fence, since: Millis(0) };
    let mine = granted(wait(journal.take_over(&seen, "test", Millis(3))));
    let (acknowledged, last, status) = child.end();
    assert!(!status.success());
    assert_eq!(last, "refused the lease on fenced was taken over");
    let kept = wait(verified(&journal, &run)).len() as u64;
    assert_eq!(kept, acknowledged, "nothing was stored after the lease was lost");
    wait(journal.append(append(&mine, &run, kept, vec![fact("mine")]))).unwrap();
    assert_eq!(wait(verified(&journal, &run)).len() as u64, kept + 1);
}

#[test]
fn of_two_handles_at_the_same_version_one_is_refused() {
    let place = Place::new();
    let (first, second) = (place.open(), place.open());
    let run = RunId::new("contended");
    wait(async {
        let lease = lease(&first, &run).await;
        first.append(append(&lease, &run, 0, vec![fact("first")])).await.unwrap();
        match second.append(append(&lease, &run, 0, vec![fact("second")])).await {
            Err(JournalError::VersionConflict { expected: 0, actual: 1, .. }) => {}
            other => unreachable!("the second must be refused, got {other:?}"),
        }
        second.append(append(&lease, &run, 1, vec![fact("second")])).await.unwrap();
        assert_eq!(verified(&first, &run).await.len(), 2);
    });
}

#[test]
fn many_threads_on_clones_and_own_handles_lose_nothing() {
    let place = Place::new();
    let shared = place.open();
    std::thread::scope(|scope| {
        for number in 0..8 {
            let journal = if number % 2 == 0 { shared.clone() } else { place.open() };
            scope.spawn(move || wait(fill(&journal, &RunId::new(format!("run {number}")), 40)));
        }
    });
    for number in 0..8 {
        let stored = wait(verified(&shared, &RunId::new(format!("run {number}"))));
        assert_eq!(stored.len(), 40);
    }
    assert_eq!(wait(shared.runs()).unwrap().len(), 8);
}

#[test]
fn a_new_file_opened_by_many_at_once_is_made_once() {
    for _ in 0..20 {
        let place = Place::new();
        let all_at_once = Barrier::new(6);
        std::thread::scope(|scope| {
            for number in 0..6 {
                let (place, all_at_once) = (&place, &all_at_once);
                scope.spawn(move || {
                    all_at_once.wait();
                    let journal = SqliteJournal::open(place.file()).unwrap();
                    wait(fill(&journal, &RunId::new(format!("run {number}")), 1));
                });
            }
        });
        assert_eq!(wait(place.open().runs()).unwrap().len(), 6);
    }
}

#[test]
fn dropping_the_last_handle_finishes_what_was_queued() {
    let place = Place::new();
    let journal = place.open();
    let run = RunId::new("queued");
    let lease = wait(lease(&journal, &run));
    for version in 0..50 {
        let mut unheard = Box::pin(journal.append(append(&lease, &run, version, vec![fact("queued")])));
        // Polled once, which queues it; then nobody waits for the answer any more.
        let mut nobody = std::task::Context::from_waker(std::task::Waker::noop());
        let _ = unheard.as_mut().poll(&mut nobody);
    }
    drop(journal);
    assert!(!place.directory().join("journal.db-wal").exists(), "the file is closed");
    assert_eq!(wait(verified(&place.open(), &run)).len(), 50);
}

#[test]
fn readers_do_not_wait_for_a_writer_that_holds_the_lock() {
    let place = Place::new();
    let journal = place.open();
    let run = RunId::new("read");
    wait(fill(&journal, &run, 3));
    let other = rusqlite::Connection::open(place.file()).unwrap();
    other.execute_batch("BEGIN IMMEDIATE; DELETE FROM facts").unwrap();
    assert_eq!(wait(verified(&journal, &run)).len(), 3);
    other.execute_batch("ROLLBACK").unwrap();
}

#[test]
fn the_change_counter_moves_with_every_commit_and_only_then() {
    let place = Place::new();
    let (watched, other) = (place.open(), place.open());
    let run = RunId::new("watched");
    let start = watched.change_counter().unwrap();
    assert_eq!(watched.change_counter().unwrap(), start);
    wait(watched.post(&run, "from this handle", Millis(1))).unwrap();
    let own = watched.change_counter().unwrap();
    assert_ne!(own, start);
    wait(watched.messages(&run)).unwrap();
    assert_eq!(watched.change_counter().unwrap(), own, "reading changes nothing");
    wait(other.post(&run, "from another", Millis(1))).unwrap();
    assert_ne!(watched.change_counter().unwrap(), own);
}
