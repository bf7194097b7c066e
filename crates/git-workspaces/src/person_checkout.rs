//! Ordinary worktrees in which a person looks at, or goes on from, some tree of a run. Each says beside itself what it was
//! made for, so that it is found again and taken away only while nobody worked in it.

use std::fs;
use std::path::{Path, PathBuf};

use crate::checkout::path_from_line;
use crate::durable_file::{ensure, read_plain};
use crate::error::GitError;
use crate::hazard::SnapshotLimits;
use crate::ids::{Commit, CommitId};
use crate::ignored_files::IgnoredFiles;
use crate::repository::Repository;
use crate::worktree::Worktree;

/// In the administrative directory: whose it is, the key of its index, the commit it was made at.
const MADE_FOR: &str = "windlass-checkout";
/// More than nothing at all is a change; what is counted before that must only end.
const ANYTHING: IgnoredFiles = IgnoredFiles::RecordedIfFew(SnapshotLimits { paths: 0, bytes: 0 });

/// A worktree that was made for a person.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PersonCheckout {
    pub path: PathBuf,
    pub key: String,
    pub commit: CommitId,
}

impl Repository {
    /// Makes a worktree at a path where nothing stands: on a new branch (short name), or at the commit on none. `owner` is
    /// any word without line breaks. The commit must be published and imported.
    pub fn check_out(
        &self,
        (path, branch): (&Path, Option<&str>),
        owner: &str,
        commit: &Commit,
    ) -> Result<Worktree, GitError> {
        let worktree = self.worktree_at(path)?;
        if self.stands(&worktree) {
            let what = "a worktree of ours stands there already".to_owned();
            return Err(GitError::NotOurs { path: worktree.path().to_owned(), what });
        }
        worktree.refuse_what_is_not_ours()?;
        let key =
            format!("checkout-{}", worktree.admin_dir().file_name().unwrap_or_default().to_string_lossy());
        if let Some(branch) = branch {
            self.add_worktree(worktree.path(), branch, &key, commit)?;
        } else {
            worktree.link(&format!("{}\n", commit.id))?;
            self.materialise(worktree.path(), &key, &commit.tree)?;
            self.install_worktree_index(&worktree, &key)?;
            worktree.make_durable()?;
            self.mark_complete(std::iter::once(&worktree))?;
        }
        let said = format!("{owner}\n{key}\n{}\n", commit.id);
        ensure(&worktree.admin_dir().join(MADE_FOR), said.as_bytes())?;
        Ok(worktree)
    }

    /// Those that were made for this owner and are still registered.
    pub fn checkouts_of(&self, owner: &str) -> Vec<PersonCheckout> {
        let registered = fs::read_dir(self.checkout.common_dir().join("worktrees"));
        let mut found: Vec<PersonCheckout> = registered
            .into_iter()
            .flatten()
            .flatten()
            .filter_map(|entry| made_for(&entry.path(), owner))
            .collect();
        found.sort_by(|left, right| left.path.cmp(&right.path));
        found
    }

    /// Whether it is what it was when it was made: nothing changed, added, ignored or committed.
    pub fn is_untouched(&self, checkout: &PersonCheckout) -> Result<bool, GitError> {
        let worktree = self.worktree_at(&checkout.path)?;
        // An agent can write what is said in the administrative directory, but not the mark.
        if !self.was_completed(&worktree) {
            return Ok(false);
        }
        let made_at = self.take_in(&checkout.commit)?;
        if self.commit_at_head(&worktree)?.as_ref() != Some(&checkout.commit) {
            return Ok(false);
        }
        let found = self.look_at_all(&worktree, &checkout.key, &made_at, ANYTHING)?;
        Ok(found.tree == made_at.tree && found.hazards.is_empty() && found.left_out.is_none())
    }
}

fn made_for(admin_dir: &Path, owner: &str) -> Option<PersonCheckout> {
    let said = String::from_utf8(read_plain(&admin_dir.join(MADE_FOR)).ok()?).ok()?;
    let mut lines = said.lines();
    let is_theirs = lines.next()? == owner;
    let (key, commit) = (lines.next()?.to_owned(), CommitId::parse(lines.next()?).ok()?);
    let dot_git = path_from_line(&read_plain(&admin_dir.join("gitdir")).ok()?);
    is_theirs.then(|| PersonCheckout { path: dot_git.parent().unwrap_or(&dot_git).to_owned(), key, commit })
}
