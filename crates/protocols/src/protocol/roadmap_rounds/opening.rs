//! When another round may begin, and whether what its planner chose is one the roadmap allows beside the rounds that are
//! live. The controller never chooses itself.

use super::facts::Fact as RoadmapFact;
use super::next::{Next, Waiting, control, decided, state};
use super::ordering;
use super::plane::{Direction, Milestone, ParallelHint, PlanSeen, Plane, RoundSeen};
use super::state::State;
use super::steps::{OpenWorktree, PlaneStep, WorktreePurpose};
use crate::draft::Draft;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

/// People take out a round now and then; so many in a row, with nothing merged between them, are not a person's decisions.
const MAX_VANISHED: u32 = 5;

pub(super) fn decide(draft: &Draft, plane: &Plane, waiting: &mut Waiting) -> Option<Next> {
    let state = state(draft);
    let idle = plane.update.is_none() && state.book.update.is_none() && !plane.is_terminal();
    let room =
        (plane.rounds.len() as u64) < u64::from(state.cap()) && plane.rounds.len() == state.book.rounds.len();
    if !idle || !room {
        return None;
    }
    if state.is_used_up(draft.budget().caps.rounds) {
        waiting.reason("this run may open no more rounds".to_string());
        return None;
    }
    if !plane.rounds.is_empty() && !may_open_beside(state, plane) {
        return None;
    }
    if state.vanished >= MAX_VANISHED {
        let why = format!(
            "{} rounds in a row were taken out of orchestrator/state.json before they came to anything: find out who does \
             that, then resume",
            state.vanished
        );
        return Some(decided(RoadmapFact::Blocked { round: None, update: false, rejection: None, why }));
    }
    let round = format!("round-{:03}", plane.next_number);
    Some(control(PlaneStep::OpenWorktree(OpenWorktree {
        branch: format!("orchestrator/{round}-{}", slug(&plane.roadmap_id)),
        worktree: format!("orchestrator/worktrees/{round}"),
        from: plane.base.clone(),
        purpose: WorktreePurpose::Round { round },
        decided_at: draft.now(),
    })))
}

/// Every live round is planned, none is in trouble, and a direction is left that may be worked on beside all of them.
fn may_open_beside(state: &State, plane: &Plane) -> bool {
    let planned = plane.rounds.iter().all(|round| {
        let past_planning = state.book.rounds.get(&round.id).is_some_and(|book| {
            !matches!(book.stage, super::plane::RoundStage::Plan | super::plane::RoundStage::Blocked)
        });
        past_planning && round.evidence.plan.is_some()
    });
    planned && beside(plane).next().is_some()
}

/// Directions that may be worked on beside the live rounds.
pub fn beside(plane: &Plane) -> impl Iterator<Item = (&Milestone, &Direction)> {
    plane.candidates().filter(|(milestone, direction)| {
        plane.rounds.iter().all(|round| {
            let Some(plan) = &round.evidence.plan else { return true };
            clash(plane, (milestone, direction, None), plan, false).is_none()
        })
    })
}

/// Directions that are free for this round: ready, and not to be kept apart from what other rounds were planned for.
pub fn open_to<'p>(plane: &'p Plane, round: &str) -> impl Iterator<Item = (&'p Milestone, &'p Direction)> {
    let others: Vec<&PlanSeen> = plane
        .rounds
        .iter()
        .filter(|other| other.id != round)
        .filter_map(|other| other.evidence.plan.as_ref())
        .collect();
    plane.candidates().filter(move |(milestone, direction)| {
        others.iter().all(|other| clash(plane, (milestone, direction, None), other, false).is_none())
    })
}

/// Why two selections must not be worked on at once.
fn clash(
    plane: &Plane,
    (milestone, direction, group): (&Milestone, &Direction, Option<&str>),
    other: &PlanSeen,
    same_item: bool,
) -> Option<String> {
    if same_item {
        return Some(format!("the item {} is worked on already", other.item));
    }
    if direction.id == other.direction {
        return Some(format!("the direction {} is worked on already", direction.id));
    }
    let serial = |hint: ParallelHint| hint == ParallelHint::Serial;
    if serial(direction.hint) || plane.direction(&other.direction).is_some_and(|known| serial(known.hint)) {
        return Some(format!(
            "{} and {} are not to be worked on side by side",
            direction.id, other.direction
        ));
    }
    let same_group = group.is_some() && group == other.parallel_group.as_deref();
    let other_lane = plane.milestone(&other.milestone).map(|known| known.lane.as_str());
    if !same_group && other_lane == Some(milestone.lane.as_str()) {
        return Some(format!("{} and {} share the lane {}", direction.id, other.direction, milestone.lane));
    }
    None
}

/// What is wrong with what a planner chose: it has to be there, belong together, be ready, and not clash with a live round.
pub fn faults_of_selection(state: &State, plane: &Plane, round: &RoundSeen, plan: &PlanSeen) -> Vec<String> {
    let mut faults = Vec::new();
    if plan.revision != plane.revision {
        faults.push(format!("the lineage names {}, and {} is active", plan.revision, plane.revision));
    }
    let (Some(milestone), Some(direction)) =
        (plane.milestone(&plan.milestone), plane.direction(&plan.direction))
    else {
        faults.push(format!(
            "the active roadmap has no milestone {} with a direction {}",
            plan.milestone, plan.direction
        ));
        return faults;
    };
    if direction.milestone != milestone.id {
        faults.push(format!("the direction {} belongs to {}", direction.id, direction.milestone));
    }
    if !plane.is_ready(milestone) {
        faults.push(format!("the milestone {} is done or waits for others", milestone.id));
    }
    if plane.merged_items.contains(&plan.item) {
        faults.push(format!("the item {} is merged already", plan.item));
    }
    faults.extend(taken_places(plane, plan));
    faults.extend(ordering::faults(state, plane, round, plan));
    for other in plane.rounds.iter().filter(|other| other.id != round.id) {
        let planned =
            state.book.rounds.get(&other.id).is_some_and(|book| book.stage > super::plane::RoundStage::Plan);
        let Some(theirs) = other.evidence.plan.as_ref().filter(|_| planned) else { continue };
        let chosen = (milestone, direction, plan.parallel_group.as_deref());
        if let Some(why) = clash(plane, chosen, theirs, theirs.item == plan.item) {
            faults.push(format!("{} is live: {why}", other.id));
        }
    }
    faults
}

/// Workers that would work where a round or the roadmap update does: names of both are made of ids that people choose.
fn taken_places(plane: &Plane, plan: &PlanSeen) -> Vec<String> {
    let rounds = plane.rounds.iter().map(|round| (&round.branch, &round.worktree));
    let update = plane.update.iter().map(|update| (&update.branch, &update.worktree));
    let taken: Vec<_> = rounds.chain(update).collect();
    let clashes = plan.workers.iter().filter(|worker| {
        taken.iter().any(|(branch, worktree)| **branch == worker.branch || **worktree == worker.worktree)
    });
    clashes
        .map(|worker| {
            format!(
                "the worker {} would work on {}, which is taken; name it otherwise",
                worker.id, worker.branch
            )
        })
        .collect()
}

/// What follows date and number in a roadmap's id.
pub(super) fn slug(roadmap: &str) -> String {
    let words: Vec<&str> = roadmap.split('-').collect();
    let dated =
        words.len() > 4 && words.iter().take(4).all(|word| word.bytes().all(|byte| byte.is_ascii_digit()));
    let kept = if dated { words.get(4..).unwrap_or_default() } else { &words };
    let text: String = kept.join("-");
    let plain: String = text.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '-' }).collect();
    plain.trim_matches('-').to_string()
}

/// `rev-002` after `rev-001`.
pub(super) fn next_revision(revision: &str) -> String {
    let number: u32 = revision.strip_prefix("rev-").and_then(|digits| digits.parse().ok()).unwrap_or(0);
    format!("rev-{:03}", number + 1)
}
