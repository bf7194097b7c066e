//! Every way a goal loop can come to rest, and why a person may have to look.

use super::stage::Stage;
use crate::kernel::budget::Dimension;
use crate::kernel::gate::GateFinding;
use crate::vocabulary::{ArtifactRef, Role, TreeId};
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use serde::{Deserialize, Serialize};

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum End {
    /// Everything in scope is complete, passed, and the suite is green.
    Success,
    HardKill {
        cap: Cap,
    },
    Escalated {
        cause: Cause,
    },
    /// Nothing goes on before a person has said yes or no to exactly this.
    AwaitsApproval {
        item: String,
        proposed: Proposed,
    },
    /// L1: one iteration is done, and a person lets the next one begin.
    Paused {
        iteration: u32,
    },
    /// One iteration was asked for, and its item is accepted; others are left.
    AsAsked {
        iteration: u32,
    },
    Stopped {
        by: String,
        reason: String,
    },
    /// It never began: nothing was asked of any agent.
    NotReady {
        why: NotReady,
    },
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Proposed {
    Change { tree: TreeId },
    Design { artifact: ArtifactRef },
}

impl Proposed {
    /// What an approval has to name.
    pub fn name(&self) -> &str {
        match self {
            Self::Change { tree } => tree.as_str(),
            Self::Design { artifact } => artifact.digest.as_str(),
        }
    }
}

/// A cap that was reached, by the name of its row.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Cap {
    Iterations,
    Commits,
    Rework {
        item: String,
    },
    Used {
        dimension: Dimension,
    },
    /// An agent did or tried what must never be done unattended.
    Destructive {
        command: String,
    },
}

impl Cap {
    pub fn words(&self) -> String {
        match self {
            Self::Iterations => "iterations".to_string(),
            Self::Commits => "commits".to_string(),
            Self::Rework { item } => format!("rework per item: {item}"),
            Self::Used { dimension: Dimension::Minutes } => "wall-clock".to_string(),
            Self::Used { dimension } => dimension.to_string(),
            Self::Destructive { command } => format!("destructive command: {command}"),
        }
    }

    /// What happened, in one sentence.
    pub fn sentence(&self) -> String {
        match self {
            Self::Iterations | Self::Commits | Self::Used { .. } => {
                format!("the cap on {} is reached", self.words())
            }
            Self::Rework { item } => format!("{item} failed as often as one item may"),
            Self::Destructive { command } => format!("an agent ran a destructive command: {command}"),
        }
    }
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum NotReady {
    /// Tests fail before anybody changed anything.
    RedBaseline {
        failing: Vec<String>,
    },
    /// Without tests nothing can say no, which this level needs.
    NoTests,
    Unreadable {
        reason: String,
    },
    NothingInScope,
    Setup {
        reason: String,
    },
}

impl NotReady {
    pub fn words(&self) -> String {
        match self {
            Self::RedBaseline { failing } if failing.is_empty() => {
                "the test suite is red before anything was changed".to_string()
            }
            Self::RedBaseline { failing } => {
                format!("the test suite is red before anything was changed: {}", failing.join(", "))
            }
            Self::NoTests => "there is no test command, and only L1 may do without one".to_string(),
            Self::Unreadable { reason } | Self::Setup { reason } => reason.clone(),
            Self::NothingInScope => "the contract's scope names no item of the queue".to_string(),
        }
    }
}

/// Why a person has to look.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Cause {
    /// Items are left and none can be worked on.
    NothingReady {
        waiting: Vec<String>,
    },
    SameCauseTwice {
        item: String,
        cause: String,
    },
    /// Tests that were green are red, also after one iteration to mend it.
    Regression {
        item: String,
        tests: Vec<String>,
    },
    ScopeCreep {
        item: String,
        what: Vec<String>,
    },
    BuilderAsks {
        item: String,
        question: String,
    },
    BuilderKeepsFailing {
        item: String,
        why: String,
    },
    /// The evaluator gave no verdict that can be read, also a fresh one.
    NoVerdict {
        item: String,
        faults: Vec<String>,
    },
    /// A role that may only read changed what it looked at, also when asked again.
    WorkspaceChanged {
        item: String,
        role: Role,
        paths: Vec<String>,
    },
    NoDesign {
        item: String,
        faults: Vec<String>,
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
    Hazard {
        item: String,
        hazards: Vec<String>,
    },
    CaptureRefused {
        reason: String,
    },
    /// The tree is verified; only committing it was refused.
    CommitRefused {
        item: String,
        reason: String,
    },
    /// The files people edit cannot be read any more.
    Unreadable {
        reason: String,
    },
    /// The tree is verified and changes what measures it; nobody waived that, and a person is to be asked.
    GateFindings {
        item: String,
        findings: Vec<GateFinding>,
    },
}

impl Cause {
    /// The item it is about, if it is about one.
    pub fn item(&self) -> Option<&str> {
        match self {
            Self::SameCauseTwice { item, .. }
            | Self::Regression { item, .. }
            | Self::ScopeCreep { item, .. }
            | Self::BuilderAsks { item, .. }
            | Self::BuilderKeepsFailing { item, .. }
            | Self::NoVerdict { item, .. }
            | Self::WorkspaceChanged { item, .. }
            | Self::NoDesign { item, .. }
            | Self::Hazard { item, .. }
            | Self::CommitRefused { item, .. }
            | Self::GateFindings { item, .. } => Some(item),
            Self::NothingReady { .. }
            | Self::AgentNotStarted { .. }
            | Self::AgentKeepsFailing { .. }
            | Self::StepKeepsGettingLost { .. }
            | Self::CaptureRefused { .. }
            | Self::Unreadable { .. } => None,
        }
    }

    /// One sentence.
    pub fn words(&self) -> String {
        match self {
            Self::NothingReady { waiting } => format!("nothing is ready: {}", waiting.join("; ")),
            Self::SameCauseTwice { item, cause } => {
                format!("{item} failed twice for the same root cause: {cause}")
            }
            Self::Regression { item, tests } => format!(
                "{item} breaks tests that were green, also after one iteration to mend it: {}",
                tests.join(", ")
            ),
            Self::ScopeCreep { item, what } => {
                format!("scope creep while {item} was worked on: {}", what.join("; "))
            }
            Self::BuilderAsks { item, question } => format!("the builder of {item} asks: {question}"),
            Self::BuilderKeepsFailing { item, why } => {
                format!("the builder of {item} keeps failing: it {why}")
            }
            Self::NoVerdict { item, faults } => {
                format!("no evaluator gave a readable verdict on {item}: {}", faults.join("; "))
            }
            Self::WorkspaceChanged { item, role, paths } => format!(
                "the {role} of {item} may only read, and changed {} again; its word does not count",
                paths.join(", ")
            ),
            Self::NoDesign { item, faults } => {
                format!("the planner left no usable design of {item}: {}", faults.join("; "))
            }
            Self::AgentNotStarted { role, reason } => format!("the {role} could not be started: {reason}"),
            Self::AgentKeepsFailing { role, why } => format!("the {role} keeps failing: it {why}"),
            Self::StepKeepsGettingLost { stage } => {
                format!("nobody ever saw the end of this step: {}", stage.words())
            }
            Self::Hazard { item, hazards } => {
                format!("what was built for {item} cannot be looked at safely: {}", hazards.join("; "))
            }
            Self::CaptureRefused { reason } => format!("the snapshot could not be taken: {reason}"),
            Self::CommitRefused { item, reason } => {
                format!("{item} is verified, but could not be committed: {reason}")
            }
            Self::Unreadable { reason } => reason.clone(),
            Self::GateFindings { item, findings } => {
                let words: Vec<String> = findings.iter().map(GateFinding::words).collect();
                format!("{item} is passed, but changes what measures it: {}", words.join("; "))
            }
        }
    }

    /// What a person could do about it, in one sentence.
    pub const fn suggestion(&self) -> &'static str {
        match self {
            Self::NothingReady { .. } => {
                "unblock or accept what they wait for, or take them out of the scope"
            }
            Self::SameCauseTwice { .. } => {
                "answer with what the builder misses, take the item over, or skip it"
            }
            Self::Regression { .. } => "look at the kept attempt and say how the tests are to be kept green",
            Self::ScopeCreep { .. } => {
                "state the item's paths in its design or affected_files, or split the item"
            }
            Self::BuilderAsks { .. } => "answer the question",
            Self::BuilderKeepsFailing { .. } | Self::AgentKeepsFailing { .. } => {
                "look at the agent's log, mend what keeps it from working, then retry"
            }
            Self::NoVerdict { .. } => {
                "make the acceptance criteria testable and retry, or begin a new run with another evaluator"
            }
            Self::WorkspaceChanged { .. } => "begin a new run with another agent for this role",
            Self::NoDesign { .. } => "write the design by hand or answer with what is missing, then retry",
            Self::AgentNotStarted { .. } => "install or log in the agent's program, then retry",
            Self::StepKeepsGettingLost { .. } => "see what ends the program, then retry",
            Self::Hazard { .. } => "look at the kept attempt, then retry or skip the item",
            Self::CaptureRefused { .. } => "mend what the reason names, then retry",
            Self::CommitRefused { .. } => {
                "mend what the reason names, then retry; nothing has to be built again"
            }
            Self::Unreadable { .. } => "mend the file, then retry",
            Self::GateFindings { .. } => {
                "look at what the change did to its tests and checks; waive it by name if it should be so, or say what is wrong"
            }
        }
    }
}

impl End {
    pub const fn word(&self) -> &'static str {
        match self {
            Self::Success => "success",
            Self::HardKill { .. } => "hard-kill",
            Self::Escalated { .. } => "escalated",
            Self::AwaitsApproval { .. } => "awaits-approval",
            Self::Paused { .. } => "paused",
            Self::AsAsked { .. } => "as-asked",
            Self::Stopped { .. } => "stopped",
            Self::NotReady { .. } => "not-ready",
        }
    }

    /// The outcome in the words of the loop's own summary; absent while the run is only held up.
    pub fn outcome(&self) -> Option<String> {
        match self {
            Self::Success => Some("SUCCESS".to_string()),
            Self::HardKill { cap } => Some(format!("HARD KILL ({})", cap.words())),
            Self::Escalated { .. } => Some("ESCALATED".to_string()),
            Self::AsAsked { .. } | Self::Stopped { .. } => Some("STOPPED".to_string()),
            Self::AwaitsApproval { .. } | Self::Paused { .. } | Self::NotReady { .. } => None,
        }
    }
}
