//! The names of what a goal loop can come to, by exhaustive matches: a new variant does not build until it has one here.

use crate::coverage::Coverage;
use windlass_protocols::protocol::goal_contract::end::{Cap, Cause, End, NotReady, Proposed};
use windlass_protocols::protocol::goal_contract::facts::{Ending, Fact as GoalFact, RejectedBy};
use windlass_protocols::protocol::goal_contract::queue::Work;

/// Everything that must occur in a goal loop, by kind.
pub(crate) const EXPECTED: [(&str, &[&str]); 12] = [
    (
        "effect",
        &[
            "prepare-workspaces",
            "read-queue",
            "run-suite",
            "run-agent",
            "capture-change",
            "run-checks",
            "inspect-gate",
            "commit-item",
            "wait",
            "close-run",
        ],
    ),
    (
        "outcome",
        &[
            "prepared",
            "queue-read",
            "suite-ran",
            "agent-ended",
            "change-captured",
            "checks-ran",
            "gate-inspected",
            "item-committed",
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
            "queue-taken",
            "baseline-taken",
            "iteration-opened",
            "design-taken",
            "design-approved",
            "design-rejected",
            "build-taken",
            "build-failed",
            "change-taken",
            "tests-taken",
            "gate-inspected",
            "verdict-taken",
            "pre-commit-passed",
            "change-approved",
            "item-committed",
            "iteration-ended",
            "item-parked",
            "repair-asked",
            "step-retried",
            "agent-out",
            "concluded",
            "summary-committed",
        ],
    ),
    ("work", &["recheck", "rework", "build"]),
    (
        "end",
        &[
            "success",
            "hard-kill",
            "escalated",
            "awaits-approval",
            "paused",
            "as-asked",
            "stopped",
            "not-ready",
        ],
    ),
    ("proposed", &["change", "design"]),
    ("cap", &["iterations", "commits", "rework", "used", "destructive"]),
    ("not ready", &["red-baseline", "no-tests", "unreadable", "nothing-in-scope", "setup"]),
    ("ending", &["accepted", "rework", "inconclusive", "escalated"]),
    (
        "rejected by",
        &[
            "no-change",
            "tests-deleted",
            "secret",
            "tests",
            "regression",
            "evaluator",
            "pre-commit",
            "person",
            "gate",
        ],
    ),
    (
        "cause",
        &[
            "nothing-ready",
            "same-cause-twice",
            "regression",
            "scope-creep",
            "builder-asks",
            "builder-keeps-failing",
            "no-verdict",
            "workspace-changed",
            "no-design",
            "agent-not-started",
            "agent-keeps-failing",
            "step-keeps-getting-lost",
            "hazard",
            "capture-refused",
            "commit-refused",
            "unreadable",
            "gate-findings",
        ],
    ),
    ("word", &["approve", "reject", "skip", "take-over", "hand-back", "waive"]),
];

pub(crate) fn count(coverage: &mut Coverage, fact: &GoalFact) {
    coverage.count("fact", fact.name());
    match fact {
        GoalFact::IterationOpened { work, .. } => coverage.count("work", work_name(*work)),
        GoalFact::IterationEnded { result, .. } => {
            coverage.count("ending", ending_name(result));
            if let Ending::Rework { by, .. } = result {
                coverage.count("rejected by", rejected_by_name(*by));
            }
        }
        GoalFact::Concluded { end } => {
            coverage.count("end", end.word());
            match end {
                End::HardKill { cap } => coverage.count("cap", cap_name(cap)),
                End::Escalated { cause } => coverage.count("cause", cause_name(cause)),
                End::NotReady { why } => coverage.count("not ready", not_ready_name(why)),
                End::AwaitsApproval { proposed, .. } => {
                    coverage.count("proposed", proposed_name(proposed));
                }
                End::Success | End::Paused { .. } | End::AsAsked { .. } | End::Stopped { .. } => {}
            }
        }
        _ => {}
    }
}

const fn work_name(work: Work) -> &'static str {
    match work {
        Work::Recheck => "recheck",
        Work::Rework => "rework",
        Work::Build => "build",
    }
}

const fn ending_name(ending: &Ending) -> &'static str {
    match ending {
        Ending::Accepted => "accepted",
        Ending::Rework { .. } => "rework",
        Ending::Inconclusive { .. } => "inconclusive",
        Ending::Escalated { .. } => "escalated",
    }
}

const fn rejected_by_name(by: RejectedBy) -> &'static str {
    match by {
        RejectedBy::NoChange => "no-change",
        RejectedBy::TestsDeleted => "tests-deleted",
        RejectedBy::Secret => "secret",
        RejectedBy::Tests => "tests",
        RejectedBy::Regression => "regression",
        RejectedBy::Evaluator => "evaluator",
        RejectedBy::PreCommit => "pre-commit",
        RejectedBy::Person => "person",
        RejectedBy::Gate => "gate",
    }
}

const fn proposed_name(proposed: &Proposed) -> &'static str {
    match proposed {
        Proposed::Change { .. } => "change",
        Proposed::Design { .. } => "design",
    }
}

const fn cap_name(cap: &Cap) -> &'static str {
    match cap {
        Cap::Iterations => "iterations",
        Cap::Commits => "commits",
        Cap::Rework { .. } => "rework",
        Cap::Used { .. } => "used",
        Cap::Destructive { .. } => "destructive",
    }
}

const fn not_ready_name(why: &NotReady) -> &'static str {
    match why {
        NotReady::RedBaseline { .. } => "red-baseline",
        NotReady::NoTests => "no-tests",
        NotReady::Unreadable { .. } => "unreadable",
        NotReady::NothingInScope => "nothing-in-scope",
        NotReady::Setup { .. } => "setup",
    }
}

const fn cause_name(cause: &Cause) -> &'static str {
    match cause {
        Cause::NothingReady { .. } => "nothing-ready",
        Cause::SameCauseTwice { .. } => "same-cause-twice",
        Cause::Regression { .. } => "regression",
        Cause::ScopeCreep { .. } => "scope-creep",
        Cause::BuilderAsks { .. } => "builder-asks",
        Cause::BuilderKeepsFailing { .. } => "builder-keeps-failing",
        Cause::NoVerdict { .. } => "no-verdict",
        Cause::WorkspaceChanged { .. } => "workspace-changed",
        Cause::NoDesign { .. } => "no-design",
        Cause::AgentNotStarted { .. } => "agent-not-started",
        Cause::AgentKeepsFailing { .. } => "agent-keeps-failing",
        Cause::StepKeepsGettingLost { .. } => "step-keeps-getting-lost",
        Cause::Hazard { .. } => "hazard",
        Cause::CaptureRefused { .. } => "capture-refused",
        Cause::CommitRefused { .. } => "commit-refused",
        Cause::Unreadable { .. } => "unreadable",
        Cause::GateFindings { .. } => "gate-findings",
    }
}
