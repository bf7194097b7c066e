//! Answers that look like answers and are none: of another kind, another role, another tree, another count. Each must
//! be refused and change nothing.

use crate::answers::artifact;
use crate::choices::Choices;
use windlass_protocols::effect::{Measure, Purpose, RunChecks, RunSuite, SuitePurpose};
use windlass_protocols::kernel::gate::GateReport;
use windlass_protocols::outcome::{
    AgentReport, Answer, CapturedChange, CheckResult, ChecksReport, LandedCommit, Measured, StepEnd,
    SuiteReport, Usage, WorkspaceAfter,
};
use windlass_protocols::{CommitId, Effect, EffectId, Millis, Outcome, Role, TreeId};

pub(crate) fn misfit(choices: &mut Choices, effect: EffectId, request: &Effect) -> Outcome {
    match request {
        Effect::PrepareWorkspaces
        | Effect::Wait(_)
        | Effect::CommitIteration(_)
        | Effect::ReadQueue { .. }
        | Effect::CommitItem(_)
        | Effect::Plane(_) => Outcome::Closed,
        Effect::RunChecks(asked) => checks(choices, effect, asked),
        Effect::RunAgent(asked) => {
            let role = match asked.role {
                Role::Doer => Role::Judge,
                Role::Judge => Role::Auditor,
                Role::Auditor => Role::Doer,
                Role::Sensor => Role::Controller,
                Role::Controller => Role::Actuator,
                Role::Actuator => Role::Sensor,
                Role::Planner => Role::Builder,
                Role::Builder => Role::Evaluator,
                Role::Evaluator => Role::Planner,
                Role::Implementer => Role::Reviewer,
                Role::Reviewer => Role::Investigator,
                Role::Investigator => Role::Implementer,
            };
            Outcome::from(AgentReport {
                role,
                end: StepEnd::Exited { code: 0 },
                answer: Answer::Missing,
                workspace: WorkspaceAfter::Unchanged,
                evidence: Vec::new(),
                usage: Usage::default(),
                trouble: None,
                session: None,
                model: None,
                last_words: String::new(),
                commands_off: false,
            })
        }
        Effect::CaptureChange { round } => Outcome::ChangeCaptured(CapturedChange {
            round: round + 1,
            tree: TreeId::new("tree-of-another-round"),
            files_changed: 1,
            fingerprint: None,
            hazards: Vec::new(),
            patch: artifact("change.patch", effect),
            reverted: Vec::new(),
            left_out: Vec::new(),
            findings: Vec::new(),
            protected: Vec::new(),
            gate: Vec::new(),
        }),
        Effect::InspectGate(_) => Outcome::GateInspected(Box::new(GateReport {
            tree: TreeId::new("tree-of-another-round"),
            ran_with_base: Vec::new(),
            findings: Vec::new(),
            new_tests: Vec::new(),
            evidence: Vec::new(),
            usage: Usage::default(),
            red: Vec::new(),
        })),
        Effect::Measure(asked) => measured(choices, asked),
        Effect::RunSuite(asked) => suite(choices, effect, asked),
        Effect::LandChange(asked) => {
            if choices.once_in(2) {
                return Outcome::Closed;
            }
            Outcome::Landed(LandedCommit {
                commit: CommitId::new("commit-of-something-else"),
                tree: TreeId::new(format!("{} with a little more", asked.tree)),
                reference: "somewhere".to_owned(),
            })
        }
        Effect::CloseRun(_) => Outcome::Refused { reason: "no room for the summary".to_owned() },
    }
}

fn checks(choices: &mut Choices, effect: EffectId, asked: &RunChecks) -> Outcome {
    let mut report = ChecksReport {
        purpose: asked.purpose,
        tree: asked.tree.clone(),
        results: asked.commands.iter().map(|command| green(command)).collect(),
        evidence: vec![artifact("results.json", effect)],
        usage: Usage::default(),
        gate: Vec::new(),
    };
    match choices.below(4) {
        0 => report.tree = TreeId::new("tree-of-another-round"),
        1 => drop(report.results.pop()),
        2 => {
            report.purpose = match asked.purpose {
                Purpose::Baseline => Purpose::Acceptance,
                Purpose::Acceptance => Purpose::Audit,
                Purpose::Audit => Purpose::Baseline,
            }
        }
        _ => report.results[0] = green("true"),
    }
    Outcome::ChecksRan(report)
}

/// Of another tree, or of other sensors.
fn measured(choices: &mut Choices, asked: &Measure) -> Outcome {
    let tree = if choices.once_in(2) { TreeId::new("tree-of-another-iteration") } else { asked.tree.clone() };
    Outcome::Measured(Measured { tree, readings: Vec::new(), usage: Usage::default(), gate: Vec::new() })
}

/// Of another tree, or for another purpose.
fn suite(choices: &mut Choices, effect: EffectId, asked: &RunSuite) -> Outcome {
    let elsewhere = choices.once_in(2);
    let tree = if elsewhere { TreeId::new("tree-of-another-iteration") } else { asked.tree.clone() };
    let purpose = match asked.purpose {
        same if elsewhere => same,
        SuitePurpose::Baseline => SuitePurpose::BaselineAgain,
        SuitePurpose::BaselineAgain => SuitePurpose::Item,
        SuitePurpose::Item => SuitePurpose::Baseline,
    };
    Outcome::SuiteRan(Box::new(SuiteReport {
        purpose,
        tree,
        end: StepEnd::Exited { code: 0 },
        passed: 1,
        total: 1,
        failing: Vec::new(),
        regressions: Vec::new(),
        list: None,
        log: artifact("tests.log", effect),
        usage: Usage::default(),
        gate: Vec::new(),
    }))
}

fn green(command: &str) -> CheckResult {
    CheckResult {
        command: command.to_owned(),
        end: StepEnd::Exited { code: 0 },
        tail: String::new(),
        duration: Millis(1),
        tests: None,
    }
}
