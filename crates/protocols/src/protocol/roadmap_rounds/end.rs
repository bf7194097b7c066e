//! Every way a roadmap loop can come to rest.

use crate::kernel::budget::Dimension;
use alloc::format;
use alloc::string::{String, ToString};
use serde::{Deserialize, Serialize};

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum End {
    /// Every milestone is done, nothing is live, nothing is in error.
    Complete,
    /// Nothing lawful is left to try. It stands in the state file, too.
    Blocked {
        why: String,
    },
    /// The rounds this run was given are merged.
    RoundsUsed,
    /// A cap is reached.
    Spent {
        dimension: Dimension,
    },
    Stopped {
        by: String,
        reason: String,
    },
    /// It never began, or cannot go on before a person mended files: nothing was written into them.
    NotReady {
        why: String,
    },
}

impl End {
    pub const fn word(&self) -> &'static str {
        match self {
            Self::Complete => "complete",
            Self::Blocked { .. } => "blocked",
            Self::RoundsUsed => "rounds-used",
            Self::Spent { .. } => "spent",
            Self::Stopped { .. } => "stopped",
            Self::NotReady { .. } => "not-ready",
        }
    }

    /// One sentence.
    pub fn words(&self) -> String {
        match self {
            Self::Complete => "every milestone of the roadmap is done".to_string(),
            Self::Blocked { why } => format!("blocked: {why}"),
            Self::RoundsUsed => "the rounds this run was given are used".to_string(),
            Self::Spent { dimension } => format!("the cap on {dimension} is reached"),
            Self::Stopped { by, reason } => format!("{by} asked it to stop: {reason}"),
            Self::NotReady { why } => why.clone(),
        }
    }
}
