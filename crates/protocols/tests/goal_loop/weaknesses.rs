//! The original's weaknesses that the core mends, by their numbers. Those that need files, processes or git are shown where
//! those are.

use crate::script::Script;
use crate::words::{
    ONE_MORE, after, built, fail, finding, item, lines, one, pass, queue, spec, two, with_status,
};
use windlass_protocols::effect::SuitePurpose;
use windlass_protocols::outcome::{Answer, BuildReport, FindingKind};
use windlass_protocols::protocol::goal_contract::end::{Cap, Cause, End};
use windlass_protocols::protocol::goal_contract::facts::RejectedBy;
use windlass_protocols::protocol::goal_contract::queue::{Autonomy, Item, Status};
use windlass_protocols::protocol::goal_contract::spec::GoalSpec;
use windlass_protocols::{Millis, Role, TreeId};

#[test]
fn w1_a_builder_that_says_it_is_done_changes_nothing_about_the_rules() {
    let answer = Answer::Build(BuildReport {
        summary: "all items are complete, committed and approved".to_owned(),
        ..BuildReport::default()
    });
    let script = Script::of(two()).leaves(answer).captured("tree-1").green().asks(Role::Evaluator, "F001");
    assert_eq!((script.times("item-committed"), script.state().commits.len()), (0, 0));
}

#[test]
fn w2_what_the_builder_committed_and_marked_is_neither_a_commit_nor_complete() {
    let found = || vec![finding(FindingKind::Committed, "abc"), finding(FindingKind::StatusSet, "F001")];
    let script = Script::of(one()).leaves(built()).captured_as("tree-1", |change| change.findings = found());
    let script = script.green().leaves(fail("a:b", "wrong"));
    assert_eq!(script.state().commits, []);
    assert_eq!(script.state().item("F001").status(), Some(Status::NeedsRework));
}

#[test]
fn w3_an_unverified_complete_does_not_satisfy_success() {
    let files = queue(&[item("F001"), with_status("F002", Status::Complete)]);
    let script = Script::of(files).asks(Role::Evaluator, "F002").leaves(pass()).read();
    script.accepted("tree-1").read().ends(&End::Success);
}

#[test]
fn w3_complete_that_appears_while_the_loop_runs_is_looked_at_too() {
    let script = Script::of(two()).accepted("tree-1");
    let script = script.edited(|files| files.items[1].status = Status::Complete).read();
    script.asks(Role::Evaluator, "F002");
}

#[test]
fn w9_the_same_root_cause_twice_has_one_outcome_and_is_told_by_its_key() {
    let script = Script::of(one()).judged("tree-1", fail("correctness:src/a.rs", "off by one")).read();
    let script = script.judged("tree-2", fail("correctness:src/a.rs", "the last element is left out"));
    let cause = "the last element is left out".to_owned();
    script.escalates(Cause::SameCauseTwice { item: "F001".to_owned(), cause });
}

#[test]
fn w10_none_left_is_no_success_while_one_is_blocked() {
    let files = queue(&[item("F001"), with_status("F002", Status::Blocked)]);
    let waiting = lines(&["F002: it is blocked"]);
    Script::of(files).accepted("tree-1").read().escalates(Cause::NothingReady { waiting });
}

#[test]
fn w10_what_was_left_in_progress_is_selected_again() {
    let files = queue(&[with_status("F001", Status::InProgress), item("F002")]);
    Script::of(files).asks(Role::Builder, "F001");
}

#[test]
fn w11_trivial_is_defined() {
    let vague = |criteria| Item { paths_stated: false, criteria, ..item("F001") };
    assert!(vague(4).is_trivial(Autonomy::L2), "few criteria");
    assert!(!vague(5).is_trivial(Autonomy::L2), "many criteria");
    assert!(!vague(1).is_trivial(Autonomy::L3), "L3 wants paths");
    assert!(Item { criteria: 9, ..item("F001") }.is_trivial(Autonomy::L3), "paths are stated");
    assert!(!Item { risky: true, ..item("F001") }.is_trivial(Autonomy::L1), "risky");
}

#[test]
fn w13_an_unmet_dependency_does_not_stop_others() {
    let files = queue(&[after("F001", &["F003"]), item("F002"), with_status("F003", Status::Blocked)]);
    Script::of(files).asks(Role::Builder, "F002");
}

#[test]
fn w14_tokens_money_and_time_are_counted_and_limit_every_step() {
    let mut files = one();
    files.limits.tokens = Some(1_000);
    files.limits.cost_micros = Some(500);
    files.limits.time = Some(Millis::minutes(1));
    let script = Script::of(files);
    let limits = script.asked().limits;
    assert_eq!((limits.tokens, limits.cost_micros, limits.total), (Some(980), Some(490), Millis(58_000)));
    let script = script.builds("tree-1");
    assert_eq!(script.suite().limits.tokens, Some(970));
}

#[test]
fn w16_pre_commit_failures_and_regressions_count_as_rework_like_a_fail() {
    let spec = GoalSpec { pre_commit: vec!["make lint".to_owned()], ..spec() };
    let mut files = one();
    files.limits.rework = 3;
    let script = Script::with(spec, files).passed("tree-1").pre_checked(1).read();
    let script = script.builds("tree-2").red(&["t::old"], &["t::old"]).read();
    let known = script.state().item("F001");
    assert_eq!((known.rework, script.state().iteration), (2, 3));
    let script = script.judged("tree-3", fail("a:b", "wrong"));
    script.killed_by(Cap::Rework { item: "F001".to_owned() });
}

#[test]
fn w19_a_regression_is_told_from_a_new_test_by_the_kept_list() {
    let script = Script::of(one()).builds("tree-1");
    assert_eq!(script.suite().baseline.as_ref().map(|list| list.name.as_str()), Some("tests.json"));
    let script = script.red(&["t::new", "t::old"], &["t::old"]);
    let causes = script.state().item("F001").causes;
    assert_eq!((causes[0].by, causes[0].key.as_str()), (RejectedBy::Regression, "regression:t::old"));
}

#[test]
fn w19_the_baseline_moves_with_every_accepted_item() {
    let script = Script::of(two()).builds("tree-1").tested(|report| {
        report.list = Some(crate::words::artifact("tests-with-F001.json"));
    });
    let script = script.leaves(pass()).committed().read().builds("tree-2");
    let list = script.suite().baseline.as_ref().map(|list| list.name.as_str());
    assert_eq!((list, script.suite().purpose), (Some("tests-with-F001.json"), SuitePurpose::Item));
}

#[test]
fn w19_a_failed_try_does_not_move_the_baseline() {
    let script = Script::of(one()).builds("tree-1").tested(|report| {
        report.list = Some(crate::words::artifact("tests-of-a-try.json"));
    });
    let script = script.leaves(fail("a:b", "wrong")).read().builds("tree-2");
    let list = script.suite().baseline.as_ref().map(|list| list.name.as_str());
    assert_eq!(list, Some("tests.json"));
}

#[test]
fn w21_the_next_item_is_built_on_the_last_commit_and_not_on_rubble() {
    let script = Script::of(crate::words::parking(two())).judged("tree-1", fail("a:b", "one")).read();
    let script = script.judged("tree-2", fail("a:b", "two")).read().asks(Role::Builder, "F002");
    assert_eq!(script.asked().tree, Some(TreeId::new("base-tree")));
    let script = script.passed("tree-3");
    assert_eq!(script.commit().parent.as_str(), "base-commit");
}

#[test]
fn w21_half_built_work_is_not_gone_on_with_when_something_else_was_committed_since() {
    let script = Script::of(crate::words::parking(two())).judged("tree-1", fail("a:b", "one")).read();
    let script = script.judged("tree-2", fail("a:b", "two")).read().accepted("tree-3").read();
    let waiting = lines(&["F001: it is blocked"]);
    let script = script.escalates(Cause::NothingReady { waiting }).reopened(ONE_MORE, None).read();
    assert_eq!(script.asked().tree, Some(TreeId::new("tree-3")), "on the head, not on the old try");
}
