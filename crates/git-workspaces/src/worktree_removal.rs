//! Taking worktrees away, but never before what they hold is kept under `refs/windlass/`.

use std::fs;
use std::path::{Path, PathBuf};

use rustix::fs::{CWD, RenameFlags};

use crate::commit::Moment;
use crate::confined_dir::remove_tree;
use crate::durable_file::rename;
use crate::error::GitError;
use crate::hazard::{Hazard, SnapshotLimits};
use crate::ids::{Commit, CommitId};
use crate::ignored_files::{IgnoredFiles, LeftOut};
use crate::repo_path::RepoPath;
use crate::repository::Repository;
use crate::snapshot::Snapshot;
use crate::worktree::{Head, Worktree};

/// So often a worktree is kept anew in which somebody writes.
const TRIES: u32 = 3;

/// How the content of a workspace is to be kept.
#[derive(Debug, Clone, Copy)]
pub struct Keeping<'a> {
    /// Below `refs/windlass/kept/`.
    pub name: &'a str,
    pub time: Moment,
    pub ignored: IgnoredFiles,
}

/// Where the content of a workspace was kept.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Kept {
    /// `refs/windlass/kept/…`
    pub reference: String,
    pub commit: CommitId,
    /// What the kept tree cannot hold (embedded repositories, unreadable files).
    pub hazards: Vec<Hazard>,
    /// Ignored files that are in no kept tree, because others can make them again.
    pub left_out: Option<LeftOut>,
}

/// How a removal ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Removal {
    Removed {
        kept: Option<Kept>,
    },
    /// Part of the content could not be kept, so everything still stands.
    NotEverythingCouldBeKept {
        kept: Kept,
    },
    /// Whenever it was kept, somebody wrote in it before it was gone; everything still stands.
    WrittenInMeanwhile {
        kept: Kept,
    },
    /// The user locked the worktree (`git worktree lock`).
    Locked,
}

/// What keeps a worktree from being taken away.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Obstacle {
    /// The user locked the worktree (`git worktree lock`).
    Locked,
    /// Git cannot keep this content.
    CannotBeKept(Vec<Hazard>),
}

impl Repository {
    /// What would keep [`Self::remove_worktree`] from removing this one. Changes nothing in the user's repository.
    pub fn obstacle_to_removal(
        &self,
        worktree: &Worktree,
        key: &str,
        base: &Commit,
        ignored: IgnoredFiles,
    ) -> Result<Option<Obstacle>, GitError> {
        if is_locked(worktree) {
            return Ok(Some(Obstacle::Locked));
        }
        if fs::symlink_metadata(worktree.path()).is_err() {
            return Ok(None);
        }
        self.refuse_to_remove_what_is_not_ours(worktree)?;
        self.finish_giving_back(worktree)?;
        let snapshot = self.look_at_all(worktree, key, base, ignored)?;
        let also = beside_the_tree(worktree);
        let lost: Vec<_> = snapshot.hazards.into_iter().filter(loses_content).chain(also).collect();
        Ok((!lost.is_empty()).then_some(Obstacle::CannotBeKept(lost)))
    }

    /// Whether it is gone but for what git and we still have noted of it: a removal was cut off, or somebody else deleted it.
    pub fn removal_was_begun(&self, worktree: &Worktree) -> bool {
        let moved_aside = fs::symlink_metadata(doomed_path(worktree.path())).is_ok();
        let still_known = worktree.belongs_to_us() && self.was_completed(worktree);
        fs::symlink_metadata(worktree.path()).is_err() && (moved_aside || still_known)
    }

    pub(crate) fn look_at_all(
        &self,
        worktree: &Worktree,
        key: &str,
        base: &Commit,
        ignored: IgnoredFiles,
    ) -> Result<Snapshot, GitError> {
        self.record(worktree.path(), key, &base.tree, SnapshotLimits::NONE, ignored)
    }

    fn refuse_to_remove_what_is_not_ours(&self, worktree: &Worktree) -> Result<(), GitError> {
        if worktree.belongs_to_us() || self.was_completed(worktree) {
            return Ok(());
        }
        let what = String::from("no run of ours made it");
        Err(GitError::NotOurs { path: worktree.path().to_owned(), what })
    }

    /// Keeps the worktree's content, then takes directory and registration away. Its branch stays (see
    /// [`Self::delete_branch_if`]). Repeating it after a crash completes it without keeping a half-deleted state.
    pub fn remove_worktree(
        &self,
        worktree: &Worktree,
        key: &str,
        base: &Commit,
        keeping: &Keeping<'_>,
    ) -> Result<Removal, GitError> {
        if is_locked(worktree) {
            return Ok(Removal::Locked);
        }
        let registered = worktree.belongs_to_us();
        let doomed = doomed_path(worktree.path());
        let mut kept = None;
        if fs::symlink_metadata(worktree.path()).is_ok() {
            self.refuse_to_remove_what_is_not_ours(worktree)?;
            match self.keep_and_move_aside(worktree, key, base, keeping)? {
                Removal::Removed { kept: now } => kept = now,
                stays => return Ok(stays),
            }
        }
        remove_tree(&doomed)?;
        if registered {
            remove_tree(worktree.admin_dir())?;
        }
        let mark = self.completion_mark(worktree);
        if mark.exists() {
            fs::remove_file(&mark).map_err(GitError::io("remove", &mark))?;
        }
        // Last: until everything else is gone, the removal may have to be completed.
        self.forget_index(key);
        Ok(Removal::Removed { kept })
    }

    /// Until what stands aside is what was kept: somebody may write in it between the look and the move. After the move only
    /// those can who had it open already.
    fn keep_and_move_aside(
        &self,
        worktree: &Worktree,
        key: &str,
        base: &Commit,
        keeping: &Keeping<'_>,
    ) -> Result<Removal, GitError> {
        let (path, doomed) = (worktree.path(), doomed_path(worktree.path()));
        let mut tries = 0;
        loop {
            tries += 1;
            let mut kept = self.keep(worktree, key, base, keeping)?;
            kept.hazards.extend(beside_the_tree(worktree));
            if !kept.hazards.is_empty() {
                return Ok(Removal::NotEverythingCouldBeKept { kept });
            }
            // Out of the way in one step: a crash while deleting must not look like work that lost files.
            remove_tree(&doomed)?;
            rename(path, &doomed).map_err(GitError::io("move aside", path))?;
            if self.is_as_kept((worktree, &doomed), key, base, (keeping, &kept))? {
                return Ok(Removal::Removed { kept: Some(kept) });
            }
            // Where somebody put something in its place just now, this fails, and what stands aside stays there.
            rustix::fs::renameat_with(CWD, &doomed, CWD, path, RenameFlags::NOREPLACE)
                .map_err(GitError::errno("move back", path))?;
            if tries == TRIES {
                return Ok(Removal::WrittenInMeanwhile { kept });
            }
        }
    }

    fn is_as_kept(
        &self,
        (worktree, doomed): (&Worktree, &Path),
        key: &str,
        base: &Commit,
        (keeping, kept): (&Keeping<'_>, &Kept),
    ) -> Result<bool, GitError> {
        let now = self.record(doomed, key, &base.tree, SnapshotLimits::NONE, keeping.ignored)?;
        Ok(!now.hazards.iter().any(loses_content)
            && now.tree == self.resolve_commit(kept.commit.as_str())?.tree
            && self.says_the_same(worktree, doomed, &kept.commit)?)
    }

    /// Removes a worktree whose content nobody worked on: a copy that was only measured.
    pub fn drop_copy(&self, worktree: &Worktree) -> Result<(), GitError> {
        let registered = worktree.belongs_to_us();
        if fs::symlink_metadata(worktree.path()).is_ok() {
            self.refuse_to_remove_what_is_not_ours(worktree)?;
            remove_tree(worktree.path())?;
        }
        if registered {
            remove_tree(worktree.admin_dir())?;
        }
        Ok(())
    }

    /// The commit an agent left at HEAD, so that its own commits stay reachable too.
    pub(crate) fn commit_at_head(&self, worktree: &Worktree) -> Result<Option<CommitId>, GitError> {
        match worktree.head() {
            Head::Branch(name) => self.read_reference(&name),
            Head::Detached(id) => Ok(self.resolve_commit(id.as_str()).ok().map(|commit| commit.id)),
            Head::Unreadable => Ok(None),
        }
    }
}

fn is_locked(worktree: &Worktree) -> bool {
    worktree.admin_dir().join("locked").exists()
}

/// What is in no snapshot and is not kept beside it either.
fn beside_the_tree(worktree: &Worktree) -> Vec<Hazard> {
    let dot_git = worktree.path().join(".git");
    let own = fs::symlink_metadata(&dot_git).is_ok_and(|found| found.is_dir());
    let own = own.then(|| Hazard::EmbeddedRepository { path: RepoPath::new(".git") });
    let index = crate::kept_state::is_index_too_large(worktree);
    let index = index.then(|| Hazard::Refused { detail: "its index is too large to be kept".to_owned() });
    own.into_iter().chain(index).collect()
}

/// Links and sizes are dangerous to accept but are kept in full; the rest means that something is not in the tree.
pub(crate) fn loses_content(hazard: &Hazard) -> bool {
    match hazard {
        Hazard::EmbeddedRepository { .. }
        | Hazard::FilledSubmodule { .. }
        | Hazard::BlocksGit { .. }
        | Hazard::TooMuchIgnored { .. }
        | Hazard::NotRecorded
        | Hazard::Refused { .. } => true,
        Hazard::EscapingLink { .. }
        | Hazard::TooManyPaths { .. }
        | Hazard::TooLarge { .. }
        | Hazard::TooDeep { .. } => false,
    }
}

pub(crate) fn doomed_path(path: &Path) -> PathBuf {
    let mut name = std::ffi::OsString::from(".");
    name.push(path.file_name().unwrap_or_default());
    name.push(".windlass-removing");
    path.with_file_name(name)
}
