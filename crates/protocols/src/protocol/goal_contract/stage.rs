//! The stages of an iteration, and which one an effect belongs to.

use crate::effect::{Effect, SuitePurpose};
use crate::vocabulary::Role;
use serde::{Deserialize, Serialize};

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Stage {
    Preparing,
    Reading,
    Baseline,
    Designing,
    Building,
    Capturing,
    Testing,
    Inspecting,
    Evaluating,
    PreCommit,
    Committing,
    Closing,
}

impl Stage {
    pub(crate) const fn of(effect: &Effect) -> Self {
        match effect {
            Effect::PrepareWorkspaces | Effect::Plane(_) => Self::Preparing,
            Effect::ReadQueue { .. } => Self::Reading,
            Effect::RunSuite(suite) => match suite.purpose {
                SuitePurpose::Baseline | SuitePurpose::BaselineAgain => Self::Baseline,
                SuitePurpose::Item => Self::Testing,
            },
            Effect::RunAgent(agent) => Self::of_role(agent.role),
            // Waiting belongs to the step that is waited for, whose attempts go on being counted.
            Effect::Wait(wait) => Self::of_role(wait.role),
            Effect::CaptureChange { .. } => Self::Capturing,
            Effect::InspectGate(_) => Self::Inspecting,
            Effect::RunChecks(_) | Effect::Measure(_) => Self::PreCommit,
            Effect::CommitItem(_) | Effect::CommitIteration(_) | Effect::LandChange(_) => Self::Committing,
            Effect::CloseRun(_) => Self::Closing,
        }
    }

    pub(crate) const fn of_role(role: Role) -> Self {
        match role {
            Role::Planner => Self::Designing,
            Role::Builder | Role::Doer | Role::Actuator | Role::Implementer => Self::Building,
            Role::Evaluator
            | Role::Judge
            | Role::Auditor
            | Role::Sensor
            | Role::Controller
            | Role::Reviewer
            | Role::Investigator => Self::Evaluating,
        }
    }

    pub const fn words(self) -> &'static str {
        match self {
            Self::Preparing => "preparing the workspaces",
            Self::Reading => "reading the contract and the queue",
            Self::Baseline => "measuring the test suite at the base",
            Self::Designing => "the planner designs",
            Self::Building => "the builder works",
            Self::Capturing => "taking the snapshot",
            Self::Testing => "running the test suite",
            Self::Inspecting => "running the checks with the base's own tests and configuration",
            Self::Evaluating => "the evaluator looks",
            Self::PreCommit => "running the pre-commit checks",
            Self::Committing => "committing",
            Self::Closing => "closing",
        }
    }
}
