//! Which tree a role of a goal loop looks at: the content in question with the loop's files as they were last committed,
//! and, before something is built, as they stand now.

use super::files;
use crate::context::{RunContext, git_commit, git_tree};
use crate::fault::{bug, git_fault};
use std::path::Path;
use windlass_control_api::Fault;
use windlass_git_workspaces::{Commit, Fingerprint, Overlay, TreeId};
use windlass_protocols::effect::RunAgent;
use windlass_protocols::protocol::goal_contract::state::State;
use windlass_protocols::{CommitId, Role, Run};

/// Where the agents of a run look.
pub(in super::super) fn head(context: &RunContext, run: &Run) -> Result<Commit, Fault> {
    looked_at(context, files::state(run)?)
}

/// The newest commit of the loop, or the base.
pub(super) fn newest(context: &RunContext, state: &State) -> Result<Commit, Fault> {
    commit(context, state.head.as_ref().map(|(commit, _)| commit))
}

/// The commit an iteration began on, and between iterations the newest one. A run that was cut off has a closing commit by
/// the time its builder goes on: whoever did not see that one has neither committed nor edited what differs.
pub(super) fn looked_at(context: &RunContext, state: &State) -> Result<Commit, Fault> {
    match state.open.as_ref().and_then(|open| open.on.as_ref()) {
        Some(on) => commit(context, Some(on)),
        None => newest(context, state),
    }
}

fn commit(context: &RunContext, id: Option<&CommitId>) -> Result<Commit, Fault> {
    let head = id.ok_or_else(|| bug("a step of a goal loop before its base is known"))?;
    context.repository.resolve_commit(git_commit(head)?.as_str()).map_err(git_fault)
}

/// The content with the loop's committed files, and these over them.
pub(super) fn tree(
    context: &RunContext,
    state: &State,
    plant: &windlass_protocols::TreeId,
    over: &[files::LoopFile],
) -> Result<TreeId, Fault> {
    let head = looked_at(context, state)?;
    let replaced = files::owned_from(Some(&head.tree));
    let parts = Overlay { content: &git_tree(plant)?, replaced: &replaced, removed: &[], files: over };
    context.repository.overlay(&parts).map_err(git_fault)
}

pub(in super::super) fn tree_for(context: &RunContext, asked: &RunAgent, run: &Run) -> Result<TreeId, Fault> {
    let state = files::state(run)?;
    let plant = asked.tree.as_ref().ok_or_else(|| bug("an agent of a goal loop without a tree"))?;
    let over =
        if asked.role == Role::Evaluator { Vec::new() } else { files::before_building(context, state)? };
    tree(context, state, plant, &over)
}

/// What this agent is shown. A reader's comes with the fingerprint by which changes are told.
pub(in super::super) fn to_agent(
    context: &RunContext,
    asked: &RunAgent,
    run: &Run,
) -> Result<Option<Fingerprint>, Fault> {
    let state = files::state(run)?;
    let (path, key) = (context.worktree(asked.role), context.index_key(asked.role));
    if asked.role.may_write() && asked.attempt > 1 && stands(context, &path)? {
        // It goes on with what it or a builder that was cut off left: nothing of that is thrown away.
        return Ok(None);
    }
    let tree = tree_for(context, asked, run)?;
    let shown = show(context, state, (&path, &key), &tree)?;
    Ok((!asked.role.may_write()).then_some(shown))
}

fn stands(context: &RunContext, path: &Path) -> Result<bool, Fault> {
    let worktree = context.repository.worktree_at(path).map_err(git_fault)?;
    Ok(context.repository.stands(&worktree))
}

/// For the engine's own checks: the place where evaluators look, showing exactly this content.
pub(in super::super) fn to_checks(
    context: &RunContext,
    run: &Run,
    plant: &windlass_protocols::TreeId,
) -> Result<Fingerprint, Fault> {
    let state = files::state(run)?;
    let tree = tree(context, state, plant, &[])?;
    let (path, key) = (context.worktree(Role::Evaluator), context.index_key(Role::Evaluator));
    show(context, state, (&path, &key), &tree)
}

/// Makes a directory hold the tree, with git inside it standing, on no branch, at the loop's newest commit.
pub(super) fn show(
    context: &RunContext,
    state: &State,
    (path, key): (&Path, &str),
    tree: &TreeId,
) -> Result<Fingerprint, Fault> {
    let head = looked_at(context, state)?;
    context.repository.show_worktree((path, key), tree, &head.id).map_err(git_fault)
}
