//! Takes down what the maker left, as a tree id; the patch is only a rendering of it.

use super::gate::touched::{self, Looked};
use crate::context::{RunContext, git_tree};
use crate::fault::{bug, git_fault};
use std::path::Path;
use windlass_control_api::Fault;
use windlass_git_workspaces::{GitError, Patch, Snapshot, SnapshotLimits};
use windlass_process_supervisor::QuickError;
use windlass_protocols::outcome::CapturedChange;
use windlass_protocols::protocol::Protocol;
use windlass_protocols::{ArtifactRef, Outcome, Role, Run, TreeId};

/// A patch beyond this is no change a person or a checker can look at.
const MAX_PATCH_BYTES: usize = 64 * 1024 * 1024;
/// More hazards than this say nothing new.
const MAX_HAZARDS: usize = 20;

pub(super) fn run(context: &RunContext, round: u32, run: &Run) -> Result<Outcome, Fault> {
    let base = git_tree(&base_tree(run)?)?;
    if let Some(tree) = handed_back(run) {
        super::by_hand::bring_in(context, tree)?;
    }
    let taken = match take(context, Role::Doer, &base)? {
        Ok(taken) => taken,
        Err(reason) => return Ok(Outcome::Refused { reason }),
    };
    let (patch, too_large) = patch(context, &base, &taken.snapshot.tree)?;
    let looked = if taken.hazards.is_empty() {
        look_at_gate(context, (&base, &taken.snapshot.tree))?
    } else {
        Looked::default()
    };
    Ok(Outcome::ChangeCaptured(CapturedChange {
        round,
        tree: TreeId::new(taken.snapshot.tree.as_str()),
        files_changed: taken.snapshot.changes.len() as u64,
        fingerprint: None,
        hazards: taken.hazards.into_iter().chain(too_large).collect(),
        patch,
        reverted: Vec::new(),
        findings: Vec::new(),
        left_out: Vec::new(),
        protected: looked.touched,
        gate: looked.findings,
    }))
}

/// What the change did to its own measures.
pub(super) fn look_at_gate(
    context: &RunContext,
    trees: (&windlass_git_workspaces::TreeId, &windlass_git_workspaces::TreeId),
) -> Result<Looked, Fault> {
    if context.spec.place().gate.is_off() {
        return Ok(Looked::default());
    }
    touched::look(context, trees)
}

pub(super) struct Taken {
    pub(super) snapshot: Snapshot,
    pub(super) hazards: Vec<String>,
}

/// What a maker's worktree holds, or why it cannot be said.
pub(super) fn take(
    context: &RunContext,
    role: Role,
    base: &windlass_git_workspaces::TreeId,
) -> Result<Result<Taken, String>, Fault> {
    if let Some(layered) = context.layered(role)? {
        let taken = layered.changes(context, (role, base), SnapshotLimits::default());
        return taken_or_why(taken, &layered.layers.upper());
    }
    take_from(context, role, (&context.worktree(role), &context.index_key(role)), base)
}

/// The same of any place in which somebody does that role's work.
pub(super) fn take_from(
    context: &RunContext,
    role: Role,
    (worktree, key): (&Path, &str),
    base: &windlass_git_workspaces::TreeId,
) -> Result<Result<Taken, String>, Fault> {
    let (repository, limits) = (&context.repository, SnapshotLimits::default());
    // Of what an actuator left another tree is made, and only that one is spoken of.
    let taken = match role {
        Role::Actuator => repository.snapshot_to_build_on(worktree, key, base, limits),
        _ => repository.snapshot(worktree, key, base, limits),
    };
    taken_or_why(taken, worktree)
}

fn taken_or_why(taken: Result<Snapshot, GitError>, worktree: &Path) -> Result<Result<Taken, String>, Fault> {
    match taken {
        Ok(snapshot) => {
            let hazards = snapshot.hazards.iter().take(MAX_HAZARDS).map(ToString::to_string).collect();
            Ok(Ok(Taken { snapshot, hazards }))
        }
        Err(error) if comes_of_the_content(&error, worktree) => Ok(Err(error.to_string())),
        Err(error) => Err(git_fault(error)),
    }
}

/// The difference as a sealed rendering, and what is hazardous about it.
pub(super) fn patch(
    context: &RunContext,
    base: &windlass_git_workspaces::TreeId,
    tree: &windlass_git_workspaces::TreeId,
) -> Result<(ArtifactRef, Vec<String>), Fault> {
    let (patch, hazards) = match context.repository.patch(base, tree, MAX_PATCH_BYTES).map_err(git_fault)? {
        Patch::Complete(patch) => (patch, Vec::new()),
        Patch::TooLarge { limit } => {
            (Vec::new(), vec![format!("the patch would be larger than {limit} bytes")])
        }
    };
    Ok((context.evidence.seal("patch.diff", &patch)?, hazards))
}

/// What the maker left makes it fail, and would again: a person has to look. Everything else is our own fault.
pub(super) fn comes_of_the_content(error: &GitError, worktree: &Path) -> bool {
    match error {
        GitError::UnusableWorkspace { .. }
        | GitError::Command { .. }
        | GitError::Run(QuickError::Deadline { .. } | QuickError::OutputLimit { .. }) => true,
        GitError::Io { path, .. } => path.starts_with(worktree),
        _ => false,
    }
}

fn handed_back(run: &Run) -> Option<&TreeId> {
    match &run.started.as_ref()?.protocol {
        Protocol::JudgedTask(state) => state.handed_back.as_ref(),
        Protocol::FeedbackControl(_) | Protocol::GoalContract(_) | Protocol::RoadmapRounds(_) => None,
    }
}

pub(super) fn base_tree(run: &Run) -> Result<TreeId, Fault> {
    match run.started.as_ref().map(|started| &started.protocol) {
        Some(Protocol::JudgedTask(state)) => state.base.as_ref().map(|(_, tree)| tree.clone()),
        Some(Protocol::FeedbackControl(_) | Protocol::GoalContract(_) | Protocol::RoadmapRounds(_))
        | None => None,
    }
    .ok_or_else(|| bug("a change is captured before the base is known"))
}
