//! Leaves the actuator's worktree as a finished run leaves it: on the last commit of the loop's branch.

use super::files;
use super::shown;
use crate::context::RunContext;
use windlass_control_api::Fault;
use windlass_protocols::protocol::feedback_control::end::End;
use windlass_protocols::{Outcome, Role, Run};

pub(in super::super) fn run(context: &RunContext, run: &Run) -> Result<Outcome, Fault> {
    let state = files::state(run)?;
    let finished = matches!(state.end, Some(End::Complete | End::Stalled { .. } | End::Exhausted { .. }))
        && state.frame().is_some_and(|frame| frame.committed);
    // What an interrupted actuator left is kept where it is, for whoever looks or goes on.
    if finished {
        let head = shown::newest(context, state)?;
        let (path, key) = (context.worktree(Role::Actuator), context.index_key(Role::Actuator));
        shown::show(context, state, (&path, &key), &head.tree)?;
    }
    Ok(Outcome::Closed)
}
