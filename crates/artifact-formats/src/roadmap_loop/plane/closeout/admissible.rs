//! Which milestones a closeout may move: the one its round is about, and others only when nothing they depend on is open.
//! Whether the edits still fit the files is not known here.

use crate::roadmap_loop::closeout::{Closeout, MilestoneStatus};
use crate::roadmap_loop::plane::roadmap::Roadmap;

pub(super) fn faults(roadmap: &Roadmap, closeout: &Closeout, own: &str) -> Vec<String> {
    let is_done = |id: &String| {
        let by_this = closeout
            .status_changes
            .iter()
            .any(|change| change.milestone_id == *id && change.target_status == MilestoneStatus::Done);
        by_this || roadmap.milestone(id).is_some_and(|found| found.status == MilestoneStatus::Done)
    };
    let others = closeout.status_changes.iter().filter(|change| change.milestone_id != own);
    others
        .filter_map(|change| {
            let milestone = roadmap.milestone(&change.milestone_id)?;
            let open: Vec<&str> =
                milestone.depends_on.iter().filter(|id| !is_done(id)).map(String::as_str).collect();
            (!open.is_empty()).then(|| {
                format!(
                    "the closeout sets {} to {}, but this round is about {own}, and {} depends on {}, which is not done \
                     (rule 12)",
                    milestone.id,
                    change.target_status,
                    milestone.id,
                    open.join(", ")
                )
            })
        })
        .collect()
}
