//! The names of what a roadmap loop can come to, by exhaustive matches: a new variant does not build until it has one here.

use crate::coverage::Coverage;
use windlass_protocols::protocol::roadmap_rounds::facts::{Closed, Fact as RoadmapFact, UpdateStep, Why};
use windlass_protocols::protocol::roadmap_rounds::steps::{Mechanism, PlaneOutcome};

/// Everything that must occur in a roadmap loop, by kind.
pub(crate) const EXPECTED: [(&str, &[&str]); 9] = [
    (
        "effect",
        &[
            "prepare-workspaces",
            "read-plane",
            "write-state",
            "open-worktree",
            "run-agent",
            "capture-work",
            "combine-work",
            "look-at-gate",
            "inspect-gate",
            "finalize-round",
            "publish-update",
            "wait",
            "close-run",
        ],
    ),
    (
        "outcome",
        &[
            "prepared",
            "plane-read",
            "state-written",
            "state-moved",
            "worktree-opened",
            "agent-ended",
            "work-captured",
            "work-combined",
            "gate-looked",
            "gate-inspected",
            "merged",
            "held",
            "looked",
            "waited",
            "closed",
            "refused",
            "interrupted",
            "lost",
        ],
    ),
    (
        "fact",
        &[
            "base-fixed",
            "plane-taken",
            "round-opened",
            "stage-decided",
            "work-ended",
            "work-taken",
            "work-combined",
            "merge-conflicted",
            "gate-looked",
            "gate-inspected",
            "gate-held",
            "round-merged",
            "round-closed",
            "update-opened",
            "taken-up",
            "update-decided",
            "update-merged",
            "retry-decided",
            "investigation-decided",
            "diagnosed",
            "repair-asked",
            "step-retried",
            "agent-out",
            "recovered",
            "controller-set",
            "blocked",
            "concluded",
        ],
    ),
    ("end", &["complete", "blocked", "rounds-used", "spent", "stopped", "not-ready"]),
    (
        "why",
        &[
            "planned",
            "direct",
            "implemented",
            "approved",
            "rejected",
            "unclassified",
            "base-moved",
            "closeout-stale",
            "roadmap-revised",
            "not-waived",
            "checks-red",
            "proven",
        ],
    ),
    ("closed", &["merged", "cancelled"]),
    ("update", &["authored", "approved", "rejected", "activated", "sent-back"]),
    ("mechanism", &["same-handle", "fresh-agent", "other-adapter"]),
    ("said", &["skip", "waive"]),
];

pub(crate) fn count(coverage: &mut Coverage, fact: &RoadmapFact) {
    coverage.count("fact", fact.name());
    match fact {
        RoadmapFact::StageDecided { why, .. } => coverage.count("why", why_name(why)),
        RoadmapFact::RoundClosed { how, .. } => coverage.count("closed", closed_name(*how)),
        RoadmapFact::UpdateDecided { decided, .. } => coverage.count("update", update_name(decided)),
        RoadmapFact::RetryDecided { mechanism, .. } => {
            coverage.count("mechanism", mechanism_name(*mechanism));
        }
        RoadmapFact::Concluded { end } => coverage.count("end", end.word()),
        _ => {}
    }
}

const fn why_name(why: &Why) -> &'static str {
    match why {
        Why::Planned { .. } => "planned",
        Why::Direct { .. } => "direct",
        Why::Implemented => "implemented",
        Why::Approved { .. } => "approved",
        Why::Rejected { .. } => "rejected",
        Why::Unclassified { .. } => "unclassified",
        Why::BaseMoved { .. } => "base-moved",
        Why::CloseoutStale { .. } => "closeout-stale",
        Why::RoadmapRevised { .. } => "roadmap-revised",
        Why::PlanOutdated { .. } => "plan-outdated",
        Why::Unproven { .. } => "unproven",
        Why::NotWaived { .. } => "not-waived",
        Why::ChecksRed { .. } => "checks-red",
        Why::Proven => "proven",
        Why::PutBack => "put-back",
    }
}

const fn closed_name(how: Closed) -> &'static str {
    match how {
        Closed::Merged => "merged",
        Closed::Cancelled => "cancelled",
    }
}

const fn update_name(step: &UpdateStep) -> &'static str {
    match step {
        UpdateStep::Authored => "authored",
        UpdateStep::Approved { .. } => "approved",
        UpdateStep::Rejected { .. } => "rejected",
        UpdateStep::Activated { .. } => "activated",
        UpdateStep::SentBack { .. } => "sent-back",
    }
}

const fn mechanism_name(mechanism: Mechanism) -> &'static str {
    match mechanism {
        Mechanism::SameHandle => "same-handle",
        Mechanism::FreshAgent => "fresh-agent",
        Mechanism::OtherAdapter => "other-adapter",
    }
}

pub(crate) const fn outcome_name(outcome: &PlaneOutcome) -> &'static str {
    match outcome {
        PlaneOutcome::Read(_) => "plane-read",
        PlaneOutcome::StateWritten { .. } => "state-written",
        PlaneOutcome::StateMoved => "state-moved",
        PlaneOutcome::WorktreeOpened { .. } => "worktree-opened",
        PlaneOutcome::WorkCaptured(_) => "work-captured",
        PlaneOutcome::SetAside { .. } => "set-aside",
        PlaneOutcome::TakenUp { .. } => "taken-up",
        PlaneOutcome::WorkCombined { .. } => "work-combined",
        PlaneOutcome::GateLooked(_) => "gate-looked",
        PlaneOutcome::Merged { .. } => "merged",
        PlaneOutcome::Held(_) => "held",
        PlaneOutcome::Looked { .. } => "looked",
    }
}
