//! What a face can ask of a control loop.

pub(crate) mod change;
pub(crate) mod detect;
pub(crate) mod ground;
pub(crate) mod init;
mod known;
pub(crate) mod limits;
pub(crate) mod look;
mod own_runs;
pub(crate) mod report;
mod runners;
pub(crate) mod setup;
pub(crate) mod start;

use setup::SetupFiles;
use std::path::Path;
use windlass_git_workspaces::{Checkout, Repository, TreeId};

/// A set-up as it lies in the user's checkout.
pub(crate) struct InWorkTree<'a>(pub(crate) &'a Path);

/// A set-up as it is in a commit, which is what a run works with.
pub(crate) struct InCommit<'a>(pub(crate) &'a Repository, pub(crate) &'a TreeId);

/// No honest file of a set-up is larger; what is larger is not read.
const MAX_SETUP_BYTES: u64 = 1024 * 1024;

impl SetupFiles for InWorkTree<'_> {
    fn names_in(&self, directory: &str) -> Vec<String> {
        let entries = std::fs::read_dir(self.0.join(directory)).into_iter().flatten().flatten();
        let mut names: Vec<String> =
            entries.filter_map(|entry| entry.file_name().into_string().ok()).collect();
        names.sort();
        names
    }

    fn read(&self, path: &str) -> Option<Vec<u8>> {
        let path = self.0.join(path);
        let plain =
            path.symlink_metadata().is_ok_and(|found| found.is_file() && found.len() <= MAX_SETUP_BYTES);
        plain.then(|| std::fs::read(path).ok()).flatten()
    }
}

impl SetupFiles for InCommit<'_> {
    fn names_in(&self, directory: &str) -> Vec<String> {
        self.0.names_at(self.1, directory).unwrap_or_default()
    }

    fn read(&self, path: &str) -> Option<Vec<u8>> {
        self.0.file_at(self.1, path).ok().flatten()
    }
}

/// The commands that a control loop of this checkout would run; none where nothing usable is set up.
pub(crate) fn commands_of(checkout: &Checkout) -> Vec<String> {
    setup::read(&InWorkTree(checkout.work_tree())).map(|setup| setup.commands()).unwrap_or_default()
}
