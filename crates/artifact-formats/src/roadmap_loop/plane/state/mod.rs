//! `orchestrator/state.json`: where the controller stands. Read by shape, edited only at the bytes that change.
//! It knows the file; whether the roadmap it points to is finished is known elsewhere.

mod edit;
mod invariants;
mod read;
mod records;

use crate::faults::Faults;
use crate::recognised::Recognised;

use super::problem::{Problem, Severity};

pub use records::{
    ControllerStage, ResumeError, Retry, RetryMechanism, RetryRecord, RetryScope, RoundRecord, RoundStage,
    UpdateRecord, UpdateStatus, UpdateTrigger,
};

pub const STATE_FILE: &str = "orchestrator/state.json";
pub(super) const CONTRACT_VERSION: &str = "orchestrator-v2";

/// The keys of the file, in the order they are scaffolded.
pub(super) const KEYS: [&str; 11] = [
    "contract_version",
    "base_branch",
    "roadmap_id",
    "roadmap_revision",
    "roadmap_dir",
    "controller_stage",
    "max_parallel_rounds",
    "active_rounds",
    "roadmap_update",
    "resume_errors",
    "retry",
];

/// Keys that older planes kept and that are derived now; one of them makes a plane a legacy one.
pub const LEGACY_KEYS: [&str; 28] = [
    "active_round",
    "active_round_dir",
    "active_round_id",
    "artifact_paths",
    "branch",
    "current_task",
    "depends_on_round_ids",
    "direction_id",
    "extracted_item_id",
    "last_completed_round",
    "lineage",
    "merge_after_item_ids",
    "merge_ready",
    "milestone_id",
    "parallel_group",
    "pending_merge_rounds",
    "post_review_queue",
    "preferred_round",
    "preferred_round_id",
    "resume_error",
    "roadmap_style",
    "round_artifacts",
    "scheduler",
    "stage",
    "worker_mode",
    "worker_records",
    "workers",
    "worktree_path",
];

/// The state with the exact text it was read from. What a broken file leaves out is nothing here, never a guess.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StateFile {
    source: String,
    pub contract_version: Option<String>,
    pub base_branch: Option<String>,
    pub roadmap_id: Option<String>,
    pub roadmap_revision: Option<String>,
    pub roadmap_dir: Option<String>,
    pub controller_stage: Option<ControllerStage>,
    pub max_parallel_rounds: Option<u32>,
    /// Every record that could be read, those at `done` included.
    pub rounds: Vec<RoundRecord>,
    pub roadmap_update: Option<UpdateRecord>,
    pub resume_errors: Vec<ResumeError>,
    pub retry: Retry,
    /// Keys of an older contract, with their JSON pointers.
    pub legacy_keys: Vec<String>,
    /// Keys of nobody we know, with their JSON pointers.
    pub unknown_keys: Vec<String>,
    problems: Vec<Problem>,
}

/// Where the roadmap in force lies.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct ActiveBundle {
    pub roadmap_id: String,
    pub revision: String,
    pub dir: String,
}

impl StateFile {
    /// Tells our file from another tool's. One of ours may still have problems; see [`StateFile::problems`].
    pub fn recognise(text: &str) -> Recognised<Self> {
        read::recognise(text)
    }

    /// For callers that need one of ours: a foreign file is a fault here.
    pub fn parse(text: &str) -> Result<Self, Faults> {
        Self::recognise(text).or_faults(STATE_FILE)
    }

    /// The file's text, byte for byte as it was read or edited.
    pub fn text(&self) -> &str {
        &self.source
    }

    /// Everything that is wrong or odd as far as the file alone can tell, each with its rule.
    pub fn problems(&self) -> &[Problem] {
        &self.problems
    }

    /// The fatal problems as one refusal; after this every key that is required has its value.
    pub fn sound(&self) -> Result<(), Faults> {
        let fatal = self.problems.iter().filter(|problem| problem.severity == Severity::Fatal);
        let sentences = fatal
            .map(|problem| match problem.pointer.as_str() {
                "" => format!("{} (rule {})", problem.message, problem.rule),
                pointer => format!("{pointer}: {} (rule {})", problem.message, problem.rule),
            })
            .collect();
        Faults::unless_empty(STATE_FILE, sentences, || Some(()))
    }

    /// Rule 3.3.5, which needs the roadmap: `done` while a milestone is unfinished.
    pub fn stale_done(&self, bundle_is_terminal: bool) -> Option<Problem> {
        invariants::stale_done(self, bundle_is_terminal)
    }

    /// Rule 5.2: whether success may be claimed.
    pub fn is_complete(&self, bundle_is_terminal: bool) -> bool {
        bundle_is_terminal
            && self.live_rounds().next().is_none()
            && self.roadmap_update.is_none()
            && self.resume_errors.is_empty()
    }

    /// Nothing where one of the three fields is missing.
    pub fn bundle(&self) -> Option<ActiveBundle> {
        Some(ActiveBundle {
            roadmap_id: self.roadmap_id.clone()?,
            revision: self.roadmap_revision.clone()?,
            dir: self.roadmap_dir.as_deref()?.trim_end_matches('/').to_owned(),
        })
    }

    /// A record at `done` was merged already and goes with the next write.
    pub fn live_rounds(&self) -> impl Iterator<Item = &RoundRecord> {
        self.rounds.iter().filter(|round| round.stage != RoundStage::Done)
    }

    pub fn round(&self, id: &str) -> Option<&RoundRecord> {
        self.live_rounds().find(|round| round.round_id == id)
    }

    /// What is recorded under `resume_errors.controller`.
    pub fn controller_error(&self) -> Option<&str> {
        let found = self.resume_errors.iter().find(|error| error.key == "controller");
        found.map(|error| error.text.as_str())
    }
}
