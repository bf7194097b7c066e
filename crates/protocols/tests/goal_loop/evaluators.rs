//! What becomes of evaluators that say nothing, edit, lie or contradict the suite, and of tests that cannot be relied on.

use crate::script::Script;
use crate::words::{built, fail, fail_without_a_cause, malformed, one, pass, queue, spec, with_status};
use windlass_protocols::Role;
use windlass_protocols::effect::SuitePurpose;
use windlass_protocols::outcome::{Answer, StepEnd};
use windlass_protocols::protocol::goal_contract::end::{Cause, NotReady};
use windlass_protocols::protocol::goal_contract::facts::RejectedBy;
use windlass_protocols::protocol::goal_contract::queue::Status;

fn at_evaluator() -> Script {
    Script::of(one()).builds("tree-1").green().asks(Role::Evaluator, "F001")
}

#[test]
fn no_verdict_is_asked_for_again_then_of_a_fresh_evaluator_then_of_a_person() {
    let script = at_evaluator().leaves(Answer::Missing);
    assert_eq!(script.faults(), ["the evaluator left no report"]);
    let script = script.leaves(malformed()).asks(Role::Evaluator, "F001");
    assert_eq!(script.asked().session, None, "a fresh one");
    assert_eq!(script.told(), Vec::<String>::new());
    let faults = vec!["no verdict".to_owned()];
    script.leaves(malformed()).escalates(Cause::NoVerdict { item: "F001".to_owned(), faults });
}

#[test]
fn a_fail_needs_a_cause() {
    let script = at_evaluator().leaves(fail_without_a_cause());
    assert!(script.faults()[0].contains("a FAIL needs a cause"), "{:?}", script.faults());
}

#[test]
fn an_evaluator_that_edits_is_not_believed_and_a_second_one_neither() {
    let script = at_evaluator().edits(pass(), &["src/a.rs"]).asks(Role::Evaluator, "F001");
    let paths = vec!["src/a.rs".to_owned()];
    let cause = Cause::WorkspaceChanged { item: "F001".to_owned(), role: Role::Evaluator, paths };
    script.edits(pass(), &["src/a.rs"]).escalates(cause);
}

#[test]
fn a_crash_of_the_evaluator_is_tried_once_more_and_no_word_about_the_work() {
    let script = at_evaluator().exits(1).asks(Role::Evaluator, "F001").leaves(pass());
    assert_eq!(script.commit().tree.as_str(), "tree-1");
}

#[test]
fn a_pass_over_red_tests_is_a_fail_for_the_tests() {
    let script = Script::of(one()).builds("tree-1").red(&["t::new"], &[]).leaves(pass());
    let causes = script.state().item("F001").causes;
    assert_eq!((causes[0].by, causes[0].key.as_str()), (RejectedBy::Tests, "tests:t::new"));
    assert!(causes[0].cause.contains("the evaluator said PASS over it"), "{causes:?}");
    assert_eq!(script.times("item-committed"), 0);
}

#[test]
fn a_suite_that_did_not_come_to_its_end_is_red() {
    let script = Script::of(one()).builds("tree-1").tested(|report| {
        report.end = StepEnd::TotalLimit;
        report.total = 0;
    });
    let causes = script.leaves(pass()).state().item("F001").causes;
    assert_eq!(causes[0].by, RejectedBy::Tests);
}

#[test]
fn the_evaluator_looks_with_fresh_eyes_at_what_the_engine_measured() {
    let script = Script::of(one()).judged("tree-1", fail("a:b", "wrong")).read();
    let script = script.builds("tree-2").green();
    assert_eq!(script.told(), Vec::<String>::new(), "earlier verdicts are not told");
    let quoted: Vec<_> = script.asked().inputs.iter().map(|artifact| artifact.name.as_str()).collect();
    assert_eq!(quoted, ["FEATURES.json", "patch.diff", "tests.log"]);
}

#[test]
fn a_baseline_that_differs_between_two_runs_is_flaky_and_said_so() {
    let script = Script::start(spec(), one()).prepared().read().green();
    assert_eq!(script.suite().purpose, SuitePurpose::BaselineAgain);
    let script = script.red(&["t::flaky"], &["t::flaky"]).asks(Role::Builder, "F001");
    let baseline = script.state().baseline.as_ref().expect("a baseline");
    assert_eq!(baseline.flaky, ["t::flaky"]);
    let script = script.builds("tree-1");
    assert_eq!(script.suite().flaky, ["t::flaky"], "the comparison knows it");
}

#[test]
fn a_baseline_that_is_red_the_second_time_for_no_test_is_red() {
    let script = Script::start(spec(), one()).prepared().read().green().red(&[], &[]);
    let failing = vec!["two runs of the suite on the same tree differ".to_owned()];
    script.unready_for(NotReady::RedBaseline { failing });
}

#[test]
fn a_baseline_that_cannot_be_started_is_a_matter_of_setting_up() {
    let script = Script::start(spec(), one()).prepared().read();
    let reason = "no shell".to_owned();
    let script = script.tested(|report| report.end = StepEnd::NotStarted { reason });
    let reason = "the test command could not be started: no shell".to_owned();
    script.unready_for(NotReady::Setup { reason });
}

#[test]
fn a_suite_in_which_only_flaky_tests_fail_is_run_again_twice() {
    let script = Script::start(spec(), one()).prepared().read().green().red(&["t::flaky"], &[]);
    let script = script.leaves(built()).captured("tree-1").red(&["t::flaky"], &[]).red(&["t::flaky"], &[]);
    assert_eq!(script.suite().tree.as_str(), "tree-1");
    let script = script.green().asks(Role::Evaluator, "F001");
    assert_eq!(script.times("tests-taken"), 1);
    let script = script.leaves(pass());
    assert_eq!(script.commit().item.as_deref(), Some("F001"));
}

#[test]
fn a_new_test_that_is_red_is_no_regression() {
    let script = Script::of(one()).builds("tree-1").red(&["t::new"], &[]).asks(Role::Evaluator, "F001");
    assert_eq!(script.state().item("F001").regressions_in_a_row, 0);
}

#[test]
fn what_is_measured_at_the_head_is_not_measured_again_for_a_recheck() {
    let files = queue(&[with_status("F001", Status::Complete)]);
    let script = Script::of(files).asks(Role::Evaluator, "F001");
    assert_eq!(script.asked().tree.as_ref().map(windlass_protocols::TreeId::as_str), Some("base-tree"));
    assert_eq!(script.times("tests-taken"), 0);
}
