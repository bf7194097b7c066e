//! What a batch does when one of its changes cannot be done. The queue is filled before it is served, so that the
//! batch is known.

use super::{Change, Pending, serve};
use crate::sqlite::failure::Failure;
use rusqlite::Connection;
use std::path::Path;
use std::sync::mpsc::channel;
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
    (Box::new(Pending::new(work, reply)), answer)
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
    serve(connection, Path::new("numbers.db"), &requests);
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
