//! Proves that a directory still holds what it held: stat data taken before, compared after, and content looked at
//! only where the two differ. Reports; the caller decides what a difference means.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use crate::blockers::blockers;
use crate::confined_dir::ConfinedDir;
use crate::error::GitError;
use crate::ids::Oid;
use crate::index_file::{Index, IndexEntry, path_for_key};
use crate::repo_path::{RepoPath, quoted};
use crate::repository::Repository;
use crate::scan::{Extra, FileStat, Scan, scan};

/// The state of a materialised directory at one moment.
#[derive(Debug)]
pub struct Fingerprint {
    directory: PathBuf,
    entries: Vec<IndexEntry>,
    before: Scan,
}

/// How a directory differs from its fingerprint.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Drift {
    /// Tracked paths with other content, type or permission to execute.
    pub changed: Vec<RepoPath>,
    /// Tracked paths that are gone.
    pub deleted: Vec<RepoPath>,
    /// New paths that the tree's ignore rules do not cover.
    pub added: Vec<RepoPath>,
    /// New paths that are ignored, such as build output; a whole new directory counts once.
    pub added_ignored: Vec<RepoPath>,
}

impl Fingerprint {
    pub(crate) fn of(root: &ConfinedDir, index: Index, found: Scan) -> Self {
        Self { directory: root.path().to_owned(), entries: index.entries, before: found }
    }

    /// When a tracked path was last changed, in seconds and nanoseconds.
    pub(crate) fn newest_change(&self) -> (i64, i64) {
        self.before.found.iter().flatten().map(|stat| stat.ctime).max().unwrap_or_default()
    }
}

impl Drift {
    /// Whether every tracked path is what it was.
    pub fn tracked_content_is_unchanged(&self) -> bool {
        self.changed.is_empty() && self.deleted.is_empty()
    }
}

impl Repository {
    /// Takes the fingerprint of a directory that was materialised (or recorded by a snapshot) under `key`.
    pub fn fingerprint(&self, directory: &Path, key: &str) -> Result<Fingerprint, GitError> {
        let index = Index::read(&path_for_key(&self.control.indexes(), key))?;
        let root = ConfinedDir::open(directory)?;
        let before = scan(&root, &index.entries)?;
        Ok(Fingerprint::of(&root, index, before))
    }

    /// Looks at the directory again. No process runs when nothing was touched.
    pub fn drift_since(&self, fingerprint: &Fingerprint) -> Result<Drift, GitError> {
        let root = ConfinedDir::open(&fingerprint.directory)?;
        let after = scan(&root, &fingerprint.entries)?;
        let mut drift = Drift::default();
        let mut doubtful = Vec::new();
        let pairs = fingerprint.before.found.iter().zip(&after.found);
        for (entry, (before, now)) in fingerprint.entries.iter().zip(pairs) {
            match (before, now) {
                (Some(before), Some(now)) if before == now => {}
                (_, Some(now)) if needs_content(before.as_ref(), now, entry) => doubtful.push(entry),
                (None, None) | (Some(_), Some(_)) => {
                    let settled = before.is_none() || only_touched(before.as_ref(), now.as_ref());
                    if !settled {
                        drift.changed.push(entry.path.clone());
                    }
                }
                (None, Some(_)) => drift.changed.push(entry.path.clone()),
                (Some(_), None) if after.stands_at(&entry.path) => drift.changed.push(entry.path.clone()),
                (Some(_), None) => drift.deleted.push(entry.path.clone()),
            }
        }
        drift.changed.extend(self.with_other_content(&fingerprint.directory, &doubtful)?);
        drift.changed.sort();
        self.sort_extras(fingerprint, &root, &after, &mut drift)?;
        Ok(drift)
    }

    /// Those of `entries` whose file no longer hashes to what the tree says.
    fn with_other_content(
        &self,
        directory: &Path,
        entries: &[&IndexEntry],
    ) -> Result<Vec<RepoPath>, GitError> {
        if entries.is_empty() {
            return Ok(Vec::new());
        }
        let mut list = Vec::new();
        for entry in entries {
            list.extend(quoted(entry.path.as_bytes()));
            list.push(b'\n');
        }
        let index = self.control.indexes().join("none");
        let call = self.call_in(directory, &index).args(["hash-object", "--no-filters", "--stdin-paths"]);
        // A file that cannot be read (any more) is a changed file, and git stops at it.
        let printed = call.stdin(list).run_accepting(&[0, 128])?.stdout;
        let mut hashes = printed.split(|byte| *byte == b'\n').map(Oid::from_hex);
        let differs = |entry: &&&IndexEntry| !matches!(hashes.next(), Some(Ok(oid)) if oid == entry.oid);
        Ok(entries.iter().filter(differs).map(|entry| entry.path.clone()).collect())
    }

    fn sort_extras(
        &self,
        fingerprint: &Fingerprint,
        root: &ConfinedDir,
        after: &Scan,
        drift: &mut Drift,
    ) -> Result<(), GitError> {
        let known: BTreeSet<&Extra> = fingerprint.before.extras.iter().collect();
        // Something in the place of a tracked path was reported as a change already.
        let entries = &fingerprint.entries;
        let in_the_way = |extra: &Extra| {
            let below = [extra.path.as_bytes(), b"/"].concat();
            let first = entries.partition_point(|entry| entry.path.as_bytes() < below.as_slice());
            let is_parent = entries.get(first).is_some_and(|entry| entry.path.as_bytes().starts_with(&below));
            is_parent || entries.binary_search_by(|entry| entry.path.cmp(&extra.path)).is_ok()
        };
        let new: Vec<&Extra> =
            after.extras.iter().filter(|extra| !known.contains(extra) && !in_the_way(extra)).collect();
        let ignored = self.ignored_among(root, &new)?;
        for extra in new {
            let list = if ignored.contains(extra.path.as_bytes()) {
                &mut drift.added_ignored
            } else {
                &mut drift.added
            };
            list.push(extra.path.clone());
        }
        Ok(())
    }

    fn ignored_among(&self, root: &ConfinedDir, extras: &[&Extra]) -> Result<BTreeSet<Vec<u8>>, GitError> {
        // Where git cannot be asked, nothing is excused.
        if extras.is_empty() || !blockers(root)?.is_empty() {
            return Ok(BTreeSet::new());
        }
        let mut list = Vec::new();
        for extra in extras {
            list.extend(extra.path.as_bytes());
            list.extend(if extra.is_directory { &b"/\0"[..] } else { &b"\0"[..] });
        }
        let index = self.control.indexes().join("none");
        let call = self.call_in(root.path(), &index).args(["check-ignore", "--no-index", "-z", "--stdin"]);
        let printed = call.stdin(list).run_accepting(&[0, 1])?.stdout;
        let paths = printed.split(|byte| *byte == 0).filter(|path| !path.is_empty());
        Ok(paths.map(|path| path.strip_suffix(b"/").unwrap_or(path).to_vec()).collect())
    }
}

impl Scan {
    /// Whether something else stands at the path or in place of one of its directories.
    fn stands_at(&self, path: &RepoPath) -> bool {
        let bytes = path.as_bytes();
        let ends = bytes.iter().enumerate().filter(|(_, byte)| **byte == b'/').map(|(at, _)| at);
        let is_extra = |end: usize| {
            self.extras.binary_search_by(|extra| extra.path.as_bytes().cmp(&bytes[..end])).is_ok()
        };
        ends.chain([bytes.len()]).any(is_extra)
    }
}

/// Size, permission to execute and link target settle most cases; the rest is read.
fn needs_content(before: Option<&FileStat>, now: &FileStat, entry: &IndexEntry) -> bool {
    !entry.is_symlink()
        && before.is_none_or(|before| before.size == now.size && before.mode & 0o111 == now.mode & 0o111)
}

/// A link that was made again with the same target is the same link.
fn only_touched(before: Option<&FileStat>, now: Option<&FileStat>) -> bool {
    match (before, now) {
        (Some(before), Some(now)) => before.link_target.is_some() && before.link_target == now.link_target,
        _ => false,
    }
}
