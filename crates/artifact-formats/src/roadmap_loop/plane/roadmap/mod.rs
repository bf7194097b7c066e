//! The roadmap in force as one model, whichever file it was read from: `roadmap-view.json` or a structured `roadmap.md`.
//! It knows what is ready and what is finished; which direction is taken is the planner's choice.

mod labels;
mod markdown;
mod rules;
mod structured;
mod succession;
mod view;
mod words;

use crate::roadmap_loop::closeout::MilestoneStatus;

pub use markdown::RoadmapText;
pub use succession::states_not_carried_over;
pub use view::{Anchor, RoadmapView};
pub use words::Words;

pub(super) use labels::{DIRECTION_LABELS, MILESTONE_LABELS, is_none, label_line};
pub(super) use markdown::Block;
pub(super) use rules::{differences, graph_faults};
pub(super) use structured::{missing_sections, read as read_structured};

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Roadmap {
    /// In the order of the file.
    pub milestones: Vec<Milestone>,
    pub directions: Vec<Direction>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Milestone {
    pub id: String,
    /// Without the status and a number before it.
    pub title: String,
    pub status: MilestoneStatus,
    pub depends_on: Vec<String>,
    pub lane: Option<String>,
    pub intent: Option<String>,
    pub completion_signal: Option<String>,
    pub completion_pointers: Option<String>,
    pub coordination_notes: Option<String>,
    /// Records only: keys of the view's anchors.
    pub status_anchor: Option<String>,
    pub completion_anchor: Option<String>,
    /// Records only: what the view lists here; the directions themselves name their milestone.
    pub direction_ids: Vec<String>,
    /// Labels nobody knows, as they were found.
    pub extra: Vec<(String, String)>,
    pub place: Place,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Direction {
    pub id: String,
    pub milestone: String,
    pub summary: String,
    /// Ids of milestones, or prose.
    pub preconditions: Vec<String>,
    pub parallel_hints: Option<String>,
    pub why_now: Option<String>,
    pub boundary_notes: Option<String>,
    pub extraction_notes: Option<String>,
    pub extra: Vec<(String, String)>,
    pub place: Place,
}

/// Where something stands in its file.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Place {
    /// JSON pointer; empty in Markdown.
    pub pointer: String,
    pub line: usize,
}

impl Roadmap {
    pub fn milestone(&self, id: &str) -> Option<&Milestone> {
        self.milestones.iter().find(|milestone| milestone.id == id)
    }

    pub fn direction(&self, id: &str) -> Option<&Direction> {
        self.directions.iter().find(|direction| direction.id == id)
    }

    pub fn directions_of<'r>(&'r self, milestone: &'r str) -> impl Iterator<Item = &'r Direction> {
        self.directions.iter().filter(move |direction| direction.milestone == milestone)
    }

    /// Rule 5.1: every milestone is done. A roadmap without milestones is broken, not finished.
    pub fn is_terminal(&self) -> bool {
        !self.milestones.is_empty() && self.unfinished().next().is_none()
    }

    pub fn unfinished(&self) -> impl Iterator<Item = &Milestone> {
        self.milestones.iter().filter(|milestone| milestone.status != MilestoneStatus::Done)
    }

    /// Rule 9: unfinished, and everything it depends on is done.
    pub fn ready_milestones(&self) -> impl Iterator<Item = &Milestone> {
        self.unfinished().filter(|milestone| milestone.depends_on.iter().all(|id| self.is_done(id)))
    }

    /// Directions of ready milestones whose preconditions are met, as far as those name milestones. Prose is for the
    /// planner to judge.
    pub fn candidate_directions(&self) -> impl Iterator<Item = &Direction> {
        let ready: Vec<&str> = self.ready_milestones().map(|milestone| milestone.id.as_str()).collect();
        self.directions.iter().filter(move |direction| {
            let is_met = |condition: &String| self.milestone(condition).is_none() || self.is_done(condition);
            ready.contains(&direction.milestone.as_str()) && direction.preconditions.iter().all(is_met)
        })
    }

    fn is_done(&self, id: &str) -> bool {
        self.milestone(id).is_some_and(|milestone| milestone.status == MilestoneStatus::Done)
    }
}
