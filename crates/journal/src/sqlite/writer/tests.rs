//! What a batch does when one of its changes cannot be done, and who carries a change out. The queue of a batch is
//! filled before it is served, so that the batch is known.

use super::{Change, Counted, Pending, Writer, serve_batch};
use crate::sqlite::failure::Failure;
use rusqlite::Connection;
use std::future::Future;
use std::path::Path;
use std::pin::pin;
use std::sync::Arc;
use std::sync::mpsc::channel;
use std::task::{Context, Waker};
use std::thread::ThreadId;
use tempfile::TempDir;
use tokio::sync::oneshot;
use windlass_engine::JournalError;

type Answer = Result<(), JournalError>;

fn insert(number: i64) -> impl FnMut(&Connection) -> Result<(), Failure> + Send {
    move |connection| {
        connection.execute("INSERT INTO numbers VALUES (?1)", [number])?;
        Ok(())
    }
}

/// Refused only after it has written something.
fn refuse(number: i64) -> impl FnMut(&Connection) -> Result<(), Failure> + Send {
    move |connection| {
        insert(number)(connection)?;
        Err(JournalError::Fenced { key: number.to_string() }.into())
    }
}

fn change(
    work: impl FnMut(&Connection) -> Result<(), Failure> + Send + 'static,
) -> (Box<dyn Change>, oneshot::Receiver<Answer>) {
    let (reply, answer) = oneshot::channel();
    (Box::new(Pending { work, result: None, reply, counted: Counted::new(&Arc::default()) }), answer)
}

fn serve_all(
    connection: &Connection,
    changes: Vec<(Box<dyn Change>, oneshot::Receiver<Answer>)>,
) -> Vec<Answer> {
    let (queue, requests) = channel();
    let (changes, answers): (Vec<_>, Vec<_>) = changes.into_iter().unzip();
    for change in changes {
        queue.send(change).expect("the other end is still held here");
    }
    drop(queue);
    while let Ok(first) = requests.recv() {
        serve_batch(connection, Path::new("numbers.db"), first, &requests);
    }
    answers.into_iter().map(|mut answer| answer.try_recv().expect("everything is answered")).collect()
}

fn numbers(connection: &Connection) -> Vec<i64> {
    connection
        .prepare("SELECT number FROM numbers ORDER BY number")
        .unwrap()
        .query_map((), |row| row.get(0))
        .unwrap()
        .map(Result::unwrap)
        .collect()
}

fn database() -> Connection {
    let connection = Connection::open_in_memory().unwrap();
    connection.execute_batch("CREATE TABLE numbers (number INTEGER PRIMARY KEY) STRICT").unwrap();
    connection
}

#[test]
fn a_refused_change_leaves_nothing_and_hurts_no_neighbour() {
    let connection = database();
    let answers = serve_all(&connection, vec![change(insert(1)), change(refuse(2)), change(insert(3))]);
    assert!(answers[0].is_ok() && answers[2].is_ok());
    assert!(matches!(&answers[1], Err(JournalError::Fenced { key }) if key == "2"));
    assert_eq!(numbers(&connection), [1, 3]);
}

#[test]
fn a_change_refused_alone_leaves_nothing_and_the_next_one_works() {
    let connection = database();
    let answers = serve_all(&connection, vec![change(refuse(1))]);
    assert!(matches!(&answers[0], Err(JournalError::Fenced { key }) if key == "1"));
    assert!(connection.is_autocommit(), "no transaction may stay open");
    assert!(numbers(&connection).is_empty());
    assert!(serve_all(&connection, vec![change(insert(2))])[0].is_ok());
    assert_eq!(numbers(&connection), [2]);
}

#[test]
fn a_change_that_sqlite_cannot_do_fails_alone() {
    let connection = database();
    let answers = serve_all(&connection, vec![change(insert(1)), change(insert(1)), change(insert(3))]);
    assert!(answers[0].is_ok() && answers[2].is_ok());
    match &answers[1] {
        Err(JournalError::Unavailable { why }) => assert!(why.starts_with("numbers.db: UNIQUE"), "{why}"),
        other => unreachable!("the second of two equal keys must fail, got {other:?}"),
    }
    assert_eq!(numbers(&connection), [1, 3]);
}

#[test]
fn a_full_disk_fails_what_does_not_fit_and_keeps_the_rest() {
    let connection = database();
    connection.execute_batch("CREATE TABLE blobs (bytes BLOB) STRICT").unwrap();
    connection.pragma_update(None, "max_page_count", 8).unwrap();
    let too_much = |connection: &Connection| {
        connection.execute("INSERT INTO blobs VALUES (zeroblob(1000000))", ())?;
        Ok(())
    };
    let answers = serve_all(&connection, vec![change(insert(1)), change(too_much), change(insert(3))]);
    assert!(answers[0].is_ok() && answers[2].is_ok(), "{answers:?}");
    assert!(matches!(answers[1], Err(JournalError::Unavailable { .. })));
    assert_eq!(numbers(&connection), [1, 3]);
}

#[test]
fn a_commit_that_fails_puts_everybody_in_doubt() {
    let connection = database();
    // A deferred constraint is found out only by the commit itself.
    connection
        .execute_batch(
            "PRAGMA foreign_keys = ON;
             CREATE TABLE children (parent INTEGER REFERENCES numbers DEFERRABLE INITIALLY DEFERRED) STRICT",
        )
        .unwrap();
    let orphan = |connection: &Connection| {
        connection.execute("INSERT INTO children VALUES (99)", ())?;
        Ok(())
    };
    let answers = serve_all(&connection, vec![change(insert(1)), change(orphan), change(refuse(3))]);
    for answer in answers {
        assert!(matches!(answer, Err(JournalError::Unavailable { .. })), "{answer:?}");
    }
    assert!(numbers(&connection).is_empty());
    assert!(serve_all(&connection, vec![change(insert(4))])[0].is_ok(), "the next one works again");
    assert_eq!(numbers(&connection), [4]);
}

#[test]
fn everything_queued_shares_one_commit() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("numbers.db");
    let connection = Connection::open(&path).unwrap();
    connection
        .execute_batch("PRAGMA journal_mode = WAL; CREATE TABLE numbers (number INTEGER PRIMARY KEY) STRICT;")
        .unwrap();
    let log = || std::fs::metadata(directory.path().join("numbers.db-wal")).unwrap().len();
    let before = log();
    let answers = serve_all(&connection, (0..100).map(|number| change(insert(number))).collect());
    assert!(answers.iter().all(Result::is_ok));
    // Each commit of its own would add at least one page of 4 KiB.
    assert!(log() - before < 5 * 4_200, "{} bytes of log for 100 changes", log() - before);
}

/// A file with an empty table of numbers, and who writes to it.
fn writer() -> (TempDir, Connection, Writer) {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("numbers.db");
    let other = Connection::open(&path).unwrap();
    other
        .execute_batch("PRAGMA journal_mode = WAL; CREATE TABLE numbers (number INTEGER PRIMARY KEY) STRICT;")
        .unwrap();
    let writer = Writer::start(Connection::open(&path).unwrap(), path).unwrap();
    (directory, other, writer)
}

/// Says which thread did it.
fn insert_and_tell(number: i64) -> impl FnMut(&Connection) -> Result<ThreadId, Failure> + Send {
    move |connection| {
        insert(number)(connection)?;
        Ok(std::thread::current().id())
    }
}

fn run<F: Future>(future: F) -> F::Output {
    tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(future)
}

fn poll_once(future: impl Future) {
    assert!(pin!(future).poll(&mut Context::from_waker(Waker::noop())).is_pending());
}

#[test]
fn a_change_that_comes_alone_is_carried_out_by_its_bringer() {
    let (_directory, other, writer) = writer();
    let here = std::thread::current().id();
    for number in 0..3 {
        assert_eq!(run(writer.submit(insert_and_tell(number))).unwrap(), here);
    }
    assert_eq!(numbers(&other), [0, 1, 2]);
    assert!(matches!(run(writer.submit(refuse(3))), Err(JournalError::Fenced { .. })));
    assert_eq!(run(writer.submit(insert_and_tell(4))).unwrap(), here, "a refusal leaves no transaction open");
    assert_eq!(numbers(&other), [0, 1, 2, 4]);
}

#[test]
fn changes_that_come_together_go_to_the_thread() {
    let (_directory, other, writer) = writer();
    let (first, second) =
        run(async { tokio::join!(writer.submit(insert_and_tell(1)), writer.submit(insert_and_tell(2))) });
    let thread = first.unwrap();
    assert_ne!(thread, std::thread::current().id());
    assert_eq!(second.unwrap(), thread);
    assert_eq!(numbers(&other), [1, 2]);
}

#[test]
fn long_work_is_never_done_on_the_bringers_thread() {
    let (_directory, _other, writer) = writer();
    assert_ne!(run(writer.hand_over(insert_and_tell(1))).unwrap(), std::thread::current().id());
}

#[test]
fn the_lock_of_another_process_is_waited_for_by_the_thread() {
    let (_directory, other, writer) = writer();
    other.execute_batch("BEGIN IMMEDIATE").unwrap();
    let mut change = pin!(writer.submit(insert_and_tell(1)));
    // The second look would carry it out, and must not wait for a lock that only this thread can let go of.
    poll_once(change.as_mut());
    poll_once(change.as_mut());
    other.execute_batch("COMMIT").unwrap();
    assert_ne!(run(change).unwrap(), std::thread::current().id());
    assert_eq!(numbers(&other), [1]);
}

#[test]
fn a_change_whose_bringer_goes_away_is_carried_out_all_the_same() {
    let (_directory, other, writer) = writer();
    poll_once(writer.submit(insert(1)));
    drop(writer);
    assert_eq!(numbers(&other), [1]);
}
