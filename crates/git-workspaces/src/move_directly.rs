//! Moves a directory from one tree to another that differs little, without starting git: one look at everything that
//! stands there, then the few files that differ. Whatever is not that simple is left to git.

use std::path::Path;
use std::sync::Arc;

use crate::confined_dir::ConfinedDir;
use crate::error::GitError;
use crate::fingerprint::Fingerprint;
use crate::ids::TreeId;
use crate::index_file::{Index, IndexEntry, MODE_EXECUTABLE, MODE_TYPE};
use crate::materialise::outlast_recorded_times;
use crate::repo_path::RepoPath;
use crate::repository::{Repository, fresh_index_path, install_index, write_index};
use crate::scan::{FileStat, Scan, scan};

/// Beyond this git, which knows how to work on many files at once, is as fast.
const A_FEW: usize = 64;
const MODE_REGULAR: u32 = 0o100_000;

/// What is to be done to a directory.
struct Steps {
    /// The entries of the tree, with what is known of each file that stays.
    entries: Vec<IndexEntry>,
    found: Vec<Option<FileStat>>,
    removed: Vec<RepoPath>,
    /// By their place among the entries, with their content.
    written: Vec<(usize, Vec<u8>)>,
}

impl Repository {
    /// `None` where git is to do it; what was begun then does no harm.
    pub(crate) fn move_directly(
        &self,
        root: &ConfinedDir,
        (index_path, start): (&Path, &Index),
        tree: &TreeId,
    ) -> Result<Option<Fingerprint>, GitError> {
        // Places of submodules have no stat data to tell them by.
        let known = if start.is_of(tree) { Some(Arc::new(start.clone())) } else { self.memory.listing(tree) };
        let Some(target) = known.filter(|target| !has_submodules(target) && !has_submodules(start)) else {
            return Ok(None);
        };
        let standing = scan(root, &start.entries)?;
        let Some(mut steps) = self.steps(start, &standing, &target) else { return Ok(None) };
        let nothing_to_do =
            standing.extras.is_empty() && steps.removed.is_empty() && steps.written.is_empty();
        if !nothing_to_do && steps.carry_out(root, &standing).is_err() {
            return Ok(None);
        }
        let mut made = Index::clone(&target);
        made.entries = steps.entries;
        let found = Scan { found: steps.found, extras: Vec::new() };
        if nothing_to_do && start.is_of(tree) {
            return Ok(Some(Fingerprint::of(root, made, found)));
        }
        let temporary = fresh_index_path(index_path);
        write_index(&temporary, &made, self.format)?;
        let fingerprint = Fingerprint::of(root, made, found);
        outlast_recorded_times(&temporary, &fingerprint)?;
        install_index(&temporary, index_path)?;
        Ok(Some(fingerprint))
    }

    fn steps(&self, start: &Index, standing: &Scan, target: &Index) -> Option<Steps> {
        let mut steps = Steps {
            entries: target.entries.clone(),
            found: Vec::new(),
            removed: Vec::new(),
            written: Vec::new(),
        };
        let mut here = start.entries.iter().zip(&standing.found).peekable();
        for (at, entry) in steps.entries.iter_mut().enumerate() {
            while let Some((gone, _)) = here.next_if(|(earlier, _)| earlier.path < entry.path) {
                steps.removed.push(gone.path.clone());
            }
            let stays =
                here.next_if(|(earlier, _)| earlier.path == entry.path).and_then(|(earlier, found)| {
                    let found = found.as_ref().filter(|found| found.is(&earlier.stat, earlier.mode));
                    found.filter(|_| earlier.same_content(entry)).map(|found| (earlier.stat, found.clone()))
                });
            let Some((recorded, found)) = stays else {
                if steps.written.len() == A_FEW || entry.mode & MODE_TYPE != MODE_REGULAR {
                    return None;
                }
                steps.written.push((at, self.objects.read_blob(entry.oid)?));
                steps.found.push(None);
                continue;
            };
            entry.stat = recorded;
            steps.found.push(Some(found));
        }
        steps.removed.extend(here.map(|(gone, _)| gone.path.clone()));
        (steps.removed.len() <= A_FEW).then_some(steps)
    }
}

impl Steps {
    fn carry_out(&mut self, root: &ConfinedDir, standing: &Scan) -> Result<(), GitError> {
        for extra in &standing.extras {
            root.remove(&extra.path)?;
        }
        for path in &self.removed {
            root.remove(path)?;
            root.remove_empty_above(path)?;
        }
        for (at, content) in &self.written {
            let entry = &mut self.entries[*at];
            // Removed first, so that a file with other links is replaced and not written through.
            root.remove(&entry.path)?;
            let mode = if entry.mode == MODE_EXECUTABLE { 0o777 } else { 0o666 };
            let stat = FileStat::new(&root.write_file(&entry.path, mode, content)?, None);
            entry.stat = stat.cached();
            self.found[*at] = Some(stat);
        }
        Ok(())
    }
}

fn has_submodules(index: &Index) -> bool {
    index.entries.iter().any(IndexEntry::is_gitlink)
}
