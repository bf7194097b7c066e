//! Dispatches, tokens and violations as data. Signing and checking signatures is the shell's.

use crate::protocol::story_queue::caller::Actor;
use crate::protocol::story_queue::vocabulary::{
    AgentId, DispatchId, KeyId, KeyRole, Micros, StoryId, TokenId, ViolationId,
};
use alloc::string::String;
use alloc::vec::Vec;
use serde::{Deserialize, Serialize};

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Dispatch {
    pub id: DispatchId,
    pub parent: Option<DispatchId>,
    pub key: KeyId,
    pub agent: Option<AgentId>,
    pub story: Option<StoryId>,
    pub role: KeyRole,
    /// Root to self.
    pub lineage: Vec<DispatchId>,
    pub created: Micros,
    pub expires: Micros,
    pub revoked: Option<Micros>,
}

impl Dispatch {
    pub fn is_active(&self, at: Micros) -> bool {
        self.revoked.is_none() && at < self.expires
    }

    pub fn root(&self) -> DispatchId {
        self.lineage.first().copied().unwrap_or(self.id)
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TokenKind {
    StartCap,
    ReportCap,
    VerifyCap,
    ReviewCompleteCap,
}

impl TokenKind {
    pub const fn name(self) -> &'static str {
        match self {
            Self::StartCap => "start_cap",
            Self::ReportCap => "report_cap",
            Self::VerifyCap => "verify_cap",
            Self::ReviewCompleteCap => "review_complete_cap",
        }
    }
}

/// Who may use a token; the identity rules of the call it opens hold besides.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Holder {
    pub agent: Option<AgentId>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub lineage: Vec<DispatchId>,
}

/// Opens one call, on one story, once.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Token {
    pub id: TokenId,
    pub kind: TokenKind,
    pub story: StoryId,
    /// Absent for a token that is handed on to somebody not known yet, as the reporter hands it to a reviewer.
    pub holder: Option<Holder>,
    pub issued: Micros,
    pub expires: Micros,
    pub consumed: Option<Micros>,
}

/// A token as it came back: the shell has read it and says whether its signature holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Presented {
    pub token: TokenId,
    pub signature: Signature,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Signature {
    Holds,
    Fails,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ViolationKind {
    SelfReport,
    SelfReview,
    SelfVerify,
    RejectedCapability,
    CriteriaChangedUnderWork,
}

impl ViolationKind {
    pub const fn name(self) -> &'static str {
        match self {
            Self::SelfReport => "self_report",
            Self::SelfReview => "self_review",
            Self::SelfVerify => "self_verify",
            Self::RejectedCapability => "rejected_capability",
            Self::CriteriaChangedUnderWork => "criteria_changed_under_work",
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ViolationStatus {
    Pending,
    Resolved,
    Ignored,
}

impl ViolationStatus {
    pub const fn name(self) -> &'static str {
        match self {
            Self::Pending => "pending",
            Self::Resolved => "resolved",
            Self::Ignored => "ignored",
        }
    }
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Violation {
    pub id: ViolationId,
    pub kind: ViolationKind,
    pub story: StoryId,
    pub by: Actor,
    pub detail: String,
    pub at: Micros,
    pub status: ViolationStatus,
    pub note: Option<String>,
    #[serde(default, skip_serializing_if = "Holds::is_story")]
    pub holds: Holds,
}

/// What stands still until a violation is settled.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Holds {
    /// The story: whoever tried has a part in it.
    #[default]
    Story,
    /// Nothing: a stranger tried, and the story's own people did nothing wrong.
    Nothing,
}

impl Holds {
    #[expect(clippy::trivially_copy_pass_by_ref, reason = "serde asks with a reference")]
    fn is_story(&self) -> bool {
        *self == Self::Story
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Halt {
    pub at: Micros,
    pub reason: String,
}
