//! One walk over a directory, compared with the list of paths that should be there: what each tracked path looks
//! like now, and what stands there besides. Never follows a link, runs no process, changes nothing.

use std::collections::HashMap;
use std::ffi::OsStr;
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStrExt;

use rustix::fs::{AtFlags, FileType, Stat};
use rustix::io::Errno;

use crate::confined_dir::{ConfinedDir, names_in, open_dir_at};
use crate::error::GitError;
use crate::index_file::{CachedStat, IndexEntry, MODE_EXECUTABLE};
use crate::repo_path::RepoPath;

/// Everything that changes when a file is written, replaced, touched or has its mode changed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct FileStat {
    pub(crate) device: u64,
    pub(crate) inode: u64,
    pub(crate) ctime: (i64, i64),
    pub(crate) mtime: (i64, i64),
    pub(crate) size: u64,
    pub(crate) mode: u32,
    pub(crate) owner: (u32, u32),
    pub(crate) link_target: Option<Vec<u8>>,
}

#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Extra {
    pub(crate) path: RepoPath,
    pub(crate) is_directory: bool,
}

#[derive(Debug)]
pub(crate) struct Scan {
    /// One for each entry of the list, in its order; `None` where nothing usable stands.
    pub(crate) found: Vec<Option<FileStat>>,
    /// Topmost things that the list does not know, including whatever stands in the way of a listed path.
    pub(crate) extras: Vec<Extra>,
}

/// Compares `root` with `entries`, which must be in index order. `.git` at the top belongs to nobody here.
pub(crate) fn scan(root: &ConfinedDir, entries: &[IndexEntry]) -> Result<Scan, GitError> {
    let mut walk = Walk { found: vec![None; entries.len()], extras: Vec::new() };
    walk.directory(root.descriptor(), Level { entries, offset: 0, prefix: 0 })
        .map_err(GitError::errno("walk", root.path()))?;
    walk.extras.sort();
    Ok(Scan { found: walk.found, extras: walk.extras })
}

struct Walk {
    found: Vec<Option<FileStat>>,
    extras: Vec<Extra>,
}

/// The entries below one directory: a slice of the list, where it begins there, and how many bytes of each path
/// name the directory (with its slash).
#[derive(Clone, Copy)]
struct Level<'e> {
    entries: &'e [IndexEntry],
    offset: usize,
    prefix: usize,
}

enum Expected<'e> {
    Leaf(usize),
    Directory(Level<'e>),
}

impl<'e> Level<'e> {
    fn children(self) -> HashMap<&'e [u8], Expected<'e>> {
        let mut children = HashMap::new();
        let mut at = 0;
        while at < self.entries.len() {
            let rest = &self.entries[at].path.as_bytes()[self.prefix..];
            let Some(slash) = rest.iter().position(|byte| *byte == b'/') else {
                children.insert(rest, Expected::Leaf(at));
                at += 1;
                continue;
            };
            let prefix = self.prefix + slash + 1;
            let directory = &self.entries[at].path.as_bytes()[..prefix];
            let length = self.entries[at..]
                .iter()
                .take_while(|entry| entry.path.as_bytes().starts_with(directory))
                .count();
            let level = Level { entries: &self.entries[at..at + length], offset: self.offset + at, prefix };
            children.insert(&rest[..slash], Expected::Directory(level));
            at += length;
        }
        children
    }

    fn path_of(self, name: &OsStr) -> RepoPath {
        let mut path =
            self.entries.first().map_or(&[][..], |entry| &entry.path.as_bytes()[..self.prefix]).to_vec();
        path.extend(name.as_bytes());
        RepoPath::new(path)
    }
}

impl Walk {
    fn directory(&mut self, directory: &OwnedFd, level: Level<'_>) -> Result<(), Errno> {
        let children = level.children();
        for name in names_in(directory)? {
            if level.prefix == 0 && name.as_bytes() == b".git" {
                continue;
            }
            let stat = match rustix::fs::statat(directory, &name, AtFlags::SYMLINK_NOFOLLOW) {
                Ok(stat) => stat,
                Err(Errno::NOENT) => continue,
                Err(errno) => return Err(errno),
            };
            let kind = FileType::from_raw_mode(stat.st_mode);
            let fits = match children.get(name.as_bytes()) {
                Some(Expected::Leaf(at)) => self.leaf(directory, &name, &stat, level, *at)?,
                Some(Expected::Directory(below)) if kind == FileType::Directory => {
                    match open_dir_at(directory, &name) {
                        Ok(child) => {
                            self.directory(&child, *below)?;
                            true
                        }
                        // Not to be opened: as good as something else standing there.
                        Err(Errno::ACCESS | Errno::NOTDIR | Errno::LOOP | Errno::NOENT) => false,
                        Err(errno) => return Err(errno),
                    }
                }
                _ => false,
            };
            if !fits {
                self.extras
                    .push(Extra { path: level.path_of(&name), is_directory: kind == FileType::Directory });
            }
        }
        Ok(())
    }

    /// Records a tracked file or link; says whether the thing found may stand there.
    fn leaf(
        &mut self,
        directory: &OwnedFd,
        name: &OsStr,
        stat: &Stat,
        level: Level<'_>,
        at: usize,
    ) -> Result<bool, Errno> {
        let entry = &level.entries[at];
        let kind = FileType::from_raw_mode(stat.st_mode);
        if entry.is_gitlink() {
            // A submodule is an empty directory here; anything inside is not part of the tree.
            let empty = kind == FileType::Directory
                && open_dir_at(directory, name)
                    .and_then(|child| names_in(&child))
                    .is_ok_and(|names| names.is_empty());
            return Ok(empty);
        }
        let wanted = if entry.is_symlink() { FileType::Symlink } else { FileType::RegularFile };
        if kind != wanted {
            return Ok(false);
        }
        let link_target = match kind {
            FileType::Symlink => Some(rustix::fs::readlinkat(directory, name, Vec::new())?.into_bytes()),
            _ => None,
        };
        self.found[level.offset + at] = Some(FileStat::new(stat, link_target));
        Ok(true)
    }
}

impl FileStat {
    #[expect(clippy::useless_conversion, reason = "field types differ between platforms")]
    #[expect(clippy::cast_possible_wrap, reason = "nanoseconds fit")]
    pub(crate) fn new(stat: &Stat, link_target: Option<Vec<u8>>) -> Self {
        Self {
            device: u64::from(stat.st_dev),
            inode: u64::from(stat.st_ino),
            ctime: (i64::from(stat.st_ctime), stat.st_ctime_nsec as i64),
            mtime: (i64::from(stat.st_mtime), stat.st_mtime_nsec as i64),
            size: u64::try_from(stat.st_size).unwrap_or(0),
            mode: u32::from(stat.st_mode),
            owner: (stat.st_uid, stat.st_gid),
            link_target,
        }
    }

    /// As git keeps it.
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "git stores the low 32 bits")]
    pub(crate) fn cached(&self) -> CachedStat {
        CachedStat {
            ctime: (self.ctime.0 as u32, self.ctime.1 as u32),
            mtime: (self.mtime.0 as u32, self.mtime.1 as u32),
            device: self.device as u32,
            inode: self.inode as u32,
            uid: self.owner.0,
            gid: self.owner.1,
            size: self.size as u32,
        }
    }

    /// Whether this is still the file git wrote when it recorded `cached`. Stricter than git: to the nanosecond,
    /// so that a change within the same second counts.
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "git stores the low 32 bits")]
    pub(crate) fn is(&self, cached: &CachedStat, mode: u32) -> bool {
        let same_time = |now: (i64, i64), then: (u32, u32)| {
            // A git built without sub-second times leaves zero there.
            now.0 as u32 == then.0 && (then.1 == 0 || now.1 as u32 == then.1)
        };
        same_time(self.ctime, cached.ctime)
            && same_time(self.mtime, cached.mtime)
            && self.device as u32 == cached.device
            && self.inode as u32 == cached.inode
            && self.size as u32 == cached.size
            && (self.link_target.is_some() || (self.mode & 0o100 != 0) == (mode == MODE_EXECUTABLE))
    }
}
