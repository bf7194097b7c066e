//! What a run may use, and what one node may use of it.

use crate::script::{Script, reopen};
use crate::words::{NO_MORE, STEP, command, flat, leaf, nested, of, prose, reading, three_levels};
use windlass_protocols::effect::SensorRun;
use windlass_protocols::kernel::budget::{CapChange, Dimension};
use windlass_protocols::outcome::{
    Answer, Measured, Outcome, Reading, ReadingStatus, StepEnd, TIME_LIMIT, Trouble, Usage,
};
use windlass_protocols::protocol::feedback_control::end::{End, NodeEnd};
use windlass_protocols::protocol::feedback_control::spec::{Actuator, ControlSpec, NodeBudget, Sensor};
use windlass_protocols::{Millis, Rejection, Role};

fn tokens(cap: u64) -> NodeBudget {
    NodeBudget { tokens: Some(cap), ..NodeBudget::default() }
}

fn inner_may_use(budget: NodeBudget) -> ControlSpec {
    let mut spec = nested(3, 5);
    if let Actuator::Cascade(child) = &mut spec.root.actuator {
        child.budget = budget;
    }
    spec
}

#[test]
fn a_run_without_tokens_ends_where_it_stands_and_goes_on_there() {
    let mut spec = flat(3);
    spec.caps.tokens = Some(20);
    let script = Script::at_controller(spec).plans();
    let end = End::Exhausted { dimension: Dimension::Tokens };
    let script = script.ends(&end, 0);
    let why = "nothing is left of its tokens; give it more".to_owned();
    let script = script.refuses(reopen(NO_MORE, None), &Rejection::NothingToReopen { why });
    let more = CapChange { more_tokens: 100, ..NO_MORE };
    script.reopened(more, None).asks(Role::Actuator, "1");
}

#[test]
fn what_is_done_is_committed_also_when_nothing_is_left() {
    let mut spec = flat(3);
    spec.caps.tokens = Some(40);
    let script = Script::at_controller(spec).moves_to("tree-1").all_pass();
    assert_eq!(script.commit().label, "1");
    let end = End::Exhausted { dimension: Dimension::Tokens };
    script.committed().ends(&end, 1);
}

#[test]
fn a_step_gets_what_is_left_of_the_node_and_of_the_run() {
    let mut spec =
        inner_may_use(NodeBudget { time: Some(Millis(60_000)), tokens: Some(100), cost_micros: Some(50) });
    spec.caps.cost_micros = Some(30);
    let script = Script::at_controller(spec);
    assert_eq!(script.asked().limits.tokens, None, "the outer node has no share of its own");
    let script = script.plans().committed().asks(Role::Controller, "1.1");
    let limits = script.asked().limits;
    assert_eq!((limits.total, limits.tokens, limits.cost_micros), (Millis(60_000), Some(100), Some(20)));
    let limits = script.plans().asked().limits;
    assert_eq!((limits.total, limits.tokens, limits.cost_micros), (Millis(59_000), Some(90), Some(15)));
}

#[test]
fn a_node_whose_share_is_used_up_returns_to_its_parent() {
    let script = Script::at_controller(inner_may_use(tokens(30))).plans().committed();
    let script = script.moves_to("tree-1").all_fail().committed();
    let script = script.node_ends(&NodeEnd::Spent { dimension: Dimension::Tokens }).committed();
    assert_eq!(script.times("child-returned"), 1);
    script
        .all_fail()
        .committed()
        .asks(Role::Controller, "2")
        .plans()
        .committed()
        .asks(Role::Controller, "2.1");
}

#[test]
fn every_entry_has_its_share_anew() {
    let script = Script::at_controller(inner_may_use(tokens(30))).plans().committed();
    let script = script.fails_on("tree-1").committed().all_fail().committed().plans().committed();
    assert_eq!(script.asks(Role::Controller, "2.1").asked().limits.tokens, Some(30));
}

/// What an inner node uses is used up for all around it; nothing inside may begin when that is nothing.
#[test]
fn a_node_ends_when_the_share_of_one_around_it_is_used_up() {
    let mut spec = three_levels();
    spec.root.max_iterations = 2;
    if let Actuator::Cascade(middle) = &mut spec.root.actuator {
        middle.budget = tokens(20);
    }
    let spent = NodeEnd::Spent { dimension: Dimension::Tokens };
    let script = Script::at_controller(spec).plans().committed().plans().committed().plans();
    let script = script.node_ends(&spent);
    assert_eq!(script.commit().depth, 2);
    let script = script.committed();
    assert_eq!(script.measure().depth, 1, "whoever is left with the outcome measures it");
    let script = script.all_fail().committed().node_ends(&spent);
    assert_eq!(script.commit().depth, 1);
    let script = script.committed();
    assert_eq!(script.measure().depth, 0, "the outermost node has enough and measures");
}

#[test]
fn an_agent_that_was_ended_for_its_nodes_share_ends_the_node_and_not_the_run() {
    let script = Script::at_controller(inner_may_use(tokens(15))).plans().committed().plans();
    let passed = Trouble::CapPassed { dimension: Dimension::Tokens };
    let script = script.has(passed).node_ends(&NodeEnd::Spent { dimension: Dimension::Tokens });
    let script = script.committed();
    assert_eq!(script.measure().depth, 0);
}

#[test]
fn an_agent_that_was_ended_for_the_runs_cap_ends_the_run() {
    let passed = Trouble::CapPassed { dimension: Dimension::DayMoney };
    let end = End::Exhausted { dimension: Dimension::DayMoney };
    Script::at_controller(flat(2)).has(passed).ends(&end, 0);
}

#[test]
fn time_and_money_of_a_node_are_shares_too() {
    let time = NodeBudget { time: Some(Millis(1_000)), ..NodeBudget::default() };
    let money = NodeBudget { cost_micros: Some(STEP.cost_micros), ..NodeBudget::default() };
    for (budget, dimension) in [(time, Dimension::Minutes), (money, Dimension::Money)] {
        let script = Script::at_controller(inner_may_use(budget)).plans().committed().plans();
        script.node_ends(&NodeEnd::Spent { dimension });
    }
}

#[test]
fn a_share_of_the_outermost_node_ends_the_run_and_is_not_given_anew_without_a_word() {
    let mut spec = flat(5);
    spec.root.budget = tokens(30);
    let end = End::Exhausted { dimension: Dimension::Tokens };
    let script = Script::at_controller(spec).moves_to("tree-1").all_fail().committed();
    let script = script.node_ends(&NodeEnd::Spent { dimension: Dimension::Tokens }).committed().ends(&end, 1);
    let why = "nothing is left of its tokens; give it more".to_owned();
    let refusal = Rejection::NothingToReopen { why };
    let script = script.refuses(reopen(NO_MORE, None), &refusal);
    let command = windlass_protocols::explain::explain(script.run()).commands.remove(0);
    assert!(command.ends_with(" --tokens +25"), "what is missing and half as much again: {command}");
    let more = CapChange { more_tokens: 10, ..NO_MORE };
    let script = script.refuses(reopen(more, None), &refusal);
    let more = CapChange { more_tokens: 25, ..NO_MORE };
    let script = script.reopened(more, None).asks(Role::Controller, "3");
    assert_eq!(script.asked().limits.tokens, Some(15));
}

/// The actuator was paid for: what it made is measured by its own node and by the one around it, committed, and stays.
#[test]
fn what_was_done_with_the_last_of_a_share_is_measured_and_kept() {
    let mut spec = inner_may_use(tokens(20));
    spec.root.budget = tokens(40);
    let script = Script::at_controller(spec).plans().committed().moves_to("tree-1");
    assert_eq!(script.measure().depth, 1);
    let limits = script.measure().limits;
    assert_eq!(limits.tokens, None, "measuring keeps to what the run has");
    let script = script.all_pass().committed();
    let spent = NodeEnd::Spent { dimension: Dimension::Tokens };
    let script = script.node_ends(&spent).committed();
    assert_eq!(script.measure().depth, 0);
    let script = script.all_pass().committed().node_ends(&spent);
    assert_eq!(script.commit().plant.as_str(), "tree-1");
    let script = script.committed();
    assert_eq!(script.state().best().expect("it was measured").label, "1");
    script.ends(&End::Exhausted { dimension: Dimension::Tokens }, 1);
}

#[test]
fn time_that_is_used_up_does_not_cut_the_measurement_short() {
    let mut spec = flat(5);
    spec.root.budget = NodeBudget { time: Some(Millis(3_000)), ..NodeBudget::default() };
    let script = Script::at_controller(spec).moves_to("tree-1");
    assert!(script.measure().limits.total > Millis(3_000));
    script.all_pass().committed().node_ends(&NodeEnd::Spent { dimension: Dimension::Minutes });
}

#[test]
fn a_step_that_ran_out_of_its_own_time_failed_and_is_tried_again() {
    let script = Script::at_controller(flat(2));
    let script = script.reports(Answer::Missing, |report| report.end = StepEnd::TotalLimit);
    script.asks(Role::Controller, "1").plans().asks(Role::Actuator, "1");
}

fn minutes(cap: u64) -> ControlSpec {
    let mut spec = flat(3);
    spec.caps.time = Some(Millis::minutes(cap));
    spec
}

impl Script {
    /// Every sensor is ended when it has run as long as it may.
    fn runs_out_of_time(self) -> Self {
        let asked = self.measure();
        let read = |sensor: &SensorRun| Reading {
            cause: Some(TIME_LIMIT.to_owned()),
            ..reading(&sensor.name, ReadingStatus::Fail, sensor.required)
        };
        let longest = asked.sensors.iter().map(|one| one.total.unwrap_or(asked.limits.total)).max();
        let usage = Usage { duration: longest.unwrap_or(asked.limits.total), ..STEP };
        let readings = asked.sensors.iter().map(read).collect();
        let measured = Measured { tree: asked.tree.clone(), readings, usage, gate: Vec::new() };
        self.answer(Outcome::Measured(measured))
    }
}

/// What a sensor would have said is not known: that its run had no time for it says nothing about the code.
#[test]
fn a_sensor_that_is_cut_off_by_the_end_of_the_runs_minutes_has_not_measured() {
    let script = Script::start(minutes(2)).prepared().runs_out_of_time();
    assert_eq!(script.times("readings-taken"), 0);
    let script = script.ends(&End::Exhausted { dimension: Dimension::Minutes }, 0);
    let more = CapChange { more_time: Millis::minutes(60), ..NO_MORE };
    let script = script.reopened(more, None).all_pass().committed();
    let _ = script.asks(Role::Controller, "1");
}

#[test]
fn a_sensor_that_is_cut_off_by_the_end_of_a_nodes_minutes_has_not_measured() {
    let mut spec = flat(3);
    spec.root.budget = NodeBudget { time: Some(Millis::minutes(2)), ..NodeBudget::default() };
    let script = Script::start(spec).prepared().runs_out_of_time();
    assert_eq!(script.times("readings-taken"), 0);
    let _ = script.node_ends(&NodeEnd::Spent { dimension: Dimension::Minutes });
}

#[test]
fn a_sensor_that_reaches_its_own_limit_fails_whatever_is_left() {
    let script = Script::start(minutes(10)).prepared().runs_out_of_time();
    assert_eq!(script.frame().readings[0].cause.as_deref(), Some(TIME_LIMIT));
    let _ = script.committed().ends(&End::Exhausted { dimension: Dimension::Minutes }, 0);
}

/// `flat` gives every step ten minutes.
#[test]
fn a_sensor_with_a_limit_of_its_own_has_that_and_no_more_than_the_run_has_left() {
    let timed = |sensor: Sensor, own: u64| Sensor { timeout: Some(Millis::minutes(own)), ..sensor };
    let sensors = vec![timed(command("fast"), 1), timed(command("slow"), 90), command("usual")];
    let mut spec = of(leaf("root", [sensors, vec![timed(prose("look"), 3)]].concat(), 3));
    spec.caps.time = Some(Millis::minutes(60));
    let script = Script::start(spec).prepared();
    let asked = script.measure();
    let totals: Vec<Option<Millis>> = asked.sensors.iter().map(|sensor| sensor.total).collect();
    assert_eq!(totals, [Some(Millis::minutes(1)), Some(Millis::minutes(60)), None]);
    assert_eq!(asked.limits.total, Millis::minutes(10));
    let script = script.all_pass();
    assert_eq!(script.asked().limits.total, Millis::minutes(3));
    let late = Reading { cause: Some(TIME_LIMIT.to_owned()), ..reading("look", ReadingStatus::Fail, true) };
    let script = script.reports(Answer::Reading(late), |report| report.end = StepEnd::TotalLimit);
    assert_eq!(script.frame().readings[3].cause.as_deref(), Some(TIME_LIMIT));
    let _ = script.committed().asks(Role::Controller, "1");
}
