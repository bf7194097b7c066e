//! Taking worktrees away, but never before what they hold is kept under `refs/windlass/`.

use std::fs;
use std::path::{Path, PathBuf};

use crate::commit::{CommitRequest, Identity, Moment};
use crate::confined_dir::remove_tree;
use crate::durable_file::rename;
use crate::error::GitError;
use crate::hazard::{Hazard, SnapshotLimits};
use crate::ids::{Commit, CommitId};
use crate::references::ReferenceUpdate;
use crate::repository::Repository;
use crate::snapshot::IgnoredFiles;
use crate::worktree::{Head, Worktree};

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
        let snapshot = self.record(worktree.path(), key, &base.tree, NO_LIMITS, ignored)?;
        let lost: Vec<_> = snapshot.hazards.into_iter().filter(loses_content).collect();
        Ok((!lost.is_empty()).then_some(Obstacle::CannotBeKept(lost)))
    }

    fn refuse_to_remove_what_is_not_ours(&self, worktree: &Worktree) -> Result<(), GitError> {
        if worktree.belongs_to_us() || self.was_completed(worktree) {
            return Ok(());
        }
        let what = String::from("no run of ours made it");
        Err(GitError::NotOurs { path: worktree.path().to_owned(), what })
    }

    /// Records a workspace, untracked files included, under its name in the user's repository. Earlier states kept under the same name stay reachable as ancestors.
    pub fn keep(
        &self,
        worktree: &Worktree,
        key: &str,
        base: &Commit,
        keeping: &Keeping<'_>,
    ) -> Result<Kept, GitError> {
        let Keeping { name, time, ignored } = *keeping;
        let reference = format!("refs/windlass/kept/{name}");
        let snapshot = self.record(worktree.path(), key, &base.tree, NO_LIMITS, ignored)?;
        let hazards: Vec<_> = snapshot.hazards.into_iter().filter(loses_content).collect();
        let earlier = self.read_reference(&reference)?;
        if let Some(earlier) = &earlier
            && self.resolve_commit(earlier.as_str())?.tree == snapshot.tree
        {
            return Ok(Kept { reference, commit: earlier.clone(), hazards });
        }
        let head = self.commit_at_head(worktree)?.unwrap_or_else(|| base.id.clone());
        let parents: Vec<CommitId> = std::iter::once(head).chain(earlier.clone()).collect();
        let windlass = Identity::new("windlass", "windlass@localhost")?;
        let message = format!("Keep workspace {name}");
        let commit = self.commit(&CommitRequest {
            tree: &snapshot.tree,
            parents: &parents,
            message: &message,
            author: &windlass,
            committer: &windlass,
            time,
        })?;
        self.publish(&Commit { id: commit.clone(), tree: snapshot.tree }, &base.tree)?;
        match self.update_reference(&reference, &commit, earlier.as_ref())? {
            ReferenceUpdate::Updated => Ok(Kept { reference, commit, hazards }),
            ReferenceUpdate::Conflict { found } => Err(GitError::NotOurs {
                path: PathBuf::from(reference),
                what: format!("it moved to {found:?} while the workspace was being kept"),
            }),
        }
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
            let now = self.keep(worktree, key, base, keeping)?;
            if !now.hazards.is_empty() {
                return Ok(Removal::NotEverythingCouldBeKept { kept: now });
            }
            kept = Some(now);
            // Out of the way in one step: a crash while deleting must not look like work that lost files.
            remove_tree(&doomed)?;
            rename(worktree.path(), &doomed).map_err(GitError::io("move aside", worktree.path()))?;
        }
        remove_tree(&doomed)?;
        if registered {
            remove_tree(worktree.admin_dir())?;
        }
        let mark = self.completion_mark(worktree);
        if mark.exists() {
            fs::remove_file(&mark).map_err(GitError::io("remove", &mark))?;
        }
        Ok(Removal::Removed { kept })
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
    fn commit_at_head(&self, worktree: &Worktree) -> Result<Option<CommitId>, GitError> {
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

const NO_LIMITS: SnapshotLimits = SnapshotLimits { paths: usize::MAX, bytes: u64::MAX };

/// Links and sizes are dangerous to accept but are kept in full; the rest means that something is not in the tree.
fn loses_content(hazard: &Hazard) -> bool {
    match hazard {
        Hazard::EmbeddedRepository { .. }
        | Hazard::FilledSubmodule { .. }
        | Hazard::BlocksGit { .. }
        | Hazard::TooMuchIgnored { .. }
        | Hazard::Refused { .. } => true,
        Hazard::EscapingLink { .. }
        | Hazard::TooManyPaths { .. }
        | Hazard::TooLarge { .. }
        | Hazard::TooDeep { .. } => false,
    }
}

fn doomed_path(path: &Path) -> PathBuf {
    let mut name = std::ffi::OsString::from(".");
    name.push(path.file_name().unwrap_or_default());
    name.push(".windlass-removing");
    path.with_file_name(name)
}
