//! What stands below the upper layer of a workspace: the tree of a pristine checkout, and what another tree has differently.
//! Answers by path, so that whoever asks pays for what changed and not for what there is. Must not touch the file system.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use crate::control_dir::ObjectFormat;
use crate::error::GitError;
use crate::ids::{Oid, TreeId};
use crate::index_file::{CachedStat, Index, IndexEntry};
use crate::own_objects::{Kind, NewObject};
use crate::repo_path::RepoPath;
use crate::selection::FileId;

const MODE_DIRECTORY: u32 = 0o40_000;

/// What a tree has differently from another one; `None` where it has nothing at that path.
pub(crate) type Delta = BTreeMap<RepoPath, Option<FileId>>;

/// A base tree, ready to be asked about single paths.
#[derive(Debug)]
pub(crate) struct BaseListing {
    pub(crate) tree: TreeId,
    /// With the stat data of the pristine checkout.
    pub(crate) index: Arc<Index>,
    /// The same as the file that git reads, and where each entry begins in it.
    pub(crate) raw: Vec<u8>,
    pub(crate) starts: Vec<usize>,
    /// By path, with a slash at the end.
    trees: HashMap<Vec<u8>, Oid>,
}

/// One tree, told by another one and the difference.
#[derive(Debug, Clone)]
pub(crate) struct View {
    pub(crate) base: Arc<BaseListing>,
    pub(crate) delta: Arc<Delta>,
}

impl BaseListing {
    pub(crate) fn new(tree: &TreeId, index: Index, format: ObjectFormat) -> Self {
        let noted = index.noted_trees(format.id_bytes()).unwrap_or_default();
        let trees = noted.nodes.into_iter().filter_map(|node| Some((node.path, node.id?))).collect();
        let (raw, starts) = index.to_parts(format.id_bytes());
        Self { tree: tree.clone(), index: Arc::new(index), raw, starts, trees }
    }

    /// The entries whose paths begin with this.
    fn below(&self, prefix: &[u8]) -> &[IndexEntry] {
        let entries = &self.index.entries;
        let first = entries.partition_point(|entry| entry.path.as_bytes() < prefix);
        let length = entries[first..].partition_point(|entry| entry.path.as_bytes().starts_with(prefix));
        &entries[first..first + length]
    }
}

impl View {
    pub(crate) fn find(&self, path: &RepoPath) -> Option<FileId> {
        match self.delta.get(path) {
            Some(changed) => *changed,
            None => self.base.index.find(path.as_bytes()).map(FileId::of),
        }
    }

    /// The files in a directory and below it, named without a slash at its end.
    pub(crate) fn inside(&self, directory: &RepoPath) -> Vec<RepoPath> {
        let prefix = [directory.as_bytes(), b"/"].concat();
        let unchanged = self.base.below(&prefix).iter().map(|entry| &entry.path);
        let mut found: Vec<RepoPath> =
            unchanged.filter(|path| !self.delta.contains_key(path)).cloned().collect();
        found
            .extend(self.changed_below(&prefix).filter(|(_, id)| id.is_some()).map(|(path, _)| path.clone()));
        found
    }

    pub(crate) fn has_inside(&self, directory: &RepoPath) -> bool {
        let prefix = [directory.as_bytes(), b"/"].concat();
        self.changed_below(&prefix).any(|(_, id)| id.is_some())
            || self.base.below(&prefix).iter().any(|entry| !self.delta.contains_key(&entry.path))
    }

    fn changed_below<'v>(
        &'v self,
        prefix: &'v [u8],
    ) -> impl Iterator<Item = (&'v RepoPath, &'v Option<FileId>)> {
        let from = RepoPath::new(prefix);
        self.delta.range(from..).take_while(move |(path, _)| path.as_bytes().starts_with(prefix))
    }

    /// The whole list, for whoever has to look at all of it.
    pub(crate) fn listing(&self) -> Index {
        let unchanged = self.base.index.entries.iter().filter(|entry| !self.delta.contains_key(&entry.path));
        let changed = self.delta.iter().filter_map(|(path, id)| Some(entry_of(path, (*id)?)));
        Index::of_entries(unchanged.cloned().chain(changed).collect())
    }

    /// The tree itself, and those of its directories that the base does not have.
    pub(crate) fn tree(&self, format: ObjectFormat) -> Result<(TreeId, Vec<NewObject>), GitError> {
        if self.delta.is_empty() {
            return Ok((self.base.tree.clone(), Vec::new()));
        }
        let changes: Vec<(&[u8], Option<FileId>)> =
            self.delta.iter().map(|(path, id)| (path.as_bytes(), *id)).collect();
        let mut builder = TreesOf { base: &self.base, format, new: Vec::new() };
        let root = match builder.directory(b"", &changes)? {
            Some(root) => root,
            None => builder.store(&[])?,
        };
        Ok((TreeId::parse(&format!("{root:?}"))?, builder.new))
    }
}

pub(crate) fn entry_of(path: &RepoPath, id: FileId) -> IndexEntry {
    IndexEntry { path: path.clone(), mode: id.mode, oid: id.id, stat: CachedStat::default() }
}

struct TreesOf<'b> {
    base: &'b BaseListing,
    format: ObjectFormat,
    new: Vec<NewObject>,
}

impl TreesOf<'_> {
    /// `None` for one that holds nothing: a tree has no empty directories.
    fn directory(
        &mut self,
        prefix: &[u8],
        changes: &[(&[u8], Option<FileId>)],
    ) -> Result<Option<Oid>, GitError> {
        let mut children = self.children(prefix)?;
        let mut at = 0;
        while let Some((path, id)) = changes.get(at) {
            let rest = &path[prefix.len()..];
            let Some(slash) = rest.iter().position(|byte| *byte == b'/') else {
                match id {
                    Some(id) => drop(children.insert(rest.to_vec(), (id.mode, id.id))),
                    None => drop(children.remove(rest)),
                }
                at += 1;
                continue;
            };
            let inner = &path[..=prefix.len() + slash];
            let length = changes[at..].iter().take_while(|(path, _)| path.starts_with(inner)).count();
            // As a tree sorts it: as if its name ended with a slash.
            let name = rest[..=slash].to_vec();
            match self.directory(inner, &changes[at..at + length])? {
                Some(id) => drop(children.insert(name, (MODE_DIRECTORY, id))),
                None => drop(children.remove(&name)),
            }
            at += length;
        }
        if children.is_empty() {
            return Ok(None);
        }
        let mut content = Vec::new();
        for (name, (mode, id)) in &children {
            let plain = name.strip_suffix(b"/").unwrap_or(name);
            if plain.len() < name.len() && children.contains_key(plain) {
                return Err(GitError::FileAndDirectory);
            }
            content.extend(format!("{mode:o} ").into_bytes());
            content.extend(plain);
            content.push(0);
            content.extend(id.as_bytes());
        }
        self.store(&content).map(Some)
    }

    fn store(&mut self, content: &[u8]) -> Result<Oid, GitError> {
        let object = NewObject::new(Kind::Tree, content, self.format)?;
        let id = object.id;
        self.new.push(object);
        Ok(id)
    }

    /// What the base has in a directory, directories with a slash behind their names.
    fn children(&mut self, prefix: &[u8]) -> Result<BTreeMap<Vec<u8>, (u32, Oid)>, GitError> {
        let base = self.base;
        let entries = base.below(prefix);
        let mut children = BTreeMap::new();
        let mut at = 0;
        while let Some(entry) = entries.get(at) {
            let path = entry.path.as_bytes();
            let rest = &path[prefix.len()..];
            let Some(slash) = rest.iter().position(|byte| *byte == b'/') else {
                children.insert(rest.to_vec(), (entry.mode, entry.oid));
                at += 1;
                continue;
            };
            let inner = &path[..=prefix.len() + slash];
            let id = match base.trees.get(inner) {
                Some(id) => *id,
                // Git did not note it.
                None => match self.directory(inner, &[])? {
                    Some(id) => id,
                    None => return Err(GitError::FileAndDirectory),
                },
            };
            children.insert(rest[..=slash].to_vec(), (MODE_DIRECTORY, id));
            at += entries[at..].partition_point(|entry| entry.path.as_bytes().starts_with(inner));
        }
        Ok(children)
    }
}
