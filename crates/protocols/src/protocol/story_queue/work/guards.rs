//! Who may do what with a story: the only place where actors are compared. Single calls, bulk, import and tokens ask here.

use super::backfill::is_maker;
use super::track::{AgentStatus, Principal, Standing, Track, VerifiedStatus};
use super::{Change, How};
use crate::protocol::story_queue::custody::{self, Hands, ViolationKind};
use crate::protocol::story_queue::decide::{Decided, Draft};
use crate::protocol::story_queue::facts;
use crate::protocol::story_queue::ledger::Ledger;
use crate::protocol::story_queue::refusal::{Kind, Refusal};
use crate::protocol::story_queue::refusal_code::RefusalCode;
use crate::protocol::story_queue::vocabulary::{Micros, StoryId};
use alloc::format;

pub(in crate::protocol::story_queue) fn track_of<'a>(draft: &'a Draft, story: StoryId) -> Decided<&'a Track> {
    draft.ledger().work.track(story).ok_or_else(|| Refusal::not_found("story"))
}

/// Shares no hand with whoever it is assigned to now, nor with anybody who ever started it.
pub(in crate::protocol::story_queue) fn is_outside(ledger: &Ledger, track: &Track, who: &Principal) -> bool {
    let mut makers = track.assigned.iter().chain(&track.implementers);
    let hands = Hands::of(ledger, who);
    makers.all(|one| !hands.meet(&Hands::of(ledger, one)))
}

/// Implements, reported or reviewed it, or was chosen to verify it: the story is theirs too.
pub(in crate::protocol::story_queue) fn has_part(ledger: &Ledger, track: &Track, who: &Principal) -> bool {
    let reviewed = reviews_of_report(track).map(|review| &review.reviewer);
    let mut others = track.reported_by.iter().chain(reviewed);
    let chosen = track.verifier_dispatch.is_some_and(|chosen| who.lineage.contains(&chosen));
    chosen || !is_outside(ledger, track, who) || others.any(|one| one.shares_a_hand(ledger, who))
}

fn three_principals(ledger: &Ledger) -> bool {
    ledger.tenancy.settings.distinct_reporter_reviewer_verifier
}

/// An imported story without implementer is held to two principals even where the tenant asks for fewer: whoever brought
/// it as done does not also confirm it.
fn reporter_bars(ledger: &Ledger, track: &Track, who: &Principal) -> bool {
    let strict = three_principals(ledger) || track.implementers.is_empty();
    strict && track.reported_by.as_ref().is_some_and(|reporter| reporter.shares_a_hand(ledger, who))
}

pub(in crate::protocol::story_queue) fn may_review(ledger: &Ledger, track: &Track, who: &Principal) -> bool {
    is_outside(ledger, track, who) && !reporter_bars(ledger, track, who)
}

pub(in crate::protocol::story_queue) fn may_verify(ledger: &Ledger, track: &Track, who: &Principal) -> bool {
    let reviewed = three_principals(ledger)
        && reviews_of_report(track).any(|review| review.reviewer.shares_a_hand(ledger, who));
    is_outside(ledger, track, who) && !reporter_bars(ledger, track, who) && !reviewed
}

/// Reviews heard of after the story was last reported, rejected or reworded: older ones looked at something else.
pub(super) fn reviews_of_report(track: &Track) -> impl Iterator<Item = &super::Review> {
    let since = track.reviewable_since().unwrap_or(Micros(u64::MAX));
    track.reviews.iter().skip(track.reviews_outdated).filter(move |review| review.completed_at >= since)
}

/// The caller is the one it is assigned to, by agent and by lineage.
pub(super) fn require_assigned(draft: &Draft, track: &Track) -> Decided<()> {
    let me = Principal::asking(draft.caller());
    if track.assigned.as_ref().is_some_and(|assigned| assigned.is(&me)) {
        return Ok(());
    }
    let why = "the story is assigned to somebody else";
    Err(Refusal::new(Kind::NotAllowed, why).with_code(RefusalCode::NotAssignedAgent))
}

/// Refuses and records it where the caller implemented the story.
pub(super) fn require_outside(draft: &mut Draft, story: StoryId, deed: Deed) -> Decided<()> {
    let track = track_of(draft, story)?;
    if is_outside(draft.ledger(), track, &Principal::asking(draft.caller())) {
        return Ok(());
    }
    let (kind, code, verb) = match deed {
        Deed::Report => (ViolationKind::SelfReport, RefusalCode::SelfReportBlocked, "reports"),
        Deed::Review => (ViolationKind::SelfReview, RefusalCode::SelfReviewBlocked, "reviews"),
        Deed::Verify => (ViolationKind::SelfVerify, RefusalCode::SelfVerifyBlocked, "verifies"),
    };
    let refusal =
        Refusal::new(Kind::Conflict, format!("whoever implemented a story never {verb} it")).with_code(code);
    Err(custody::refuse_as_violation(draft, story, kind, refusal))
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Deed {
    Report,
    Review,
    Verify,
}

/// Reporter, reviewer and verifier are three, where the tenant wants that.
pub(super) fn require_distinct(draft: &mut Draft, story: StoryId, deed: Deed) -> Decided<()> {
    let me = Principal::asking(draft.caller());
    let ledger = draft.ledger();
    let track = track_of(draft, story)?;
    let fine = match deed {
        Deed::Report => true,
        Deed::Review => may_review(ledger, track, &me),
        Deed::Verify => may_verify(ledger, track, &me),
    };
    if fine {
        return require_no_unknown_maker(draft, story, deed);
    }
    let why = "reporter, reviewer and verifier of a story must be different actors";
    // Whoever asks in good faith with the wrong key blocks nobody: the call is refused, and that is all.
    Err(Refusal::new(Kind::Conflict, why).with_code(RefusalCode::SharedPrincipalBlocked))
}

/// Nobody knows who made a story that was brought in as done: it can be anybody who works in the project, so none of them says
/// that it holds.
fn require_no_unknown_maker(draft: &Draft, story: StoryId, deed: Deed) -> Decided<()> {
    let track = track_of(draft, story)?;
    let known = track.assigned.is_some() || !track.implementers.is_empty();
    let project = draft.ledger().plan.story(story).map(|story| story.project);
    if known || deed == Deed::Report || !project.is_some_and(|project| is_maker(draft, project)) {
        return Ok(());
    }
    let why = "nobody knows who made this story, so whoever implements in its project neither reviews nor verifies it";
    Err(Refusal::new(Kind::Conflict, why).with_code(RefusalCode::UnknownMakerBlocked))
}

/// 409 with where the story stands.
pub(super) fn wrong_standing(standing: Standing, attempted: &'static str) -> Refusal {
    let why = format!("a story that is {} cannot take {attempted}", standing.agent.name());
    Refusal::new(Kind::Conflict, why)
        .with_code(RefusalCode::InvalidTransition)
        .with_context("current_agent_status", standing.agent.name())
        .with_context("current_verified_status", standing.verified.name())
        .with_context("attempted_action", attempted)
        .with_remedy(what_it_takes(standing))
}

/// What a story that stands there can take.
const fn what_it_takes(standing: Standing) -> &'static str {
    match (standing.agent, standing.verified) {
        (_, VerifiedStatus::Verified) => {
            "it is verified; `windlass story reject STORY --reason TEXT` takes that back"
        }
        (AgentStatus::Pending, _) => {
            "next comes `windlass story contract STORY`, then `windlass story claim STORY`, by an agent"
        }
        (AgentStatus::Contracted, _) => "next comes `windlass story claim STORY`, by an agent",
        (AgentStatus::Assigned, _) => {
            "next comes `windlass story start STORY`, by the agent it is assigned to"
        }
        (AgentStatus::Implementing, _) => {
            "next comes `windlass story report STORY`, by somebody else than the agent who implements it; \
             `windlass story unclaim STORY` gives it back"
        }
        (AgentStatus::ReportedDone, _) => {
            "next come `windlass story review-complete STORY`, then `windlass story verify STORY` or \
             `windlass story reject STORY --reason TEXT`, each by somebody else"
        }
    }
}

/// Records a move; everything was checked.
pub(super) fn move_to(draft: &mut Draft, story: StoryId, to: Standing, how: How) {
    let project = draft.ledger().plan.story(story).map(|story| story.project);
    let from = draft.ledger().work.track(story).map(|track| track.standing).unwrap_or_default();
    draft.record(project, facts::Change::Work(Change::Moved { story, from, to, how }));
}

pub(super) fn record(draft: &mut Draft, story: StoryId, change: Change) {
    let project = draft.ledger().plan.story(story).map(|story| story.project);
    draft.record(project, facts::Change::Work(change));
}
