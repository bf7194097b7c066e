//! Stores the tree of a list of entries, with the files that are new in it. Must not look at a work tree.

use std::collections::HashSet;
use std::sync::Arc;

use crate::error::GitError;
use crate::ids::{Oid, TreeId};
use crate::index_file::Index;
use crate::own_objects::NewObject;
use crate::repo_path::RepoPath;
use crate::repository::Repository;
use crate::tree_builder::build;

impl Repository {
    /// Stores the tree with `files` that are new in it; durable after [`Self::make_durable`]. Only directories that differ
    /// from `like` are hashed. What was listed here need not be listed again by whoever looks at the tree.
    pub(crate) fn write_tree(
        &self,
        whole: Index,
        like: &Index,
        files: Vec<NewObject>,
    ) -> Result<(TreeId, Arc<Index>), GitError> {
        let mut noted = like.noted_trees(self.format.id_bytes()).unwrap_or_default();
        let changed: Vec<RepoPath> = differing(like, &whole).cloned().collect();
        noted.forget_around(changed.iter());
        let built = build(&whole.entries, &noted, self.format)?.ok_or(GitError::FileAndDirectory)?;
        let tree = TreeId::parse(&format!("{:?}", built.root))?;
        let mut new = files;
        new.extend(built.new);
        self.objects.store(&new)?;
        let listing = Arc::new(whole.with_noted_trees(&built.noted));
        self.memory.keep_listing(&tree, &listing);
        Ok((tree, listing))
    }

    /// Flushes what this process stored of a tree. What it did not store was durable when it came here.
    pub(crate) fn make_durable(&self, tree: &TreeId) -> Result<(), GitError> {
        match self.objects_listed(tree) {
            Some(needed) => self.objects.flush(|id| needed.contains(id)),
            None => self.objects.flush(|_| true),
        }
    }

    /// Everything a tree is made of, where this process has listed it.
    pub(crate) fn objects_listed(&self, tree: &TreeId) -> Option<HashSet<Oid>> {
        self.memory.listing(tree)?.objects(self.format.id_bytes())
    }
}

/// Paths that stand in one of the two only, or with other content.
pub(crate) fn differing<'a>(left: &'a Index, right: &'a Index) -> impl Iterator<Item = &'a RepoPath> {
    let (mut left, mut right) = (left.entries.iter().peekable(), right.entries.iter().peekable());
    std::iter::from_fn(move || {
        loop {
            match (left.peek(), right.peek()) {
                (Some(here), Some(there)) if here.path == there.path => {
                    let (here, there) = (left.next()?, right.next()?);
                    if !here.same_content(there) {
                        return Some(&here.path);
                    }
                }
                (Some(here), Some(there)) if here.path > there.path => {
                    return right.next().map(|entry| &entry.path);
                }
                (Some(_), _) => return left.next().map(|entry| &entry.path),
                (None, _) => return right.next().map(|entry| &entry.path),
            }
        }
    })
}
