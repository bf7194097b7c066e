//! The implementer's side: contract, claim, start, and the request that somebody else look.

use super::guards::{move_to, record, require_assigned, track_of, wrong_standing};
use super::track::{AgentStatus, Principal, Standing, VerifiedStatus};
use super::{Change, How};
use crate::protocol::story_queue::custody::{self, Holder, Presented, Token, TokenKind};
use crate::protocol::story_queue::decide::{Decided, Draft};
use crate::protocol::story_queue::refusal::{Kind, Refusal};
use crate::protocol::story_queue::refusal_code::RefusalCode;
use crate::protocol::story_queue::vocabulary::{DispatchId, KeyRole, StoryId};
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

/// What the implementer read, said back. Orchestrators may leave it out.
#[derive(Clone, Debug, Default)]
pub struct ContractEcho {
    pub story_title: Option<String>,
    pub ac_count: Option<u64>,
}

pub fn contract(draft: &mut Draft, id: StoryId, echo: ContractEcho) -> Decided<()> {
    draft.caller().require_exactly(&[KeyRole::Agent, KeyRole::Orchestrator])?;
    custody::require_going(draft)?;
    // A contract bars a backfill for good, so nobody unknown makes one.
    draft.caller().require_agent()?;
    let track = track_of(draft, id)?;
    if track.standing.agent != AgentStatus::Pending || track.standing.verified == VerifiedStatus::Verified {
        return Err(wrong_standing(track.standing, "contract"));
    }
    custody::require_untainted(track)?;
    let to = Standing { agent: AgentStatus::Contracted, ..track.standing };
    let story = draft.ledger().plan.story(id).ok_or_else(|| Refusal::not_found("story"))?;
    if draft.caller().role == KeyRole::Agent {
        let mut mismatch = Refusal::new(Kind::Invalid, "the contract does not repeat the story as it reads")
            .with_code(RefusalCode::ContractMismatch);
        if echo.story_title.as_deref() != Some(story.title.as_str()) {
            mismatch = mismatch.with_detail("story_title", "does not match the story's title");
        }
        if echo.ac_count != u64::try_from(story.criteria.len()).ok() {
            mismatch = mismatch
                .with_detail("ac_count", &format!("does not match: {} criteria", story.criteria.len()));
        }
        if !mismatch.details.is_empty() {
            return Err(mismatch);
        }
    }
    let wording = story.wording;
    move_to(draft, id, to, How::Contracted { wording });
    Ok(())
}

#[derive(Clone, Debug)]
pub struct Claimed {
    pub start_cap: Token,
}

pub fn claim(draft: &mut Draft, id: StoryId) -> Decided<Claimed> {
    draft.caller().require_exactly(&[KeyRole::Agent])?;
    draft.caller().require_agent()?;
    custody::require_going(draft)?;
    let track = track_of(draft, id)?;
    let standing = track.standing;
    match standing.agent {
        AgentStatus::Contracted => {}
        AgentStatus::Pending => {
            return Err(must_first("contract", RefusalCode::MustContractFirst, standing, "claim"));
        }
        _ => return Err(wrong_standing(standing, "claim")),
    }
    custody::require_untainted(track)?;
    let wording = draft.ledger().plan.story(id).map(|story| story.wording);
    if track.contract.as_ref().map(|contract| contract.wording) != wording {
        return Err(must_first("contract", RefusalCode::MustContractFirst, standing, "claim"));
    }
    require_met(draft, id)?;
    move_to(draft, id, Standing { agent: AgentStatus::Assigned, ..standing }, How::Claimed);
    let holder = Holder::of(&Principal::asking(draft.caller()));
    let start_cap = custody::mint(draft, TokenKind::StartCap, id, Some(holder));
    Ok(Claimed { start_cap })
}

fn must_first(verb: &str, code: RefusalCode, standing: Standing, attempted: &'static str) -> Refusal {
    let mut refusal = wrong_standing(standing, attempted).with_code(code);
    refusal.message = format!("{verb} the story first");
    refusal
}

fn require_met(draft: &Draft, id: StoryId) -> Decided<()> {
    let ledger = draft.ledger();
    if ledger.work.unmet(id) == 0 {
        return Ok(());
    }
    let story = ledger.plan.story(id).ok_or_else(|| Refusal::not_found("story"))?;
    let blockers = ledger.work.blockers(&ledger.plan, story);
    let number = |id| ledger.plan.story(id).map(|story| story.number.to_string());
    let numbers: Vec<String> = blockers.iter().filter_map(|blocker| number(blocker.story)).take(20).collect();
    Err(Refusal::new(Kind::Conflict, format!("unmet dependencies: {}", numbers.join(", ")))
        .with_code(RefusalCode::DependenciesNotMet)
        .with_context("blocking", numbers.join(",")))
}

#[derive(Clone, Debug)]
pub struct Started {
    /// For whoever will report; the implementer hands it on.
    pub report_cap: Token,
}

pub fn start(draft: &mut Draft, id: StoryId, cap: Option<Presented>) -> Decided<Started> {
    draft.caller().require_exactly(&[KeyRole::Agent])?;
    draft.caller().require_agent()?;
    custody::require_going(draft)?;
    let track = track_of(draft, id)?;
    let standing = track.standing;
    match standing.agent {
        AgentStatus::Assigned => {}
        AgentStatus::Contracted => {
            return Err(must_first("claim", RefusalCode::MustClaimFirst, standing, "start"));
        }
        AgentStatus::Pending => {
            return Err(must_first("contract", RefusalCode::MustContractFirst, standing, "start"));
        }
        _ => return Err(wrong_standing(standing, "start")),
    }
    custody::require_untainted(track)?;
    require_assigned(draft, track)?;
    let spending = custody::spend(draft, TokenKind::StartCap, id, cap)?;
    spending.consume(draft);
    move_to(draft, id, Standing { agent: AgentStatus::Implementing, ..standing }, How::Started);
    let report_cap = custody::mint(draft, TokenKind::ReportCap, id, None);
    Ok(Started { report_cap })
}

#[derive(Clone, Copy, Debug, Default)]
pub struct RequestReview {
    /// The first eight bytes of SHA-256 over audit key and story: who verifies is not the implementer's choice.
    pub draw: u64,
    /// Thousandths, from the usage area.
    pub lazy_score: Option<u32>,
}

/// Above this the implementer's numbers look like unfinished work, and the verifier is to be a person's choice.
const LAZY: u32 = 700;

#[derive(Clone, Debug)]
pub struct ReviewRequested {
    pub verifier: Option<DispatchId>,
    /// Bound to the chosen verifier's lineage; nobody else can use it.
    pub verify_cap: Option<Token>,
}

pub fn request_review(draft: &mut Draft, id: StoryId, ask: RequestReview) -> Decided<ReviewRequested> {
    draft.caller().require_exactly(&[KeyRole::Agent])?;
    draft.caller().require_agent()?;
    custody::require_going(draft)?;
    let track = track_of(draft, id)?;
    if track.standing.agent != AgentStatus::Implementing {
        return Err(wrong_standing(track.standing, "request_review"));
    }
    custody::require_untainted(track)?;
    require_assigned(draft, track)?;
    let suspicious = ask.lazy_score.is_some_and(|score| score > LAZY);
    let chosen = custody::choose_verifier(draft.ledger(), (id, track), draft.at(), ask.draw);
    let verifier = chosen.filter(|_| !suspicious);
    let change = Change::ReviewRequested { story: id, verifier, lazy_score: ask.lazy_score };
    record(draft, id, change);
    let holder = verifier
        .and_then(|verifier| draft.ledger().custody.dispatch(verifier))
        .map(|dispatch| Holder { agent: dispatch.agent, lineage: dispatch.lineage.clone() });
    let verify_cap = holder.map(|holder| custody::mint(draft, TokenKind::VerifyCap, id, Some(holder)));
    Ok(ReviewRequested { verifier, verify_cap })
}
