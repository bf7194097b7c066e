//! Back to the queue: by the implementer, by an orchestrator, or because the words of the contract changed.

use super::How;
use super::guards::{move_to, require_assigned, track_of, wrong_standing};
use super::track::{AgentStatus, Standing, VerifiedStatus};
use crate::protocol::story_queue::custody;
use crate::protocol::story_queue::decide::{Decided, Draft};
use crate::protocol::story_queue::refusal::{Kind, Refusal};
use crate::protocol::story_queue::refusal_code::RefusalCode;
use crate::protocol::story_queue::vocabulary::{KeyRole, StoryId};

pub fn unclaim(draft: &mut Draft, id: StoryId) -> Decided<()> {
    draft.caller().require_exactly(&[KeyRole::Agent])?;
    draft.caller().require_agent()?;
    custody::require_going(draft)?;
    let track = track_of(draft, id)?;
    let standing = track.standing;
    match standing.agent {
        AgentStatus::Pending => return Err(wrong_standing(standing, "unclaim")),
        AgentStatus::Contracted => {
            let why = "nobody has claimed the story";
            return Err(Refusal::new(Kind::NotAllowed, why).with_code(RefusalCode::NotAssignedAgent));
        }
        // What is verified is not the implementer's to take back.
        AgentStatus::ReportedDone if standing.verified == VerifiedStatus::Verified => {
            return Err(wrong_standing(standing, "unclaim"));
        }
        AgentStatus::Assigned | AgentStatus::Implementing | AgentStatus::ReportedDone => {}
    }
    require_assigned(draft, track)?;
    move_to(draft, id, Standing { agent: AgentStatus::Pending, ..standing }, How::Unclaimed);
    Ok(())
}

/// Takes the story from whoever has it. The verdict and the mark that it was worked on stay. A verified story nobody has any
/// more: taken back and still verified it could never be contracted again.
pub fn force_unclaim(draft: &mut Draft, id: StoryId) -> Decided<()> {
    draft.caller().require_exactly(&[KeyRole::Orchestrator])?;
    draft.caller().require_agent()?;
    custody::require_going(draft)?;
    let standing = track_of(draft, id)?.standing;
    if standing.verified == VerifiedStatus::Verified {
        return Err(wrong_standing(standing, "force_unclaim")
            .with_remedy("`windlass story reject STORY --reason TEXT` takes the verdict back and frees it"));
    }
    if standing.agent != AgentStatus::Pending {
        move_to(draft, id, Standing { agent: AgentStatus::Pending, ..standing }, How::ForceUnclaimed);
    }
    Ok(())
}

/// Other words were forced on a verified story: nobody has verified those.
pub(in crate::protocol::story_queue) fn void_verdict(draft: &mut Draft, id: StoryId) {
    let Some(standing) = draft.ledger().work.track(id).map(|track| track.standing) else { return };
    if standing.verified == VerifiedStatus::Verified {
        move_to(draft, id, Standing { verified: VerifiedStatus::Unverified, ..standing }, How::Reworded);
    }
}

pub(in crate::protocol::story_queue) fn void_contract(draft: &mut Draft, id: StoryId) {
    let Some(standing) = draft.ledger().work.track(id).map(|track| track.standing) else { return };
    move_to(draft, id, Standing { agent: AgentStatus::Pending, ..standing }, How::ContractVoided);
}
