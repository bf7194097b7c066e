//! What in a change set must not simply be accepted, whatever the change is worth. Looks at changed paths only and
//! decides nothing: the caller does.

use std::fmt;

use rustix::fs::FileType;

use crate::confined_dir::ConfinedDir;
use crate::error::GitError;
use crate::index_file::Index;
use crate::repo_path::RepoPath;
use crate::snapshot::{Change, ChangeKind};

/// Nesting beyond this is no source code; it exists to break the programs that walk it.
pub(crate) const DEEPEST_PATH: usize = 256;

/// Bounds of a change set.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SnapshotLimits {
    pub paths: usize,
    /// Sum of the sizes of added and changed files.
    pub bytes: u64,
}

impl SnapshotLimits {
    /// For whoever must have all of it, however much that is.
    pub const NONE: Self = Self { paths: usize::MAX, bytes: u64::MAX };
}

impl Default for SnapshotLimits {
    fn default() -> Self {
        Self { paths: 10_000, bytes: 256 * 1024 * 1024 }
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Hazard {
    /// A symbolic link that is absolute, leaves the tree or points into the git directory.
    EscapingLink {
        path: RepoPath,
        target: Vec<u8>,
    },
    /// A repository inside the tree; its files are not part of the snapshot.
    EmbeddedRepository {
        path: RepoPath,
    },
    /// A submodule whose directory holds something: not part of the snapshot either.
    FilledSubmodule {
        path: RepoPath,
    },
    TooManyPaths {
        count: usize,
        limit: usize,
    },
    TooLarge {
        bytes: u64,
        limit: u64,
    },
    TooDeep {
        path: RepoPath,
    },
    /// A pipe, a device or the like where git looks for a file. As long as it is there, nothing is recorded.
    BlocksGit {
        path: RepoPath,
    },
    /// Files that git is told to ignore, too many or too large to be recorded. The bytes are those of the files that
    /// were counted before there were too many.
    TooMuchIgnored {
        files: usize,
        bytes: u64,
    },
    /// So much beyond a limit that nothing of the change was read; it is in the directory and nowhere else.
    NotRecorded,
    /// Something git would not take up (unreadable, a device, a forbidden name), in git's words.
    Refused {
        detail: String,
    },
}

impl Hazard {
    /// What is hazardous about how many and how large these are.
    pub(crate) fn of_size(changes: &[Change], limits: SnapshotLimits) -> Vec<Self> {
        let mut hazards = Vec::new();
        if changes.len() > limits.paths {
            hazards.push(Self::TooManyPaths { count: changes.len(), limit: limits.paths });
        }
        let bytes = changes.iter().fold(0_u64, |bytes, change| bytes.saturating_add(change.size));
        if bytes > limits.bytes {
            hazards.push(Self::TooLarge { bytes, limit: limits.bytes });
        }
        hazards
    }
}

impl fmt::Display for Hazard {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::EscapingLink { path, target } => {
                write!(formatter, "link {path} leaves the tree: {}", String::from_utf8_lossy(target))
            }
            Self::EmbeddedRepository { path } => write!(formatter, "{path} is a repository of its own"),
            Self::FilledSubmodule { path } => write!(formatter, "submodule {path} was filled or replaced"),
            Self::TooManyPaths { count, limit } => {
                write!(formatter, "{count} changed paths are more than {limit}")
            }
            Self::TooLarge { bytes, limit } => {
                write!(formatter, "{bytes} changed bytes are more than {limit}")
            }
            Self::TooDeep { path } => write!(formatter, "path {path} is nested too deeply"),
            Self::BlocksGit { path } => {
                write!(formatter, "{path} is no plain file, and git would wait for it; nothing was recorded")
            }
            Self::TooMuchIgnored { files, bytes } => {
                let megabytes = bytes / (1024 * 1024);
                write!(formatter, "{files} ignored files ({megabytes} MB) are more than is recorded")
            }
            Self::NotRecorded => {
                formatter.write_str("the change is too large to be recorded; it stays in the worktree only")
            }
            Self::Refused { detail } => write!(formatter, "git refused a path: {detail}"),
        }
    }
}

/// All hazards of the changes that led from `base` to `now`.
pub(crate) fn hazards_of(
    root: &ConfinedDir,
    base: &Index,
    now: &Index,
    changes: &[Change],
    limits: SnapshotLimits,
) -> Result<Vec<Hazard>, GitError> {
    let mut hazards = Vec::new();
    for change in changes.iter().filter(|change| change.kind != ChangeKind::Deleted) {
        if change.path.components().count() > DEEPEST_PATH {
            hazards.push(Hazard::TooDeep { path: change.path.clone() });
        }
        let Some(entry) = now.find(change.path.as_bytes()) else { continue };
        if entry.is_gitlink() {
            hazards.push(Hazard::EmbeddedRepository { path: change.path.clone() });
        } else if entry.is_symlink()
            && let Some(target) = root.link_target(&change.path)?
            && escapes(&change.path, &target)
        {
            hazards.push(Hazard::EscapingLink { path: change.path.clone(), target });
        }
    }
    hazards.extend(embedded_repositories(root, now)?);
    for entry in base.entries.iter().filter(|entry| entry.is_gitlink()) {
        let filled = match root.kind_of(&entry.path)? {
            None => false,
            Some((FileType::Directory, _)) => !root.names_under(&entry.path)?.is_empty(),
            Some(_) => true,
        };
        if filled {
            hazards.push(Hazard::FilledSubmodule { path: entry.path.clone() });
        }
    }
    hazards.extend(Hazard::of_size(changes, limits));
    Ok(hazards)
}

/// Directories of the tree that also hold a `.git`: git takes no file out of it, so something could hide there.
fn embedded_repositories(root: &ConfinedDir, now: &Index) -> Result<Vec<Hazard>, GitError> {
    let mut hazards = Vec::new();
    let mut previous: &[u8] = b"";
    for entry in &now.entries {
        let path = entry.path.as_bytes();
        let shared = path.iter().zip(previous).take_while(|(left, right)| left == right).count();
        previous = path;
        for slash in (shared..path.len()).filter(|at| path[*at] == b'/') {
            let mut candidate = path[..slash].to_vec();
            candidate.extend(b"/.git");
            if root.kind_of(&RepoPath::new(candidate))?.is_some() {
                hazards.push(Hazard::EmbeddedRepository { path: RepoPath::new(&path[..slash]) });
            }
        }
    }
    Ok(hazards)
}

/// Whether following the link could lead out of the tree. Steps up are exact only at the beginning, where the way
/// is made of real directories; after a name they are counted as leaving, since that name may be a link itself.
pub(crate) fn escapes(path: &RepoPath, target: &[u8]) -> bool {
    if target.first().is_none_or(|byte| *byte == b'/') {
        return true;
    }
    let mut depth = path.components().count() - 1;
    let mut named = false;
    for component in target.split(|byte| *byte == b'/') {
        match component {
            b"" | b"." => {}
            b".." if named || depth == 0 => return true,
            b".." => depth -= 1,
            name if depth == 0 && !named && name.eq_ignore_ascii_case(b".git") => return true,
            _ => named = true,
        }
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn links_are_judged_by_where_they_could_lead() {
        let judged = |path: &str, target: &str| escapes(&RepoPath::new(path), target.as_bytes());
        for (path, target) in
            [("a", "b"), ("d/a", "../b"), ("d/e/a", "../../b/c"), ("a", "./x//y"), ("d/a", ".")]
        {
            assert!(!judged(path, target), "{path} -> {target} stays inside");
        }
        for (path, target) in [
            ("a", "/etc/passwd"),
            ("a", ".."),
            ("a", "../x"),
            ("d/a", "../../x"),
            ("a", "d/../../x"),
            ("a", "link/../x"),
            ("a", ".git/config"),
            ("d/a", "../.GIT/config"),
        ] {
            assert!(judged(path, target), "{path} -> {target} leaves");
        }
    }
}
