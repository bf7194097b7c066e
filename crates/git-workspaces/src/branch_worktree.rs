//! Worktrees that stand on a branch for as long as work on it lasts, at a place that the user chose: made, found again
//! whoever made them, and moved with their branch. What git ignores in them stays, for builds are kept there.

use std::fs;
use std::path::{Path, PathBuf};

use crate::checkout::path_from_line;
use crate::confined_dir::ConfinedDir;
use crate::durable_file::{ensure, read_plain};
use crate::error::GitError;
use crate::hazard::SnapshotLimits;
use crate::ids::{Commit, TreeId};
use crate::index_file::{IndexEntry, MODE_EXECUTABLE, MODE_TYPE};
use crate::repo_path::RepoPath;
use crate::repository::Repository;
use crate::worktree::{Head, NewWorktree, Worktree};
use crate::write_tree::differing;

const MODE_REGULAR: u32 = 0o100_000;

impl Repository {
    /// The worktree at this path: one that somebody else registered with git, else the one that is or would be ours.
    pub fn linked_worktree(&self, path: &Path) -> Result<Worktree, GitError> {
        let ours = self.worktree_at(path)?;
        if ours.belongs_to_us() {
            return Ok(ours);
        }
        let found = self.registered(&ours.path().join(".git"));
        Ok(found.map_or_else(|| ours.clone(), |admin| ours.registered_as(admin)))
    }

    /// Whether git has a worktree of this repository at this path, whoever made it and whether it stands or not.
    pub fn knows_worktree(&self, path: &Path) -> bool {
        let real = path.parent().and_then(|parent| parent.canonicalize().ok());
        let real = real.zip(path.file_name()).map(|(parent, name)| parent.join(name).join(".git"));
        self.registered(&path.join(".git")).or_else(|| self.registered(&real?)).is_some()
    }

    /// Where a checkout of this repository stands on this branch (short name). Git lets no second one do so.
    pub fn checkout_on(&self, branch: &str) -> Option<PathBuf> {
        let on_it = format!("ref: refs/heads/{branch}");
        let stands = |git_dir: &Path| {
            read_plain(&git_dir.join("HEAD"))
                .is_ok_and(|content| path_from_line(&content) == Path::new(&on_it))
        };
        let common = self.checkout.common_dir();
        if common.file_name().is_some_and(|name| name == ".git") && stands(common) {
            return common.parent().map(Path::to_owned);
        }
        let admin = self.registrations().into_iter().find(|admin| stands(admin))?;
        let dot_git = path_from_line(&read_plain(&admin.join("gitdir")).ok()?);
        dot_git.parent().map(Path::to_owned)
    }

    /// The administrative directories of all linked worktrees.
    fn registrations(&self) -> Vec<PathBuf> {
        let registered = fs::read_dir(self.checkout.common_dir().join("worktrees"));
        let mut admin_dirs: Vec<_> =
            registered.into_iter().flatten().flatten().map(|entry| entry.path()).collect();
        admin_dirs.sort();
        admin_dirs
    }

    /// The administrative directory of the worktree with this `.git`.
    fn registered(&self, dot_git: &Path) -> Option<PathBuf> {
        self.registrations().into_iter().find(|admin| {
            read_plain(&admin.join("gitdir")).is_ok_and(|content| path_from_line(&content) == dot_git)
        })
    }

    /// Makes a worktree on a branch (short name) that stands at `at` or is made there. One that stands already is left as
    /// it is, work and all, also one that another program made on that branch. `at` must be imported.
    pub fn open_worktree(&self, wanted: &NewWorktree<'_>, at: &Commit) -> Result<Worktree, GitError> {
        let worktree = self.linked_worktree(wanted.path)?;
        let reference = format!("refs/heads/{}", wanted.branch);
        let there = worktree.path().symlink_metadata().is_ok();
        let known = there && self.was_completed(&worktree);
        let adopted = there && !known && self.holds_work(&worktree)?;
        if (known || adopted) && worktree.head() != Head::Branch(reference.clone()) {
            let what = format!("it is a worktree that is not on {}", wanted.branch);
            return Err(GitError::NotOurs { path: worktree.path().to_owned(), what });
        }
        if adopted {
            // From now on it is known here, and nothing that follows takes it for a checkout left half made.
            ensure(&self.completion_mark(&worktree), b"")?;
        }
        self.complete_worktree(&worktree, &reference, wanted.key, at)?;
        Ok(worktree)
    }

    /// Another program made it, or another control directory of ours did and completed it.
    fn holds_work(&self, worktree: &Worktree) -> Result<bool, GitError> {
        let of_others = *worktree != self.worktree_at(worktree.path())?;
        Ok(worktree.belongs_to_us() && (of_others || worktree.is_marked_complete()))
    }

    /// Moves a directory that holds `from`, as far as git looks at it, to `to`. Files that git ignores stay where they do
    /// not stand in the way.
    pub fn turn(&self, directory: &Path, key: &str, from: &TreeId, to: &TreeId) -> Result<(), GitError> {
        let root = ConfinedDir::open(directory)?;
        let (before, after) = (self.listing(from)?, self.listing(to)?);
        let changed: Vec<&RepoPath> = differing(&before, &after).collect();
        let wanted: Vec<&IndexEntry> =
            changed.iter().filter_map(|path| after.find(path.as_bytes())).collect();
        let simple = wanted.iter().all(|entry| entry.mode & MODE_TYPE == MODE_REGULAR);
        if simple && self.write_over(&root, &changed, &wanted).is_ok() {
            // Looked at as any other content: what was turned must be told from what only ought to be there.
            let held = self.snapshot(directory, key, to, SnapshotLimits::NONE)?;
            if held.tree == *to {
                return Ok(());
            }
        }
        self.materialise(directory, key, to).map(drop)
    }

    fn write_over(
        &self,
        root: &ConfinedDir,
        changed: &[&RepoPath],
        wanted: &[&IndexEntry],
    ) -> Result<(), GitError> {
        for path in changed {
            root.remove(path)?;
        }
        for entry in wanted {
            let mode = if entry.mode == MODE_EXECUTABLE { 0o777 } else { 0o666 };
            root.write_file(&entry.path, mode, &self.blob(&format!("{:?}", entry.oid))?)?;
        }
        changed.iter().try_for_each(|path| root.remove_empty_above(path))
    }
}
