//! What others say about finished work: reports, artifacts, reviews. None of it closes a story.

use super::guards::{Deed, move_to, record, require_distinct, require_outside, track_of, wrong_standing};
use super::track::{AgentStatus, Artifact, Principal, ReportedBy, Review, Standing, VerifiedStatus};
use super::{Change, How};
use crate::protocol::story_queue::custody::{self, Presented, Token, TokenKind};
use crate::protocol::story_queue::decide::{Decided, Draft};
use crate::protocol::story_queue::refusal::{Kind, Refusal};
use crate::protocol::story_queue::refusal_code::RefusalCode;
use crate::protocol::story_queue::vocabulary::{ArtifactId, JsonText, KeyRole, Micros, ReviewId, StoryId};
use alloc::boxed::Box;
use alloc::string::String;

#[derive(Clone, Debug, Default)]
pub struct ReportDone {
    pub artifact: Option<ReportArtifact>,
    pub cap: Option<Presented>,
}

#[derive(Clone, Debug)]
pub struct Reported {
    /// For whoever will review; the reporter hands it on.
    pub review_complete_cap: Token,
    pub artifact: Option<Artifact>,
}

/// Somebody other than the implementer says that the work is there.
pub fn report(draft: &mut Draft, id: StoryId, ask: ReportDone) -> Decided<Reported> {
    draft.caller().require_exactly(&[KeyRole::Agent, KeyRole::Orchestrator])?;
    draft.caller().require_agent()?;
    custody::require_going(draft)?;
    let track = track_of(draft, id)?;
    let standing = track.standing;
    if standing.agent != AgentStatus::Implementing {
        return Err(wrong_standing(standing, "report"));
    }
    custody::require_untainted(track)?;
    require_outside(draft, id, Deed::Report)?;
    if let Some(artifact) = &ask.artifact {
        artifact.require_complete()?;
    }
    let spending = custody::spend(draft, TokenKind::ReportCap, id, ask.cap)?;
    spending.consume(draft);
    // A rejected story that was done again waits for a new verdict.
    let to = Standing { agent: AgentStatus::ReportedDone, verified: VerifiedStatus::Unverified };
    move_to(draft, id, to, How::Reported);
    let artifact = ask.artifact.map(|artifact| keep_artifact(draft, id, artifact));
    let review_complete_cap = custody::mint(draft, TokenKind::ReviewCompleteCap, id, None);
    Ok(Reported { review_complete_cap, artifact })
}

#[derive(Clone, Debug)]
pub struct ReportArtifact {
    pub artifact_type: String,
    pub path: String,
    pub exists: bool,
    pub details: JsonText,
}

impl ReportArtifact {
    fn require_complete(&self) -> Decided<()> {
        for (field, text) in [("artifact_type", &self.artifact_type), ("path", &self.path)] {
            if text.trim().is_empty() {
                return Err(Refusal::field(field, "can't be blank"));
            }
            if text.chars().count() > 2000 {
                return Err(Refusal::field(field, "should be at most 2000 character(s)"));
            }
        }
        Ok(())
    }
}

pub fn report_artifact(draft: &mut Draft, id: StoryId, ask: ReportArtifact) -> Decided<Artifact> {
    draft.caller().require_exactly(&[KeyRole::Agent, KeyRole::Orchestrator])?;
    draft.caller().require_agent()?;
    custody::require_going(draft)?;
    track_of(draft, id)?;
    ask.require_complete()?;
    Ok(keep_artifact(draft, id, ask))
}

fn keep_artifact(draft: &mut Draft, story: StoryId, ask: ReportArtifact) -> Artifact {
    let orchestrating = draft.caller().role == KeyRole::Orchestrator;
    let artifact = Artifact {
        id: ArtifactId(draft.ids().fresh()),
        story,
        reported_by: if orchestrating { ReportedBy::Orchestrator } else { ReportedBy::Agent },
        reporter: draft.caller().agent,
        artifact_type: ask.artifact_type,
        path: ask.path,
        exists: ask.exists,
        details: ask.details,
        at: draft.at(),
    };
    record(draft, story, Change::ArtifactReported { artifact: Box::new(artifact.clone()) });
    artifact
}

#[derive(Clone, Debug, Default)]
pub struct CompleteReview {
    pub review_type: String,
    pub findings_count: u32,
    pub fixes_count: u32,
    pub disproved_count: u32,
    pub summary: Option<String>,
    pub completed_at: Option<Micros>,
    pub cap: Option<Presented>,
}

/// An independent review was done. A user's key without agent is a person; any other unknown identity is refused.
pub fn complete_review(draft: &mut Draft, id: StoryId, ask: CompleteReview) -> Decided<Review> {
    draft.caller().require_exactly(&[KeyRole::Orchestrator, KeyRole::User])?;
    if draft.caller().role != KeyRole::User {
        draft.caller().require_agent()?;
    }
    custody::require_going(draft)?;
    let track = track_of(draft, id)?;
    if track.standing.agent != AgentStatus::ReportedDone {
        return Err(wrong_standing(track.standing, "review_complete"));
    }
    custody::require_untainted(track)?;
    let since = track.reviewable_since().unwrap_or(draft.at());
    require_outside(draft, id, Deed::Review)?;
    require_distinct(draft, id, Deed::Review)?;
    let completed_at = ask.completed_at.unwrap_or(draft.at());
    ask.require_sound(since, completed_at, draft.at())?;
    let spending = custody::spend(draft, TokenKind::ReviewCompleteCap, id, ask.cap)?;
    spending.consume(draft);
    let review = Review {
        id: ReviewId(draft.ids().fresh()),
        story: id,
        reviewer: Principal::asking(draft.caller()),
        review_type: ask.review_type,
        findings_count: ask.findings_count,
        fixes_count: ask.fixes_count,
        disproved_count: ask.disproved_count,
        summary: ask.summary,
        completed_at,
        recorded_at: draft.at(),
    };
    record(draft, id, Change::Reviewed { review: Box::new(review.clone()) });
    Ok(review)
}

impl CompleteReview {
    fn require_sound(&self, since: Micros, completed: Micros, now: Micros) -> Decided<()> {
        if self.review_type.trim().is_empty() {
            return Err(Refusal::field("review_type", "can't be blank"));
        }
        let settled = u64::from(self.fixes_count) + u64::from(self.disproved_count);
        if settled < u64::from(self.findings_count) {
            let why = "every finding is fixed or disproved: fixes_count + disproved_count must reach findings_count";
            return Err(Refusal::new(Kind::Invalid, why).with_detail("fixes_count", "leaves findings open"));
        }
        if completed < since {
            return Err(Refusal::field(
                "completed_at",
                "is before the story was reported, rejected or reworded",
            )
            .with_code(RefusalCode::ReviewBeforeReport));
        }
        if completed > now.plus(Micros::seconds(300)) {
            return Err(Refusal::field("completed_at", "is in the future"));
        }
        Ok(())
    }
}
