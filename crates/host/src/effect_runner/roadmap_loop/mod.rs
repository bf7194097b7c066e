//! The steps of a roadmap loop's controller, one function each. Which comes next is decided elsewhere; every one of them can
//! be carried out twice and comes to the same.

pub(super) mod answer;
pub(super) mod close;
mod plane;
pub(super) mod prepare;
pub(super) mod prompt;
pub(super) mod shown;
mod state;

use crate::context::RunContext;
use crate::control_plane;
use std::path::PathBuf;
use windlass_control_api::Fault;
use windlass_protocols::effect::PlaneStep;
use windlass_protocols::{Outcome, Run};

pub(super) fn run(context: &RunContext, step: &PlaneStep, _run: &Run) -> Result<Outcome, Fault> {
    match step {
        PlaneStep::Read { .. } => plane::run(context),
        PlaneStep::WriteState(asked) => state::run(context, asked),
        PlaneStep::OpenWorktree(_)
        | PlaneStep::CaptureWork(_)
        | PlaneStep::CombineWork(_)
        | PlaneStep::FinalizeRound(_)
        | PlaneStep::PublishUpdate(_) => {
            Ok(Outcome::Refused { reason: format!("this version cannot {} yet", step.name()) })
        }
    }
}

pub(super) fn worktree_path(context: &RunContext, recorded: &str) -> PathBuf {
    control_plane::worktree_path(context.repository.checkout().work_tree(), recorded)
}

/// A round's id as the name of one folder: ids are free texts of a file that anybody may edit.
pub(super) fn folder_name(round: &str) -> String {
    let plain = |c: char| if c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.') { c } else { '-' };
    let name: String = round.chars().map(plain).take(100).collect();
    if name.starts_with('.') || name.is_empty() { format!("_{name}") } else { name }
}
