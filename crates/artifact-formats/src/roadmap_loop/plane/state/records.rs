//! The records inside `state.json` and the words they use. It knows their keys, not how they change.

use serde_json::{Value, json};

use crate::extra_keys::ExtraKeys;
use crate::fields::choice;

choice! {
    ControllerStage {
        DispatchRounds = "dispatch-rounds",
        UpdateRoadmap = "update-roadmap",
        Done = "done",
        Blocked = "blocked",
    }
}

choice! {
    RoundStage {
        Plan = "plan",
        Implement = "implement",
        Review = "review",
        FinalizeRound = "finalize-round",
        Done = "done",
        Blocked = "blocked",
    }
}

choice! {
    /// What called for a change of the roadmap's meaning.
    UpdateTrigger {
        MergedRound = "merged-round",
        PlannerRequest = "planner-request",
    }
}

choice! {
    UpdateStatus {
        Authoring = "authoring",
        Review = "review",
        Rejected = "rejected",
        Approved = "approved",
        Blocked = "blocked",
    }
}

choice! {
    RetryScope {
        Round = "round",
        RoadmapUpdate = "roadmap-update",
    }
}

choice! {
    /// How the attempt is made; a limit counts attempts of one mechanism.
    RetryMechanism {
        SameHandle = "same handle",
        FreshAgent = "fresh agent",
        OtherAdapter = "other adapter",
    }
}

/// One live round.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RoundRecord {
    pub round_id: String,
    pub stage: RoundStage,
    pub branch: String,
    /// From the top of the repository, or absolute.
    pub worktree_path: String,
    pub resume_error: Option<String>,
    pub extra: ExtraKeys,
}

/// The one semantic update that is under way.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UpdateRecord {
    pub trigger: UpdateTrigger,
    pub source_round_id: String,
    pub branch: String,
    pub worktree_path: String,
    pub update_artifact: String,
    pub review_artifact: String,
    pub prior_roadmap_revision: String,
    pub proposed_roadmap_revision: String,
    pub status: UpdateStatus,
    /// Starts at one.
    pub attempt: u32,
    pub last_rejection_artifact: Option<String>,
    pub last_rejection_summary: Option<String>,
    pub resume_error: Option<String>,
}

/// A recoverable error; older planes keyed them by round.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ResumeError {
    pub key: String,
    /// The text, or the JSON of a structured one.
    pub text: String,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Retry {
    Idle,
    Attempt(RetryRecord),
    /// Another controller's bookkeeping, as it is spelled. Kept, never interpreted.
    Other(String),
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RetryRecord {
    pub scope: RetryScope,
    /// Round id, of the update's source for an update.
    pub id: String,
    pub stage: String,
    pub mechanism: RetryMechanism,
    pub attempt: u32,
    pub review_retry_cycles: u32,
}

impl RoundRecord {
    pub(super) fn to_value(&self) -> Value {
        let mut value = json!({
            "round_id": self.round_id,
            "stage": self.stage.as_str(),
            "branch": self.branch,
            "worktree_path": self.worktree_path,
            "resume_error": self.resume_error,
        });
        for (key, raw) in self.extra.iter() {
            if let (Some(object), Ok(kept)) = (value.as_object_mut(), serde_json::from_str(raw)) {
                object.insert(key.to_owned(), kept);
            }
        }
        value
    }
}

impl UpdateRecord {
    pub const SCHEMA_VERSION: &'static str = "roadmap-update-v1";

    pub(super) fn to_value(&self) -> Value {
        json!({
            "schema_version": Self::SCHEMA_VERSION,
            "trigger": self.trigger.as_str(),
            "source_round_id": self.source_round_id,
            "branch": self.branch,
            "worktree_path": self.worktree_path,
            "update_artifact": self.update_artifact,
            "review_artifact": self.review_artifact,
            "prior_roadmap_revision": self.prior_roadmap_revision,
            "proposed_roadmap_revision": self.proposed_roadmap_revision,
            "status": self.status.as_str(),
            "attempt": self.attempt,
            "last_rejection_artifact": self.last_rejection_artifact,
            "last_rejection_summary": self.last_rejection_summary,
            "resume_error": self.resume_error,
        })
    }
}

impl RetryRecord {
    pub(super) fn to_value(&self) -> Value {
        json!({
            "scope": self.scope.as_str(),
            "id": self.id,
            "stage": self.stage,
            "mechanism": self.mechanism.as_str(),
            "attempt": self.attempt,
            "review_retry_cycles": self.review_retry_cycles,
        })
    }
}
