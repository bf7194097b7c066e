//! What a person has changed in their own checkout and not committed, as their own git tells it: with its configuration, its
//! filters, its sparse checkout. The one place where git reads a configuration that is not ours; it runs before a run begins.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::fs;
use std::os::unix::ffi::OsStrExt;

use crate::error::GitError;
use crate::git_command::GitCall;
use crate::ids::{Commit, Oid, TreeId};
use crate::index_file::{Index, IndexEntry};
use crate::repo_path::RepoPath;
use crate::repository::{Repository, fresh_index_path, write_index};

/// The environment of the person whose checkout it is: where their configuration and the programs of their filters are.
#[derive(Debug, Clone, Default)]
pub struct PersonsEnvironment(BTreeMap<OsString, OsString>);

/// How a checkout differs from its commit, by the word of the person's own git.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Uncommitted {
    /// In the order of git.
    pub changed: Vec<RepoPath>,
    /// Which of them a merge left without an answer.
    pub unmerged: Vec<RepoPath>,
    /// What the files say.
    to_be_read: Vec<RepoPath>,
    /// What the person's index says of paths that git does not look for in the checkout.
    staged: Vec<(RepoPath, Option<(u32, Oid)>)>,
}

impl PersonsEnvironment {
    /// All of it, but for what would make git speak of another repository than the one it is asked about.
    pub fn of<N: AsRef<OsStr>, V: AsRef<OsStr>>(variables: impl IntoIterator<Item = (N, V)>) -> Self {
        let kept = |name: &OsStr| {
            let name = name.as_bytes();
            !name.starts_with(b"GIT_") || name.starts_with(b"GIT_CONFIG") || name.starts_with(b"GIT_ATTR")
        };
        let variables = variables.into_iter();
        let variables = variables.filter(|(name, _)| kept(name.as_ref()));
        Self(variables.map(|(name, value)| (name.as_ref().to_owned(), value.as_ref().to_owned())).collect())
    }
}

impl Repository {
    /// What `git status` tells of the checkout. Submodules are passed over: they are repositories of their own.
    pub fn uncommitted(&self, environment: &PersonsEnvironment) -> Result<Uncommitted, GitError> {
        let call = self.persons_call(environment);
        let call = call.args(["status", "--porcelain=v2", "-z", "--untracked-files=all", "--no-renames"]);
        let told = call.arg("--ignore-submodules=all").run()?;
        let mut found = Uncommitted::default();
        for record in told.split(|byte| *byte == 0).filter(|record| !record.is_empty()) {
            found.take(record)?;
        }
        Ok(found)
    }

    /// The tree that git would commit of the checkout with everything that was changed in it. `head` must be imported.
    pub fn with_uncommitted(
        &self,
        head: &Commit,
        found: &Uncommitted,
        environment: &PersonsEnvironment,
    ) -> Result<TreeId, GitError> {
        let base = self.listing(&head.tree)?;
        let start = found.staged_over(&base);
        let staged: Vec<Oid> = found.staged.iter().filter_map(|(_, now)| Some(now.as_ref()?.1)).collect();
        self.take_in_staged(&staged)?;
        let temporary = fresh_index_path(&self.control.indexes().join("uncommitted.index"));
        write_index(&temporary, &start, self.format)?;
        let list: Vec<u8> =
            found.to_be_read.iter().flat_map(|path| [path.as_bytes(), b"\0"].concat()).collect();
        let call = self.persons_call(environment).index_file(&temporary);
        let call = call.objects_in(&self.control.objects());
        let call = call.args(["update-index", "--add", "--remove", "--replace", "-z", "--stdin"]);
        let read = call.stdin(list).run().and_then(|_| Index::read(&temporary));
        // Nobody else uses it.
        let _ = fs::remove_file(&temporary);
        let (tree, _) = self.write_tree(read?, &base, Vec::new())?;
        self.make_durable(&tree)?;
        Ok(tree)
    }

    /// Brings blobs of the person's index here.
    fn take_in_staged(&self, blobs: &[Oid]) -> Result<(), GitError> {
        if blobs.is_empty() {
            return Ok(());
        }
        let ids: Vec<u8> = blobs.iter().flat_map(|id| format!("{id:?}\n").into_bytes()).collect();
        let call = self.internal_call().also_objects_in(&self.checkout.objects_dir());
        let call = call.args(["pack-objects", "-q", "--window=0"]);
        call.arg(self.control.objects().join("pack/pack")).stdin(ids).run().map(drop)
    }

    /// A call in the person's checkout, as if they made it, but without their hooks and without a lock of theirs.
    fn persons_call(&self, environment: &PersonsEnvironment) -> GitCall {
        let checkout = self.checkout();
        let call = self.git.persons_call((checkout.git_dir(), checkout.work_tree()), &environment.0);
        // An index of a form that is not read here is not to be written, and what is written is to last.
        let settings = [
            "core.fsmonitor=false",
            "core.hooksPath=/dev/null",
            "core.splitIndex=false",
            "core.untrackedCache=false",
            "core.fsync=objects",
            "index.sparse=false",
        ];
        settings.into_iter().fold(call, |call, setting| call.args(["-c", setting]))
    }
}

impl Uncommitted {
    /// One record of `git status --porcelain=v2 -z`.
    fn take(&mut self, record: &[u8]) -> Result<(), GitError> {
        let unreadable =
            || GitError::UnreadableStatus { record: String::from_utf8_lossy(record).into_owned() };
        let (kind, rest) = record.split_first().ok_or_else(unreadable)?;
        let fields_before_path = match kind {
            b'1' => 7,
            b'u' => 9,
            b'?' => 0,
            b'#' | b'!' => return Ok(()),
            _ => return Err(unreadable()),
        };
        let rest = rest.strip_prefix(b" ").ok_or_else(unreadable)?;
        let mut parts = rest.splitn(fields_before_path + 1, |byte| *byte == b' ');
        let fields: Vec<&[u8]> = parts.by_ref().take(fields_before_path).collect();
        let path = RepoPath::new(parts.next().ok_or_else(unreadable)?);
        self.changed.push(path.clone());
        match kind {
            b'u' => self.unmerged.push(path),
            // The file is what the index says, or git does not look for one.
            b'1' if fields[0].ends_with(b".") => {
                let mode =
                    std::str::from_utf8(fields[3]).ok().and_then(|mode| u32::from_str_radix(mode, 8).ok());
                let mode = mode.ok_or_else(unreadable)?;
                let now = if mode == 0 { None } else { Some((mode, Oid::from_hex(fields[6])?)) };
                self.staged.push((path, now));
            }
            // A repository within the checkout: none of its files is for this one's commits.
            _ if path.as_bytes().ends_with(b"/") => {}
            _ => self.to_be_read.push(path),
        }
        Ok(())
    }

    fn staged_over(&self, base: &Index) -> Index {
        let staged: BTreeMap<&RepoPath, _> = self.staged.iter().map(|(path, now)| (path, now)).collect();
        let mut entries: Vec<IndexEntry> = base.entries.clone();
        entries.retain(|entry| !staged.contains_key(&entry.path));
        let now = staged.into_iter().filter_map(|(path, now)| {
            let (mode, oid) = (*now)?;
            Some(IndexEntry { path: path.clone(), mode, oid, stat: crate::index_file::CachedStat::default() })
        });
        entries.extend(now);
        Index::of_entries(entries)
    }
}
