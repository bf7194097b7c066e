//! Which milestones a closeout may move: the one its round is about, and others only when nothing they depend on is open.
//! And which it may point from: those it moves, and its round's own.
//! Whether the edits still fit the files is not known here.

use crate::fault::excerpt;
use crate::roadmap_loop::closeout::{Closeout, CompletionPointer, MilestoneStatus};
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
    let moved = others
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
        });
    moved.chain(misplaced(roadmap, closeout, own)).collect()
}

/// Pointers of labelled Markdown, which name milestones; those of records name anchors of the view.
fn misplaced(roadmap: &Roadmap, closeout: &Closeout, own: &str) -> Vec<String> {
    if roadmap.milestones.iter().any(|milestone| milestone.completion_anchor.is_some()) {
        return Vec::new();
    }
    let admitted =
        |id: &str| id == own || closeout.status_changes.iter().any(|change| change.milestone_id == id);
    let names = closeout.completion_pointers.iter().map(|pointer| named(roadmap, pointer));
    names
        .filter(|id| !admitted(id))
        .map(|id| {
            let about = match roadmap.milestone(id) {
                Some(_) => {
                    format!("whose status the closeout does not change, and this round is about {own}")
                }
                None => "which the roadmap does not have".to_owned(),
            };
            format!("a completion pointer names the milestone {}, {about} (rule 25.2)", excerpt(id))
        })
        .collect()
}

/// The milestone a pointer is for, also where its id stands before the text without any marks.
fn named<'p>(roadmap: &Roadmap, pointer: &'p CompletionPointer) -> &'p str {
    let before = pointer.text.split_once(':').map(|(before, _)| before.trim());
    before.filter(|id| roadmap.milestone(id).is_some()).unwrap_or(&pointer.anchor_or_milestone)
}
