//! Which paths a set of simulations has been down. Kinds are named by exhaustive matches: a new variant does not build
//! until it has a name here, and a name that never occurs fails the test over the default seeds.

use crate::control;
use crate::goal;
use crate::profile::Loop;
use crate::roadmap;
use std::collections::BTreeMap;
use std::fmt;
use windlass_protocols::protocol::judged_task::end::{Cause, End};
use windlass_protocols::protocol::judged_task::facts::{Fact as TaskFact, RejectedBy};
use windlass_protocols::{Effect, Fact, Outcome, Rejection};

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Coverage {
    seen: BTreeMap<(&'static str, &'static str), u64>,
}

/// Everything that must occur in a task loop, by kind.
const OF_THE_TASK_LOOP: [(&str, &[&str]); 8] = [
    (
        "effect",
        &[
            "prepare-workspaces",
            "run-checks",
            "inspect-gate",
            "run-agent",
            "capture-change",
            "land-change",
            "wait",
            "close-run",
        ],
    ),
    (
        "outcome",
        &[
            "prepared",
            "waited",
            "checks-ran",
            "agent-ended",
            "change-captured",
            "landed",
            "closed",
            "refused",
            "interrupted",
            "lost",
        ],
    ),
    ("end", &["accepted", "rejected", "needs-human", "exhausted", "stopped", "setup-failed"]),
    (
        "rejected by",
        &[
            "doer-failed",
            "handoff",
            "no-change",
            "repetition",
            "hazard",
            "check",
            "judge",
            "audit-check",
            "auditor",
            "gate",
        ],
    ),
    (
        "cause",
        &[
            "judge-asked",
            "auditor-asked",
            "no-readable-answer",
            "workspace-changed",
            "agent-not-started",
            "agent-keeps-failing",
            "step-keeps-getting-lost",
            "stuck",
            "capture-refused",
            "landing-refused",
            "gate-findings",
        ],
    ),
    ("fault", &["landing-asked"]),
    ("said", &["approve", "skip", "take-over", "hand-back", "let-go"]),
    ("rejection", &["taken-over", "other-tree"]),
];

/// Everything that must occur whatever the loop.
const OF_EVERY_LOOP: [(&str, &[&str]); 2] = [
    (
        "rejection",
        &[
            "already-started",
            "not-started",
            "not-unsettled",
            "outcome-does-not-fit",
            "already-ended",
            "not-ended",
            "nothing-to-reopen",
            "nothing-to-land",
            "invalid-spec",
            "not-asked",
        ],
    ),
    (
        "fault",
        &[
            "crash-while-idle",
            "crash-before-append",
            "crash-after-append",
            "crash-after-dispatch",
            "crash-while-recovering",
            "append-refused",
            "append-unknown",
            "answer-doubled",
            "answer-misfits",
            "answer-vanished",
            "taken-over",
            "ghost-fenced",
            "clock-forward",
            "clock-back",
            "stop-posted",
            "reopened",
        ],
    ),
];

impl Coverage {
    pub(crate) fn count(&mut self, kind: &'static str, name: &'static str) {
        *self.seen.entry((kind, name)).or_default() += 1;
    }

    pub(crate) fn rejection(&mut self, rejection: &Rejection) {
        self.count("rejection", rejection_name(rejection));
    }

    pub(crate) fn facts(&mut self, facts: &[Fact]) {
        for fact in facts {
            match fact {
                Fact::EffectRequested { request, .. } => self.count("effect", effect_name(request)),
                Fact::EffectSettled { outcome, .. } => self.count("outcome", outcome_name(outcome)),
                Fact::JudgedTask(TaskFact::RoundRejected { by, .. }) => {
                    self.count("rejected by", rejected_by_name(*by));
                }
                Fact::JudgedTask(TaskFact::Concluded { end }) => {
                    self.count("end", end.word());
                    if let End::NeedsHuman { cause } = end {
                        self.count("cause", cause_name(cause));
                    }
                }
                Fact::FeedbackControl(fact) => control::coverage::count(self, fact),
                Fact::PersonSaid { word, .. } => self.count("said", word.name()),
                Fact::GoalContract(fact) => goal::coverage::count(self, fact),
                Fact::RoadmapRounds(fact) => roadmap::coverage::count(self, fact),
                _ => {}
            }
        }
    }

    pub(crate) fn add(&mut self, other: &Self) {
        for (key, count) in &other.seen {
            *self.seen.entry(*key).or_default() += count;
        }
    }

    pub fn times(&self, kind: &'static str, name: &'static str) -> u64 {
        self.seen.get(&(kind, name)).copied().unwrap_or(0)
    }

    /// What should have occurred in this loop and did not.
    pub fn missing(&self, of: Loop) -> Vec<(&'static str, &'static str)> {
        let own: &[(&'static str, &'static [&'static str])] = match of {
            Loop::JudgedTask => &OF_THE_TASK_LOOP,
            Loop::FeedbackControl => &control::coverage::EXPECTED,
            Loop::GoalContract => &goal::coverage::EXPECTED,
            Loop::RoadmapRounds => &roadmap::coverage::EXPECTED,
        };
        OF_EVERY_LOOP
            .iter()
            .chain(own)
            .flat_map(|(kind, names)| names.iter().map(|name| (*kind, *name)))
            .filter(|(kind, name)| self.times(kind, name) == 0)
            .collect()
    }
}

impl fmt::Display for Coverage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for ((kind, name), times) in &self.seen {
            writeln!(f, "{kind:>14} {name:<26} {times:>8}")?;
        }
        Ok(())
    }
}

const fn effect_name(effect: &Effect) -> &'static str {
    match effect {
        Effect::PrepareWorkspaces => "prepare-workspaces",
        Effect::RunChecks(_) => "run-checks",
        Effect::InspectGate(_) => "inspect-gate",
        Effect::RunAgent(_) => "run-agent",
        Effect::CaptureChange { .. } => "capture-change",
        Effect::LandChange(_) => "land-change",
        Effect::Wait(_) => "wait",
        Effect::CloseRun(_) => "close-run",
        Effect::Measure(_) => "measure",
        Effect::CommitIteration(_) => "commit-iteration",
        Effect::ReadQueue { .. } => "read-queue",
        Effect::RunSuite(_) => "run-suite",
        Effect::CommitItem(_) => "commit-item",
        Effect::Plane(step) => step.name(),
    }
}

pub(crate) const fn outcome_name(outcome: &Outcome) -> &'static str {
    match outcome {
        Outcome::Prepared { .. } => "prepared",
        Outcome::ChecksRan(_) => "checks-ran",
        Outcome::GateInspected(_) => "gate-inspected",
        Outcome::AgentEnded(_) => "agent-ended",
        Outcome::ChangeCaptured(_) => "change-captured",
        Outcome::Landed(_) => "landed",
        Outcome::Waited => "waited",
        Outcome::Measured(_) => "measured",
        Outcome::IterationCommitted { .. } => "iteration-committed",
        Outcome::QueueRead(_) => "queue-read",
        Outcome::SuiteRan(_) => "suite-ran",
        Outcome::ItemCommitted { .. } => "item-committed",
        Outcome::Plane(outcome) => roadmap::coverage::outcome_name(outcome),
        Outcome::Closed => "closed",
        Outcome::Refused { .. } => "refused",
        Outcome::Interrupted { .. } => "interrupted",
        Outcome::Lost { .. } => "lost",
    }
}

const fn rejected_by_name(by: RejectedBy) -> &'static str {
    match by {
        RejectedBy::DoerFailed => "doer-failed",
        RejectedBy::Handoff => "handoff",
        RejectedBy::NoChange => "no-change",
        RejectedBy::Repetition => "repetition",
        RejectedBy::Hazard => "hazard",
        RejectedBy::Check => "check",
        RejectedBy::Judge => "judge",
        RejectedBy::AuditCheck => "audit-check",
        RejectedBy::Auditor => "auditor",
        RejectedBy::Gate => "gate",
    }
}

const fn cause_name(cause: &Cause) -> &'static str {
    match cause {
        Cause::JudgeAsked => "judge-asked",
        Cause::AuditorAsked => "auditor-asked",
        Cause::NoReadableAnswer { .. } => "no-readable-answer",
        Cause::WorkspaceChanged { .. } => "workspace-changed",
        Cause::AgentNotStarted { .. } => "agent-not-started",
        Cause::AgentKeepsFailing { .. } => "agent-keeps-failing",
        Cause::StepKeepsGettingLost { .. } => "step-keeps-getting-lost",
        Cause::Stuck { .. } => "stuck",
        Cause::CaptureRefused { .. } => "capture-refused",
        Cause::LandingRefused { .. } => "landing-refused",
        Cause::GateFindings { .. } => "gate-findings",
    }
}

const fn rejection_name(rejection: &Rejection) -> &'static str {
    match rejection {
        Rejection::AlreadyStarted => "already-started",
        Rejection::NotStarted => "not-started",
        Rejection::NotUnsettled { .. } => "not-unsettled",
        Rejection::OutcomeDoesNotFit { .. } => "outcome-does-not-fit",
        Rejection::AlreadyEnded => "already-ended",
        Rejection::NotEnded => "not-ended",
        Rejection::NothingToReopen { .. } => "nothing-to-reopen",
        Rejection::NothingToLand { .. } => "nothing-to-land",
        Rejection::InvalidSpec { .. } => "invalid-spec",
        Rejection::NotAsked { .. } => "not-asked",
        Rejection::TakenOver { .. } => "taken-over",
        Rejection::OtherTree { .. } => "other-tree",
    }
}
