//! Which tree a role of a control loop looks at: the plant with the loop's files as they were last committed, and, for an
//! actuator, the plan it is to carry out.

use super::files::{self, LoopFile};
use super::leftovers;
use crate::context::{RunContext, git_commit, git_tree};
use crate::fault::{bug, git_fault};
use std::path::Path;
use windlass_artifact_formats::control_loop::paths::LOOP_DIRECTORY;
use windlass_control_api::Fault;
use windlass_git_workspaces::{Commit, Fingerprint, Overlay, TreeId};
use windlass_protocols::effect::RunAgent;
use windlass_protocols::protocol::feedback_control::end::NodeStatus;
use windlass_protocols::protocol::feedback_control::state::State;
use windlass_protocols::{Role, Run};

/// The newest commit of the loop's branch, or the base.
pub(in super::super) fn head(context: &RunContext, run: &Run) -> Result<Commit, Fault> {
    newest(context, files::state(run)?)
}

pub(super) fn newest(context: &RunContext, state: &State) -> Result<Commit, Fault> {
    let head = state.head.as_ref().ok_or_else(|| bug("a step of a control loop before its base is known"))?;
    context.repository.resolve_commit(git_commit(head)?.as_str()).map_err(git_fault)
}

pub(super) fn loop_directory() -> String {
    format!("{LOOP_DIRECTORY}/")
}

pub(super) fn tree(
    context: &RunContext,
    state: &State,
    plant: &windlass_protocols::TreeId,
    (removed, files): (&[&str], &[LoopFile]),
) -> Result<TreeId, Fault> {
    let (plant, head) = (git_tree(plant)?, newest(context, state)?);
    let directory = loop_directory();
    let replaced = [(directory.as_str(), Some(&head.tree))];
    let parts = Overlay { content: &plant, replaced: &replaced, removed, files };
    context.repository.overlay_to_show(&parts).map_err(git_fault)
}

/// What this agent is shown. A reader's comes with the fingerprint by which changes are told.
pub(in super::super) fn to_agent(
    context: &RunContext,
    asked: &RunAgent,
    run: &Run,
) -> Result<Option<Fingerprint>, Fault> {
    let tree = tree_for(context, asked.role, run)?;
    let state = files::state(run)?;
    let (path, key) = (context.worktree(asked.role), context.index_key(asked.role));
    if asked.role == Role::Actuator {
        leftovers::clear_away(context, state)?;
    }
    let shown = show(context, state, (&path, &key), &tree)?;
    Ok((!asked.role.may_write()).then_some(shown))
}

pub(in super::super) fn tree_for(context: &RunContext, role: Role, run: &Run) -> Result<TreeId, Fault> {
    let state = files::state(run)?;
    let plant =
        state.plant.as_ref().ok_or_else(|| bug("an agent of a control loop before its base is known"))?;
    let mut over = Vec::new();
    let mut gone = Vec::new();
    if role == Role::Actuator {
        let frame = files::frame(state)?;
        let paths = files::node_paths(context.control_loop()?, frame.depth)?;
        over.push(files::node_state(context, run, NodeStatus::Running)?);
        // What is found there afterwards is this actuator's report and no earlier one's.
        gone.push(paths.actuator_output());
        if let Some(decision) = &frame.decision {
            over.push((paths.controller_output(), context.evidence.read(&decision.artifact)?));
        }
    }
    let gone: Vec<&str> = gone.iter().map(String::as_str).collect();
    tree(context, state, plant, (&gone, &over))
}

/// For sensors that the engine runs on another content than the plant: the place where controllers look.
pub(in super::super) fn to_checks(
    context: &RunContext,
    run: &Run,
    plant: &windlass_protocols::TreeId,
) -> Result<Fingerprint, Fault> {
    let state = files::state(run)?;
    let tree = tree(context, state, plant, (&[], &[]))?;
    let (path, key) = (context.worktree(Role::Judge), context.index_key(Role::Judge));
    show(context, state, (&path, &key), &tree)
}

/// Makes a directory hold the tree, with git inside it standing, on no branch, at the loop's newest commit.
pub(super) fn show(
    context: &RunContext,
    state: &State,
    (path, key): (&Path, &str),
    tree: &TreeId,
) -> Result<Fingerprint, Fault> {
    let head = newest(context, state)?;
    context.repository.show_worktree((path, key), tree, &head.id).map_err(git_fault)
}
