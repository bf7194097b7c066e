//! The directory a queue lives in: the journal, the tenants' signing keys, and a lock that says that one process has it.

use crate::outside::Machine;
use crate::ring::KeyRing;
use crate::service::Service;
use rustix::fs::{FlockOperation, flock};
use std::fs::{self, File, OpenOptions};
use std::io;
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use thiserror::Error;
use windlass_journal::{OpenError, SqliteJournal};

#[derive(Debug, Error)]
pub enum DataDirError {
    #[error("cannot use {path}: {why}")]
    Directory { path: String, why: io::Error },
    #[error("another process has the queue in {0}")]
    Held(String),
    #[error(transparent)]
    Journal(#[from] OpenError),
}

/// What to do where another process has the directory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum IfHeld {
    GiveUp,
    /// For commands, which are short.
    Wait,
}

/// Held until dropped; the system lets go of it when the process dies.
#[derive(Debug)]
pub struct DataDir {
    path: PathBuf,
    _lock: File,
}

impl DataDir {
    /// Makes the directory where there is none. Waiting blocks this thread.
    pub fn hold(path: &Path, if_held: IfHeld) -> Result<Self, DataDirError> {
        let cannot = |why| DataDirError::Directory { path: path.display().to_string(), why };
        let keys = path.join("keys");
        fs::DirBuilder::new().recursive(true).mode(0o700).create(&keys).map_err(cannot)?;
        let mut options = OpenOptions::new();
        let lock = options.create(true).truncate(false).write(true).mode(0o600).open(path.join("lock"));
        let lock = lock.map_err(cannot)?;
        let how = match if_held {
            IfHeld::GiveUp => FlockOperation::NonBlockingLockExclusive,
            IfHeld::Wait => FlockOperation::LockExclusive,
        };
        match flock(&lock, how) {
            Ok(()) => Ok(Self { path: path.to_owned(), _lock: lock }),
            Err(rustix::io::Errno::WOULDBLOCK) => Err(DataDirError::Held(path.display().to_string())),
            Err(error) => Err(cannot(error.into())),
        }
    }

    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The queue in this directory; it must not outlive the hold.
    pub fn open(&self) -> Result<Service<SqliteJournal>, DataDirError> {
        let journal = SqliteJournal::open(self.path.join("stories.db"))?;
        let ring = KeyRing::in_directory(self.path.join("keys"));
        let owner = format!("process {}", std::process::id());
        Ok(Service::new(journal, Box::new(Machine), ring, &owner))
    }
}
