//! Events, webhooks and deliveries. The signing secret is kept as the shell sealed it; the core cannot read it.

use crate::protocol::story_queue::vocabulary::{DeliveryId, JsonText, Micros, ProjectId, WebhookId};
use crate::protocol::story_queue::words::words;
use alloc::collections::BTreeSet;
use alloc::string::String;
use serde::{Deserialize, Serialize};

words! {
    pub enum Event {
        StoryStatusChanged = "story.status_changed",
        StoryVerified = "story.verified",
        StoryRejected = "story.rejected",
        StoryBackfilled = "story.backfilled",
        StoryAutoReset = "story.auto_reset",
        StoryForceUnclaimed = "story.force_unclaimed",
        StoryReviewRequested = "story.review_requested",
        StoryReviewCompleted = "story.review_completed",
        EpicCompleted = "epic.completed",
        ArtifactReported = "artifact.reported",
        AgentRegistered = "agent.registered",
        ProjectImported = "project.imported",
        WebhookTest = "webhook.test",
        TokenBudgetWarning = "token.budget_warning",
        TokenBudgetExceeded = "token.budget_exceeded",
        TokenAnomalyDetected = "token.anomaly_detected",
        ArticleCreated = "article.created",
        ArticleUpdated = "article.updated",
        ArticleArchived = "article.archived",
        ArticleSuperseded = "article.superseded",
        ArticleLinkCreated = "article_link.created",
        ArticleLinkDeleted = "article_link.deleted",
    }
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Webhook {
    pub id: WebhookId,
    pub url: String,
    /// Sealed by the shell, who alone can sign with it.
    pub sealed_secret: String,
    pub events: BTreeSet<Event>,
    /// Only what happens in this project; else everything.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub project: Option<ProjectId>,
    pub active: bool,
    /// Deliveries given up since the last that arrived.
    #[serde(default)]
    pub consecutive_failures: u32,
    pub created_at: Micros,
}

words! {
    pub enum DeliveryStatus {
        Pending = "pending",
        Delivered = "delivered",
        /// Will be tried again.
        Failed = "failed",
        /// Will not.
        Exhausted = "exhausted",
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Delivery {
    pub id: DeliveryId,
    pub webhook: WebhookId,
    pub event: Event,
    pub payload: JsonText,
    pub truncated: bool,
    pub status: DeliveryStatus,
    pub attempts: u32,
    pub error: Option<String>,
    pub response_status: Option<u16>,
    pub queued_at: Micros,
    pub last_attempt_at: Option<Micros>,
    /// Absent when it arrived or was given up.
    pub next_attempt_at: Option<Micros>,
}

/// After the first, second… failure.
pub const RETRY_SECONDS: [u64; 5] = [60, 300, 1500, 7200, 36_000];

impl Delivery {
    /// Asked after the attempt was counted.
    pub(super) fn retry_after(&self) -> Option<Micros> {
        let failures = usize::try_from(self.attempts).ok()?;
        RETRY_SECONDS.get(failures.checked_sub(1)?).map(|seconds| Micros::seconds(*seconds))
    }

    pub(super) fn status_after_failure(&self) -> DeliveryStatus {
        if self.retry_after().is_some() { DeliveryStatus::Failed } else { DeliveryStatus::Exhausted }
    }
}

/// What the shell saw.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "outcome", rename_all = "kebab-case")]
pub enum Attempt {
    /// Any 2xx.
    Delivered { status: u16 },
    /// Another status, no answer in time, or an address that must not be called.
    Failed {
        error: String,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        status: Option<u16>,
    },
}
