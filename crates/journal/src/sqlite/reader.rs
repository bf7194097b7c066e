//! Reading, on connections that can do nothing else: a write-ahead log lets them see the last commit while the writer
//! is busy with the next. Two threads, so that one long read does not hold up a short one.

use crate::sqlite::failure::{Failure, from_sql, unavailable};
use crate::sqlite::open::OpenError;
use rusqlite::{Connection, Row};
use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use tokio::sync::mpsc::Sender;
use tokio::sync::mpsc::error::TrySendError;
use tokio::sync::oneshot;
use windlass_engine::chain::Tip;
use windlass_engine::{JournalError, Message, RunHead, Stored};
use windlass_protocols::{Fact, Millis, RunId};

const THREADS: usize = 2;

/// Enough that handing them on costs little, few enough that the work can be shared.
const FACTS_A_BATCH: usize = 256;

/// How a connection for reading is made.
pub(super) type Open = fn(&Path) -> rusqlite::Result<Connection>;

type Question = Box<dyn FnOnce(&mut Lane) + Send>;

pub(super) struct Readers {
    path: PathBuf,
    queue: Option<std::sync::mpsc::Sender<Question>>,
    threads: Vec<JoinHandle<()>>,
}

impl Readers {
    pub(super) fn start(path: &Path, open: Open) -> Result<Self, OpenError> {
        let (queue, questions) = channel();
        let questions = Arc::new(Mutex::new(questions));
        let threads = (0..THREADS)
            .map(|_| {
                let (questions, mut lane) = (Arc::clone(&questions), Lane::new(path.to_owned(), open));
                std::thread::Builder::new()
                    .name("journal-reader".to_owned())
                    .spawn(move || {
                        while let Some(question) = next(&questions) {
                            question(&mut lane);
                        }
                    })
                    .map_err(|error| OpenError::from_io(path, error))
            })
            .collect::<Result<_, _>>()?;
        Ok(Self { path: path.to_owned(), queue: Some(queue), threads })
    }

    pub(super) async fn ask<T: Send + 'static>(
        &self,
        read: impl FnOnce(&Connection) -> Result<T, Failure> + Send + 'static,
    ) -> Result<T, JournalError> {
        let (reply, answer) = oneshot::channel();
        let stopped = || unavailable(&self.path, "its readers have stopped");
        let question: Question = Box::new(move |lane| {
            let answer = lane
                .connection()
                .map_err(Failure::from)
                .and_then(read)
                .map_err(|failure| failure.into_journal_error(&lane.path));
            // Whoever asked may have stopped waiting.
            let _ = reply.send(answer);
        });
        let queue = self.queue.as_ref().ok_or_else(stopped)?;
        queue.send(question).map_err(|_| stopped())?;
        answer.await.map_err(|_| stopped())?
    }
}

impl Drop for Readers {
    fn drop(&mut self) {
        drop(self.queue.take());
        for thread in self.threads.drain(..) {
            // A panic in there has already been reported, and was seen by whoever waited for an answer.
            let _ = thread.join();
        }
    }
}

/// Waits while holding the lock: the other reader then waits for the lock instead of for the queue, which is the same.
fn next(questions: &Mutex<Receiver<Question>>) -> Option<Question> {
    questions.lock().unwrap_or_else(PoisonError::into_inner).recv().ok()
}

/// A connection made when it is first needed: a command that only appends does not pay for reading.
struct Lane {
    path: PathBuf,
    open: Open,
    connection: Option<Connection>,
}

impl Lane {
    fn new(path: PathBuf, open: Open) -> Self {
        Self { path, open, connection: None }
    }

    fn connection(&mut self) -> rusqlite::Result<&Connection> {
        let connection = match self.connection.take() {
            Some(connection) => connection,
            None => (self.open)(&self.path)?,
        };
        Ok(self.connection.insert(connection))
    }
}

/// A moment in the life of the file. Only two of the same open journal can be compared; no order is promised.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ChangeCounter(i64);

/// SQLite counts the commits of others for each connection, so all questions must go to the same one, and that one
/// must never write.
pub(super) struct Watch(Mutex<Lane>);

impl Watch {
    pub(super) fn new(path: PathBuf, open: Open) -> Self {
        Self(Mutex::new(Lane::new(path, open)))
    }

    pub(super) fn counter(&self) -> Result<ChangeCounter, JournalError> {
        let mut lane = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        lane.connection()
            .and_then(|connection| {
                connection.prepare_cached("PRAGMA data_version")?.query_row((), |row| row.get(0))
            })
            .map(ChangeCounter)
            .map_err(|error| unavailable(&lane.path, error))
    }
}

pub(super) fn facts(connection: &Connection, run: &RunId, from: u64) -> Result<Vec<Stored>, Failure> {
    let mut facts = Vec::new();
    each_fact(connection, run, from, |fact| {
        facts.push(fact);
        Ok(())
    })?;
    Ok(facts)
}

/// Some facts of a run, in order, each found sound.
#[derive(Debug)]
pub enum Batch {
    Rows(Vec<Stored>),
    /// Whoever takes them in was behind, so the reader has done a part of that work.
    Facts(Vec<Fact>),
}

impl Batch {
    pub fn into_facts(self, run: &RunId) -> Result<Vec<Fact>, JournalError> {
        match self {
            Self::Rows(rows) => rows.iter().map(|row| row.fact(run)).collect(),
            Self::Facts(facts) => Ok(facts),
        }
    }
}

/// Hands on what was read and found sound while the next rows are still to be read.
pub(super) fn proven_facts(
    connection: &Connection,
    mut tip: Tip,
    batches: &Sender<Batch>,
) -> Result<Tip, Failure> {
    let mut rows = Vec::with_capacity(FACTS_A_BATCH);
    let (run, from) = (tip.run().clone(), tip.version());
    each_fact(connection, &run, from, |fact| {
        tip.advance(&fact)?;
        rows.push(fact);
        if rows.len() == FACTS_A_BATCH {
            hand_on(batches, &run, std::mem::replace(&mut rows, Vec::with_capacity(FACTS_A_BATCH)))?;
        }
        Ok(())
    })?;
    hand_on(batches, &run, rows)?;
    Ok(tip)
}

/// Whoever asked may have stopped listening; the end of the chain is answered all the same.
fn hand_on(batches: &Sender<Batch>, run: &RunId, rows: Vec<Stored>) -> Result<(), JournalError> {
    if let Err(TrySendError::Full(behind)) = batches.try_send(Batch::Rows(rows)) {
        let _ = batches.blocking_send(Batch::Facts(behind.into_facts(run)?));
    }
    Ok(())
}

fn each_fact(
    connection: &Connection,
    run: &RunId,
    from: u64,
    mut take: impl FnMut(Stored) -> Result<(), JournalError>,
) -> Result<(), Failure> {
    // No run can have as many facts as do not fit: nothing is stored from there on.
    let Ok(first) = i64::try_from(from) else {
        return Ok(());
    };
    let mut select = connection.prepare_cached(
        "SELECT version, at, payload, hash FROM facts WHERE run = ?1 AND version >= ?2 ORDER BY version",
    )?;
    let mut rows = select.query((run.as_str(), first))?;
    let mut version = from;
    while let Some(row) = rows.next()? {
        let fact = stored(row).map_err(|error| JournalError::Corrupt {
            run: run.clone(),
            version,
            why: format!("the row cannot be read: {error}"),
        })?;
        take(fact)?;
        version += 1;
    }
    Ok(())
}

fn stored(row: &Row<'_>) -> rusqlite::Result<Stored> {
    Ok(Stored {
        version: from_sql(row, 0)?,
        at: Millis(from_sql(row, 1)?),
        payload: row.get(2)?,
        hash: row.get(3)?,
    })
}

pub(super) fn runs(connection: &Connection) -> Result<Vec<RunHead>, Failure> {
    let mut select = connection.prepare_cached(
        "SELECT run, version, started_at, updated_at, headline FROM runs ORDER BY started_at DESC, run DESC",
    )?;
    let heads = select.query_map((), |row| {
        Ok(RunHead {
            run: RunId::new(row.get::<_, String>(0)?),
            version: from_sql(row, 1)?,
            started_at: Millis(from_sql(row, 2)?),
            updated_at: Millis(from_sql(row, 3)?),
            headline: row.get(4)?,
        })
    })?;
    Ok(heads.collect::<Result<_, _>>()?)
}

pub(super) fn messages(connection: &Connection, run: &RunId) -> Result<Vec<Message>, Failure> {
    let mut select =
        connection.prepare_cached("SELECT id, body, at FROM messages WHERE run = ?1 ORDER BY id")?;
    let messages = select.query_map([run.as_str()], |row| {
        Ok(Message {
            id: from_sql(row, 0)?,
            run: run.clone(),
            body: row.get(1)?,
            at: Millis(from_sql(row, 2)?),
        })
    })?;
    Ok(messages.collect::<Result<_, _>>()?)
}
