//! Where the user's repository is: work tree, git directory, common directory. Plain file reads, no process, because
//! asking git would read a configuration that is not ours. Must not know the control directory.

use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use sha2::{Digest, Sha256};

use crate::durable_file::{ensure, read_plain};
use crate::error::GitError;

/// A checkout of the user's repository: the main one or a linked worktree.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Checkout {
    work_tree: PathBuf,
    git_dir: PathBuf,
    common_dir: PathBuf,
}

impl Checkout {
    /// Finds the checkout that `path` is in; a sub-directory is accepted.
    pub fn discover(path: &Path) -> Result<Self, GitError> {
        let start = path.canonicalize().map_err(GitError::io("find", path))?;
        for directory in start.ancestors() {
            let Some(git_dir) = git_dir_named_by(&directory.join(".git")) else {
                if is_git_dir(directory) {
                    return Err(GitError::NoWorkTree { path: path.to_owned() });
                }
                continue;
            };
            let common_dir = common_dir_of(&git_dir)?;
            if common_dir.join("reftable").is_dir() {
                return Err(GitError::UnsupportedReferences { path: common_dir });
            }
            return Ok(Self { work_tree: directory.to_owned(), git_dir, common_dir });
        }
        Err(GitError::NotARepository { path: path.to_owned() })
    }

    /// The top of the checkout.
    pub fn work_tree(&self) -> &Path {
        &self.work_tree
    }

    /// Holds HEAD and the index of this checkout.
    pub fn git_dir(&self) -> &Path {
        &self.git_dir
    }

    /// Holds objects and branches, shared by all checkouts of the repository: the identity of the repository.
    pub fn common_dir(&self) -> &Path {
        &self.common_dir
    }

    /// Sixteen hexadecimal digits that name the repository, for the path of its control directory.
    pub fn repository_key(&self) -> String {
        short_hash(&self.common_dir)
    }

    pub(crate) fn objects_dir(&self) -> PathBuf {
        self.common_dir.join("objects")
    }

    /// Adds a pattern to the private exclude file of the repository, once; `.gitignore` belongs to the user.
    pub fn exclude(&self, pattern: &str) -> Result<(), GitError> {
        let path = self.common_dir.join("info/exclude");
        fs::create_dir_all(self.common_dir.join("info"))
            .map_err(GitError::io("create directory for", &path))?;
        let mut content = read_plain(&path).unwrap_or_default();
        if content.split(|byte| *byte == b'\n').any(|line| line.trim_ascii() == pattern.as_bytes()) {
            return Ok(());
        }
        if !content.is_empty() && !content.ends_with(b"\n") {
            content.push(b'\n');
        }
        content.extend(pattern.as_bytes());
        content.push(b'\n');
        ensure(&path, &content)
    }
}

pub(crate) fn short_hash(path: &Path) -> String {
    let digest = Sha256::digest(path.as_os_str().as_bytes());
    let first = digest.iter().take(8).fold(0_u64, |number, byte| number << 8 | u64::from(*byte));
    format!("{first:016x}")
}

/// Follows `.git`, be it a directory or the file of a linked worktree or submodule.
fn git_dir_named_by(dot_git: &Path) -> Option<PathBuf> {
    if dot_git.is_dir() {
        return is_git_dir(dot_git).then(|| dot_git.canonicalize().ok()).flatten();
    }
    let content = read_plain(dot_git).ok()?;
    let named = path_from_line(content.strip_prefix(b"gitdir: ")?);
    let git_dir = dot_git.parent()?.join(named).canonicalize().ok()?;
    (git_dir.join("HEAD").is_file()).then_some(git_dir)
}

fn common_dir_of(git_dir: &Path) -> Result<PathBuf, GitError> {
    let file = git_dir.join("commondir");
    match read_plain(&file) {
        Ok(content) => {
            git_dir.join(path_from_line(&content)).canonicalize().map_err(GitError::io("find", &file))
        }
        Err(_) => Ok(git_dir.to_owned()),
    }
}

fn is_git_dir(directory: &Path) -> bool {
    directory.join("HEAD").is_file() && directory.join("objects").is_dir() && directory.join("refs").is_dir()
}

/// Git ends such files with one newline; a newline inside the path is part of it.
pub(crate) fn path_from_line(content: &[u8]) -> PathBuf {
    PathBuf::from(OsStr::from_bytes(content.strip_suffix(b"\n").unwrap_or(content)))
}
