//! What a person can say to a run that waits for one, in the words all loops share. Which of them a run can take now is
//! the loop's to decide.

use crate::kernel::gate::Waiver;
use crate::vocabulary::{ArtifactRef, TreeId};
use alloc::format;
use alloc::string::{String, ToString};
use serde::{Deserialize, Serialize};

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Word {
    /// Yes to exactly this content and to no other.
    Approve { tree: TreeId },
    /// No, and why: the maker is told.
    Reject { reason: String },
    /// Leave it be: the item, or the run if it has only one.
    Skip { reason: String },
    /// A person goes on with the work by hand, on this branch; nobody else does meanwhile.
    TakeOver { branch: String },
    /// What the person made is handed back, and is checked like anybody's work; the report is their hand-off, sealed.
    HandBack { tree: TreeId, report: ArtifactRef },
    /// The person gives the work back as they found it: the run stands as it stood.
    LetGo,
    /// A finding about the gate is as it should be, and why.
    Waive(Waiver),
}

impl Word {
    pub const fn name(&self) -> &'static str {
        match self {
            Self::Approve { .. } => "approve",
            Self::Reject { .. } => "reject",
            Self::Skip { .. } => "skip",
            Self::TakeOver { .. } => "take-over",
            Self::HandBack { .. } => "hand-back",
            Self::LetGo => "let-go",
            Self::Waive(_) => "waive",
        }
    }

    /// What follows the person's name in a log.
    pub fn words(&self) -> String {
        match self {
            Self::Approve { tree } => format!("approves tree {tree}"),
            Self::Reject { reason } => format!("rejects it: {reason}"),
            Self::Skip { reason } if reason.is_empty() => "lets it be".to_string(),
            Self::Skip { reason } => format!("lets it be: {reason}"),
            Self::TakeOver { branch } => format!("takes the work over on {branch}"),
            Self::HandBack { tree, .. } => format!("hands tree {tree} back"),
            Self::LetGo => "gives the work back as it was".to_string(),
            Self::Waive(waiver) => format!("waives {}: {}", waiver.finding.name(), waiver.reason),
        }
    }
}
