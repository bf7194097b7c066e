//! Finds what git would open while it walks a directory and never come back from: a pipe where it looks for its rules,
//! a repository inside whose HEAD is a device. A plain walk without any process; it reads no file but nested links to
//! repositories, and decides nothing.

use std::collections::HashSet;
use std::fs;
use std::path::{Path, PathBuf};

use rustix::fs::{AtFlags, Dir, FileType, Mode, OFlags};
use rustix::io::Errno;

use crate::checkout::path_from_line;
use crate::confined_dir::ConfinedDir;
use crate::durable_file::read_plain;
use crate::error::GitError;
use crate::repo_path::RepoPath;

/// What git reads wherever it walks, to learn what to leave out and how to store the rest.
const RULE_FILES: [&[u8]; 3] = [b".gitignore", b".gitattributes", b".gitmodules"];
/// What git reads of a directory that could be a repository, besides its references.
const REPOSITORY_FILES: [&str; 5] = ["HEAD", "commondir", "config", "config.worktree", "packed-refs"];
/// A repository inside a tree that has more is left alone as well.
const REFERENCES_LOOKED_AT: usize = 20_000;

/// Everything below `root` on which no git may be let loose. `.git` at the top belongs to nobody here.
pub(crate) fn blockers(root: &ConfinedDir) -> Result<Vec<RepoPath>, GitError> {
    blockers_outside(root, &HashSet::new())
}

/// The same, without what lies in these directories: for a git that has no business there.
pub(crate) fn blockers_outside(
    root: &ConfinedDir,
    passed: &HashSet<RepoPath>,
) -> Result<Vec<RepoPath>, GitError> {
    let mut found = Vec::new();
    let mut open = vec![Vec::new()];
    while let Some(directory) = open.pop() {
        let complain = |errno| {
            GitError::errno("walk", root.path().join(RepoPath::new(directory.clone()).as_path()))(errno)
        };
        for (name, kind) in entries_of(root, &directory).map_err(complain)? {
            let path = below(&directory, &name);
            let full = root.path().join(RepoPath::new(path.clone()).as_path());
            let blocks = if RULE_FILES.contains(&name.as_slice()) {
                !reads_as_a_file(&full)
            } else if name == b".git" {
                !directory.is_empty() && repository_blocks(&full)
            } else {
                if kind == FileType::Directory {
                    if passed.is_empty() || !passed.contains(&RepoPath::new(path.clone())) {
                        open.push(path);
                    }
                    continue;
                }
                false
            };
            if blocks {
                found.push(RepoPath::new(path));
            }
        }
    }
    found.sort();
    Ok(found)
}

/// What a directory of the tree holds; one that cannot be opened is closed to git too.
pub(crate) fn entries_of(root: &ConfinedDir, directory: &[u8]) -> Result<Vec<(Vec<u8>, FileType)>, Errno> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let path: &[u8] = if directory.is_empty() { b"." } else { directory };
    let opened = match rustix::fs::openat(root.descriptor(), path, flags, Mode::empty()) {
        Ok(opened) => opened,
        Err(Errno::ACCESS | Errno::NOTDIR | Errno::LOOP | Errno::NOENT | Errno::NAMETOOLONG) => {
            return Ok(Vec::new());
        }
        Err(errno) => return Err(errno),
    };
    let mut entries = Vec::new();
    let listed = match Dir::read_from(&opened) {
        Ok(listed) => listed,
        // It can be read and not be searched.
        Err(Errno::ACCESS) => return Ok(Vec::new()),
        Err(errno) => return Err(errno),
    };
    for entry in listed {
        let entry = entry?;
        let name = entry.file_name().to_bytes();
        if name == b"." || name == b".." {
            continue;
        }
        let kind = match entry.file_type() {
            FileType::Unknown => rustix::fs::statat(&opened, name, AtFlags::SYMLINK_NOFOLLOW)
                .map_or(FileType::Unknown, |stat| FileType::from_raw_mode(stat.st_mode)),
            known => known,
        };
        entries.push((name.to_vec(), kind));
    }
    Ok(entries)
}

fn below(directory: &[u8], name: &[u8]) -> Vec<u8> {
    if directory.is_empty() { name.to_vec() } else { [directory, b"/", name].concat() }
}

/// A plain file, a link to one, or a link to nowhere.
fn reads_as_a_file(path: &Path) -> bool {
    fs::metadata(path).map_or(true, |found| found.is_file())
}

/// Whether git would be held up by finding out what `.git` in a directory of the tree is.
fn repository_blocks(dot_git: &Path) -> bool {
    let Ok(found) = fs::metadata(dot_git) else { return false };
    let repository = if found.is_dir() {
        dot_git.to_owned()
    } else {
        let Ok(content) = read_plain(dot_git) else { return true };
        let Some(named) = content.strip_prefix(b"gitdir: ") else { return false };
        beside(dot_git, named)
    };
    let shared = read_plain(&repository.join("commondir")).ok();
    let shared = shared.map(|line| repository.join(path_from_line(&line)));
    std::iter::once(repository).chain(shared).any(|directory| {
        REPOSITORY_FILES.iter().any(|name| !reads_as_a_file(&directory.join(name)))
            || references_block(&directory.join("refs"))
    })
}

fn beside(dot_git: &Path, named: &[u8]) -> PathBuf {
    let named = named.trim_ascii_end();
    dot_git.parent().unwrap_or(Path::new("/")).join(path_from_line(named))
}

/// Follows links as git does; one that leads round in a circle ends at the limit.
fn references_block(directory: &Path) -> bool {
    let mut seen = 0;
    let mut open = vec![directory.to_owned()];
    while let Some(current) = open.pop() {
        for entry in fs::read_dir(&current).into_iter().flatten().flatten() {
            seen += 1;
            let path = entry.path();
            match fs::metadata(&path) {
                Ok(found) if found.is_dir() => open.push(path),
                Ok(found) if !found.is_file() => return true,
                _ if seen > REFERENCES_LOOKED_AT => return true,
                _ => {}
            }
        }
    }
    false
}
