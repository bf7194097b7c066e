//! When an approved round may be merged, and what happens when it may not: derived from the files every time, never stored.

use super::book::RoundBook;
use super::facts::Why;
use super::integrity;
use super::next::{Next, Waiting, control, state};
use super::ordering;
use super::plane::{PlanSeen, Plane, RoundSeen, RoundStage};
use super::reviewing::{is_being_looked_into, pattern};
use super::rounds::{approving, to_stage, waits};
use super::steps::{CombineWork, FinalizeRound, PlaneStep};
use super::taking_up::{UNJUDGED, missing_shares};
use crate::draft::Draft;
use crate::vocabulary::Digest;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

const HERE: RoundStage = RoundStage::FinalizeRound;

pub(super) fn finalize(
    draft: &Draft,
    plane: &Plane,
    round: &RoundSeen,
    book: &RoundBook,
    waiting: &mut Waiting,
) -> Option<Next> {
    if is_being_looked_into(draft, &round.id) {
        return None;
    }
    let stale = |why: &str| back(draft, round, RoundStage::Review, stale_approval(why));
    let unproven = |to, why: &str| back(draft, round, to, Why::Unproven { why: why.to_string() });
    let Some(plan) = &round.evidence.plan else {
        return unproven(RoundStage::Plan, "its plan is not in what would be merged");
    };
    if !round.evidence.notes && plan.direct.is_none() {
        let why = "its implementation notes are not in what would be merged";
        return unproven(RoundStage::Implement, why);
    }
    if let Some(why) = missing_shares(plan) {
        return unproven(RoundStage::Implement, &why);
    }
    if book.unjudged {
        let to = if plan.direct.is_some() { RoundStage::Plan } else { RoundStage::Review };
        return unproven(to, UNJUDGED);
    }
    let Some(approval) = approval(round, book) else {
        let why = "what approved it is not there any more, or is another";
        return if plan.direct.is_some() { unproven(RoundStage::Plan, why) } else { stale(why) };
    };
    if book.approval.as_ref().is_some_and(|(_, head)| *head != round.head) {
        return stale("its branch moved since it was approved");
    }
    if plan.revision != plane.revision {
        let why = Why::RoadmapRevised { revision: plane.revision.clone() };
        return Some(to_stage(round, HERE, RoundStage::Plan, why));
    }
    if let Some(why) = outdated(draft, plane, round, plan) {
        return back(draft, round, RoundStage::Plan, Why::PlanOutdated { why });
    }
    if plane.update.is_some() || state(draft).book.update.is_some() {
        waiting.reason(format!("{} waits for the roadmap update to be over", round.id));
        return None;
    }
    if let Some(why) = not_yet(draft, plane, round, plan) {
        waiting.reason(why);
        return None;
    }
    let head = round.head.clone()?;
    let moved = round.fork.as_ref() != Some(&plane.base);
    // Nobody has looked at the two together: code, or what its milestone asks for.
    if (moved && (round.code_drifted || round.roadmap_drifted)) || book.must_combine {
        // Rounds of its own that were merged come to an end; whoever else moves the base need not.
        let outpaced =
            "others move the base each time before it can be merged, and it is reviewed again for it";
        if book.outpaced
            && let Some(next) = pattern(draft, &round.id, outpaced)
        {
            return next;
        }
        return bring_base(draft, plane, round);
    }
    // Whoever approved it, somebody else's reviewer or its own planner, may not have been shown what it does to its measures.
    if let Some(next) = integrity::to_look(draft, plane, round, book) {
        return next;
    }
    if let Some(next) = integrity::over_approval(draft, round, (book, HERE), waiting) {
        return next;
    }
    Some(control(PlaneStep::FinalizeRound(FinalizeRound {
        round: round.id.clone(),
        branch: round.branch.clone(),
        worktree: round.worktree.clone(),
        head,
        base: plane.base.clone(),
        refreshed: moved,
        approval,
        judged: book.judged.clone(),
        decided_at: draft.now(),
    })))
}

fn stale_approval(why: &str) -> Why {
    Why::CloseoutStale { why: why.to_string() }
}

/// Every way back from here costs agents, and each is counted: what leads back again and again is given up with its reason.
fn back(draft: &Draft, round: &RoundSeen, to: RoundStage, why: Why) -> Option<Next> {
    let said = format!("what approves it does not last: {}", why.words());
    pattern(draft, &round.id, &said).unwrap_or_else(|| Some(to_stage(round, HERE, to, why)))
}

/// Merges the base into the round's branch, so that whoever is asked next sees it.
pub(super) fn bring_base(draft: &Draft, plane: &Plane, round: &RoundSeen) -> Option<Next> {
    Some(control(PlaneStep::CombineWork(CombineWork {
        round: round.id.clone(),
        branch: round.branch.clone(),
        worktree: round.worktree.clone(),
        head: round.head.clone()?,
        with: alloc::vec![plane.base.clone()],
        decided_at: draft.now(),
    })))
}

/// Why its plan is none any more, whoever approved what was made of it.
fn outdated(draft: &Draft, plane: &Plane, round: &RoundSeen, plan: &PlanSeen) -> Option<String> {
    let PlanSeen { milestone, direction, .. } = plan;
    if !plane.has_lineage(milestone, direction) {
        return Some(format!("the active roadmap has no milestone {milestone} with a direction {direction}"));
    }
    let faults = ordering::faults(state(draft), plane, round, plan);
    (!faults.is_empty()).then(|| faults.join("; "))
}

/// The approving file, if it is still the one that was agreed on.
fn approval(round: &RoundSeen, book: &RoundBook) -> Option<Digest> {
    let (agreed, _) = book.approval.as_ref()?;
    approving(round).iter().any(|(artifact, _)| *artifact == agreed).then(|| agreed.clone())
}

/// What has to be merged before it.
fn not_yet(draft: &Draft, plane: &Plane, round: &RoundSeen, plan: &PlanSeen) -> Option<String> {
    let merged = state(draft).merged_rounds();
    let rounds: Vec<String> =
        plan.depends_on_rounds.iter().filter(|id| !merged.contains(id.as_str())).cloned().collect();
    if !rounds.is_empty() {
        return Some(waits(round, "rounds that are not merged:", &rounds));
    }
    let items: Vec<String> =
        plan.merge_after_items.iter().filter(|id| !plane.merged_items.contains(id)).cloned().collect();
    (!items.is_empty()).then(|| waits(round, "items that are not merged:", &items))
}
