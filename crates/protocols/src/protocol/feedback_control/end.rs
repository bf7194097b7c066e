//! Every way a node and a whole control loop can end, and why a person may have to look.

use super::stage::Stage;
use crate::kernel::budget::Dimension;
use crate::kernel::gate::GateFinding;
use crate::vocabulary::Role;
use alloc::string::String;
use alloc::vec::Vec;
use serde::{Deserialize, Serialize};

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum NodeEnd {
    /// The controller said so, and every required sensor passed on the tree it spoke of.
    TargetMet,
    MaxIterations,
    /// The measured history says that going on leads nowhere.
    Stalled {
        how: Stall,
    },
    /// What the node was given of its parent's budget is used up.
    Spent {
        dimension: Dimension,
    },
    Failed {
        cause: Cause,
    },
}

impl NodeEnd {
    /// The original's word for it.
    pub const fn status(&self) -> NodeStatus {
        match self {
            Self::TargetMet => NodeStatus::Complete,
            Self::MaxIterations | Self::Stalled { .. } | Self::Spent { .. } => {
                NodeStatus::MaxIterationsReached
            }
            Self::Failed { .. } => NodeStatus::Error,
        }
    }

    /// Why it ended; the original has words for three of them only.
    pub const fn reason(&self) -> &'static str {
        match self {
            Self::TargetMet => "target-met",
            Self::MaxIterations => "max-iterations",
            Self::Stalled { how } => how.word(),
            Self::Spent { .. } => "budget",
            Self::Failed { .. } => "error",
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum NodeStatus {
    Running,
    Complete,
    MaxIterationsReached,
    Error,
}

impl NodeStatus {
    pub const fn word(self) -> &'static str {
        match self {
            Self::Running => "running",
            Self::Complete => "complete",
            Self::MaxIterationsReached => "max-iterations-reached",
            Self::Error => "error",
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Stall {
    /// The same sensors fail, and the same change is made again and again. Older records call a plateau so too.
    Stagnation,
    /// States that were there before come back.
    Oscillation,
    /// It stays worse than it was.
    Regression,
    /// The actuator changes nothing.
    NoChange,
    /// The same sensors fail, and none of the figures they print gets better.
    Plateau,
}

impl Stall {
    pub const fn word(self) -> &'static str {
        match self {
            Self::Stagnation => "stagnation",
            Self::Oscillation => "oscillation",
            Self::Regression => "regression",
            Self::NoChange => "no-change",
            Self::Plateau => "plateau",
        }
    }

    pub const fn words(self) -> &'static str {
        match self {
            Self::Stagnation => "the same sensors fail and the same change is made again",
            Self::Oscillation => "states that were there before keep coming back",
            Self::Regression => "it stays worse than it was",
            Self::NoChange => "the actuator changes nothing",
            Self::Plateau => "the same sensors fail and no figure gets better",
        }
    }
}

/// Every way a control loop can end.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum End {
    Complete,
    /// The iterations of the outermost node, or a cap of the run, are used up.
    Exhausted {
        dimension: Dimension,
    },
    Stalled {
        how: Stall,
    },
    NeedsHuman {
        cause: Cause,
    },
    Stopped {
        by: String,
        reason: String,
    },
    SetupFailed {
        reason: String,
    },
}

impl End {
    /// Its own name, as it stands in records and lists.
    pub const fn word(&self) -> &'static str {
        match self {
            Self::Complete => "complete",
            Self::Exhausted { .. } => "exhausted",
            Self::Stalled { .. } => "stalled",
            Self::NeedsHuman { .. } => "needs-human",
            Self::Stopped { .. } => "stopped",
            Self::SetupFailed { .. } => "setup-failed",
        }
    }
}

/// Why a person has to look.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Cause {
    /// The role left nothing readable, also when asked again.
    NoReadableAnswer {
        role: Role,
        faults: Vec<String>,
    },
    /// The controller keeps saying that the target is met while these sensors do not pass.
    FalseClaim {
        failing: Vec<String>,
    },
    /// A role that may only read changed what it looked at.
    WorkspaceChanged {
        role: Role,
        paths: Vec<String>,
    },
    /// What the actuator left cannot be taken safely.
    Hazard {
        hazards: Vec<String>,
    },
    AgentNotStarted {
        role: Role,
        reason: String,
    },
    AgentKeepsFailing {
        role: Role,
        why: String,
    },
    StepKeepsGettingLost {
        stage: Stage,
    },
    CaptureRefused {
        reason: String,
    },
    CommitRefused {
        reason: String,
    },
    /// The controller says that the target is met, and waived not all of what the change did to its own measures.
    GateFindings {
        findings: Vec<GateFinding>,
    },
}
