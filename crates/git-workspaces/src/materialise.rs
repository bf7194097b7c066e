//! Makes a directory hold exactly one tree: moved forward by its difference, with everything else (leftovers of
//! builds, tampering, links in place of directories) taken away. Never writes or deletes outside the directory.

use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use rustix::fs::{Timespec, Timestamps, UTIME_NOW};

use crate::blockers::blockers;
use crate::confined_dir::ConfinedDir;
use crate::error::GitError;
use crate::fingerprint::Fingerprint;
use crate::ids::TreeId;
use crate::index_file::{Index, path_for_key};
use crate::repo_path::RepoPath;
use crate::repository::{Repository, fresh_index_path, install_index, write_index};
use crate::scan::{Scan, scan};

const TICK_ATTEMPTS: u32 = 100_000;
pub(crate) const NOW: Timestamps = {
    let now = Timespec { tv_sec: 0, tv_nsec: UTIME_NOW };
    Timestamps { last_access: now, last_modification: now }
};

impl Repository {
    /// Makes `directory` hold exactly `tree`. A regular file `.git` at its top (a linked worktree's) stays. `key`
    /// names the private index that remembers what the directory held; no git process if it holds that tree already or
    /// nearly. Comes back with the fingerprint of what it made.
    pub fn materialise(&self, directory: &Path, key: &str, tree: &TreeId) -> Result<Fingerprint, GitError> {
        fs::create_dir_all(directory).map_err(GitError::io("create directory", directory))?;
        let root = ConfinedDir::open(directory)?;
        spare_only_a_git_file(&root)?;
        let index_path = path_for_key(&self.control.indexes(), key);
        // Stat data is believed here whatever its age: every path is compared to the nanosecond.
        let start = Index::read(&index_path).unwrap_or_default();
        if let Some(made) = self.move_directly(&root, (&index_path, &start), tree)? {
            return Ok(made);
        }
        for path in blockers(&root)? {
            root.remove(&path)?;
        }
        let temporary = fresh_index_path(&index_path);
        write_index(&temporary, &start, self.format)?;
        // A tampered directory may make git give up; what it did not do is done below.
        let moved = self.read_tree(directory, &temporary, tree);
        let right = match moved {
            Ok(()) => self.put_right(&root, &temporary)?.ok(),
            Err(_) => None,
        };
        let made = match right {
            Some(made) => made,
            None => self.rebuild(&root, &temporary, tree)?,
        };
        outlast_recorded_times(&temporary, &made)?;
        install_index(&temporary, &index_path)?;
        Ok(made)
    }

    /// Removes what the tree does not have and restores what differs. Says which path is still wrong, if any.
    fn put_right(
        &self,
        root: &ConfinedDir,
        index_path: &Path,
    ) -> Result<Result<Fingerprint, RepoPath>, GitError> {
        let index = Index::read(index_path)?;
        let found = scan(root, &index.entries)?;
        for extra in &found.extras {
            root.remove(&extra.path)?;
        }
        for submodule in index.entries.iter().filter(|entry| entry.is_gitlink()) {
            root.ensure_directory(&submodule.path)?;
        }
        let damaged = damaged_paths(&index, &found);
        if damaged.is_empty() {
            // What stood there besides is gone by now.
            return Ok(Ok(Fingerprint::of(root, index, Scan { extras: Vec::new(), ..found })));
        }
        let mut list = Vec::new();
        for path in &damaged {
            // Removed first, so that a file with other links is replaced and not written through.
            root.remove(path)?;
            list.extend(path.as_bytes());
            list.push(0);
        }
        let call =
            self.call_in(root.path(), index_path).args(["checkout-index", "-f", "-u", "-z", "--stdin"]);
        if let Err(error @ (GitError::Run(_) | GitError::Io { .. })) = call.stdin(list).run() {
            return Err(error);
        }
        let index = Index::read(index_path)?;
        let found = scan(root, &index.entries)?;
        let extra = found.extras.first().map(|extra| extra.path.clone());
        let wrong = extra.or_else(|| damaged_paths(&index, &found).into_iter().next());
        Ok(wrong.map_or_else(|| Ok(Fingerprint::of(root, index, found)), Err))
    }

    /// The last resort: empties the directory and checks everything out.
    fn rebuild(&self, root: &ConfinedDir, index_path: &Path, tree: &TreeId) -> Result<Fingerprint, GitError> {
        root.remove_all_but(&[b".git"])?;
        write_index(index_path, &Index::default(), self.format)?;
        self.read_tree(root.path(), index_path, tree)?;
        self.put_right(root, index_path)?.map_err(|wrong| GitError::NotMaterialised {
            path: root.path().to_owned(),
            tree: tree.to_string(),
            wrong: wrong.to_string(),
        })
    }

    fn read_tree(&self, directory: &Path, index: &Path, tree: &TreeId) -> Result<(), GitError> {
        self.call_in(directory, index).args(["read-tree", "--reset", "-u", tree.as_str()]).run().map(drop)
    }
}

/// Tracked paths that are missing or not the file git wrote.
fn damaged_paths(index: &Index, found: &Scan) -> Vec<RepoPath> {
    let pairs = index.entries.iter().zip(&found.found).filter(|(entry, _)| !entry.is_gitlink());
    let damaged =
        pairs.filter(|(entry, stat)| !stat.as_ref().is_some_and(|stat| stat.is(&entry.stat, entry.mode)));
    damaged.map(|(entry, _)| entry.path.clone()).collect()
}

/// Returns once the clock by which files are stamped has moved past every time recorded in the index. A change made
/// from now on therefore shows in a file's times, however quickly it follows and whatever its size.
pub(crate) fn outlast_recorded_times(index_path: &Path, made: &Fingerprint) -> Result<(), GitError> {
    let newest = made.newest_change();
    // A tick is a few milliseconds; a file server with a clock of its own must not hold us here for ever.
    for _ in 0..TICK_ATTEMPTS {
        let touched = fs::File::options().append(true).open(index_path);
        // The time of the index says from when on a change would show, so it is the last one.
        let touched = touched.and_then(|file| {
            rustix::fs::futimens(&file, &NOW)?;
            file.metadata()
        });
        let found = touched.map_err(GitError::io("touch", index_path))?;
        if (found.mtime(), found.mtime_nsec()) > newest {
            break;
        }
    }
    Ok(())
}

/// A directory or link named `.git` would make the workspace a repository of somebody else's making.
fn spare_only_a_git_file(root: &ConfinedDir) -> Result<(), GitError> {
    let dot_git = RepoPath::new(".git");
    match root.kind_of(&dot_git)? {
        None | Some((rustix::fs::FileType::RegularFile, _)) => Ok(()),
        Some(_) => root.remove(&dot_git),
    }
}
