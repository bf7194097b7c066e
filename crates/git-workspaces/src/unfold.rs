//! Makes an ordinary directory of a workspace that was put together from layers: for whoever wants to walk into it, and for the
//! rare look that has to be at the whole. Every byte and permission that was changed comes along.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use rustix::fs::{AtFlags, FileType, Mode};

use crate::confined_dir::{ConfinedDir, remove_tree};
use crate::error::GitError;
use crate::ids::{Commit, TreeId};
use crate::layers::Layers;
use crate::repo_path::RepoPath;
use crate::repository::Repository;
use crate::upper_layer::{Leaf, UpperLayer};
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
    /// begins anew; one that stands in full is left as it is. The layers stay.
    pub fn unfold(&self, path: &Path, signs: &[&str], unfolded: &Unfolded<'_>) -> Result<Worktree, GitError> {
        let Unfolded { layers, base, branch, key, apart } = *unfolded;
        let worktree = self.worktree_at(path)?;
        if self.stands(&worktree) {
            return Ok(worktree);
        }
        for sign in signs {
            remove_tree(&path.join(sign))?;
        }
        worktree.refuse_what_is_not_ours()?;
        worktree.link(&format!("ref: refs/heads/{branch}\n"))?;
        self.unfold_into(worktree.path(), key, layers, &base.tree)?;
        self.install_worktree_index(&worktree, key)?;
        if let Some(git_dir) = crate::set_apart::last_git_dir(&worktree, apart) {
            worktree.turn_to(&git_dir)?;
        }
        worktree.make_durable()?;
        self.mark_complete(std::iter::once(&worktree))?;
        Ok(worktree)
    }

    /// Makes `directory` hold `tree` with what was changed on it. A `.git` at its top stays.
    pub(crate) fn unfold_into(
        &self,
        directory: &Path,
        key: &str,
        layers: &Layers,
        tree: &TreeId,
    ) -> Result<(), GitError> {
        self.materialise(directory, key, tree)?;
        let (root, from) = (ConfinedDir::open(directory)?, ConfinedDir::open(&layers.upper())?);
        let upper = UpperLayer::read(&from)?;
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
            copy(&from, &root, leaf)?;
        }
        // Last, and from the inside out: one may be closed to us.
        for above in upper.directories.iter().rev() {
            set_mode(&directory.join(above.path.as_path()), above.mode)?;
        }
        Ok(())
    }
}

fn copy(from: &ConfinedDir, to: &ConfinedDir, leaf: &Leaf) -> Result<(), GitError> {
    let path = |root: &ConfinedDir| root.path().join(leaf.path.as_path());
    let (source, target) = (path(from), path(to));
    let mode = leaf.stat.st_mode & 0o7777;
    match leaf.kind {
        FileType::Symlink => {
            let link = fs::read_link(&source).map_err(GitError::io("read link", &source))?;
            std::os::unix::fs::symlink(link, &target).map_err(GitError::io("link", &target))
        }
        FileType::RegularFile => {
            // One that its owner closed is opened for the moment.
            if fs::copy(&source, &target).is_err() {
                set_mode(&source, mode | 0o600)?;
                let copied = fs::copy(&source, &target);
                set_mode(&source, mode)?;
                copied.map_err(GitError::io("copy", &source))?;
            }
            set_mode(&target, mode)?;
            keep_time(leaf, to, &leaf.path)
        }
        kind => {
            rustix::fs::mknodat(rustix::fs::CWD, &target, kind, Mode::from_raw_mode(mode), leaf.stat.st_rdev)
                .map_err(GitError::errno("copy", &source))
        }
    }
}

fn set_mode(path: &Path, mode: u32) -> Result<(), GitError> {
    fs::set_permissions(path, fs::Permissions::from_mode(mode)).map_err(GitError::io("set the mode of", path))
}

/// Builds go by it.
fn keep_time(leaf: &Leaf, to: &ConfinedDir, path: &RepoPath) -> Result<(), GitError> {
    let time = |seconds, nanos| rustix::fs::Timespec { tv_sec: seconds, tv_nsec: nanos };
    #[expect(clippy::cast_possible_wrap, reason = "nanoseconds fit")]
    let times = rustix::fs::Timestamps {
        last_access: time(leaf.stat.st_atime, leaf.stat.st_atime_nsec as i64),
        last_modification: time(leaf.stat.st_mtime, leaf.stat.st_mtime_nsec as i64),
    };
    rustix::fs::utimensat(to.descriptor(), path.as_path(), &times, AtFlags::SYMLINK_NOFOLLOW)
        .map_err(GitError::errno("set the time of", to.path().join(path.as_path())))
}
