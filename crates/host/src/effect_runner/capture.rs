//! Takes down what the maker left, as a tree id; the patch is only a rendering of it.

use crate::context::{RunContext, git_tree};
use crate::fault::{bug, git_fault};
use std::path::Path;
use windlass_control_api::Fault;
use windlass_git_workspaces::{GitError, Patch, SnapshotLimits};
use windlass_process_supervisor::QuickError;
use windlass_protocols::outcome::CapturedChange;
use windlass_protocols::protocol::Protocol;
use windlass_protocols::{Outcome, Role, Run, TreeId};

/// A patch beyond this is no change a person or a checker can look at.
const MAX_PATCH_BYTES: usize = 64 * 1024 * 1024;
/// More hazards than this say nothing new.
const MAX_HAZARDS: usize = 20;

pub(super) fn run(context: &RunContext, round: u32, run: &Run) -> Result<Outcome, Fault> {
    let base = base_tree(run)?;
    let base = git_tree(&base)?;
    let worktree = context.worktree(Role::Doer);
    let key = context.index_key(Role::Doer);
    let snapshot = match context.repository.snapshot(&worktree, &key, &base, SnapshotLimits::default()) {
        Ok(snapshot) => snapshot,
        Err(error) if comes_of_the_content(&error, &worktree) => {
            return Ok(Outcome::Refused { reason: error.to_string() });
        }
        Err(error) => return Err(git_fault(error)),
    };
    let mut hazards: Vec<String> =
        snapshot.hazards.iter().take(MAX_HAZARDS).map(ToString::to_string).collect();
    let patch = match context.repository.patch(&base, &snapshot.tree, MAX_PATCH_BYTES).map_err(git_fault)? {
        Patch::Complete(patch) => patch,
        Patch::TooLarge { limit } => {
            hazards.push(format!("the patch would be larger than {limit} bytes"));
            Vec::new()
        }
    };
    Ok(Outcome::ChangeCaptured(CapturedChange {
        round,
        tree: TreeId::new(snapshot.tree.as_str()),
        files_changed: snapshot.changes.len() as u64,
        hazards,
        patch: context.evidence.seal("patch.diff", &patch)?,
    }))
}

/// What the maker left makes it fail, and would again: a person has to look. Everything else is our own fault.
fn comes_of_the_content(error: &GitError, worktree: &Path) -> bool {
    match error {
        GitError::UnusableWorkspace { .. }
        | GitError::Command { .. }
        | GitError::Run(QuickError::Deadline { .. } | QuickError::OutputLimit { .. }) => true,
        GitError::Io { path, .. } => path.starts_with(worktree),
        _ => false,
    }
}

pub(super) fn base_tree(run: &Run) -> Result<TreeId, Fault> {
    match run.started.as_ref().map(|started| &started.protocol) {
        Some(Protocol::JudgedTask(state)) => state.base.as_ref().map(|(_, tree)| tree.clone()),
        None => None,
    }
    .ok_or_else(|| bug("a change is captured before the base is known"))
}
