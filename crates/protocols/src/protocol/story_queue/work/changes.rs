//! What is journaled of a story's way. Who did it is the entry's own; a move carries both standings, before and after.

use super::track::{Artifact, Backfill, Review, Standing, Verification};
use crate::protocol::story_queue::plan::CriterionStatus;
use crate::protocol::story_queue::vocabulary::{DispatchId, EpicId, StoryId};
use alloc::boxed::Box;
use alloc::string::String;
use serde::{Deserialize, Serialize};

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "what", rename_all = "kebab-case")]
pub enum Change {
    Moved {
        story: StoryId,
        from: Standing,
        to: Standing,
        how: How,
    },
    ReviewRequested {
        story: StoryId,
        /// Chosen by the server among other roots; absent means somebody has to be found.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        verifier: Option<DispatchId>,
        /// Thousandths.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        lazy_score: Option<u32>,
    },
    Reviewed {
        review: Box<Review>,
    },
    /// A partial result: it is history, and moves nothing.
    Judged {
        verification: Box<Verification>,
    },
    /// One criterion; until the story is reported again.
    CriterionJudged {
        story: StoryId,
        ac_id: String,
        status: CriterionStatus,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        evidence: Option<String>,
    },
    ArtifactReported {
        artifact: Box<Artifact>,
    },
    EpicCompleted {
        epic: EpicId,
    },
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "by", rename_all = "kebab-case")]
pub enum How {
    Contracted {
        wording: u32,
    },
    /// Title, description or criteria were edited after the contract.
    ContractVoided,
    /// Other words were forced on it after the verdict, which was of the old ones.
    Reworded,
    Claimed,
    Started,
    Reported,
    Verified {
        verification: Box<Verification>,
    },
    Rejected {
        reason: String,
        verification: Box<Verification>,
    },
    /// After a rejection, by the tenant's setting.
    AutoReset,
    Unclaimed,
    ForceUnclaimed,
    Backfilled {
        backfill: Backfill,
    },
    /// The status an import gave it.
    Imported {
        #[serde(default, skip_serializing_if = "Option::is_none")]
        reason: Option<String>,
    },
}

impl How {
    /// The story entered its life here: it was not just told of as done elsewhere.
    pub const fn is_work(&self) -> bool {
        !matches!(self, Self::Backfilled { .. } | Self::Imported { .. })
    }

    /// The audit log's word.
    pub const fn action(&self) -> &'static str {
        match self {
            Self::Contracted { .. } | Self::Claimed | Self::Started | Self::Reported | Self::Unclaimed => {
                "status_changed"
            }
            Self::ContractVoided => "contract_voided",
            Self::Reworded => "verdict_voided",
            Self::Verified { .. } => "verified",
            Self::Rejected { .. } => "rejected",
            Self::AutoReset => "auto_reset",
            Self::ForceUnclaimed => "force_unclaimed",
            Self::Backfilled { .. } => "backfilled",
            Self::Imported { .. } => "imported",
        }
    }
}
