//! The files of the goal loop (contract, queue, budget, ledger, reports) under `docs/`, what its engine reads off test
//! output and changes, and the prompts of its roles. It knows formats and rules about content; it selects no item,
//! decides no iteration and touches no disk.

mod allowed_paths;
mod budget;
mod builder_report;
mod commit_subject;
mod contract;
mod design;
mod destructive;
mod evaluation;
mod features;
mod item_id;
mod progress;
pub mod prompts;
mod run_log;
mod schemas;
mod secrets;
mod tests_run;
mod trajectory;

pub use crate::recognised::Recognised;
pub(crate) use allowed_paths::covers;
pub use allowed_paths::{Allowed, LOOP_PATHS, is_always_allowed, is_loop_file, is_test_path};
pub use budget::{BUDGET_FILE, Budget, Caps, Control, Used};
pub use builder_report::BuilderReport;
pub use commit_subject::{commit_subject, item_of_subject};
pub use contract::{
    Autonomy, CONTRACT_FILE, Contract, InboxLine, OnBlocked, PARK_AND_GO_ON, PinnedCommands, Scope, ScopePart,
};
pub use design::{DesignAnswer, DesignDecision, DesignDocument, DesignStatus, RefinedContract, design_path};
pub use destructive::{Destroys, destructive};
pub use evaluation::{
    CauseCategory, CauseKey, EVALUATION_FILE, Evaluation, EvaluationReport, Issue, Score, Scores,
    StatedCause, StatedVerdict, kept_evaluation_path,
};
pub use features::{
    DefinitionChanges, EditFault, FEATURES_FILE, Feature, FeatureList, FieldChange, FieldOwner, ItemChange,
    ItemContract, ItemStatus, NewItem, Priority,
};
pub use item_id::ItemId;
pub use progress::{
    DesignApproval, DesignEntry, LoopSummary, PROGRESS_FILE, RunEnd, SessionEntry, append_progress,
    has_summary_since, progress_headings,
};
pub use run_log::{
    FoundIteration, IterationEntry, LoggedAction, LoggedVerdict, LoggedWork, Of, RUN_LOG_FILE, RunLog,
    StartSnapshot,
};

pub use schemas::PUBLISHED_SCHEMAS;
pub use secrets::{AddedLine, SecretFinding, SecretKind, added_lines, scan_secrets};
pub use tests_run::{ComparedBy, TestsComparison, TestsExit, TestsRun};
pub use trajectory::{TRAJECTORY_FILE, ToolCall, read_trajectory};

pub use crate::faults::{Faults, Parsed};
