//! The journal in one SQLite file, shared by any number of handles and processes. This file turns the port's methods
//! into work for the writer or the readers; it holds no SQL.

mod changes;
mod failure;
mod health;
mod open;
mod reader;
mod schema;
mod writer;

pub use health::{Health, Integrity};
pub use open::OpenError;
pub use reader::{Batch, ChangeCounter};

use reader::{Readers, Watch};
use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use tokio::sync::mpsc::Sender;
use windlass_engine::chain::Tip;
use windlass_engine::{Append, Holder, Journal, JournalError, Lease, LeaseAnswer, Message, RunHead, Stored};
use windlass_protocols::{Millis, Run, RunId};
use writer::Writer;

/// Clones share one writer. Dropping the last one waits until everything queued is committed and the file is closed.
#[derive(Clone)]
pub struct SqliteJournal(Arc<Shared>);

struct Shared {
    path: PathBuf,
    // Dropped in this order: the connection that closes last folds the log into the file, and that is writing.
    readers: Readers,
    watch: Watch,
    /// Absent where the journal is only looked at.
    writer: Option<Writer>,
}

impl SqliteJournal {
    /// Opens the journal, or makes one where there is none. What is not a journal of ours is refused and left as it is.
    ///
    /// Blocks: usually for less than a millisecond, up to half a minute while another process migrates the file.
    pub fn open(path: impl AsRef<Path>) -> Result<Self, OpenError> {
        let path = open::absolute(path.as_ref())?;
        let connection = open::for_writing(&path)?;
        Ok(Self(Arc::new(Shared {
            readers: Readers::start(&path, open::for_reading)?,
            watch: Watch::new(path.clone(), open::for_reading),
            writer: Some(Writer::start(connection, path.clone())?),
            path,
        })))
    }

    /// Opens a journal that is there for looking only: nothing beside or in the file is made or changed, so it may lie in
    /// a directory that cannot be written. Everything but reading is refused.
    pub fn open_read_only(path: impl AsRef<Path>) -> Result<Self, OpenError> {
        let path = open::absolute(path.as_ref())?;
        open::check_for_looking(&path)?;
        Ok(Self(Arc::new(Shared {
            readers: Readers::start(&path, open::for_looking)?,
            watch: Watch::new(path.clone(), open::for_looking),
            writer: None,
            path,
        })))
    }

    pub fn is_read_only(&self) -> bool {
        self.0.writer.is_none()
    }

    fn writer(&self) -> Result<&Writer, JournalError> {
        let only_looked_at = || failure::unavailable(&self.0.path, "it was opened for reading only");
        self.0.writer.as_ref().ok_or_else(only_looked_at)
    }

    pub fn path(&self) -> &Path {
        &self.0.path
    }

    /// Throws the list of runs away and makes it again from the facts, in one transaction.
    pub async fn rebuild_read_models(&self, headline: fn(&Run) -> String) -> Result<(), JournalError> {
        self.writer()?.hand_over(move |connection| changes::rebuild_runs(connection, headline)).await
    }

    /// Reads what a run has beyond `tip`, each row checked against the chain before it is handed on. In batches, so that
    /// whoever takes them in works while the next are read; they must be taken in while this is waited for. Nothing is
    /// proven before the new tip is returned.
    pub async fn read_proven(&self, tip: Tip, batches: Sender<Batch>) -> Result<Tip, JournalError> {
        self.0.readers.ask(move |connection| reader::proven_facts(connection, tip, &batches)).await
    }

    /// What a person looking after the file wants to know. Reads the whole file.
    pub async fn health(&self) -> Result<Health, JournalError> {
        let path = self.0.path.clone();
        self.0.readers.ask(move |connection| health::examine(connection, &path)).await
    }

    /// Differs from an earlier one when anything was committed in between, by this process or another: a hint that
    /// reading is worth while, at the price of a look into shared memory.
    pub fn change_counter(&self) -> Result<ChangeCounter, JournalError> {
        self.0.watch.counter()
    }
}

impl fmt::Debug for SqliteJournal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("SqliteJournal").field(&self.0.path).finish()
    }
}

impl Journal for SqliteJournal {
    async fn append(&self, append: Append) -> Result<(), JournalError> {
        // Rendered here, on the caller's thread: the writer is the one thing everybody waits for.
        let rendered = changes::RenderedAppend::new(append)?;
        self.writer()?.submit(move |connection| changes::append(connection, &rendered)).await
    }

    async fn read(&self, run: &RunId, from: u64) -> Result<Vec<Stored>, JournalError> {
        let run = run.clone();
        self.0.readers.ask(move |connection| reader::facts(connection, &run, from)).await
    }

    async fn runs(&self) -> Result<Vec<RunHead>, JournalError> {
        self.0.readers.ask(reader::runs).await
    }

    async fn acquire(&self, key: &str, owner: &str, at: Millis) -> Result<LeaseAnswer, JournalError> {
        let (key, owner) = (key.to_owned(), owner.to_owned());
        self.writer()?.submit(move |connection| changes::acquire(connection, &key, &owner, at)).await
    }

    async fn holder(&self, key: &str) -> Result<Option<Holder>, JournalError> {
        let key = key.to_owned();
        self.0.readers.ask(move |connection| changes::holder(connection, &key)).await
    }

    async fn take_over(&self, holder: &Holder, owner: &str, at: Millis) -> Result<LeaseAnswer, JournalError> {
        let (holder, owner) = (holder.clone(), owner.to_owned());
        self.writer()?.submit(move |connection| changes::take_over(connection, &holder, &owner, at)).await
    }

    async fn release(&self, lease: &Lease) -> Result<(), JournalError> {
        let lease = lease.clone();
        self.writer()?.submit(move |connection| changes::release(connection, &lease)).await
    }

    async fn post(&self, run: &RunId, body: &str, at: Millis) -> Result<(), JournalError> {
        let (run, body) = (run.clone(), body.to_owned());
        self.writer()?.submit(move |connection| changes::post(connection, &run, &body, at)).await
    }

    async fn messages(&self, run: &RunId) -> Result<Vec<Message>, JournalError> {
        let run = run.clone();
        self.0.readers.ask(move |connection| reader::messages(connection, &run)).await
    }

    async fn acknowledge(&self, message: &Message) -> Result<(), JournalError> {
        let id = message.id;
        self.writer()?.submit(move |connection| changes::acknowledge(connection, id)).await
    }
}
