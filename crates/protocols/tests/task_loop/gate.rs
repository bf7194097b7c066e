//! A change that changes what measures it: findings keep a pass from counting until somebody who may waives them by name.

use crate::harness::words::{
    CHECK, STEP, change, checks_report, finding, full_spec, gated, lines, touching, verdict, waiver,
};
use crate::harness::{NO_MORE, Script};
use windlass_protocols::kernel::gate::{FindingName, Integrity, OnFindings, Waiver};
use windlass_protocols::kernel::person::Word;
use windlass_protocols::outcome::{CapturedChange, Outcome, Verdict};
use windlass_protocols::protocol::judged_task::end::{Cause, End};
use windlass_protocols::protocol::judged_task::facts::RejectedBy;
use windlass_protocols::protocol::judged_task::spec::TaskSpec;
use windlass_protocols::protocol::judged_task::stage::Stage;
use windlass_protocols::{Effect, Rejection, Role};

fn asking() -> TaskSpec {
    let mut spec = gated(full_spec());
    spec.place.gate.on_findings = OnFindings::Ask;
    spec
}

fn found(kinds: &[FindingName]) -> CapturedChange {
    CapturedChange { gate: kinds.iter().map(|kind| finding(*kind)).collect(), ..change(1, "tree-1") }
}

/// At the judge, with these findings of the snapshot.
fn at_judge(spec: TaskSpec, kinds: &[FindingName]) -> Script {
    Script::at_doer(spec).doer_answers(&[]).captured_as(found(kinds)).checks_pass()
}

fn passes_waiving(script: Script, kinds: &[FindingName]) -> Script {
    let waivers = kinds.iter().map(|kind| waiver(*kind)).collect();
    script.judge_says(Verdict { waivers, ..verdict("pass", &[]) })
}

/// A test run that counts its tests.
fn checks_count(script: Script, tests: Option<u32>) -> Script {
    let mut report = checks_report(script.waiting(), &[], STEP);
    report.results[0].tests = tests;
    script.answer(Outcome::ChecksRan(report))
}

#[test]
fn a_change_that_leaves_its_measures_alone_costs_no_step_more() {
    let script = Script::at_doer(gated(full_spec())).doer_hands_over("tree-1").checks_pass();
    script.asks(Role::Judge, 1, 1).judge("pass", &[]).waits_in(Stage::AuditChecking);
}

#[test]
fn a_touched_test_lets_the_checks_run_once_more_on_exactly_that_change() {
    let script = Script::at(Stage::Inspecting, full_spec());
    let Effect::InspectGate(asked) = script.waiting() else { panic!("{:?}", script.waiting()) };
    assert_eq!((asked.base.as_str(), asked.tree.as_str()), ("base-tree", "tree-1"));
    assert_eq!(asked.commands, lines(&[CHECK]));
    script.gate_shows(&[]).asks(Role::Judge, 1, 1);
}

#[test]
fn a_new_test_alone_is_held_to_the_base_as_well() {
    let mut added = touching(1, "tree-1");
    added.protected[0].how = windlass_protocols::kernel::gate::Touch::Added;
    let to_judge =
        |spec: TaskSpec| Script::at_doer(spec).doer_answers(&[]).captured_as(added.clone()).checks_pass();
    to_judge(gated(full_spec())).waits_in(Stage::Inspecting);
    let mut findings = full_spec();
    findings.place.gate.integrity = Integrity::Findings;
    to_judge(findings).waits_in(Stage::Inspecting);
    to_judge(full_spec()).waits_in(Stage::Judging);
}

#[test]
fn a_pass_over_an_open_finding_is_a_reject_that_names_it() {
    let script = at_judge(gated(full_spec()), &[FindingName::TestDeleted]).judge("pass", &[]);
    assert_eq!(script.state().last_rejection, Some(RejectedBy::Gate));
    assert!(
        script.state().feedback[0].starts_with("- [gate] test-deleted: "),
        "{:?}",
        script.state().feedback
    );
    script.asks(Role::Doer, 2, 1);
}

#[test]
fn every_finding_has_to_be_waived_by_its_own_name_and_with_a_reason() {
    let kinds = [FindingName::TestDeleted, FindingName::CiChanged];
    let both = passes_waiving(at_judge(gated(full_spec()), &kinds), &kinds);
    both.waits_in(Stage::AuditChecking);
    let one = passes_waiving(at_judge(gated(full_spec()), &kinds), &kinds[..1]);
    assert_eq!(one.state().feedback.len(), 1, "{:?}", one.state().feedback);
    one.asks(Role::Doer, 2, 1);
    let other = passes_waiving(at_judge(gated(full_spec()), &kinds[..1]), &kinds[1..]);
    other.asks(Role::Doer, 2, 1);
    let silent = Waiver { finding: kinds[0], reason: " ".to_owned() };
    let unreasoned = Verdict { waivers: vec![silent], ..verdict("pass", &[]) };
    at_judge(gated(full_spec()), &kinds[..1]).judge_says(unreasoned).asks(Role::Doer, 2, 1);
}

#[test]
fn what_only_shows_when_the_checks_run_has_to_be_waived_as_well() {
    let only = [FindingName::PassesOnlyWithItsOwnTests];
    let shown = || Script::at(Stage::Inspecting, full_spec()).gate_shows(&only);
    shown().judge("pass", &[]).asks(Role::Doer, 2, 1);
    passes_waiving(shown(), &only).waits_in(Stage::AuditChecking);
}

#[test]
fn fewer_tests_than_at_the_base_are_a_finding_and_as_many_are_none() {
    let run = |base: Option<u32>, now: Option<u32>| {
        let script = checks_count(Script::start(gated(full_spec())).prepared(), base);
        checks_count(script.doer_hands_over("tree-1"), now)
    };
    for (base, now, kinds) in [
        (Some(4), Some(4), 0),
        (Some(4), Some(9), 0),
        (None, Some(1), 0),
        (Some(0), None, 0),
        (Some(4), Some(3), 1),
        (Some(4), None, 1),
    ] {
        let script = run(base, now);
        assert_eq!(script.state().integrity.findings.len(), kinds, "{base:?} {now:?}");
        let judged = script.judge("pass", &[]);
        if kinds == 0 {
            judged.waits_in(Stage::AuditChecking)
        } else {
            judged.asks(Role::Doer, 2, 1)
        };
    }
}

#[test]
fn a_program_that_was_replaced_is_a_finding() {
    let script = Script::at_doer(gated(full_spec())).doer_hands_over("tree-1");
    let mut report = checks_report(script.waiting(), &[], STEP);
    report.gate = vec![finding(FindingName::CheckReplacedOnPath)];
    script.answer(Outcome::ChecksRan(report)).judge("pass", &[]).asks(Role::Doer, 2, 1);
}

#[test]
fn what_a_round_was_told_and_waived_counts_for_that_round_alone() {
    let kinds = [FindingName::TestDeleted];
    let script = passes_waiving(at_judge(gated(full_spec()), &kinds), &kinds).checks_pass();
    let script = script.auditor("fail", &["- no"]).doer_answers(&[]);
    let again = CapturedChange { gate: vec![finding(kinds[0])], ..change(2, "tree-2") };
    script.captured_as(again).checks_pass().judge("pass", &[]).asks(Role::Doer, 3, 1);
}

#[test]
fn a_person_who_is_asked_can_waive_and_the_round_goes_on_where_it_stood() {
    let kinds = [FindingName::TestDeleted, FindingName::LockChanged];
    let script = at_judge(asking(), &kinds).judge("pass", &[]);
    let open: Vec<FindingName> = match &script.state().end {
        Some(End::NeedsHuman { cause: Cause::GateFindings { findings } }) => {
            findings.iter().map(|finding| finding.kind).collect()
        }
        other => panic!("{other:?}"),
    };
    assert_eq!(open, kinds);
    let mut script = script.closed();
    let refused = script.observe(crate::harness::said(Word::Waive(waiver(FindingName::CiChanged))));
    assert!(matches!(refused, Err(Rejection::NotAsked { .. })), "{refused:?}");
    let script = script.person_says(Word::Waive(waiver(kinds[0])));
    assert!(script.run().ended, "one is still open");
    let script = script.person_says(Word::Waive(waiver(kinds[1]))).waits_in(Stage::AuditChecking);
    script.checks_pass().auditor("pass", &[]).waits_in(Stage::Landing);
}

#[test]
fn whoever_goes_on_without_waiving_gets_another_round_with_the_findings_as_feedback() {
    let script = at_judge(asking(), &[FindingName::TestDeleted]).judge("pass", &[]).closed();
    let script = script.reopened(NO_MORE, Some("put the test back"));
    assert!(script.state().feedback[0].contains("test-deleted"), "{:?}", script.state().feedback);
    assert_eq!(script.state().feedback[1], "- [human] put the test back");
    script.asks(Role::Doer, 2, 1);
}

#[test]
fn nobody_can_waive_what_nobody_asked_about() {
    let mut script = at_judge(gated(full_spec()), &[]).judge("needs-human", &["- unclear"]).closed();
    let refused = script.observe(crate::harness::said(Word::Waive(waiver(FindingName::TestDeleted))));
    assert!(matches!(refused, Err(Rejection::NotAsked { .. })), "{refused:?}");
}
