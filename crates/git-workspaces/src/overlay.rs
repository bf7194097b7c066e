//! Makes one tree of several: the content of one, with some paths taken from another or from nowhere, and some files
//! written over it. No work tree is touched and no ignore rule is asked.

use std::collections::BTreeSet;
use std::sync::Arc;

use sha2::{Digest as _, Sha256};

use crate::error::GitError;
use crate::ids::TreeId;
use crate::index_file::{CachedStat, Index, IndexEntry, MODE_FILE};
use crate::own_objects::{Kind, NewObject};
use crate::repo_path::RepoPath;
use crate::repository::Repository;
use crate::tree_memory::PartsDigest;
use crate::write_tree::differing;

/// What a tree is to be made of. Trees must be known to the control directory.
#[derive(Debug, Clone, Copy)]
pub struct Overlay<'a> {
    pub content: &'a TreeId,
    /// Beginnings of paths (a directory ends with `/`) that do not come from the content, and where from instead. Of
    /// several that name one path the first counts.
    pub replaced: &'a [(&'a str, Option<&'a TreeId>)],
    /// Beginnings of paths that are left out, wherever they come from.
    pub removed: &'a [&'a str],
    /// Plain files, by path; they win over everything else.
    pub files: &'a [(String, Vec<u8>)],
}

impl Repository {
    /// The same parts make the same tree. Doing it again is harmless. No process, where the trees were listed before.
    pub fn overlay(&self, parts: &Overlay<'_>) -> Result<TreeId, GitError> {
        let tree = self.overlay_to_show(parts)?;
        self.make_durable(&tree)?;
        Ok(tree)
    }

    /// As [`Self::overlay`], but not durable: for a tree that nothing but a directory is to hold and that would be made
    /// again after a power cut, or that is about to be committed.
    pub fn overlay_to_show(&self, parts: &Overlay<'_>) -> Result<TreeId, GitError> {
        let digest = parts.digest();
        if let Some(made) = self.memory.overlay(&digest) {
            return Ok(made);
        }
        let content = self.listing(parts.content)?;
        let mut entries = content.entries.clone();
        let mut sources = vec![(parts.content, Arc::clone(&content))];
        let named_by = |path: &RepoPath| parts.replaced.iter().position(|(start, _)| lies_in(path, start));
        entries.retain(|entry| named_by(&entry.path).is_none());
        for (number, (_, source)) in parts.replaced.iter().enumerate() {
            let Some(source) = source else { continue };
            let listing = self.listing(source)?;
            // A path that stands in a tree twice makes a commit that no git takes.
            let brought: Vec<_> = listing
                .entries
                .iter()
                .filter(|entry| named_by(&entry.path) == Some(number))
                .cloned()
                .collect();
            // Where the content has a file or a link in the place of a directory that is needed.
            let needed: BTreeSet<_> = brought.iter().flat_map(|entry| directories_of(&entry.path)).collect();
            entries.retain(|entry| !needed.contains(entry.path.as_bytes()));
            entries.extend(brought);
            sources.push((source, listing));
        }
        entries.retain(|entry| !parts.removed.iter().any(|start| lies_in(&entry.path, start)));
        let mut files = Vec::new();
        for (path, content) in parts.files {
            let file = NewObject::new(Kind::Blob, content, self.format)?;
            let path = RepoPath::new(path.as_bytes());
            entries.retain(|entry| !in_the_way(&entry.path, &path));
            entries.push(IndexEntry { path, mode: MODE_FILE, oid: file.id, stat: CachedStat::default() });
            files.push(file);
        }
        let whole = Index::of_entries(entries);
        let same = sources.into_iter().find(|(_, source)| differing(source, &whole).next().is_none());
        let tree = match same {
            Some((tree, _)) => tree.clone(),
            None => self.write_tree(whole, &content, files)?.0,
        };
        self.memory.keep_overlay(digest, &tree);
        Ok(tree)
    }

    /// Names of the files directly in a directory of a tree.
    pub fn names_at(&self, tree: &TreeId, directory: &str) -> Result<Vec<String>, GitError> {
        let start = format!("{}/", directory.trim_end_matches('/'));
        let listing = self.listing(tree)?;
        let inside = listing.entries.iter().filter_map(|entry| {
            let rest = entry.path.as_bytes().strip_prefix(start.as_bytes())?;
            let name = rest.split(|byte| *byte == b'/').next()?;
            Some(String::from_utf8_lossy(name).into_owned())
        });
        let mut names: Vec<String> = inside.collect();
        names.dedup();
        Ok(names)
    }

    /// The content of one file of a tree; `None` where the tree has no such file.
    pub fn file_at(&self, tree: &TreeId, path: &str) -> Result<Option<Vec<u8>>, GitError> {
        let listing = self.listing(tree)?;
        let Some(entry) = listing.find(path.as_bytes()) else { return Ok(None) };
        if let Some(content) = self.small_file(entry.oid) {
            return Ok(Some(content));
        }
        let id = format!("{:?}", entry.oid);
        let content = self.internal_call().args(["cat-file", "blob", &id]).run()?;
        self.told.keep_file(entry.oid, &content);
        Ok(Some(content))
    }
}

impl Overlay<'_> {
    /// Names exactly these parts: every piece is preceded by its length.
    fn digest(&self) -> PartsDigest {
        let mut hasher = Sha256::new();
        let mut piece = |bytes: &[u8]| {
            hasher.update((bytes.len() as u64).to_be_bytes());
            hasher.update(bytes);
        };
        piece(self.content.as_str().as_bytes());
        piece(&self.replaced.len().to_be_bytes());
        for (start, source) in self.replaced {
            piece(start.as_bytes());
            piece(source.map_or("", |tree| tree.as_str()).as_bytes());
        }
        piece(&self.removed.len().to_be_bytes());
        for start in self.removed {
            piece(start.as_bytes());
        }
        for (path, content) in self.files {
            piece(path.as_bytes());
            piece(content);
        }
        hasher.finalize().into()
    }
}

fn directories_of(path: &RepoPath) -> impl Iterator<Item = &[u8]> {
    let bytes = path.as_bytes();
    bytes.iter().enumerate().filter(|(_, byte)| **byte == b'/').map(|(end, _)| &bytes[..end])
}

/// Whether the path begins so, or is a file where that directory would be.
fn lies_in(path: &RepoPath, start: &str) -> bool {
    let bytes = path.as_bytes();
    bytes.starts_with(start.as_bytes()) || Some(bytes) == start.strip_suffix('/').map(str::as_bytes)
}

/// The same path, a file where a directory is needed, or a directory where the file is to be.
fn in_the_way(found: &RepoPath, wanted: &RepoPath) -> bool {
    let (found, wanted) = (found.as_bytes(), wanted.as_bytes());
    let below =
        |inner: &[u8], outer: &[u8]| inner.starts_with(outer) && inner.get(outer.len()) == Some(&b'/');
    found == wanted || below(found, wanted) || below(wanted, found)
}
