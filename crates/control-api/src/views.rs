//! What comes back: flat, serialisable, and the exact shape of `--json`.

use crate::events::LogEntry;
use crate::money::Spent;
use serde::{Deserialize, Serialize};

/// How a run stands or ended, in one word.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Status {
    /// Some process drives it.
    Running,
    /// Unfinished and nobody drives it: `windlass resume`.
    Interrupted,
    Accepted,
    Rejected,
    NeedsHuman,
    Exhausted,
    Stopped,
    Failed,
    /// A goal loop that did not begin.
    RedBaseline,
    DryRun,
}

impl Status {
    pub const fn word(self) -> &'static str {
        match self {
            Self::Running => "running",
            Self::Interrupted => "interrupted",
            Self::Accepted => "accepted",
            Self::Rejected => "rejected",
            Self::NeedsHuman => "needs human",
            Self::Exhausted => "exhausted",
            Self::Stopped => "stopped",
            Self::Failed => "failed",
            Self::RedBaseline => "red baseline",
            Self::DryRun => "dry run",
        }
    }

    pub const fn exit_code(self) -> u8 {
        use crate::exit_codes as codes;
        match self {
            Self::Accepted | Self::DryRun | Self::Running => codes::ACCEPTED,
            Self::Rejected => codes::REJECTED,
            Self::NeedsHuman => codes::NEEDS_HUMAN,
            Self::Exhausted => codes::EXHAUSTED,
            Self::Stopped | Self::Interrupted => codes::STOPPED,
            Self::Failed => codes::FAULT,
            Self::RedBaseline => codes::RED_BASELINE,
        }
    }
}

/// Which of the loops a run is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum LoopKind {
    #[default]
    Task,
    Control,
    Goal,
    Roadmap,
    /// No run, but stories of a queue that wait for a person.
    Stories,
}

impl LoopKind {
    /// What it calls one pass.
    pub const fn pass_word(self) -> &'static str {
        match self {
            Self::Task | Self::Roadmap | Self::Stories => "round",
            Self::Control | Self::Goal => "iteration",
        }
    }
}

/// One line of `windlass ls`.
#[derive(Clone, Debug, Serialize)]
pub struct RunLine {
    pub run: String,
    pub task: String,
    pub status: Status,
    /// What it is doing or how it ended.
    pub now: String,
    pub kind: LoopKind,
    /// Of a control loop: the iteration of its outermost node, and how many actuations it may have.
    pub round: u32,
    /// Absent where nothing caps them.
    pub rounds: Option<u32>,
    pub started_at_ms: u64,
    pub updated_at_ms: u64,
    pub repository: String,
    pub run_dir: String,
    /// Whether it stands in the inbox.
    pub waits: bool,
}

#[derive(Clone, Debug, Default, Serialize)]
pub struct SaidBy {
    pub judge: Option<Speaker>,
    pub audit: Option<Speaker>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Speaker {
    Agent,
    Engine,
}

#[derive(Clone, Debug, Serialize)]
pub struct RunView {
    #[serde(flatten)]
    pub line: RunLine,
    pub task_text: String,
    pub base: String,
    pub base_ref: String,
    pub tree: Option<String>,
    pub landed: Option<LandedView>,
    pub judge_verdict: String,
    pub audit_gate: String,
    /// Whose words those two are: `agent`, `engine` where a check decided before anybody was asked, or nobody's.
    pub said_by: SaidBy,
    pub checks: Vec<String>,
    pub audit_checks: Vec<String>,
    pub agents: Vec<(String, String)>,
    /// Fallbacks that answered, by role, where the role's own agent did not have the last word.
    pub stand_ins: Vec<(String, String)>,
    pub used: Used,
    pub spent: Spent,
    pub sandbox: SandboxView,
    /// `overlay` where agents work in layers over a checkout that other runs share; empty for worktrees.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub workspaces: String,
    pub explanation: ExplanationView,
    /// Of a control loop.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub control: Option<crate::control_loop::ControlReport>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub goal: Option<crate::goal_loop::GoalReport>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub roadmap: Option<crate::roadmap_loop::RoadmapReport>,
    /// Of a control loop: what it changed in all, or in the iteration that was asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub change: Option<ChangeView>,
    pub artifacts: Vec<ArtifactView>,
    /// Notifications about it that have not arrived.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub notifications: Vec<crate::notify::DeliveryView>,
}

/// What was asked for, and what was in force.
#[derive(Clone, Debug, Serialize)]
pub struct SandboxView {
    /// `required`, `auto` or `off`.
    pub asked: String,
    /// Every agent and check that ended, in their order.
    pub steps: Vec<HeldStep>,
}

#[derive(Clone, Debug, Serialize)]
pub struct HeldStep {
    pub step: String,
    /// `landlock`, `namespaces`, `none`; empty in records of versions that did not tell.
    pub held_by: String,
}

impl SandboxView {
    /// In few words: `landlock`, or how many steps each.
    pub fn words(&self) -> String {
        let mut kinds: Vec<(&str, usize)> = Vec::new();
        for step in self.steps.iter().filter(|step| !step.held_by.is_empty()) {
            match kinds.iter_mut().find(|(kind, _)| *kind == step.held_by) {
                Some((_, count)) => *count += 1,
                None => kinds.push((&step.held_by, 1)),
            }
        }
        match kinds.as_slice() {
            [] => String::new(),
            [(kind, _)] => (*kind).to_owned(),
            several => {
                let each = |(kind, count): &(&str, usize)| format!("{kind} for {count} of the steps");
                several.iter().map(each).collect::<Vec<_>>().join(", ")
            }
        }
    }
}

#[derive(Clone, Debug, Serialize)]
pub struct ChangeView {
    /// Absent for the whole run.
    pub iteration: Option<String>,
    pub files: Vec<String>,
}

#[derive(Clone, Debug, Serialize)]
pub struct LandedView {
    pub commit: String,
    pub reference: String,
}

#[derive(Clone, Debug, Default, Serialize)]
pub struct Used {
    pub milliseconds: u64,
    pub tokens: u64,
    pub cost_micros: u64,
    pub output_bytes: u64,
    pub facts: u64,
}

#[derive(Clone, Debug, Serialize)]
pub struct ArtifactView {
    pub round: u32,
    pub name: String,
    pub digest: String,
    pub bytes: u64,
    /// Where the sealed copy can be read.
    pub path: String,
}

#[derive(Clone, Debug, Serialize)]
pub struct ExplanationView {
    pub now: String,
    pub because: Vec<String>,
    pub commands: Vec<String>,
    /// Who drives the run now; absent when nobody does, and where nobody was asked.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub driver: Option<DriverView>,
}

#[derive(Clone, Debug, Serialize)]
pub struct DriverView {
    pub pid: u32,
    pub doing: String,
    pub since_ms: u64,
}

/// What `run` and `resume` come back with.
#[derive(Clone, Debug, Serialize)]
pub struct RunOutcome {
    pub run: String,
    pub status: Status,
    pub run_dir: String,
    pub final_verdict: String,
    pub judge_verdict: String,
    pub audit_gate: String,
    /// Whose words those two are: `agent`, `engine` where a check decided before anybody was asked, or nobody's.
    pub said_by: SaidBy,
    pub rounds_completed: u32,
    pub landed: Option<LandedView>,
    pub spent: Spent,
    pub explanation: ExplanationView,
    /// Agent commands that a dry run would have started.
    pub would_run: Vec<String>,
    /// Of a control loop.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub control: Option<crate::control_loop::ControlReport>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub goal: Option<crate::goal_loop::GoalReport>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub roadmap: Option<crate::roadmap_loop::RoadmapReport>,
}

impl RunOutcome {
    /// Of a run that was only talked about: what it would have come to, and whom it would have asked.
    pub fn dry_run(because: Vec<String>, would_run: Vec<String>) -> Self {
        Self {
            run: String::new(),
            status: Status::DryRun,
            run_dir: String::new(),
            final_verdict: "dry-run".to_owned(),
            judge_verdict: "not-run".to_owned(),
            audit_gate: "not-run".to_owned(),
            said_by: SaidBy::default(),
            rounds_completed: 0,
            landed: None,
            spent: Spent::default(),
            explanation: ExplanationView {
                now: "nothing was started".to_owned(),
                because,
                commands: Vec::new(),
                driver: None,
            },
            would_run,
            control: None,
            goal: None,
            roadmap: None,
        }
    }
}

#[derive(Clone, Debug, Serialize)]
pub struct Log {
    pub run: String,
    pub entries: Vec<LogEntry>,
    /// Whether more can come without somebody taking it up again.
    pub ended: bool,
    pub status: Status,
}

#[derive(Clone, Debug, Serialize)]
pub struct Diff {
    pub run: String,
    /// Of a control loop: how many iterations its outermost node has had.
    pub round: u32,
    /// The one iteration of a control loop that it is of; absent for all of them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub iteration: Option<String>,
    /// What it begins at: a commit, or the tree that an iteration found.
    pub base: String,
    pub tree: String,
    /// Files may hold any bytes, and so may a patch; in JSON whatever is no text is replaced.
    #[serde(serialize_with = "as_text")]
    pub patch: Vec<u8>,
}

fn as_text<S: serde::Serializer>(bytes: &[u8], serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(&String::from_utf8_lossy(bytes))
}

#[derive(Clone, Debug, Serialize)]
pub struct Verification {
    pub run: String,
    pub holds: bool,
    pub checks: Vec<VerificationCheck>,
}

#[derive(Clone, Debug, Serialize)]
pub struct VerificationCheck {
    pub what: String,
    pub holds: bool,
    pub details: String,
    /// The record holds, but somebody should look at what it speaks of.
    pub attention: bool,
}

#[derive(Clone, Debug, Serialize)]
pub struct CleanReport {
    pub removed: bool,
    pub items: Vec<CleanItem>,
    pub kept: Vec<CleanItem>,
}

#[derive(Clone, Debug, Serialize)]
pub struct CleanItem {
    pub run: String,
    /// `worktree`, `branch`, …
    pub kind: String,
    pub what: String,
    /// Why it goes or stays, and under which ref its content is kept.
    pub why: String,
}

#[derive(Clone, Debug, Serialize)]
pub struct TrustView {
    pub repository: String,
    pub commands: Vec<String>,
    pub hash: String,
    pub trusted: bool,
}

#[derive(Clone, Debug, Serialize)]
pub struct Diagnosis {
    pub lines: Vec<DiagnosisLine>,
}

#[derive(Clone, Debug, Serialize)]
pub struct DiagnosisLine {
    pub what: String,
    pub state: Health,
    pub details: String,
    /// How to fix it; empty when there is nothing to fix.
    pub fix: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Health {
    Good,
    Warning,
    Broken,
}

#[derive(Clone, Debug, Serialize)]
pub struct SettingView {
    pub key: String,
    pub value: String,
    /// `built in`, the file, the variable or `argument`.
    pub origin: String,
    pub help: String,
}

#[derive(Clone, Debug, Serialize)]
pub struct SettingsView {
    pub settings: Vec<SettingView>,
    pub warnings: Vec<String>,
}
