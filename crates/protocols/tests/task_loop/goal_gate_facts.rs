//! Examples of every fact of the goal loop that came with the integrity of its gate, for the stored form.

use crate::goal_facts::goal_spec;
use crate::harness::words::{STEP, agent_report, artifact, finding, gate_report, lines, waiver};
use windlass_protocols::effect::{Effect, InspectGate, StepLimits, SuitePurpose};
use windlass_protocols::fact::FACT_VERSION;
use windlass_protocols::kernel::gate::{FindingName, GateRules, Integrity};
use windlass_protocols::outcome::{Answer, Evaluation, Outcome, StepEnd, SuiteReport};
use windlass_protocols::protocol::Spec;
use windlass_protocols::protocol::goal_contract::end::{Cause, End};
use windlass_protocols::protocol::goal_contract::facts::{Ending, Fact as GoalFact, RejectedBy, RetryKind};
use windlass_protocols::protocol::goal_contract::stage::Stage;
use windlass_protocols::{Actor, EffectId, Fact, Millis, Role, RunId, TreeId};

pub(crate) fn examples() -> Vec<Fact> {
    let mut spec = goal_spec();
    spec.place.gate = GateRules { integrity: Integrity::Full, ..GateRules::default() };
    let tree = || TreeId::new("tree-1");
    let request = Effect::InspectGate(InspectGate {
        round: 1,
        base: TreeId::new("base-tree"),
        tree: tree(),
        commands: lines(&["make test", "make lint"]),
        red_at_base: Vec::new(),
        flaky: lines(&["t::flaky"]),
        unmeasured: false,
        limits: StepLimits {
            total: Millis(1),
            idle: None,
            output_bytes: None,
            tokens: None,
            cost_micros: None,
        },
    });
    let report = gate_report(&request, &[FindingName::PassesOnlyWithItsOwnTests], STEP);
    let suite = SuiteReport {
        purpose: SuitePurpose::Item,
        tree: tree(),
        end: StepEnd::Exited { code: 0 },
        passed: 3,
        total: 3,
        failing: Vec::new(),
        regressions: Vec::new(),
        list: None,
        log: artifact("tests.log"),
        usage: STEP,
        gate: vec![finding(FindingName::CheckReplacedOnPath)],
    };
    let evaluation = Evaluation {
        pass: true,
        cause: None,
        issues: Vec::new(),
        artifact: artifact("evaluation.json"),
        waivers: vec![waiver(FindingName::TestSkipped)],
    };
    let answered =
        agent_report(Role::Evaluator, StepEnd::Exited { code: 0 }, Answer::Evaluation(evaluation), STEP);
    let mut facts = vec![
        Fact::RunStarted {
            version: FACT_VERSION,
            run: RunId::new("run-3"),
            by: Actor::Human("ada".to_owned()),
            spec: Spec::GoalContract(Box::new(spec)),
        },
        Fact::EffectRequested { effect: EffectId(3), request },
        Fact::EffectSettled { effect: EffectId(2), outcome: Outcome::SuiteRan(Box::new(suite.clone())) },
        Fact::EffectSettled { effect: EffectId(4), outcome: Outcome::from(answered) },
    ];
    facts.extend(decided(suite, report).map(Fact::GoalContract));
    facts
}

fn decided(suite: SuiteReport, report: windlass_protocols::kernel::gate::GateReport) -> [GoalFact; 7] {
    let (item, tree) = (|| "F001".to_owned(), || TreeId::new("tree-1"));
    let gate = || vec![finding(FindingName::TestSkipped)];
    [
        GoalFact::TestsTaken { suite },
        GoalFact::GateInspected { report },
        GoalFact::VerdictTaken {
            item: item(),
            tree: tree(),
            pass: true,
            why: String::new(),
            artifact: Some(artifact("evaluation.json")),
            waivers: vec![waiver(FindingName::TestSkipped)],
        },
        GoalFact::PreCommitPassed { tree: tree(), evidence: Vec::new(), gate: gate() },
        GoalFact::IterationEnded {
            iteration: 1,
            item: item(),
            result: Ending::Rework {
                by: RejectedBy::Gate,
                key: "gate:test-skipped".to_owned(),
                cause: "nobody waived it".to_owned(),
                issues: Vec::new(),
            },
            at: Millis(1_700_000_000_000),
        },
        GoalFact::StepRetried { stage: Stage::Inspecting, why: "gone".to_owned(), kind: RetryKind::Lost },
        GoalFact::Concluded {
            end: End::Escalated { cause: Cause::GateFindings { item: item(), findings: gate() } },
        },
    ]
}
