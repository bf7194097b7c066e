//! Gate integrity: what a change did to its own measures, seen in trees and in what the checks do without it. Every loop
//! uses the same look; what a finding leads to is decided by the loop.

use windlass_protocols::protocol::Spec;

pub(super) mod inspect;
pub(crate) mod tools;
pub(super) mod touched;

/// The commands by which a loop measures a change; what they run is protected.
pub(super) fn measures(spec: &Spec) -> Vec<String> {
    match spec {
        Spec::JudgedTask(spec) => spec.checks.clone(),
        Spec::FeedbackControl(spec) => spec.commands(),
        Spec::GoalContract(spec) => spec.measures().cloned().collect(),
        Spec::RoadmapRounds(spec) => spec.checks.clone(),
    }
}
