//! Single criteria: the verifier says of each whether it holds and where that can be seen. None of it closes a story, and
//! one that failed keeps it open.

use super::Change;
use super::guards::{Deed, record, require_distinct, require_outside, track_of, wrong_standing};
use super::judging::{require_chosen, require_judge};
use super::track::{AgentStatus, CriterionVerdict, Track, VerifiedStatus};
use crate::protocol::story_queue::custody;
use crate::protocol::story_queue::decide::{Decided, Draft};
use crate::protocol::story_queue::plan::CriterionStatus;
use crate::protocol::story_queue::refusal::{Kind, Refusal};
use crate::protocol::story_queue::refusal_code::RefusalCode;
use crate::protocol::story_queue::vocabulary::StoryId;
use alloc::string::String;
use alloc::vec::Vec;

const LONGEST_EVIDENCE: usize = 2000;

#[derive(Clone, Debug)]
pub struct JudgeCriterion {
    pub ac_id: String,
    pub status: CriterionStatus,
    /// A path, a test, an address: where whoever doubts it can look.
    pub evidence: Option<String>,
}

/// By whoever could verify the whole story, and only while that is open.
pub fn judge_criterion(draft: &mut Draft, id: StoryId, ask: JudgeCriterion) -> Decided<CriterionVerdict> {
    require_judge(draft, id)?;
    let track = track_of(draft, id)?;
    let standing = track.standing;
    if standing.agent != AgentStatus::ReportedDone || standing.verified == VerifiedStatus::Verified {
        return Err(wrong_standing(standing, "judge_criterion"));
    }
    custody::require_untainted(track)?;
    require_outside(draft, id, Deed::Verify)?;
    require_distinct(draft, id, Deed::Verify)?;
    require_chosen(draft, id)?;
    let story = draft.ledger().plan.story(id).ok_or_else(|| Refusal::not_found("story"))?;
    if !story.criteria.iter().any(|criterion| criterion.ac_id == ask.ac_id) {
        return Err(Refusal::not_found("criterion"));
    }
    let evidence = ask.evidence.filter(|text| !text.trim().is_empty());
    if evidence.as_ref().is_some_and(|text| text.chars().count() > LONGEST_EVIDENCE) {
        return Err(Refusal::field("evidence_path", "should be at most 2000 character(s)"));
    }
    // Nothing goes back to undecided: that would be a failure taken back without a word.
    if ask.status == CriterionStatus::Pending {
        return Err(Refusal::field("status", "must be verified, failed or unverifiable"));
    }
    if evidence.is_none() {
        return Err(Refusal::field("evidence_path", "must say where that can be seen, or why it cannot"));
    }
    let JudgeCriterion { ac_id, status, .. } = ask;
    record(draft, id, Change::CriterionJudged { story: id, ac_id: ac_id.clone(), status, evidence });
    let verdict = track_of(draft, id)?.criteria.get(&ac_id).cloned();
    verdict.ok_or_else(|| Refusal::not_found("criterion"))
}

/// A pass would say that all of them hold.
pub(super) fn require_none_failed(track: &Track) -> Decided<()> {
    let failed = |(_, verdict): &(&String, &CriterionVerdict)| verdict.status == CriterionStatus::Failed;
    let failed: Vec<&str> = track.criteria.iter().filter(failed).map(|(id, _)| id.as_str()).collect();
    if failed.is_empty() {
        return Ok(());
    }
    Err(Refusal::new(Kind::Invalid, "a criterion of the story was found to fail")
        .with_code(RefusalCode::CriterionFailed)
        .with_context("failed", failed.join(",")))
}
