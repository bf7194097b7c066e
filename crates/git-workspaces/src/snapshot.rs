//! Takes down what is in a directory as a tree id, whatever was done to its `.git`, index, branch or configuration.
//! Tracked is what the base tree has, plus everything new that is not ignored; the answer depends on nothing else.

use std::fs;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use windlass_process_supervisor::QuickOutput;

use crate::beyond_limits::Beyond;
use crate::blockers::blockers;
use crate::confined_dir::ConfinedDir;
use crate::error::GitError;
use crate::hazard::{Hazard, SnapshotLimits, hazards_of};
use crate::ids::TreeId;
use crate::ignored_files::{Choice, Chosen, IgnoredFiles, LeftOut};
use crate::index_file::{Index, MODE_TYPE, path_for_key};
use crate::repo_path::RepoPath;
use crate::repository::{Repository, fresh_index_path, install_index, write_index};
use crate::scan::{Scan, scan};

/// More than the second by which git tells young stat data, and than looking at a very large tree takes.
const AHEAD: Duration = Duration::from_mins(10);

/// The content of a directory, and how it differs from the base.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Snapshot {
    pub tree: TreeId,
    /// In the order of their paths.
    pub changes: Vec<Change>,
    pub hazards: Vec<Hazard>,
    /// Ignored files that were asked for and are not in it.
    pub left_out: Option<LeftOut>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Change {
    pub path: RepoPath,
    pub kind: ChangeKind,
    /// Size now; zero for what was deleted.
    pub size: u64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ChangeKind {
    Added,
    Modified,
    /// Same content, other permission to execute.
    ModeChanged,
    /// A file became a link or the other way round.
    TypeChanged,
    Deleted,
}

impl Snapshot {
    /// What can be said of a directory in which git must not be started: the base, and what stands in the way.
    fn withheld(base: &TreeId, blockers: &[RepoPath]) -> Self {
        let added = |path: &RepoPath| Change { path: path.clone(), kind: ChangeKind::Added, size: 0 };
        Self {
            tree: base.clone(),
            changes: blockers.iter().map(added).collect(),
            hazards: blockers.iter().map(|path| Hazard::BlocksGit { path: path.clone() }).collect(),
            left_out: None,
        }
    }

    /// What can be said of a change that is too large to be looked at: the base, and how large it is.
    fn beyond(base: &TreeId, Beyond { changes, hazards }: Beyond) -> Self {
        Self { tree: base.clone(), changes, hazards, left_out: None }
    }
}

impl Repository {
    /// Records what `workspace` holds. `key` names the workspace's private index, which makes the next snapshot of
    /// the same workspace cheap; `base` must be the tree of an imported commit. Of what is new and beyond the limits nothing
    /// is recorded: the tree is the base's, and a hazard says so.
    pub fn snapshot(
        &self,
        workspace: &Path,
        key: &str,
        base: &TreeId,
        limits: SnapshotLimits,
    ) -> Result<Snapshot, GitError> {
        self.record(workspace, key, base, limits, IgnoredFiles::LeftOut)
    }

    /// As [`Self::snapshot`], but not durable: for whoever goes on to make another tree of it.
    pub fn snapshot_to_build_on(
        &self,
        workspace: &Path,
        key: &str,
        base: &TreeId,
        limits: SnapshotLimits,
    ) -> Result<Snapshot, GitError> {
        self.look(workspace, key, base, limits, IgnoredFiles::LeftOut)
    }

    /// As [`Self::snapshot`], ignored files included or not.
    pub(crate) fn record(
        &self,
        workspace: &Path,
        key: &str,
        base: &TreeId,
        limits: SnapshotLimits,
        ignored: IgnoredFiles,
    ) -> Result<Snapshot, GitError> {
        let snapshot = self.look(workspace, key, base, limits, ignored)?;
        self.make_durable(&snapshot.tree)?;
        Ok(snapshot)
    }

    fn look(
        &self,
        workspace: &Path,
        key: &str,
        base: &TreeId,
        limits: SnapshotLimits,
        ignored: IgnoredFiles,
    ) -> Result<Snapshot, GitError> {
        let root = ConfinedDir::open(workspace)?;
        let base_index = self.listing(base)?;
        let index_path = path_for_key(&self.control.indexes(), key);
        // No index yet, or a damaged one: everything is read anew.
        let earlier = Index::read(&index_path).unwrap_or_default();
        let temporary = fresh_index_path(&index_path);
        let began = moment(&temporary)?;
        let expected = match ignored {
            IgnoredFiles::LeftOut => self.taken_up.expected(key, &base_index, &earlier),
            _ => None,
        };
        let from_base = || Index::clone(&base_index).with_stats_of(&earlier);
        let start = expected.as_ref().map_or_else(from_base, |expected| expected.list.clone());
        let standing = scan(&root, &start.entries)?;
        let (mut hazards, mut left_out) = (Vec::new(), None);
        let seen = (&start, &standing);
        let directly = self.record_directly(&root, (&base_index, expected.as_ref()), seen)?;
        let (tree, now) = if let Some(taken) = directly {
            write_index(&temporary, &taken.1, self.format)?;
            taken
        } else {
            let (start, standing) = match expected {
                Some(expected) => (from_base(), expected.seen_from_base(standing)),
                None => (start, standing),
            };
            let blockers = blockers(&root)?;
            if !blockers.is_empty() {
                // A file that nobody uses yet; one that stays is litter.
                let _ = fs::remove_file(&temporary);
                return Ok(Snapshot::withheld(base, &blockers));
            }
            let start = seen_before(start, &standing);
            write_index(&temporary, &start, self.format)?;
            if let Some(beyond) = self.beyond_limits((&root, &temporary), (&start, &standing), limits)? {
                let _ = fs::remove_file(&temporary);
                return Ok(Snapshot::beyond(base, beyond));
            }
            let work = Work { root: &root, index: &temporary, began };
            let only_new = matches!(ignored, IgnoredFiles::LeftOut);
            let recorded = self.record_by_git(&work, ignored, &mut hazards)?;
            if only_new {
                self.taken_up.remember((key, &root), &standing.extras, (&base_index, &recorded.now));
            }
            left_out = recorded.left_out;
            (recorded.tree, recorded.now)
        };
        set_time(&temporary, began)?;
        install_index(&temporary, &index_path)?;
        let changes = changes_between(&root, &base_index, &now)?;
        hazards.extend(hazards_of(&root, &base_index, &now, &changes, limits)?);
        Ok(Snapshot { tree, changes, hazards, left_out })
    }

    /// What is new is found by git, which knows the rules for what to leave out. The index holds what was there before.
    fn record_by_git(
        &self,
        work: &Work<'_>,
        ignored: IgnoredFiles,
        hazards: &mut Vec<Hazard>,
    ) -> Result<Recorded, GitError> {
        let Work { root, index: temporary, began } = *work;
        // Git believes young stat data only in an index that is younger; it was looked at more closely just now.
        set_time(temporary, began + AHEAD)?;
        let Choice { chosen, left_out, hazard } = self.choose_ignored(root, temporary, ignored)?;
        hazards.extend(hazard);
        hazards.extend(self.add_everything(root.path(), temporary, &chosen)?);
        let now = Index::read(temporary)?;
        let like = Index::clone(&now);
        let (tree, now) = self.write_tree(now, &like, Vec::new())?;
        write_index(temporary, &now, self.format)?;
        Ok(Recorded { tree, now, left_out })
    }

    /// Forgets the private index of a workspace that will not be looked at again under this key.
    pub fn forget_index(&self, key: &str) {
        self.taken_up.forget(key);
        // Only a memory of what was seen: one that stays is litter, not a fault.
        let _ = fs::remove_file(path_for_key(&self.control.indexes(), key));
    }

    /// Stages all there is; what git refuses becomes a hazard, so that one bad path cannot stop the snapshot.
    fn add_everything(
        &self,
        workspace: &Path,
        index: &Path,
        ignored: &Chosen,
    ) -> Result<Vec<Hazard>, GitError> {
        let add = || self.call_in(workspace, index).args(["add", "-A", "--ignore-errors"]);
        let mut hazards = match ignored {
            Chosen::Nothing | Chosen::Only(_) => refused(&add().run_accepting(&[0, 1])?),
            Chosen::Everything => refused(&add().arg("-f").run_accepting(&[0, 1])?),
        };
        if let Chosen::Only(paths) = ignored
            && !paths.is_empty()
        {
            let list: Vec<u8> = paths.iter().flat_map(|path| [path.as_bytes(), b"\0"].concat()).collect();
            let call = self.call_in(workspace, index).env("GIT_LITERAL_PATHSPECS", "1");
            let call = call.args(["add", "-f", "--ignore-errors", "--pathspec-from-file=-"]);
            let output = call.arg("--pathspec-file-nul").stdin(list).run_accepting(&[0, 1])?;
            hazards.extend(refused(&output));
        }
        Ok(hazards)
    }
}

/// What git says it did not take up.
fn refused(output: &QuickOutput) -> Vec<Hazard> {
    let text = String::from_utf8_lossy(&output.stderr);
    let refused = |line: &&str| line.starts_with("error: ") || line.starts_with("warning: could not open");
    let hazards: Vec<_> =
        text.lines().filter(refused).map(|line| Hazard::Refused { detail: line.to_owned() }).collect();
    if hazards.is_empty() && !output.status.success() {
        return vec![Hazard::Refused { detail: text.trim().to_owned() }];
    }
    hazards
}

/// What git took up.
struct Recorded {
    tree: TreeId,
    now: Arc<Index>,
    left_out: Option<LeftOut>,
}

/// A snapshot in the making: of what, into which index, since when.
#[derive(Clone, Copy)]
struct Work<'a> {
    root: &'a ConfinedDir,
    index: &'a Path,
    began: SystemTime,
}

/// With stat data only for files that are to the nanosecond what they were. Git compares whole seconds.
fn seen_before(mut start: Index, standing: &Scan) -> Index {
    start.keep_stats_where(|at, entry| {
        standing.found[at].as_ref().is_some_and(|stat| stat.is(&entry.stat, entry.mode))
    });
    start
}

/// Now, by the clock that stamps files: told by making the one that will be the index. Taken before the first look, so
/// that whatever is changed after a look is of this moment or later, and shows in the next snapshot.
fn moment(index: &Path) -> Result<SystemTime, GitError> {
    let made = fs::File::create(index).and_then(|file| file.metadata()?.modified());
    made.map_err(GitError::io("write", index))
}

fn set_time(index: &Path, time: SystemTime) -> Result<(), GitError> {
    let opened = fs::File::options().write(true).open(index);
    opened.and_then(|file| file.set_modified(time)).map_err(GitError::io("write", index))
}

fn changes_between(root: &ConfinedDir, base: &Index, now: &Index) -> Result<Vec<Change>, GitError> {
    let mut changes = Vec::new();
    let mut new = now.entries.iter().peekable();
    let mut record = |path: &RepoPath, kind: ChangeKind| -> Result<(), GitError> {
        let size =
            if kind == ChangeKind::Deleted { 0 } else { root.kind_of(path)?.map_or(0, |(_, size)| size) };
        changes.push(Change { path: path.clone(), kind, size });
        Ok(())
    };
    for old in &base.entries {
        while let Some(added) = new.next_if(|entry| entry.path < old.path) {
            record(&added.path, ChangeKind::Added)?;
        }
        match new.next_if(|entry| entry.path == old.path) {
            None => record(&old.path, ChangeKind::Deleted)?,
            Some(same) if same.same_content(old) => {}
            Some(other) if other.mode & MODE_TYPE != old.mode & MODE_TYPE => {
                record(&old.path, ChangeKind::TypeChanged)?;
            }
            Some(other) if other.oid == old.oid => record(&old.path, ChangeKind::ModeChanged)?,
            Some(_) => record(&old.path, ChangeKind::Modified)?,
        }
    }
    for added in new {
        record(&added.path, ChangeKind::Added)?;
    }
    Ok(changes)
}
