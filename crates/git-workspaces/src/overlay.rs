//! Makes one tree of several: the content of one, with some paths taken from another or from nowhere, and some files
//! written over it. No work tree is touched and no ignore rule is asked.

use std::fmt::Write as _;
use std::fs;

use crate::error::GitError;
use crate::ids::{Oid, TreeId};
use crate::index_file::{CachedStat, Index, IndexEntry};
use crate::repo_path::RepoPath;
use crate::repository::{Repository, fresh_index_path, install_index, write_index};

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
    /// The same parts make the same tree. Doing it again is harmless.
    pub fn overlay(&self, parts: &Overlay<'_>) -> Result<TreeId, GitError> {
        let mut entries = self.listing(parts.content)?.entries;
        let named_by = |path: &RepoPath| parts.replaced.iter().position(|(start, _)| lies_in(path, start));
        entries.retain(|entry| named_by(&entry.path).is_none());
        for (number, (_, source)) in parts.replaced.iter().enumerate() {
            let Some(source) = source else { continue };
            let brought = self.listing(source)?.entries.into_iter();
            // A path that stands in a tree twice makes a commit that no git takes.
            entries.extend(brought.filter(|entry| named_by(&entry.path) == Some(number)));
        }
        entries.retain(|entry| !parts.removed.iter().any(|start| lies_in(&entry.path, start)));
        for ((path, _), oid) in parts.files.iter().zip(self.store(parts.files)?) {
            let path = RepoPath::new(path.as_bytes());
            entries.retain(|entry| !in_the_way(&entry.path, &path));
            entries.push(IndexEntry { path, mode: MODE_FILE, oid, stat: CachedStat::default() });
        }
        self.write_tree(entries)
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

    fn write_tree(&self, entries: Vec<IndexEntry>) -> Result<TreeId, GitError> {
        let temporary = fresh_index_path(&self.control.indexes().join("overlay.index"));
        write_index(&temporary, &Index::of_entries(entries), self.format)?;
        let written = self.internal_call().index_file(&temporary).args(["write-tree", "--missing-ok"]).run();
        let tree = written.and_then(|printed| TreeId::parse(String::from_utf8_lossy(&printed).trim_end()));
        match tree {
            Ok(tree) => {
                // What was listed just now need not be listed again by whoever looks at the tree.
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
        let mut list = String::new();
        for (number, (_, content)) in files.iter().enumerate() {
            let path = directory.join(number.to_string());
            fs::write(&path, content).map_err(GitError::io("write", &path))?;
            // Writing to a string cannot fail.
            let _ = writeln!(list, "{}", path.display());
        }
        let call = self.internal_call().args(["hash-object", "-w", "--no-filters", "--stdin-paths"]);
        let printed = call.stdin(list.into_bytes()).run();
        let _ = fs::remove_dir_all(&directory);
        let printed = printed?;
        printed.split(|byte| *byte == b'\n').filter(|line| !line.is_empty()).map(Oid::from_hex).collect()
    }
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
