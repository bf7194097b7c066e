//! What the one roadmap update needs next: authored, reviewed, merged, activated; three rejections are the end of it.

use super::facts::{Fact as RoadmapFact, UpdateStep};
use super::ladder::{self, Failure};
use super::next::{Next, Waiting, control, decided, state};
use super::plane::{Plane, UpdateReview, UpdateSeen, UpdateStatus};
use super::reviewing::{Lies, to_set_aside};
use super::rounds::{MAX_REOPENED, asked_or, does_not_stay, reopen};
use super::steps::{PlaneStep, PublishUpdate, RoundWork, WorkKind};
use crate::draft::Draft;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec;

pub(super) fn decide(
    draft: &Draft,
    plane: &Plane,
    update: &UpdateSeen,
    waiting: &mut Waiting,
) -> Option<Next> {
    let state = state(draft);
    let (_, book) = state.book.update.as_ref()?;
    if state.book.is_busy(&update.source_round, true) || state.given_up.contains_key(&None) {
        return None;
    }
    if let (true, Some(asked)) = (update.merged, &book.publishing) {
        return Some(control(PlaneStep::PublishUpdate(asked.clone())));
    }
    if book.merged || update.merged {
        return Some(step(update, UpdateStep::Activated { revision: update.proposed_revision.clone() }));
    }
    if update.head.is_none() {
        return Some(give_up(update, format!("the branch {} of the roadmap update is gone", update.branch)));
    }
    if !update.worktree_stands && book.reopened >= MAX_REOPENED {
        return Some(give_up(update, does_not_stay(&update.worktree)));
    }
    if !update.worktree_stands {
        return Some(reopen(draft, plane, &update.source_round, (&update.branch, &update.worktree)));
    }
    match update.status {
        UpdateStatus::Authoring | UpdateStatus::Rejected => author(draft, plane, update, waiting),
        UpdateStatus::Review => review(draft, plane, update, waiting),
        UpdateStatus::Approved => publish(draft, plane, update),
        UpdateStatus::Blocked => None,
    }
}

fn step(update: &UpdateSeen, decided_step: UpdateStep) -> Next {
    let round = update.source_round.clone();
    decided(RoadmapFact::UpdateDecided { round, decided: decided_step })
}

fn give_up(update: &UpdateSeen, why: String) -> Next {
    decided(RoadmapFact::Blocked { round: Some(update.source_round.clone()), update: true, why })
}

fn work(update: &UpdateSeen, kind: WorkKind) -> RoundWork {
    RoundWork { round: update.source_round.clone(), kind }
}

fn author(draft: &Draft, plane: &Plane, update: &UpdateSeen, waiting: &mut Waiting) -> Option<Next> {
    let work = work(update, WorkKind::AuthorUpdate);
    if let Err(next) = asked_or(draft, plane, &work, waiting, || ()) {
        return next;
    }
    if update.authored && update.author_faults.is_empty() {
        return Some(step(update, UpdateStep::Authored));
    }
    let missing = vec!["the update document or the next revision is missing".to_string()];
    let faults = if update.author_faults.is_empty() { missing } else { update.author_faults.clone() };
    ladder::climb(draft, &work, Failure { why: "the roadmap update cannot be read".to_string(), faults })
}

fn review(draft: &Draft, plane: &Plane, update: &UpdateSeen, waiting: &mut Waiting) -> Option<Next> {
    let work = work(update, WorkKind::ReviewUpdate);
    let lies = Lies::of(update.review.as_ref(), &update.review_faults);
    if let Some(next) = to_set_aside(draft, plane, &work, lies) {
        return Some(next);
    }
    if let Err(next) = asked_or(draft, plane, &work, waiting, || ()) {
        return next;
    }
    match &update.review {
        Some(UpdateReview::Approved { artifact }) if update.review_faults.is_empty() => Some(step(
            update,
            UpdateStep::Approved {
                artifact: artifact.clone(),
                head: state(draft).book.judged(&work, update.head.as_ref()),
            },
        )),
        Some(UpdateReview::Rejected { summary }) if update.review_faults.is_empty() => {
            if update.attempt >= state(draft).limits().update_rejections {
                return Some(give_up(
                    update,
                    format!("its draft was rejected {} times, last: {summary}", update.attempt),
                ));
            }
            Some(step(update, UpdateStep::Rejected { summary: summary.clone() }))
        }
        Some(_) | None => {
            let missing = vec!["the review was not left".to_string()];
            let faults = if update.review_faults.is_empty() { missing } else { update.review_faults.clone() };
            let why = "the review of the roadmap update cannot be read".to_string();
            ladder::climb(draft, &work, Failure { why, faults })
        }
    }
}

fn publish(draft: &Draft, plane: &Plane, update: &UpdateSeen) -> Option<Next> {
    let (_, book) = state(draft).book.update.as_ref()?;
    let head = update.head.clone()?;
    let approval = match (&update.review, &book.approval) {
        (Some(UpdateReview::Approved { artifact }), Some((agreed, at)))
            if artifact == agreed && *at == update.head =>
        {
            agreed.clone()
        }
        _ => {
            let why = "what was approved is not what is there any more".to_string();
            if book.sent_back >= state(draft).limits().update_rejections {
                return Some(give_up(update, why));
            }
            return Some(step(update, UpdateStep::SentBack { why }));
        }
    };
    Some(control(PlaneStep::PublishUpdate(PublishUpdate {
        source_round: update.source_round.clone(),
        branch: update.branch.clone(),
        worktree: update.worktree.clone(),
        head,
        base: plane.base.clone(),
        revision: update.proposed_revision.clone(),
        approval,
        decided_at: draft.now(),
    })))
}
