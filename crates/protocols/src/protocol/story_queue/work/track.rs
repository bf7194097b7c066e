//! What is known of one story's two tracks: where it stands, who brought it there, and what was found.

use super::changes::How;
use crate::protocol::story_queue::caller::{Actor, Caller};
use crate::protocol::story_queue::facts::Entry;
use crate::protocol::story_queue::plan::CriterionStatus;
use crate::protocol::story_queue::vocabulary::{
    AgentId, ArtifactId, DispatchId, JsonText, KeyId, Micros, ReviewId, StoryId, VerificationId, ViolationId,
};
use alloc::collections::BTreeMap;
use alloc::string::String;
use alloc::vec::Vec;
use serde::{Deserialize, Serialize};

/// What the implementing side says.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum AgentStatus {
    #[default]
    Pending,
    Contracted,
    Assigned,
    Implementing,
    ReportedDone,
}

impl AgentStatus {
    pub const ALL: [Self; 5] =
        [Self::Pending, Self::Contracted, Self::Assigned, Self::Implementing, Self::ReportedDone];

    pub const fn name(self) -> &'static str {
        match self {
            Self::Pending => "pending",
            Self::Contracted => "contracted",
            Self::Assigned => "assigned",
            Self::Implementing => "implementing",
            Self::ReportedDone => "reported_done",
        }
    }
}

/// What somebody else found.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum VerifiedStatus {
    #[default]
    Unverified,
    Verified,
    Rejected,
}

impl VerifiedStatus {
    pub const ALL: [Self; 3] = [Self::Unverified, Self::Verified, Self::Rejected];

    pub const fn name(self) -> &'static str {
        match self {
            Self::Unverified => "unverified",
            Self::Verified => "verified",
            Self::Rejected => "rejected",
        }
    }
}

/// Both tracks at one moment.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Standing {
    pub agent: AgentStatus,
    pub verified: VerifiedStatus,
}

/// Who did something, in all the ways two deeds can turn out to be one actor's.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Principal {
    pub agent: Option<AgentId>,
    pub key: Option<KeyId>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub lineage: Vec<DispatchId>,
}

impl Principal {
    pub fn of(actor: &Actor) -> Self {
        Self { agent: actor.agent, key: actor.key, lineage: actor.lineage.clone() }
    }

    pub fn asking(caller: &Caller) -> Self {
        Self { agent: caller.agent, key: Some(caller.key), lineage: caller.lineage.clone() }
    }

    /// The very same: one agent, by the same key or from the same dispatch. Whether two are kept apart is asked of their
    /// hands.
    pub(in crate::protocol::story_queue) fn is(&self, other: &Self) -> bool {
        self.agent == other.agent && (self.lineage == other.lineage || self.key == other.key)
    }
}

/// An implementer acknowledged the story as it then read.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Contract {
    pub wording: u32,
    pub by: Principal,
    pub at: Micros,
}

#[derive(Clone, Debug, Default)]
pub struct Track {
    pub standing: Standing,
    pub contract: Option<Contract>,
    pub assigned: Option<Principal>,
    pub assigned_at: Option<Micros>,
    pub implementer_dispatch: Option<DispatchId>,
    /// Everybody who ever started this story. Nothing clears it: none of them reports, reviews or verifies it.
    pub implementers: Vec<Principal>,
    /// It once entered the lifecycle. Nothing clears it: such a story is never backfilled.
    pub ever_worked: bool,
    pub review_requested_at: Option<Micros>,
    pub verifier_dispatch: Option<DispatchId>,
    pub verifier_needed: bool,
    /// Thousandths; how much the usage looks like unfinished work.
    pub lazy_score: Option<u32>,
    pub reported_by: Option<Principal>,
    pub reported_done_at: Option<Micros>,
    pub verified_by: Option<Principal>,
    pub verified_at: Option<Micros>,
    pub rejected_at: Option<Micros>,
    pub rejection_reason: Option<String>,
    /// Came in as reported by an import: whoever brought it counts as its reporter.
    pub imported: bool,
    pub backfill: Option<Backfill>,
    /// Open violations; while there is one the story does not advance.
    pub quarantine: Vec<ViolationId>,
    pub artifacts: Vec<Artifact>,
    pub reviews: Vec<Review>,
    /// How many reviews no longer count: they looked at other work or other words.
    pub reviews_outdated: usize,
    /// What they were outdated by, and when: a review that counts was finished after it.
    pub outdated: Option<(Outdated, Micros)>,
    pub verifications: Vec<Verification>,
    /// What was said of single criteria since the story was last reported, by their ids.
    pub criteria: BTreeMap<String, CriterionVerdict>,
    pub updated: Micros,
}

/// What makes earlier reviews worthless.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outdated {
    Reported,
    Rejected,
    Reworded,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CriterionVerdict {
    pub status: CriterionStatus,
    pub evidence: Option<String>,
    pub by: Principal,
    pub at: Micros,
}

impl Track {
    pub fn iteration(&self) -> u32 {
        u32::try_from(self.verifications.len()).unwrap_or(u32::MAX).saturating_add(1)
    }

    pub fn is_quarantined(&self) -> bool {
        !self.quarantine.is_empty()
    }

    pub fn assigned_agent(&self) -> Option<AgentId> {
        self.assigned.as_ref().and_then(|principal| principal.agent)
    }
}

impl Track {
    /// What a move leaves behind beside the standing itself.
    pub(super) fn apply(&mut self, entry: &Entry, how: &How) {
        let by = Principal::of(&entry.by);
        self.ever_worked |= how.is_work();
        match how {
            How::Contracted { wording } => {
                self.contract = Some(Contract { wording: *wording, by, at: entry.at });
            }
            How::ContractVoided | How::AutoReset | How::Unclaimed | How::ForceUnclaimed => self.reset(),
            How::Claimed => {
                self.implementer_dispatch = by.lineage.last().copied();
                self.assigned = Some(by.clone());
                self.assigned_at = Some(entry.at);
                self.has_hands_in_it(by);
            }
            How::Started => self.has_hands_in_it(by),
            How::Reported => {
                self.criteria.clear();
                self.reported_by = Some(by);
                self.reported_done_at = Some(entry.at);
                self.outdate_reviews(Outdated::Reported, entry.at);
            }
            How::Reworded => {
                self.verified_by = None;
                self.verified_at = None;
            }
            How::Verified { verification } => {
                self.verifications.push((**verification).clone());
                self.verified_by = Some(by);
                self.verified_at = Some(entry.at);
                self.rejected_at = None;
                self.rejection_reason = None;
            }
            How::Rejected { reason, verification } => {
                self.verifications.push((**verification).clone());
                self.verified_by = None;
                self.verified_at = None;
                self.rejected_at = Some(entry.at);
                self.rejection_reason = Some(reason.clone());
                self.outdate_reviews(Outdated::Rejected, entry.at);
            }
            How::Backfilled { backfill } => {
                self.backfill = Some(backfill.clone());
                self.reported_done_at = Some(entry.at);
                self.verified_at = Some(entry.at);
            }
            How::Imported { .. } => {
                self.imported = true;
                self.reported_by = Some(by);
                self.reported_done_at = Some(entry.at);
                self.outdate_reviews(Outdated::Reported, entry.at);
                if self.standing.verified == VerifiedStatus::Verified {
                    self.verified_at = Some(entry.at);
                }
            }
        }
    }

    /// Whoever had it in hand could have worked on it, started or not.
    fn has_hands_in_it(&mut self, by: Principal) {
        if !self.implementers.contains(&by) {
            self.implementers.push(by);
        }
    }

    /// Whatever was reviewed until now was something else.
    pub(super) fn outdate_reviews(&mut self, by: Outdated, at: Micros) {
        self.reviews_outdated = self.reviews.len();
        self.outdated = Some((by, at));
    }

    /// A review counts that was finished after this.
    pub(super) fn reviewable_since(&self) -> Option<Micros> {
        let reported = self.reported_done_at?;
        Some(self.outdated.map_or(reported, |(_, at)| reported.max(at)))
    }

    /// Verified, and nothing against it: whoever waits for it may begin.
    pub fn satisfies(&self) -> bool {
        self.standing.verified == VerifiedStatus::Verified && !self.is_quarantined()
    }

    /// Back to the queue. Who implemented, that it was worked on, and what was found stay.
    fn reset(&mut self) {
        self.contract = None;
        self.assigned = None;
        self.assigned_at = None;
        self.implementer_dispatch = None;
        self.verifier_dispatch = None;
        self.verifier_needed = false;
        self.review_requested_at = None;
        self.reported_by = None;
        self.reported_done_at = None;
    }
}

/// Work that was done before the story came here, with where that can be seen.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Backfill {
    pub reason: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub evidence_url: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pr_number: Option<u64>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ReportedBy {
    Agent,
    Orchestrator,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Artifact {
    pub id: ArtifactId,
    pub story: StoryId,
    pub reported_by: ReportedBy,
    pub reporter: Option<AgentId>,
    pub artifact_type: String,
    pub path: String,
    pub exists: bool,
    pub details: JsonText,
    pub at: Micros,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Review {
    pub id: ReviewId,
    pub story: StoryId,
    pub reviewer: Principal,
    pub review_type: String,
    pub findings_count: u32,
    pub fixes_count: u32,
    pub disproved_count: u32,
    pub summary: Option<String>,
    pub completed_at: Micros,
    /// When the server heard of it; `completed_at` is the reviewer's word.
    pub recorded_at: Micros,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Verdict {
    Pass,
    Fail,
    Partial,
}

impl Verdict {
    pub const fn name(self) -> &'static str {
        match self {
            Self::Pass => "pass",
            Self::Fail => "fail",
            Self::Partial => "partial",
        }
    }
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Verification {
    pub id: VerificationId,
    pub story: StoryId,
    pub verifier: Principal,
    pub result: Verdict,
    pub summary: Option<String>,
    pub findings: JsonText,
    pub review_type: Option<String>,
    pub commit_sha: Option<String>,
    pub iteration: u32,
    pub at: Micros,
}
