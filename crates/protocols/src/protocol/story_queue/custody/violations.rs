//! What happens when custody is tried: the call is refused, the attempt is recorded on the story, and the story waits until
//! somebody else releases it. Nothing else of the tenant stops.

use super::Change;
use super::entities::{Holds, Violation, ViolationKind, ViolationStatus};
use crate::protocol::story_queue::decide::{Decided, Draft};
use crate::protocol::story_queue::facts;
use crate::protocol::story_queue::refusal::{Kind, Refusal};
use crate::protocol::story_queue::refusal_code::RefusalCode;
use crate::protocol::story_queue::vocabulary::{KeyRole, StoryId, ViolationId};
use crate::protocol::story_queue::work::{self, Principal, Track};
use alloc::boxed::Box;
use alloc::string::{String, ToString};

/// Records the attempt, which holds the story, and gives the refusal back; whoever asked is told both.
pub(in crate::protocol::story_queue) fn refuse_as_violation(
    draft: &mut Draft,
    story: StoryId,
    kind: ViolationKind,
    refusal: Refusal,
) -> Refusal {
    record_violation(draft, story, kind, Holds::Story, refusal)
}

/// Records a stranger's attempt, which holds nothing. Trying again adds nothing to an attempt that nobody has settled yet,
/// so that the log is not a stranger's to fill.
pub(in crate::protocol::story_queue) fn refuse_and_record(
    draft: &mut Draft,
    story: StoryId,
    kind: ViolationKind,
    refusal: Refusal,
) -> Refusal {
    let me = draft.caller().actor();
    let same = |violation: &&Violation| violation.kind == kind && violation.by == me;
    let known = draft.ledger().custody.unsettled(story).find(same).map(|violation| violation.id);
    match known {
        Some(id) => refusal.with_context("violation", id.to_string()),
        None => record_violation(draft, story, kind, Holds::Nothing, refusal),
    }
}

fn record_violation(
    draft: &mut Draft,
    story: StoryId,
    kind: ViolationKind,
    holds: Holds,
    refusal: Refusal,
) -> Refusal {
    let violation = Violation {
        id: ViolationId(draft.ids().fresh()),
        kind,
        story,
        by: draft.caller().actor(),
        detail: refusal.message.clone(),
        at: draft.at(),
        status: ViolationStatus::Pending,
        note: None,
        holds,
    };
    let project = draft.ledger().plan.story(story).map(|story| story.project);
    let id = violation.id;
    draft.record(project, facts::Change::Custody(Change::ViolationSeen { violation: Box::new(violation) }));
    refusal.with_context("violation", id.to_string())
}

/// Custody writes stand still while the audit chain is known to diverge.
pub(in crate::protocol::story_queue) fn require_going(draft: &Draft) -> Decided<()> {
    match draft.ledger().custody.halted() {
        None => Ok(()),
        Some(halt) => {
            Err(Refusal::new(Kind::Halted, "custody of this tenant is suspended: its audit chain diverged")
                .with_code(RefusalCode::TenantHalted)
                .with_context("reason", halt.reason.clone()))
        }
    }
}

/// A quarantined story does not advance.
pub(in crate::protocol::story_queue) fn require_untainted(track: &Track) -> Decided<()> {
    let Some(violation) = track.quarantine.first() else { return Ok(()) };
    Err(Refusal::new(Kind::Conflict, "the story is quarantined after a custody violation")
        .with_code(RefusalCode::StoryQuarantined)
        .with_context("violation", violation.to_string()))
}

/// Lets the story go on: every open violation on it is settled by somebody who neither implemented it nor caused one.
pub fn release(draft: &mut Draft, story: StoryId, note: String) -> Decided<()> {
    draft.caller().require_exactly(&[KeyRole::Orchestrator, KeyRole::User])?;
    if draft.caller().role != KeyRole::User {
        draft.caller().require_agent()?;
    }
    require_going(draft)?;
    if note.trim().is_empty() {
        return Err(Refusal::field("note", "must say why the story may go on"));
    }
    let track = work::track_of(draft, story)?;
    let violations = track.quarantine.clone();
    require_settler(draft, story, &violations)?;
    for violation in violations {
        close(draft, violation, story, ViolationStatus::Resolved, note.clone());
    }
    Ok(())
}

/// One violation, by a superadmin's or user's triage; the same people are barred from it as from releasing the story.
pub fn resolve_violation(
    draft: &mut Draft,
    violation: ViolationId,
    status: ViolationStatus,
    note: String,
) -> Decided<()> {
    draft.caller().require_at_least(KeyRole::User)?;
    require_going(draft)?;
    let Some(known) = draft.ledger().custody.violation(violation) else {
        return Err(Refusal::not_found("violation"));
    };
    if known.status != ViolationStatus::Pending {
        return Err(Refusal::new(Kind::Conflict, "the violation is already settled"));
    }
    if status == ViolationStatus::Pending {
        return Err(Refusal::field("status", "must be resolved or ignored"));
    }
    let story = known.story;
    require_settler(draft, story, &[violation])?;
    close(draft, violation, story, status, note);
    Ok(())
}

/// Also a person does not settle what they themselves caused: somebody else looks at it.
fn require_settler(draft: &Draft, story: StoryId, violations: &[ViolationId]) -> Decided<()> {
    let ledger = draft.ledger();
    let me = Principal::asking(draft.caller());
    let caused = |id: &ViolationId| {
        let violation = ledger.custody.violation(*id);
        violation.is_some_and(|violation| Principal::of(&violation.by).shares_a_hand(ledger, &me))
    };
    // A deleted story has nobody left who implemented it.
    let implemented = ledger.work.track(story).is_some_and(|track| !work::is_outside(ledger, track, &me));
    if implemented || violations.iter().any(caused) {
        let why = "whoever implemented a story or caused its violation cannot settle that";
        return Err(Refusal::new(Kind::NotAllowed, why).with_code(RefusalCode::SelfReleaseBlocked));
    }
    Ok(())
}

fn close(draft: &mut Draft, violation: ViolationId, story: StoryId, status: ViolationStatus, note: String) {
    let project = draft.ledger().plan.story(story).map(|story| story.project);
    let closed = Change::ViolationClosed { violation, story, status, note };
    draft.record(project, facts::Change::Custody(closed));
}

/// For whoever compared a tree head with the chain and found two histories. Not reachable by an ordinary refused call.
pub fn halt(draft: &mut Draft, reason: String) -> Decided<()> {
    if draft.ledger().custody.halted().is_none() {
        draft.record(None, facts::Change::Custody(Change::Halted { reason }));
    }
    Ok(())
}

pub fn clear_halt(draft: &mut Draft, reason: String) -> Decided<()> {
    if !draft.caller().impersonating {
        draft.caller().require_exactly(&[KeyRole::Superadmin])?;
    }
    if reason.trim().is_empty() {
        return Err(Refusal::field("assertion", "must say what was found"));
    }
    if draft.ledger().custody.halted().is_none() {
        return Err(Refusal::new(Kind::Conflict, "custody of this tenant is not halted"));
    }
    draft.record(None, facts::Change::Custody(Change::HaltCleared { reason }));
    Ok(())
}
