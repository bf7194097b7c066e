//! Everything that writes. A change that comes alone is carried out by whoever brings it: handing it to a thread and being
//! woken again costs a third of a commit. Changes that come together go to one thread and are committed together: the
//! flush to disk is what a commit costs, and everybody waiting shares it. Knows no table; what a change does is handed in.

use crate::sqlite::failure::{Failure, unavailable};
use crate::sqlite::open::{OpenError, Patience};
use rusqlite::Connection;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex};
use std::task::Poll;
use std::thread::JoinHandle;
use tokio::sync::oneshot;
use windlass_engine::JournalError;

/// Bounds how long the first of a batch waits for the last, and how much a failed batch has to do again.
const LARGEST_BATCH: usize = 512;

/// With the right to write from the start: asked for later it could be refused after work was done.
const BEGIN: &str = "BEGIN IMMEDIATE";

pub(super) struct Writer {
    path: PathBuf,
    /// Poisoned when a change panicked: nobody knows what it left behind, so nothing is written any more.
    connection: Arc<Mutex<Connection>>,
    /// Changes brought and not yet answered.
    under_way: Arc<AtomicUsize>,
    queue: Option<Sender<Box<dyn Change>>>,
    thread: Option<JoinHandle<()>>,
}

impl Writer {
    pub(super) fn start(connection: Connection, path: PathBuf) -> Result<Self, OpenError> {
        let (queue, changes) = channel();
        let connection = Arc::new(Mutex::new(connection));
        let (place, shared) = (path.clone(), Arc::clone(&connection));
        let thread = std::thread::Builder::new()
            .name("journal-writer".to_owned())
            .spawn(move || serve(&shared, &place, &changes))
            .map_err(|error| OpenError::from_io(&path, error))?;
        let under_way = Arc::default();
        Ok(Self { path, connection, under_way, queue: Some(queue), thread: Some(thread) })
    }

    /// Answers when the change is durable or known not to be; carried out even when nobody waits for the answer. Blocks
    /// for the length of a commit when the change is the only one, never while another process writes.
    ///
    /// The work may be done more than once, each time on a database that has not seen it.
    pub(super) async fn submit<T: Send + 'static>(
        &self,
        work: impl FnMut(&Connection) -> Result<T, Failure> + Send + 'static,
    ) -> Result<T, JournalError> {
        let (change, answer) = self.bring(work);
        let mut offered = Offered { writer: self, change: Some(change) };
        let_others_come().await;
        if self.under_way.load(Ordering::SeqCst) == 1 {
            offered.change = offered.change.take().and_then(|change| self.carry_out_here(change));
        }
        drop(offered);
        answer.await.map_err(|_| self.stopped())?
    }

    /// As [`Self::submit`], for what takes long: never on the caller's thread.
    pub(super) async fn hand_over<T: Send + 'static>(
        &self,
        work: impl FnMut(&Connection) -> Result<T, Failure> + Send + 'static,
    ) -> Result<T, JournalError> {
        let (change, answer) = self.bring(work);
        self.enqueue(change);
        answer.await.map_err(|_| self.stopped())?
    }

    fn bring<T: Send + 'static>(
        &self,
        work: impl FnMut(&Connection) -> Result<T, Failure> + Send + 'static,
    ) -> (Box<dyn Change>, oneshot::Receiver<Result<T, JournalError>>) {
        let (reply, answer) = oneshot::channel();
        let counted = Counted::new(&self.under_way);
        (Box::new(Pending { work, result: None, reply, counted }), answer)
    }

    /// Without a queue or its thread the change is dropped, and whoever waits for its answer learns of it so.
    fn enqueue(&self, change: Box<dyn Change>) {
        if let Some(queue) = &self.queue {
            let _ = queue.send(change);
        }
    }

    /// Gives the change back when it would have to wait or cannot be begun: the thread has the time, and its words.
    fn carry_out_here(&self, change: Box<dyn Change>) -> Option<Box<dyn Change>> {
        let Ok(mut connection) = self.connection.try_lock() else {
            return Some(change);
        };
        if begin_at_once(&mut connection).is_err() {
            roll_back(&connection);
            return Some(change);
        }
        finish(&connection, &self.path, vec![change]);
        None
    }

    fn stopped(&self) -> JournalError {
        unavailable(&self.path, "its writer has stopped")
    }
}

/// A change that its bringer may still carry out. Left alone, for whatever reason, it goes to the thread.
struct Offered<'a> {
    writer: &'a Writer,
    change: Option<Box<dyn Change>>,
}

impl Drop for Offered<'_> {
    fn drop(&mut self) {
        if let Some(change) = self.change.take() {
            self.writer.enqueue(change);
        }
    }
}

/// Lets the other tasks of this thread bring what they have. Without it the first of many would commit before the second
/// is heard of, and each would pay for a flush of its own.
async fn let_others_come() {
    let mut asked = false;
    std::future::poll_fn(|context| {
        if std::mem::replace(&mut asked, true) {
            return Poll::Ready(());
        }
        context.waker().wake_by_ref();
        Poll::Pending
    })
    .await;
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
    counted: Counted,
}

/// Counts a change for as long as it lives, wherever it goes.
struct Counted(Arc<AtomicUsize>);

impl Counted {
    fn new(under_way: &Arc<AtomicUsize>) -> Self {
        under_way.fetch_add(1, Ordering::SeqCst);
        Self(Arc::clone(under_way))
    }
}

impl Drop for Counted {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::SeqCst);
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
        // Before the answer: whoever gets it may bring the next change at once, and that one comes alone.
        drop(self.counted);
        // Whoever asked may have stopped waiting; the change is committed all the same.
        let _ = self.reply.send(answer);
    }
}

fn serve(connection: &Mutex<Connection>, path: &Path, queue: &Receiver<Box<dyn Change>>) {
    while let Ok(first) = queue.recv() {
        let Ok(connection) = connection.lock() else {
            return;
        };
        serve_batch(&connection, path, first, queue);
    }
}

fn serve_batch(
    connection: &Connection,
    path: &Path,
    first: Box<dyn Change>,
    queue: &Receiver<Box<dyn Change>>,
) {
    let mut batch = vec![first];
    let begun = execute(connection, BEGIN);
    // Taken after the lock was waited for, so that what came in meanwhile shares this commit.
    batch.extend(queue.try_iter().take(LARGEST_BATCH - 1));
    match begun {
        Ok(()) => finish(connection, path, batch),
        Err(error) => answer_all(batch, path, Some(&error)),
    }
}

/// Fails where the lock of another process would have to be waited for.
fn begin_at_once(connection: &mut Connection) -> rusqlite::Result<()> {
    Patience::None.set(connection)?;
    let begun = execute(connection, BEGIN);
    Patience::HalfAMinute.set(connection)?;
    begun
}

/// Everything after the beginning of the transaction.
fn finish(connection: &Connection, path: &Path, mut batch: Vec<Box<dyn Change>>) {
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

/// After a fault in a batch: nothing was committed, and only the change that cannot be done may fail.
fn one_by_one(connection: &Connection, path: &Path, batch: Vec<Box<dyn Change>>) {
    for change in batch {
        let mut alone = vec![change];
        let outcome = execute(connection, BEGIN)
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
