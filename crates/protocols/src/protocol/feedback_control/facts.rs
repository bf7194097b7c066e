//! What a control loop decides, in its own words. Depths count from the outermost node, 0.

use super::end::{End, NodeEnd};
use super::stage::Stage;
use super::steadiness::Remark;
use crate::kernel::gate::{GateFinding, GateReport};
pub use crate::kernel::trouble::{OutKind, RetryKind};
use crate::outcome::{Action, CapturedChange, Decision, Reading};
use crate::vocabulary::{ArtifactRef, CommitId, Millis, Role, TreeId};
use alloc::string::String;
use alloc::vec::Vec;
use serde::{Deserialize, Serialize};

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Fact {
    /// Where the loop begins. `tree` is the plant: the content without the loop's own files.
    BaseFixed {
        commit: CommitId,
        tree: TreeId,
    },
    NodeEntered {
        depth: u32,
        /// The parent's plan; absent for the outermost node, whose setpoint is the task.
        setpoint: Option<ArtifactRef>,
    },
    /// The first measurement of an inner node is left out; its sensors are pending.
    MeasurementSkipped {
        depth: u32,
    },
    IterationOpened {
        depth: u32,
        iteration: u32,
    },
    /// All readings of one measurement, or those of some sensors of it.
    ReadingsTaken {
        depth: u32,
        tree: TreeId,
        readings: Vec<Reading>,
        /// What they say about the gate itself.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        gate: Vec<GateFinding>,
    },
    /// The node's sensors ran with the protected files of the base, and its new tests on the base.
    GateInspected {
        depth: u32,
        report: GateReport,
    },
    /// What the engine sees in the measured history, told to the controller as data.
    Remarked {
        depth: u32,
        remark: Remark,
    },
    DecisionTaken {
        depth: u32,
        tree: TreeId,
        decision: Decision,
    },
    /// The controller said the target is met; these required sensors say otherwise, or these findings are not waived.
    ClaimRefused {
        depth: u32,
        failing: Vec<String>,
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        gate: Vec<GateFinding>,
    },
    ActionTaken {
        depth: u32,
        action: Action,
    },
    ChangeTaken {
        depth: u32,
        change: CapturedChange,
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
    /// How this entry of the node ends; its last commit follows.
    NodeConcluded {
        depth: u32,
        end: NodeEnd,
    },
    IterationCommitted {
        depth: u32,
        label: String,
        commit: CommitId,
    },
    /// The inner node is left; its parent measures again.
    ChildReturned {
        depth: u32,
        end: NodeEnd,
    },
    /// How the run will end; closing follows.
    Concluded {
        end: End,
    },
    /// A person edited these files of the set-up; the run goes on with what it pinned. Each is told once.
    SetupEdited {
        paths: Vec<String>,
    },
    /// Whoever took the run up wants these limits from here on.
    LimitsChanged {
        limits: NewLimits,
    },
}

/// What a person can change about the limits that only a control loop has. More iterations of the outermost node are more
/// rounds of the run.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct NewLimits {
    #[serde(default)]
    pub steady_limit: Option<u32>,
    /// By depth, from 1 on: so many actuations more for each entry of that node.
    #[serde(default)]
    pub more_iterations: Vec<(u32, u32)>,
}

impl NewLimits {
    pub(crate) fn more_at(&self, depth: u32) -> u32 {
        let at_depth = self.more_iterations.iter().filter(|(at, _)| *at == depth);
        at_depth.fold(0, |sum, (_, more)| sum.saturating_add(*more))
    }
}

impl Fact {
    pub const fn name(&self) -> &'static str {
        match self {
            Self::BaseFixed { .. } => "base-fixed",
            Self::NodeEntered { .. } => "node-entered",
            Self::MeasurementSkipped { .. } => "measurement-skipped",
            Self::IterationOpened { .. } => "iteration-opened",
            Self::ReadingsTaken { .. } => "readings-taken",
            Self::GateInspected { .. } => "gate-inspected",
            Self::Remarked { .. } => "remarked",
            Self::DecisionTaken { .. } => "decision-taken",
            Self::ClaimRefused { .. } => "claim-refused",
            Self::ActionTaken { .. } => "action-taken",
            Self::ChangeTaken { .. } => "change-taken",
            Self::RepairAsked { .. } => "repair-asked",
            Self::StepRetried { .. } => "step-retried",
            Self::AgentOut { .. } => "agent-out",
            Self::NodeConcluded { .. } => "node-concluded",
            Self::IterationCommitted { .. } => "iteration-committed",
            Self::ChildReturned { .. } => "child-returned",
            Self::Concluded { .. } => "concluded",
            Self::LimitsChanged { .. } => "limits-changed",
            Self::SetupEdited { .. } => "setup-edited",
        }
    }
}
