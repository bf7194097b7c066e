//! The stages of a round, and which one an effect belongs to.

use crate::effect::{Effect, Purpose};
use crate::vocabulary::Role;
use serde::{Deserialize, Serialize};

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Stage {
    Preparing,
    Baseline,
    Doing,
    Capturing,
    Checking,
    /// The checks once more, with the base's own tests and configuration.
    Inspecting,
    Judging,
    AuditChecking,
    Auditing,
    Landing,
    Closing,
}

impl Stage {
    pub(crate) const fn of(effect: &Effect) -> Self {
        match effect {
            Effect::PrepareWorkspaces | Effect::Plane(_) => Self::Preparing,
            Effect::RunChecks(checks) => match checks.purpose {
                Purpose::Baseline => Self::Baseline,
                Purpose::Acceptance => Self::Checking,
                Purpose::Audit => Self::AuditChecking,
            },
            Effect::InspectGate(_) => Self::Inspecting,
            Effect::RunAgent(agent) => Self::of_role(agent.role),
            Effect::Measure(_) | Effect::RunSuite(_) | Effect::ReadQueue { .. } => Self::Checking,
            // Waiting belongs to the step that is waited for, whose attempts go on being counted.
            Effect::Wait(wait) => Self::of_role(wait.role),
            Effect::CaptureChange { .. } => Self::Capturing,
            Effect::LandChange(_) | Effect::CommitIteration(_) | Effect::CommitItem(_) => Self::Landing,
            Effect::CloseRun(_) => Self::Closing,
        }
    }

    pub(crate) const fn of_role(role: Role) -> Self {
        match role {
            Role::Doer | Role::Actuator | Role::Builder | Role::Implementer => Self::Doing,
            Role::Judge
            | Role::Controller
            | Role::Sensor
            | Role::Planner
            | Role::Evaluator
            | Role::Reviewer
            | Role::Investigator => Self::Judging,
            Role::Auditor => Self::Auditing,
        }
    }

    pub const fn words(self) -> &'static str {
        match self {
            Self::Preparing => "preparing the workspaces",
            Self::Baseline => "measuring the checks at the base",
            Self::Doing => "the doer works",
            Self::Capturing => "taking the snapshot",
            Self::Checking => "running the checks",
            Self::Inspecting => "running the checks with the base's own tests and configuration",
            Self::Judging => "the judge looks",
            Self::AuditChecking => "running the audit checks",
            Self::Auditing => "the auditor looks",
            Self::Landing => "landing",
            Self::Closing => "closing",
        }
    }
}
