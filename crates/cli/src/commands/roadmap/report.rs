//! What a roadmap loop came to, for `run`, `show`, `resume` and `status`: milestones, live rounds, and the commits to read.

use crate::commands::outcome::short;
use crate::output::{Fields, printable};
use std::fmt::Write as _;
use windlass_control_api::roadmap_loop::{LiveRound, LiveUpdate, MilestoneView, RoadmapReport};

pub(in crate::commands) fn add(roadmap: &RoadmapReport, fields: &mut Fields) {
    fields.add("result", roadmap.outcome.clone().unwrap_or_default());
    let named = roadmap.roadmap.as_deref().zip(roadmap.revision.as_deref());
    fields.add(
        "roadmap",
        named.map(|(id, revision)| format!("{} {revision}", printable(id))).unwrap_or_default(),
    );
    fields.add("base branch", printable(&roadmap.base_branch));
    let most = roadmap.rounds_allowed.map(|most| format!(" of {most}")).unwrap_or_default();
    fields.add("rounds", format!("{} opened{most}, {} merged", roadmap.rounds_opened, roadmap.merged.len()));
    fields.add_all("milestones", roadmap.milestones.iter().map(milestone_line));
    fields.add_all("live", roadmap.rounds.iter().map(round_line));
    fields.add("update", roadmap.update.as_ref().map(update_line).unwrap_or_default());
    let merged = roadmap.merged.iter().map(|one| (&one.commit, &one.round));
    let revised = roadmap.revisions.iter().map(|one| (&one.commit, &one.revision));
    let read = merged.chain(revised);
    fields.add_all(
        "read these",
        read.map(|(commit, what)| format!("git show {}   ({})", short(commit), printable(what))),
    );
}

fn milestone_line(milestone: &MilestoneView) -> String {
    format!("[{}] {} {}", milestone.status, printable(&milestone.id), printable(&milestone.title))
}

// Writing to a string cannot fail.
fn round_line(round: &LiveRound) -> String {
    let mut line = format!("{} at {}", printable(&round.id), round.stage);
    if let (Some(milestone), Some(item)) = (&round.milestone, &round.item) {
        let _ = write!(line, ", {} of {}", printable(item), printable(milestone));
    }
    match round.rejections {
        0 => {}
        1 => line.push_str(", rejected once"),
        more => {
            let _ = write!(line, ", rejected {more} times");
        }
    }
    if let Some(trouble) = &round.trouble {
        let _ = write!(line, " ({})", printable(trouble));
    }
    line
}

fn update_line(update: &LiveUpdate) -> String {
    format!(
        "{} to {} after {}: {}, attempt {}",
        update.from,
        update.to,
        printable(&update.source_round),
        update.status,
        update.attempt
    )
}
