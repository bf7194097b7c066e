//! What the goal loop needs of the simulation: specs, a queue that people edit, content that builders change, answers, a
//! branch that remembers its commits, people who have their say, and what is held against the run.

mod answers;
pub(crate) mod backlog;
pub(crate) mod checks;
pub(crate) mod coverage;
pub(crate) mod history;
pub(crate) mod people;
pub(crate) mod planted;
pub(crate) mod profile;
pub(crate) mod works;

use std::collections::BTreeSet;
use windlass_protocols::protocol::Protocol;
use windlass_protocols::protocol::goal_contract::queue::Queue;
use windlass_protocols::protocol::goal_contract::state::State;
use windlass_protocols::{Run, TreeId};

pub(crate) fn goal_state(run: &Run) -> Option<&State> {
    match run.started.as_ref().map(|started| &started.protocol) {
        Some(Protocol::GoalContract(state)) => Some(state),
        Some(Protocol::JudgedTask(_) | Protocol::FeedbackControl(_) | Protocol::RoadmapRounds(_)) | None => {
            None
        }
    }
}

/// What is so in the world of a goal loop, whatever anybody reports.
#[derive(Default)]
pub(crate) struct GoalTruth {
    /// The files people edit; absent until somebody reads them.
    pub(crate) queue: Option<Queue>,
    pub(crate) works: works::Works,
    pub(crate) history: history::History,
    /// Which evaluator said yes to which item of which tree, without having touched it.
    pub(crate) passed: BTreeSet<(String, TreeId)>,
    /// What people said yes to.
    pub(crate) approved: BTreeSet<String>,
}
