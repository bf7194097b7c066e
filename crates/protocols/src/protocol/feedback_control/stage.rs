//! The stages of an iteration, and which one an effect belongs to.

use crate::effect::Effect;
use crate::vocabulary::Role;
use serde::{Deserialize, Serialize};

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Stage {
    Preparing,
    Measuring,
    Inspecting,
    Deciding,
    Acting,
    Capturing,
    Committing,
    Closing,
}

impl Stage {
    pub(crate) const fn of(effect: &Effect) -> Self {
        match effect {
            Effect::PrepareWorkspaces | Effect::Plane(_) => Self::Preparing,
            Effect::InspectGate(_) => Self::Inspecting,
            Effect::Measure(_) | Effect::RunChecks(_) | Effect::RunSuite(_) | Effect::ReadQueue { .. } => {
                Self::Measuring
            }
            Effect::RunAgent(agent) => Self::of_role(agent.role),
            // Waiting belongs to the step that is waited for, whose attempts go on being counted.
            Effect::Wait(wait) => Self::of_role(wait.role),
            Effect::CaptureChange { .. } => Self::Capturing,
            Effect::CommitIteration(_) | Effect::CommitItem(_) | Effect::LandChange(_) => Self::Committing,
            Effect::CloseRun(_) => Self::Closing,
        }
    }

    pub(crate) const fn of_role(role: Role) -> Self {
        match role {
            Role::Actuator | Role::Doer | Role::Builder | Role::Implementer => Self::Acting,
            Role::Controller
            | Role::Judge
            | Role::Auditor
            | Role::Planner
            | Role::Evaluator
            | Role::Reviewer
            | Role::Investigator => Self::Deciding,
            Role::Sensor => Self::Measuring,
        }
    }

    pub const fn words(self) -> &'static str {
        match self {
            Self::Preparing => "preparing the workspaces",
            Self::Measuring => "the sensors measure",
            Self::Inspecting => "the sensors measure with the base's own tests and configuration",
            Self::Deciding => "the controller looks and plans",
            Self::Acting => "the actuator works",
            Self::Capturing => "taking the snapshot",
            Self::Committing => "committing the iteration",
            Self::Closing => "closing",
        }
    }
}
