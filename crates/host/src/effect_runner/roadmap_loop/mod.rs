//! The steps of a roadmap loop's controller, one function each. Which comes next is decided elsewhere; every one of them can
//! be carried out twice and comes to the same.

pub(super) mod answer;
mod bundle;
mod capture;
pub(super) mod close;
mod combine;
mod committed_state;
mod finalize;
mod gate;
mod hidden;
mod landing;
pub(super) mod prepare;
pub(super) mod prompt;
mod publish;
mod read;
mod set_aside;
pub(super) mod shown;
mod site;
mod state;
mod take_up;
#[cfg(test)]
mod tests;
mod worktrees;
mod written_by;

pub(crate) use read::LAST_GOOD_STATE;

use crate::context::RunContext;
use crate::control_plane;
use crate::fault::bug;
use site::Site;
use std::path::PathBuf;
use windlass_control_api::Fault;
use windlass_protocols::effect::PlaneStep;
use windlass_protocols::protocol::Protocol;
use windlass_protocols::protocol::roadmap_rounds::plane::Plane;
use windlass_protocols::protocol::roadmap_rounds::steps::PlaneOutcome;
use windlass_protocols::{EffectId, Outcome, Run};

pub(super) fn run(
    context: &RunContext,
    effect: EffectId,
    step: &PlaneStep,
    run: &Run,
) -> Result<Outcome, Fault> {
    let site = Site::of(context, effect);
    let ended = match step {
        PlaneStep::OpenWorktree(asked) => worktrees::open(&site, asked, plane(run)?),
        PlaneStep::CaptureWork(asked) => capture::run(&site, asked, plane(run)?),
        PlaneStep::SetAside(asked) => set_aside::run(&site, asked, plane(run)?),
        PlaneStep::TakeUp(asked) => take_up::run(&site, asked, plane(run)?),
        PlaneStep::CombineWork(asked) => combine::run(&site, asked),
        PlaneStep::LookAtGate(asked) => gate::look(context, &site, asked),
        PlaneStep::FinalizeRound(asked) => finalize::run(&site, asked, plane(run)?),
        PlaneStep::PublishUpdate(asked) => publish::run(&site, asked, plane(run)?),
        PlaneStep::Read { .. } => return read::run(context),
        PlaneStep::WriteState(asked) => {
            return state::run(context, asked).map(|ended| and_look(context, ended));
        }
    };
    site::outcome(ended).map(|ended| and_look(context, ended))
}

/// Who did something looks at what stands there now, for that is what comes next: one step of the journal is saved. What
/// cannot be read is left to a reading of its own, which says why and keeps what has to be kept.
fn and_look(context: &RunContext, ended: Outcome) -> Outcome {
    match ended {
        Outcome::Plane(did) if did.is_a_deed() => match read::look(context) {
            Ok(Ok(plane)) => Outcome::Plane(PlaneOutcome::Looked { after: Box::new(did), plane }),
            Ok(Err(_)) | Err(_) => Outcome::Plane(did),
        },
        ended => ended,
    }
}

/// As it was last read: every step but the first looks back at it.
fn plane(run: &Run) -> Result<&Plane, Fault> {
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

/// Names the private index of a worktree of a round.
pub(crate) fn index_key(recorded: &str) -> String {
    Site::key(recorded)
}

/// A round's id as the name of one folder: ids are free texts of a file that anybody may edit.
pub(super) fn folder_name(round: &str) -> String {
    let plain = |c: char| if c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.') { c } else { '-' };
    let name: String = round.chars().map(plain).take(100).collect();
    if name.starts_with('.') || name.is_empty() { format!("_{name}") } else { name }
}
