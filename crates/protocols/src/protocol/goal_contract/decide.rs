//! What the outcome of a step means for the iteration. Facts are recorded here; `next` reads the state they make.

use super::agents::agent_ended;
use super::end::{Cap, Cause, End, NotReady};
use super::facts::{Ending, Fact as GoalFact, RejectedBy, RetryKind};
use super::next::{conclude, escalate, go_on, level, record, spent, state};
use super::stage::Stage;
use super::state::State;
use crate::draft::Draft;
use crate::effect::{CommitItem, Effect, SuitePurpose};
use crate::fact::Fact;
use crate::outcome::{CapturedChange, ChecksReport, Finding, FindingKind, Outcome, StepEnd, SuiteReport};
use crate::vocabulary::CommitId;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec;
use alloc::vec::Vec;

/// A red suite in which only flaky tests failed is run again this often.
const MAX_FLAKY_RERUNS: u32 = 2;

pub(crate) fn settled(draft: &mut Draft, request: &Effect, outcome: &Outcome) {
    match (request, outcome) {
        (Effect::CloseRun(_), Outcome::Closed) => return draft.record(Fact::RunEnded),
        (_, Outcome::Interrupted { .. }) => interrupted(draft, request),
        (_, Outcome::Lost { reason, .. }) => lost(draft, request, reason),
        (Effect::PrepareWorkspaces, Outcome::Prepared { base, .. })
            if *base != state(draft).spec.place.base =>
        {
            let reason = format!("the workspaces stand on {base}, not on the base of the run");
            conclude(draft, End::NotReady { why: NotReady::Setup { reason } });
        }
        (Effect::PrepareWorkspaces, Outcome::Prepared { base, base_tree }) => {
            record(draft, GoalFact::BaseFixed { commit: base.clone(), tree: base_tree.clone() });
        }
        (Effect::PrepareWorkspaces, Outcome::Refused { reason }) => {
            conclude(draft, End::NotReady { why: NotReady::Setup { reason: reason.clone() } });
        }
        (Effect::ReadQueue { .. }, Outcome::QueueRead(queue)) => {
            let mut queue = queue.clone();
            let known = state(draft);
            if let Some(before) = &known.queue {
                queue.take_in(before, known.person_looked);
            }
            if let Some(scope) = &known.spec.tightened.scope {
                queue.scope.retain(|id| scope.contains(id));
            }
            record(draft, GoalFact::QueueTaken { queue });
        }
        (Effect::ReadQueue { .. }, Outcome::Refused { reason }) => unreadable(draft, reason),
        (Effect::RunSuite(_), Outcome::SuiteRan(report))
            if report.end == StepEnd::TotalLimit && spent(draft).is_some() =>
        {
            // Cut off by the run's own cap: it says nothing about what was built.
            retry(draft, Stage::of(request), RetryKind::Interrupted, "the time of the run was used up");
        }
        (Effect::RunSuite(asked), Outcome::SuiteRan(report)) => match asked.purpose {
            SuitePurpose::Baseline => first_baseline(draft, report),
            SuitePurpose::BaselineAgain => second_baseline(draft, report),
            SuitePurpose::Item => tested(draft, report),
        },
        (Effect::InspectGate(_), Outcome::GateInspected(_)) if spent(draft).is_some() => {
            // As for the suite: red because it was cut off is nobody's finding.
            retry(draft, Stage::of(request), RetryKind::Interrupted, "the time of the run was used up");
        }
        (Effect::InspectGate(_), Outcome::GateInspected(report)) => {
            record(draft, GoalFact::GateInspected { report: (**report).clone() });
        }
        (Effect::RunAgent(_), Outcome::AgentEnded(report)) => agent_ended(draft, report),
        // Whoever was waited for is asked by `go_on`.
        (Effect::Wait(_), Outcome::Waited) => {}
        (Effect::CaptureChange { .. }, Outcome::ChangeCaptured(change)) => captured(draft, change),
        (Effect::CaptureChange { .. }, Outcome::Refused { reason }) => {
            escalate(draft, Cause::CaptureRefused { reason: reason.clone() });
        }
        (Effect::RunChecks(_), Outcome::ChecksRan(report)) => pre_checked(draft, report),
        (Effect::CommitItem(asked), Outcome::ItemCommitted { commit, .. }) => {
            committed(draft, asked, commit.clone());
        }
        (Effect::CommitItem(asked), Outcome::Refused { reason }) => commit_refused(draft, asked, reason),
        // `Outcome::fits` lets no other pair through; an unknown end is a lost one, never a success.
        (_, _) => lost(draft, request, "the answer does not fit the question"),
    }
    go_on(draft);
}

pub(super) fn retry(draft: &mut Draft, stage: Stage, kind: RetryKind, why: &str) {
    record(draft, GoalFact::StepRetried { stage, why: why.to_string(), kind });
}

/// Nobody is to blame and no attempt is charged; but what is interrupted again and again is not a person's doing.
fn interrupted(draft: &mut Draft, request: &Effect) {
    let stage = Stage::of(request);
    let bounded = !matches!(stage, Stage::Committing | Stage::Closing) && draft.stop().is_none();
    if bounded && !state(draft).attempts.may_retry_interrupted() {
        escalate(draft, Cause::StepKeepsGettingLost { stage });
    } else {
        retry(draft, stage, RetryKind::Interrupted, "the step was interrupted");
    }
}

/// Nobody saw the end, so nobody may call it a success; it is asked for again, but not for ever.
fn lost(draft: &mut Draft, request: &Effect, reason: &str) {
    let stage = Stage::of(request);
    // Closing is ours alone and changes nothing: giving up on it would leave a run without its end.
    if stage == Stage::Closing || state(draft).attempts.may_retry_lost() {
        retry(draft, stage, RetryKind::Lost, reason);
    } else {
        escalate(draft, Cause::StepKeepsGettingLost { stage });
    }
}

fn unreadable(draft: &mut Draft, reason: &str) {
    let reason = reason.to_string();
    if state(draft).baseline.is_none() {
        conclude(draft, End::NotReady { why: NotReady::Unreadable { reason } });
    } else {
        escalate(draft, Cause::Unreadable { reason });
    }
}

fn first_baseline(draft: &mut Draft, report: &SuiteReport) {
    if let StepEnd::NotStarted { reason } = &report.end {
        let reason = format!("the test command could not be started: {reason}");
        conclude(draft, End::NotReady { why: NotReady::Setup { reason } });
    } else if matches!(report.end, StepEnd::Exited { code: 126 | 127 }) && report.total == 0 {
        // What a shell says of a command that it cannot run or find.
        let reason =
            "the test command could not be run: the shell does not find it or may not start it".to_string();
        conclude(draft, End::NotReady { why: NotReady::Setup { reason } });
    } else if !report.is_green() {
        conclude(draft, End::NotReady { why: NotReady::RedBaseline { failing: report.failing.clone() } });
    }
}

fn second_baseline(draft: &mut Draft, report: &SuiteReport) {
    let mut flaky = report.failing.clone();
    flaky.extend(report.regressions.iter().filter(|name| !report.failing.contains(name)).cloned());
    if !report.is_green() && report.failing.is_empty() {
        let failing = vec!["two runs of the suite on the same tree differ".to_string()];
        return conclude(draft, End::NotReady { why: NotReady::RedBaseline { failing } });
    }
    let suite = state(draft).first_baseline.clone();
    record(draft, GoalFact::BaselineTaken { suite, flaky });
}

/// What the suite says of what was built. A test that was green is never given up for a new one.
fn tested(draft: &mut Draft, report: &SuiteReport) {
    let flaky = state(draft).baseline.as_ref().map(|baseline| baseline.flaky.clone()).unwrap_or_default();
    let only_flaky = !report.failing.is_empty() && report.failing.iter().all(|name| flaky.contains(name));
    if !report.is_green() && only_flaky && state(draft).attempts.failed < MAX_FLAKY_RERUNS {
        return retry(draft, Stage::Testing, RetryKind::Failed, "only tests failed that are flaky");
    }
    record(draft, GoalFact::TestsTaken { suite: report.clone() });
    if !report.regressions.is_empty() {
        let key = format!("regression:{}", report.regressions.join(","));
        let cause = format!("tests that were green are red: {}", report.regressions.join(", "));
        rework(draft, RejectedBy::Regression, key, cause, report.regressions.clone());
    }
}

/// The words for a red suite, whoever says pass over it.
pub(super) fn red_suite(report: &SuiteReport) -> (String, String) {
    let what = if report.failing.is_empty() {
        crate::kernel::trouble::describe(&report.end)
    } else {
        report.failing.join(", ")
    };
    (format!("tests:{what}"), format!("the test suite is red: {what}"))
}

fn captured(draft: &mut Draft, change: &CapturedChange) {
    record(draft, GoalFact::ChangeTaken { change: change.clone() });
    let Some(open) = state(draft).open.clone() else { return };
    let item = open.item.clone();
    if !change.hazards.is_empty() {
        let why = change.hazards.join("; ");
        end_iteration(draft, Ending::Escalated { why });
        return escalate(draft, Cause::Hazard { item, hazards: change.hazards.clone() });
    }
    let of = |kind: FindingKind| change.findings.iter().find(move |finding| finding.kind == kind);
    let creep: Vec<String> =
        change.findings.iter().filter(|finding| finding.kind.is_scope_creep()).map(Finding::words).collect();
    if !creep.is_empty() {
        end_iteration(draft, Ending::Escalated { why: format!("scope creep: {}", creep.join("; ")) });
        return escalate(draft, Cause::ScopeCreep { item, what: creep });
    }
    if let Some(why) = open.build_failed {
        return inconclusive(draft, why);
    }
    if let Some(question) = open.build.and_then(|build| build.question) {
        end_iteration(draft, Ending::Inconclusive { why: format!("the builder asks: {question}") });
        return escalate(draft, Cause::BuilderAsks { item, question });
    }
    for (kind, by, category) in [
        (FindingKind::Secret, RejectedBy::Secret, "security"),
        (FindingKind::TestsDeleted, RejectedBy::TestsDeleted, "tests-deleted"),
    ] {
        if let Some(finding) = of(kind) {
            let key = format!("{category}:{}", finding.about.join(","));
            return rework(draft, by, key, format!("the builder {}", finding.words()), Vec::new());
        }
    }
    let state = state(draft);
    let at_head = state.head.as_ref().is_some_and(|(_, tree)| *tree == change.tree);
    let failed_before = change.tree == open.start && state.item(&item).rework > 0;
    if at_head || failed_before {
        let cause = "the builder changed nothing".to_string();
        rework(draft, RejectedBy::NoChange, "no-change".to_string(), cause, Vec::new());
    }
}

fn pre_checked(draft: &mut Draft, report: &ChecksReport) {
    match report.red().next() {
        None => {
            let (tree, evidence) = (report.tree.clone(), report.evidence.clone());
            let gate = report.gate.clone();
            record(draft, GoalFact::PreCommitPassed { tree, evidence, gate });
        }
        Some(red) => {
            let cause = format!("`{}` {}", red.command, crate::kernel::trouble::describe(&red.end));
            let issues = red.tail.lines().map(ToString::to_string).collect();
            rework(draft, RejectedBy::PreCommit, format!("pre-commit:{}", red.command), cause, issues);
        }
    }
}

fn committed(draft: &mut Draft, asked: &CommitItem, commit: CommitId) {
    if let Some(item) = asked.item.clone() {
        record(draft, GoalFact::ItemCommitted { item, commit, tree: asked.tree.clone() });
        end_iteration(draft, Ending::Accepted);
    } else {
        record(draft, GoalFact::SummaryCommitted { commit: Some(commit), why_not: String::new() });
    }
}

/// What is verified stays verified: the iteration is open, and going on means committing again.
fn commit_refused(draft: &mut Draft, asked: &CommitItem, reason: &str) {
    let reason = reason.to_string();
    match &asked.item {
        Some(item) => escalate(draft, Cause::CommitRefused { item: item.clone(), reason }),
        None => record(draft, GoalFact::SummaryCommitted { commit: None, why_not: reason }),
    }
}

pub(super) fn end_iteration(draft: &mut Draft, result: Ending) {
    let Some(open) = &state(draft).open else { return };
    let (iteration, item) = (open.number, open.item.clone());
    let at = draft.now();
    record(draft, GoalFact::IterationEnded { iteration, item, result, at });
}

/// Neither a yes nor a no; once may be an accident.
fn inconclusive(draft: &mut Draft, why: String) {
    let Some(item) = state(draft).open.as_ref().map(|open| open.item.clone()) else { return };
    end_iteration(draft, Ending::Inconclusive { why: why.clone() });
    if state(draft).item(&item).inconclusive_in_a_row > 1 {
        stop_item(draft, Stop::Escalate(Cause::BuilderKeepsFailing { item, why }));
    }
}

/// A no: recorded with its cause, and the last one if the cause is known, a regression was not mended or the cap is reached.
pub(super) fn rework(draft: &mut Draft, by: RejectedBy, key: String, cause: String, issues: Vec<String>) {
    let Some(open) = &state(draft).open else { return };
    let (item, tree) = (open.item.clone(), open.tree().clone());
    let known = state(draft).item(&item).is_known(by, &key, &cause);
    if by != RejectedBy::Evaluator {
        let why = by.sentence(&cause);
        record(
            draft,
            GoalFact::VerdictTaken {
                item: item.clone(),
                tree,
                pass: false,
                why,
                artifact: None,
                waivers: Vec::new(),
            },
        );
    }
    let tests = regressions(draft);
    end_iteration(draft, Ending::Rework { by, key, cause: cause.clone(), issues });
    let after = state(draft).item(&item);
    let cap = state(draft).limits().map_or(1, |limits| limits.rework);
    if by == RejectedBy::Regression && after.regressions_in_a_row > 1 {
        stop_item(draft, Stop::Escalate(Cause::Regression { item, tests }));
    } else if known {
        stop_item(draft, Stop::Escalate(Cause::SameCauseTwice { item, cause }));
    } else if after.rework_since >= cap {
        stop_item(draft, Stop::Cap(item));
    }
}

fn regressions(draft: &Draft) -> Vec<String> {
    let open = state(draft).open.as_ref();
    open.and_then(|open| open.suite.as_ref()).map(|suite| suite.regressions.clone()).unwrap_or_default()
}

pub(super) enum Stop {
    Escalate(Cause),
    Cap(String),
}

/// The item is not tried again before a person looked. Only a contract that says so lets the loop go on with others.
fn stop_item(draft: &mut Draft, stop: Stop) {
    let fact = stopping(state(draft), stop);
    record(draft, fact);
}

pub(super) fn stopping(state: &State, stop: Stop) -> GoalFact {
    let parks = state
        .queue
        .as_ref()
        .is_some_and(|queue| queue.parks && !level(queue, &state.spec).pauses_after_iteration());
    let (item, why) = match &stop {
        Stop::Escalate(cause) => (cause.item().map(ToString::to_string), cause.words()),
        Stop::Cap(item) => (Some(item.clone()), Cap::Rework { item: item.clone() }.sentence()),
    };
    match (item, stop) {
        (Some(item), _) if parks => GoalFact::ItemParked { item, why },
        (_, Stop::Escalate(cause)) => GoalFact::Concluded { end: End::Escalated { cause } },
        (_, Stop::Cap(item)) => GoalFact::Concluded { end: End::HardKill { cap: Cap::Rework { item } } },
    }
}
