//! What an actuator began and nobody took down: one that was stopped, cut off at a limit or killed. Its place is used again, so
//! its work is kept under a reference first, whatever is known of how it ended.

use super::super::loop_branch;
use super::capture::{agent_files, plant_in};
use super::shown;
use crate::context::RunContext;
use crate::fault::git_fault;
use crate::foreign::{ForeignShelf, is_real_directory};
use std::path::Path;
use windlass_artifact_formats::control_loop::is_loop_owned;
use windlass_control_api::Fault;
use windlass_git_workspaces::{Commit, Hazard, Snapshot, SnapshotLimits};
use windlass_protocols::Role;
use windlass_protocols::protocol::feedback_control::state::State;

/// So the names of the references begin, below `refs/windlass/kept/RUN/`.
pub(crate) const INTERRUPTED: &str = "interrupted-";

/// Before the actuator's place shows something else. What git cannot hold is moved away with the whole place.
pub(super) fn clear_away(context: &RunContext, state: &State) -> Result<(), Fault> {
    let place = context.worktree(Role::Actuator);
    if place.symlink_metadata().is_err() || is_kept(context, state, &place) {
        return Ok(());
    }
    ForeignShelf::of(context).take(&place, Path::new("worktrees/actuator")).map(drop)
}

fn is_kept(context: &RunContext, state: &State, place: &Path) -> bool {
    is_real_directory(place) && keep(context, state).is_ok_and(|left| left == Left::Safe)
}

/// What became of the content of the actuator's worktree.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Left {
    /// It is kept, or there is nothing to keep.
    Safe,
    /// Reading it would cost gigabytes; nothing of it is recorded.
    TooLarge,
}

/// The worktree itself says whether there is anything to keep: no counter of attempts outlives every way to end.
pub(super) fn keep(context: &RunContext, state: &State) -> Result<Left, Fault> {
    let repository = &context.repository;
    let (path, key) = (context.worktree(Role::Actuator), context.index_key(Role::Actuator));
    let worktree = repository.worktree_at(&path).map_err(git_fault)?;
    if state.head.is_none() || !is_real_directory(&path) || !repository.stands(&worktree) {
        return Ok(Left::Safe);
    }
    let head = shown::newest(context, state)?;
    let found = repository.snapshot(&path, &key, &head.tree, SnapshotLimits::default()).map_err(git_fault)?;
    if found.hazards.contains(&Hazard::NotRecorded) {
        return Ok(Left::TooLarge);
    }
    if !is_unfinished(context, state, (&head, &found))? {
        return Ok(Left::Safe);
    }
    let number = state.captures + 1;
    let what = format!("Unfinished work of the actuator before snapshot {number}");
    loop_branch::keep(context, &head, &found.tree, (&format!("{INTERRUPTED}{number}"), &what))?;
    Ok(Left::Safe)
}

/// Whether it is more than the loop's own files and none of the contents that were measured.
fn is_unfinished(
    context: &RunContext,
    state: &State,
    (head, found): (&Commit, &Snapshot),
) -> Result<bool, Fault> {
    let spec = context.control_loop()?;
    let named = agent_files(spec);
    let named: Vec<&str> = named.iter().map(String::as_str).collect();
    if found.changes.iter().all(|change| is_loop_owned(&change.path.to_string(), &named)) {
        return Ok(false);
    }
    let plant = plant_in(context, spec, (&found.tree, &head.tree))?;
    let measured = state.stack.iter().flat_map(|frame| frame.steadiness.points()).map(|point| &point.plant);
    let mut known = state.plant.iter().chain(measured);
    Ok(known.all(|known| known.as_str() != plant.as_str()))
}
