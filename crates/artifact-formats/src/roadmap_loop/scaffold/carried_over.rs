//! A family made of a roadmap that people wrote for an older contract: its milestones and states as they stand, and no words
//! that nobody said. The old files stay beside it.

use super::outline::{DEFAULT_LANE, Family, FamilyDirection, FamilyMilestone, Ledger, plain};
use crate::control_loop::slug;
use crate::markdown::headings;
use crate::roadmap_loop::closeout::MilestoneStatus;
use crate::roadmap_loop::plane::{Direction, Milestone, Roadmap};

const NOT_RECORDED: &str = "not recorded before the migration";
const STAND_IN: &str = "stands in for directions that nobody wrote";

impl Family {
    /// From a roadmap as it was read, with every word of it.
    pub fn of_roadmap(title: &str, old_dir: &str, roadmap: &Roadmap, max_parallel_rounds: u32) -> Self {
        let milestones: Vec<FamilyMilestone> = roadmap
            .milestones
            .iter()
            .enumerate()
            .map(|(index, milestone)| {
                let own: Vec<&Direction> = roadmap.directions_of(&milestone.id).collect();
                carried(index, milestone, &own)
            })
            .collect();
        let mut family = Self::carried_over(title, &milestones, max_parallel_rounds);
        family.ledger.outcome = format!("carried over from {old_dir}/roadmap.md, where the words stand");
        family
    }

    pub fn carried_over(title: &str, milestones: &[FamilyMilestone], max_parallel_rounds: u32) -> Self {
        let unknown = || NOT_RECORDED.to_owned();
        Self {
            title: plain(title),
            ledger: Ledger {
                outcome: unknown(),
                non_goals: Vec::new(),
                architecture_posture: unknown(),
                compatibility_promises: Vec::new(),
                verification_standard: unknown(),
                sequencing_strategy: unknown(),
                concurrency_posture: unknown(),
                risk_posture: unknown(),
                deferred_alternatives: Vec::new(),
            },
            baseline_checks: Vec::new(),
            manual_checks: Vec::new(),
            max_parallel_rounds,
            milestones: milestones.to_vec(),
        }
    }

    /// One sentence for each direction that had to be made up so that a planner has a place to begin.
    pub fn stand_ins(&self) -> Vec<String> {
        let made_up =
            |milestone: &&FamilyMilestone| milestone.directions.iter().any(|one| one.why_now == STAND_IN);
        let sentence = |milestone: &FamilyMilestone| {
            format!("\"{}\" has no candidate directions; its title stands in for one", milestone.title)
        };
        self.milestones.iter().filter(made_up).map(sentence).collect()
    }
}

fn carried(index: usize, milestone: &Milestone, own: &[&Direction]) -> FamilyMilestone {
    let title = plain(&milestone.title);
    let mut directions: Vec<FamilyDirection> = own.iter().map(|direction| of_old(direction)).collect();
    if directions.is_empty() && milestone.status != MilestoneStatus::Done {
        directions.push(FamilyDirection {
            id: format!("direction-{:02}-01-{}", index + 1, slug(&title)),
            why_now: STAND_IN.to_owned(),
            ..direction(String::new(), title.clone())
        });
    }
    FamilyMilestone {
        id: milestone.id.clone(),
        status: milestone.status,
        intent: milestone.intent.as_deref().map_or_else(|| title.clone(), plain),
        completion_signal: milestone
            .completion_signal
            .as_deref()
            .map_or_else(|| NOT_RECORDED.to_owned(), plain),
        depends_on: milestone.depends_on.clone(),
        lane: milestone.lane.as_deref().map_or_else(|| DEFAULT_LANE.to_owned(), plain),
        notes: said(milestone.coordination_notes.as_deref()),
        title,
        directions,
    }
}

fn of_old(old: &Direction) -> FamilyDirection {
    let hints = old.parallel_hints.as_deref().map(plain).filter(|hints| !hints.is_empty());
    FamilyDirection {
        preconditions: old.preconditions.iter().map(|text| plain(text)).collect(),
        parallel_hints: hints.unwrap_or_else(|| "serial-by-default".to_owned()),
        why_now: said(old.why_now.as_deref()),
        boundary_notes: said(old.boundary_notes.as_deref()),
        extraction_notes: said(old.extraction_notes.as_deref()),
        ..direction(old.id.clone(), plain(&old.summary))
    }
}

fn said(words: Option<&str>) -> String {
    words.map_or_else(|| "none".to_owned(), plain)
}

fn direction(id: String, summary: String) -> FamilyDirection {
    let none = || "none".to_owned();
    FamilyDirection {
        id,
        summary,
        why_now: none(),
        preconditions: Vec::new(),
        parallel_hints: "serial-by-default".to_owned(),
        boundary_notes: none(),
        extraction_notes: none(),
    }
}

/// An older `verification.md` with the sections it lacks, which say nothing.
pub fn completed_verification(before: &str) -> String {
    let mut text = before.trim_end().to_owned();
    let there = headings(before);
    for title in
        ["Baseline Checks", "Alignment Checks", "Task-Specific Checks", "Manual Checks", "Roadmap Overrides"]
    {
        if !there.iter().any(|heading| heading.level == 2 && heading.is(title)) {
            text.extend(["\n\n## ", title, "\n\nnone"]);
        }
    }
    text.push('\n');
    text
}
