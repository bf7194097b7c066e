//! Files of the user's that git ignores and that stand where a commit brings something. Git writes over them without a word; such
//! a file may be the only copy of a key.

use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use crate::error::GitError;
use crate::ids::Commit;
use crate::index_file::IndexEntry;
use crate::repo_path::RepoPath;
use crate::repository::Repository;
use crate::selection::Part;

/// Of a folder that has to give way, so many files are looked at.
const MOST_FILES: usize = 10_000;

impl Repository {
    /// Of what the second commit has and the first one does not. A file that holds what comes already is in nobody's way.
    pub(crate) fn ignored_in_the_way(
        &self,
        index: &Path,
        (from, to): (&Commit, &Commit),
        kept: &[&str],
    ) -> Result<Vec<String>, GitError> {
        let (before, after) = (self.listing(&from.tree)?, self.listing(&to.tree)?);
        let mut found = Vec::new();
        for path in self.differing_paths(&from.tree, &to.tree, Part::Everything)? {
            let path = path.as_bytes();
            if kept.iter().any(|wanted| wanted.as_bytes() == path) || before.find(path).is_some() {
                continue;
            }
            let Some(entry) = after.find(path) else { continue };
            let standing = self.files_where_it_comes(entry)?.into_iter();
            found.extend(standing.filter(|path| before.find(path.as_bytes()).is_none()));
        }
        if found.is_empty() {
            return Ok(Vec::new());
        }
        let list: Vec<u8> = found.iter().flat_map(|path| [path.as_bytes(), b"\0"].concat()).collect();
        let call = self.call_in(self.checkout.work_tree(), index).args(["check-ignore", "-z", "--stdin"]);
        let told = call.stdin(list).run_accepting(&[0, 1])?.stdout;
        let ignored = told.split(|byte| *byte == 0).filter(|path| !path.is_empty());
        let mut ignored: Vec<String> = ignored.map(|path| RepoPath::new(path).to_string()).collect();
        ignored.sort();
        ignored.dedup();
        Ok(ignored)
    }

    /// What lies where this is to come: a file, the files of a folder, or a file in the place of a folder above it.
    fn files_where_it_comes(&self, entry: &IndexEntry) -> Result<Vec<RepoPath>, GitError> {
        let path = entry.path.as_bytes();
        let at = |path: &[u8]| self.checkout.work_tree().join(OsStr::from_bytes(path));
        let slashes = path.iter().enumerate().filter(|(_, byte)| **byte == b'/').map(|(at, _)| at);
        for slash in slashes {
            match fs::symlink_metadata(at(&path[..slash])) {
                Ok(above) if above.is_dir() => {}
                Ok(_) => return Ok(vec![RepoPath::new(&path[..slash])]),
                Err(_) => return Ok(Vec::new()),
            }
        }
        let Ok(own) = fs::symlink_metadata(at(path)) else { return Ok(Vec::new()) };
        if own.is_dir() {
            let mut files = Vec::new();
            files_below(&at(path), path, &mut files);
            return Ok(files);
        }
        let mode = format!("{:06o}", entry.mode);
        let moved = self.file_has(path, mode.as_bytes(), format!("{:?}", entry.oid).as_bytes())?;
        Ok(if moved { Vec::new() } else { vec![entry.path.clone()] })
    }
}

/// What cannot be read is left to git, which does not remove it either.
fn files_below(folder: &Path, path: &[u8], found: &mut Vec<RepoPath>) {
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let inner = [path, b"/", entry.file_name().as_bytes()].concat();
        if found.len() >= MOST_FILES {
            return;
        }
        match entry.file_type() {
            Ok(kind) if kind.is_dir() => files_below(&entry.path(), &inner, found),
            _ => found.push(RepoPath::new(inner)),
        }
    }
}
