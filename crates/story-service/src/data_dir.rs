//! The directory a queue lives in: the journal, the tenants' signing keys, and a lock that says that one process has it.

use crate::outside::Machine;
use crate::ring::KeyRing;
use crate::service::Service;
use rustix::fs::{FlockOperation, flock};
use std::fs::{self, File, OpenOptions};
use std::io::{self, Write as _};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use thiserror::Error;
use windlass_journal::{OpenError, SqliteJournal};

#[derive(Debug, Error)]
pub enum DataDirError {
    #[error("cannot use {path}: {why}")]
    Directory { path: String, why: io::Error },
    #[error("{who} has the queue in {path}")]
    Held { path: String, who: String },
    #[error(transparent)]
    Journal(#[from] OpenError),
}

/// A queue on disk.
pub type OpenQueue = Service<SqliteJournal>;

/// Held until dropped; the system lets go of it when the process dies.
#[derive(Debug)]
pub struct DataDir {
    path: PathBuf,
    _lock: File,
}

impl DataDir {
    /// Makes the directory where there is none. `who` is what others are told who come while we have it.
    pub fn hold(path: &Path, who: &str) -> Result<Self, DataDirError> {
        let cannot = |why| DataDirError::Directory { path: path.display().to_string(), why };
        let keys = path.join("keys");
        fs::DirBuilder::new().recursive(true).mode(0o700).create(&keys).map_err(cannot)?;
        let name = path.join("lock");
        let mut options = OpenOptions::new();
        let mut lock =
            options.create(true).truncate(false).write(true).mode(0o600).open(&name).map_err(cannot)?;
        match flock(&lock, FlockOperation::NonBlockingLockExclusive) {
            Ok(()) => {}
            Err(rustix::io::Errno::WOULDBLOCK) => {
                let told = fs::read_to_string(&name).unwrap_or_default();
                let who = if told.trim().is_empty() {
                    "another process".to_owned()
                } else {
                    told.trim().to_owned()
                };
                return Err(DataDirError::Held { path: path.display().to_string(), who });
            }
            Err(error) => return Err(cannot(error.into())),
        }
        // A name that could not be written is a courtesy less; the lock holds.
        let told = format!("{who} (process {})\n", std::process::id());
        let _ = lock.set_len(0).and_then(|()| lock.write_all(told.as_bytes()));
        Ok(Self { path: path.to_owned(), _lock: lock })
    }

    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The queue in this directory; it must not outlive the hold.
    pub fn open(&self) -> Result<OpenQueue, DataDirError> {
        let journal = SqliteJournal::open(self.path.join("stories.db"))?;
        let ring = KeyRing::in_directory(self.path.join("keys"));
        let owner = format!("process {}", std::process::id());
        Ok(Service::new(journal, Box::new(Machine), ring, &owner))
    }
}
