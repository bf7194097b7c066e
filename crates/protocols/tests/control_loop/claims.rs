//! `target-met: true` counts only over required sensors that passed on the tree it speaks of (W4–W6), and an answer that
//! cannot be used is sent back once.

use crate::script::Script;
use crate::words::{
    command, flat, leaf, lines, malformed, met, nested, of, optional, plan, prose, reading,
    unmet_without_a_plan,
};
use windlass_protocols::Role;
use windlass_protocols::outcome::{Answer, ReadingStatus};
use windlass_protocols::protocol::feedback_control::end::{Cause, End, NodeEnd};

fn unreadable(fault: &str) -> Cause {
    Cause::NoReadableAnswer { role: Role::Controller, faults: lines(&[fault]) }
}

const NO_PLAN: &str = "target-met is false and there is no action plan: say what is to be done";

#[test]
fn a_claim_over_a_failing_sensor_is_refused_and_told_back() {
    let script = Script::at_controller(flat(2)).claims().decides(&[
        "effect-settled",
        "decision-taken",
        "claim-refused",
        "repair-asked",
        "effect-requested",
    ]);
    let script = script.asks(Role::Controller, "1");
    assert!(
        script.faults()[0].contains("do not pass on the tree you judged: tests;"),
        "{:?}",
        script.faults()
    );
    script.moves_to("tree-1").all_pass().committed().claims().committed().ends(&End::Complete, 1);
}

#[test]
fn a_claim_that_is_repeated_ends_the_node_with_an_error() {
    let cause = Cause::FalseClaim { failing: lines(&["tests"]) };
    Script::at_controller(flat(2))
        .claims()
        .claims()
        .node_ends(&NodeEnd::Failed { cause: cause.clone() })
        .committed()
        .needs(cause, 0);
}

#[test]
fn a_refused_claim_followed_by_nothing_readable_ends_the_node() {
    let cause = unreadable("no target-met");
    Script::at_controller(flat(2)).claims().leaves(malformed()).committed().needs(cause, 0);
}

#[test]
fn claims_are_counted_within_one_iteration() {
    let script = Script::at_controller(flat(3)).claims().moves_to("tree-1").all_fail().committed();
    script.asks(Role::Controller, "2").claims().asks(Role::Controller, "2").plans().asks(Role::Actuator, "2");
}

#[test]
fn a_claim_of_a_child_whose_sensors_are_pending_is_measured_first() {
    let entered = || Script::at_controller(nested(2, 2)).plans().committed().claims();
    let script = entered();
    assert_eq!((script.measure().depth, script.measure().label.as_str()), (1, "1.1"));
    script.all_pass().node_ends(&NodeEnd::TargetMet);
    let script = entered().all_fail().asks(Role::Controller, "1.1");
    assert!(script.faults()[0].contains("build"), "{:?}", script.faults());
    assert_eq!(
        script.inputs(),
        ["plan.md", "sensor-build-output.md"],
        "the readings that refute it are shown"
    );
    script.moves_to("tree-1").all_pass().committed().asks(Role::Controller, "1.2");
}

#[test]
fn a_sensor_that_is_not_required_does_not_stand_in_the_way() {
    let spec = of(leaf("root", vec![command("tests"), optional(command("lint"))], 2));
    Script::start(spec)
        .prepared()
        .failing(&["lint"])
        .committed()
        .claims()
        .committed()
        .ends(&End::Complete, 0);
}

#[test]
fn a_sensor_that_could_not_run_fails_and_is_told_apart() {
    let script = Script::start(flat(2)).prepared().measured_by(|name| {
        let mut reading = reading(name, ReadingStatus::Fail, true);
        reading.cause = Some("not-runnable".to_owned());
        reading
    });
    let script = script.committed();
    assert_eq!(script.frame().readings[0].cause.as_deref(), Some("not-runnable"));
    let script = script.claims().asks(Role::Controller, "1");
    assert!(
        script.faults()[0].contains("do not pass on the tree you judged: tests"),
        "{:?}",
        script.faults()
    );
}

#[test]
fn w05_a_node_without_sensors_has_the_controllers_word_alone() {
    let script = Script::at_controller(of(leaf("root", Vec::new(), 2))).claims().committed();
    script.ends(&End::Complete, 0);
}

#[test]
fn not_met_without_a_plan_is_sent_back_once() {
    let script = Script::at_controller(flat(2)).leaves(unmet_without_a_plan());
    assert_eq!(script.faults(), [NO_PLAN]);
    script.plans().asks(Role::Actuator, "1");
    Script::at_controller(flat(2))
        .leaves(unmet_without_a_plan())
        .leaves(unmet_without_a_plan())
        .committed()
        .needs(unreadable(NO_PLAN), 0);
}

#[test]
fn a_controller_that_leaves_nothing_readable_is_asked_once_more_then_the_node_ends() {
    for answer in
        [malformed(), Answer::Missing, Answer::Action(windlass_protocols::outcome::Action::default())]
    {
        let script = Script::at_controller(flat(2)).leaves(answer.clone()).asks(Role::Controller, "1");
        let fault = script.faults()[0].clone();
        script.leaves(answer).committed().needs(unreadable(&fault), 0);
    }
}

#[test]
fn an_answer_that_was_repaired_counts() {
    Script::at_controller(flat(2)).leaves(malformed()).leaves(plan()).asks(Role::Actuator, "1");
}

#[test]
fn a_controller_that_edits_is_asked_once_more_then_the_node_ends() {
    let cause = Cause::WorkspaceChanged { role: Role::Controller, paths: lines(&["src/main.c"]) };
    Script::at_controller(flat(2))
        .edits(met(), &["src/main.c"])
        .asks(Role::Controller, "1")
        .edits(plan(), &["src/main.c"])
        .committed()
        .needs(cause, 0);
}

#[test]
fn a_prose_sensor_counts_for_a_claim_like_a_command() {
    let spec = of(leaf("root", vec![prose("look")], 2));
    let fails = Answer::Reading(reading("look", ReadingStatus::Fail, true));
    let script = Script::start(spec).prepared().leaves(fails).committed().claims();
    assert!(script.faults()[0].contains("look"), "{:?}", script.faults());
}
