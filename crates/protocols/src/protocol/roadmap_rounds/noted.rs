//! The attempt that the state file says is under way: a run that finds it on a live round or update goes on counting from
//! it, with what went before it still known. Another controller's form of the note is nobody's count here.

use super::ladder::LOOKED_INTO_AFTER;
use super::plane::{Plane, RoundStage, UpdateStatus};
use super::state::State;
use super::steps::{Mechanism, RetryNote, RoundWork, WorkKind};
use alloc::string::{String, ToString};
use alloc::vec;
use alloc::vec::Vec;

/// The word for the stage in the note. Workers are told apart by their names.
pub(super) fn stage_in_note(kind: &WorkKind) -> String {
    match kind {
        WorkKind::Worker { worker } => worker.clone(),
        kind => kind.words().to_string(),
    }
}

/// The work whose attempt is noted; nothing where the note is about a round that is not live, or about another stage than
/// the one that is recorded.
pub fn noted_work(plane: &Plane) -> Option<(RoundWork, &RetryNote)> {
    let note = plane.retry.as_ref()?;
    let (kinds, stage) = if note.of_update { of_update(plane, note)? } else { of_round(plane, note)? };
    let alone = kinds.len() == 1;
    let named = |kind: &WorkKind| stage_in_note(kind) == note.stage || (alone && note.stage == stage);
    let kind = kinds.into_iter().find(named)?;
    Some((RoundWork { round: note.id.clone(), kind }, note))
}

fn of_update(plane: &Plane, note: &RetryNote) -> Option<(Vec<WorkKind>, &'static str)> {
    let update = plane.update.as_ref().filter(|update| update.source_round == note.id)?;
    match update.status {
        UpdateStatus::Authoring | UpdateStatus::Rejected => Some((vec![WorkKind::AuthorUpdate], "authoring")),
        UpdateStatus::Review => Some((vec![WorkKind::ReviewUpdate], "review")),
        UpdateStatus::Approved | UpdateStatus::Blocked => None,
    }
}

fn of_round(plane: &Plane, note: &RetryNote) -> Option<(Vec<WorkKind>, &'static str)> {
    let round = plane.round(&note.id)?;
    let kinds = match round.stage {
        RoundStage::Plan => vec![WorkKind::Plan],
        RoundStage::Implement => {
            let workers = round.evidence.plan.iter().flat_map(|plan| &plan.workers);
            let mut kinds: Vec<WorkKind> =
                workers.map(|worker| WorkKind::Worker { worker: worker.id.clone() }).collect();
            kinds.push(if kinds.is_empty() { WorkKind::Implement } else { WorkKind::Integrate });
            kinds
        }
        RoundStage::Review => vec![WorkKind::Review],
        RoundStage::FinalizeRound | RoundStage::Blocked => return None,
    };
    Some((kinds, round.stage.word()))
}

impl State {
    /// Somebody was at this when the round or the update was left: the next attempt is the one that is noted, and the rungs
    /// below it are not climbed again.
    pub(super) fn go_on_counting(&mut self, plane: &Plane, round: &str, of_update: bool) {
        let noted =
            noted_work(plane).filter(|(work, note)| work.round == round && note.of_update == of_update);
        let Some((work, note)) = noted else { return };
        let limit = self.limits().same_mechanism;
        let why = if of_update {
            plane.update.as_ref().and_then(|update| update.resume_error.clone())
        } else {
            plane.round(round).and_then(|seen| seen.resume_error.clone())
        };
        if let Some(book) = self.book.rounds.get_mut(round).filter(|_| !of_update) {
            book.review_cycles = note.review_cycles;
        }
        let known = self.book.work(&work);
        known.asked_before = note.attempt.saturating_sub(1);
        // Each review cycle before it asked once without a failure.
        let failed = known.asked_before.saturating_sub(note.review_cycles).max(known.asked_before.min(1));
        known.afresh = note.mechanism != Mechanism::SameHandle;
        known.failures = if known.afresh { failed.max(limit) } else { failed.min(limit) };
        known.investigated = known.afresh && known.failures >= LOOKED_INTO_AFTER;
        known.told = why.into_iter().collect();
    }
}
