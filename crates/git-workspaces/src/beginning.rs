//! The beginning of a repository: making one where there is none, and its first commit. Can be repeated after a crash at
//! any point; files that are in the way are never overwritten.

use std::path::Path;

use crate::durable_file::{read_plain, replace};
use crate::error::GitError;
use crate::fast_forward::{FastForward, NotFastForwarded, copy_with_time};
use crate::git_command::Git;
use crate::ids::{Commit, CommitId, TreeId};
use crate::index_lock::IndexLock;
use crate::references::ReferenceUpdate;
use crate::repository::{Repository, fresh_index_path};

impl Git {
    /// Makes a repository of this directory, on a branch `main` without a commit. One that is there stays as it is.
    pub fn begin_repository(&self, directory: &Path) -> Result<(), GitError> {
        let call = self.call(&directory.join(".git"), directory);
        call.args(["init", "--quiet", "--initial-branch=main", "--template="]).run().map(drop)
    }
}

impl Repository {
    /// The tree without any file, known to the control directory.
    pub fn empty_tree(&self) -> Result<TreeId, GitError> {
        let printed = self.internal_call().arg("mktree").stdin(Vec::new()).run()?;
        TreeId::parse(String::from_utf8_lossy(&printed).trim_end())
    }

    /// Puts a published commit without parents on the checked-out branch, which has no commit yet, and its files into the
    /// checkout. Files that are there and not in it stay, untracked.
    pub fn first_commit(&self, to: &Commit) -> Result<FastForward, GitError> {
        let Some(branch) = self.current_branch()? else {
            return Ok(FastForward::Refused(NotFastForwarded::HeadIsDetached));
        };
        let standing = self.read_reference(&branch)?;
        if standing.as_ref().is_some_and(|standing| *standing != to.id) {
            return Ok(FastForward::Refused(NotFastForwarded::HeadMoved { found: self.head()? }));
        }
        // Held before anything is touched: nobody else's git comes between files, branch and index.
        let Some(lock) = IndexLock::take(&self.checkout.git_dir().join("index"))? else {
            return Ok(FastForward::Refused(NotFastForwarded::IndexBusy));
        };
        let temporary = fresh_index_path(&self.control.indexes().join("users.index"));
        if lock.index().exists() {
            copy_with_time(lock.index(), &temporary)?;
        }
        let moved = self.begin_branch((&branch, standing.as_ref()), &temporary, to);
        let content = read_plain(&temporary);
        // The private copy has served; a leftover would be harmless.
        let _ = std::fs::remove_file(&temporary);
        if let (Ok(FastForward::Done), Ok(content)) = (&moved, content) {
            replace(lock.index(), &content)?;
        }
        moved
    }

    fn begin_branch(
        &self,
        (branch, standing): (&str, Option<&CommitId>),
        index: &Path,
        to: &Commit,
    ) -> Result<FastForward, GitError> {
        let nothing = Commit { id: CommitId::parse(&self.format.zero_id())?, tree: self.empty_tree()? };
        if let Err(detail) = self.move_files(index, (&nothing, to), &[])? {
            return Ok(FastForward::Refused(NotFastForwarded::InTheWay { detail }));
        }
        if standing.is_some() {
            return Ok(FastForward::Done);
        }
        Ok(match self.update_reference(branch, &to.id, None)? {
            ReferenceUpdate::Updated => FastForward::Done,
            ReferenceUpdate::Conflict { .. } => FastForward::Refused(NotFastForwarded::BranchMoved),
        })
    }
}
