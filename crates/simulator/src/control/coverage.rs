//! The names of what a control loop can come to, by exhaustive matches: a new variant does not build until it has one here.

use crate::coverage::Coverage;
use windlass_protocols::protocol::feedback_control::end::{Cause, End, NodeEnd, Stall};
use windlass_protocols::protocol::feedback_control::facts::Fact as ControlFact;
use windlass_protocols::protocol::feedback_control::steadiness::Remark;

/// Everything that must occur in a control loop, by kind.
pub(crate) const EXPECTED: [(&str, &[&str]); 10] = [
    (
        "effect",
        &[
            "prepare-workspaces",
            "measure",
            "inspect-gate",
            "run-agent",
            "capture-change",
            "commit-iteration",
            "wait",
            "close-run",
        ],
    ),
    (
        "outcome",
        &[
            "prepared",
            "waited",
            "measured",
            "gate-inspected",
            "agent-ended",
            "change-captured",
            "iteration-committed",
            "closed",
            "refused",
            "interrupted",
            "lost",
        ],
    ),
    ("end", &["complete", "exhausted", "stalled", "needs-human", "stopped", "setup-failed"]),
    ("stall", &["stagnation", "oscillation", "regression", "no-change", "plateau"]),
    ("node end", &["target-met", "max-iterations", "stalled", "spent", "failed"]),
    ("child returned", &["target-met", "max-iterations", "stalled", "spent", "failed"]),
    ("remark", &["unchanged", "returned", "worse", "nothing-changed", "repeated"]),
    ("claim", &["refused", "refused-over-the-gate"]),
    ("said", &["skip", "waive"]),
    (
        "cause",
        &[
            "no-readable-answer",
            "false-claim",
            "workspace-changed",
            "hazard",
            "agent-not-started",
            "agent-keeps-failing",
            "step-keeps-getting-lost",
            "capture-refused",
            "commit-refused",
            "gate-findings",
        ],
    ),
];

pub(crate) fn count(coverage: &mut Coverage, fact: &ControlFact) {
    match fact {
        ControlFact::NodeConcluded { end, .. } => {
            coverage.count("node end", node_end_name(end));
            if let NodeEnd::Stalled { how } = end {
                coverage.count("stall", stall_name(*how));
            }
        }
        ControlFact::ChildReturned { end, .. } => coverage.count("child returned", node_end_name(end)),
        ControlFact::ClaimRefused { gate, .. } if !gate.is_empty() => {
            coverage.count("claim", "refused-over-the-gate");
        }
        ControlFact::ClaimRefused { .. } => coverage.count("claim", "refused"),
        ControlFact::Remarked { remark, .. } => coverage.count("remark", remark_name(remark)),
        ControlFact::Concluded { end } => {
            coverage.count("end", end.word());
            if let End::NeedsHuman { cause } = end {
                coverage.count("cause", cause_name(cause));
            }
        }
        _ => {}
    }
}

const fn node_end_name(end: &NodeEnd) -> &'static str {
    match end {
        NodeEnd::TargetMet => "target-met",
        NodeEnd::MaxIterations => "max-iterations",
        NodeEnd::Stalled { .. } => "stalled",
        NodeEnd::Spent { .. } => "spent",
        NodeEnd::Failed { .. } => "failed",
    }
}

const fn stall_name(how: Stall) -> &'static str {
    match how {
        Stall::Stagnation => "stagnation",
        Stall::Oscillation => "oscillation",
        Stall::Regression => "regression",
        Stall::NoChange => "no-change",
        Stall::Plateau => "plateau",
    }
}

const fn remark_name(remark: &Remark) -> &'static str {
    match remark {
        Remark::Unchanged { .. } => "unchanged",
        Remark::Returned { .. } => "returned",
        Remark::Worse { .. } => "worse",
        Remark::NothingChanged { .. } => "nothing-changed",
        Remark::Repeated { .. } => "repeated",
    }
}

const fn cause_name(cause: &Cause) -> &'static str {
    match cause {
        Cause::NoReadableAnswer { .. } => "no-readable-answer",
        Cause::FalseClaim { .. } => "false-claim",
        Cause::WorkspaceChanged { .. } => "workspace-changed",
        Cause::Hazard { .. } => "hazard",
        Cause::AgentNotStarted { .. } => "agent-not-started",
        Cause::AgentKeepsFailing { .. } => "agent-keeps-failing",
        Cause::StepKeepsGettingLost { .. } => "step-keeps-getting-lost",
        Cause::CaptureRefused { .. } => "capture-refused",
        Cause::CommitRefused { .. } => "commit-refused",
        Cause::GateFindings { .. } => "gate-findings",
    }
}
