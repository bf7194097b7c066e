//! What the outcome of a step means for the iteration. Facts are recorded here; `next` reads the state they make.

use super::end::{Cause, End};
use super::facts::{Fact as ControlFact, RetryKind};
use super::next::{fail, go_on, needs_human, record, spent_share, state};
use super::stage::Stage;
use super::state::State;
use super::trouble::{Treated, treat};
use crate::draft::Draft;
use crate::effect::{Effect, Measure, RunAgent};
use crate::fact::Fact;
use crate::kernel::budget::Dimension;
use crate::kernel::gate::GateFinding;
use crate::kernel::trouble::with_last_words;
use crate::outcome::{
    Action, AgentReport, Answer, CapturedChange, Decision, Measured, OUTPUT_LIMIT, Outcome, Reading,
    ReadingStatus, StepEnd, TIME_LIMIT, WorkspaceAfter,
};
use crate::vocabulary::{Role, TreeId};
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec;
use alloc::vec::Vec;

pub(crate) fn settled(draft: &mut Draft, request: &Effect, outcome: &Outcome) {
    match (request, outcome) {
        (Effect::CloseRun(_), Outcome::Closed) => return draft.record(Fact::RunEnded),
        (_, Outcome::Interrupted { .. }) => interrupted(draft, request),
        (_, Outcome::Lost { reason, .. }) => lost(draft, request, reason),
        (Effect::PrepareWorkspaces, Outcome::Prepared { base, base_tree }) => {
            record(draft, ControlFact::BaseFixed { commit: base.clone(), tree: base_tree.clone() });
        }
        (Effect::PrepareWorkspaces, Outcome::Refused { reason }) => {
            let end = End::SetupFailed { reason: reason.clone() };
            record(draft, ControlFact::Concluded { end });
        }
        (Effect::Measure(asked), Outcome::Measured(report)) => measured(draft, asked, report),
        (Effect::InspectGate(_), Outcome::GateInspected(report)) => {
            let depth = state(draft).frame().map_or(0, |frame| frame.depth);
            record(draft, ControlFact::GateInspected { depth, report: (**report).clone() });
        }
        (Effect::RunAgent(asked), Outcome::AgentEnded(report)) => agent_ended(draft, asked, report),
        // Whoever was waited for is asked by `go_on`.
        (Effect::Wait(_), Outcome::Waited) => {}
        (Effect::CaptureChange { .. }, Outcome::ChangeCaptured(change)) => captured(draft, change),
        (Effect::CaptureChange { .. }, Outcome::Refused { reason }) => {
            needs_human(draft, Cause::CaptureRefused { reason: reason.clone() });
        }
        (Effect::CommitIteration(asked), Outcome::IterationCommitted { commit, setup_edited, .. }) => {
            let (depth, label, commit) = (asked.depth, asked.label.clone(), commit.clone());
            record(draft, ControlFact::IterationCommitted { depth, label, commit });
            tell_of_edits(draft, setup_edited);
        }
        (Effect::CommitIteration(_), Outcome::Refused { reason }) => {
            needs_human(draft, Cause::CommitRefused { reason: reason.clone() });
        }
        // `Outcome::fits` lets no other pair through; an unknown end is a lost one, never a success.
        (_, _) => lost(draft, request, "the answer does not fit the question"),
    }
    go_on(draft);
}

/// What is edited stays so for the rest of the run; it is told when it is first seen.
fn tell_of_edits(draft: &mut Draft, setup_edited: &[String]) {
    let known = &state(draft).setup_edited;
    let paths: Vec<String> = setup_edited.iter().filter(|path| !known.contains(path)).cloned().collect();
    if !paths.is_empty() {
        record(draft, ControlFact::SetupEdited { paths });
    }
}

fn retry(draft: &mut Draft, stage: Stage, kind: RetryKind, why: &str) {
    record(draft, ControlFact::StepRetried { stage, why: why.to_string(), kind });
}

/// Nobody is to blame and no attempt is charged; but what is interrupted again and again is not a person's doing.
fn interrupted(draft: &mut Draft, request: &Effect) {
    let stage = Stage::of(request);
    let bounded = !matches!(stage, Stage::Committing | Stage::Closing) && draft.stop().is_none();
    if bounded && !state(draft).attempts.may_retry_interrupted() {
        needs_human(draft, Cause::StepKeepsGettingLost { stage });
    } else {
        retry(draft, stage, RetryKind::Interrupted, "the step was interrupted");
    }
}

/// Nobody saw the end, so nobody may call it a success; it is asked for again, but not for ever.
fn lost(draft: &mut Draft, request: &Effect, reason: &str) {
    let stage = Stage::of(request);
    // Closing is ours alone and changes nothing: giving up on it would leave a run without its summary.
    if stage == Stage::Closing || state(draft).attempts.may_retry_lost() {
        retry(draft, stage, RetryKind::Lost, reason);
    } else {
        needs_human(draft, Cause::StepKeepsGettingLost { stage });
    }
}

/// A command that changed files did so in a snapshot of its own, which is thrown away: tools rewrite their lock files. The
/// record says so, and its exit code counts.
fn measured(draft: &mut Draft, asked: &Measure, report: &Measured) {
    if was_cut_short(draft, asked, report) {
        let why = "nothing was left for the sensors before they had measured";
        return retry(draft, Stage::Measuring, RetryKind::Interrupted, why);
    }
    take_readings(draft, asked.depth, &report.tree, (report.readings.clone(), &report.gate));
}

/// Whether a sensor was ended by what the run or a node had left, and not by a limit of its own: that says nothing about the
/// code, and is measured again when there is more.
fn was_cut_short(draft: &Draft, asked: &Measure, report: &Measured) -> bool {
    let state = state(draft);
    let node = state.spec.node(asked.depth as usize);
    let own_time = |name: &str| {
        let sensor = node.sensors.iter().find(|sensor| sensor.name == name);
        sensor.and_then(|sensor| sensor.timeout).unwrap_or(draft.budget().caps.step_time)
    };
    let given_time = |name: &str| {
        let sensor = asked.sensors.iter().find(|sensor| sensor.name == name);
        sensor.and_then(|sensor| sensor.total).unwrap_or(asked.limits.total)
    };
    let ended_for = |cause: &str, reading: &Reading| reading.cause.as_deref() == Some(cause);
    report.readings.iter().any(|reading| match draft.exhausted().or_else(|| spent_share(state)) {
        Some(Dimension::Minutes) => {
            ended_for(TIME_LIMIT, reading) && given_time(&reading.sensor) < own_time(&reading.sensor)
        }
        Some(Dimension::OutputBytes) => ended_for(OUTPUT_LIMIT, reading),
        _ => false,
    })
}

/// What was said about a tree that its reader changed counts for nothing; once may be an accident.
fn edited(draft: &mut Draft, role: Role, earlier: u32, paths: Vec<String>, why: &str) {
    if earlier == 0 {
        retry(draft, Stage::of_role(role), RetryKind::Failed, why);
    } else {
        fail(draft, Cause::WorkspaceChanged { role, paths });
    }
}

fn take_readings(
    draft: &mut Draft,
    depth: u32,
    tree: &TreeId,
    (readings, found): (Vec<Reading>, &[GateFinding]),
) {
    let history = |draft: &Draft| {
        state(draft).frame().map(|frame| frame.steadiness.points().last().map(|point| point.label.clone()))
    };
    let before = history(draft);
    let gate = gate_findings(state(draft), depth, &readings, found);
    record(draft, ControlFact::ReadingsTaken { depth, tree: tree.clone(), readings, gate });
    if history(draft) == before {
        return;
    }
    let remarks = state(draft).frame().map(|frame| frame.remarks.clone()).unwrap_or_default();
    for remark in remarks {
        record(draft, ControlFact::Remarked { depth, remark });
    }
}

/// What readings say about the gate: fewer tests than at the base, other programs than at the base.
fn gate_findings(state: &State, depth: u32, readings: &[Reading], found: &[GateFinding]) -> Vec<GateFinding> {
    if state.spec.place.gate.is_off() {
        return Vec::new();
    }
    let fewer = state.integrity.fewer_tests(state.spec.node(depth as usize), readings);
    found.iter().cloned().chain(fewer).collect()
}

fn agent_ended(draft: &mut Draft, asked: &RunAgent, report: &AgentReport) {
    let role = report.role;
    if let WorkspaceAfter::Changed { paths } = &report.workspace {
        let why = format!("it may only read, and changed {}", paths.join(", "));
        let earlier = state(draft).attempts.failed;
        return edited(draft, role, earlier, paths.clone(), &why);
    }
    if never_began(draft, report) {
        return;
    }
    if let Some(reading) = ran_out_of_its_own_time(report) {
        let tree = asked.tree.clone().unwrap_or_else(|| TreeId::new(""));
        return take_readings(draft, depth(asked), &tree, (vec![reading.clone()], &[]));
    }
    match (treat(draft, report), &report.answer) {
        (Treated::Done, _) => {}
        (Treated::Failed(why), _) => {
            let told = with_last_words(&why, &report.last_words);
            again_or_fail(draft, role, &told, Cause::AgentKeepsFailing { role, why });
        }
        (Treated::Sound, Answer::Decision(decision)) if role == Role::Controller => {
            decided(draft, asked, decision);
        }
        (Treated::Sound, Answer::Action(action)) if role == Role::Actuator => {
            let depth = depth(asked);
            record(draft, ControlFact::ActionTaken { depth, action: action.clone() });
        }
        (Treated::Sound, Answer::Reading(reading)) if role == Role::Sensor => {
            let tree = asked.tree.clone().unwrap_or_else(|| TreeId::new(""));
            take_readings(draft, depth(asked), &tree, (vec![reading.clone()], &[]));
        }
        // The work counts, not the report about it: what was changed is seen by the snapshot.
        (Treated::Sound, _) if role == Role::Actuator && !state(draft).attempts.may_repair() => {
            let action = Action { commands_off: report.commands_off, ..Action::default() };
            record(draft, ControlFact::ActionTaken { depth: depth(asked), action });
        }
        (Treated::Sound, answer) => unreadable(draft, role, faults(answer, role)),
    }
}

/// What the engine reads of an agent that is a sensor and did not end within the limit of its own file.
fn ran_out_of_its_own_time(report: &AgentReport) -> Option<&Reading> {
    match &report.answer {
        Answer::Reading(reading) if report.role == Role::Sensor && report.trouble.is_none() => {
            let failed =
                reading.status == ReadingStatus::Fail && reading.cause.as_deref() == Some(TIME_LIMIT);
            (report.end == StepEnd::TotalLimit && failed).then_some(reading)
        }
        _ => None,
    }
}

fn depth(asked: &RunAgent) -> u32 {
    asked.node.as_ref().map_or(0, |node| node.depth)
}

fn decided(draft: &mut Draft, asked: &RunAgent, decision: &Decision) {
    if !decision.target_met && decision.plan.is_none() {
        let fault = "target-met is false and there is no action plan: say what is to be done".to_string();
        return unreadable(draft, Role::Controller, vec![fault]);
    }
    let tree = asked.tree.clone().unwrap_or_else(|| TreeId::new(""));
    record(draft, ControlFact::DecisionTaken { depth: depth(asked), tree, decision: decision.clone() });
}

fn unreadable(draft: &mut Draft, role: Role, faults: Vec<String>) {
    if state(draft).attempts.may_repair() {
        record(draft, ControlFact::RepairAsked { role, faults });
    } else {
        fail(draft, Cause::NoReadableAnswer { role, faults });
    }
}

fn again_or_fail(draft: &mut Draft, role: Role, why: &str, cause: Cause) {
    if state(draft).attempts.may_retry_checker() {
        retry(draft, Stage::of_role(role), RetryKind::Failed, why);
    } else {
        fail(draft, cause);
    }
}

/// A request to stop can end a step before its program runs; nobody has to look at that.
fn never_began(draft: &mut Draft, report: &AgentReport) -> bool {
    let role = report.role;
    match &report.end {
        StepEnd::NotStarted { .. } if draft.stop().is_some() => {
            retry(draft, Stage::of_role(role), RetryKind::Interrupted, "stopped before it began");
            true
        }
        StepEnd::NotStarted { reason } if report.trouble.is_none() => {
            needs_human(draft, Cause::AgentNotStarted { role, reason: reason.clone() });
            true
        }
        _ => false,
    }
}

fn captured(draft: &mut Draft, change: &CapturedChange) {
    let depth = state(draft).frame().map_or(0, |frame| frame.depth);
    if change.hazards.is_empty() {
        record(draft, ControlFact::ChangeTaken { depth, change: change.clone() });
    } else {
        fail(draft, Cause::Hazard { hazards: change.hazards.clone() });
    }
}

fn faults(answer: &Answer, role: Role) -> Vec<String> {
    match answer {
        Answer::Malformed { faults } => faults.clone(),
        _ => vec![format!("the {role} left no report")],
    }
}
