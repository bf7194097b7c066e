//! Writes the state file in one piece, or not at all: beside its place, flushed, renamed. What somebody changed meanwhile is
//! never written over.

use crate::context::RunContext;
use crate::control_plane::{self, Trouble, stage_to_file};
use crate::durable_file::{Flush, replace};
use windlass_artifact_formats::roadmap_loop::plane::{
    ResumeError, Retry, RetryMechanism, RetryRecord, RetryScope, RoundRecord, STATE_FILE, StateFile,
    UpdateRecord, UpdateStatus, names,
};
use windlass_artifact_formats::roadmap_loop::round::{Faults, sha256_hex};
use windlass_control_api::Fault;
use windlass_protocols::protocol::roadmap_rounds::steps::{
    Mechanism, PlaneOutcome, RetryNote, StateEdit, UpdateOpened, WriteState,
};
use windlass_protocols::{Digest, Outcome};

pub(super) fn run(context: &RunContext, asked: &WriteState) -> Result<Outcome, Fault> {
    let top = context.repository.checkout().work_tree();
    let (state, found) = match control_plane::read_state(top) {
        Ok(found) => found,
        Err(trouble) => return Ok(refused(&trouble)),
    };
    let edited = match asked.edits.iter().try_fold(state.clone(), |state, edit| apply(&state, edit)) {
        Ok(edited) => edited,
        Err(faults) => return Ok(Outcome::Refused { reason: faults.to_string() }),
    };
    if edited.text() == state.text() {
        return Ok(Outcome::Plane(PlaneOutcome::StateWritten { state: found }));
    }
    if found != asked.seen {
        return Ok(Outcome::Plane(PlaneOutcome::StateMoved));
    }
    replace(&top.join(STATE_FILE), edited.text().as_bytes(), Flush::ToDisk)?;
    let state = Digest::new(sha256_hex(edited.text().as_bytes()));
    Ok(Outcome::Plane(PlaneOutcome::StateWritten { state }))
}

pub(super) fn refused(trouble: &Trouble) -> Outcome {
    Outcome::Refused { reason: trouble.sentence() }
}

/// The state with the edit in it. What says so already is left as it is, to the byte.
fn apply(state: &StateFile, edit: &StateEdit) -> Result<StateFile, Faults> {
    let same = || Ok(state.clone());
    match edit {
        StateEdit::Stage { stage } => {
            let word = stage_to_file(*stage);
            if state.controller_stage == Some(word) { same() } else { state.set_stage(word) }
        }
        StateEdit::AddRound { round, branch, worktree } => match state.round(round) {
            Some(_) => same(),
            None => state.add_round(&new_round(round, branch, worktree)),
        },
        StateEdit::RoundStage { round, stage } => {
            let word = control_plane::round_stage_to_file(*stage);
            match state.round(round) {
                Some(known) if known.stage != word => state.set_round_stage(round, word),
                _ => same(),
            }
        }
        StateEdit::RoundError { round, error } => match state.round(round) {
            Some(known) if known.resume_error != *error => state.set_round_error(round, error.as_deref()),
            _ => same(),
        },
        StateEdit::RemoveRound { round } => match state.round(round) {
            Some(_) => state.remove_round(round),
            None => same(),
        },
        StateEdit::OpenUpdate(_)
        | StateEdit::UpdateStatus { .. }
        | StateEdit::UpdateRejected { .. }
        | StateEdit::LastRejection { .. }
        | StateEdit::UpdateError { .. } => edit_update(state, edit),
        StateEdit::Activate { revision } => activate(state, revision),
        StateEdit::ControllerError { error } => match state.controller_error() {
            Some(known) if known == error => same(),
            _ => state.set_controller_error(Some(error)),
        },
        StateEdit::ClearErrors => {
            if has_errors(state) {
                state.clear_errors()
            } else {
                same()
            }
        }
        StateEdit::Retry { retry } => {
            let wanted = retry.as_ref().map(retry_record);
            let known = match (&state.retry, &wanted) {
                (Retry::Idle, None) => true,
                (Retry::Attempt(known), Some(wanted)) => known == wanted,
                _ => false,
            };
            if known { same() } else { state.set_retry(wanted.as_ref()) }
        }
    }
}

fn new_round(round: &str, branch: &str, worktree: &str) -> RoundRecord {
    RoundRecord {
        round_id: round.to_owned(),
        stage: windlass_artifact_formats::roadmap_loop::plane::RoundStage::Plan,
        branch: branch.to_owned(),
        worktree_path: worktree.to_owned(),
        resume_error: None,
        extra: windlass_artifact_formats::ExtraKeys::default(),
    }
}

fn has_errors(state: &StateFile) -> bool {
    let of_update = state.roadmap_update.as_ref().is_some_and(|update| update.resume_error.is_some());
    let none: &[ResumeError] = &[];
    state.resume_errors != none || of_update || state.live_rounds().any(|round| round.resume_error.is_some())
}

fn edit_update(state: &StateFile, edit: &StateEdit) -> Result<StateFile, Faults> {
    let mut update = match (edit, &state.roadmap_update) {
        (StateEdit::OpenUpdate(opened), None) => return state.set_update(Some(&new_update(opened))),
        // It is there already, or went: then there is nothing to say about it.
        (StateEdit::OpenUpdate(_), Some(_)) | (_, None) => return Ok(state.clone()),
        (_, Some(update)) => update.clone(),
    };
    match edit {
        StateEdit::UpdateStatus { status } => {
            update.status = control_plane::update_status_to_file(*status);
        }
        StateEdit::UpdateRejected { summary } => {
            let noted = update.status == UpdateStatus::Rejected
                && update.last_rejection_summary.as_ref() == Some(summary);
            if !noted {
                update.status = UpdateStatus::Rejected;
                update.attempt = update.attempt.saturating_add(1);
                update.last_rejection_artifact = Some(update.review_artifact.clone());
                update.last_rejection_summary = Some(summary.clone());
            }
        }
        StateEdit::LastRejection { summary } => {
            update.last_rejection_artifact = Some(update.review_artifact.clone());
            update.last_rejection_summary = Some(summary.clone());
        }
        StateEdit::UpdateError { error } => update.resume_error.clone_from(error),
        _ => {}
    }
    if state.roadmap_update.as_ref() == Some(&update) {
        return Ok(state.clone());
    }
    state.set_update(Some(&update))
}

fn new_update(opened: &UpdateOpened) -> UpdateRecord {
    UpdateRecord {
        trigger: control_plane::trigger_to_file(opened.trigger),
        source_round_id: opened.source_round.clone(),
        branch: opened.branch.clone(),
        worktree_path: opened.worktree.clone(),
        update_artifact: names::update_artifact(&opened.source_round),
        review_artifact: names::update_review_artifact(&opened.source_round),
        prior_roadmap_revision: opened.prior_revision.clone(),
        proposed_roadmap_revision: opened.proposed_revision.clone(),
        status: UpdateStatus::Authoring,
        attempt: 1,
        last_rejection_artifact: None,
        last_rejection_summary: None,
        resume_error: None,
    }
}

fn activate(state: &StateFile, revision: &str) -> Result<StateFile, Faults> {
    let active = state.roadmap_revision.as_deref() == Some(revision);
    if active && state.roadmap_update.is_none() {
        return Ok(state.clone());
    }
    let roadmap_id = state.roadmap_id.clone().unwrap_or_default();
    state.activate(revision, &names::roadmap_dir(&roadmap_id, revision))
}

fn retry_record(note: &RetryNote) -> RetryRecord {
    RetryRecord {
        scope: if note.of_update { RetryScope::RoadmapUpdate } else { RetryScope::Round },
        id: note.id.clone(),
        stage: note.stage.clone(),
        mechanism: match note.mechanism {
            Mechanism::SameHandle => RetryMechanism::SameHandle,
            Mechanism::FreshAgent => RetryMechanism::FreshAgent,
            Mechanism::OtherAdapter => RetryMechanism::OtherAdapter,
        },
        attempt: note.attempt,
        review_retry_cycles: note.review_cycles,
    }
}
