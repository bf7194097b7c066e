//! Takes down a directory in which nothing stands that git has not judged before, without starting git: files that were
//! changed, deleted or given another permission. What is new is git's to judge, for it knows what is to be left out.

use std::sync::Arc;

use crate::confined_dir::ConfinedDir;
use crate::error::GitError;
use crate::ids::TreeId;
use crate::index_file::{Index, IndexEntry, MODE_EXECUTABLE, MODE_FILE};
use crate::own_objects::{Kind, LARGEST, NewObject};
use crate::repository::Repository;
use crate::scan::{FileStat, Scan};
use crate::taken_up::Expected;

/// Beyond this git, which flushes all of them at once, is as fast.
const A_FEW: usize = 32;

impl Repository {
    /// `start` are the entries of the base, and of what git took up beside it, with the stat data that is still believed of
    /// them. `None` where git is to do it.
    pub(crate) fn record_directly(
        &self,
        root: &ConfinedDir,
        (base, expected): (&Index, Option<&Expected>),
        (start, standing): (&Index, &Scan),
    ) -> Result<Option<(TreeId, Arc<Index>)>, GitError> {
        if !standing.extras.is_empty() || start.entries.iter().any(IndexEntry::is_gitlink) {
            return Ok(None);
        }
        let mut now = Vec::new();
        let (mut read, mut new) = (0, Vec::new());
        for (entry, found) in start.entries.iter().zip(&standing.found) {
            let Some(found) = found else { continue };
            if found.is(&entry.stat, entry.mode) {
                now.push(entry.clone());
                continue;
            }
            read += 1;
            let seen = if read > A_FEW { None } else { self.seen_now(root, entry, found)? };
            let Some((entry, content)) = seen else { return Ok(None) };
            new.extend(content);
            now.push(entry);
        }
        if expected.is_some_and(|expected| !expected.has_rules_of(&now)) {
            return Ok(None);
        }
        self.write_tree(Index::of_entries(now), base, new).map(Some)
    }

    /// The entry as it is now, with its content where that is another one; `None` where git is to look at it.
    fn seen_now(
        &self,
        root: &ConfinedDir,
        entry: &IndexEntry,
        found: &FileStat,
    ) -> Result<Option<(IndexEntry, Option<NewObject>)>, GitError> {
        let (stat, mode, content) = if let Some(target) = &found.link_target {
            (found.clone(), entry.mode, target.clone())
        } else {
            // What cannot be read is git's to complain of.
            let Ok(Some((stat, content))) = root.read_file(&entry.path, LARGEST as u64) else {
                return Ok(None);
            };
            let stat = FileStat::new(&stat, None);
            let mode = if stat.mode & 0o100 == 0 { MODE_FILE } else { MODE_EXECUTABLE };
            (stat, mode, content)
        };
        let object = NewObject::new(Kind::Blob, &content, self.format)?;
        let seen = IndexEntry { path: entry.path.clone(), mode, oid: object.id, stat: stat.cached() };
        Ok(Some((seen, (object.id != entry.oid).then_some(object))))
    }
}
