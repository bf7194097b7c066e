//! What a run on a control plane would do first, in one sentence, in the order of the startup procedure. It tells; what is done is
//! decided in `next.rs`, which also sees what a run remembers.

use super::book::proven;
use super::plane::{ControllerStage, Plane, RoundStage};
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

/// In the order of the startup procedure.
pub fn outlook(plane: &Plane) -> String {
    if let Some(update) = &plane.update {
        return format!(
            "go on with the roadmap update to {} ({}, attempt {})",
            update.proposed_revision,
            update_word(update.status),
            update.attempt
        );
    }
    let blocked: Vec<&str> = plane
        .rounds
        .iter()
        .filter(|round| round.stage == RoundStage::Blocked)
        .map(|round| round.id.as_str())
        .collect();
    if plane.stage == ControllerStage::Blocked || !blocked.is_empty() || !plane.errors.is_empty() {
        let what = if blocked.is_empty() { "the controller".to_string() } else { blocked.join(", ") };
        return format!("leave the blockage of {what} and go on from what its artifacts prove");
    }
    if plane.rounds.is_empty() {
        return if plane.is_terminal() {
            "stop: every milestone is done".to_string()
        } else {
            format!("open round-{:03} and ask its planner", plane.next_number)
        };
    }
    let resumed: Vec<String> = plane
        .rounds
        .iter()
        .map(|round| {
            let shown = proven(&round.evidence);
            let later = if shown > round.stage {
                format!(", its artifacts prove {}", shown.word())
            } else {
                String::new()
            };
            format!("{} at {}{later}", round.id, round.stage.word())
        })
        .collect();
    format!("resume {}", resumed.join("; "))
}

const fn update_word(status: super::plane::UpdateStatus) -> &'static str {
    use super::plane::UpdateStatus;
    match status {
        UpdateStatus::Authoring => "authoring",
        UpdateStatus::Review => "in review",
        UpdateStatus::Rejected => "rejected",
        UpdateStatus::Approved => "approved",
        UpdateStatus::Blocked => "blocked",
    }
}
