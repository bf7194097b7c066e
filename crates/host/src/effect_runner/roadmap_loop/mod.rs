//! The steps of a roadmap loop's controller, one function each. Which comes next is decided elsewhere; every one of them can
//! be carried out twice and comes to the same.

pub(super) mod answer;
pub(super) mod close;
pub(super) mod prepare;
pub(super) mod prompt;
pub(super) mod shown;

use crate::context::RunContext;
use std::path::{Path, PathBuf};
use windlass_control_api::Fault;
use windlass_protocols::effect::PlaneStep;
use windlass_protocols::{Outcome, Run};

pub(super) fn run(_context: &RunContext, step: &PlaneStep, _run: &Run) -> Result<Outcome, Fault> {
    Ok(Outcome::Refused { reason: format!("this version cannot {} yet", step.name()) })
}

/// A recorded worktree: paths in the state file are the repository's unless they are absolute.
pub(super) fn worktree_path(context: &RunContext, recorded: &str) -> PathBuf {
    Path::new(&context.spec.place().repository).join(recorded)
}
