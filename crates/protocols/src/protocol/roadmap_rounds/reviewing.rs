//! What a review comes to, of a round or of a roadmap update: the place is cleared before a reviewer is asked, so that
//! whatever lies there afterwards is its answer, and its answer is taken at its word.

use super::asking::place;
use super::book::RoundBook;
use super::facts::{Fact as RoadmapFact, Why};
use super::integrity;
use super::next::{Next, Waiting, control, decided, state};
use super::plane::{Generation, Plane, RetryTarget, ReviewSeen, RoundSeen, RoundStage};
use super::rounds::{asked_or, at_capacity, failed, give_up, to_stage, word_of, work};
use super::steps::{PlaneStep, RoundWork, SetAside, WorkKind};
use super::taking_up::missing_shares;
use crate::draft::Draft;
use alloc::format;
use alloc::string::{String, ToString};

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
        if book.review_cycles > state.limits().review_cycles {
            return give_up(state, round, why);
        }
        return Some(to_stage(round, from, RoundStage::Implement, Why::Unproven { why }));
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
            if book.unclassified >= state.limits().same_mechanism {
                return give_up(state, round, format!("its reviews are no decisions: {why}"));
            }
            Some(to_stage(round, from, RoundStage::Blocked, Why::Unclassified { why: why.clone() }))
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
            return give_up(state, round, why);
        }
    };
    // So many rejections are a pattern: somebody looks at it, and one more try follows from that.
    if book.review_cycles >= state.limits().review_cycles {
        let work = work(round, WorkKind::Review);
        let known = state.book.works.get(&work);
        let why = format!("{}, last: {}", sent_back(book), changes.join("; "));
        if book.review_cycles > state.limits().review_cycles {
            return give_up(state, round, why);
        }
        if known.is_none_or(|known| !known.investigated) {
            return Some(decided(RoadmapFact::InvestigationDecided { work, why, pattern: true }));
        }
    }
    let advice = state.book.works.get(&work(round, WorkKind::Review)).map(|known| known.told.clone());
    let changes = changes.iter().cloned().chain(advice.unwrap_or_default()).collect();
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
