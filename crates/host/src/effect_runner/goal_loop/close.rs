//! Leaves the builder's worktree as a finished run leaves it: on the last commit of the loop.

use super::files;
use super::shown;
use crate::context::RunContext;
use windlass_control_api::Fault;
use windlass_protocols::protocol::goal_contract::end::End;
use windlass_protocols::{Outcome, Role, Run};

pub(in super::super) fn run(context: &RunContext, run: &Run) -> Result<Outcome, Fault> {
    let state = files::state(run)?;
    // What an unfinished item holds is kept where it is, for whoever looks or goes on.
    if state.end == Some(End::Success) {
        let head = shown::newest(context, state)?;
        let (path, key) = (context.worktree(Role::Builder), context.index_key(Role::Builder));
        shown::show(context, state, (&path, &key), &head.tree)?;
    }
    Ok(Outcome::Closed)
}
