//! What a run's steps left in the private directory, sorted into what is sealed evidence already and what is kept
//! nowhere else. Only the first may go.

use crate::effect_runner::TOOLS;
use crate::evidence::{EvidenceStore, file_digest};
use crate::fault::{file_fault, journal_fault};
use crate::fence::SET_APART;
use crate::workspaces::OVERLAY;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use windlass_control_api::Fault;
use windlass_engine::Stored;
use windlass_git_workspaces::is_untouched_place;
use windlass_protocols::{Fact, Outcome, RunId};

#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Scratch {
    pub(super) sealed: Vec<PathBuf>,
    /// With the reason.
    pub(super) kept_nowhere_else: Vec<(PathBuf, &'static str)>,
}

impl Scratch {
    /// Looks at the private directory of a run that has ended; changes nothing. `in_use` tells of a folder with git
    /// directories that were set apart whether a worktree that stays works in one of them.
    pub(super) fn of(
        directory: &Path,
        (run, stored): (&RunId, &[Stored]),
        evidence: &EvidenceStore,
        in_use: impl Fn(&Path) -> bool,
    ) -> Result<Self, Fault> {
        let sealed = sealed_steps(run, stored)?;
        let mut scratch = Self::default();
        for path in entries(directory)? {
            if path.ends_with("effects") {
                for step in entries(&path)? {
                    let name = step.file_name().unwrap_or_default().to_string_lossy().into_owned();
                    if !sealed.contains(&name) {
                        let why = "it is of a step whose end was never recorded; nothing of it is sealed";
                        scratch.kept_nowhere_else.push((step, why));
                    } else if holds_unsealed_files(&step.join("outbox"), evidence)? {
                        let why = "its agent left more in it than the answer, and that is not sealed";
                        scratch.kept_nowhere_else.push((step, why));
                    } else {
                        scratch.sealed.push(step);
                    }
                }
            } else if path.ends_with(TOOLS) {
                // Our own record of the programs on the search path, of use to the run alone.
                scratch.sealed.push(path);
            } else if path.ends_with(SET_APART) {
                for folder in entries(&path)? {
                    scratch.sort_git_directories(folder, &in_use)?;
                }
            } else if path.ends_with(OVERLAY) {
                let why = "the layers of its workspaces are not a worktree yet, and nothing of them is kept elsewhere";
                scratch.kept_nowhere_else.push((path, why));
            } else {
                let why = "Windlass did not write it; it was moved here to be kept";
                scratch.kept_nowhere_else.push((path, why));
            }
        }
        Ok(scratch)
    }

    /// What agents of one worktree did with git of their own. Where nobody did anything, it is our copy of the user's.
    fn sort_git_directories(&mut self, folder: PathBuf, in_use: impl Fn(&Path) -> bool) -> Result<(), Fault> {
        if in_use(&folder) {
            self.kept_nowhere_else.push((folder, "git in its worktree, which stays, works in it"));
            return Ok(());
        }
        for place in entries(&folder)? {
            if is_untouched_place(&place) {
                self.sealed.push(place);
            } else {
                let why =
                    "an agent staged, committed or set something up in this git directory, and only there";
                self.kept_nowhere_else.push((place, why));
            }
        }
        Ok(())
    }

    /// Takes the sealed part away, and the directories above it that are empty then.
    pub(super) fn remove_what_is_sealed(&self, directory: &Path) -> Result<(), Fault> {
        for path in &self.sealed {
            let removed =
                if path.is_dir() { std::fs::remove_dir_all(path) } else { std::fs::remove_file(path) };
            removed.map_err(|error| file_fault("remove", path, &error))?;
        }
        let apart = directory.join(SET_APART);
        let mut emptied = entries(&apart)?;
        emptied.extend([apart, directory.join("effects"), directory.to_owned()]);
        for emptied in emptied {
            // One that still holds something stays.
            let _ = std::fs::remove_dir(emptied);
        }
        Ok(())
    }
}

/// The steps whose prompt, answer and logs were sealed, by the names of their directories. A landing leaves nothing but
/// an empty mark that it began, a step of a roadmap's controller nothing but its notes for the case that it is killed.
fn sealed_steps(run: &RunId, stored: &[Stored]) -> Result<BTreeSet<String>, Fault> {
    let mut sealed = BTreeSet::new();
    for row in stored {
        let Fact::EffectSettled { effect, outcome } = row.fact(run).map_err(journal_fault)? else { continue };
        let (Outcome::AgentEnded(_)
        | Outcome::ChecksRan(_)
        | Outcome::Measured(_)
        | Outcome::Landed(_)
        | Outcome::Plane(_)
        | Outcome::Refused { .. }) = outcome
        else {
            continue;
        };
        sealed.insert(effect.to_string());
    }
    Ok(sealed)
}

/// Whether an outbox holds a file that the evidence does not have. Links, pipes and the like hold nothing.
fn holds_unsealed_files(outbox: &Path, evidence: &EvidenceStore) -> Result<bool, Fault> {
    let mut open = vec![outbox.to_owned()];
    while let Some(directory) = open.pop() {
        for path in entries(&directory)? {
            let Ok(found) = path.symlink_metadata() else { continue };
            if found.is_dir() {
                open.push(path);
            } else if found.is_file() {
                let digest = file_digest(&path).map_err(|error| file_fault("read", &path, &error))?;
                if !evidence.holds(&digest) {
                    return Ok(true);
                }
            }
        }
    }
    Ok(false)
}

/// In a fixed order, so that a dry run and the real one say the same. A link is not followed.
fn entries(directory: &Path) -> Result<Vec<PathBuf>, Fault> {
    if !directory.symlink_metadata().is_ok_and(|found| found.is_dir()) {
        return Ok(Vec::new());
    }
    let listed = std::fs::read_dir(directory).map_err(|error| file_fault("list", directory, &error))?;
    let mut paths: Vec<PathBuf> = listed.flatten().map(|entry| entry.path()).collect();
    paths.sort();
    Ok(paths)
}
