//! The stop contract: every rule alone, success together with a cap, and that a cap that is reached means now.

use crate::script::Script;
use crate::words::{NO_MORE, after, fail, item, one, queue, spec, two, with_status};
use windlass_protocols::kernel::budget::{CapChange, Caps, Dimension};
use windlass_protocols::outcome::{StepEnd, Trouble};
use windlass_protocols::protocol::goal_contract::end::{Cap, Cause, End};
use windlass_protocols::protocol::goal_contract::queue::{Queue, Status};
use windlass_protocols::protocol::goal_contract::spec::{GoalSpec, Tightened};
use windlass_protocols::{Millis, Role};

const MINUTES: Cap = Cap::Used { dimension: Dimension::Minutes };

fn limited(edit: impl FnOnce(&mut Queue), mut files: Queue) -> Queue {
    edit(&mut files);
    files
}

#[test]
fn success_needs_every_item_complete() {
    let script = Script::of(two()).accepted("tree-1").read();
    assert_eq!(script.state().end, None);
    script.accepted("tree-2").read().ends(&End::Success);
}

#[test]
fn iterations_at_their_cap_end_it() {
    let files = limited(|files| files.limits.iterations = 1, two());
    Script::of(files).accepted("tree-1").read().killed_by(Cap::Iterations);
}

#[test]
fn commits_at_their_cap_end_it() {
    let files = limited(|files| files.limits.commits = 1, two());
    Script::of(files).accepted("tree-1").read().killed_by(Cap::Commits);
}

#[test]
fn the_command_line_can_lower_each_cap_and_widen_none() {
    let tightened = Tightened { commits: Some(1), ..Tightened::default() };
    let spec = GoalSpec { tightened, ..spec() };
    Script::with(spec.clone(), two()).accepted("tree-1").read().killed_by(Cap::Commits);
    let wide = Tightened { commits: Some(99), rework: Some(99), ..Tightened::default() };
    let files = limited(|files| files.limits.commits = 1, two());
    let script = Script::with(GoalSpec { tightened: wide, ..spec }, files).accepted("tree-1").read();
    script.killed_by(Cap::Commits);
}

#[test]
fn different_causes_reach_the_cap_on_rework() {
    let script = Script::of(one()).judged("tree-1", fail("a:b", "wrong")).read();
    let script = script.judged("tree-2", fail("c:d", "also wrong"));
    script.killed_by(Cap::Rework { item: "F001".to_owned() });
}

#[test]
fn a_cap_on_rework_that_a_person_lowers_counts_before_the_next_try() {
    let files = limited(|files| files.limits.rework = 3, one());
    let script = Script::of(files).judged("tree-1", fail("a:b", "wrong"));
    let script = script.edited(|files| files.limits.rework = 1).read();
    assert_eq!(script.state().iteration, 1, "no second try was begun");
    script.killed_by(Cap::Rework { item: "F001".to_owned() });
}

#[test]
fn the_wall_clock_of_the_contract_ends_it() {
    let files = limited(|files| files.limits.time = Some(Millis(4_500)), two());
    Script::of(files)
        .builds("tree-1")
        .green()
        .leaves(crate::words::pass())
        .committed()
        .read()
        .killed_by(MINUTES);
}

#[test]
fn tokens_and_money_of_the_contract_end_it() {
    let files = limited(|files| files.limits.tokens = Some(35), two());
    let cap = Cap::Used { dimension: Dimension::Tokens };
    Script::of(files).builds("tree-1").green().killed_by(cap);
    let files = limited(|files| files.limits.cost_micros = Some(17), two());
    let cap = Cap::Used { dimension: Dimension::Money };
    Script::of(files).builds("tree-1").green().killed_by(cap);
}

#[test]
fn caps_of_the_command_line_end_it_too() {
    let spec = GoalSpec { caps: Caps { tokens: Some(30), ..spec().caps }, ..spec() };
    Script::with(spec, one())
        .leaves(crate::words::built())
        .killed_by(Cap::Used { dimension: Dimension::Tokens });
}

#[test]
fn a_regression_that_is_not_mended_ends_it() {
    let script = Script::of(one()).builds("tree-1").red(&["t::old"], &["t::old"]).read();
    let script = script.builds("tree-2").red(&["t::old"], &["t::old"]);
    let tests = vec!["t::old".to_owned()];
    script.escalates(Cause::Regression { item: "F001".to_owned(), tests });
}

#[test]
fn a_destructive_command_ends_it_at_once() {
    let command = "rm -rf  /".to_owned();
    let script = Script::of(one()).has(Trouble::Destructive { command });
    script.killed_by(Cap::Destructive { command: "rm -rf /".to_owned() });
}

#[test]
fn a_dependency_that_is_blocked_escalates_when_nothing_else_is_ready() {
    let files = queue(&[after("F001", &["F002"]), with_status("F002", Status::Blocked), item("F003")]);
    let script = Script::of(files).asks(Role::Builder, "F003").accepted("tree-1").read();
    let waiting = vec!["F001: a dependency is not accepted".to_owned(), "F002: it is blocked".to_owned()];
    script.escalates(Cause::NothingReady { waiting });
}

#[test]
fn a_builder_in_doubt_escalates() {
    let cause = Cause::BuilderAsks { item: "F001".to_owned(), question: "which one?".to_owned() };
    Script::of(one()).leaves(crate::words::asking("which one?")).captured("tree-1").escalates(cause);
}

#[test]
fn success_at_the_cap_on_iterations_and_commits_is_a_success() {
    let files = limited(
        |files| {
            files.limits.iterations = 1;
            files.limits.commits = 1;
        },
        one(),
    );
    Script::of(files).accepted("tree-1").read().ends(&End::Success);
}

#[test]
fn success_at_a_cap_that_the_last_step_used_up_is_a_success() {
    for edit in [
        |files: &mut Queue| files.limits.tokens = Some(50),
        |files: &mut Queue| files.limits.time = Some(Millis(5_000)),
    ] {
        let script = Script::of(limited(edit, one())).accepted("tree-1").read();
        script.ends(&End::Success);
    }
}

#[test]
fn a_cap_that_is_reached_comes_before_an_escalation() {
    let files = limited(
        |files| files.limits.iterations = 1,
        queue(&[item("F001"), with_status("F002", Status::Blocked)]),
    );
    Script::of(files).accepted("tree-1").read().killed_by(Cap::Iterations);
}

#[test]
fn a_cap_reached_in_the_middle_keeps_the_iteration_for_whoever_gives_more() {
    let files = limited(|files| files.limits.tokens = Some(35), one());
    let cap = Cap::Used { dimension: Dimension::Tokens };
    let script = Script::of(files).builds("tree-1").green().killed_by(cap);
    let script = script.reopened(CapChange { more_tokens: 100, ..NO_MORE }, None);
    assert_eq!(script.state().iteration, 1);
    script.asks(Role::Evaluator, "F001").leaves(crate::words::pass()).committed().read().ends(&End::Success);
}

#[test]
fn a_suite_that_the_runs_own_clock_cut_off_says_nothing_about_the_work() {
    let files = limited(|files| files.limits.time = Some(Millis(4_000)), one());
    let script = Script::of(files).builds("tree-1");
    assert!(script.suite().limits.total <= Millis(1_000), "{:?}", script.suite().limits);
    let script = script.tested(|report| report.end = StepEnd::TotalLimit).killed_by(MINUTES);
    assert_eq!(script.times("tests-taken"), 0);
    let script = script.reopened(CapChange { more_time: Millis::minutes(1), ..NO_MORE }, None);
    assert_eq!(script.suite().tree.as_str(), "tree-1");
}

#[test]
fn a_cap_that_an_agent_passes_in_its_turn_ends_it_and_charges_no_failure() {
    let script = Script::of(one()).has(Trouble::CapPassed { dimension: Dimension::Money });
    let script = script.killed_by(Cap::Used { dimension: Dimension::Money });
    assert_eq!((script.endings().len(), script.state().item("F001").rework), (0, 0));
}

#[test]
fn a_step_may_use_what_is_left_of_the_contract_and_no_more() {
    let files = limited(
        |files| {
            files.limits.time = Some(Millis(10_000));
            files.limits.tokens = Some(100);
        },
        one(),
    );
    let limits = Script::of(files).asked().limits;
    assert_eq!((limits.total, limits.tokens, limits.cost_micros), (Millis(8_000), Some(80), None));
}

#[test]
fn a_stop_that_is_asked_for_ends_it_when_the_step_under_way_has_ended() {
    let script = Script::of(one()).stop_asked().builds_nothing_more();
    script.resumed().asks_for_the_snapshot();
}

impl Script {
    fn builds_nothing_more(self) -> Self {
        let end = End::Stopped { by: "ada".to_owned(), reason: "lunch".to_owned() };
        self.leaves(crate::words::built()).ends(&end)
    }

    fn asks_for_the_snapshot(self) {
        assert_eq!(self.waiting().name(), "capture-change");
    }
}
