//! What a live round needs next, from its stage, its artifacts and who came back. No skipping forward; every step back names
//! its reason.

use super::asking::ask;
use super::book::{RoundBook, proven};
use super::facts::{Closed, Fact as RoadmapFact, Why};
use super::ladder::{self, Failure};
use super::merging;
use super::next::{Next, Waiting, control, decided, state};
use super::opening;
use super::plane::{
    CloseoutMode, DirectSeen, PlanSeen, Plane, RetryTarget, ReviewSeen, RoundSeen, RoundStage, UpdateTrigger,
    WorkerState,
};
use super::reviewing;
use super::state::State;
use super::steps::{
    CombineWork, OpenWorktree, PlaneStep, RoundWork, UpdateOpened, WorkKind, WorktreePurpose,
};
use super::taking_up;
use crate::draft::Draft;
use crate::vocabulary::Digest;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec;
use alloc::vec::Vec;

/// A worktree is brought back so often before somebody has to look why it goes.
pub(super) const MAX_REOPENED: u32 = 3;

pub(super) fn decide(draft: &Draft, plane: &Plane, round: &RoundSeen, waiting: &mut Waiting) -> Option<Next> {
    let state = state(draft);
    let book = state.book.rounds.get(&round.id)?;
    if round.evidence.merged_without_closeout {
        let why = "it is on the base branch without the closeout its review approved; nothing is patched after the fact";
        return give_up(state, round, why.to_string());
    }
    if book.stage == RoundStage::Blocked && state.given_up.contains_key(&Some(round.id.clone())) {
        return None;
    }
    // It was merged by this run, and nobody saw it: asked once more, the step tells the commit.
    if let (true, Some(asked)) = (round.evidence.merged, &book.finalizing) {
        return Some(control(PlaneStep::FinalizeRound(asked.clone())));
    }
    if book.merged || round.evidence.merged {
        return close(draft, plane, round, waiting);
    }
    if book.stage == RoundStage::Blocked {
        return None;
    }
    if round.head.is_none() {
        return give_up(state, round, format!("its branch {} is gone", round.branch));
    }
    if state.book.is_busy(&round.id, false)
        && round.evidence.plan.as_ref().is_none_or(|plan| plan.workers.is_empty())
    {
        return None;
    }
    if !round.worktree_stands {
        if book.reopened >= MAX_REOPENED {
            return give_up(state, round, does_not_stay(&round.worktree));
        }
        return Some(reopen(draft, plane, &round.id, (&round.branch, &round.worktree)));
    }
    if !book.taken_up {
        // Whoever is still at it is waited for.
        return taking_up::of_round(draft, plane, round).filter(|_| !state.book.is_busy(&round.id, false));
    }
    match book.stage {
        RoundStage::Plan => plan(draft, plane, round, waiting),
        RoundStage::Implement => implement(draft, plane, round, book, waiting),
        RoundStage::Review => reviewing::review(draft, plane, round, book, waiting),
        RoundStage::FinalizeRound => merging::finalize(draft, plane, round, book, waiting),
        RoundStage::Blocked => None,
    }
}

/// A worktree that is gone again each time it was brought back.
pub(super) fn does_not_stay(worktree: &str) -> String {
    format!("its worktree {worktree} was brought back {MAX_REOPENED} times and is gone again")
}

pub(super) fn work(round: &RoundSeen, kind: WorkKind) -> RoundWork {
    RoundWork { round: round.id.clone(), kind }
}

pub(super) fn to_stage(round: &RoundSeen, from: RoundStage, to: RoundStage, why: Why) -> Next {
    decided(RoadmapFact::StageDecided { round: round.id.clone(), from, to, why })
}

pub(super) fn give_up(state: &State, round: &RoundSeen, why: String) -> Option<Next> {
    if state.given_up.contains_key(&Some(round.id.clone())) {
        return None;
    }
    let round = Some(round.id.clone());
    Some(decided(RoadmapFact::Blocked { round, update: false, rejection: None, why }))
}

pub(super) fn reopen(draft: &Draft, plane: &Plane, round: &str, (branch, worktree): (&str, &str)) -> Next {
    control(PlaneStep::OpenWorktree(OpenWorktree {
        branch: branch.to_string(),
        worktree: worktree.to_string(),
        from: plane.base.clone(),
        purpose: WorktreePurpose::Reopen { round: round.to_string() },
        decided_at: draft.now(),
    }))
}

/// Whether the work came back; if it failed, what is tried next.
pub(super) fn word_of(draft: &Draft, work: &RoundWork) -> Result<bool, Option<Next>> {
    match state(draft).book.works.get(work) {
        None => Ok(false),
        Some(known) => match &known.phase {
            super::book::Phase::Failed { why } if !known.is_being_investigated(draft, work) => {
                Err(ladder::climb(draft, work, Failure { why: why.clone(), faults: Vec::new() }))
            }
            super::book::Phase::Failed { .. } => Err(None),
            _ if known.is_under_way() => Err(None),
            _ => Ok(known.came_back),
        },
    }
}

pub(super) fn asked_or<T>(
    draft: &Draft,
    plane: &Plane,
    work: &RoundWork,
    waiting: &mut Waiting,
    came_back: impl FnOnce() -> T,
) -> Result<T, Option<Next>> {
    match word_of(draft, work)? {
        true => Ok(came_back()),
        false if at_capacity(state(draft)) => Err(None),
        false => Err(waiting.ask(ask(draft, plane, work))),
    }
}

/// No more agents at once than rounds may be live.
pub(super) fn at_capacity(state: &State) -> bool {
    let at_work = state.in_flight.values().filter(|flight| matches!(flight, super::state::Flight::Agent(_)));
    at_work.count() >= state.cap() as usize
}

pub(super) fn failed(draft: &Draft, work: &RoundWork, why: &str, faults: &[String]) -> Option<Next> {
    ladder::climb(draft, work, Failure { why: why.to_string(), faults: faults.to_vec() })
}

fn plan(draft: &Draft, plane: &Plane, round: &RoundSeen, waiting: &mut Waiting) -> Option<Next> {
    let work = work(round, WorkKind::Plan);
    let evidence = &round.evidence;
    if is_behind(draft, plane, round, &work) {
        return merging::bring_base(draft, plane, round);
    }
    if let Err(next) = asked_or(draft, plane, &work, waiting, || ()) {
        return next;
    }
    if evidence.request {
        return cancel(draft, plane, round, waiting);
    }
    let Some(plan) = evidence.plan.as_ref().filter(|_| evidence.plan_faults.is_empty()) else {
        let missing = vec!["the planner left neither a plan nor a request".to_string()];
        let faults = if evidence.plan_faults.is_empty() { &missing } else { &evidence.plan_faults };
        return failed(draft, &work, "the plan cannot be read", faults);
    };
    let wrong = opening::faults_of_selection(state(draft), plane, round, plan);
    if !wrong.is_empty() {
        return failed(draft, &work, "the selection is not one the roadmap allows", &wrong);
    }
    match &plan.direct {
        Some(DirectSeen::Proven { artifact, .. }) => {
            let head = state(draft).book.judged(&work, round.head.as_ref());
            let why = Why::Direct { artifact: artifact.clone(), head };
            Some(to_stage(round, RoundStage::Plan, RoundStage::FinalizeRound, why))
        }
        Some(DirectSeen::Unproven { faults }) => {
            failed(draft, &work, "a simple round is not proven by what its planner left", faults)
        }
        None => {
            let (milestone, direction) = (plan.milestone.clone(), plan.direction.clone());
            let why = Why::Planned { milestone, direction, item: plan.item.clone() };
            Some(to_stage(round, RoundStage::Plan, RoundStage::Implement, why))
        }
    }
}

/// Its branch does not have the roadmap that is active: that comes first, so that its planner sees what it is held to.
fn is_behind(draft: &Draft, plane: &Plane, round: &RoundSeen, work: &RoundWork) -> bool {
    let book = &state(draft).book;
    // Commits of a planner that was interrupted are not the round's: they are taken down first.
    let shown = book.works.get(work).and_then(|known| known.shown.as_ref());
    let settled = shown.is_none_or(|shown| Some(shown) == round.head.as_ref());
    let drifted = round.roadmap_drifted && round.fork.as_ref() != Some(&plane.base);
    drifted && settled && !book.is_busy(&round.id, false) && word_of(draft, work) == Ok(false)
}

/// Only a request was left: the round goes, and the roadmap is updated first.
fn cancel(draft: &Draft, plane: &Plane, round: &RoundSeen, waiting: &mut Waiting) -> Option<Next> {
    if plane.update.is_some() || state(draft).book.update.is_some() {
        waiting.reason(format!("{} asks for a roadmap update, and one is under way", round.id));
        return None;
    }
    Some(open_update(draft, plane, &round.id, UpdateTrigger::PlannerRequest))
}

fn open_update(draft: &Draft, plane: &Plane, round: &str, trigger: UpdateTrigger) -> Next {
    let branch = format!("orchestrator/roadmap-update-{round}-{}", opening::slug(&plane.roadmap_id));
    let worktree = format!("orchestrator/worktrees/roadmap-update-{round}");
    control(PlaneStep::OpenWorktree(OpenWorktree {
        branch: branch.clone(),
        worktree: worktree.clone(),
        from: plane.base.clone(),
        purpose: WorktreePurpose::Update(UpdateOpened {
            trigger,
            source_round: round.to_string(),
            branch,
            worktree,
            prior_revision: plane.revision.clone(),
            proposed_revision: opening::next_revision(&plane.revision),
        }),
        decided_at: draft.now(),
    }))
}

fn implement(
    draft: &Draft,
    plane: &Plane,
    round: &RoundSeen,
    book: &RoundBook,
    waiting: &mut Waiting,
) -> Option<Next> {
    let evidence = &round.evidence;
    let Some(plan) = evidence.plan.as_ref().filter(|_| evidence.plan_faults.is_empty()) else {
        return Some(to_stage(round, RoundStage::Implement, RoundStage::Plan, Why::Proven));
    };
    let kind = if plan.workers.is_empty() { WorkKind::Implement } else { WorkKind::Integrate };
    if kind == WorkKind::Integrate
        && let Some(next) = fan_out(draft, plane, round, (plan, book), waiting)
    {
        return next;
    }
    let work = work(round, kind);
    if let Err(next) = asked_or(draft, plane, &work, waiting, || ()) {
        return next;
    }
    if evidence.notes && evidence.notes_faults.is_empty() {
        return Some(to_stage(round, RoundStage::Implement, RoundStage::Review, Why::Implemented));
    }
    let missing = vec!["implementation-notes.md was not left".to_string()];
    let faults = if evidence.notes_faults.is_empty() { &missing } else { &evidence.notes_faults };
    failed(draft, &work, "the implementation notes are missing or cannot be read", faults)
}

/// `None` once the shares are in the round's branch; otherwise what they need, which may be nothing for now.
#[expect(clippy::option_option, reason = "absent: integrate; inner absent: wait")]
fn fan_out(
    draft: &Draft,
    plane: &Plane,
    round: &RoundSeen,
    (plan, book): (&PlanSeen, &RoundBook),
    waiting: &mut Waiting,
) -> Option<Option<Next>> {
    let is_complete = |id: &String| {
        let found = plan.workers.iter().find(|worker| worker.id == *id);
        found.is_some_and(|worker| matches!(worker.state, WorkerState::Complete | WorkerState::Integrated))
    };
    let mut open = false;
    for worker in &plan.workers {
        let share = work(round, WorkKind::Worker { worker: worker.id.clone() });
        let ready = worker.depends_on.iter().all(is_complete);
        match &worker.state {
            WorkerState::Complete | WorkerState::Integrated => continue,
            _ if !ready => {}
            _ if worker.head.is_none() => {
                return Some(Some(open_worker(draft, round, (&worker.id, &worker.branch, &worker.worktree))));
            }
            // What a blocked one left is old until it was asked again: the blocker may be gone by now.
            state => match (asked_or(draft, plane, &share, waiting, || ()), state) {
                (Err(None), _) => {}
                (Err(next), _) => return Some(next),
                (Ok(()), WorkerState::Blocked { why }) => return Some(failed(draft, &share, why, &[])),
                (Ok(()), _) => {
                    let missing = vec!["the share was left without a finished handoff".to_string()];
                    let faults = if worker.faults.is_empty() { &missing } else { &worker.faults };
                    return Some(failed(draft, &share, "the worker did not finish its share", faults));
                }
            },
        }
        open |= worker.blocks_integration;
    }
    if open || state(draft).book.is_busy(&round.id, false) {
        let unfinished = plan.workers.iter().filter(|worker| !is_complete(&worker.id));
        let names: Vec<String> = unfinished.map(|worker| worker.id.clone()).collect();
        waiting.reason(waits(round, "shares that are not finished:", &names));
        return Some(None);
    }
    let heads: Vec<_> = plan.workers.iter().filter(|worker| is_complete(&worker.id)).collect();
    let heads: Vec<_> = heads.iter().filter_map(|worker| worker.head.clone()).collect();
    if heads.is_empty() || heads.iter().all(|head| book.gathered.contains(head)) {
        return None;
    }
    Some(round.head.clone().map(|head| {
        control(PlaneStep::CombineWork(CombineWork {
            round: round.id.clone(),
            branch: round.branch.clone(),
            worktree: round.worktree.clone(),
            head,
            with: heads,
            decided_at: draft.now(),
        }))
    }))
}

fn open_worker(draft: &Draft, round: &RoundSeen, (worker, branch, worktree): (&str, &str, &str)) -> Next {
    control(PlaneStep::OpenWorktree(OpenWorktree {
        branch: branch.to_string(),
        worktree: worktree.to_string(),
        from: round.head.clone().unwrap_or_else(|| crate::CommitId::new("")),
        purpose: WorktreePurpose::Worker { round: round.id.clone(), worker: worker.to_string() },
        decided_at: draft.now(),
    }))
}

/// A merged round leaves the state; one whose review asks for it leaves a roadmap update behind.
fn close(draft: &Draft, plane: &Plane, round: &RoundSeen, waiting: &mut Waiting) -> Option<Next> {
    if state(draft).book.is_busy(&round.id, false) {
        return None;
    }
    let agreed = state(draft).book.rounds.get(&round.id).and_then(|book| book.approval.as_ref());
    if closeout(round, agreed.map(|(artifact, _)| artifact)) == Some(CloseoutMode::SemanticUpdateRequired) {
        if plane.update.is_some() || state(draft).book.update.is_some() {
            waiting.reason(format!("{} needs a roadmap update, and one is under way", round.id));
            return None;
        }
        return Some(open_update(draft, plane, &round.id, UpdateTrigger::MergedRound));
    }
    Some(decided(RoadmapFact::RoundClosed { round: round.id.clone(), how: Closed::Merged }))
}

/// What was approved about the roadmap: by the file that was agreed on, else by the one that is there.
pub(super) fn closeout(round: &RoundSeen, agreed: Option<&Digest>) -> Option<CloseoutMode> {
    let there = approving(round);
    let chosen = there.iter().find(|(artifact, _)| Some(*artifact) == agreed).or_else(|| there.first());
    chosen.map(|(_, closeout)| *closeout)
}

/// The files that say yes, a review before a planner's own proof.
pub(super) fn approving(round: &RoundSeen) -> Vec<(&Digest, CloseoutMode)> {
    let review = match &round.evidence.review {
        Some(ReviewSeen::Approved { closeout, artifact, .. }) => Some((artifact, *closeout)),
        _ => None,
    };
    let direct = match round.evidence.plan.as_ref().and_then(|plan| plan.direct.as_ref()) {
        Some(DirectSeen::Proven { closeout, artifact }) => Some((artifact, *closeout)),
        _ => None,
    };
    review.into_iter().chain(direct).collect()
}

/// Where a blocked round goes on: where it was given up if that is known, else where its artifacts put it.
pub(super) fn lawful_position(state: &State, round: &RoundSeen) -> RoundStage {
    let book = state.book.rounds.get(&round.id);
    if book.is_some_and(|book| book.unclassified > 0 && book.blocked_at.is_none()) {
        return RoundStage::Review;
    }
    let proven = proven(&round.evidence);
    match book.and_then(|book| book.blocked_at) {
        // A person looked: what no retry could help is planned anew.
        Some(RoundStage::Review) if is_hopeless(round) => RoundStage::Plan,
        Some(at) if at <= proven => at,
        // An approval that lies beside a blockage may be older than what blocked it: it is looked at again.
        _ if proven == RoundStage::FinalizeRound && book.is_none_or(|book| book.approval.is_none()) => {
            RoundStage::Review
        }
        _ => proven,
    }
}

fn is_hopeless(round: &RoundSeen) -> bool {
    matches!(round.evidence.review, Some(ReviewSeen::Rejected { target: RetryTarget::Blocked, .. }))
}

/// The sentence for a round that waits for others.
pub(super) fn waits(round: &RoundSeen, what: &str, names: &[String]) -> String {
    format!("{} waits for {what} {}", round.id, names.join(", "))
}
