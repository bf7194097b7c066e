//! The mark that somebody drives a run and will tell of it: a file, locked as long as its driver lives, with what is to
//! be told to whom, and beside it how many facts have been told of. A mark without a lock is owed to people: whoever
//! finds it reads the facts behind it and tells of them.

use super::deliveries::{Deliveries, names};
use super::plan::Plan;
use crate::durable_file::{Flush, replace};
use crate::fault::file_fault;
use crate::state_dir::make_private;
use rustix::fs::{FlockOperation, flock};
use std::fs::File;
use std::io::Write;
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use windlass_control_api::Fault;
use windlass_protocols::RunId;

#[derive(Debug)]
pub(super) struct Mark {
    path: PathBuf,
    lock: File,
}

impl Mark {
    /// Takes the mark of this run, and says how far the one before it came, where it was left behind.
    pub(super) fn take(deliveries: &Deliveries, run: &RunId) -> Result<(Self, Option<u64>), Fault> {
        let directory = deliveries.marks();
        make_private(&directory)?;
        let path = directory.join(format!("{run}.json"));
        let failed = |error: std::io::Error| file_fault("lock", &path, &error);
        loop {
            let mut options = File::options();
            let lock = options.read(true).write(true).create(true).truncate(false).mode(0o600);
            let lock = lock.open(&path).map_err(failed)?;
            // Only somebody who takes up what is owed can hold it, and is done in a moment.
            flock(&lock, FlockOperation::LockExclusive).map_err(|error| failed(error.into()))?;
            let mark = Self { path: path.clone(), lock };
            if mark.is_in_place() {
                let told = mark.told();
                return Ok((mark, told));
            }
        }
    }

    /// The marks nobody holds, with their runs and plans.
    pub(super) fn left_behind(deliveries: &Deliveries) -> Vec<(Self, RunId, Plan)> {
        let directory = deliveries.marks();
        let found = |name: String| {
            let path = directory.join(format!("{name}.json"));
            let lock = File::open(&path).ok()?;
            flock(&lock, FlockOperation::NonBlockingLockExclusive).ok()?;
            let mark = Self { path, lock };
            // One that cannot be read was cut off before its run could go on: nothing is owed.
            let plan = std::fs::read(&mark.path).ok().and_then(|text| serde_json::from_slice(&text).ok());
            mark.is_in_place().then(|| (mark, RunId::new(name), plan.unwrap_or_default()))
        };
        names(&directory).into_iter().filter_map(found).collect()
    }

    fn is_in_place(&self) -> bool {
        let inode = |found: std::io::Result<std::fs::Metadata>| found.ok().map(|found| found.ino());
        inode(self.path.metadata()) == inode(self.lock.metadata())
    }

    pub(super) fn told(&self) -> Option<u64> {
        std::fs::read_to_string(self.count()).ok()?.parse().ok()
    }

    /// Everything before this version was told, or is nobody's business.
    pub(super) fn tell(&self, version: u64) -> Result<(), Fault> {
        replace(&self.count(), version.to_string().as_bytes(), Flush::ToSystem)
    }

    pub(super) fn write(&mut self, plan: &Plan) -> Result<(), Fault> {
        let text = serde_json::to_vec(plan).unwrap_or_default();
        let written = self.lock.set_len(0).and_then(|()| self.lock.write_all(&text));
        written.map_err(|error| file_fault("write", &self.path, &error))
    }

    /// Nothing is owed any more.
    pub(super) fn remove(&self) {
        // A mark that stays is looked at once more and found to owe nothing.
        let _ = std::fs::remove_file(&self.path);
        let _ = std::fs::remove_file(self.count());
    }

    fn count(&self) -> PathBuf {
        Path::new(&self.path).with_extension("told")
    }
}
