//! The artifacts of one round, in the two forms they are written in: JSON records beside prose, or labelled Markdown.
//! Both are read into one model. It knows what a file says, not where it lies or what is done about it.

mod closeout_fields;
mod closeout_record;
mod evidence;
mod labelled;
mod merge_notes;
mod notes;
mod plan;
mod plan_record;
mod record;
mod recovery;
mod request;
mod review;
mod review_record;
mod schemas;
mod selection;
mod update;
mod worker_rules;

pub use closeout_record::{BaseRefresh, CloseoutRecord, CloseoutStatus, CloseoutVerification, sha256_hex};
pub use evidence::{Evidence, ProvenStage, RoundTexts};
pub use merge_notes::{FoundMerge, MergeNotes};
pub use notes::{
    DirectCheck, DirectEvidence, Notes, WorkerState, Workplace, consumes, handoff_faults, worker_state,
};
pub use plan::{
    Complexity, Integration, Profile, RoundPlan, VerificationProfile, Worker, WorkerMode, worker_branch,
    worker_worktree,
};
pub use recovery::{RecoveryAction, RecoveryReport, SalvageableOutput};
pub use request::UpdateRequest;
pub use review::{RetryTarget, Review, ReviewDecision, StatedDecision};
pub use review_record::RecordedDecision;
pub use schemas::PUBLISHED_SCHEMAS;
pub use selection::{Scheduler, Selection};
pub use update::{
    ExpectedUpdate, RoadmapUpdate, UpdateReview, UpdateTrigger, update_artifact, update_review_artifact,
};

pub use crate::faults::{Faults, MAX_FILE_BYTES, readable_text};

/// How the artifacts of a control plane's rounds are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum RoundForm {
    /// JSON records decide, prose stands beside them.
    Records,
    /// Labels in the Markdown files decide, there is no JSON.
    StructuredMarkdown,
}

/// Names of files in `orchestrator/rounds/<round-id>/`.
pub mod files {
    pub const SELECTION_RECORD: &str = "selection-record.json";
    pub const UPDATE_REQUEST: &str = "roadmap-update-request.md";
    pub const PLAN: &str = "plan.md";
    pub const PLAN_RECORD: &str = "round-plan-record.json";
    pub const NOTES: &str = "implementation-notes.md";
    pub const REVIEW: &str = "review.md";
    pub const REVIEW_RECORD: &str = "review-record.json";
    pub const CLOSEOUT_RECORD: &str = "closeout-record.json";
    pub const MERGE: &str = "merge.md";
    pub const ASSIGNMENT: &str = "assignment.md";
    pub const HANDOFF: &str = "handoff.md";

    /// Folder of a round's artifacts, from the top of the repository.
    pub fn round_dir(round_id: &str) -> String {
        format!("orchestrator/rounds/{round_id}")
    }

    pub fn in_round(round_id: &str, name: &str) -> String {
        format!("{}/{name}", round_dir(round_id))
    }

    /// A worker's file, from the round's folder.
    pub fn of_worker(worker_id: &str, name: &str) -> String {
        format!("workers/{worker_id}/{name}")
    }
}

/// Whether a file of a round's folder belongs to the contract before records, which is recognised and never read.
pub fn is_retired(name: &str, form: RoundForm) -> bool {
    match name {
        "selection.md" | "worker-plan.json" | "retry-subloop.md" | "attempt-log.jsonl" => true,
        files::MERGE => form == RoundForm::Records,
        _ => name.starts_with("reviews/"),
    }
}
