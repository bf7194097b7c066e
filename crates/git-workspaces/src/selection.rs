//! Trees held against each other path by path, and one tree made of two by saying which paths come from which. No work
//! tree is touched.

use std::collections::BTreeSet;

use crate::error::GitError;
use crate::ids::{Oid, TreeId};
use crate::index_file::{Index, IndexEntry};
use crate::repo_path::RepoPath;
use crate::repository::Repository;
use crate::write_tree::differing;

/// Which paths are looked at. A folder is named without a slash at its end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Part<'a> {
    Everything,
    Within(&'a str),
    Outside(&'a str),
}

impl Part<'_> {
    fn holds(self, path: &RepoPath) -> bool {
        let inside = |folder: &str| {
            let rest = path.as_bytes().strip_prefix(folder.as_bytes());
            rest.is_some_and(|rest| rest.is_empty() || rest.starts_with(b"/"))
        };
        match self {
            Self::Everything => true,
            Self::Within(folder) => inside(folder),
            Self::Outside(folder) => !inside(folder),
        }
    }
}

/// A tree made of two.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Selected {
    pub tree: TreeId,
    /// Paths that differ between the two and were not taken.
    pub left: Vec<RepoPath>,
}

/// A path that differs between two trees.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Difference {
    pub path: RepoPath,
    /// Absent where the first tree has no such file.
    pub before: Option<FileId>,
    pub after: Option<FileId>,
}

/// What a file is: equal for equal content of equal kind.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FileId {
    pub(crate) mode: u32,
    pub(crate) id: Oid,
}

impl FileId {
    pub(crate) fn of(entry: &IndexEntry) -> Self {
        Self { mode: entry.mode, id: entry.oid }
    }
}

impl Repository {
    /// What differs between two trees, in the order of the paths. Both must be known to the control directory.
    pub fn differences(&self, before: &TreeId, after: &TreeId) -> Result<Vec<Difference>, GitError> {
        if before == after {
            return Ok(Vec::new());
        }
        if let Some(delta) = self.told.deltas().get(&(before.clone(), after.clone())) {
            let before = self.listing(before)?;
            let found = delta.iter().map(|(path, after)| Difference {
                path: path.clone(),
                before: before.find(path.as_bytes()).map(FileId::of),
                after: *after,
            });
            return Ok(found.collect());
        }
        let (before, after) = (self.listing(before)?, self.listing(after)?);
        let found = differing(&before, &after).map(|path| Difference {
            path: path.clone(),
            before: before.find(path.as_bytes()).map(FileId::of),
            after: after.find(path.as_bytes()).map(FileId::of),
        });
        Ok(found.collect())
    }

    /// Paths that stand in one of the two trees only, or with other content. Both must be known to the control directory.
    pub fn differing_paths(
        &self,
        one: &TreeId,
        other: &TreeId,
        part: Part<'_>,
    ) -> Result<Vec<RepoPath>, GitError> {
        if one == other {
            return Ok(Vec::new());
        }
        let (one, other) = (self.listing(one)?, self.listing(other)?);
        Ok(differing(&one, &other).filter(|path| part.holds(path)).cloned().collect())
    }

    /// All files of one part of a tree.
    pub fn paths_of(&self, tree: &TreeId, part: Part<'_>) -> Result<Vec<RepoPath>, GitError> {
        let listing = self.listing(tree)?;
        let paths = listing.entries.iter().map(|entry| &entry.path);
        Ok(paths.filter(|path| part.holds(path)).cloned().collect())
    }

    /// The base with those paths as they are in `content`; a path that is taken and not there is gone. Where a file of one
    /// would stand on a directory of the other, the base keeps its place. Durable with a commit of it, not before.
    pub fn select(
        &self,
        base: &TreeId,
        content: &TreeId,
        takes: impl Fn(&RepoPath) -> bool,
    ) -> Result<Selected, GitError> {
        let (before, after) = (self.listing(base)?, self.listing(content)?);
        let kept: Vec<&IndexEntry> = before.entries.iter().filter(|entry| !takes(&entry.path)).collect();
        let places: BTreeSet<&[u8]> = kept.iter().map(|entry| entry.path.as_bytes()).collect();
        let fits = |entry: &&IndexEntry| takes(&entry.path) && !collides(&places, entry.path.as_bytes());
        let brought = after.entries.iter().filter(fits);
        let whole = Index::of_entries(kept.iter().copied().chain(brought).cloned().collect());
        let left: Vec<RepoPath> = differing(&whole, &after).cloned().collect();
        let tree = if left.is_empty() {
            content.clone()
        } else if differing(&before, &whole).next().is_none() {
            base.clone()
        } else {
            self.write_tree(whole, &before, Vec::new())?.0
        };
        Ok(Selected { tree, left })
    }
}

/// Whether the path is a directory of one of these, or one of these is a directory of it.
fn collides(places: &BTreeSet<&[u8]>, path: &[u8]) -> bool {
    let above = path.iter().enumerate().filter(|(_, byte)| **byte == b'/').map(|(end, _)| &path[..end]);
    let below = [path, b"/"].concat();
    let mut above = above;
    above.any(|directory| places.contains(directory))
        || places.range(below.as_slice()..).next().is_some_and(|next| next.starts_with(&below))
}
