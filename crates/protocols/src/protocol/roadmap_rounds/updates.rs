//! What the one roadmap update needs next: authored, reviewed, merged, activated; three rejections are the end of it.

use super::book::UpdateBook;
use super::facts::{Fact as RoadmapFact, UpdateStep};
use super::ladder::{self, Failure};
use super::next::{Next, Waiting, control, decided, state};
use super::plane::{ControllerStage, Plane, UpdateReview, UpdateSeen, UpdateStatus};
use super::reviewing::{Lies, to_set_aside};
use super::rounds::{MAX_REOPENED, asked_or, does_not_stay, reopen, word_of};
use super::state::State;
use super::steps::{PlaneStep, PublishUpdate, RoundWork, StateEdit, UpdateOpened, WorkKind};
use super::taking_up;
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
    if let Some(next) = taking_up::of_update(draft, update) {
        return Some(next);
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
    let round = Some(update.source_round.clone());
    decided(RoadmapFact::Blocked { round, update: true, rejection: None, why })
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
    if word_of(draft, &work) == Ok(false)
        && let Some(next) = unsound(draft, update)
    {
        return Some(next);
    }
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
                let round = Some(update.source_round.clone());
                let why = format!("its draft was rejected {} times, last: {summary}", update.attempt);
                let rejection = Some(summary.clone());
                return Some(decided(RoadmapFact::Blocked { round, update: true, rejection, why }));
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

/// Whatever its reviewer says, a revision that breaks a rule goes back to its author.
fn unsound(draft: &Draft, update: &UpdateSeen) -> Option<Next> {
    if update.author_faults.is_empty() {
        return None;
    }
    let why = format!("it breaks a rule: {}", update.author_faults.join("; "));
    Some(sent_back(draft, update, why))
}

fn sent_back(draft: &Draft, update: &UpdateSeen, why: String) -> Next {
    let times = state(draft).book.update.as_ref().map_or(0, |(_, book)| book.sent_back);
    if times >= state(draft).limits().update_rejections {
        return give_up(update, why);
    }
    step(update, UpdateStep::SentBack { why })
}

fn publish(draft: &Draft, plane: &Plane, update: &UpdateSeen) -> Option<Next> {
    if let Some(next) = unsound(draft, update) {
        return Some(next);
    }
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
            return Some(sent_back(draft, update, why));
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

impl State {
    pub(super) fn open_update(&mut self, opened: &UpdateOpened) {
        let book = UpdateBook { status: Some(UpdateStatus::Authoring), ..UpdateBook::default() };
        self.book.update = Some((opened.source_round.clone(), book));
        self.write(StateEdit::OpenUpdate(opened.clone()));
        self.write(StateEdit::Stage { stage: ControllerStage::UpdateRoadmap });
    }

    pub(super) fn decide_update(&mut self, round: &str, decided: &UpdateStep) {
        let (status, edits) = match decided {
            UpdateStep::Authored => (UpdateStatus::Review, None),
            UpdateStep::Approved { .. } => (UpdateStatus::Approved, None),
            UpdateStep::Rejected { summary } => {
                (UpdateStatus::Rejected, Some(StateEdit::UpdateRejected { summary: summary.clone() }))
            }
            UpdateStep::SentBack { .. } => (UpdateStatus::Authoring, None),
            UpdateStep::Activated { revision } => {
                self.book.forget_update();
                self.own_roadmap_change = true;
                self.write(StateEdit::Activate { revision: revision.clone() });
                return self.write(StateEdit::Stage { stage: ControllerStage::DispatchRounds });
            }
        };
        if let Some((_, book)) = &mut self.book.update {
            book.status = Some(status);
            match decided {
                UpdateStep::Approved { artifact, head } => {
                    book.approval = Some((artifact.clone(), head.clone()));
                }
                UpdateStep::Rejected { summary: why } | UpdateStep::SentBack { why } => {
                    book.approval = None;
                    book.told = alloc::vec![why.clone()];
                    book.sent_back += u32::from(matches!(decided, UpdateStep::SentBack { .. }));
                }
                UpdateStep::Authored | UpdateStep::Activated { .. } => book.told.clear(),
            }
        }
        self.book.begin_stage(round, true);
        self.write(edits.unwrap_or(StateEdit::UpdateStatus { status }));
        self.write(StateEdit::UpdateError { error: None });
        self.write(StateEdit::Retry { retry: None });
    }
}
