//! What a run must leave exactly as it was: the user's files, index, configuration, hooks, HEAD, branches and tags.

use crate::repository::Repository;
use crate::tree_hash::tree_hash;
use std::collections::{BTreeMap, BTreeSet};

/// Refs that are ours to make.
const OURS: [&str; 3] = ["refs/windlass/", "refs/heads/windlass/", "refs/heads/codex/loop-"];

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Untouched {
    files: String,
    hooks: Option<String>,
    index: Option<Vec<u8>>,
    config: Option<Vec<u8>>,
    head: Option<Vec<u8>>,
    refs: BTreeMap<String, String>,
}

impl Untouched {
    pub(crate) fn record(repository: &Repository) -> Self {
        let git = repository.path().join(".git");
        let bytes = |name: &str| std::fs::read(git.join(name)).ok();
        let hooks = git.join("hooks");
        // `ls-files` and `status` may rewrite the index; `for-each-ref` does not look at it.
        let refs = repository.git(&["for-each-ref", "--format=%(refname) %(objectname)"]);
        let theirs = |line: &str| {
            let (name, id) = line.split_once(' ')?;
            let ours = OURS.iter().any(|prefix| name.starts_with(prefix));
            (!ours).then(|| (name.to_owned(), id.to_owned()))
        };
        Self {
            files: tree_hash(repository.path(), &[".git", ".orchestrator"]),
            hooks: hooks.is_dir().then(|| tree_hash(&hooks, &[])),
            index: bytes("index"),
            config: bytes("config"),
            head: bytes("HEAD"),
            refs: refs.lines().filter_map(theirs).collect(),
        }
    }

    /// What differs now, each in a few words: `files`, `index`, `config`, `hooks`, `HEAD`, and refs by their names.
    pub fn changes(&self, repository: &Repository) -> Vec<String> {
        let now = Self::record(repository);
        let parts = [
            ("files", self.files == now.files),
            ("index", self.index == now.index),
            ("config", self.config == now.config),
            ("hooks", self.hooks == now.hooks),
            ("HEAD", self.head == now.head),
        ];
        let parts = parts.into_iter().filter(|(_, same)| !same).map(|(name, _)| name.to_owned());
        let names: BTreeSet<&String> = self.refs.keys().chain(now.refs.keys()).collect();
        let refs = names.into_iter().filter(|name| self.refs.get(*name) != now.refs.get(*name)).cloned();
        parts.chain(refs).collect()
    }

    /// Fails the test with the name of what differs now.
    #[track_caller]
    pub fn assert_holds(&self, repository: &Repository) {
        let now = Self::record(repository);
        assert_eq!(self.refs, now.refs, "the user's branches or tags changed");
        assert_eq!(self.files, now.files, "the user's files changed");
        assert!(self.index == now.index, "the user's index changed");
        assert!(self.config == now.config, "the user's git configuration changed");
        assert_eq!(self.hooks, now.hooks, "the user's hooks changed");
        assert_eq!(self.head, now.head, "the user's HEAD changed");
    }
}
