//! Which files of a run directory are the engine's. Before one is written its place is cleared, and at the end of a
//! round whatever else lies there is moved to the shelf for foreign things. Knows paths and hashes, not what files say.

use crate::context::RunContext;
use crate::evidence::file_digest;
use crate::fault::file_fault;
use crate::foreign::{ForeignShelf, is_real_directory};
use std::collections::{BTreeSet, HashMap, HashSet};
use std::path::{Path, PathBuf};
use windlass_artifact_formats::task_loop::Summary;
use windlass_control_api::Fault;
use windlass_protocols::Digest;

/// What decisions rest on; also in a directory of the original nobody but the engine may leave one of these.
pub(crate) const ROUND_ARTIFACTS: [&str; 6] =
    ["handoff.json", "patch.diff", "verdict.json", "eval-results.json", "audit.json", "audit-results.json"];

pub(crate) struct OwnFiles {
    run_dir: PathBuf,
    /// The round in which the run was taken over: up to there other files are the original's.
    adopted_round: u32,
    /// Hashed, not ordered: a long run has a hundred thousand of them, and each is looked at when it is resumed.
    files: HashMap<PathBuf, Contents>,
    /// Every directory above one of the files.
    directories: HashSet<PathBuf>,
    rounds: BTreeSet<u32>,
    aside: ForeignShelf,
    notices: Vec<String>,
}

/// Everything the engine ever wrote to one place.
#[derive(Default)]
struct Contents {
    known: Vec<Digest>,
    /// Written by a step before its content is recorded, so any content may be ours.
    by_step: bool,
}

impl OwnFiles {
    pub(crate) fn of(context: &RunContext) -> Self {
        Self {
            run_dir: context.run_dir().to_owned(),
            adopted_round: context.adopted().map_or(0, |adopted| adopted.round),
            files: HashMap::new(),
            directories: HashSet::new(),
            rounds: BTreeSet::new(),
            aside: ForeignShelf::of(context),
            notices: Vec::new(),
        }
    }

    /// Sentences about what was moved since the last call.
    pub(crate) fn notices(&mut self) -> Vec<String> {
        std::mem::take(&mut self.notices)
    }

    pub(crate) fn open_round(&mut self, round: u32) {
        self.rounds.insert(round);
    }

    pub(crate) fn register(&mut self, path: &Path, content: Digest) {
        let known = &mut self.entry(path).known;
        if !known.contains(&content) {
            known.push(content);
        }
    }

    pub(crate) fn register_step(&mut self, path: &Path) {
        self.entry(path).by_step = true;
    }

    fn entry(&mut self, path: &Path) -> &mut Contents {
        for above in path.ancestors().skip(1) {
            // Whatever is above one that is known is known as well.
            if self.directories.contains(above) {
                break;
            }
            self.directories.insert(above.to_owned());
        }
        self.files.entry(path.to_owned()).or_default()
    }

    /// As [`Self::clear`] for a file of which it is known what it is to hold: one that holds only the beginning of that is
    /// ours, and a power cut took the rest.
    pub(crate) fn clear_for(&mut self, path: &Path, content: &[u8]) -> Result<(), Fault> {
        let plain = path.symlink_metadata().is_ok_and(|found| found.is_file());
        let torn = plain
            && std::fs::read(path)
                .is_ok_and(|found| found.len() < content.len() && content.starts_with(&found));
        if torn {
            self.register(path, file_digest(path).map_err(|error| file_fault("read", path, &error))?);
        }
        self.clear(path)
    }

    /// Makes sure that writing here replaces nothing but what the engine wrote itself, and leads nowhere else.
    pub(crate) fn clear(&mut self, path: &Path) -> Result<(), Fault> {
        let inside: Vec<PathBuf> =
            path.ancestors().skip(1).take_while(|above| *above != self.run_dir).map(Path::to_owned).collect();
        for directory in inside.iter().rev() {
            if directory.symlink_metadata().is_ok() && !is_real_directory(directory) {
                self.take(directory)?;
            }
        }
        let Ok(found) = path.symlink_metadata() else { return Ok(()) };
        let ours = found.is_file()
            && self.files.get(path).is_some_and(|contents| {
                contents.by_step || file_digest(path).is_ok_and(|digest| contents.known.contains(&digest))
            });
        if ours { Ok(()) } else { self.take(path) }
    }

    /// Leaves only the engine's files in the directory of a round that has ended.
    pub(crate) fn tidy_round(&mut self, round: u32) -> Result<(), Fault> {
        let rounds = self.run_dir.join("rounds");
        let directory = rounds.join(format!("round-{round}"));
        if !is_real_directory(&rounds) || !is_real_directory(&directory) {
            return Ok(());
        }
        for path in entries(&directory)? {
            let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
            if round <= self.adopted_round && !ROUND_ARTIFACTS.contains(&name) {
                continue;
            }
            let holds_ours = self.directories.contains(&path) || self.files.contains_key(&path);
            if is_real_directory(&path) && holds_ours {
                for inner in entries(&path)? {
                    self.keep_or_take(&inner)?;
                }
            } else {
                self.keep_or_take(&path)?;
            }
        }
        Ok(())
    }

    /// The same for the whole directory: rounds nobody opened and a summary written before the end are not ours.
    pub(crate) fn tidy_run(&mut self) -> Result<(), Fault> {
        if !is_real_directory(&self.run_dir) {
            return Ok(());
        }
        let rounds = self.run_dir.join("rounds");
        if is_real_directory(&rounds) {
            for path in entries(&rounds)? {
                let number = path
                    .file_name()
                    .and_then(|name| name.to_str()?.strip_prefix("round-")?.parse::<u32>().ok());
                let known = number
                    .is_some_and(|number| self.rounds.contains(&number) || number <= self.adopted_round);
                if !known || !is_real_directory(&path) {
                    self.take(&path)?;
                }
            }
            for round in self.rounds.clone() {
                self.tidy_round(round)?;
            }
        }
        let summary = self.run_dir.join(Summary::FILE_NAME);
        if summary.symlink_metadata().is_ok() { self.clear(&summary) } else { Ok(()) }
    }

    fn keep_or_take(&mut self, path: &Path) -> Result<(), Fault> {
        if self.files.contains_key(path) {
            return Ok(());
        }
        if is_half_written(path) {
            return std::fs::remove_file(path).map_err(|error| file_fault("remove", path, &error));
        }
        self.take(path)
    }

    fn take(&mut self, path: &Path) -> Result<(), Fault> {
        let inside = path.strip_prefix(&self.run_dir).unwrap_or(path);
        let name = inside.strip_prefix("rounds").unwrap_or(inside);
        let notice = self.aside.take(path, name)?;
        self.notices.push(notice);
        Ok(())
    }
}

/// A file of ours that a crash caught between being written and being put into its place; it can be written again.
fn is_half_written(path: &Path) -> bool {
    let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
    let plain = path.symlink_metadata().is_ok_and(|found| found.is_file());
    plain && name.starts_with('.') && Path::new(name).extension().is_some_and(|extension| extension == "part")
}

fn entries(directory: &Path) -> Result<Vec<PathBuf>, Fault> {
    let listed = std::fs::read_dir(directory).map_err(|error| file_fault("list", directory, &error))?;
    Ok(listed.flatten().map(|entry| entry.path()).collect())
}
