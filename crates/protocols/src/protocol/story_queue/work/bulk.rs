//! Several stories in one request. Each is decided by the single command, one after the other in ascending order of ids,
//! so that nothing can be done in bulk that could not be done alone.

use super::implementing::{Claimed, claim};
use super::judging::{Judge, Judged, Reject, reject, verify};
use super::track::{AgentStatus, VerifiedStatus};
use crate::protocol::story_queue::custody::Presented;
use crate::protocol::story_queue::decide::{Decided, Draft};
use crate::protocol::story_queue::refusal::{Kind, Refusal};
use crate::protocol::story_queue::refusal_code::RefusalCode;
use crate::protocol::story_queue::vocabulary::{EpicId, JsonText, KeyRole, StoryId};
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

pub const BULK_MOST: usize = 50;

/// Per story, in ascending order of ids.
pub type BulkResult<T> = Vec<(StoryId, Decided<T>)>;

pub fn bulk_claim(draft: &mut Draft, stories: Vec<StoryId>) -> Decided<BulkResult<Claimed>> {
    draft.caller().require_exactly(&[KeyRole::Agent])?;
    draft.caller().require_agent()?;
    each(draft, stories.into_iter().map(|id| (id, ())).collect(), |draft, id, ()| claim(draft, id))
}

#[derive(Clone, Debug)]
pub struct JudgeOne<T> {
    pub story: StoryId,
    pub ask: T,
}

pub fn bulk_verify(draft: &mut Draft, stories: Vec<JudgeOne<Judge>>) -> Decided<BulkResult<Judged>> {
    judge(draft)?;
    each(draft, pairs(stories), verify)
}

pub fn bulk_reject(draft: &mut Draft, stories: Vec<JudgeOne<Reject>>) -> Decided<BulkResult<Judged>> {
    judge(draft)?;
    each(draft, pairs(stories), reject)
}

#[derive(Clone, Debug, Default)]
pub struct MarkComplete {
    pub summary: Option<String>,
    pub review_type: Option<String>,
    pub cap: Option<Presented>,
}

/// A verification by another name: the same evidence, the same distance from the implementer.
pub fn bulk_mark_complete(
    draft: &mut Draft,
    stories: Vec<JudgeOne<MarkComplete>>,
) -> Decided<BulkResult<Judged>> {
    judge(draft)?;
    each(draft, pairs(stories), |draft, id, ask: MarkComplete| {
        let MarkComplete { summary, review_type, cap } = ask;
        verify(draft, id, Judge { summary, review_type, cap, ..Judge::default() })
    })
}

#[derive(Clone, Debug, Default)]
pub struct VerifyAll {
    pub summary: Option<String>,
    pub review_type: Option<String>,
    pub findings: JsonText,
}

/// Every story of the epic that was reported and has no verdict.
pub fn verify_all(draft: &mut Draft, epic: EpicId, ask: VerifyAll) -> Decided<BulkResult<Judged>> {
    judge(draft)?;
    let ledger = draft.ledger();
    if ledger.plan.epic(epic).is_none() {
        return Err(Refusal::not_found("epic"));
    }
    let waits = |id: &StoryId| {
        ledger.work.track(*id).is_some_and(|track| {
            track.standing.agent == AgentStatus::ReportedDone
                && track.standing.verified == VerifiedStatus::Unverified
        })
    };
    let mut stories: Vec<StoryId> =
        ledger.plan.stories_of(epic).map(|story| story.id).filter(waits).collect();
    stories.sort_unstable();
    let decide = |id| {
        let judge = Judge {
            summary: ask.summary.clone(),
            review_type: ask.review_type.clone(),
            findings: ask.findings.clone(),
            ..Judge::default()
        };
        (id, verify(draft, id, judge))
    };
    Ok(stories.into_iter().map(decide).collect())
}

fn judge(draft: &Draft) -> Decided<()> {
    draft.caller().require_exactly(&[KeyRole::Orchestrator])?;
    draft.caller().require_agent().map(|_| ())
}

fn pairs<T>(stories: Vec<JudgeOne<T>>) -> Vec<(StoryId, T)> {
    stories.into_iter().map(|one| (one.story, one.ask)).collect()
}

fn each<T, R>(
    draft: &mut Draft,
    mut stories: Vec<(StoryId, T)>,
    mut decide: impl FnMut(&mut Draft, StoryId, T) -> Decided<R>,
) -> Decided<BulkResult<R>> {
    if stories.is_empty() || stories.len() > BULK_MOST {
        return Err(Refusal::new(Kind::Invalid, format!("1 to {BULK_MOST} stories at once"))
            .with_code(RefusalCode::BatchSize));
    }
    stories.sort_by_key(|(id, _)| *id);
    Ok(stories.into_iter().map(|(id, ask)| (id, decide(draft, id, ask))).collect())
}
