//! Whether the merge order that a plan declares can ever be kept: whatever it waits for is merged or lives, and nothing of that
//! waits for it. When its turn comes is not known here.

use super::plane::{PlanSeen, Plane, RoundSeen, RoundStage};
use super::state::State;
use alloc::collections::BTreeSet;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

pub(super) fn faults(state: &State, plane: &Plane, round: &RoundSeen, plan: &PlanSeen) -> Vec<String> {
    let merged = state.merged_rounds();
    let unknown = |id: &&String| !merged.contains(id.as_str()) && plane.round(id).is_none();
    let rounds = plan.depends_on_rounds.iter().filter(unknown);
    let mut faults: Vec<String> =
        rounds.map(|id| format!("it depends on {id}, which is neither merged nor live")).collect();
    let unknown = |item: &&String| !plane.merged_items.contains(item) && worked_on_by(plane, item).is_none();
    let items = plan.merge_after_items.iter().filter(unknown);
    faults.extend(
        items.map(|item| format!("it comes after the item {item}, which is neither merged nor worked on")),
    );
    let circle = waits_for(plane, plan).into_iter().find(|other| comes_back(state, plane, other, &round.id));
    faults.extend(circle.map(|other| format!("it waits for {other}, which waits for it")));
    faults
}

fn worked_on_by<'p>(plane: &'p Plane, item: &str) -> Option<&'p str> {
    let owns = |round: &&RoundSeen| round.evidence.plan.as_ref().is_some_and(|plan| plan.item == item);
    plane.rounds.iter().find(owns).map(|round| round.id.as_str())
}

/// The live rounds that have to be merged before it.
fn waits_for<'p>(plane: &'p Plane, plan: &PlanSeen) -> Vec<&'p str> {
    let rounds =
        plan.depends_on_rounds.iter().filter_map(|id| plane.round(id)).map(|round| round.id.as_str());
    let items = plan.merge_after_items.iter().filter(|item| !plane.merged_items.contains(item));
    rounds.chain(items.filter_map(|item| worked_on_by(plane, item))).collect()
}

/// Whether somebody who waits for `from` waits for `round`. What a round is planning anew does not count.
fn comes_back(state: &State, plane: &Plane, from: &str, round: &str) -> bool {
    let mut seen = BTreeSet::new();
    let mut open = alloc::vec![from];
    while let Some(id) = open.pop() {
        if id == round {
            return true;
        }
        let planned = state.book.rounds.get(id).is_some_and(|book| book.stage > RoundStage::Plan);
        let plan = plane.round(id).filter(|_| planned).and_then(|live| live.evidence.plan.as_ref());
        if let Some(plan) = plan.filter(|_| seen.insert(id)) {
            open.extend(waits_for(plane, plan));
        }
    }
    false
}
