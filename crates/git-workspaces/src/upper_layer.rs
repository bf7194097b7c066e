//! What an upper layer of a workspace says was changed: files and links that stand there, what was removed, directories that
//! hide all of what lies below them. A plain walk over what was changed, and nothing else. Decides nothing.

use std::collections::BTreeSet;
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStrExt;

use rustix::fs::{AtFlags, FileType, Stat};
use rustix::io::Errno;

use crate::confined_dir::{ConfinedDir, names_in};
use crate::error::GitError;
use crate::hazard::DEEPEST_PATH;
use crate::repo_path::RepoPath;

/// Written by a mount without privileges, and by one with them that was told to.
const OPAQUE: &str = "user.overlay.opaque";
/// Names with "git" in them that mean nothing special to git.
const HARMLESS: [&[u8]; 6] =
    [b".gitignore", b".gitattributes", b".gitkeep", b".github", b".gitlab", b".gitlab-ci.yml"];
/// What git reads to learn what to leave out; anything but a plain file there is for git's own walk to find.
const RULE_FILES: [&[u8]; 3] = [b".gitignore", b".gitattributes", b".gitmodules"];

/// The content of an upper layer, without `.git` at its top, which is nobody's.
#[derive(Debug, Default)]
pub(crate) struct UpperLayer {
    /// What is gone, with all that was in it.
    pub(crate) removed: Vec<RepoPath>,
    pub(crate) directories: Vec<Directory>,
    pub(crate) leaves: Vec<Leaf>,
    /// Something stands there that only git's own walk over a whole directory judges rightly.
    pub(crate) is_odd: bool,
    /// Directories into which nobody could look: what lies in them is not in these lists.
    pub(crate) unread: Vec<RepoPath>,
}

/// What becomes of directories that their owner closed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Closed {
    /// They are closed to git as well.
    PassedOver,
    /// For whoever has to have all of it. [`UpperLayer::close_again`] makes them what they were.
    Opened,
}

#[derive(Debug)]
pub(crate) struct Directory {
    pub(crate) path: RepoPath,
    /// Of what lies below it nothing shows.
    pub(crate) is_opaque: bool,
    pub(crate) mode: u32,
}

#[derive(Debug)]
pub(crate) struct Leaf {
    pub(crate) path: RepoPath,
    pub(crate) kind: FileType,
    pub(crate) stat: Stat,
}

impl UpperLayer {
    pub(crate) fn read(root: &ConfinedDir, closed: Closed) -> Result<Self, GitError> {
        let mut layer = Self::default();
        let mut open = vec![Vec::new()];
        let mut opaque = BTreeSet::new();
        while let Some(path) = open.pop() {
            let opened = match closed {
                Closed::PassedOver => root.open_below(&path),
                Closed::Opened => root.open_below_even_if_closed(&path),
            };
            let looked = opened.and_then(|directory| {
                if is_opaque(&directory) {
                    opaque.insert(RepoPath::new(path.clone()));
                }
                layer.directory(&directory, &path, &mut open)
            });
            match looked {
                Ok(()) => {}
                Err(Errno::ACCESS | Errno::PERM | Errno::NAMETOOLONG) => {
                    layer.is_odd = true;
                    layer.unread.push(RepoPath::new(path));
                }
                Err(errno) => return Err(GitError::errno("walk", root.path())(errno)),
            }
        }
        for directory in &mut layer.directories {
            directory.is_opaque = opaque.contains(&directory.path);
        }
        layer.removed.sort();
        layer.directories.sort_by(|one, other| one.path.cmp(&other.path));
        layer.leaves.sort_by(|one, other| one.path.cmp(&other.path));
        layer.unread.sort();
        Ok(layer)
    }

    /// From the inside out: behind a closed one nobody gets.
    pub(crate) fn close_again(&self, root: &ConfinedDir) -> Result<(), GitError> {
        let closed = self.directories.iter().rev().filter(|directory| directory.mode & 0o700 != 0o700);
        for directory in closed.filter(|directory| !self.unread.contains(&directory.path)) {
            root.set_mode(&directory.path, directory.mode)?;
        }
        Ok(())
    }

    fn directory(&mut self, directory: &OwnedFd, path: &[u8], open: &mut Vec<Vec<u8>>) -> Result<(), Errno> {
        for name in names_in(directory)? {
            let stat = match rustix::fs::statat(directory, &name, AtFlags::SYMLINK_NOFOLLOW) {
                Err(Errno::NOENT) => continue,
                other => other?,
            };
            let kind = FileType::from_raw_mode(stat.st_mode);
            let name = name.as_bytes();
            if path.is_empty() && name == b".git" {
                self.is_odd |= kind != FileType::RegularFile;
                continue;
            }
            let below = if path.is_empty() { name.to_vec() } else { [path, b"/", name].concat() };
            self.is_odd |= is_odd_name(name)
                || (RULE_FILES.contains(&name) && kind != FileType::RegularFile && !is_whiteout(&stat))
                || RepoPath::new(below.clone()).components().count() > DEEPEST_PATH;
            let path = RepoPath::new(below.clone());
            match kind {
                FileType::Directory => {
                    // Whether it is opaque shows once it is open.
                    self.directories.push(Directory { path, is_opaque: false, mode: stat.st_mode & 0o7777 });
                    open.push(below);
                }
                _ if is_whiteout(&stat) => self.removed.push(path),
                FileType::RegularFile | FileType::Symlink => self.leaves.push(Leaf { path, kind, stat }),
                _ => {
                    self.is_odd = true;
                    self.leaves.push(Leaf { path, kind, stat });
                }
            }
        }
        Ok(())
    }
}

pub(crate) fn is_whiteout(stat: &Stat) -> bool {
    FileType::from_raw_mode(stat.st_mode) == FileType::CharacterDevice && stat.st_rdev == 0
}

fn is_opaque(directory: &OwnedFd) -> bool {
    let mut mark = [0_u8; 1];
    rustix::fs::fgetxattr(directory, OPAQUE, &mut mark) == Ok(1) && mark == *b"y"
}

/// Whether git could take it for its own directory on some file system, or refuses it.
fn is_odd_name(name: &[u8]) -> bool {
    let lower = name.to_ascii_lowercase();
    let says_git = lower.windows(3).any(|part| part == b"git");
    let is_strange = |byte: &u8| !byte.is_ascii() || b"~\\:".contains(byte);
    !HARMLESS.contains(&name)
        && ((says_git && (lower.starts_with(b".") || name.iter().any(is_strange)))
            || (name.starts_with(b".") && name.iter().any(|byte| !byte.is_ascii())))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_that_could_be_gits_own_are_left_to_git() {
        for name in [".git", ".GIT", ".gitmodules", "git~1", ".git ", ".g\u{200c}it", ".git::$INDEX"] {
            assert!(is_odd_name(name.as_bytes()), "{name}");
        }
        for name in ["digit.rs", ".gitignore", "git.md", ".github", ".env", "größe", "a~b"] {
            assert!(!is_odd_name(name.as_bytes()), "{name}");
        }
    }
}
