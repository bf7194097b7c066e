//! A builder that changes what measures it: its item is committed only when the checks pass without that too, and when
//! somebody who may has waived every finding by its name. What the loop forbids anyway stays forbidden.

use crate::script::{Script, approve, hand_back};
use crate::words::{
    BASE_TREE, NO_MORE, STEP, artifact, at, built, finding as loop_finding, lines, one, pass, spec, two,
    waiving,
};
use windlass_protocols::effect::Effect;
use windlass_protocols::inbox::waiting;
use windlass_protocols::kernel::budget::{CapChange, Dimension};
use windlass_protocols::kernel::gate::{
    FindingName, GateFinding, GateReport, GateRules, Integrity, OnFindings, PathKind, Touch, TouchedPath,
    Waiver,
};
use windlass_protocols::kernel::person::Word;
use windlass_protocols::outcome::{CapturedChange, FindingKind, Outcome};
use windlass_protocols::protocol::goal_contract::end::{Cap, Cause, End};
use windlass_protocols::protocol::goal_contract::facts::{Ending, RejectedBy};
use windlass_protocols::protocol::goal_contract::queue::{Autonomy, Queue};
use windlass_protocols::protocol::goal_contract::spec::GoalSpec;
use windlass_protocols::{Observation, Rejection, Role};

const SKIPPED: FindingName = FindingName::TestSkipped;
const OWN_TESTS: FindingName = FindingName::PassesOnlyWithItsOwnTests;

fn gated() -> GoalSpec {
    let mut spec = spec();
    spec.place.gate = GateRules { integrity: Integrity::Full, ..GateRules::default() };
    spec
}

fn asking() -> GoalSpec {
    let mut spec = gated();
    spec.place.gate.on_findings = OnFindings::Ask;
    spec
}

fn finding(kind: FindingName) -> GateFinding {
    GateFinding { kind, about: lines(&["tests/a.sh"]) }
}

fn touches(how: Touch) -> impl Fn(&mut CapturedChange) {
    move |change| {
        let path = "tests/a.sh".to_owned();
        change.protected = vec![TouchedPath { path, kind: PathKind::Test, how: how.clone() }];
    }
}

fn skips_a_test(change: &mut CapturedChange) {
    touches(Touch::Modified)(change);
    change.gate = vec![finding(SKIPPED)];
}

fn built_so(spec: GoalSpec, files: Queue, bend: impl FnOnce(&mut CapturedChange)) -> Script {
    Script::with(spec, files).leaves(built()).captured_as("tree-1", bend).green()
}

fn inspected(script: Script, kinds: &[FindingName]) -> Script {
    let Effect::InspectGate(asked) = script.waiting() else {
        panic!("no inspection is waited for, but {}", script.waiting().name());
    };
    let report = GateReport {
        tree: asked.tree.clone(),
        ran_with_base: asked.commands.clone(),
        findings: kinds.iter().map(|kind| finding(*kind)).collect(),
        new_tests: Vec::new(),
        evidence: vec![artifact("gate.json")],
        usage: STEP,
        red: Vec::new(),
    };
    script.answer(Outcome::GateInspected(Box::new(report)))
}

fn waive(finding: FindingName) -> Word {
    Word::Waive(Waiver { finding, reason: "as asked".to_owned() })
}

fn rejected_over(script: &Script) -> (RejectedBy, String, String, Vec<String>) {
    let Some(Ending::Rework { by, key, cause, issues }) = script.endings().last() else {
        panic!("no rework: {:?}", script.endings());
    };
    (*by, key.clone(), cause.clone(), issues.clone())
}

#[test]
fn a_change_that_leaves_its_measures_alone_costs_no_step_more() {
    let script = Script::with(gated(), one()).accepted("tree-1").read().ends(&End::Success);
    assert_eq!(script.times("gate-inspected"), 0);
}

#[test]
fn a_touched_test_lets_all_checks_run_without_it_before_the_evaluator_looks() {
    let mut spec = gated();
    spec.pre_commit = lines(&["make lint"]);
    let files = two();
    let script = Script::with(spec, files).passed("tree-1").pre_checked(0).committed().read();
    let script = script.leaves(built()).captured_as("tree-2", touches(Touch::Modified)).green();
    // A red pre-commit check decides without asking anybody; a green one says something about the gate only then.
    let script = script.pre_checked(0);
    let Effect::InspectGate(asked) = script.waiting() else { panic!("{:?}", script.waiting()) };
    assert_eq!((asked.base.as_str(), asked.tree.as_str()), ("tree-1", "tree-2"), "from the newest commit");
    assert_eq!(asked.commands, lines(&["make test", "make lint"]));
    let script = inspected(script, &[]).asks(Role::Evaluator, "F002");
    assert!(script.asked().inputs.contains(&artifact("gate.json")), "{:?}", script.asked().inputs);
    script.leaves(pass()).committed().read().ends(&End::Success);
}

#[test]
fn nothing_is_inspected_while_the_suite_is_red_or_the_gate_is_off_or_nothing_measures() {
    let script = Script::with(gated(), one()).leaves(built()).captured_as("tree-1", skips_a_test);
    let _ = script.red(&["t::new"], &[]).asks(Role::Evaluator, "F001");
    let script = built_so(spec(), one(), skips_a_test).asks(Role::Evaluator, "F001");
    script.leaves(pass()).committed().read().ends(&End::Success);
    let mut untested = gated();
    untested.suite = None;
    let script = Script::with(untested, at(Autonomy::L1, one())).leaves(built());
    let script = script.captured_as("tree-1", skips_a_test).asks(Role::Evaluator, "F001");
    assert_eq!(
        rejected_over(&script.leaves(pass())).0,
        RejectedBy::Gate,
        "what was read counts all the same"
    );
}

#[test]
fn the_tests_known_to_be_flaky_are_told_to_whoever_inspects() {
    let script = Script::start(gated(), one()).prepared().read().green();
    let script = script.tested(|report| report.regressions = lines(&["t::flaky"])).leaves(built());
    let script = script.captured_as("tree-1", touches(Touch::Added)).green();
    let Effect::InspectGate(asked) = script.waiting() else { panic!("{:?}", script.waiting()) };
    assert_eq!((asked.base.as_str(), &asked.flaky), (BASE_TREE, &lines(&["t::flaky"])));
}

/// A new file of tests is code that runs beside the old ones, and can keep them from running.
#[test]
fn a_new_test_alone_is_held_to_the_base_also_where_only_findings_are_wanted() {
    let mut findings = gated();
    findings.place.gate.integrity = Integrity::Findings;
    let script = inspected(built_so(findings, one(), touches(Touch::Added)), &[]);
    let _ = script.asks(Role::Evaluator, "F001");
}

#[test]
fn a_pass_over_an_open_finding_is_a_fail_with_the_finding_as_its_cause() {
    let script = inspected(built_so(gated(), one(), skips_a_test), &[OWN_TESTS]).leaves(pass());
    let (by, key, cause, issues) = rejected_over(&script);
    assert_eq!((by, key.as_str()), (RejectedBy::Gate, "gate:passes-only-with-its-own-tests,test-skipped"));
    assert!(cause.contains("test-skipped"), "{cause}");
    assert_eq!(issues, [finding(SKIPPED).words(), finding(OWN_TESTS).words()]);
    let script = script.read().asks(Role::Builder, "F001");
    assert!(script.told().iter().any(|line| line.contains("test-skipped")), "{:?}", script.told());
    // It is put back, and nothing has to be waived.
    script.passed("tree-2").committed().read().ends(&End::Success);
}

#[test]
fn the_same_finding_twice_is_for_a_person() {
    let script = inspected(built_so(gated(), one(), skips_a_test), &[]).leaves(pass()).read();
    let script = script.leaves(built()).captured_as("tree-2", skips_a_test).green();
    let cause = "nobody waived what was found about the gate: test-skipped".to_owned();
    inspected(script, &[]).leaves(pass()).escalates(Cause::SameCauseTwice { item: "F001".to_owned(), cause });
}

#[test]
fn every_finding_has_to_be_waived_by_its_own_name_and_with_a_reason() {
    let shown = || inspected(built_so(gated(), one(), skips_a_test), &[OWN_TESTS]);
    shown().leaves(waiving(&[SKIPPED, OWN_TESTS])).committed().read().ends(&End::Success);
    let partly = shown().leaves(waiving(&[SKIPPED]));
    assert_eq!(rejected_over(&partly).1, "gate:passes-only-with-its-own-tests");
    let other = shown().leaves(waiving(&[FindingName::CiChanged]));
    assert!(rejected_over(&other).1.contains("test-skipped"));
    let windlass_protocols::outcome::Answer::Evaluation(mut silent) = waiving(&[SKIPPED, OWN_TESTS]) else {
        unreachable!("a pass is an evaluation")
    };
    silent.waivers[0].reason = " ".to_owned();
    let silent = shown().leaves(windlass_protocols::outcome::Answer::Evaluation(silent));
    assert_eq!(rejected_over(&silent).1, "gate:test-skipped");
}

#[test]
fn what_was_waived_counts_for_that_change_alone() {
    let script = inspected(built_so(gated(), two(), skips_a_test), &[]).leaves(waiving(&[SKIPPED]));
    let script = script.committed().read().asks(Role::Builder, "F002");
    let script = script.leaves(built()).captured_as("tree-2", skips_a_test).green();
    let script = inspected(script, &[]).leaves(pass());
    assert_eq!(rejected_over(&script).1, "gate:test-skipped");
}

#[test]
fn a_program_that_was_replaced_is_a_finding_whoever_sees_it() {
    let replaced = || vec![finding(FindingName::CheckReplacedOnPath)];
    let script = Script::with(gated(), one()).builds("tree-1").tested(|report| report.gate = replaced());
    assert_eq!(rejected_over(&script.leaves(pass())).1, "gate:check-replaced-on-path");
    let mut spec = gated();
    spec.pre_commit = lines(&["make lint"]);
    let script = Script::with(spec, one()).passed("tree-1").pre_checked_as(|report| report.gate = replaced());
    assert_eq!(rejected_over(&script).1, "gate:check-replaced-on-path", "after the evaluator has spoken");
}

#[test]
fn a_person_is_asked_where_the_user_wants_that_and_a_waiver_commits_without_asking_anybody_again() {
    let asked = || {
        let cause = Cause::GateFindings {
            item: "F001".to_owned(),
            findings: vec![finding(SKIPPED), finding(OWN_TESTS)],
        };
        inspected(built_so(asking(), one(), skips_a_test), &[OWN_TESTS]).leaves(pass()).escalates(cause)
    };
    let mut script = asked();
    let refused = script.observe(Observation::PersonSaid { word: waive(FindingName::CiChanged) });
    assert!(matches!(refused, Err(Rejection::NotAsked { .. })), "{refused:?}");
    let script = script.says(waive(SKIPPED));
    assert!(script.run().ended, "one is still open");
    let script = script.says(waive(OWN_TESTS));
    assert_eq!(script.commit().tree.as_str(), "tree-1");
    script.committed().read().ends(&End::Success);
    // Whoever answers instead of waiving wants it put right, and the builder is told both.
    let script = asked().reopened(NO_MORE, Some("put it back"));
    assert_eq!(rejected_over(&script).0, RejectedBy::Gate);
    let script = script.read().asks(Role::Builder, "F001");
    assert!(script.told().contains(&"a person says: put it back".to_owned()), "{:?}", script.told());
    // Work that a person hands back is looked at like anybody's.
    let script = asked().says(crate::script::take_over()).says(hand_back("tree-2"));
    let script = script.captured("tree-2").green().leaves(pass());
    assert_eq!(script.commit().tree.as_str(), "tree-2");
}

#[test]
fn a_waiver_of_the_evaluator_and_one_of_a_person_count_together() {
    let script = inspected(built_so(asking(), one(), skips_a_test), &[OWN_TESTS]).leaves(waiving(&[SKIPPED]));
    let findings = vec![finding(OWN_TESTS)];
    let script = script.escalates(Cause::GateFindings { item: "F001".to_owned(), findings });
    script.says(waive(OWN_TESTS)).committed().read().ends(&End::Success);
}

#[test]
fn whoever_approves_at_l1_sees_what_was_found_and_who_let_it_be() {
    let files = || at(Autonomy::L1, one());
    let script = inspected(built_so(gated(), files(), skips_a_test), &[]).leaves(waiving(&[SKIPPED]));
    let said = waiting(script.run()).expect("it waits").said;
    assert_eq!(said, ["waived test-skipped: tests were marked to be skipped: tests/a.sh: as asked"]);
    let script = script.says(approve("tree-1")).committed();
    assert!(script.state().past[0].findings[0].contains("waived test-skipped"), "the run log tells it");
    // An approval waives nothing: what is open is asked about before.
    let script = inspected(built_so(asking(), files(), skips_a_test), &[]).leaves(pass());
    let findings = vec![finding(SKIPPED)];
    let script = script.escalates(Cause::GateFindings { item: "F001".to_owned(), findings });
    let script = script.does_not_hear(approve("tree-1"), "nothing is proposed").says(waive(SKIPPED));
    let _ = script.refuses_tree("tree-2", "tree-1").says(approve("tree-1")).committed();
}

#[test]
fn what_the_loop_forbids_anyway_cannot_be_waived() {
    let deletes = |change: &mut CapturedChange| {
        skips_a_test(change);
        change.findings = vec![loop_finding(FindingKind::TestsDeleted, "tests/a.sh")];
    };
    let script = Script::with(asking(), one()).leaves(built()).captured_as("tree-1", deletes);
    assert_eq!(rejected_over(&script).0, RejectedBy::TestsDeleted);
    let script = Script::with(asking(), one()).leaves(built()).captured_as("tree-1", skips_a_test);
    assert_eq!(rejected_over(&script.red(&[], &["t::old"])).0, RejectedBy::Regression);
}

#[test]
fn nobody_can_waive_what_nobody_asked_about() {
    let script = inspected(built_so(gated(), one(), skips_a_test), &[]).leaves(waiving(&[SKIPPED]));
    let script = script.committed().read().ends(&End::Success);
    script.does_not_hear(waive(SKIPPED), "it does not wait with findings about the gate");
}

#[test]
fn an_inspection_that_used_up_the_run_says_nothing_and_is_asked_for_again() {
    let mut spec = gated();
    spec.caps.tokens = Some(50);
    let script = inspected(built_so(spec, one(), skips_a_test), &[OWN_TESTS]);
    assert_eq!(script.times("gate-inspected"), 0);
    let script = script.killed_by(Cap::Used { dimension: Dimension::Tokens });
    let script = script.reopened(CapChange { more_tokens: 100, ..NO_MORE }, None);
    inspected(script, &[]).leaves(waiving(&[SKIPPED])).committed().read().ends(&End::Success);
}
