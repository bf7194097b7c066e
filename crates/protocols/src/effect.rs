//! Everything a run can ask the world for: a closed list. Carrying one out twice under the same id must do no harm;
//! that is what the handlers promise and what recovery rests on.

use crate::outcome::{AgentSession, ReadingStatus, Usage};
use crate::protocol::feedback_control::end::NodeStatus;
use crate::protocol::judged_task::spec::Landing;
pub use crate::protocol::roadmap_rounds::steps::{PlaneStep, RoundWork};
use crate::vocabulary::{ArtifactRef, CommitId, Millis, Role, TreeId};
use alloc::boxed::Box;
use alloc::string::String;
use alloc::vec::Vec;
use serde::{Deserialize, Serialize};

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Effect {
    /// Make the run directory, the worktrees and the control git directory.
    PrepareWorkspaces,
    /// Run commands on an exact tree and keep what they said.
    RunChecks(RunChecks),
    /// Run the checks with protected files as they were at the base, and new tests on the base.
    InspectGate(InspectGate),
    /// Let one agent play one role once.
    RunAgent(RunAgent),
    /// Take the snapshot of what the maker left.
    CaptureChange { round: u32 },
    /// Let the sensors of a node measure an exact tree, each on a snapshot of its own.
    Measure(Measure),
    /// Make an iteration a commit of the loop's branch, with the loop's files in it.
    CommitIteration(CommitIteration),
    /// Make the accepted tree a commit where the user wants it.
    LandChange(LandChange),
    /// Read the contract, the queue and the budget as people left them.
    ReadQueue { iteration: u32 },
    /// Run the full test suite on an exact tree and compare it with the baseline.
    RunSuite(RunSuite),
    /// Make a verified item a commit with the loop's files, or close the loop's files with a commit of their own.
    CommitItem(CommitItem),
    /// A step of the controller of a roadmap loop.
    Plane(PlaneStep),
    /// Let time pass until an agent can be asked.
    Wait(Wait),
    /// Write the summary and leave the workspaces as a finished run leaves them.
    CloseRun(CloseRun),
}

/// What commands are run for decides where their results are filed and how a red one counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Purpose {
    /// At the base, before anybody changed anything.
    Baseline,
    /// On the change, before the judge.
    Acceptance,
    /// On the change, before the auditor.
    Audit,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RunChecks {
    pub purpose: Purpose,
    pub round: u32,
    pub tree: TreeId,
    pub commands: Vec<String>,
    pub limits: StepLimits,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct InspectGate {
    pub round: u32,
    /// What the change began with.
    pub base: TreeId,
    pub tree: TreeId,
    pub commands: Vec<String>,
    /// Those of them that are red at the base already.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub red_at_base: Vec<String>,
    /// Tests whose failing says nothing, where the loop knows of some.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub flaky: Vec<String>,
    /// Nobody ran them on the tree or on the base yet: that comes first.
    #[serde(default, skip_serializing_if = "core::ops::Not::not")]
    pub unmeasured: bool,
    pub limits: StepLimits,
}

/// What the suite is run for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum SuitePurpose {
    /// Before anybody changed anything.
    Baseline,
    /// Once more on the same tree: what differs is flaky.
    BaselineAgain,
    /// On what was built for an item.
    Item,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RunSuite {
    pub purpose: SuitePurpose,
    pub iteration: u32,
    pub tree: TreeId,
    pub command: String,
    /// What the result is compared with.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub baseline: Option<ArtifactRef>,
    /// Tests that differ by themselves and are no regression.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub flaky: Vec<String>,
    pub limits: StepLimits,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CommitItem {
    /// Absent for the closing commit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub item: Option<String>,
    pub iteration: u32,
    pub parent: CommitId,
    /// The verified content, without what the engine writes into the loop's files.
    pub tree: TreeId,
    /// What the run had used when this was decided: it stands in the loop's files, which must come out the same again.
    pub used: Usage,
    /// Fixes the commit's time, so that committing twice makes the same commit.
    pub decided_at: Millis,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RunAgent {
    pub role: Role,
    pub round: u32,
    /// Counts every time this role is asked in this round, from 1.
    pub attempt: u32,
    /// What a checker looks at. A maker has its own workspace and no tree is fixed for it.
    pub tree: Option<TreeId>,
    pub ask: Ask,
    /// Sealed artifacts of earlier steps that the prompt quotes.
    pub inputs: Vec<ArtifactRef>,
    pub limits: StepLimits,
    /// Which agent of the role's chain; absent in old records, where a role had one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent: Option<String>,
    /// The conversation to go on with; absent for a fresh one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session: Option<AgentSession>,
    /// Where in a control loop it is asked; absent elsewhere.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub node: Option<NodeStep>,
    /// Which item of a goal loop it is asked about; absent elsewhere.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub item: Option<String>,
    /// Which work of a roadmap loop it is asked for; absent elsewhere.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub work: Option<Box<AskedWork>>,
}

/// Work of a roadmap loop, and where it is done.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct AskedWork {
    pub work: RoundWork,
    pub branch: String,
    pub worktree: String,
    /// The commit the worktree stands on; what the agent left beside it before it was interrupted is kept.
    pub head: CommitId,
}

/// A step of one node of a control loop.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct NodeStep {
    /// From the outermost node, 0.
    pub depth: u32,
    pub label: String,
    /// Which sensor is asked to measure.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sensor: Option<String>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Measure {
    pub depth: u32,
    pub label: String,
    /// The plant: the content without the loop's own files.
    pub tree: TreeId,
    pub sensors: Vec<SensorRun>,
    pub limits: StepLimits,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SensorRun {
    pub name: String,
    pub command: String,
    pub required: bool,
    /// In place of the total limit of the whole measurement, where the sensor has one of its own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub total: Option<Millis>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CommitIteration {
    pub depth: u32,
    pub label: String,
    pub parent: CommitId,
    pub plant: TreeId,
    pub status: NodeStatus,
    pub target_met: bool,
    pub action: String,
    pub sensors: Vec<(String, ReadingStatus)>,
    /// Fixes the commit's time, so that committing twice makes the same commit.
    pub decided_at: Millis,
}

/// Nobody of the role's chain can be asked before this moment.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Wait {
    pub role: Role,
    /// Since 1970.
    pub until: Millis,
    pub why: String,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Ask {
    /// The role's whole question, with what the last round was told.
    Fresh {
        feedback: Vec<String>,
        /// One line for each earlier rejected round, the newest last.
        history: Vec<String>,
    },
    /// The answer could not be read; say what is wrong and ask once more.
    Repair { faults: Vec<String> },
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LandChange {
    pub tree: TreeId,
    pub base: CommitId,
    pub landing: Landing,
    pub round: u32,
    /// Sealed verdict and gate, named in the commit's trailers.
    pub evidence: Vec<ArtifactRef>,
    /// Fixes the commit's time, so that landing twice makes the same commit.
    pub decided_at: Millis,
}

/// The legacy words of an ended run, ready for its summary.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CloseRun {
    pub final_verdict: String,
    pub judge_verdict: String,
    pub audit_gate: String,
    pub rounds_completed: u32,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct StepLimits {
    pub total: Millis,
    pub idle: Option<Millis>,
    pub output_bytes: Option<u64>,
    /// What is left of the run's tokens and money; an agent that passes it is ended in the middle of its turn.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tokens: Option<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cost_micros: Option<u64>,
}

impl StepLimits {
    /// What is left for a step of a share that has caps of its own and of which this was used.
    #[must_use]
    pub(crate) fn within(self, caps: [Option<u64>; 3], used: &Usage) -> Self {
        let less = |limit: Option<u64>, cap: Option<u64>, used: u64| match (limit, cap) {
            (limit, None) => limit,
            (None, Some(cap)) => Some(cap.saturating_sub(used)),
            (Some(limit), Some(cap)) => Some(limit.min(cap.saturating_sub(used))),
        };
        let [time, tokens, cost_micros] = caps;
        let total = less(Some(self.total.0), time, used.duration.0).unwrap_or(self.total.0);
        Self {
            total: Millis(total.max(1)),
            tokens: less(self.tokens, tokens, used.tokens),
            cost_micros: less(self.cost_micros, cost_micros, used.cost_micros),
            ..self
        }
    }
}

impl Effect {
    /// For logs and headings.
    pub const fn name(&self) -> &'static str {
        match self {
            Self::PrepareWorkspaces => "prepare-workspaces",
            Self::RunChecks(_) => "run-checks",
            Self::InspectGate(_) => "inspect-gate",
            Self::RunAgent(_) => "run-agent",
            Self::CaptureChange { .. } => "capture-change",
            Self::Measure(_) => "measure",
            Self::CommitIteration(_) => "commit-iteration",
            Self::LandChange(_) => "land-change",
            Self::ReadQueue { .. } => "read-queue",
            Self::RunSuite(_) => "run-suite",
            Self::CommitItem(_) => "commit-item",
            Self::Plane(step) => step.name(),
            Self::Wait(_) => "wait",
            Self::CloseRun(_) => "close-run",
        }
    }
}
