//! The state file of a simulated control plane, and what the edits of a controller make of it. Doing them twice comes to the
//! same; who writes and why is not known here.

use std::collections::BTreeMap;
use std::hash::{DefaultHasher, Hash, Hasher};
use windlass_protocols::Digest;
use windlass_protocols::protocol::roadmap_rounds::plane::{
    ControllerStage, RoundStage, UpdateStatus, UpdateTrigger,
};
use windlass_protocols::protocol::roadmap_rounds::steps::StateEdit;

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct StateFile {
    pub(crate) stage: ControllerStage,
    pub(crate) revision: String,
    pub(crate) max_parallel: u32,
    pub(crate) rounds: Vec<RoundRecord>,
    pub(crate) update: Option<UpdateRecord>,
    pub(crate) errors: BTreeMap<String, String>,
    pub(crate) retry: Option<String>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct RoundRecord {
    pub(crate) id: String,
    pub(crate) stage: RoundStage,
    pub(crate) branch: String,
    pub(crate) worktree: String,
    pub(crate) error: Option<String>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct UpdateRecord {
    pub(crate) trigger: UpdateTrigger,
    pub(crate) source_round: String,
    pub(crate) branch: String,
    pub(crate) worktree: String,
    pub(crate) prior_revision: String,
    pub(crate) proposed_revision: String,
    pub(crate) status: UpdateStatus,
    pub(crate) attempt: u32,
    pub(crate) rejection: Option<String>,
    pub(crate) error: Option<String>,
}

impl StateFile {
    pub(crate) fn digest(&self) -> Digest {
        let mut hasher = DefaultHasher::new();
        format!("{self:?}").hash(&mut hasher);
        Digest::new(format!("{:016x}", hasher.finish()))
    }

    pub(crate) fn with(&self, edits: &[StateEdit]) -> Self {
        let mut file = self.clone();
        for edit in edits {
            file.apply(edit);
        }
        file
    }

    fn round(&mut self, id: &str) -> Option<&mut RoundRecord> {
        self.rounds.iter_mut().find(|round| round.id == id)
    }

    fn apply(&mut self, edit: &StateEdit) {
        match edit {
            StateEdit::Stage { stage } => self.stage = *stage,
            StateEdit::AddRound { round, branch, worktree } => {
                if self.round(round).is_none() {
                    self.rounds.push(RoundRecord {
                        id: round.clone(),
                        stage: RoundStage::Plan,
                        branch: branch.clone(),
                        worktree: worktree.clone(),
                        error: None,
                    });
                }
            }
            StateEdit::RoundStage { round, stage } => {
                if let Some(record) = self.round(round) {
                    record.stage = *stage;
                }
            }
            StateEdit::RoundError { round, error } => {
                if let Some(record) = self.round(round) {
                    record.error.clone_from(error);
                }
            }
            StateEdit::RemoveRound { round } => self.rounds.retain(|record| record.id != *round),
            StateEdit::ControllerError { error } => {
                self.errors.insert("controller".to_owned(), error.clone());
            }
            StateEdit::ClearErrors => {
                self.errors.clear();
                self.rounds.iter_mut().for_each(|record| record.error = None);
                if let Some(update) = &mut self.update {
                    update.error = None;
                }
            }
            StateEdit::Retry { retry } => self.retry = retry.as_ref().map(|note| format!("{note:?}")),
            StateEdit::OpenUpdate(_)
            | StateEdit::UpdateStatus { .. }
            | StateEdit::UpdateRejected { .. }
            | StateEdit::LastRejection { .. }
            | StateEdit::UpdateError { .. }
            | StateEdit::Activate { .. } => self.apply_to_update(edit),
        }
    }

    fn apply_to_update(&mut self, edit: &StateEdit) {
        match (edit, &mut self.update) {
            (StateEdit::OpenUpdate(opened), update) => {
                // The update that is activated already is not begun again.
                let there = update.as_ref().is_some_and(|known| known.source_round == opened.source_round);
                if there || self.revision == opened.proposed_revision {
                    return;
                }
                *update = Some(UpdateRecord {
                    trigger: opened.trigger,
                    source_round: opened.source_round.clone(),
                    branch: opened.branch.clone(),
                    worktree: opened.worktree.clone(),
                    prior_revision: opened.prior_revision.clone(),
                    proposed_revision: opened.proposed_revision.clone(),
                    status: UpdateStatus::Authoring,
                    attempt: 1,
                    rejection: None,
                    error: None,
                });
            }
            (StateEdit::UpdateStatus { status }, Some(update)) => update.status = *status,
            (StateEdit::UpdateRejected { summary }, Some(update)) => {
                let there =
                    update.status == UpdateStatus::Rejected && update.rejection.as_ref() == Some(summary);
                if !there {
                    update.status = UpdateStatus::Rejected;
                    update.attempt += 1;
                    update.rejection = Some(summary.clone());
                }
            }
            (StateEdit::LastRejection { summary }, Some(update)) => update.rejection = Some(summary.clone()),
            (StateEdit::UpdateError { error }, Some(update)) => update.error.clone_from(error),
            (StateEdit::Activate { revision }, update) => {
                self.revision.clone_from(revision);
                *update = None;
            }
            _ => {}
        }
    }
}
