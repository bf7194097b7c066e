//! Work done before its story came here: told with where it can be seen, and only of stories that never entered the
//! lifecycle. And the standing an import may give.

use super::How;
use super::guards::{move_to, track_of};
use super::judging::complete_epic;
use super::track::{AgentStatus, Backfill, Principal, Standing, VerifiedStatus};
use crate::protocol::story_queue::custody::{self, Hands};
use crate::protocol::story_queue::decide::{Decided, Draft};
use crate::protocol::story_queue::refusal::{Kind, Refusal};
use crate::protocol::story_queue::refusal_code::RefusalCode;
use crate::protocol::story_queue::vocabulary::{EpicId, KeyRole, ProjectId, StoryId};
use alloc::string::String;

#[derive(Clone, Debug, Default)]
pub struct BackfillStory {
    pub reason: String,
    pub evidence_url: Option<String>,
    pub pr_number: Option<u64>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Backfilled {
    Done {
        completed_epic: Option<EpicId>,
    },
    /// The same was said before.
    Already,
}

pub fn backfill(draft: &mut Draft, id: StoryId, ask: BackfillStory) -> Decided<Backfilled> {
    draft.caller().require_at_least(KeyRole::Orchestrator)?;
    if draft.caller().role == KeyRole::Orchestrator {
        draft.caller().require_agent()?;
    }
    custody::require_going(draft)?;
    ask.require_sound()?;
    let backfill = Backfill { reason: ask.reason, evidence_url: ask.evidence_url, pr_number: ask.pr_number };
    let track = track_of(draft, id)?;
    if track.standing.verified == VerifiedStatus::Verified && track.backfill.as_ref() == Some(&backfill) {
        return Ok(Backfilled::Already);
    }
    let standing = track.standing;
    let refused = |why: &'static str| {
        Refusal::new(Kind::Invalid, why)
            .with_code(RefusalCode::BackfillRefused)
            .with_context("current_agent_status", standing.agent.name())
            .with_context("current_verified_status", standing.verified.name())
    };
    match standing.verified {
        VerifiedStatus::Verified => return Err(refused("the story is already verified")),
        VerifiedStatus::Rejected => {
            return Err(refused("the story was rejected: it has to be done and verified"));
        }
        VerifiedStatus::Unverified => {}
    }
    if standing.agent != AgentStatus::Pending {
        return Err(refused("the story is in the lifecycle: it has to be reported, reviewed and verified"));
    }
    if track.ever_worked || !track.implementers.is_empty() || !track.verifications.is_empty() {
        return Err(refused(
            "somebody has worked on the story here: it has to be reported, reviewed and verified",
        ));
    }
    custody::require_untainted(track)?;
    let project = draft.ledger().plan.story(id).map(|story| story.project);
    require_no_maker(draft, project.ok_or_else(|| Refusal::not_found("story"))?)?;
    let to = Standing { agent: AgentStatus::ReportedDone, verified: VerifiedStatus::Verified };
    move_to(draft, id, to, How::Backfilled { backfill });
    let completed_epic = complete_epic(draft, id);
    Ok(Backfilled::Done { completed_epic })
}

/// Whoever works on stories of the project does not also say which of them were done before: that would be their own
/// verdict by another name. A person may; a user's key that is bound to an agent is that agent's, and no person's.
pub(in crate::protocol::story_queue) fn require_no_maker(draft: &Draft, project: ProjectId) -> Decided<()> {
    if !is_maker(draft, project) {
        return Ok(());
    }
    Err(Refusal::new(Kind::Conflict, "whoever implements stories of a project backfills none of it")
        .with_code(RefusalCode::SelfBackfillBlocked))
}

/// No person, and of one hand with somebody who has or had a story of the project in hand.
pub(super) fn is_maker(draft: &Draft, project: ProjectId) -> bool {
    let ledger = draft.ledger();
    if draft.caller().is_person() {
        return false;
    }
    let me = Hands::of(ledger, &Principal::asking(draft.caller()));
    ledger.work.makers(&ledger.plan, project).any(|maker| me.meet(&Hands::of(ledger, maker)))
}

impl BackfillStory {
    fn require_sound(&self) -> Decided<()> {
        if self.reason.trim().is_empty() || self.reason.chars().count() > 2000 {
            return Err(Refusal::field("reason", "must be 1 to 2000 characters"));
        }
        if self.pr_number == Some(0) {
            return Err(Refusal::field("pr_number", "must be greater than 0"));
        }
        if self.evidence_url.is_none() && self.pr_number.is_none() {
            let why = "or pr_number must say where the work can be seen";
            return Err(Refusal::field("evidence_url", why).with_code(RefusalCode::EvidenceRequired));
        }
        if let Some(url) = &self.evidence_url {
            let rest = url.strip_prefix("https://").or_else(|| url.strip_prefix("http://"));
            let host = rest.and_then(|rest| rest.split(['/', '?', '#']).next()).unwrap_or_default();
            let odd = url.chars().any(|c| c.is_whitespace() || c.is_control() || c == '\\');
            if host.is_empty() || host.contains('@') || odd || url.chars().count() > 2000 {
                let why = "must be an http or https address of at most 2000 characters, without a user name";
                return Err(Refusal::field("evidence_url", why));
            }
        }
        Ok(())
    }
}

/// The import's word on where a new story stands. Whoever brings it counts as its reporter.
pub(in crate::protocol::story_queue) fn import_standing(
    draft: &mut Draft,
    id: StoryId,
    verified: VerifiedStatus,
    reason: Option<String>,
) {
    let to = Standing { agent: AgentStatus::ReportedDone, verified };
    move_to(draft, id, to, How::Imported { reason });
    complete_epic(draft, id);
}
