//! Leaves the actuator's worktree as a finished run leaves it: on the last commit of the loop's branch. What an actuator left
//! unfinished is kept first, under a reference that the report names.

use super::files;
use super::leftovers::{self, Left};
use super::shown;
use crate::context::RunContext;
use windlass_control_api::Fault;
use windlass_protocols::protocol::feedback_control::end::End;
use windlass_protocols::{Outcome, Role, Run};

pub(in super::super) fn run(context: &RunContext, run: &Run) -> Result<Outcome, Fault> {
    let state = files::state(run)?;
    let finished = matches!(state.end, Some(End::Complete | End::Stalled { .. } | End::Exhausted { .. }))
        && state.frame().is_some_and(|frame| frame.committed);
    // What cannot be kept stays where it is, for whoever looks or goes on; no run is held up by it.
    let kept = leftovers::keep(context, state).is_ok_and(|left| left == Left::Safe);
    if finished && kept {
        let head = shown::newest(context, state)?;
        let (path, key) = (context.worktree(Role::Actuator), context.index_key(Role::Actuator));
        shown::show(context, state, (&path, &key), &head.tree)?;
    }
    Ok(Outcome::Closed)
}
