//! The files of the task loop (doer, judge, auditor) under `.orchestrator/runs/`, and the prompts of its roles.
//! It knows formats and rules about content; it decides no round and touches no disk.

mod audit;
mod audit_collector;
mod audit_results;
mod command_result;
mod companion_arguments;
mod engine_written;
mod eval_results;
pub mod feedback;
mod handoff;
mod layout;
pub mod prompts;
mod requirement;
mod run_directory;
mod run_metadata;
mod schemas;
mod summary;
pub(crate) mod task_id;
mod task_text;
mod verdict;
mod worktrees_env;

pub use audit::{AuditPolicy, AuditReport, AuditTraceability, Finding, Gate, Risk, RiskLevel};
pub use audit_collector::{ArtifactState, AuditDraft, Traceability, TracedIds, collect_audit_checks};
pub use audit_results::{AuditCheck, AuditResults, AuditResultsSummary, CheckName};
pub use command_result::{CheckStatus, CommandResult, CommandStatus, LogNames, numbered_commands};
pub use companion_arguments::{
    CompanionArgumentError, parse_finding_argument, parse_reason_argument, parse_smoke_check_argument,
};
pub use engine_written::{
    CommandEnding, FailedCheck, VerdictDraft, audit_for_failed_checks, fallback_audit, fallback_verdict,
    last_lines, verdict_for_failed_checks,
};
pub use eval_results::{EvalResults, EvalSummary};
pub use handoff::{Handoff, SmokeCheck, SmokeStatus};
pub use layout::{LayoutProblem, RunKind, check_layout};
pub use requirement::RequirementId;
pub use run_directory::{
    AuditMode, DoerStart, Entry, EntryKind, NeedsHuman, Position, RunDirectory, RunDirectoryName, RunRules,
    Stated,
};
pub use run_metadata::{RoundMetadata, RunMetadata, RunOutcome, SealedArtifact};
pub use schemas::PUBLISHED_SCHEMAS;
pub use summary::{FinalVerdict, Summary};
pub use task_id::{MAX_TASK_ID_BYTES, TaskId, TaskIdRefusal, derive_task_id, validate_task_id};
pub use task_text::{TaskTextError, parse_task_text, render_task_text};
pub use verdict::{Reason, Verdict, VerdictReport};
pub use worktrees_env::{JudgeAccess, WorktreesEnv, WorktreesEnvError};
