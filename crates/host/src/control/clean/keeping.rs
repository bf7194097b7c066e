//! Takes a worktree or a branch away, after it is kept: the one way in which anything of a run goes. Knows nothing of loops.

use super::item;
use crate::clock::SystemClock;
use crate::context::RunContext;
use crate::fault::git_fault;
use std::path::PathBuf;
use windlass_control_api::Fault;
use windlass_control_api::commands::CleanMode;
use windlass_control_api::views::CleanReport;
use windlass_engine::{Clock, RunHead};
use windlass_git_workspaces::{
    Commit, CommitId, GitError, Hazard, IgnoredFiles, Keeping, LeftOut, Moment, Obstacle, ReferenceUpdate,
    Removal, SnapshotLimits,
};
use windlass_protocols::Role;

const LIMITS: SnapshotLimits = SnapshotLimits { paths: 20_000, bytes: 256 * 1024 * 1024 };
/// A maker's ignored files are work too (notes, databases, settings), but not gigabytes of build output.
pub(crate) const KEPT_IGNORED_FILES: IgnoredFiles = IgnoredFiles::Recorded(LIMITS);
/// Where trees are made again for every look, what is ignored is output of checks. It is kept as long as it is little, for
/// somebody may have left a note there.
pub(super) const KEPT_IF_FEW: IgnoredFiles = IgnoredFiles::RecordedIfFew(LIMITS);

/// A worktree of a run, and how its content is kept.
pub(super) struct Corner {
    pub(super) path: PathBuf,
    pub(super) key: String,
    pub(super) kept_name: String,
    pub(super) ignored: IgnoredFiles,
}

impl Corner {
    pub(super) fn of(context: &RunContext, role: Role) -> Self {
        let ignored = match role {
            Role::Doer | Role::Actuator | Role::Builder | Role::Implementer => KEPT_IGNORED_FILES,
            Role::Judge
            | Role::Auditor
            | Role::Sensor
            | Role::Controller
            | Role::Planner
            | Role::Evaluator
            | Role::Reviewer
            | Role::Investigator => KEPT_IF_FEW,
        };
        Self {
            path: context.worktree(role),
            key: context.index_key(role),
            kept_name: context.kept_name(role),
            ignored,
        }
    }

    /// Also where only the end of an earlier removal is missing.
    pub(super) fn is_there(&self, context: &RunContext) -> Result<bool, Fault> {
        if self.path.symlink_metadata().is_ok() {
            return Ok(true);
        }
        if !self.path.parent().is_some_and(std::path::Path::is_dir) {
            return Ok(false);
        }
        let worktree = context.repository.worktree_at(&self.path).map_err(git_fault)?;
        Ok(context.repository.removal_was_begun(&worktree))
    }
}

/// Why it goes and where its content is kept, or why it stays.
pub(super) fn worktree_of(
    context: &RunContext,
    corner: &Corner,
    base: &Commit,
    mode: CleanMode,
) -> Result<Result<String, String>, Fault> {
    let repository = &context.repository;
    let Corner { path, key, kept_name: name, ignored } = corner;
    let ignored = *ignored;
    let worktree = repository.worktree_at(path).map_err(git_fault)?;
    let locked = || "it is locked".to_owned();
    match repository.obstacle_to_removal(&worktree, key, base, ignored) {
        Ok(None) => {}
        Ok(Some(Obstacle::Locked)) => return Ok(Err(locked())),
        Ok(Some(Obstacle::CannotBeKept(hazards))) => return Ok(Err(unkept(&hazards))),
        Err(
            error @ (GitError::NotOurs { .. }
            | GitError::UnusableWorkspace { .. }
            | GitError::NotReadBack { .. }),
        ) => {
            return Ok(Err(error.to_string()));
        }
        Err(error) => return Err(git_fault(error)),
    }
    if mode == CleanMode::DryRun {
        return Ok(Ok(format!("its content would be kept as refs/windlass/kept/{name}")));
    }
    let keeping = Keeping { name, time: now(), ignored };
    match repository.remove_worktree(&worktree, key, base, &keeping) {
        Ok(Removal::Removed { kept: Some(kept) }) => {
            let but = kept.left_out.as_ref().map(left_out).unwrap_or_default();
            Ok(Ok(format!("its content{but} is kept as {}", kept.reference)))
        }
        Ok(Removal::Removed { kept: None }) => Ok(Ok("nothing in it was not kept already".to_owned())),
        // Somebody was faster between the look and the removal.
        Ok(Removal::NotEverythingCouldBeKept { kept }) => Ok(Err(unkept(&kept.hazards))),
        Ok(Removal::WrittenInMeanwhile { .. }) => Ok(Err(
            "somebody writes in it all the time; `windlass clean` again when that has ended".to_owned(),
        )),
        Ok(Removal::Locked) => Ok(Err(locked())),
        Err(error @ (GitError::NotReadBack { .. } | GitError::ForgedObject { .. })) => {
            Ok(Err(error.to_string()))
        }
        Err(error) => Err(git_fault(error)),
    }
}

fn left_out(left_out: &LeftOut) -> String {
    let LeftOut { files, bytes, caches } = left_out;
    let size = format!("{files} ignored files ({} MB)", bytes / (1024 * 1024));
    if caches.is_empty() {
        return format!(", but for {size} that checks made,");
    }
    let first: Vec<String> = caches.iter().take(3).map(ToString::to_string).collect();
    let more = if caches.len() > first.len() { ", …" } else { "" };
    format!(", but for {size} in caches ({}{more}),", first.join(", "))
}

/// A branch that holds nothing of its own goes; one that somebody committed to stays.
pub(super) fn branch_at_base(
    context: &RunContext,
    head: &RunHead,
    (branch, kept_name): (&str, &str),
    base: &Commit,
    mode: CleanMode,
    report: &mut CleanReport,
) -> Result<(), Fault> {
    let reference = format!("refs/heads/{branch}");
    match context.repository.read_reference(&reference).map_err(git_fault)? {
        Some(found) if found != base.id => {
            report.kept.push(item(head, "branch", branch, "somebody committed to it".to_owned()));
            Ok(())
        }
        found => remove_branch(context, head, (branch, kept_name), found, mode, report),
    }
}

/// What was committed on it may be nowhere else, so the branch goes only after a reference of ours holds its tip.
pub(super) fn branch_once_kept(
    context: &RunContext,
    head: &RunHead,
    (branch, kept_name): (&str, &str),
    mode: CleanMode,
    report: &mut CleanReport,
) -> Result<(), Fault> {
    let found = context.repository.read_reference(&format!("refs/heads/{branch}")).map_err(git_fault)?;
    remove_branch(context, head, (branch, kept_name), found, mode, report)
}

fn remove_branch(
    context: &RunContext,
    head: &RunHead,
    (branch, kept_name): (&str, &str),
    tip: Option<CommitId>,
    mode: CleanMode,
    report: &mut CleanReport,
) -> Result<(), Fault> {
    let Some(tip) = tip else { return Ok(()) };
    let repository = &context.repository;
    let name = format!("{kept_name}-branch");
    if mode == CleanMode::Remove {
        let keeping = Keeping { name: &name, time: now(), ignored: IgnoredFiles::LeftOut };
        let gone = repository
            .keep_branch(branch, &tip, &keeping)
            .and_then(|_| repository.delete_branch_if(branch, &tip));
        let stays = match gone {
            Ok(ReferenceUpdate::Updated) => None,
            Ok(ReferenceUpdate::Conflict { .. }) => Some("it moved just now".to_owned()),
            Err(error @ (GitError::ReferenceLocked { .. } | GitError::NotReadBack { .. })) => {
                Some(error.to_string())
            }
            Err(error) => return Err(git_fault(error)),
        };
        if let Some(why) = stays {
            report.kept.push(item(head, "branch", branch, why));
            return Ok(());
        }
    }
    let verb = if mode == CleanMode::DryRun { "would be" } else { "is" };
    let why = format!("where it stood {verb} kept as refs/windlass/kept/{name}");
    report.items.push(item(head, "branch", branch, why));
    Ok(())
}

/// What git cannot keep, told by the first few.
fn unkept(hazards: &[Hazard]) -> String {
    let first: Vec<String> = hazards.iter().take(3).map(ToString::to_string).collect();
    let more = if hazards.len() > first.len() { ", …" } else { "" };
    format!("{} things in it cannot be kept by git: {}{more}", hazards.len(), first.join(", "))
}

fn now() -> Moment {
    let seconds = i64::try_from(SystemClock.now().0 / 1000).unwrap_or(i64::MAX);
    Moment { seconds, offset_minutes: 0 }
}
