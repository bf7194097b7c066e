//! What the files say against what the loop has agreed on. People edit the state file, the roadmap and the base branch
//! between two looks: stepping back is theirs to do and is taken up, skipping ahead is put back, and all of it is told.

use super::asking::dropped;
use super::book::{RoundBook, UpdateBook, of_stage, speaks_for};
use super::plane::{ControllerStage, DirectSeen, Plane, ReviewSeen, RoundSeen, RoundStage, UpdateStatus};
use super::state::State;
use super::steps::{RoundWork, StateEdit, WorkKind};
use alloc::collections::BTreeSet;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

/// What somebody else did since the last look, and what an integrator dropped, in sentences.
pub(super) fn noticed(state: &State, plane: &Plane) -> Vec<String> {
    let mut told = plane.oddities.clone();
    if let Some(before) = &state.plane {
        told.retain(|oddity| !before.oddities.contains(oddity));
        if before.bundle != plane.bundle && !state.own_roadmap_change {
            told.push(format!("somebody edited the roadmap {} {}", plane.roadmap_id, plane.revision));
        }
    }
    if state.known_base.as_ref().is_some_and(|known| *known != plane.base) {
        told.push(format!("somebody moved {} to {}", plane.base_branch, plane.base));
    }
    let claims_too_much = |plane: &Plane| plane.stage == ControllerStage::Done && !plane.is_terminal();
    if claims_too_much(plane) && !state.plane.as_ref().is_some_and(claims_too_much) {
        let open: Vec<&str> = plane.unfinished().map(|milestone| milestone.id.as_str()).collect();
        told.push(format!("the state says done, but milestones are open: {}", open.join(", ")));
    }
    for seen in &plane.rounds {
        match state.book.rounds.get(&seen.id) {
            // One that is about to go is still in the file.
            None if state.pass > 0 && !state.is_unwritten(&seen.id) => {
                told.push(format!("somebody added {} to the state", seen.id));
            }
            Some(book) if book.stage != seen.stage && !state.is_unwritten(&seen.id) => told.push(format!(
                "somebody set {} from {} to {}",
                seen.id,
                book.stage.word(),
                seen.stage.word()
            )),
            None | Some(_) => {}
        }
    }
    for seen in &plane.rounds {
        let before = state.plane.as_ref().and_then(|before| before.lost_of(&seen.id));
        if let Some(lost) = plane.lost_of(&seen.id).filter(|lost| before.as_ref() != Some(lost)) {
            told.push(format!("{}: {}", seen.id, dropped(&lost)));
        }
    }
    for round in gone(state, plane) {
        told.push(format!("somebody took {round} out of the state; its branch and worktree are kept"));
    }
    told
}

fn gone(state: &State, plane: &Plane) -> Vec<String> {
    let live: BTreeSet<&String> = plane.rounds.iter().map(|round| &round.id).collect();
    let known = state.book.rounds.keys();
    known.filter(|round| !live.contains(round) && !state.is_unwritten(round)).cloned().collect()
}

/// The plane as it is from now on.
pub(super) fn take(state: &mut State, plane: &Plane) {
    for round in gone(state, plane) {
        let merged = state.book.rounds.get(&round).is_some_and(|book| book.merged);
        state.vanished += u32::from(!merged);
        state.book.forget(&round);
    }
    if state.known_base.as_ref().is_some_and(|known| *known != plane.base) {
        state.book.rounds.values_mut().for_each(|book| book.outpaced = true);
    }
    state.plane = Some(plane.clone());
    for seen in &plane.rounds {
        let written = !state.is_unwritten(&seen.id);
        match state.book.rounds.get_mut(&seen.id) {
            None if state.unwritten.contains(&StateEdit::RemoveRound { round: seen.id.clone() }) => {}
            None => {
                if !seen.evidence.merged {
                    state.taken_up.insert(seen.id.clone());
                }
                state.book.rounds.insert(seen.id.clone(), RoundBook::found(seen, &state.spec));
            }
            Some(book) if book.stage == seen.stage || !written => {
                book.merged |= seen.evidence.merged;
                if seen.worktree_stands {
                    book.reopened = 0;
                }
            }
            Some(book) if is_ahead(seen.stage, book.stage) => {
                let agreed = book.stage;
                state.unwritten.push(StateEdit::RoundStage { round: seen.id.clone(), stage: agreed });
            }
            Some(book) => {
                let was = core::mem::replace(&mut book.stage, seen.stage);
                // Blocking it is no step back: it goes on where it was.
                book.blocked_at = (seen.stage == RoundStage::Blocked).then_some(was);
                if book.blocked_at.is_none() {
                    book.approval = None;
                }
                state.given_up.remove(&Some(seen.id.clone()));
                state.book.begin_stage(&seen.id, false);
            }
        }
    }
    take_update(state, plane);
    state.known_base = Some(plane.base.clone());
    state.own_roadmap_change = false;
}

/// A stage that only an agent's work could have reached.
fn is_ahead(seen: RoundStage, agreed: RoundStage) -> bool {
    seen != RoundStage::Blocked && agreed != RoundStage::Blocked && seen > agreed
}

fn take_update(state: &mut State, plane: &Plane) {
    if state.update_is_unwritten() {
        return;
    }
    match (&plane.update, &mut state.book.update) {
        (None, book) => {
            *book = None;
            state.book.forget_update();
        }
        (Some(seen), Some((round, book))) if *round == seen.source_round => {
            book.merged |= seen.merged;
            if seen.worktree_stands {
                book.reopened = 0;
            }
            if book.status != Some(seen.status) && !is_update_ahead(seen.status, book.status) {
                book.status = Some(seen.status);
                book.approval = None;
                let round = round.clone();
                state.book.begin_stage(&round, true);
            } else if let Some(status) = book.status.filter(|status| *status != seen.status) {
                state.unwritten.push(StateEdit::UpdateStatus { status });
            }
        }
        (Some(seen), _) => {
            state.book.forget_update();
            state.book.update = Some((seen.source_round.clone(), UpdateBook::found(seen, &state.spec)));
        }
    }
}

/// Only an approved review makes an update approved, and only its author makes it one to review.
fn is_update_ahead(seen: UpdateStatus, agreed: Option<UpdateStatus>) -> bool {
    match seen {
        UpdateStatus::Approved => agreed != Some(UpdateStatus::Approved),
        UpdateStatus::Review => {
            matches!(agreed, Some(UpdateStatus::Authoring | UpdateStatus::Rejected))
        }
        UpdateStatus::Authoring | UpdateStatus::Rejected | UpdateStatus::Blocked => false,
    }
}

/// Whoever was stopped over an approving file has approved nothing: an earlier run of ours knows whether it was taken for one.
fn is_believed(state: &State, seen: &RoundSeen, agreed: RoundStage) -> bool {
    let direct = seen.evidence.plan.as_ref().and_then(|plan| plan.direct.as_ref());
    match (agreed, &seen.evidence.review, direct) {
        (RoundStage::Review, Some(ReviewSeen::Approved { artifact, .. }), _)
        | (RoundStage::Plan, _, Some(DirectSeen::Proven { artifact, .. })) => {
            state.spec.believes(&seen.id, false, artifact)
        }
        _ => true,
    }
}

/// What another controller's agents left counts as their word, once it is committed.
pub(super) fn speak_for_themselves(state: &mut State, round: &str) {
    let Some(seen) = state.plane.as_ref().and_then(|plane| plane.round(round)) else { return };
    let Some(book) = state.book.rounds.get(round).filter(|book| book.taken_up) else { return };
    let agreed = book.stage;
    // Of a round that agents of this run worked on, only a new review is one.
    let old = agreed == RoundStage::Review && (book.unjudged || !state.is_untouched(round));
    if old || !speaks_for(&seen.evidence, agreed) || !is_believed(state, seen, agreed) {
        return;
    }
    if let Some(work) = of_stage(round, agreed) {
        let kinds = match work.kind {
            WorkKind::Implement => alloc::vec![WorkKind::Implement, WorkKind::Integrate],
            kind => alloc::vec![kind],
        };
        for kind in kinds {
            let known = state.book.work(&RoundWork { round: round.to_string(), kind });
            // What could not be taken down lies there and is in no commit.
            known.came_back = !known.untaken;
        }
    }
}
