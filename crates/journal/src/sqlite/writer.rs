//! The one thread that writes. Whatever has queued up is committed together: the flush to disk is what a commit costs,
//! and everybody waiting shares it. Knows no table; what a change does is a function handed in.

use crate::sqlite::failure::{Failure, unavailable};
use crate::sqlite::open::OpenError;
use rusqlite::Connection;
use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread::JoinHandle;
use tokio::sync::oneshot;
use windlass_engine::JournalError;

/// Bounds how long the first of a batch waits for the last, and how much a failed batch has to do again.
const LARGEST_BATCH: usize = 512;

pub(super) struct Writer {
    path: PathBuf,
    queue: Option<Sender<Box<dyn Change>>>,
    thread: Option<JoinHandle<()>>,
}

impl Writer {
    pub(super) fn start(connection: Connection, path: PathBuf) -> Result<Self, OpenError> {
        let (queue, changes) = channel();
        let place = path.clone();
        let thread = std::thread::Builder::new()
            .name("journal-writer".to_owned())
            .spawn(move || serve(&connection, &place, &changes))
            .map_err(|error| OpenError::from_io(&path, error))?;
        Ok(Self { path, queue: Some(queue), thread: Some(thread) })
    }

    /// Answers when the change is durable or known not to be; queued even when nobody waits for the answer.
    ///
    /// The work may be done more than once, each time on a database that has not seen it.
    pub(super) async fn submit<T: Send + 'static>(
        &self,
        work: impl FnMut(&Connection) -> Result<T, Failure> + Send + 'static,
    ) -> Result<T, JournalError> {
        let (reply, answer) = oneshot::channel();
        let stopped = || unavailable(&self.path, "its writer has stopped");
        self.queue
            .as_ref()
            .ok_or_else(stopped)?
            .send(Box::new(Pending::new(work, reply)))
            .map_err(|_| stopped())?;
        answer.await.map_err(|_| stopped())?
    }
}

impl Drop for Writer {
    fn drop(&mut self) {
        // A closed queue is still emptied; only then does the thread end.
        drop(self.queue.take());
        if let Some(thread) = self.thread.take() {
            // A panic in there has already been reported, and was seen by whoever waited for an answer.
            let _ = thread.join();
        }
    }
}

/// One queued change, its result type hidden.
trait Change: Send {
    /// Does the work in the open transaction and keeps the result for later.
    fn apply(&mut self, connection: &Connection) -> Applied;
    /// Called once the fate of the transaction is known.
    fn answer(self: Box<Self>, path: &Path, fault: Option<&rusqlite::Error>);
}

enum Applied {
    Done,
    /// Nothing of it may stay, and its neighbours are not concerned.
    Refused,
    /// SQLite failed; the whole transaction may be gone.
    Broken(rusqlite::Error),
}

struct Pending<T, W> {
    work: W,
    result: Option<Result<T, JournalError>>,
    reply: oneshot::Sender<Result<T, JournalError>>,
}

impl<T, W> Pending<T, W> {
    fn new(work: W, reply: oneshot::Sender<Result<T, JournalError>>) -> Self {
        Self { work, result: None, reply }
    }
}

impl<T: Send, W: FnMut(&Connection) -> Result<T, Failure> + Send> Change for Pending<T, W> {
    fn apply(&mut self, connection: &Connection) -> Applied {
        match (self.work)(connection) {
            Ok(value) => {
                self.result = Some(Ok(value));
                Applied::Done
            }
            Err(Failure::Refused(refusal)) => {
                self.result = Some(Err(refusal));
                Applied::Refused
            }
            Err(Failure::Sqlite(error)) => Applied::Broken(error),
        }
    }

    fn answer(self: Box<Self>, path: &Path, fault: Option<&rusqlite::Error>) {
        let answer = match (fault, self.result) {
            (None, Some(result)) => result,
            (Some(error), _) => Err(unavailable(path, error)),
            (None, None) => Err(unavailable(path, "the change was not carried out")),
        };
        // Whoever asked may have stopped waiting; the change is committed all the same.
        let _ = self.reply.send(answer);
    }
}

fn serve(connection: &Connection, path: &Path, queue: &Receiver<Box<dyn Change>>) {
    while let Ok(first) = queue.recv() {
        let mut batch = vec![first];
        let begun = execute(connection, "BEGIN IMMEDIATE");
        // Taken after the lock was waited for, so that what came in meanwhile shares this commit.
        batch.extend(queue.try_iter().take(LARGEST_BATCH - 1));
        if let Err(error) = begun {
            answer_all(batch, path, Some(&error));
            continue;
        }
        match apply_all(connection, &mut batch) {
            Ok(()) => {
                let outcome = commit(connection);
                answer_all(batch, path, outcome.as_ref().err());
            }
            Err(error) => {
                roll_back(connection);
                if batch.len() == 1 {
                    answer_all(batch, path, Some(&error));
                } else {
                    one_by_one(connection, path, batch);
                }
            }
        }
    }
}

/// After a fault in a batch: nothing was committed, and only the change that cannot be done may fail.
fn one_by_one(connection: &Connection, path: &Path, batch: Vec<Box<dyn Change>>) {
    for change in batch {
        let mut alone = vec![change];
        let outcome = execute(connection, "BEGIN IMMEDIATE")
            .and_then(|()| apply_all(connection, &mut alone))
            .and_then(|()| commit(connection));
        if outcome.is_err() {
            roll_back(connection);
        }
        answer_all(alone, path, outcome.as_ref().err());
    }
}

/// Each change in a savepoint, so that a refused one leaves nothing behind.
fn apply_all(connection: &Connection, batch: &mut [Box<dyn Change>]) -> rusqlite::Result<()> {
    if let [alone] = batch {
        return apply_alone(connection, alone);
    }
    for change in batch {
        execute(connection, "SAVEPOINT change")?;
        match change.apply(connection) {
            Applied::Done => {}
            Applied::Refused => execute(connection, "ROLLBACK TO change")?,
            Applied::Broken(error) => return Err(error),
        }
        execute(connection, "RELEASE change")?;
    }
    Ok(())
}

/// Without a savepoint, under which SQLite keeps a copy of every page it changes: nothing but the change is undone with
/// the transaction.
fn apply_alone(connection: &Connection, change: &mut Box<dyn Change>) -> rusqlite::Result<()> {
    match change.apply(connection) {
        Applied::Done => Ok(()),
        Applied::Refused => {
            execute(connection, "ROLLBACK")?;
            // For the commit that follows whatever was applied; it finds nothing to do.
            execute(connection, "BEGIN")
        }
        Applied::Broken(error) => Err(error),
    }
}

/// When this fails nobody knows whether the changes will be there after a restart, so all of them are in doubt: also
/// those refused, because they may have been refused for what a neighbour did.
fn commit(connection: &Connection) -> rusqlite::Result<()> {
    windlass_crash_points::reach("append.before");
    let outcome = execute(connection, "COMMIT");
    windlass_crash_points::reach("append.after");
    if outcome.is_err() {
        roll_back(connection);
    }
    outcome
}

/// SQLite has often done so itself by the time an error is seen.
fn roll_back(connection: &Connection) {
    if !connection.is_autocommit() {
        // If this fails too, the next BEGIN does, and its error reaches whoever waits then.
        let _ = execute(connection, "ROLLBACK");
    }
}

fn answer_all(batch: Vec<Box<dyn Change>>, path: &Path, fault: Option<&rusqlite::Error>) {
    for change in batch {
        change.answer(path, fault);
    }
}

fn execute(connection: &Connection, sql: &str) -> rusqlite::Result<()> {
    connection.prepare_cached(sql)?.execute(()).map(|_| ())
}

#[cfg(test)]
mod tests;
