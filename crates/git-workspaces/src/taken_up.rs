//! What git took up as new in a workspace, remembered by this process. As long as the rules for what to leave out are the
//! same and nothing else stands there, git would take the same again, and need not be asked. Decides nothing git decides.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use rustix::fs::FileType;

use crate::blockers::entries_of;
use crate::confined_dir::ConfinedDir;
use crate::ids::Oid;
use crate::index_file::{Index, IndexEntry};
use crate::repo_path::RepoPath;
use crate::scan::{Extra, Scan};

/// More new files than this are a change that git may well look at each time.
const MOST: usize = 4_096;
const RULES: &[u8] = b".gitignore";

/// Every file with rules there was, with its content.
type Rules = Vec<(RepoPath, Oid)>;

/// Shared by all handles on one repository; by the keys of workspaces.
#[derive(Debug, Clone, Default)]
pub(crate) struct TakenUp {
    known: Arc<Mutex<BTreeMap<String, Taken>>>,
}

#[derive(Debug, Clone)]
struct Taken {
    new: Vec<RepoPath>,
    rules: Rules,
}

/// The entries of a base together with what git took up beside it the last time.
pub(crate) struct Expected {
    pub(crate) list: Index,
    added: Vec<RepoPath>,
    rules: Rules,
}

impl TakenUp {
    /// After git took up what is new in `now`. Nothing is remembered where anything was left out: a file with rules that
    /// is itself left out could change and nobody would see it.
    pub(crate) fn remember(
        &self,
        (key, root): (&str, &ConfinedDir),
        extras: &[Extra],
        (base, now): (&Index, &Index),
    ) {
        let added = now.entries.iter().filter(|entry| base.find(entry.path.as_bytes()).is_none());
        let new: Vec<RepoPath> = added.take(MOST + 1).map(|entry| entry.path.clone()).collect();
        let all = new.len() <= MOST && extras.iter().all(|extra| holds_all(now, root, extra));
        if all {
            self.known().insert(key.to_owned(), Taken { new, rules: rules_of(&now.entries) });
        } else {
            self.forget(key);
        }
    }

    pub(crate) fn forget(&self, key: &str) {
        self.known().remove(key);
    }

    /// `None` where nothing new is known of this workspace, or the base has something in its way. `earlier` is what was
    /// recorded of the workspace the last time.
    pub(crate) fn expected(&self, key: &str, base: &Index, earlier: &Index) -> Option<Expected> {
        let Taken { new, rules } = self.known().get(key)?.clone();
        let beyond_base = new.iter().filter(|path| base.find(path.as_bytes()).is_none());
        let added: Vec<&IndexEntry> = beyond_base.filter_map(|path| earlier.find(path.as_bytes())).collect();
        if added.is_empty() || added.iter().any(|entry| stands_in_the_way(base, &entry.path)) {
            return None;
        }
        let paths = added.iter().map(|entry| entry.path.clone()).collect();
        let whole = base.entries.iter().chain(added).cloned().collect();
        let list = Index::of_entries(whole).with_stats_of(earlier);
        Some(Expected { list, added: paths, rules })
    }

    fn known(&self) -> MutexGuard<'_, BTreeMap<String, Taken>> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Expected {
    /// Whether git would go by the same rules as it did when it took up what is new.
    pub(crate) fn has_rules_of(&self, now: &[IndexEntry]) -> bool {
        rules_of(now) == self.rules
    }

    /// What was found, as seen from the base alone.
    pub(crate) fn seen_from_base(&self, standing: Scan) -> Scan {
        let mut of_base = Scan { found: Vec::with_capacity(standing.found.len()), extras: standing.extras };
        for (entry, found) in self.list.entries.iter().zip(standing.found) {
            if self.added.binary_search(&entry.path).is_err() {
                of_base.found.push(found);
            } else if found.is_some() {
                of_base.extras.push(Extra { path: entry.path.clone(), is_directory: false });
            }
        }
        of_base.extras.sort();
        of_base
    }
}

fn rules_of(entries: &[IndexEntry]) -> Rules {
    let is_rules = |entry: &&IndexEntry| {
        let before = entry.path.as_bytes().strip_suffix(RULES);
        before.is_some_and(|before| before.is_empty() || before.ends_with(b"/"))
    };
    entries.iter().filter(is_rules).map(|entry| (entry.path.clone(), entry.oid)).collect()
}

/// A file of the base where a directory would have to be, or the other way round.
fn stands_in_the_way(base: &Index, path: &RepoPath) -> bool {
    let path = path.as_bytes();
    let mut above = path.iter().enumerate().filter(|(_, byte)| **byte == b'/').map(|(at, _)| &path[..at]);
    let below = [path, b"/"].concat();
    let first = base.entries.partition_point(|entry| entry.path.as_bytes() < below.as_slice());
    above.any(|above| base.find(above).is_some())
        || base.entries.get(first).is_some_and(|entry| entry.path.as_bytes().starts_with(&below))
}

/// Whether git took up all there is of it.
fn holds_all(now: &Index, root: &ConfinedDir, extra: &Extra) -> bool {
    if !extra.is_directory {
        return now.find(extra.path.as_bytes()).is_some();
    }
    let mut open = vec![extra.path.as_bytes().to_vec()];
    while let Some(directory) = open.pop() {
        let Ok(entries) = entries_of(root, &directory) else { return false };
        for (name, kind) in entries {
            let path = [&directory, &b"/"[..], &name].concat();
            if kind == FileType::Directory {
                open.push(path);
            } else if now.find(&path).is_none() {
                return false;
            }
        }
    }
    true
}
