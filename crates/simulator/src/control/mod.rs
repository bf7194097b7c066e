//! What the control loop needs of the simulation: its specs, a plant that responds to what is done to it, answers, a branch
//! that remembers its commits, and what is held against the run.

mod answers;
pub(crate) mod branch;
pub(crate) mod checks;
pub(crate) mod coverage;
pub(crate) mod plant;
pub(crate) mod profile;

use windlass_protocols::Run;
use windlass_protocols::protocol::Protocol;
use windlass_protocols::protocol::feedback_control::state::State;

pub(crate) fn control_state(run: &Run) -> Option<&State> {
    match run.started.as_ref().map(|started| &started.protocol) {
        Some(Protocol::FeedbackControl(state)) => Some(state),
        Some(Protocol::JudgedTask(_) | Protocol::GoalContract(_) | Protocol::RoadmapRounds(_)) | None => None,
    }
}
