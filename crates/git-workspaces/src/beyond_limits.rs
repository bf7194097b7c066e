//! Tells a change that is far too large before anything of it is read: to hash gigabytes, or hundreds of thousands of files,
//! only to say no to them would take minutes and fill the object store. Looks at names and sizes; decides nothing else.

use std::path::Path;

use rustix::fs::FileType;

use crate::blockers::entries_of;
use crate::confined_dir::ConfinedDir;
use crate::error::GitError;
use crate::hazard::{Hazard, SnapshotLimits};
use crate::index_file::{Index, IndexEntry};
use crate::repo_path::RepoPath;
use crate::repository::Repository;
use crate::scan::{Extra, FileStat, Scan};
use crate::snapshot::{Change, ChangeKind};

/// A change of which nothing is recorded.
pub(crate) struct Beyond {
    /// As many as the limit allows; more say nothing new.
    pub(crate) changes: Vec<Change>,
    pub(crate) hazards: Vec<Hazard>,
}

impl Repository {
    /// `index` holds `start`: the entries of the base, with the stat data that is still believed of them.
    pub(crate) fn beyond_limits(
        &self,
        (root, index): (&ConfinedDir, &Path),
        (start, standing): (&Index, &Scan),
        limits: SnapshotLimits,
    ) -> Result<Option<Beyond>, GitError> {
        if limits == SnapshotLimits::NONE {
            return Ok(None);
        }
        let mut changes = Vec::new();
        for (entry, found) in start.entries.iter().zip(&standing.found) {
            let Some(found) = found else { continue };
            if self.has_grown(root, index, (entry, found), limits)? {
                changes.push(Change {
                    path: entry.path.clone(),
                    kind: ChangeKind::Modified,
                    size: found.size,
                });
            }
        }
        if could_be_beyond(root, &standing.extras, limits)? {
            for path in self.new_paths(root, index)? {
                let size = root.kind_of(&path)?.map_or(0, |(_, size)| size);
                changes.push(Change { path, kind: ChangeKind::Added, size });
            }
        }
        let mut hazards = Hazard::of_size(&changes, limits);
        if hazards.is_empty() {
            return Ok(None);
        }
        hazards.push(Hazard::NotRecorded);
        changes.truncate(limits.paths);
        changes.sort_by(|one, other| one.path.cmp(&other.path));
        Ok(Some(Beyond { changes, hazards }))
    }

    /// Whether a tracked file alone is more than the limit, and another one than before. Smaller ones are git's to compare.
    fn has_grown(
        &self,
        root: &ConfinedDir,
        index: &Path,
        (entry, found): (&IndexEntry, &FileStat),
        limits: SnapshotLimits,
    ) -> Result<bool, GitError> {
        if found.size <= limits.bytes || found.is(&entry.stat, entry.mode) {
            return Ok(false);
        }
        let id = format!("{:?}", entry.oid);
        let told = self.call_in(root.path(), index).args(["cat-file", "-s", &id]).run()?;
        let before = String::from_utf8_lossy(&told).trim().parse::<u64>();
        Ok(before.is_ok_and(|before| before != found.size))
    }

    /// What is not tracked and not ignored either, by git's own rules.
    fn new_paths(&self, root: &ConfinedDir, index: &Path) -> Result<Vec<RepoPath>, GitError> {
        let call = self.call_in(root.path(), index);
        let listed = call.args(["ls-files", "-o", "--exclude-standard", "-z"]).run()?;
        Ok(listed.split(|byte| *byte == 0).filter(|path| !path.is_empty()).map(RepoPath::new).collect())
    }
}

/// Whether git has to be asked what of this is ignored: counts everything, and no further than to the limit.
fn could_be_beyond(root: &ConfinedDir, extras: &[Extra], limits: SnapshotLimits) -> Result<bool, GitError> {
    let (mut paths, mut bytes) = (0, 0_u64);
    let mut open: Vec<Vec<u8>> = Vec::new();
    let mut count = |path: &RepoPath| -> Result<bool, GitError> {
        paths += 1;
        bytes = bytes.saturating_add(root.kind_of(path)?.map_or(0, |(_, size)| size));
        Ok(paths > limits.paths || bytes > limits.bytes)
    };
    for extra in extras {
        if extra.is_directory {
            open.push(extra.path.as_bytes().to_vec());
        } else if count(&extra.path)? {
            return Ok(true);
        }
    }
    while let Some(directory) = open.pop() {
        let complain = GitError::errno("walk", root.path().join(RepoPath::new(directory.clone()).as_path()));
        for (name, kind) in entries_of(root, &directory).map_err(complain)? {
            let path = [&directory, &b"/"[..], &name].concat();
            if kind == FileType::Directory {
                open.push(path);
            } else if count(&RepoPath::new(path))? {
                return Ok(true);
            }
        }
    }
    Ok(false)
}
