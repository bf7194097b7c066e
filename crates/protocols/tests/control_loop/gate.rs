//! An actuator that changes what measures it: the target counts as met only when the sensors pass without that too, and when
//! somebody who may has waived every finding by its name.

use crate::script::{Script, reopen};
use crate::words::{
    BASE_TREE, NO_MORE, STEP, artifact, command, flat, lines, met, nested, of, optional, prose, reading,
};
use windlass_protocols::effect::{Effect, InspectGate};
use windlass_protocols::kernel::budget::Dimension;
use windlass_protocols::kernel::gate::{
    FindingName, GateFinding, GateReport, GateRules, Integrity, OnFindings, PathKind, Touch, TouchedPath,
    Waiver,
};
use windlass_protocols::kernel::person::Word;
use windlass_protocols::outcome::{Answer, CapturedChange, Measured, Outcome, ReadingStatus};
use windlass_protocols::protocol::feedback_control::end::{Cause, End, NodeEnd};
use windlass_protocols::protocol::feedback_control::spec::{ControlSpec, Keep, OnError};
use windlass_protocols::{Observation, Rejection, Role};

const DELETED: FindingName = FindingName::TestDeleted;
const OWN_TESTS: FindingName = FindingName::PassesOnlyWithItsOwnTests;

fn gated(mut spec: ControlSpec) -> ControlSpec {
    spec.place.gate = GateRules { integrity: Integrity::Full, ..GateRules::default() };
    spec
}

fn asking(spec: ControlSpec) -> ControlSpec {
    let mut spec = gated(spec);
    spec.place.gate.on_findings = OnFindings::Ask;
    spec
}

fn finding(kind: FindingName) -> GateFinding {
    GateFinding { kind, about: lines(&["tests/a.sh"]) }
}

fn touches(how: Touch) -> impl Fn(&mut CapturedChange) {
    move |change| {
        change.protected =
            vec![TouchedPath { path: "tests/a.sh".to_owned(), kind: PathKind::Test, how: how.clone() }];
    }
}

fn deletes_a_test(change: &mut CapturedChange) {
    touches(Touch::Deleted)(change);
    change.gate = vec![finding(DELETED)];
}

fn waiving(kinds: &[FindingName]) -> Answer {
    let Answer::Decision(mut decision) = met() else { unreachable!("a claim is a decision") };
    let waiver = |finding: &FindingName| Waiver { finding: *finding, reason: "as asked".to_owned() };
    decision.waivers = kinds.iter().map(waiver).collect();
    Answer::Decision(decision)
}

fn inspected(script: Script, kinds: &[FindingName]) -> Script {
    let Effect::InspectGate(asked) = script.waiting() else {
        panic!("no inspection is waited for, but {}", script.waiting().name());
    };
    let report = held_to_base(asked, kinds);
    script.answer(Outcome::GateInspected(Box::new(report)))
}

fn held_to_base(asked: &InspectGate, kinds: &[FindingName]) -> GateReport {
    GateReport {
        tree: asked.tree.clone(),
        ran_with_base: asked.commands.clone(),
        findings: kinds.iter().map(|kind| finding(*kind)).collect(),
        new_tests: Vec::new(),
        evidence: vec![artifact("gate.json")],
        usage: STEP,
        red: Vec::new(),
    }
}

/// The sensors pass on what this actuator left, and the iteration is committed.
fn green_after(spec: ControlSpec, bend: impl FnOnce(&mut CapturedChange)) -> Script {
    Script::at_controller(spec).plans().acts().captured_as(bend, "tree-1").all_pass().committed()
}

pub(crate) fn at_inspection() -> Script {
    green_after(gated(flat(2)), touches(Touch::Modified))
}

fn waive(finding: FindingName) -> Observation {
    Observation::PersonSaid { word: Word::Waive(Waiver { finding, reason: "as asked".to_owned() }) }
}

#[test]
fn a_change_that_leaves_its_measures_alone_costs_no_step_more() {
    let script = green_after(gated(flat(2)), |_| {}).asks(Role::Controller, "2");
    script.claims().committed().ends(&End::Complete, 1);
}

#[test]
fn a_touched_test_lets_the_required_sensors_measure_without_it_before_the_controller_looks() {
    let sensors = vec![command("tests"), optional(command("lint")), prose("look")];
    let spec = gated(of(crate::words::leaf("root", sensors, 2)));
    let look = |status| Answer::Reading(reading("look", status, true));
    let script = Script::start(spec).prepared().all_fail().leaves(look(ReadingStatus::Fail)).committed();
    let script = script.plans().acts().captured_as(touches(Touch::Modified), "tree-1").all_pass();
    let script = script.leaves(look(ReadingStatus::Pass)).committed();
    let Effect::InspectGate(asked) = script.waiting() else { panic!("{:?}", script.waiting()) };
    assert_eq!((asked.base.as_str(), asked.tree.as_str()), (BASE_TREE, "tree-1"));
    assert_eq!(asked.commands, lines(&["make tests"]), "what is not required or no command is left out");
    assert_eq!(asked.red_at_base, lines(&["make tests", "make lint"]));
    let script = inspected(script, &[]).asks(Role::Controller, "2");
    assert!(script.inputs().contains(&"gate.json"), "{:?}", script.inputs());
    script.claims().committed().ends(&End::Complete, 1);
}

#[test]
fn nothing_is_inspected_while_a_required_sensor_fails_or_the_gate_is_off() {
    let script = Script::at_controller(gated(flat(2))).plans().acts();
    let script = script.captured_as(touches(Touch::Modified), "tree-1").all_fail().committed();
    let _ = script.asks(Role::Controller, "2");
    let script = green_after(flat(2), deletes_a_test).asks(Role::Controller, "2");
    script.claims().committed().ends(&End::Complete, 1);
}

/// A new test file is code that runs beside the old ones.
#[test]
fn a_new_test_alone_is_held_to_the_base_as_well() {
    for integrity in [Integrity::Full, Integrity::Findings] {
        let mut spec = gated(flat(2));
        spec.place.gate.integrity = integrity;
        let script = green_after(spec, touches(Touch::Added));
        assert!(matches!(script.waiting(), Effect::InspectGate(_)), "{}", script.waiting().name());
    }
}

#[test]
fn a_look_that_ran_nothing_is_no_answer() {
    let script = green_after(gated(flat(2)), touches(Touch::Added));
    let Effect::InspectGate(asked) = script.waiting() else { panic!("{:?}", script.waiting()) };
    let report = GateReport { ran_with_base: Vec::new(), ..held_to_base(asked, &[]) };
    let _ = script.does_not_take(Outcome::GateInspected(Box::new(report)));
}

#[test]
fn a_claim_over_an_open_finding_is_refused_and_told_back_by_name() {
    let script = inspected(green_after(gated(flat(3)), deletes_a_test), &[OWN_TESTS]).claims();
    let script = script.asks(Role::Controller, "2");
    let fault = &script.faults()[0];
    assert!(fault.contains("test-deleted") && fault.contains("passes-only-with-its-own-tests"), "{fault}");
    // A plan instead of a waiver goes on; the test is back, and the claim counts.
    script.moves_to("tree-2").all_pass().committed().claims().committed().ends(&End::Complete, 2);
}

#[test]
fn every_finding_has_to_be_waived_by_its_own_name_and_with_a_reason() {
    let shown = || inspected(green_after(gated(flat(2)), deletes_a_test), &[OWN_TESTS]);
    shown().leaves(waiving(&[DELETED, OWN_TESTS])).committed().ends(&End::Complete, 1);
    let script = shown().leaves(waiving(&[DELETED])).asks(Role::Controller, "2");
    assert!(!script.faults()[0].contains("test-deleted"), "{:?}", script.faults());
    script.leaves(waiving(&[OWN_TESTS])).committed().ends(&End::Complete, 1);
    let other = shown().leaves(waiving(&[FindingName::CiChanged]));
    assert!(other.faults()[0].contains("test-deleted"), "{:?}", other.faults());
    let Answer::Decision(mut silent) = waiving(&[DELETED, OWN_TESTS]) else { unreachable!() };
    silent.waivers[0].reason = " ".to_owned();
    let script = shown().leaves(Answer::Decision(silent));
    assert!(script.faults()[0].contains("test-deleted"), "{:?}", script.faults());
}

#[test]
fn a_claim_that_is_repeated_over_findings_waits_for_a_person_who_can_waive_them() {
    let script = inspected(green_after(gated(flat(2)), deletes_a_test), &[OWN_TESTS]).claims().claims();
    let cause = Cause::GateFindings { findings: vec![finding(DELETED), finding(OWN_TESTS)] };
    let mut script = script.needs(cause, 1);
    let refused = script.observe(waive(FindingName::CiChanged));
    assert!(matches!(refused, Err(Rejection::NotAsked { .. })), "{refused:?}");
    script.observe(waive(DELETED)).expect("it is open");
    assert!(script.run().ended, "one is still open");
    script.observe(waive(OWN_TESTS)).expect("it is open");
    script.node_ends(&NodeEnd::TargetMet).committed().ends(&End::Complete, 1);
}

#[test]
fn a_person_is_asked_at_once_where_the_user_wants_that_and_an_answer_asks_the_controller_again() {
    let asked = || inspected(green_after(asking(flat(3)), deletes_a_test), &[]).claims();
    let cause = || Cause::GateFindings { findings: vec![finding(DELETED)] };
    let script = asked().needs(cause(), 1).reopened(NO_MORE, Some("put it back"));
    let script = script.asks(Role::Controller, "2");
    assert!(script.told().contains(&"a person says: put it back".to_owned()), "{:?}", script.told());
    script.moves_to("tree-2").all_pass().committed().claims().committed().ends(&End::Complete, 2);
    let mut script = asked().needs(cause(), 1);
    script.observe(waive(DELETED)).expect("it is open");
    script.committed().ends(&End::Complete, 1);
}

#[test]
fn nobody_can_waive_what_nobody_asked_about() {
    let mut script = Script::at_controller(gated(flat(2))).claims().claims().committed();
    script = script.closed();
    let refused = script.observe(waive(DELETED));
    assert!(matches!(refused, Err(Rejection::NotAsked { .. })), "{refused:?}");
    script.observe(reopen(NO_MORE, None)).expect("it can be taken up");
}

#[test]
fn fewer_tests_than_at_the_base_are_a_finding_and_as_many_are_none() {
    let count = |script: Script, tests: Option<u32>, status| {
        script.measured_by(|name| {
            let mut read = reading(name, status, true);
            read.tests = tests;
            read
        })
    };
    for (base, now, open) in [
        (Some(4), Some(4), false),
        (Some(4), Some(9), false),
        (None, Some(1), false),
        (Some(4), Some(3), true),
        (Some(4), None, true),
    ] {
        let script = count(Script::start(gated(flat(3))).prepared(), base, ReadingStatus::Fail).committed();
        let script = count(script.moves_to("tree-1"), now, ReadingStatus::Pass).committed().claims();
        if open {
            assert!(script.faults()[0].contains("fewer-tests"), "{base:?} {now:?}: {:?}", script.faults());
        } else {
            script.committed().ends(&End::Complete, 1);
        }
    }
}

#[test]
fn a_program_that_was_replaced_is_a_finding() {
    let script = Script::at_controller(gated(flat(2))).moves_to("tree-1");
    let report = Measured {
        tree: script.measure().tree.clone(),
        readings: vec![reading("tests", ReadingStatus::Pass, true)],
        usage: STEP,
        gate: vec![finding(FindingName::CheckReplacedOnPath)],
    };
    let script = script.answer(Outcome::Measured(report)).committed().claims();
    assert!(script.faults()[0].contains("check-replaced-on-path"), "{:?}", script.faults());
}

#[test]
fn what_was_waived_and_inspected_counts_for_that_content_alone() {
    let script = inspected(green_after(gated(flat(3)), deletes_a_test), &[]);
    let Answer::Decision(mut planning) = crate::words::plan() else { unreachable!() };
    planning.waivers = vec![Waiver { finding: DELETED, reason: "as asked".to_owned() }];
    let script = script.leaves(Answer::Decision(planning)).acts().captured_as(deletes_a_test, "tree-2");
    let script = inspected(script.all_pass().committed(), &[]).claims();
    assert!(script.faults()[0].contains("test-deleted"), "{:?}", script.faults());
}

#[test]
fn each_level_inspects_with_its_own_sensors_and_an_inner_waiver_counts_outside() {
    let script = Script::at_controller(gated(nested(2, 2))).plans().committed().plans().acts();
    let script = script.captured_as(deletes_a_test, "tree-1").all_pass().committed();
    let Effect::InspectGate(asked) = script.waiting() else { panic!("{:?}", script.waiting()) };
    assert_eq!(asked.commands, lines(&["make build"]));
    let script = inspected(script, &[]).leaves(waiving(&[DELETED])).node_ends(&NodeEnd::TargetMet);
    let script = script.committed().all_pass().committed();
    let Effect::InspectGate(asked) = script.waiting() else { panic!("{:?}", script.waiting()) };
    assert_eq!(asked.commands, lines(&["make tests"]));
    inspected(script, &[]).claims().committed().ends(&End::Complete, 1);
}

/// What is found by a sensor that only the outer node has was never shown to the inner controller.
#[test]
fn an_inner_waiver_says_nothing_of_what_only_the_outer_sensors_find() {
    let found = |script: Script, about: &[&str]| {
        let Effect::InspectGate(asked) = script.waiting() else { panic!("{:?}", script.waiting()) };
        let mut report = held_to_base(asked, &[OWN_TESTS]);
        report.findings[0].about = lines(about);
        script.answer(Outcome::GateInspected(Box::new(report)))
    };
    let at_outer = |about: &[&str]| {
        let script = Script::at_controller(gated(nested(2, 2))).plans().committed().plans().acts();
        let script = script.captured_as(deletes_a_test, "tree-1").all_pass().committed();
        let script = found(script, &["`make build` is red"]).leaves(waiving(&[DELETED, OWN_TESTS]));
        found(script.node_ends(&NodeEnd::TargetMet).committed().all_pass().committed(), about)
    };
    let words = |script: Script| windlass_protocols::explain::explain(script.run()).because.join("\n");
    let known = at_outer(&["`make build` is red"]).claims().committed();
    let told = words(known.ends(&End::Complete, 1));
    assert!(told.contains("`test-deleted` was waived in the node outer/inner"), "{told}");
    let beyond = at_outer(&["`make build` is red", "`make tests` is red"]).claims();
    let beyond = beyond.asks(Role::Controller, "2");
    let told = words(beyond.leaves(waiving(&[OWN_TESTS])).committed().ends(&End::Complete, 1));
    assert!(told.contains("`passes-only-with-its-own-tests` was waived in the node outer"), "{told}");
    assert!(told.contains("`test-deleted` was waived in the node outer/inner"), "{told}");
}

#[test]
fn an_inner_node_that_reports_to_its_parent_fails_there_instead_of_waiting_for_a_person() {
    let mut spec = gated(nested(2, 2));
    let windlass_protocols::protocol::feedback_control::spec::Actuator::Cascade(inner) =
        &mut spec.root.actuator
    else {
        unreachable!("a nested flow has an inner node")
    };
    inner.on_error = OnError::ReportToParent;
    let script = Script::at_controller(spec).plans().committed().plans().acts();
    let script = inspected(script.captured_as(deletes_a_test, "tree-1").all_pass().committed(), &[]);
    let cause = Cause::GateFindings { findings: vec![finding(DELETED)] };
    let script = script.claims().claims().node_ends(&NodeEnd::Failed { cause });
    let script = script.committed().all_pass().committed();
    let _ = inspected(script, &[]).asks(Role::Controller, "2");
}

fn keeping_the_best(spec: ControlSpec) -> ControlSpec {
    ControlSpec { keep: Keep::Best, ..gated(spec) }
}

fn best(script: &Script) -> Option<&str> {
    script.state().best().map(|best| best.label.as_str())
}

/// The first actuator cheats, the second one repairs that and breaks the code: the cheat is not what the branch ends on.
#[test]
fn content_with_open_findings_is_never_the_best() {
    let script = inspected(green_after(keeping_the_best(flat(2)), deletes_a_test), &[]);
    assert_eq!(best(&script), Some("0"));
    let script = script.plans().acts().captured("tree-2");
    let script = script.all_fail().committed();
    assert!(!script.told().iter().any(|line| line.contains("worse")), "{:?}", script.told());
    let script = script.plans().node_ends(&NodeEnd::MaxIterations);
    assert_eq!(script.commit().plant.as_str(), "tree-2");
    assert_eq!(script.state().open_findings(), Vec::<&GateFinding>::new());
}

/// What only running the sensors without it shows is known after the iteration was committed as the best.
#[test]
fn content_that_is_found_out_later_gives_the_place_of_the_best_back() {
    let edited = || green_after(keeping_the_best(flat(3)), touches(Touch::Modified));
    assert_eq!(best(&edited()), Some("0"), "green readings that nobody held to the base prove nothing");
    assert_eq!(best(&inspected(edited(), &[])), Some("1"));
    let script = inspected(edited(), &[OWN_TESTS]);
    assert_eq!(best(&script), Some("0"));
    let script = script.plans().acts().captured("tree-2").all_fail().committed();
    assert_eq!(script.told(), Vec::<String>::new(), "the honest repair is no regression");
}

#[test]
fn a_waiver_makes_content_the_best_after_all_and_is_remembered_with_it() {
    let script = inspected(green_after(keeping_the_best(flat(2)), deletes_a_test), &[]);
    let Answer::Decision(mut planning) = crate::words::plan() else { unreachable!() };
    planning.waivers = vec![Waiver { finding: DELETED, reason: "as asked".to_owned() }];
    let script = script.leaves(Answer::Decision(planning));
    assert_eq!(best(&script), Some("1"));
    let script = script.acts().captured("tree-2").all_fail().committed().plans();
    assert_eq!(script.commit().plant.as_str(), "tree-1");
    assert_eq!(script.state().open_findings(), Vec::<&GateFinding>::new());
    let script = script.committed().closed().reopened(crate::words::ONE_MORE, None);
    inspected(script, &[]).claims().all_pass().committed().ends(&End::Complete, 2);
}

#[test]
fn the_end_names_what_is_open_about_the_content_the_branch_ends_on() {
    let mut spec = keeping_the_best(flat(1));
    spec.keep = Keep::Last;
    let script = inspected(green_after(spec, deletes_a_test), &[]).plans().committed();
    let script = script.ends(&End::Exhausted { dimension: Dimension::Rounds }, 1);
    let explained = windlass_protocols::explain::explain(script.run());
    assert!(
        explained.because.iter().any(|line| line.contains("nobody waived it: test-deleted")),
        "{explained:?}"
    );
}

#[test]
fn what_a_person_waived_is_not_named_as_open_any_more() {
    let script = inspected(green_after(gated(flat(2)), deletes_a_test), &[OWN_TESTS]).claims().claims();
    let cause = Cause::GateFindings { findings: vec![finding(DELETED), finding(OWN_TESTS)] };
    let mut script = script.needs(cause, 1);
    script.observe(waive(DELETED)).expect("it is open");
    let explained = windlass_protocols::explain::explain(script.run());
    let words = format!("{:?} {:?}", explained.because, explained.commands);
    assert!(!words.contains("test-deleted") && words.contains("passes-only-with-its-own-tests"), "{words}");
}
