//! Capability tokens: minted by one call, consumed by the next, once. The order of the checks is fixed, so that clients can
//! tell from the code how far a token got.

use super::Change;
use super::entities::{Holder, Presented, Signature, Token, TokenKind, ViolationKind};
use super::violations::{refuse_and_record, refuse_as_violation};
use crate::protocol::story_queue::decide::{Decided, Draft};
use crate::protocol::story_queue::facts;
use crate::protocol::story_queue::refusal::{Kind, Refusal};
use crate::protocol::story_queue::refusal_code::RefusalCode;
use crate::protocol::story_queue::vocabulary::{KeyRole, Micros, StoryId, TokenId};
use crate::protocol::story_queue::work::{self, AgentStatus, Principal, VerifiedStatus};
use alloc::boxed::Box;
use alloc::format;

pub const TOKEN_LIFE: Micros = Micros::seconds(3600);

impl Holder {
    pub fn of(principal: &Principal) -> Self {
        Self { agent: principal.agent, lineage: principal.lineage.clone() }
    }
}

pub(in crate::protocol::story_queue) fn mint(
    draft: &mut Draft,
    kind: TokenKind,
    story: StoryId,
    holder: Option<Holder>,
) -> Token {
    let project = draft.ledger().plan.story(story).map(|story| story.project);
    let token = Token {
        id: TokenId(draft.ids().fresh()),
        kind,
        story,
        holder,
        issued: draft.at(),
        expires: draft.at().plus(TOKEN_LIFE),
        consumed: None,
    };
    draft.record(project, facts::Change::Custody(Change::TokenMinted { token: Box::new(token.clone()) }));
    token
}

/// What to consume once every other check has passed.
#[must_use]
pub(in crate::protocol::story_queue) struct Spending {
    token: Option<TokenId>,
    story: StoryId,
}

impl Spending {
    pub(in crate::protocol::story_queue) fn consume(self, draft: &mut Draft) {
        if let Some(token) = self.token {
            let project = draft.ledger().plan.story(self.story).map(|story| story.project);
            let consumed = Change::TokenConsumed { token, story: self.story };
            draft.record(project, facts::Change::Custody(consumed));
        }
    }
}

/// A token that is presented is checked, also where none is required; a refused one is a violation. It holds the story where
/// whoever showed it has a part in it: else anybody could hold up anybody's work with a made-up token.
pub(in crate::protocol::story_queue) fn spend(
    draft: &mut Draft,
    kind: TokenKind,
    story: StoryId,
    presented: Option<Presented>,
) -> Decided<Spending> {
    let Some(presented) = presented else {
        if draft.ledger().tenancy.settings.require_capabilities {
            return Err(Refusal::new(
                Kind::NotAllowed,
                format!("this call needs a {} for the story", kind.name()),
            )
            .with_code(RefusalCode::MissingCapability)
            .with_context("required", kind.name()));
        }
        return Ok(Spending { token: None, story });
    };
    match fault_of(draft, kind, story, presented) {
        None => Ok(Spending { token: Some(presented.token), story }),
        Some(fault) => {
            let refusal =
                Refusal::new(Kind::NotAllowed, format!("the {} was not accepted: {fault}", kind.name()))
                    .with_code(RefusalCode::CapRejected)
                    .with_context("reason", fault);
            // An expired token is everyday life, not an attack.
            if fault == "expired" {
                return Err(refusal);
            }
            let me = Principal::asking(draft.caller());
            let party =
                work::track_of(draft, story).is_ok_and(|track| work::has_part(draft.ledger(), track, &me));
            if party {
                Err(refuse_as_violation(draft, story, ViolationKind::RejectedCapability, refusal))
            } else {
                Err(refuse_and_record(draft, story, ViolationKind::RejectedCapability, refusal))
            }
        }
    }
}

fn fault_of(draft: &Draft, kind: TokenKind, story: StoryId, presented: Presented) -> Option<&'static str> {
    let Some(token) = draft.ledger().custody.token(presented.token) else {
        return Some("invalid_capability");
    };
    let caller = draft.caller();
    let held = |holder: &Holder| holder.lineage == caller.lineage && holder.agent == caller.agent;
    if token.kind != kind {
        Some("wrong_type")
    } else if token.story != story {
        Some("wrong_story")
    } else if !token.holder.as_ref().is_none_or(held) {
        Some("wrong_lineage")
    } else if draft.at() >= token.expires {
        Some("expired")
    } else if token.consumed.is_some() {
        Some("replay")
    } else if presented.signature == Signature::Fails {
        Some("invalid_signature")
    } else {
        None
    }
}

/// Mints again what this caller could have got, and nothing else: what a token opens is decided by the story's standing
/// and the caller's part in it, not by what they ask for.
pub fn recover(draft: &mut Draft, story: StoryId, kind: TokenKind) -> Decided<Token> {
    let caller = draft.caller();
    caller.require_at_least(KeyRole::Agent)?;
    super::require_going(draft)?;
    let Some(track) = draft.ledger().work.track(story).cloned() else {
        return Err(Refusal::not_found("story"));
    };
    let me = Principal::asking(caller);
    let assigned = track.assigned.as_ref().is_some_and(|assigned| assigned.is(&me));
    let deserved = match kind {
        TokenKind::StartCap => {
            assigned && caller.role == KeyRole::Agent && track.standing.agent == AgentStatus::Assigned
        }
        TokenKind::ReportCap => {
            track.standing.agent == AgentStatus::Implementing
                && caller.role <= KeyRole::Orchestrator
                && caller.agent.is_some()
                && work::is_outside(draft.ledger(), &track, &me)
        }
        TokenKind::ReviewCompleteCap => {
            track.standing.agent == AgentStatus::ReportedDone
                && matches!(caller.role, KeyRole::Orchestrator | KeyRole::User)
                && work::may_review(draft.ledger(), &track, &me)
        }
        TokenKind::VerifyCap => {
            let chosen = work::chosen_instead(draft.ledger(), &track, draft.at(), &me).is_none();
            track.standing.agent == AgentStatus::ReportedDone
                && track.standing.verified != VerifiedStatus::Verified
                && caller.role == KeyRole::Orchestrator
                && caller.agent.is_some()
                && chosen
                && work::may_verify(draft.ledger(), &track, &me)
        }
    };
    if !deserved {
        let why = format!("a {} for this story was never yours to get", kind.name());
        return Err(Refusal::new(Kind::NotAllowed, why)
            .with_code(RefusalCode::CapNotRecoverable)
            .with_context("current_agent_status", track.standing.agent.name()));
    }
    Ok(mint(draft, kind, story, Some(Holder::of(&me))))
}
