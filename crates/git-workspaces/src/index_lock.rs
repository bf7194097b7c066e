//! Holds the user's index by git's own lock file, so that no other git changes it meanwhile. A lock that a killed call
//! of ours left is told from everybody else's and taken over. Must not know what the index is changed for.

use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use crate::durable_file::replace;
use crate::error::GitError;

/// The lock is given back when this is dropped.
#[derive(Debug)]
pub(crate) struct IndexLock {
    index: PathBuf,
    lock: PathBuf,
    ours: PathBuf,
}

impl IndexLock {
    /// `None` if another git holds it. The lock is a second name of a file whose first name is ours: by that it is
    /// known again after a crash.
    pub(crate) fn take(index: &Path) -> Result<Option<Self>, GitError> {
        let lock = index.with_file_name("index.lock");
        let ours = index.with_file_name("windlass-index");
        let inode = |path: &Path| fs::symlink_metadata(path).map(|found| found.ino()).ok();
        if inode(&lock).is_some() && inode(&lock) == inode(&ours) {
            fs::remove_file(&lock).map_err(GitError::io("remove", &lock))?;
        }
        replace(&ours, b"")?;
        if fs::hard_link(&ours, &lock).is_err() {
            // A leftover would be harmless.
            let _ = fs::remove_file(&ours);
            return Ok(None);
        }
        Ok(Some(Self { index: index.to_owned(), lock, ours }))
    }

    pub(crate) fn index(&self) -> &Path {
        &self.index
    }
}

impl Drop for IndexLock {
    fn drop(&mut self) {
        // In this order: without our name for it nobody could tell whose lock it is. What stays is taken over later.
        let _ = fs::remove_file(&self.lock);
        let _ = fs::remove_file(&self.ours);
    }
}
