//! The steps of a roadmap loop's controller, one function each. Which comes next is decided elsewhere; every one of them can
//! be carried out twice and comes to the same.

pub(super) mod answer;
mod bundle;
mod capture;
pub(super) mod close;
mod combine;
mod finalize;
mod landing;
mod plane;
pub(super) mod prepare;
pub(super) mod prompt;
mod publish;
pub(super) mod shown;
mod site;
mod state;
#[cfg(test)]
mod tests;
mod worktrees;
mod written_by;

use crate::context::RunContext;
use crate::control_plane;
use crate::fault::bug;
use site::Site;
use std::path::PathBuf;
use windlass_control_api::Fault;
use windlass_protocols::effect::PlaneStep;
use windlass_protocols::protocol::Protocol;
use windlass_protocols::protocol::roadmap_rounds::plane::Plane;
use windlass_protocols::{EffectId, Outcome, Run};

pub(super) fn run(
    context: &RunContext,
    effect: EffectId,
    step: &PlaneStep,
    run: &Run,
) -> Result<Outcome, Fault> {
    let site = Site::of(context, effect);
    let ended = match step {
        PlaneStep::Read { .. } => return plane::run(context),
        PlaneStep::WriteState(asked) => return state::run(context, asked),
        PlaneStep::OpenWorktree(asked) => worktrees::open(&site, asked, last_read(run)?),
        PlaneStep::CaptureWork(asked) => capture::run(&site, asked, last_read(run)?),
        PlaneStep::CombineWork(asked) => combine::run(&site, asked),
        PlaneStep::FinalizeRound(asked) => finalize::run(&site, asked, last_read(run)?),
        PlaneStep::PublishUpdate(asked) => publish::run(&site, asked, last_read(run)?),
    };
    site::outcome(ended)
}

/// The plane as it was last read: every step but the first looks back at it.
fn last_read(run: &Run) -> Result<&Plane, Fault> {
    match run.started.as_ref().map(|started| &started.protocol) {
        Some(Protocol::RoadmapRounds(state)) => {
            state.plane.as_ref().ok_or_else(|| bug("a step of a roadmap loop before its plane was read"))
        }
        _ => Err(bug("a step of a roadmap loop in another loop")),
    }
}

pub(super) fn worktree_path(context: &RunContext, recorded: &str) -> PathBuf {
    control_plane::worktree_path(context.repository.checkout().work_tree(), recorded)
}
