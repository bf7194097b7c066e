//! Every way a task loop can end, and why a person may have to look.

use super::facts::RejectedBy;
use super::stage::Stage;
use crate::kernel::budget::Dimension;
use crate::kernel::gate::GateFinding;
use crate::vocabulary::{Role, TreeId};
use alloc::string::String;
use alloc::vec::Vec;
use serde::{Deserialize, Serialize};

/// Every way a task loop can end.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum End {
    Accepted {
        tree: TreeId,
    },
    /// The rounds are used up and the last word was no.
    Rejected {
        by: RejectedBy,
    },
    NeedsHuman {
        cause: Cause,
    },
    Exhausted {
        dimension: Dimension,
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
            Self::Accepted { .. } => "accepted",
            Self::Rejected { .. } => "rejected",
            Self::NeedsHuman { .. } => "needs-human",
            Self::Exhausted { .. } => "exhausted",
            Self::Stopped { .. } => "stopped",
            Self::SetupFailed { .. } => "setup-failed",
        }
    }

    /// The word for it in the original's summary.
    pub const fn legacy_word(&self) -> &'static str {
        match self {
            Self::Accepted { .. } | Self::NeedsHuman { cause: Cause::LandingRefused { .. } } => "pass",
            Self::Rejected { .. } => "reject",
            Self::NeedsHuman { .. }
            | Self::Exhausted { .. }
            | Self::Stopped { .. }
            | Self::SetupFailed { .. } => "needs-human",
        }
    }

    /// Whether the round that was open came to its own end, rather than being cut off.
    pub(super) const fn finishes_round(&self) -> bool {
        match self {
            Self::Accepted { .. } => true,
            Self::NeedsHuman { cause } => matches!(
                cause,
                Cause::JudgeAsked
                    | Cause::AuditorAsked
                    | Cause::NoReadableAnswer { .. }
                    | Cause::WorkspaceChanged { .. }
                    | Cause::LandingRefused { .. }
            ),
            Self::Rejected { .. }
            | Self::Exhausted { .. }
            | Self::Stopped { .. }
            | Self::SetupFailed { .. } => false,
        }
    }
}

/// Why a person has to look.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Cause {
    JudgeAsked,
    AuditorAsked,
    /// The role left nothing readable, also when asked again.
    NoReadableAnswer {
        role: Role,
        faults: Vec<String>,
    },
    /// A role that may only read changed what it looked at.
    WorkspaceChanged {
        role: Role,
        paths: Vec<String>,
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
    /// The maker hands over the same rejected change again and again.
    Stuck {
        round: u32,
    },
    CaptureRefused {
        reason: String,
    },
    /// The change is accepted; only bringing it home was refused.
    LandingRefused {
        reason: String,
    },
    /// The judge passed a change that changes what measures it, and waived not all of that.
    GateFindings {
        findings: Vec<GateFinding>,
    },
}
