//! What the next revision of a roadmap may say about states: what was reached stays reached, and nothing is reached by being
//! written down. Only rounds finish milestones.

use super::Roadmap;
use crate::roadmap_loop::closeout::MilestoneStatus::Done;

/// Every milestone whose state the proposed revision does not carry over, in sentences.
pub fn states_not_carried_over(prior: &Roadmap, proposed: &Roadmap) -> Vec<String> {
    let mut found = Vec::new();
    for milestone in proposed.milestones.iter().filter(|milestone| milestone.status == Done) {
        let id = &milestone.id;
        match prior.milestone(id).map(|known| known.status) {
            Some(Done) => {}
            Some(status) => found.push(format!(
                "{id} is {status}, and the proposed revision calls it done: only a round finishes a milestone (rule 13.6)"
            )),
            None => found.push(format!(
                "{id} is new, and the proposed revision calls it done: only a round finishes a milestone (rule 13.6)"
            )),
        }
    }
    for milestone in prior.milestones.iter().filter(|milestone| milestone.status == Done) {
        let id = &milestone.id;
        match proposed.milestone(id).map(|known| known.status) {
            Some(Done) => {}
            Some(status) => found.push(format!(
                "{id} is done, and the proposed revision calls it {status}: finished milestones stay finished (rule 13.6)"
            )),
            None => found.push(format!(
                "{id} is done, and the proposed revision does not have it: finished milestones stay, under their id \
                 (rule 13.6)"
            )),
        }
    }
    found
}
