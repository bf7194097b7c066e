//! The table of run states, row by row: from the first look at the files to the summary.

use crate::script::{Script, approve};
use crate::words::{BASE_TREE, at, design, fail, item, one, queue, spec, two};
use windlass_protocols::effect::{Effect, SuitePurpose};
use windlass_protocols::protocol::goal_contract::end::{Cap, Cause, End, NotReady, Proposed};
use windlass_protocols::protocol::goal_contract::queue::{Autonomy, Item, Status, Work};
use windlass_protocols::protocol::goal_contract::spec::GoalSpec;
use windlass_protocols::{Role, TreeId};

#[test]
fn init_files_that_cannot_be_read_stop_it_before_anything_is_run() {
    let reason = "FEATURES.json: line 3: no comma";
    let script = Script::start(spec(), one()).prepared().refused(reason);
    assert_eq!(script.times("iteration-opened"), 0);
    script.unready_for(NotReady::Unreadable { reason: reason.to_owned() });
}

#[test]
fn init_a_contract_that_is_not_confirmed_is_refused_by_whoever_reads_it_and_builds_nothing() {
    let reason = "LOOP.md waits to be confirmed".to_owned();
    let script = Script::start(spec(), one()).prepared().refused(&reason);
    script.unready_for(NotReady::Unreadable { reason }).resumed().read().decides(&[
        "effect-settled",
        "queue-taken",
        "effect-requested",
    ]);
}

#[test]
fn init_a_readable_contract_leads_to_the_preflight() {
    let script = Script::start(spec(), one()).prepared().read();
    let asked = script.suite();
    assert_eq!((asked.purpose, asked.tree.as_str()), (SuitePurpose::Baseline, BASE_TREE));
}

#[test]
fn preflight_red_tests_stop_it_and_are_listed_and_are_no_iteration() {
    let script = Script::start(spec(), one()).prepared().read().red(&["t::old"], &[]);
    assert_eq!(script.state().iteration, 0);
    let failing = vec!["t::old".to_owned()];
    let script = script.unready_for(NotReady::RedBaseline { failing });
    assert_eq!(script.times("summary-committed"), 0, "nothing happened that a commit could tell of");
}

#[test]
fn preflight_green_tests_lead_to_the_check_with_the_result_kept() {
    let script = Script::of(one());
    let baseline = script.state().baseline.as_ref().expect("the baseline is kept");
    assert_eq!(baseline.suite.as_ref().map(|suite| (suite.passed, suite.total)), Some((3, 3)));
    script.asks(Role::Builder, "F001");
}

#[test]
fn check_a_rule_that_holds_ends_the_run() {
    let mut files = one();
    files.limits.iterations = 0;
    Script::of(files).killed_by(Cap::Iterations);
}

#[test]
fn check_without_a_rule_that_holds_selects_one_item() {
    let script = Script::of(two()).decides(&[
        "effect-settled",
        "baseline-taken",
        "iteration-opened",
        "effect-requested",
    ]);
    let open = script.state().open.as_ref().expect("an iteration is open");
    assert_eq!((open.number, open.item.as_str(), open.work), (1, "F001", Work::Build));
    assert_eq!(open.start, TreeId::new(BASE_TREE));
}

#[test]
fn select_nothing_left_and_all_complete_is_success() {
    let done = Item { status: Status::Complete, passed_before: true, ..item("F001") };
    Script::of(queue(&[done])).ends(&End::Success);
}

#[test]
fn select_nothing_ready_and_not_all_complete_escalates() {
    let blocked = Item { status: Status::Blocked, ..item("F001") };
    let waiting = vec!["F001: it is blocked".to_owned()];
    Script::of(queue(&[blocked])).escalates(Cause::NothingReady { waiting });
}

#[test]
fn design_an_item_that_is_not_trivial_is_designed_then_built() {
    let risky = Item { risky: true, ..item("F001") };
    let script = Script::of(queue(&[risky])).asks(Role::Planner, "F001");
    let script = script.leaves(design("F001-design.md", &["src/a.rs"])).asks(Role::Builder, "F001");
    let quoted = script.asked().inputs.iter().any(|artifact| artifact.name == "F001-design.md");
    assert!(quoted, "the builder reads the design");
}

#[test]
fn design_a_trivial_item_is_built_at_once() {
    Script::of(one()).asks(Role::Builder, "F001");
}

#[test]
fn build_what_the_builder_left_is_taken_tested_and_judged_as_it_is() {
    let script = Script::of(one()).builds("tree-1");
    let asked = script.suite();
    assert_eq!((asked.purpose, asked.tree.as_str()), (SuitePurpose::Item, "tree-1"));
    let script = script.green().asks(Role::Evaluator, "F001");
    assert_eq!(script.asked().tree, Some(TreeId::new("tree-1")));
}

#[test]
fn verify_pass_and_green_leads_to_the_pre_commit_checks() {
    let spec = GoalSpec { pre_commit: vec!["make lint".to_owned()], ..spec() };
    let script = Script::with(spec, one()).passed("tree-1");
    assert!(matches!(script.waiting(), Effect::RunChecks(asked) if asked.tree.as_str() == "tree-1"));
}

#[test]
fn verify_fail_is_rework_on_what_was_half_built() {
    let script = Script::of(one()).judged("tree-1", fail("a:b", "wrong")).read();
    let open = script.state().open.as_ref().expect("the next iteration is open");
    assert_eq!((open.number, open.work, open.start.as_str()), (2, Work::Rework, "tree-1"));
    assert_eq!(script.state().item("F001").rework, 1);
}

#[test]
fn verify_tests_that_were_green_and_are_red_are_a_regression_without_asking_the_evaluator() {
    let script = Script::of(one()).builds("tree-1").red(&["t::old"], &["t::old"]);
    assert_eq!(script.state().item("F001").regressions_in_a_row, 1);
    script.read().asks(Role::Builder, "F001");
}

#[test]
fn precommit_green_commits_at_l2_and_l3() {
    for level in [Autonomy::L2, Autonomy::L3] {
        let spec = GoalSpec { pre_commit: vec!["make lint".to_owned()], ..spec() };
        let script = Script::with(spec, at(level, one())).passed("tree-1").pre_checked(0);
        assert_eq!(script.commit().item.as_deref(), Some("F001"));
        assert_eq!(script.commit().tree.as_str(), "tree-1");
    }
}

#[test]
fn precommit_green_waits_for_a_person_at_l1() {
    let spec = GoalSpec { pre_commit: vec!["make lint".to_owned()], ..spec() };
    let proposed = Proposed::Change { tree: TreeId::new("tree-1") };
    let script = Script::with(spec, at(Autonomy::L1, one())).passed("tree-1").pre_checked(0);
    script.ends(&End::AwaitsApproval { item: "F001".to_owned(), proposed });
}

#[test]
fn precommit_red_is_rework_with_the_check_as_its_cause() {
    let spec = GoalSpec { pre_commit: vec!["make lint".to_owned()], ..spec() };
    let script = Script::with(spec, one()).passed("tree-1").pre_checked(1);
    let causes = script.state().item("F001").causes;
    assert_eq!(causes.first().map(|failed| failed.key.as_str()), Some("pre-commit:make lint"));
    let told = script.read().told();
    assert!(told[0].contains("`make lint` exited with 1"), "{told:?}");
    assert!(told.iter().any(|line| line.contains("line 3: tab")), "{told:?}");
}

#[test]
fn commit_makes_the_item_complete_and_counts() {
    let script = Script::of(two()).accepted("tree-1").decides(&[
        "effect-settled",
        "item-committed",
        "iteration-ended",
        "effect-requested",
    ]);
    let state = script.state();
    assert_eq!(state.item("F001").status(), Some(Status::Complete));
    assert_eq!((state.commits.len(), state.past.len()), (1, 1));
    let script = script.read().asks(Role::Builder, "F002");
    assert_eq!(script.asked().tree.as_ref().map(TreeId::as_str), Some("tree-1"), "built upon the commit");
}

#[test]
fn rework_is_recorded_and_counted_for_the_item() {
    let script = Script::of(one()).judged("tree-1", fail("a:b", "wrong"));
    let item = script.state().item("F001");
    assert_eq!((item.rework, item.status()), (1, Some(Status::NeedsRework)));
    assert_eq!(script.state().past.len(), 1);
}

#[test]
fn rework_for_a_cause_that_was_given_before_escalates() {
    let script = Script::of(one()).judged("tree-1", fail("a:b", "wrong")).read();
    let cause = Cause::SameCauseTwice { item: "F001".to_owned(), cause: "wrong again".to_owned() };
    script.judged("tree-2", fail("a:b", "wrong again")).escalates(cause);
}

#[test]
fn regression_the_first_time_gives_one_iteration_on_the_same_item() {
    let mut files = two();
    files.items[1].priority = Some(1);
    files.items[1].dependencies = vec!["F001".to_owned()];
    let script = Script::of(files).builds("tree-1").red(&["t::old"], &["t::old"]).read();
    let script = script.asks(Role::Builder, "F001");
    assert_eq!(script.state().open.as_ref().map(|open| open.work), Some(Work::Rework));
    script.accepted("tree-2").read().asks(Role::Builder, "F002");
}

#[test]
fn regression_again_escalates_also_when_another_test_broke() {
    let script = Script::of(one()).builds("tree-1").red(&["t::old"], &["t::old"]).read();
    let script = script.builds("tree-2").red(&["t::other"], &["t::other"]);
    let cause = Cause::Regression { item: "F001".to_owned(), tests: vec!["t::other".to_owned()] };
    script.escalates(cause);
}

#[test]
fn record_and_gate_the_files_are_read_again_before_anything_new_begins() {
    let script = Script::of(two()).accepted("tree-1");
    assert_eq!(*script.waiting(), Effect::ReadQueue { iteration: 1 });
}

#[test]
fn gate_at_l1_pauses_after_each_iteration() {
    let script = Script::of(at(Autonomy::L1, two())).passed("tree-1").says(approve("tree-1")).committed();
    script.read().ends(&End::Paused { iteration: 1 }).resumed().read().asks(Role::Builder, "F002");
}

#[test]
fn gate_at_l2_and_l3_goes_on() {
    for level in [Autonomy::L2, Autonomy::L3] {
        Script::of(at(level, two())).accepted("tree-1").read().asks(Role::Builder, "F002");
    }
}

#[test]
fn terminate_closes_the_files_with_one_commit_and_the_summary() {
    let script = Script::of(one()).accepted("tree-1").read();
    assert_eq!((script.commit().item.as_deref(), script.commit().tree.as_str()), (None, "tree-1"));
    let script = script.ends(&End::Success);
    assert_eq!((script.times("summary-committed"), script.times("item-committed")), (1, 1));
    script.refuses_reopening("everything in its scope is complete");
}
