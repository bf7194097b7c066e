//! What the roadmap loop needs of the simulation: specs, a repository with a control plane, agents that leave good and bad
//! files in their worktrees, people who edit what they like, and what is held against the run.

mod agents;
mod answers;
pub(crate) mod checks;
pub(crate) mod coverage;
pub(crate) mod file;
mod people;
pub(crate) mod planted;
pub(crate) mod profile;
mod reading;
pub(crate) mod repo;

use windlass_protocols::Run;
use windlass_protocols::protocol::Protocol;
use windlass_protocols::protocol::roadmap_rounds::state::State;

pub(crate) fn roadmap_state(run: &Run) -> Option<&State> {
    match run.started.as_ref().map(|started| &started.protocol) {
        Some(Protocol::RoadmapRounds(state)) => Some(state),
        Some(Protocol::JudgedTask(_) | Protocol::FeedbackControl(_) | Protocol::GoalContract(_)) | None => {
            None
        }
    }
}
