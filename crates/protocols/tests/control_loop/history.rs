//! What the measured history says: standing still, going in circles, getting worse, and which content is the best (W8, W9).

use crate::script::Script;
use crate::words::{ONE_MORE, command, figure, flat, leaf, nested, of, reading};
use windlass_protocols::kernel::budget::Dimension;
use windlass_protocols::outcome::{Better, CapturedChange, Reading, ReadingStatus};
use windlass_protocols::protocol::feedback_control::end::{End, NodeEnd, Stall};
use windlass_protocols::protocol::feedback_control::spec::{ControlSpec, Keep};
use windlass_protocols::{CommitId, Role, TreeId};

fn patient(limit: u32, spec: ControlSpec) -> ControlSpec {
    ControlSpec { steady_limit: limit, ..spec }
}

fn two_sensors() -> ControlSpec {
    of(leaf("root", vec![command("tests"), command("lint")], 20))
}

/// The sensor fails and counts so many errors.
fn errors(count: i64) -> impl Fn(&str) -> Reading {
    move |name| {
        let mut reading = reading(name, ReadingStatus::Fail, true);
        reading.metrics = vec![figure("errors", count, Better::Lower)];
        reading
    }
}

/// Begins with ten errors.
fn counting(spec: ControlSpec) -> Script {
    Script::start(spec).prepared().measured_by(errors(10)).committed()
}

impl Script {
    fn with_errors(self, tree: &str, count: i64) -> Self {
        self.moves_to(tree).measured_by(errors(count)).committed()
    }

    /// The actuator makes the change that is known by this, and every command fails.
    fn fails_with(self, fingerprint: &str, tree: &str) -> Self {
        let known = |change: &mut CapturedChange| change.fingerprint = Some(fingerprint.to_owned());
        self.plans().acts().captured_as(known, tree).all_fail().committed()
    }

    fn stalls(self, how: Stall) -> Self {
        self.plans().node_ends(&NodeEnd::Stalled { how })
    }
}

#[test]
fn w09_the_same_failing_sensors_and_the_same_change_so_often_are_stagnation() {
    let script = Script::at_controller(patient(3, flat(20))).fails_with("one", "tree-1");
    assert_eq!(script.told(), Vec::<String>::new(), "once is no repetition");
    let script = script.fails_with("one", "tree-2");
    assert!(script.told()[0].starts_with("the same change was made 2 times"), "{:?}", script.told());
    let script = script.fails_with("one", "tree-3").stalls(Stall::Stagnation).committed();
    script.ends(&End::Stalled { how: Stall::Stagnation }, 3);
}

#[test]
fn who_goes_on_where_no_iteration_is_left_is_told_to_give_one_more() {
    for (iterations, is_told) in [(20, false), (3, true)] {
        let script = Script::at_controller(patient(3, flat(iterations)));
        let script =
            script.fails_with("one", "tree-1").fails_with("one", "tree-2").fails_with("one", "tree-3");
        let script =
            script.stalls(Stall::Stagnation).committed().ends(&End::Stalled { how: Stall::Stagnation }, 3);
        let commands = windlass_protocols::explain::explain(script.run()).commands;
        let going_on: Vec<_> =
            commands.iter().filter(|command| command.contains("windlass resume")).collect();
        assert_eq!(going_on.len(), 2, "{commands:?}");
        assert!(going_on.iter().all(|one| one.contains("--max-iterations +1") == is_told), "{commands:?}");
    }
}

/// Four times less than a thousandth, each time less than before.
#[test]
fn figures_that_get_better_below_the_thousandths_are_no_plateau() {
    let mean = |billionths: i64| {
        move |name: &str| {
            let mut reading = errors(0)(name);
            reading.metrics[0].finer = billionths;
            reading
        }
    };
    let script = Script::start(patient(2, flat(20))).prepared().measured_by(mean(900)).committed();
    let script = (1..=4).fold(script, |script, turn| {
        script.moves_to(&format!("tree-{turn}")).measured_by(mean(900 - 100 * turn)).committed()
    });
    let script = script.moves_to("tree-5").measured_by(mean(500)).committed();
    let script = script.moves_to("tree-6").measured_by(mean(500)).committed();
    let _ = script.stalls(Stall::Plateau);
}

#[test]
fn different_changes_under_a_sensor_that_prints_no_figure_are_no_stall() {
    let mut script = Script::at_controller(patient(2, flat(20)));
    for number in 0..8 {
        script = script.fails_with(&format!("change {number}"), &format!("tree-{number}"));
        assert_eq!(script.told(), Vec::<String>::new());
    }
    script.plans().asks(Role::Actuator, "9");
}

/// A figure of one sensor says nothing about what another one misses.
#[test]
fn figures_stand_only_where_every_failing_sensor_prints_some() {
    let partly = |name: &str| {
        if name == "lint" { errors(3)(name) } else { reading(name, ReadingStatus::Fail, true) }
    };
    let mut script = Script::start(patient(1, two_sensors())).prepared().measured_by(partly).committed();
    for number in 0..4 {
        script = script.moves_to(&format!("tree-{number}")).measured_by(partly).committed();
        assert_eq!(script.told(), Vec::<String>::new());
    }
    script.plans().asks(Role::Actuator, "5");
}

#[test]
fn a_change_that_is_made_again_and_helps_is_no_stagnation() {
    let mut script = counting(patient(2, flat(20)));
    for errors_left in (1..8).rev() {
        let known = |change: &mut CapturedChange| change.fingerprint = Some("one".to_owned());
        script = script.plans().acts().captured_as(known, &format!("tree-{errors_left}"));
        script = script.measured_by(errors(errors_left)).committed();
        assert_eq!(script.told(), Vec::<String>::new());
    }
}

#[test]
fn a_patience_of_0_never_runs_out() {
    let mut script = Script::at_controller(patient(0, flat(8)));
    for tree in ["a", "a", "a", "b", "a", "b", "a"] {
        script = script.fails_on(tree);
    }
    script.plans().asks(Role::Actuator, "8");
}

#[test]
fn a_figure_that_gets_better_is_progress() {
    let mut script = counting(patient(2, flat(20)));
    for errors in (1..8).rev() {
        script = script.with_errors(&format!("tree-{errors}"), errors);
        assert_eq!(script.told(), Vec::<String>::new());
    }
    script.plans().asks(Role::Actuator, "8");
}

#[test]
fn figures_that_stand_are_a_plateau() {
    let script = counting(patient(2, flat(20))).with_errors("tree-1", 10).with_errors("tree-2", 10);
    assert!(script.told()[0].starts_with("the same sensors fail as 2 iterations ago"), "{:?}", script.told());
    script.stalls(Stall::Plateau);
}

#[test]
fn states_that_come_back_are_oscillation() {
    let flip = |script: Script, tree: &str, fails: &str| script.moves_to(tree).failing(&[fails]).committed();
    let script = Script::start(patient(3, two_sensors())).prepared().failing(&["tests"]).committed();
    let script = flip(script, "tree-1", "lint");
    let script = flip(script, "base-tree", "tests");
    assert!(script.told()[0].starts_with("the state of iteration 0 came back"), "{:?}", script.told());
    let script = flip(script, "tree-1", "lint");
    let script = flip(script, "base-tree", "tests").stalls(Stall::Oscillation);
    let best = script.state().best().map(|best| best.label.as_str());
    assert_eq!(best, Some("1"), "what comes back has no more of the task in it");
    script.committed().ends(&End::Stalled { how: Stall::Oscillation }, 4);
}

#[test]
fn another_content_that_measures_as_before_is_a_state_that_came_back() {
    let flip = |script: Script, tree: &str, fails: &str| script.moves_to(tree).failing(&[fails]).committed();
    let script = Script::start(patient(2, two_sensors())).prepared().failing(&["tests"]).committed();
    let script = flip(script, "tree-1", "lint");
    let script = flip(script, "tree-2", "tests");
    flip(script, "tree-3", "lint").stalls(Stall::Oscillation);
}

#[test]
fn staying_worse_than_the_best_is_regression() {
    let script = counting(patient(2, flat(20))).with_errors("tree-1", 4).with_errors("tree-2", 7);
    let told = script.told();
    assert!(told.iter().any(|line| line.starts_with("worse than iteration 1")), "{told:?}");
    let script = script.with_errors("tree-3", 6).stalls(Stall::Regression);
    assert_eq!(script.state().best().map(|best| best.label.as_str()), Some("1"));
}

#[test]
fn figures_that_keep_getting_worse_are_regression_and_no_plateau() {
    let script = counting(patient(2, flat(20))).with_errors("tree-1", 12).with_errors("tree-2", 14);
    script.stalls(Stall::Regression);
}

#[test]
fn one_sensor_more_that_fails_is_worse_whatever_the_figures_say() {
    let script = Script::start(patient(1, two_sensors())).prepared().failing(&["tests"]).committed();
    let script = script.moves_to("tree-1").all_fail().committed();
    script.stalls(Stall::Regression);
}

#[test]
fn a_stall_is_only_named_when_the_controller_would_go_on() {
    let script = Script::start(patient(1, flat(9))).prepared().all_pass().committed();
    let script = script.moves_to("tree-1").all_pass().committed();
    script.claims().committed().ends(&End::Complete, 1);
}

#[test]
fn an_inner_node_has_a_history_of_its_own() {
    let spec = patient(2, nested(9, 9));
    let script = Script::at_controller(spec).plans().committed();
    let script = script.fails_with("one", "tree-1").fails_with("one", "tree-2").plans();
    let script = script.node_ends(&NodeEnd::Stalled { how: Stall::Stagnation }).committed();
    script
        .all_fail()
        .committed()
        .asks(Role::Controller, "2")
        .plans()
        .committed()
        .asks(Role::Controller, "2.1");
}

const EXHAUSTED: End = End::Exhausted { dimension: Dimension::Rounds };

#[test]
fn w08_keep_best_puts_the_best_content_into_the_last_commit() {
    let spec = ControlSpec { keep: Keep::Best, ..flat(2) };
    let script = counting(spec).with_errors("tree-1", 3).with_errors("tree-2", 5).plans();
    assert_eq!(script.commit().plant.as_str(), "tree-1");
    assert_eq!(
        script.commit().action,
        "ended: max-iterations; the branch ends on the content of iteration 1"
    );
    let script = script.committed().ends(&EXHAUSTED, 2);
    let best = script.state().best().expect("something was measured");
    assert_eq!(best.commit.as_ref().map(CommitId::as_str), Some("commit of 1"));
    let script = script.reopened(ONE_MORE, None).asks(Role::Controller, "4");
    assert_eq!(script.asked().tree.as_ref().map(TreeId::as_str), Some("tree-1"));
}

#[test]
fn keep_last_leaves_the_last_content() {
    let script = counting(flat(2)).with_errors("tree-1", 3).with_errors("tree-2", 5).plans();
    assert_eq!(script.commit().plant.as_str(), "tree-2");
    assert_eq!(script.state().best().map(|best| best.label.as_str()), Some("1"), "it is named all the same");
}

#[test]
fn keep_best_is_for_the_outermost_node_alone() {
    let spec = ControlSpec { keep: Keep::Best, ..nested(2, 2) };
    let script = Script::at_controller(spec).plans().committed();
    let script = script.with_errors("tree-1", 1).with_errors("tree-2", 9).plans();
    assert_eq!((script.commit().depth, script.commit().plant.as_str()), (1, "tree-2"));
}

/// Sensors that were green from the start say nothing about the task: its work must not be thrown away for that.
#[test]
fn of_contents_that_measure_the_same_the_newest_is_the_best() {
    let spec = || ControlSpec { keep: Keep::Best, ..flat(1) };
    let script = Script::start(spec()).prepared().all_pass().committed();
    let script = script.moves_to("tree-1").all_pass().committed().plans();
    assert_eq!(script.commit().plant.as_str(), "tree-1");
    let unmeasured = ControlSpec { root: leaf("root", Vec::new(), 1), ..spec() };
    let script = Script::at_controller(unmeasured).moves_to("tree-1").committed().plans();
    assert_eq!(script.commit().plant.as_str(), "tree-1");
}

#[derive(Clone, Copy)]
enum Says {
    Nothing,
    Errors(i64),
    /// So many tests passed, and so many failed.
    Tests(i64, i64),
}

fn says(says: Says) -> impl Fn(&str) -> Reading {
    move |name| {
        let mut reading = reading(name, ReadingStatus::Fail, true);
        reading.metrics = match says {
            Says::Nothing => Vec::new(),
            Says::Errors(count) => vec![figure("errors", count, Better::Lower)],
            Says::Tests(passed, failed) => vec![
                figure("tests-passed", passed, Better::Higher),
                figure("tests-failed", failed, Better::Lower),
            ],
        };
        reading
    }
}

/// The content that the branch ends on, where the base and then the contents of the iterations say so.
fn kept(base: Says, iterations: &[Says]) -> String {
    let cap = u32::try_from(iterations.len()).expect("a handful of iterations");
    let spec = ControlSpec { keep: Keep::Best, ..flat(cap) };
    let mut script = Script::start(spec).prepared().measured_by(says(base)).committed();
    for (number, iteration) in iterations.iter().enumerate() {
        let tree = format!("tree-{}", number + 1);
        script = script.moves_to(&tree).measured_by(says(*iteration)).committed();
    }
    script.plans().commit().plant.as_str().to_owned()
}

/// Code that does not compile prints no figure that those of its tests could be held against.
#[test]
fn tests_that_can_be_counted_are_better_than_code_that_does_not_compile() {
    for base in [Says::Nothing, Says::Errors(2)] {
        let grows = [Says::Tests(50, 50), Says::Tests(90, 10), Says::Tests(99, 1)];
        assert_eq!(kept(base, &grows), "tree-3");
        assert_eq!(kept(base, &[Says::Tests(99, 1), base, base]), "tree-1");
    }
    assert_eq!(kept(Says::Tests(99, 1), &[Says::Errors(1), Says::Nothing]), "base-tree");
}

#[test]
fn code_that_never_compiles_again_is_a_regression() {
    let spec = patient(2, flat(20));
    let script = Script::start(spec).prepared().measured_by(says(Says::Tests(99, 1))).committed();
    let script = script.moves_to("tree-1").measured_by(says(Says::Errors(1))).committed();
    let script = script.moves_to("tree-2").measured_by(says(Says::Nothing)).committed();
    let _ = script.stalls(Stall::Regression);
}

/// The first figures that a sensor prints do not make the content before them the best for ever.
#[test]
fn of_contents_that_no_figure_tells_apart_the_later_one_is_kept() {
    assert_eq!(kept(Says::Nothing, &[Says::Errors(1), Says::Errors(1)]), "tree-2");
    assert_eq!(kept(Says::Errors(2), &[Says::Nothing, Says::Nothing]), "tree-2");
    assert_eq!(kept(Says::Errors(2), &[Says::Nothing, Says::Errors(3)]), "tree-1", "worse than the base");
}

#[test]
fn where_figures_disagree_evenly_more_tests_that_pass_decide() {
    assert_eq!(kept(Says::Tests(0, 1), &[Says::Tests(50, 5)]), "tree-1");
    assert_eq!(kept(Says::Tests(50, 5), &[Says::Tests(0, 1)]), "base-tree");
}

/// One warning less does not make up for tests that can no longer be counted.
#[test]
fn a_figure_of_another_sensor_does_not_hide_tests_that_are_gone() {
    let spec =
        ControlSpec { keep: Keep::Best, ..of(leaf("root", vec![command("tests"), command("lint")], 1)) };
    let read = |tests: Says, warnings: i64| {
        move |name: &str| if name == "lint" { errors(warnings)(name) } else { says(tests)(name) }
    };
    let script = Script::start(spec).prepared().measured_by(read(Says::Tests(9, 1), 5)).committed();
    let script = script.moves_to("tree-1").measured_by(read(Says::Nothing, 4)).committed().plans();
    assert_eq!(script.commit().plant.as_str(), "base-tree");
}

#[test]
fn a_met_target_keeps_what_was_met() {
    let spec = ControlSpec { keep: Keep::Best, ..flat(3) };
    let script = Script::start(spec).prepared().all_pass().committed();
    let script = script.moves_to("tree-1").all_pass().committed().claims();
    assert_eq!(script.commit().plant.as_str(), "tree-1");
}

#[test]
fn a_person_who_takes_a_stalled_run_up_begins_counting_anew() {
    let spec = patient(2, flat(20));
    let script = Script::at_controller(spec).fails_with("one", "tree-1").fails_with("one", "tree-2");
    let script = script.stalls(Stall::Stagnation);
    let script = script.committed().closed().reopened(crate::words::NO_MORE, Some("look at the parser"));
    let script = script.asks(Role::Controller, "4");
    assert!(script.told().contains(&"a person says: look at the parser".to_owned()), "{:?}", script.told());
    script.fails_with("two", "tree-3").plans().asks(Role::Actuator, "5");
}

/// The point that only tested a claim is not in the commit of the iteration that went on to act.
#[test]
fn the_best_never_names_a_commit_with_another_content() {
    let script = Script::at_controller(nested(2, 2)).plans().committed().claims().measured_by(errors(1));
    let script = script.moves_to("tree-1").measured_by(errors(5)).committed();
    let best = script.frame().steadiness.best().expect("something was measured");
    assert_eq!((best.plant.as_str(), &best.commit), ("base-tree", &None));
}

#[test]
fn a_long_history_is_remembered_in_a_bounded_way() {
    let mut script = counting(flat(90));
    for number in 0..80 {
        script = script.with_errors(&format!("tree-{number}"), 100);
    }
    assert_eq!(script.frame().steadiness.points().len(), 64);
    assert_eq!(script.state().best().map(|best| best.label.as_str()), Some("0"));
}
