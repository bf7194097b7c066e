//! How effects end. An outcome is a journaled result, good or bad; what could not be found out is `Lost`, never a success.

use crate::effect::{Effect, Purpose, RunAgent};
use crate::kernel::budget::Dimension;
pub use crate::kernel::gate::{GateFinding, GateReport, TouchedPath, Waiver};
use crate::protocol::goal_contract::queue::Queue;
pub use crate::protocol::goal_contract::reports::{
    BuildReport, DesignReport, Evaluation, Finding, FindingKind, RootCause, SuiteReport,
};
use crate::protocol::roadmap_rounds::plane::RoundStage;
pub use crate::protocol::roadmap_rounds::steps::PlaneOutcome;
pub use crate::usage::{Count, Price, TokenKinds, Told, Usage};
use crate::vocabulary::{ArtifactRef, CommitId, Millis, Role, TreeId};
use alloc::boxed::Box;
use alloc::string::String;
use alloc::vec::Vec;
use serde::{Deserialize, Serialize};

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Outcome {
    Prepared {
        base: CommitId,
        base_tree: TreeId,
    },
    ChecksRan(ChecksReport),
    AgentEnded(Box<AgentReport>),
    ChangeCaptured(CapturedChange),
    Landed(LandedCommit),
    GateInspected(Box<GateReport>),
    Measured(Measured),
    IterationCommitted {
        commit: CommitId,
        tree: TreeId,
        /// Files of the set-up that a person edited since the run pinned them.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        setup_edited: Vec<String>,
    },
    QueueRead(Box<Queue>),
    SuiteRan(Box<SuiteReport>),
    ItemCommitted {
        commit: CommitId,
        tree: TreeId,
    },
    Plane(PlaneOutcome),
    /// The moment that was waited for is here.
    Waited,
    Closed,
    /// The world said no, and will say it again: a branch that moved, a worktree that cannot be made.
    Refused {
        reason: String,
    },
    /// The child was told to stop by a person; nobody is to blame and no attempt is charged.
    Interrupted {
        usage: Usage,
    },
    /// Nobody knows how it ended.
    Lost {
        reason: String,
        usage: Usage,
    },
}

impl From<AgentReport> for Outcome {
    fn from(report: AgentReport) -> Self {
        Self::AgentEnded(Box::new(report))
    }
}

impl Outcome {
    /// Whether this can be the answer to that effect. A runner that mixes answers up is refused, not believed.
    pub fn fits(&self, effect: &Effect) -> bool {
        match (self, effect) {
            (Self::Lost { .. } | Self::Interrupted { .. }, _)
            | (Self::Prepared { .. }, Effect::PrepareWorkspaces)
            | (Self::Closed, Effect::CloseRun(_))
            | (Self::Waited, Effect::Wait(_))
            | (
                Self::Refused { .. },
                Effect::PrepareWorkspaces
                | Effect::LandChange(_)
                | Effect::CaptureChange { .. }
                | Effect::CommitIteration(_)
                | Effect::ReadQueue { .. }
                | Effect::CommitItem(_)
                | Effect::Plane(_),
            )
            | (Self::QueueRead(_), Effect::ReadQueue { .. })
            | (Self::ItemCommitted { .. }, Effect::CommitItem(_))
            | (Self::IterationCommitted { .. }, Effect::CommitIteration(_)) => true,
            (Self::Measured(report), Effect::Measure(asked)) => {
                report.tree == asked.tree
                    && report
                        .readings
                        .iter()
                        .map(|reading| &reading.sensor)
                        .eq(asked.sensors.iter().map(|sensor| &sensor.name))
            }
            (Self::SuiteRan(report), Effect::RunSuite(asked)) => {
                report.purpose == asked.purpose && report.tree == asked.tree
            }
            (Self::ChecksRan(report), Effect::RunChecks(asked)) => {
                report.purpose == asked.purpose
                    && report.tree == asked.tree
                    && report.results.iter().map(|result| &result.command).eq(&asked.commands)
            }
            // A look that did not run every command is none; what is red as it is needs no second look.
            (Self::GateInspected(report), Effect::InspectGate(asked)) => {
                let is_red = |command| asked.unmeasured && report.red.contains(command);
                let ran = |command| report.ran_with_base.contains(command) || is_red(command);
                report.tree == asked.tree && asked.commands.iter().all(ran)
            }
            (Self::Landed(landed), Effect::LandChange(asked)) => landed.tree == asked.tree,
            (Self::AgentEnded(report), Effect::RunAgent(asked)) => {
                report.role == asked.role && report.answer.is_about(asked)
            }
            (Self::ChangeCaptured(change), Effect::CaptureChange { round }) => change.round == *round,
            (Self::Plane(outcome), Effect::Plane(step)) => outcome.fits(step),
            (
                Self::Prepared { .. }
                | Self::ChecksRan(_)
                | Self::AgentEnded(_)
                | Self::ChangeCaptured(_)
                | Self::Landed(_)
                | Self::GateInspected(_)
                | Self::Measured(_)
                | Self::IterationCommitted { .. }
                | Self::QueueRead(_)
                | Self::SuiteRan(_)
                | Self::ItemCommitted { .. }
                | Self::Plane(_)
                | Self::Waited
                | Self::Closed
                | Self::Refused { .. },
                _,
            ) => false,
        }
    }

    /// What it used up, for the budget.
    pub fn usage(&self) -> Usage {
        match self {
            Self::ChecksRan(report) => report.usage,
            Self::AgentEnded(report) => report.usage,
            Self::Measured(report) => report.usage,
            Self::SuiteRan(report) => report.usage,
            Self::GateInspected(report) => report.usage,
            Self::Interrupted { usage } | Self::Lost { usage, .. } => *usage,
            Self::Prepared { .. }
            | Self::ChangeCaptured(_)
            | Self::Landed(_)
            | Self::IterationCommitted { .. }
            | Self::QueueRead(_)
            | Self::ItemCommitted { .. }
            | Self::Plane(_)
            | Self::Waited
            | Self::Closed
            | Self::Refused { .. } => Usage::default(),
        }
    }
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ChecksReport {
    pub purpose: Purpose,
    pub tree: TreeId,
    pub results: Vec<CheckResult>,
    /// Sealed `eval-results.json` or `audit-results.json` and the logs.
    pub evidence: Vec<ArtifactRef>,
    pub usage: Usage,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub gate: Vec<GateFinding>,
}

impl ChecksReport {
    pub fn red(&self) -> impl Iterator<Item = &CheckResult> {
        self.results.iter().filter(|result| !result.passed())
    }

    pub fn all_passed(&self) -> bool {
        self.red().next().is_none()
    }
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CheckResult {
    pub command: String,
    pub end: StepEnd,
    /// The last lines it printed, bounded, for feedback.
    pub tail: String,
    pub duration: Millis,
    /// How many tests it ran, where its output says so.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tests: Option<u32>,
}

impl CheckResult {
    pub const fn passed(&self) -> bool {
        matches!(self.end, StepEnd::Exited { code: 0 })
    }
}

/// How a child ended, as far as a decision needs it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum StepEnd {
    Exited {
        code: i32,
    },
    Signaled {
        signal: i32,
    },
    TotalLimit,
    IdleLimit,
    OutputLimit,
    /// It had, with all it started, more memory than a step may have.
    MemoryLimit,
    /// The same for processes.
    ProcessLimit,
    /// The program is not there or may not be started: asking again will not help.
    NotStarted {
        reason: String,
    },
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct AgentReport {
    pub role: Role,
    pub end: StepEnd,
    pub answer: Answer,
    pub workspace: WorkspaceAfter,
    /// Prompt, final message, logs and the artifact as it was found.
    pub evidence: Vec<ArtifactRef>,
    pub usage: Usage,
    /// What its stream said beyond its exit code.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub trouble: Option<Trouble>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session: Option<AgentSession>,
    /// The model that answered, in the program's own word.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// The last lines that an agent printed which failed, bounded, for feedback.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub last_words: String,
    /// Whether its program was told to run no commands; some cannot be told.
    #[serde(default, skip_serializing_if = "core::ops::Not::not")]
    pub commands_off: bool,
}

impl AgentReport {
    /// Its answer as it was found, whether it could be read or not.
    pub fn as_left(&self) -> Option<&ArtifactRef> {
        self.evidence.iter().find(|artifact| artifact.name.ends_with(".as-left"))
    }
}

/// A conversation that can be gone on with.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct AgentSession {
    pub id: String,
    /// What the program says the conversation used since it began; some count from there when it goes on.
    pub so_far: Usage,
}

/// What kept an agent from doing its step, in so far as the loop has to treat it in its own way.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Trouble {
    /// The provider says: not now. No attempt is charged.
    Limited {
        /// Since 1970; absent where nobody told.
        until: Option<Millis>,
        why: String,
    },
    /// The provider or the way to it is out of order.
    Unavailable { why: String },
    /// A key, a flag, a login: the same again would end the same.
    Misconfigured { why: String },
    /// It was ended in the middle of its turn because a cap was passed.
    CapPassed { dimension: Dimension },
    /// It was ended because it ran, or was about to run, what must never be run unattended.
    Destructive { command: String },
    /// It failed by its own word, was cut off, or was ended because it did the same thing over and over.
    Failed { why: String },
}

/// What the agent left in its outbox, read and validated by the engine.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Answer {
    Missing,
    Malformed {
        faults: Vec<String>,
    },
    Handoff(Handoff),
    Verdict(Verdict),
    Audit(Audit),
    Decision(Decision),
    Action(Action),
    Reading(Reading),
    Design(DesignReport),
    Build(BuildReport),
    Evaluation(Evaluation),
    /// The answer is what it left in its worktree.
    InWorktree,
    Diagnosis(Diagnosis),
}

/// What an investigator makes of a round that does not get on. Advice, no more.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Diagnosis {
    /// One line.
    pub summary: String,
    /// What it would do, in one line; the next agent of the round is told.
    pub advice: String,
    /// The stage that what is there proves, if it says one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub proves: Option<RoundStage>,
    /// Nothing lawful is left to try.
    #[serde(default, skip_serializing_if = "core::ops::Not::not")]
    pub escalate: bool,
    pub artifact: ArtifactRef,
}

impl Answer {
    /// A reading must be of the sensor that was asked; every other answer is told apart by its role.
    fn is_about(&self, asked: &RunAgent) -> bool {
        match self {
            Self::Reading(reading) => {
                let sensor = asked.node.as_ref().and_then(|node| node.sensor.as_ref());
                sensor == Some(&reading.sensor)
            }
            Self::Missing
            | Self::Malformed { .. }
            | Self::Handoff(_)
            | Self::Verdict(_)
            | Self::Audit(_)
            | Self::Decision(_)
            | Self::Action(_)
            | Self::Design(_)
            | Self::Build(_)
            | Self::Evaluation(_)
            | Self::InWorktree
            | Self::Diagnosis(_) => true,
        }
    }
}

/// What a controller says of the tree it looked at.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Decision {
    pub target_met: bool,
    /// The plan alone, sealed: the whole setpoint of an inner loop.
    pub plan: Option<ArtifactRef>,
    /// One line.
    pub summary: String,
    pub artifact: ArtifactRef,
    /// Findings about the gate that it lets be.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub waivers: Vec<Waiver>,
}

/// What an actuator says it did; what it did is seen by the snapshot.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Action {
    /// One line.
    pub summary: String,
    pub artifact: Option<ArtifactRef>,
    /// As in the report of the step.
    pub commands_off: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ReadingStatus {
    Pass,
    Fail,
    /// Not measured yet.
    Pending,
}

impl ReadingStatus {
    pub const fn word(self) -> &'static str {
        match self {
            Self::Pass => "pass",
            Self::Fail => "fail",
            Self::Pending => "pending",
        }
    }
}

/// Causes of a reading whose sensor did not get to its end.
pub const TIME_LIMIT: &str = "time limit";
pub const OUTPUT_LIMIT: &str = "output limit";

/// What one sensor measured.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Reading {
    pub sensor: String,
    pub status: ReadingStatus,
    pub required: bool,
    /// Why it did not pass, where that is more than its exit code: not runnable, over its limit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cause: Option<String>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub metrics: Vec<Metric>,
    /// Tracked files that it changed in its own snapshot.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub edited: Vec<String>,
    /// The sealed report, in the form of the loop's files.
    pub artifact: ArtifactRef,
    /// Everything it printed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub log: Option<ArtifactRef>,
    /// How many tests it says it ran.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tests: Option<u32>,
}

/// A figure in thousandths, and what it has beyond them; integers only.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Metric {
    pub name: String,
    pub thousandths: i64,
    /// Billionths beyond the thousandths, of the same sign. Older records do not have them.
    #[serde(default, skip_serializing_if = "is_none_beyond")]
    pub finer: i64,
    #[serde(default)]
    pub unit: String,
    pub better: Better,
}

impl Metric {
    /// The whole of it, to be compared.
    pub fn billionths(&self) -> i128 {
        i128::from(self.thousandths) * 1_000_000 + i128::from(self.finer)
    }
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde hands a reference")]
const fn is_none_beyond(finer: &i64) -> bool {
    *finer == 0
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Better {
    Higher,
    Lower,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Measured {
    pub tree: TreeId,
    /// In the order in which they were asked for.
    pub readings: Vec<Reading>,
    pub usage: Usage,
    /// Programs that are others than they were at the base.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub gate: Vec<GateFinding>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum WorkspaceAfter {
    /// The role may write; nothing to compare.
    MayDiffer,
    Unchanged,
    Changed {
        paths: Vec<String>,
    },
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Handoff {
    pub requirements_touched: Vec<String>,
    pub artifact: ArtifactRef,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum VerdictWord {
    Pass,
    Reject,
    NeedsHuman,
}

impl VerdictWord {
    /// The judge's word in its own file.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Pass => "pass",
            Self::Reject => "reject",
            Self::NeedsHuman => "needs-human",
        }
    }

    /// The auditor's word for the same thing.
    pub const fn gate_word(self) -> &'static str {
        match self {
            Self::Pass => "pass",
            Self::Reject => "fail",
            Self::NeedsHuman => "needs-human",
        }
    }
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Verdict {
    pub word: VerdictWord,
    pub feedback: Vec<String>,
    pub requirements_checked: Vec<String>,
    pub requirements_missing: Vec<String>,
    pub artifact: ArtifactRef,
    /// Findings that the judge lets be, each by its name.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub waivers: Vec<Waiver>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Audit {
    pub word: VerdictWord,
    pub feedback: Vec<String>,
    /// Members of `policy` or `traceability` that say `fail`; they contradict a `pass`.
    pub contradictions: Vec<String>,
    pub artifact: ArtifactRef,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CapturedChange {
    pub round: u32,
    pub tree: TreeId,
    pub files_changed: u64,
    /// Why this change must not be looked at as it is: a link out of the tree, an embedded repository.
    pub hazards: Vec<String>,
    pub patch: ArtifactRef,
    /// Files of the loop that were changed; what was done to them was undone.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub reverted: Vec<String>,
    /// What the maker did beyond its item, in a goal loop.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub findings: Vec<Finding>,
    /// What the maker left and no snapshot can hold, in sentences: pipes, sockets, repositories inside.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub left_out: Vec<String>,
    /// Tests, checks and their configuration that were touched, bounded.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub protected: Vec<TouchedPath>,
    /// What can be said about that without running anything.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub gate: Vec<GateFinding>,
    /// By this a change that is made again is known, wherever its lines stand now. Absent where nobody asks.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fingerprint: Option<String>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LandedCommit {
    pub commit: CommitId,
    pub tree: TreeId,
    pub reference: String,
}
