//! Verdicts: verified only on evidence, rejected with a reason, and a result that is not a pass never counts as one.

use super::criteria::require_none_failed;
use super::guards::{
    Deed, may_verify, move_to, record, require_distinct, require_outside, reviews_of_report, track_of,
    wrong_standing,
};
use super::track::{
    AgentStatus, Outdated, Principal, Standing, Track, Verdict, Verification, VerifiedStatus,
};
use super::{Change, How};
use crate::protocol::story_queue::custody::{self, Dispatch, Presented, TokenKind};
use crate::protocol::story_queue::decide::{Decided, Draft};
use crate::protocol::story_queue::facts;
use crate::protocol::story_queue::ledger::Ledger;
use crate::protocol::story_queue::refusal::{Kind, Refusal};
use crate::protocol::story_queue::refusal_code::RefusalCode;
use crate::protocol::story_queue::vocabulary::{EpicId, JsonText, KeyRole, Micros, StoryId, VerificationId};
use alloc::boxed::Box;
use alloc::string::{String, ToString};

#[derive(Clone, Debug, Default)]
pub struct Judge {
    /// A pass where nothing is said.
    pub result: Option<Verdict>,
    pub summary: Option<String>,
    pub review_type: Option<String>,
    pub findings: JsonText,
    pub commit_sha: Option<String>,
    pub cap: Option<Presented>,
}

#[derive(Clone, Debug)]
pub struct Judged {
    pub verification: Verification,
    pub standing: Standing,
    /// Set when this story was the last of its epic.
    pub completed_epic: Option<EpicId>,
}

pub fn verify(draft: &mut Draft, id: StoryId, ask: Judge) -> Decided<Judged> {
    let result = ask.result.unwrap_or(Verdict::Pass);
    require_judge(draft, id)?;
    let track = track_of(draft, id)?;
    let standing = track.standing;
    if standing.agent != AgentStatus::ReportedDone || standing.verified == VerifiedStatus::Verified {
        return Err(wrong_standing(standing, "verify"));
    }
    custody::require_untainted(track)?;
    require_outside(draft, id, Deed::Verify)?;
    require_distinct(draft, id, Deed::Verify)?;
    require_chosen(draft, id)?;
    if result == Verdict::Pass {
        require_reviewed(draft, id)?;
        require_none_failed(track_of(draft, id)?)?;
    }
    let spending = custody::spend(draft, TokenKind::VerifyCap, id, ask.cap)?;
    spending.consume(draft);
    let summary = ask.summary.clone();
    let verification = verification(draft, id, result, ask);
    match result {
        Verdict::Pass => {
            let how = How::Verified { verification: Box::new(verification.clone()) };
            move_to(draft, id, Standing { verified: VerifiedStatus::Verified, ..standing }, how);
        }
        Verdict::Partial => {
            record(draft, id, Change::Judged { verification: Box::new(verification.clone()) });
        }
        Verdict::Fail => {
            let reason = summary.filter(|text| !text.trim().is_empty());
            let reason = reason.unwrap_or_else(|| "verification failed".to_string());
            rejected(draft, id, reason, verification.clone());
        }
    }
    let completed_epic = complete_epic(draft, id);
    let standing = track_of(draft, id)?.standing;
    Ok(Judged { verification, standing, completed_epic })
}

#[derive(Clone, Debug, Default)]
pub struct Reject {
    pub reason: String,
    pub review_type: Option<String>,
    pub findings: JsonText,
}

pub fn reject(draft: &mut Draft, id: StoryId, ask: Reject) -> Decided<Judged> {
    require_judge(draft, id)?;
    let track = track_of(draft, id)?;
    let standing = track.standing;
    // What is verified can be rejected wherever it stands: journals of old hold stories that are pending and verified.
    let verified = standing.verified == VerifiedStatus::Verified;
    let reported =
        standing.agent == AgentStatus::ReportedDone && standing.verified != VerifiedStatus::Rejected;
    if !verified && !reported {
        return Err(wrong_standing(standing, "reject"));
    }
    require_outside(draft, id, Deed::Verify)?;
    if ask.reason.trim().is_empty() {
        return Err(Refusal::field("reason", "can't be blank").with_code(RefusalCode::ReasonRequired));
    }
    let judge = Judge {
        summary: Some(ask.reason.clone()),
        review_type: ask.review_type,
        findings: ask.findings,
        ..Judge::default()
    };
    let verification = verification(draft, id, Verdict::Fail, judge);
    rejected(draft, id, ask.reason, verification.clone());
    let standing = track_of(draft, id)?.standing;
    Ok(Judged { verification, standing, completed_epic: None })
}

pub(super) fn require_judge(draft: &Draft, id: StoryId) -> Decided<()> {
    draft.caller().require_exactly(&[KeyRole::Orchestrator])?;
    draft.caller().require_agent()?;
    custody::require_going(draft)?;
    track_of(draft, id).map(|_| ())
}

/// Where the server chose a verifier who can still come, the verdict of another dispatch does not count.
pub(super) fn require_chosen(draft: &Draft, id: StoryId) -> Decided<()> {
    let track = track_of(draft, id)?;
    let me = Principal::asking(draft.caller());
    let Some(chosen) = chosen_instead(draft.ledger(), track, draft.at(), &me) else { return Ok(()) };
    Err(Refusal::new(Kind::NotAllowed, "another dispatch was chosen to verify this story")
        .with_code(RefusalCode::NotChosenVerifier)
        .with_context("verifier_dispatch_id", chosen.id.to_string()))
}

/// The dispatch whose verdict is waited for instead of theirs. The draw is among those who were sent, and binds those alone: a key
/// of no dispatch was made by a person for this agent, and that is a choice already. It lapses with whoever was drawn, for
/// a story that only somebody could verify who cannot come any more would be stuck.
pub(in crate::protocol::story_queue) fn chosen_instead<'a>(
    ledger: &'a Ledger,
    track: &Track,
    at: Micros,
    who: &Principal,
) -> Option<&'a Dispatch> {
    let chosen = ledger.custody.dispatch(track.verifier_dispatch?)?;
    let can_come =
        custody::could_verify(ledger, chosen, at) && may_verify(ledger, track, &Principal::sent(chosen));
    (can_come && !who.lineage.is_empty() && !who.lineage.contains(&chosen.id)).then_some(chosen)
}

/// A story is verified on a review of what was reported, by its text newer than the report.
fn require_reviewed(draft: &Draft, id: StoryId) -> Decided<()> {
    let track = track_of(draft, id)?;
    if reviews_of_report(track).next().is_some() {
        return Ok(());
    }
    let (code, why) = match track.outdated {
        _ if track.reviews.is_empty() => (RefusalCode::NoReviewRecord, "no review of this story is recorded"),
        Some((Outdated::Rejected, _)) => {
            (RefusalCode::ReviewOutdated, "the story was rejected after its last review")
        }
        Some((Outdated::Reworded, _)) => {
            (RefusalCode::ReviewOutdated, "the story was reworded after its last review")
        }
        _ => (RefusalCode::ReviewBeforeReport, "the story was reported again after its last review"),
    };
    Err(Refusal::new(Kind::Invalid, why).with_code(code))
}

fn verification(draft: &mut Draft, story: StoryId, result: Verdict, ask: Judge) -> Verification {
    let iteration = draft.ledger().work.track(story).map_or(1, Track::iteration);
    Verification {
        id: VerificationId(draft.ids().fresh()),
        story,
        verifier: Principal::asking(draft.caller()),
        result,
        summary: ask.summary,
        findings: ask.findings,
        review_type: ask.review_type,
        commit_sha: ask.commit_sha,
        iteration,
        at: draft.at(),
    }
}

fn rejected(draft: &mut Draft, id: StoryId, reason: String, verification: Verification) {
    let agent = draft.ledger().work.track(id).map_or(AgentStatus::ReportedDone, |track| track.standing.agent);
    let to = Standing { agent, verified: VerifiedStatus::Rejected };
    move_to(draft, id, to, How::Rejected { reason, verification: Box::new(verification) });
    if agent != AgentStatus::Pending && draft.ledger().tenancy.settings.auto_reset_on_rejection {
        move_to(draft, id, Standing { agent: AgentStatus::Pending, ..to }, How::AutoReset);
    }
}

/// Recorded once in the life of an epic, with the verdict that finished it.
pub(super) fn complete_epic(draft: &mut Draft, id: StoryId) -> Option<EpicId> {
    let ledger = draft.ledger();
    let story = ledger.plan.story(id)?;
    let (epic, project) = (story.epic, story.project);
    if !ledger.work.is_complete(epic) || ledger.work.is_recorded_complete(epic) {
        return None;
    }
    draft.record(Some(project), facts::Change::Work(Change::EpicCompleted { epic }));
    Some(epic)
}
