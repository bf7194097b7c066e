//! What a review comes to, of a round or of a roadmap update: the place is cleared before a reviewer is asked, so that
//! whatever lies there afterwards is its answer, and its answer is taken at its word.

use super::asking::place;
use super::book::RoundBook;
use super::facts::{Fact as RoadmapFact, Why};
use super::integrity;
use super::merging;
use super::next::{Next, Waiting, control, decided, state};
use super::plane::{Generation, Plane, RetryTarget, ReviewSeen, RoundSeen, RoundStage};
use super::rounds::{asked_or, at_capacity, failed, give_up, to_stage, word_of, work};
use super::state::State;
use super::steps::{PlaneStep, RoundWork, SetAside, WorkKind};
use super::taking_up::missing_shares;
use crate::draft::Draft;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

/// What a reviewer that is about to be asked anew would find in its place. Whoever is to mend a file keeps it.
pub(super) fn to_set_aside(draft: &Draft, plane: &Plane, work: &RoundWork, lies: Lies) -> Option<Next> {
    let state = state(draft);
    let known = state.book.works.get(work);
    let keeps = known.is_some_and(|known| known.cleared || known.repairing.is_some());
    if lies == Lies::Nothing || keeps || at_capacity(state) || word_of(draft, work) != Ok(false) {
        return None;
    }
    let (branch, worktree, head) = place(plane, work)?;
    // Commits of a reviewer that was interrupted are not the round's.
    let parent = known.and_then(|known| known.shown.clone()).unwrap_or(head);
    let (work, decided_at) = (work.clone(), draft.now());
    Some(control(PlaneStep::SetAside(SetAside { work, branch, worktree, parent, decided_at })))
}

/// Whether files of a reviewer lie where the next one writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Lies {
    Nothing,
    Something,
}

impl Lies {
    pub(super) const fn of<T>(review: Option<&T>, faults: &[String]) -> Self {
        if review.is_none() && faults.is_empty() { Self::Nothing } else { Self::Something }
    }
}

pub(super) fn review(
    draft: &Draft,
    plane: &Plane,
    round: &RoundSeen,
    book: &RoundBook,
    waiting: &mut Waiting,
) -> Option<Next> {
    let state = state(draft);
    let work = work(round, WorkKind::Review);
    let evidence = &round.evidence;
    let from = RoundStage::Review;
    if let Some(why) = evidence.plan.as_ref().and_then(missing_shares)
        && !state.book.is_busy(&round.id, false)
    {
        if let Some(next) = pattern(draft, &round.id, &why) {
            return next;
        }
        return Some(to_stage(round, from, RoundStage::Implement, Why::Unproven { why }));
    }
    if is_behind(draft, plane, (round, book), &work) {
        return merging::bring_base(draft, plane, round);
    }
    let lies = Lies::of(evidence.review.as_ref(), &evidence.review_faults);
    if let Some(next) = to_set_aside(draft, plane, &work, lies) {
        return Some(next);
    }
    // Whoever reviews is shown what was found; a review of somebody else's is held against it all the same.
    if !state.book.is_busy(&round.id, false)
        && let Some(next) = integrity::to_look(draft, plane, round, book)
    {
        return next;
    }
    if let Err(next) = asked_or(draft, plane, &work, waiting, || ()) {
        return next;
    }
    match &evidence.review {
        Some(ReviewSeen::Unclassified { why }) => {
            let said = format!("its reviews are no decisions: {why}");
            let limit = state.limits().same_mechanism;
            if book.unclassified > limit {
                return give_up(state, round, said);
            }
            if book.unclassified == limit && !is_looked_into(state, &round.id) {
                return Some(look_into(&round.id, said));
            }
            Some(to_stage(round, from, RoundStage::Blocked, Why::Unclassified { why: why.clone() }))
        }
        // What it was held against is not what it was shown: that is not its reviewer's fault.
        Some(ReviewSeen::Approved { .. })
            if !evidence.review_faults.is_empty() && has_moved(plane, round, book) =>
        {
            merging::bring_base(draft, plane, round)
        }
        _ if !evidence.review_faults.is_empty() => {
            failed(draft, &work, "the review cannot be read", &evidence.review_faults)
        }
        Some(ReviewSeen::Approved { artifact, .. }) => {
            if let Some(next) = integrity::over_approval(draft, round, (book, from), waiting) {
                return next;
            }
            let head = state.book.judged(&work, round.head.as_ref());
            let why = Why::Approved { artifact: artifact.clone(), head };
            Some(to_stage(round, from, RoundStage::FinalizeRound, why))
        }
        Some(ReviewSeen::Rejected { target, changes }) => rejected(draft, round, book, (*target, changes)),
        None => failed(draft, &work, "there is no review", &[not_left(plane.generation).to_string()]),
    }
}

/// The base is not in it. What was brought in once is not brought in again, whatever its branch shows.
fn has_moved(plane: &Plane, round: &RoundSeen, book: &RoundBook) -> bool {
    round.fork.as_ref().is_some_and(|fork| *fork != plane.base) && !book.gathered.contains(&plane.base)
}

/// Whoever is asked again is shown the base as it is by now: what does not fit it would only be approved once more.
fn is_behind(
    draft: &Draft,
    plane: &Plane,
    (round, book): (&RoundSeen, &RoundBook),
    work: &RoundWork,
) -> bool {
    let state = state(draft);
    let known = state.book.works.get(work);
    let again = book.review_cycles > 0 || known.is_some_and(|known| known.asked > 0);
    // Commits of a reviewer that was interrupted are not the round's, and whoever is to mend a file keeps it.
    let settled = known.is_none_or(|known| {
        let untouched = known.shown.is_none() || known.shown == round.head;
        untouched && known.repairing.is_none()
    });
    let idle = !state.book.is_busy(&round.id, false) && word_of(draft, work) == Ok(false);
    again && settled && idle && has_moved(plane, round, book)
}

/// What goes round and round costs agents: at the limit somebody looks into it, one more try follows from that, and then it is
/// given up. Nothing while it may go on; nothing inside while it is being looked into.
#[expect(clippy::option_option, reason = "absent: go on; inner absent: wait")]
pub(super) fn pattern(draft: &Draft, round: &str, why: &str) -> Option<Option<Next>> {
    let state = state(draft);
    let cycles = state.book.rounds.get(round).map_or(0, |book| book.review_cycles);
    let limit = state.limits().review_cycles;
    if cycles < limit {
        return None;
    }
    if is_being_looked_into(draft, round) || state.given_up.contains_key(&Some(round.to_string())) {
        return Some(None);
    }
    if cycles > limit {
        let (round, why) = (Some(round.to_string()), why.to_string());
        return Some(Some(decided(RoadmapFact::Blocked { round, update: false, rejection: None, why })));
    }
    (!is_looked_into(state, round)).then(|| Some(look_into(round, why.to_string())))
}

fn of_review(round: &str) -> RoundWork {
    RoundWork { round: round.to_string(), kind: WorkKind::Review }
}

fn look_into(round: &str, why: String) -> Next {
    decided(RoadmapFact::InvestigationDecided { work: of_review(round), why, pattern: true })
}

fn is_looked_into(state: &State, round: &str) -> bool {
    state.book.works.get(&of_review(round)).is_some_and(|known| known.investigated)
}

pub(super) fn is_being_looked_into(draft: &Draft, round: &str) -> bool {
    let work = of_review(round);
    state(draft).book.works.get(&work).is_some_and(|known| known.is_being_investigated(draft, &work))
}

/// What came of it, for whoever goes on.
pub(super) fn advice(state: &State, round: &str) -> Vec<String> {
    let known = state.book.works.get(&of_review(round)).filter(|known| known.investigated);
    known.map(|known| known.told.clone()).unwrap_or_default()
}

const fn not_left(generation: Generation) -> &'static str {
    match generation {
        Generation::Records => "review.md and review-record.json were not left",
        Generation::StructuredMarkdown => "review.md was not left",
    }
}

fn rejected(
    draft: &Draft,
    round: &RoundSeen,
    book: &RoundBook,
    (target, changes): (RetryTarget, &[String]),
) -> Option<Next> {
    let state = state(draft);
    let to = match target {
        RetryTarget::Implement => RoundStage::Implement,
        RetryTarget::Plan => RoundStage::Plan,
        RetryTarget::Blocked => {
            let why = format!("its reviewer sees no lawful retry: {}", changes.join("; "));
            if !is_looked_into(state, &round.id) {
                return Some(look_into(&round.id, why));
            }
            let advice = advice(state, &round.id).join("; ");
            let said =
                if advice.is_empty() { why } else { format!("{why}; who looked into it says: {advice}") };
            return give_up(state, round, said);
        }
    };
    // So many rejections are a pattern: somebody looks at it, and one more try follows from that.
    let why = format!("{}, last: {}", sent_back(book), changes.join("; "));
    if let Some(next) = pattern(draft, &round.id, &why) {
        return next;
    }
    let changes = changes.iter().cloned().chain(advice(state, &round.id)).collect();
    Some(to_stage(round, RoundStage::Review, to, Why::Rejected { changes }))
}

/// With the rejection that lies there. What a merge sent back was rejected by nobody.
fn sent_back(book: &RoundBook) -> String {
    let (all, rejected) = (book.review_cycles + 1, book.rejected + 1);
    if all == rejected {
        format!("rejected {rejected} times")
    } else {
        format!("sent back {all} times, {rejected} of them by its reviewer")
    }
}
