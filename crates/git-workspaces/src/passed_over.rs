//! Finds what no snapshot can hold and git leaves out without a word: pipes, sockets, devices, and a `.git` inside the tree.
//! A plain walk; what is ignored by the tree's own rules is nobody's loss and is not named.

use std::fmt;
use std::path::Path;

use rustix::fs::FileType;

use crate::blockers::{blockers, entries_of};
use crate::confined_dir::ConfinedDir;
use crate::error::GitError;
use crate::index_file::path_for_key;
use crate::repo_path::RepoPath;
use crate::repository::Repository;

/// Something that is in a directory and not in its snapshot.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct PassedOver {
    pub path: RepoPath,
    what: &'static str,
}

impl fmt::Display for PassedOver {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{} is {}, which git does not record", self.path, self.what)
    }
}

impl Repository {
    /// What `workspace` holds that its snapshot cannot; `key` as in [`Repository::snapshot`].
    pub fn passed_over(&self, workspace: &Path, key: &str) -> Result<Vec<PassedOver>, GitError> {
        let root = ConfinedDir::open(workspace)?;
        let mut found = special_files(&root)?;
        // Where something would hold git up, git is not asked.
        if !found.is_empty() && blockers(&root)?.is_empty() {
            let ignored = self.ignored(workspace, key, &found)?;
            found.retain(|one| !ignored.contains(&one.path));
        }
        Ok(found)
    }

    fn ignored(&self, workspace: &Path, key: &str, found: &[PassedOver]) -> Result<Vec<RepoPath>, GitError> {
        let index = path_for_key(&self.control.indexes(), key);
        let paths: Vec<u8> = found.iter().flat_map(|one| [one.path.as_bytes(), b"\0"].concat()).collect();
        let call = self.call_in(workspace, &index).args(["check-ignore", "-z", "--stdin"]).stdin(paths);
        // 1: none of them is; 128: it does not say, and then all are named.
        let output = call.run_accepting(&[0, 1, 128])?;
        let paths = output.stdout.split(|byte| *byte == 0).filter(|path| !path.is_empty());
        Ok(paths.map(RepoPath::new).collect())
    }
}

fn special_files(root: &ConfinedDir) -> Result<Vec<PassedOver>, GitError> {
    let mut found = Vec::new();
    let mut open = vec![Vec::new()];
    while let Some(directory) = open.pop() {
        let complain = GitError::errno("walk", root.path().join(RepoPath::new(directory.clone()).as_path()));
        for (name, kind) in entries_of(root, &directory).map_err(complain)? {
            let path =
                if directory.is_empty() { name.clone() } else { [&directory, &b"/"[..], &name].concat() };
            let what = match kind {
                // Nobody's at the top, and of another repository further down.
                _ if name == b".git" && directory.is_empty() => continue,
                _ if name == b".git" => "the git directory of a repository inside",
                FileType::Directory => {
                    open.push(path);
                    continue;
                }
                FileType::Fifo => "a named pipe",
                FileType::Socket => "a socket",
                FileType::CharacterDevice | FileType::BlockDevice => "a device",
                FileType::RegularFile | FileType::Symlink | FileType::Unknown => continue,
            };
            found.push(PassedOver { path: RepoPath::new(path), what });
        }
    }
    found.sort();
    Ok(found)
}
