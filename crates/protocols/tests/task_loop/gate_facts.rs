//! Examples of every fact that came with the integrity of the gate, for the stored form.

use crate::harness::words::{
    STEP, agent_report, artifact, change, finding, full_spec, gate_report, gated, lines, verdict, waiver,
};
use windlass_protocols::effect::{Effect, InspectGate, Purpose, StepLimits};
use windlass_protocols::fact::FACT_VERSION;
use windlass_protocols::kernel::gate::{
    FindingName, NewTests, NewTestsSay, OnFindings, PathKind, TestCount, Touch, TouchedPath,
};
use windlass_protocols::kernel::person::Word;
use windlass_protocols::outcome::{
    Answer, CapturedChange, CheckResult, ChecksReport, Decision, GateReport, Measured, Outcome, Reading,
    ReadingStatus, StepEnd, Verdict, VerdictWord,
};
use windlass_protocols::protocol::Spec;
use windlass_protocols::protocol::feedback_control::end::{Cause as ControlCause, End as ControlEnd};
use windlass_protocols::protocol::feedback_control::facts::{Fact as ControlFact, RetryKind};
use windlass_protocols::protocol::feedback_control::stage::Stage as ControlStage;
use windlass_protocols::protocol::judged_task::end::{Cause, End};
use windlass_protocols::protocol::judged_task::facts::{Fact as TaskFact, RejectedBy, Source};
use windlass_protocols::protocol::judged_task::stage::Stage;
use windlass_protocols::{Actor, EffectId, Fact, Millis, Role, RunId, TreeId};

pub(crate) fn examples() -> Vec<Fact> {
    let spec = || {
        let mut spec = gated(full_spec());
        spec.place.gate.on_findings = OnFindings::Ask;
        spec.place.gate.protected = lines(&["schema/**"]);
        spec.place.gate.unprotected = lines(&["Cargo.lock"]);
        spec
    };
    let touches = [
        (PathKind::Test, Touch::Added),
        (PathKind::Check, Touch::Modified),
        (PathKind::Ci, Touch::Deleted),
        (PathKind::Configuration, Touch::Renamed { from: "old.toml".to_owned() }),
        (PathKind::Manifest, Touch::Modified),
        (PathKind::Lock, Touch::Modified),
        (PathKind::Named, Touch::Modified),
    ];
    let paths = touches.map(|(kind, how)| TouchedPath { path: "a".to_owned(), kind, how });
    let captured = CapturedChange {
        protected: paths.to_vec(),
        gate: FindingName::ALL.map(finding).to_vec(),
        ..change(1, "tree-1")
    };
    let asked = InspectGate {
        round: 1,
        base: TreeId::new("base-tree"),
        tree: TreeId::new("tree-1"),
        commands: lines(&["make test"]),
        red_at_base: lines(&["make test"]),
        flaky: Vec::new(),
        unmeasured: false,
        limits: StepLimits {
            total: Millis(1),
            idle: None,
            output_bytes: None,
            tokens: None,
            cost_micros: None,
        },
    };
    let request = Effect::InspectGate(asked);
    let mut report = gate_report(&request, &FindingName::ALL, STEP);
    // It was not said then.
    report.ran_with_base = Vec::new();
    let say = [NewTestsSay::PassesWithoutTheChange, NewTestsSay::RedAtTheBaseAnyway];
    report.new_tests.extend(say.map(|say| NewTests { command: "make test".to_owned(), say }));
    let result = CheckResult {
        command: "make test".to_owned(),
        end: StepEnd::Exited { code: 0 },
        tail: String::new(),
        duration: Millis(1),
        tests: Some(3),
    };
    let checks = ChecksReport {
        purpose: Purpose::Acceptance,
        tree: TreeId::new("tree-1"),
        results: vec![result],
        evidence: Vec::new(),
        usage: STEP,
        gate: vec![finding(FindingName::CheckReplacedOnPath)],
    };
    let waivers = || vec![waiver(FindingName::FewerTests)];
    let said = Verdict { waivers: waivers(), ..verdict("pass", &[]) };
    let by = || Actor::Human("ada".to_owned());
    let of_control = of_the_control_loop(&report);
    let cause = Cause::GateFindings { findings: vec![finding(FindingName::TestSkipped)] };
    vec![
        Fact::RunStarted {
            version: FACT_VERSION,
            run: RunId::new("run-1"),
            spec: Spec::JudgedTask(Box::new(spec())),
            by: by(),
        },
        Fact::EffectSettled { effect: EffectId(1), outcome: Outcome::ChangeCaptured(captured) },
        Fact::EffectSettled { effect: EffectId(2), outcome: Outcome::ChecksRan(checks) },
        Fact::EffectRequested { effect: EffectId(3), request },
        Fact::EffectSettled {
            effect: EffectId(3),
            outcome: Outcome::GateInspected(Box::new(report.clone())),
        },
        Fact::EffectSettled {
            effect: EffectId(4),
            outcome: Outcome::from(agent_report(
                Role::Judge,
                StepEnd::Exited { code: 0 },
                Answer::Verdict(said),
                STEP,
            )),
        },
        Fact::JudgedTask(TaskFact::BaselineMeasured {
            red: Vec::new(),
            evidence: Vec::new(),
            tests: vec![TestCount { command: "make test".to_owned(), ran: 4 }],
        }),
        Fact::JudgedTask(TaskFact::ChecksPassed {
            stage: Stage::Inspecting,
            tree: TreeId::new("tree-1"),
            evidence: Vec::new(),
            gate: vec![finding(FindingName::FewerTests)],
        }),
        Fact::JudgedTask(TaskFact::GateInspected { report }),
        Fact::JudgedTask(TaskFact::VerdictTaken {
            role: Role::Judge,
            word: VerdictWord::Pass,
            tree: TreeId::new("tree-1"),
            source: Source::Agent { artifact: artifact("verdict.json") },
            feedback: Vec::new(),
            waivers: waivers(),
        }),
        Fact::JudgedTask(TaskFact::RoundRejected {
            round: 1,
            by: RejectedBy::Gate,
            feedback: lines(&["- [gate] no"]),
        }),
        Fact::JudgedTask(TaskFact::Concluded { end: End::NeedsHuman { cause } }),
        Fact::PersonSaid { by: by(), word: Word::Waive(waiver(FindingName::TestSkipped)) },
    ]
    .into_iter()
    .chain(of_control)
    .collect()
}

fn of_the_control_loop(report: &GateReport) -> Vec<Fact> {
    let gate = || vec![finding(FindingName::FewerTests)];
    let tree = || TreeId::new("tree-1");
    let reading = Reading {
        sensor: "tests".to_owned(),
        status: ReadingStatus::Pass,
        required: true,
        cause: None,
        metrics: Vec::new(),
        edited: Vec::new(),
        artifact: artifact("sensor-tests-output.md"),
        log: None,
        tests: Some(3),
    };
    let decision = Decision {
        target_met: true,
        plan: None,
        summary: "done".to_owned(),
        artifact: artifact("controller-output.md"),
        waivers: vec![waiver(FindingName::FewerTests)],
    };
    let measured = Measured { tree: tree(), readings: vec![reading.clone()], usage: STEP, gate: gate() };
    let cause = ControlCause::GateFindings { findings: gate() };
    let facts = [
        ControlFact::ReadingsTaken { depth: 0, tree: tree(), readings: vec![reading], gate: gate() },
        ControlFact::GateInspected { depth: 0, report: report.clone() },
        ControlFact::DecisionTaken { depth: 0, tree: tree(), decision },
        ControlFact::ClaimRefused { depth: 0, failing: Vec::new(), gate: gate() },
        ControlFact::StepRetried {
            stage: ControlStage::Inspecting,
            why: "it was interrupted".to_owned(),
            kind: RetryKind::Interrupted,
        },
        ControlFact::Concluded { end: ControlEnd::NeedsHuman { cause } },
    ];
    std::iter::once(Fact::EffectSettled { effect: EffectId(5), outcome: Outcome::Measured(measured) })
        .chain(facts.map(Fact::FeedbackControl))
        .collect()
}
