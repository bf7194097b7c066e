//! Makes an ordinary directory of a workspace that was put together from layers: for whoever wants to walk into it, and for the
//! rare look that has to be at the whole. Every byte and permission that was changed comes along.

use std::fs;
use std::path::Path;

use rustix::fs::{AtFlags, FileType, Mode};

use crate::confined_dir::{ConfinedDir, remove_tree};
use crate::error::GitError;
use crate::ids::{Commit, TreeId};
use crate::layers::Layers;
use crate::repo_path::RepoPath;
use crate::repository::Repository;
use crate::upper_layer::{Closed, Leaf, UpperLayer};
use crate::worktree::Worktree;

/// A workspace of layers that is to become a worktree.
#[derive(Debug, Clone, Copy)]
pub struct Unfolded<'a> {
    pub layers: &'a Layers,
    /// What stands below the upper layer.
    pub base: &'a Commit,
    /// Short name.
    pub branch: &'a str,
    pub key: &'a str,
    /// Where git inside it has its own directories.
    pub apart: &'a Path,
}

impl Repository {
    /// Makes a linked worktree of it at `path`, where nothing but `signs` of ours may stand. Asked again after a crash it
    /// begins anew; one that stands in full is left as it is. The layers stay. Nothing is made of layers that cannot be read
    /// in full, for whoever asks is about to take them away.
    pub fn unfold(&self, path: &Path, signs: &[&str], unfolded: &Unfolded<'_>) -> Result<Worktree, GitError> {
        let Unfolded { layers, base, branch, key, apart } = *unfolded;
        let worktree = self.worktree_at(path)?;
        if self.stands(&worktree) {
            return Ok(worktree);
        }
        refuse_what_cannot_be_read(layers)?;
        for sign in signs {
            remove_tree(&path.join(sign))?;
        }
        worktree.refuse_what_is_not_ours()?;
        worktree.link(&format!("ref: refs/heads/{branch}\n"))?;
        let unread = self.unfold_into(worktree.path(), key, layers, &base.tree)?;
        refuse_unread(layers, &unread)?;
        self.install_worktree_index(&worktree, key)?;
        if let Some(git_dir) = crate::set_apart::last_git_dir(&worktree, apart) {
            worktree.turn_to(&git_dir)?;
        }
        worktree.make_durable()?;
        self.mark_complete(std::iter::once(&worktree))?;
        Ok(worktree)
    }

    /// Makes `directory` hold `tree` with what was changed on it. A `.git` at its top stays. Comes back with the directories
    /// into which nobody could look.
    pub(crate) fn unfold_into(
        &self,
        directory: &Path,
        key: &str,
        layers: &Layers,
        tree: &TreeId,
    ) -> Result<Vec<RepoPath>, GitError> {
        self.materialise(directory, key, tree)?;
        let root = ConfinedDir::open(directory)?;
        let from = ConfinedDir::open_even_if_closed(&layers.upper())?;
        let upper = UpperLayer::read(&from, Closed::Opened)?;
        let laid = lay_over(&root, &from, &upper);
        upper.close_again(&from)?;
        laid?;
        Ok(upper.unread)
    }
}

/// Before anything is made.
fn refuse_what_cannot_be_read(layers: &Layers) -> Result<(), GitError> {
    let from = ConfinedDir::open_even_if_closed(&layers.upper())?;
    let upper = UpperLayer::read(&from, Closed::Opened)?;
    upper.close_again(&from)?;
    refuse_unread(layers, &upper.unread)?;
    // Git of a workspace of layers is a file that names a directory elsewhere. A repository in its place is in no tree.
    match from.kind_of(&RepoPath::new(".git"))? {
        Some((FileType::Directory, _)) => refuse_unread(layers, &[RepoPath::new(".git")]),
        _ => Ok(()),
    }
}

fn refuse_unread(layers: &Layers, unread: &[RepoPath]) -> Result<(), GitError> {
    let Some(first) = unread.first() else { return Ok(()) };
    Err(GitError::NotUnfolded { path: layers.upper(), first: first.to_string() })
}

/// What an upper layer says, done to a directory that holds what stood below it.
fn lay_over(root: &ConfinedDir, from: &ConfinedDir, upper: &UpperLayer) -> Result<(), GitError> {
    for path in &upper.removed {
        root.remove(path)?;
    }
    for above in &upper.directories {
        let is_directory = matches!(root.kind_of(&above.path)?, Some((FileType::Directory, _)));
        if above.is_opaque || !is_directory {
            root.remove(&above.path)?;
        }
        root.ensure_directory(&above.path)?;
    }
    for leaf in &upper.leaves {
        root.remove(&leaf.path)?;
        copy(from, root, leaf)?;
    }
    // Last, and from the inside out: one may be closed to us.
    for above in upper.directories.iter().rev() {
        root.set_mode(&above.path, above.mode)?;
    }
    Ok(())
}

fn copy(from: &ConfinedDir, to: &ConfinedDir, leaf: &Leaf) -> Result<(), GitError> {
    let shown = from.path().join(leaf.path.as_path());
    let ((_from, source), (_to, target)) = (from.short_path(&leaf.path)?, to.short_path(&leaf.path)?);
    let mode = leaf.stat.st_mode & 0o7777;
    match leaf.kind {
        FileType::Symlink => {
            let link = fs::read_link(&source).map_err(GitError::io("read link", &shown))?;
            std::os::unix::fs::symlink(link, &target).map_err(GitError::io("copy", &shown))
        }
        FileType::RegularFile => {
            // One that its owner closed is opened for the moment.
            if fs::copy(&source, &target).is_err() {
                from.set_mode(&leaf.path, mode | 0o600)?;
                let copied = fs::copy(&source, &target);
                from.set_mode(&leaf.path, mode)?;
                copied.map_err(GitError::io("copy", &shown))?;
            }
            keep_time(leaf, &target).map_err(GitError::errno("set the time of", &shown))?;
            to.set_mode(&leaf.path, mode)
        }
        kind => {
            rustix::fs::mknodat(rustix::fs::CWD, &target, kind, Mode::from_raw_mode(mode), leaf.stat.st_rdev)
                .map_err(GitError::errno("copy", &shown))
        }
    }
}

/// Builds go by it.
fn keep_time(leaf: &Leaf, target: &Path) -> Result<(), rustix::io::Errno> {
    let time = |seconds, nanos| rustix::fs::Timespec { tv_sec: seconds, tv_nsec: nanos };
    #[expect(clippy::cast_possible_wrap, reason = "nanoseconds fit")]
    let times = rustix::fs::Timestamps {
        last_access: time(leaf.stat.st_atime, leaf.stat.st_atime_nsec as i64),
        last_modification: time(leaf.stat.st_mtime, leaf.stat.st_mtime_nsec as i64),
    };
    rustix::fs::utimensat(rustix::fs::CWD, target, &times, AtFlags::SYMLINK_NOFOLLOW)
}
