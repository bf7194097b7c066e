//! Makes one tree of several: the content of one, with some paths taken from another or from nowhere, and some files
//! written over it. No work tree is touched and no ignore rule is asked.

use std::fs;
use std::sync::Arc;

use sha2::{Digest as _, Sha256};

use crate::error::GitError;
use crate::ids::{Oid, TreeId};
use crate::index_file::{CachedStat, Index, IndexEntry};
use crate::repo_path::RepoPath;
use crate::repository::{Repository, fresh_index_path, install_index, write_index};
use crate::tree_memory::PartsDigest;

const MODE_FILE: u32 = 0o100_644;

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
    /// The same parts make the same tree. Doing it again is harmless, and costs no process within this one.
    pub fn overlay(&self, parts: &Overlay<'_>) -> Result<TreeId, GitError> {
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
            let brought = listing.entries.iter().filter(|entry| named_by(&entry.path) == Some(number));
            entries.extend(brought.cloned());
            sources.push((source, listing));
        }
        entries.retain(|entry| !parts.removed.iter().any(|start| lies_in(&entry.path, start)));
        for ((path, _), oid) in parts.files.iter().zip(self.store(parts.files)?) {
            let path = RepoPath::new(path.as_bytes());
            entries.retain(|entry| !in_the_way(&entry.path, &path));
            entries.push(IndexEntry { path, mode: MODE_FILE, oid, stat: CachedStat::default() });
        }
        let whole = Index::of_entries(entries);
        let same = sources.into_iter().find(|(_, source)| differing(source, &whole).next().is_none());
        let tree = match same {
            Some((tree, _)) => tree.clone(),
            None => self.write_tree(whole, &content)?,
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
        let id = format!("{:?}", entry.oid);
        self.internal_call().args(["cat-file", "blob", &id]).run().map(Some)
    }

    /// Only what differs from `like` is hashed anew.
    fn write_tree(&self, whole: Index, like: &Index) -> Result<TreeId, GitError> {
        let whole = match like.noted_trees(self.format.id_bytes()) {
            Some(mut noted) => {
                let changed: Vec<RepoPath> = differing(like, &whole).cloned().collect();
                noted.forget_around(changed.iter());
                whole.with_noted_trees(&noted)
            }
            None => whole,
        };
        let temporary = fresh_index_path(&self.control.indexes().join("overlay.index"));
        write_index(&temporary, &whole, self.format)?;
        let written = self.internal_call().index_file(&temporary).args(["write-tree", "--missing-ok"]).run();
        let tree = written.and_then(|printed| TreeId::parse(String::from_utf8_lossy(&printed).trim_end()));
        match tree {
            Ok(tree) => {
                // What was listed just now need not be listed again by whoever looks at the tree.
                if let Ok(listing) = Index::read(&temporary)
                    && listing.is_of(&tree)
                {
                    self.memory.keep_listing(&tree, &Arc::new(listing));
                }
                install_index(&temporary, &self.listing_path(&tree))?;
                self.drop_old_listings()?;
                Ok(tree)
            }
            Err(error) => {
                let _ = fs::remove_file(&temporary);
                Err(error)
            }
        }
    }

    /// All files in one call of git.
    fn store(&self, files: &[(String, Vec<u8>)]) -> Result<Vec<Oid>, GitError> {
        if files.is_empty() {
            return Ok(Vec::new());
        }
        let directory = fresh_index_path(&self.control.indexes().join("overlay.files"));
        fs::create_dir_all(&directory).map_err(GitError::io("create directory", &directory))?;
        // Numbered and named from where they are: whatever stands in the path to them cannot break the list.
        let names: Vec<String> = (0..files.len()).map(|number| number.to_string()).collect();
        for (name, (_, content)) in names.iter().zip(files) {
            let path = directory.join(name);
            fs::write(&path, content).map_err(GitError::io("write", &path))?;
        }
        let call = self.git.call(self.control.git_dir(), &directory).work_tree(&directory);
        let call = call.args(["hash-object", "-w", "--no-filters", "--stdin-paths"]);
        let printed = call.stdin((names.join("\n") + "\n").into_bytes()).run();
        let _ = fs::remove_dir_all(&directory);
        let printed = printed?;
        printed.split(|byte| *byte == b'\n').filter(|line| !line.is_empty()).map(Oid::from_hex).collect()
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

/// Paths that stand in one of the two only, or with other content.
fn differing<'a>(left: &'a Index, right: &'a Index) -> impl Iterator<Item = &'a RepoPath> {
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
