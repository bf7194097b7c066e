//! What planners, builders and evaluators come back with, and what their trouble means. An agent claims; what counts is
//! held against what the engine measured.

use super::asking::one_line;
use super::decide::{end_iteration, red_suite, retry, rework};
use super::end::{Cap, Cause, End};
use super::facts::{Ending, Fact as GoalFact, OutKind, RejectedBy, RetryKind};
use super::integrity;
use super::next::{conclude, escalate, record, state};
use super::stage::Stage;
use crate::draft::Draft;
use crate::kernel::availability::Available;
use crate::kernel::trouble::{Situation, Treatment, treatment, with_last_words};
use crate::outcome::{AgentReport, Answer, DesignReport, Evaluation, StepEnd, Trouble, WorkspaceAfter};
use crate::vocabulary::Role;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec;
use alloc::vec::Vec;

pub(super) fn agent_ended(draft: &mut Draft, report: &AgentReport) {
    let role = report.role;
    if let Some(Trouble::Destructive { command }) = &report.trouble {
        let command = one_line(command);
        end_iteration(
            draft,
            Ending::Escalated { why: format!("the {role} ran a destructive command: {command}") },
        );
        return conclude(draft, End::HardKill { cap: Cap::Destructive { command } });
    }
    if let WorkspaceAfter::Changed { paths } = &report.workspace {
        return edited(draft, role, paths);
    }
    if never_began(draft, report) {
        return;
    }
    match (treat(draft, report), &report.answer) {
        (Treated::Done, _) => {}
        (Treated::Failed(why), _) => {
            let why = with_last_words(&why, &report.last_words);
            match role {
                Role::Builder => record(draft, GoalFact::BuildFailed { why }),
                _ => again(draft, role, vec![why]),
            }
        }
        (Treated::Sound, Answer::Build(build)) if role == Role::Builder => {
            record(draft, GoalFact::BuildTaken { report: build.clone() });
        }
        (Treated::Sound, Answer::Evaluation(evaluation)) if role == Role::Evaluator => {
            evaluated(draft, evaluation);
        }
        (Treated::Sound, Answer::Design(design)) if role == Role::Planner => designed(draft, design),
        (Treated::Sound, answer) => unreadable(draft, role, faults(answer, role)),
    }
}

/// What was said about a tree that its reader changed counts for nothing; once may be an accident.
fn edited(draft: &mut Draft, role: Role, paths: &[String]) {
    if state(draft).attempts.failed == 0 {
        let why = format!("it may only read, and changed {}", paths.join(", "));
        retry(draft, Stage::of_role(role), RetryKind::Failed, &why);
    } else {
        let item = item(draft);
        escalate(draft, Cause::WorkspaceChanged { item, role, paths: paths.to_vec() });
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
            escalate(draft, Cause::AgentNotStarted { role, reason: reason.clone() });
            true
        }
        _ => false,
    }
}

enum Treated {
    Done,
    Failed(String),
    Sound,
}

fn treat(draft: &mut Draft, report: &AgentReport) -> Treated {
    let role = report.role;
    let before = state(draft);
    let situation = Situation {
        attempts: before.attempts,
        patience: before.spec.patience,
        chain: u32::try_from(before.spec.place.chain(role).count()).unwrap_or(1),
        now: draft.now(),
    };
    match treatment(report, situation) {
        Treatment::Sound => return Treated::Sound,
        Treatment::Failed(why) => return Treated::Failed(why),
        Treatment::KeepsFailing(why) => escalate(draft, Cause::AgentKeepsFailing { role, why }),
        Treatment::Exhausted(dimension) => conclude(draft, End::HardKill { cap: Cap::Used { dimension } }),
        Treatment::Out { until, kind, why } => {
            let asked = before.session.as_ref().filter(|last| last.role == role);
            let agent = asked.map(|last| last.agent.clone()).unwrap_or_default();
            record(draft, GoalFact::AgentOut { role, agent, until, kind, why: why.clone() });
            let state = state(draft);
            let chain = state.spec.place.chain(role);
            if kind == OutKind::Misconfigured
                && state.availability.choose(chain, draft.now()) == Available::Never
            {
                escalate(draft, Cause::AgentNotStarted { role, reason: why });
            }
        }
    }
    Treated::Done
}

/// The evaluator's word, held against the suite and against what was found about the gate: a pass over red tests is none, nor
/// is one over a finding that it did not waive by its name.
fn evaluated(draft: &mut Draft, evaluation: &Evaluation) {
    let Some(open) = &state(draft).open else { return };
    let (item, tree) = (open.item.clone(), open.tree().clone());
    let red = open.suite.as_ref().filter(|suite| !suite.is_green()).map(red_suite);
    let artifact = Some(evaluation.artifact.clone());
    match (&evaluation.cause, red) {
        (_, Some((key, cause))) if evaluation.pass => {
            let cause = format!("{cause}; the evaluator said PASS over it");
            rework(draft, RejectedBy::Tests, key, cause, Vec::new());
        }
        (_, _) if evaluation.pass => {
            let findings = integrity::not_waived(state(draft), &evaluation.waivers);
            if !findings.is_empty() {
                return integrity::refuse(draft, &findings);
            }
            let (why, waivers) = (String::new(), evaluation.waivers.clone());
            record(draft, GoalFact::VerdictTaken { item, tree, pass: true, why, artifact, waivers });
        }
        (Some(cause), _) => {
            let (key, why) = (cause.key.clone(), one_line(&cause.text));
            let (said, waivers) = (why.clone(), Vec::new());
            record(draft, GoalFact::VerdictTaken { item, tree, pass: false, why: said, artifact, waivers });
            rework(draft, RejectedBy::Evaluator, key, why, evaluation.issues.clone());
        }
        (None, _) => {
            let fault = "a FAIL needs a cause: its category, its location and one line".to_string();
            unreadable(draft, Role::Evaluator, vec![fault]);
        }
    }
}

fn designed(draft: &mut Draft, design: &DesignReport) {
    if design.paths.is_empty() {
        let fault = "the design names no file: say which files the item creates or changes".to_string();
        return unreadable(draft, Role::Planner, vec![fault]);
    }
    let item = item(draft);
    record(draft, GoalFact::DesignTaken { item, design: design.clone() });
}

/// Sent back once; a builder's attempt is then over, anybody else is asked afresh once more.
fn unreadable(draft: &mut Draft, role: Role, faults: Vec<String>) {
    if state(draft).attempts.may_repair() {
        return record(draft, GoalFact::RepairAsked { role, faults });
    }
    match role {
        Role::Builder => {
            let why = format!("left no readable report: {}", faults.join("; "));
            record(draft, GoalFact::BuildFailed { why });
        }
        _ => again(draft, role, faults),
    }
}

fn again(draft: &mut Draft, role: Role, faults: Vec<String>) {
    if state(draft).attempts.failed == 0 {
        return retry(draft, Stage::of_role(role), RetryKind::Failed, &faults.join("; "));
    }
    let item = item(draft);
    match role {
        Role::Planner => escalate(draft, Cause::NoDesign { item, faults }),
        _ => escalate(draft, Cause::NoVerdict { item, faults }),
    }
}

fn item(draft: &Draft) -> String {
    state(draft).open.as_ref().map(|open| open.item.clone()).unwrap_or_default()
}

fn faults(answer: &Answer, role: Role) -> Vec<String> {
    match answer {
        Answer::Malformed { faults } => faults.clone(),
        _ => vec![format!("the {role} left no report")],
    }
}
