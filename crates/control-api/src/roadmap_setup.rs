//! What can be asked of a roadmap's control plane without running it, and what comes back: set it up, look at it, migrate
//! it, apply one approved closeout.

use serde::Serialize;
use std::path::PathBuf;

/// `windlass roadmap init`.
#[derive(Clone, Debug, Default)]
pub struct InitRoadmap {
    pub repository: PathBuf,
    /// Without answers a dry run says what would be asked and in which mode.
    pub answers: Option<AnswersText>,
    /// JSON records beside the prose, instead of labels in Markdown only.
    pub records: bool,
    pub dry_run: bool,
}

/// Answers as somebody wrote them.
#[derive(Clone, Debug)]
pub struct AnswersText {
    /// Where they come from, for messages.
    pub name: String,
    pub text: String,
    pub format: AnswersFormat,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AnswersFormat {
    Toml,
    Json,
}

#[derive(Clone, Debug, Default, Serialize)]
pub struct RoadmapInitReport {
    pub repository: String,
    /// `bootstrap` or `next-family`.
    pub mode: String,
    /// `structured-markdown` or `records`.
    pub generation: String,
    pub dry_run: bool,
    /// There was no repository.
    pub begins_repository: bool,
    pub roadmap_id: Option<String>,
    pub roadmap_dir: Option<String>,
    /// Name and words of what was agreed on.
    pub ledger: Vec<(String, String)>,
    pub milestones: Vec<SetupMilestone>,
    pub written: Vec<String>,
    /// Were there and stay as they are.
    pub unchanged: Vec<String>,
    /// The one checkpoint commit.
    pub commit: Option<String>,
    pub notices: Vec<String>,
    /// What a person would be asked.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub questions: Vec<SetupQuestion>,
    /// As commands.
    pub next_steps: Vec<String>,
}

#[derive(Clone, Debug, Serialize)]
pub struct SetupMilestone {
    pub id: String,
    pub title: String,
    pub depends_on: Vec<String>,
    pub lane: String,
    pub directions: Vec<String>,
}

#[derive(Clone, Debug, Serialize)]
pub struct SetupQuestion {
    /// As in the answers file.
    pub key: String,
    pub name: String,
    pub words: String,
    /// The recommended one first; none where only a person can know.
    pub suggestions: Vec<SetupSuggestion>,
    /// Whether the answer is a list.
    pub many: bool,
}

#[derive(Clone, Debug, Serialize)]
pub struct SetupSuggestion {
    pub label: String,
    pub text: String,
    pub trade_off: String,
}

/// `windlass roadmap inspect`.
#[derive(Clone, Debug, Default, Serialize)]
pub struct RoadmapInspection {
    pub repository: String,
    pub kind: PlaneKindView,
    /// `structured-markdown` or `records`, where it is one of the two that are run.
    pub generation: Option<String>,
    /// Whether `windlass roadmap run` could begin.
    pub valid: bool,
    /// Everything can be understood, but not as things stand: another branch, edits that are not committed, a later revision.
    pub not_now: bool,
    /// Why it is what it is, in sentences: for everything but a plane that can be run.
    pub why: Vec<String>,
    /// Everything that is wrong, the reasons included.
    pub problems: Vec<PlaneProblem>,
    /// What can be done about it, where that is no command to type.
    pub hints: Vec<String>,
    /// What is odd and does not matter to a run.
    pub oddities: Vec<String>,
    pub roadmap: Option<RoadmapHead>,
    pub milestones: Vec<MilestoneView>,
    pub unfinished: Vec<String>,
    pub rounds: Vec<LiveRound>,
    pub update: Option<LiveUpdate>,
    /// Recorded errors, by their key.
    pub errors: Vec<(String, String)>,
    /// Every milestone is done.
    pub terminal: bool,
    /// Nothing is left to do and nothing stands in the way of saying so.
    pub complete: bool,
    /// What `windlass roadmap run` would do first.
    pub next: Option<String>,
    /// Files of the plane that people changed and did not commit.
    pub edits: Vec<String>,
    /// As commands.
    pub next_steps: Vec<String>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum PlaneKindView {
    /// There is no `orchestrator/`.
    #[default]
    Absent,
    /// Another tool's folder.
    NotAnOrchestrator,
    /// Meant to be a control plane, and its state cannot be read.
    Unreadable,
    Legacy,
    MigrationNeeded,
    /// One of the two generations that are run.
    Runs,
}

#[derive(Clone, Debug, Serialize)]
pub struct PlaneProblem {
    pub file: String,
    /// Line, counted from one.
    pub line: Option<usize>,
    /// JSON pointer; empty in Markdown.
    pub pointer: String,
    /// Section of the loop's contract; empty for a reason that is no rule.
    pub rule: String,
    /// `fatal`, `recoverable` or `warning`.
    pub severity: String,
    pub message: String,
}

#[derive(Clone, Debug, Serialize)]
pub struct RoadmapHead {
    pub roadmap_id: String,
    pub revision: String,
    pub dir: String,
    pub base_branch: String,
    pub controller_stage: String,
    pub max_parallel_rounds: u32,
}

#[derive(Clone, Debug, Serialize)]
pub struct MilestoneView {
    pub id: String,
    pub title: String,
    pub status: String,
    pub lane: String,
    pub depends_on: Vec<String>,
    /// It is not done, and everything it depends on is.
    pub ready: bool,
}

#[derive(Clone, Debug, Serialize)]
pub struct LiveRound {
    pub id: String,
    /// As recorded.
    pub stage: String,
    /// The stage its artifacts prove.
    pub proves: String,
    pub branch: String,
    pub worktree: String,
    pub worktree_stands: bool,
    pub resume_error: Option<String>,
    /// What is wrong with its artifacts.
    pub faults: Vec<String>,
}

#[derive(Clone, Debug, Serialize)]
pub struct LiveUpdate {
    pub source_round: String,
    pub proposed_revision: String,
    pub status: String,
    pub attempt: u32,
    pub resume_error: Option<String>,
}

/// `windlass roadmap migrate`.
#[derive(Clone, Debug, Default)]
pub struct MigrateRoadmap {
    pub repository: PathBuf,
    pub dry_run: bool,
}

#[derive(Clone, Debug, Default, Serialize)]
pub struct RoadmapMigration {
    pub repository: String,
    pub dry_run: bool,
    /// Why a migration is needed.
    pub why: Vec<String>,
    /// The state that is proposed, as text.
    pub state: String,
    /// The machine view that is proposed; absent where the roadmap's labels are the machine source.
    pub view: Option<String>,
    /// What the new files do not say any more.
    pub not_carried_over: Vec<String>,
    /// What has to be settled by a person before it can be written.
    pub open: Vec<String>,
    /// Files it would be made of that people changed and did not commit.
    pub edits: Vec<String>,
    pub written: Vec<String>,
    pub unchanged: Vec<String>,
    pub commit: Option<String>,
    pub next_steps: Vec<String>,
}

/// `windlass roadmap closeout`.
#[derive(Clone, Debug, Default)]
pub struct CloseoutRoadmap {
    /// The work tree to edit; the one that holds the review where none is named.
    pub repository: Option<PathBuf>,
    /// `review-record.json`, or `review.md` of a plane without records.
    pub review: PathBuf,
    pub dry_run: bool,
}

#[derive(Clone, Debug, Serialize)]
pub struct AppliedCloseout {
    pub work_tree: String,
    pub dry_run: bool,
    pub review: String,
    /// Of the review's exact bytes.
    pub review_sha256: String,
    pub mode: String,
    /// From the top of the work tree.
    pub files: Vec<String>,
    /// One line for each approved edit.
    pub applied_edit_summary: Vec<String>,
}
