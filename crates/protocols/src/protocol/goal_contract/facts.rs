//! What a goal loop decides, in its own words. Each fact carries what `evolve` and a reader of the log need, no more.

use super::end::End;
use super::queue::{Queue, Work};
use super::stage::Stage;
use crate::kernel::gate::{GateFinding, GateReport, Waiver};
pub use crate::kernel::trouble::{OutKind, RetryKind};
use crate::outcome::{BuildReport, CapturedChange, DesignReport, SuiteReport};
use crate::vocabulary::{ArtifactRef, CommitId, Millis, Role, TreeId};
use alloc::boxed::Box;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use serde::{Deserialize, Serialize};

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Fact {
    BaseFixed {
        commit: CommitId,
        tree: TreeId,
    },
    /// Contract, caps and items as they are from now on.
    QueueTaken {
        queue: Box<Queue>,
    },
    /// What the suite says before anybody changed anything; `flaky` differed between two runs of one tree.
    BaselineTaken {
        suite: Option<SuiteReport>,
        flaky: Vec<String>,
    },
    IterationOpened {
        iteration: u32,
        item: String,
        work: Work,
        /// What the builder begins with.
        start: TreeId,
    },
    DesignTaken {
        item: String,
        design: DesignReport,
    },
    DesignApproved {
        item: String,
    },
    DesignRejected {
        item: String,
        reason: String,
    },
    BuildTaken {
        report: BuildReport,
    },
    /// It failed or left no report; what it left in the tree is kept.
    BuildFailed {
        why: String,
    },
    ChangeTaken {
        change: CapturedChange,
    },
    TestsTaken {
        suite: SuiteReport,
    },
    /// What the checks say of this tree without what the change did to them.
    GateInspected {
        report: GateReport,
    },
    /// The evaluator's word about exactly this tree, or the engine's over it.
    VerdictTaken {
        item: String,
        tree: TreeId,
        pass: bool,
        /// Why not, in one line.
        why: String,
        /// Absent where the engine overruled or no evaluator was asked.
        artifact: Option<ArtifactRef>,
        /// Findings about the gate that the evaluator lets be.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        waivers: Vec<Waiver>,
    },
    PreCommitPassed {
        tree: TreeId,
        evidence: Vec<ArtifactRef>,
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        gate: Vec<GateFinding>,
    },
    /// A person said yes to exactly this tree.
    ChangeApproved {
        item: String,
        tree: TreeId,
    },
    ItemCommitted {
        item: String,
        commit: CommitId,
        tree: TreeId,
    },
    IterationEnded {
        iteration: u32,
        item: String,
        result: Ending,
        /// When, for the ledger.
        at: Millis,
    },
    /// Put aside until a person looks; the loop goes on with others.
    ItemParked {
        item: String,
        why: String,
    },
    RepairAsked {
        role: Role,
        faults: Vec<String>,
    },
    StepRetried {
        stage: Stage,
        why: String,
        kind: RetryKind,
    },
    AgentOut {
        role: Role,
        agent: String,
        until: Millis,
        kind: OutKind,
        why: String,
    },
    Concluded {
        end: End,
    },
    /// The closing commit with the summary is made, or cannot be made and the summary stays in the run's record.
    SummaryCommitted {
        commit: Option<CommitId>,
        why_not: String,
    },
}

/// How an iteration came to its end.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Ending {
    Accepted,
    /// No, and why. The key tells a cause that returns in other words.
    Rework {
        by: RejectedBy,
        key: String,
        cause: String,
        issues: Vec<String>,
    },
    /// Nobody could say: the builder failed or left nothing. Neither a yes nor a no.
    Inconclusive {
        why: String,
    },
    /// The loop stops here for a person.
    Escalated {
        why: String,
    },
}

impl Ending {
    /// One line.
    pub fn words(&self) -> String {
        match self {
            Self::Accepted => "accepted".to_string(),
            Self::Rework { by, cause, .. } => by.sentence(cause),
            Self::Inconclusive { why } => format!("undecided: {why}"),
            Self::Escalated { why } => format!("given to a person: {why}"),
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum RejectedBy {
    NoChange,
    TestsDeleted,
    Secret,
    Tests,
    Regression,
    Evaluator,
    PreCommit,
    Person,
    /// A finding about the gate that nobody waived by its name.
    Gate,
}

impl RejectedBy {
    /// The cause with who said no; what the engine found says itself what it is.
    pub fn sentence(self, cause: &str) -> String {
        let who = match self {
            Self::NoChange
            | Self::TestsDeleted
            | Self::Secret
            | Self::Tests
            | Self::Regression
            | Self::Gate => return cause.to_string(),
            Self::Evaluator => "the evaluator failed it",
            Self::PreCommit => "a pre-commit check is red",
            Self::Person => "a person rejected it",
        };
        format!("{who}: {cause}")
    }
}

impl Fact {
    pub const fn name(&self) -> &'static str {
        match self {
            Self::BaseFixed { .. } => "base-fixed",
            Self::QueueTaken { .. } => "queue-taken",
            Self::BaselineTaken { .. } => "baseline-taken",
            Self::IterationOpened { .. } => "iteration-opened",
            Self::DesignTaken { .. } => "design-taken",
            Self::DesignApproved { .. } => "design-approved",
            Self::DesignRejected { .. } => "design-rejected",
            Self::BuildTaken { .. } => "build-taken",
            Self::BuildFailed { .. } => "build-failed",
            Self::ChangeTaken { .. } => "change-taken",
            Self::TestsTaken { .. } => "tests-taken",
            Self::GateInspected { .. } => "gate-inspected",
            Self::VerdictTaken { .. } => "verdict-taken",
            Self::PreCommitPassed { .. } => "pre-commit-passed",
            Self::ChangeApproved { .. } => "change-approved",
            Self::ItemCommitted { .. } => "item-committed",
            Self::IterationEnded { .. } => "iteration-ended",
            Self::ItemParked { .. } => "item-parked",
            Self::RepairAsked { .. } => "repair-asked",
            Self::StepRetried { .. } => "step-retried",
            Self::AgentOut { .. } => "agent-out",
            Self::Concluded { .. } => "concluded",
            Self::SummaryCommitted { .. } => "summary-committed",
        }
    }
}
