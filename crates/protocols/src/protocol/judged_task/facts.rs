//! What a task loop decides, in its own words. Each fact carries what `evolve` and a reader of the log need, no more.

use super::end::End;
use super::stage::Stage;
use crate::kernel::gate::{GateFinding, GateReport, TestCount, Waiver};
pub use crate::kernel::trouble::{OutKind, RetryKind};
use crate::outcome::{CapturedChange, Handoff, VerdictWord};
use crate::vocabulary::{ArtifactRef, CommitId, Millis, Role, TreeId};
use alloc::string::String;
use alloc::vec::Vec;
use serde::{Deserialize, Serialize};

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Fact {
    BaseFixed {
        commit: CommitId,
        tree: TreeId,
    },
    /// Which checks are red at the base, before anybody changed anything.
    BaselineMeasured {
        red: Vec<String>,
        #[serde(default)]
        evidence: Vec<ArtifactRef>,
        /// How many tests each check ran there.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        tests: Vec<TestCount>,
    },
    RoundOpened {
        round: u32,
    },
    HandoffTaken {
        handoff: Handoff,
    },
    ChangeTaken {
        change: CapturedChange,
    },
    ChecksPassed {
        stage: Stage,
        tree: TreeId,
        evidence: Vec<ArtifactRef>,
        /// What the results say about the gate itself.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        gate: Vec<GateFinding>,
    },
    /// The checks ran without what the change did to them.
    GateInspected {
        report: GateReport,
    },
    /// The answer could not be read or contradicts itself; the same role is asked once more.
    RepairAsked {
        role: Role,
        faults: Vec<String>,
    },
    /// The step itself failed or was lost and is tried again in the same round.
    StepRetried {
        stage: Stage,
        why: String,
        kind: RetryKind,
    },
    /// This agent is not asked before that moment; the next of the chain is, or it is waited for.
    AgentOut {
        role: Role,
        agent: String,
        until: Millis,
        kind: OutKind,
        why: String,
    },
    /// A verdict about exactly this tree.
    VerdictTaken {
        role: Role,
        word: VerdictWord,
        tree: TreeId,
        source: Source,
        /// What a checker that asks for a person said; a rejection carries its own words.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        feedback: Vec<String>,
        /// Findings about the gate that it lets be.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        waivers: Vec<Waiver>,
    },
    RoundRejected {
        round: u32,
        by: RejectedBy,
        feedback: Vec<String>,
    },
    /// How the run will end; landing and closing follow.
    Concluded {
        end: End,
    },
    Landed {
        commit: CommitId,
        tree: TreeId,
        reference: String,
    },
}

/// Who the words of a verdict come from.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Source {
    /// The agent in that role, in this sealed artifact.
    Agent { artifact: ArtifactRef },
    /// The engine: a required check failed, or the agent's word contradicted the evidence.
    Engine { why: String },
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum RejectedBy {
    DoerFailed,
    Handoff,
    NoChange,
    Repetition,
    Hazard,
    Check,
    Judge,
    AuditCheck,
    Auditor,
    /// Findings about the gate that nobody waived.
    Gate,
}

impl RejectedBy {
    pub const fn words(self) -> &'static str {
        match self {
            Self::DoerFailed => "the doer failed",
            Self::Handoff => "there was no readable hand-off",
            Self::NoChange => "nothing was changed",
            Self::Repetition => "the same change was rejected before",
            Self::Hazard => "the change cannot be looked at safely",
            Self::Check => "a required check is red",
            Self::Judge => "the judge rejected it",
            Self::AuditCheck => "a required audit check is red",
            Self::Auditor => "the auditor stopped it",
            Self::Gate => "it changes what measures it, and nobody waived that",
        }
    }
}

impl Fact {
    pub const fn name(&self) -> &'static str {
        match self {
            Self::BaseFixed { .. } => "base-fixed",
            Self::BaselineMeasured { .. } => "baseline-measured",
            Self::RoundOpened { .. } => "round-opened",
            Self::HandoffTaken { .. } => "handoff-taken",
            Self::ChangeTaken { .. } => "change-taken",
            Self::ChecksPassed { .. } => "checks-passed",
            Self::GateInspected { .. } => "gate-inspected",
            Self::RepairAsked { .. } => "repair-asked",
            Self::StepRetried { .. } => "step-retried",
            Self::AgentOut { .. } => "agent-out",
            Self::VerdictTaken { .. } => "verdict-taken",
            Self::RoundRejected { .. } => "round-rejected",
            Self::Concluded { .. } => "concluded",
            Self::Landed { .. } => "landed",
        }
    }
}
