//! How many actuations a cap allows, in both rules, and that the last measurement is judged (W1).

use crate::script::{Script, reopen};
use crate::words::{NO_MORE, ONE_MORE, caps, flat, leaf, nested, of, strict};
use windlass_protocols::kernel::budget::Dimension;
use windlass_protocols::protocol::feedback_control::end::{End, NodeEnd};
use windlass_protocols::protocol::feedback_control::spec::ControlSpec;
use windlass_protocols::{Rejection, Role};

const EXHAUSTED: End = End::Exhausted { dimension: Dimension::Rounds };

fn used_up() -> Rejection {
    Rejection::NothingToReopen { why: "all its iterations are used up; give it more".to_owned() }
}

/// Actuations that fail, as many as the loop lets happen; ends before the last commit.
fn until_the_cap(spec: ControlSpec) -> (u32, Script) {
    let mut script = Script::at_controller(spec);
    let mut actuations = 0;
    loop {
        if script.frame().end.is_some() {
            return (actuations, script);
        }
        script = script.plans();
        if script.frame().end.is_some() {
            return (actuations, script);
        }
        actuations += 1;
        let tree = format!("tree-{actuations}");
        script = script.acts().captured(&tree).all_fail().committed();
    }
}

#[test]
fn w01_a_cap_of_n_allows_n_actuations_and_then_one_judgement() {
    for cap in [1, 2, 5] {
        let (actuations, script) = until_the_cap(flat(cap));
        assert_eq!(actuations, cap);
        let label = (cap + 1).to_string();
        assert_eq!(script.commit().label, label, "the judgement is an iteration of its own");
        script.committed().ends(&EXHAUSTED, cap);
    }
}

#[test]
fn strict_original_stops_before_the_controller_one_actuation_earlier() {
    for cap in [1, 2, 5] {
        let (actuations, script) = until_the_cap(strict(flat(cap)));
        assert_eq!(actuations, cap - 1);
        assert_eq!(script.commit().label, cap.to_string());
        script.committed().ends(&EXHAUSTED, cap - 1);
    }
}

#[test]
fn green_sensors_after_the_last_actuation_are_judged() {
    Script::at_controller(flat(1))
        .moves_to("tree-1")
        .all_pass()
        .committed()
        .claims()
        .committed()
        .ends(&End::Complete, 1);
}

#[test]
fn strict_original_ends_exhausted_although_the_sensors_are_green() {
    Script::at_controller(strict(flat(2)))
        .moves_to("tree-1")
        .all_pass()
        .committed()
        .node_ends(&NodeEnd::MaxIterations)
        .committed()
        .ends(&EXHAUSTED, 1);
}

#[test]
fn a_single_shot_without_sensors_is_done_once_and_judged() {
    let single = || of(leaf("once", Vec::new(), 1));
    let once = || Script::at_controller(single()).moves_to("tree-1").committed().asks(Role::Controller, "2");
    once().claims().committed().ends(&End::Complete, 1);
    once().plans().committed().ends(&EXHAUSTED, 1);
    let nothing = Script::start(strict(single())).prepared().committed();
    nothing.node_ends(&NodeEnd::MaxIterations).committed().ends(&EXHAUSTED, 0);
}

#[test]
fn the_cap_of_an_inner_node_counts_its_own_entry_only() {
    let script = Script::at_controller(nested(2, 1)).plans().committed();
    let script = script.fails_on("tree-1").plans().node_ends(&NodeEnd::MaxIterations).committed();
    let script = script.all_fail().committed().asks(Role::Controller, "2").plans().committed();
    let script = script.asks(Role::Controller, "2.1").fails_on("tree-2").plans().committed();
    script.all_fail().committed().asks(Role::Controller, "3").plans().committed().ends(&EXHAUSTED, 2);
}

#[test]
fn nested_caps_multiply_in_strict_original_too() {
    let script = Script::at_controller(strict(nested(2, 2))).plans().committed();
    let script = script.fails_on("tree-1").node_ends(&NodeEnd::MaxIterations).committed();
    script.all_fail().committed().node_ends(&NodeEnd::MaxIterations).committed().ends(&EXHAUSTED, 1);
}

#[test]
fn an_exhausted_loop_is_taken_up_with_more_iterations_only() {
    for (spec, actuations) in [(flat(1), 1), (strict(flat(2)), 1)] {
        let (acted, script) = until_the_cap(spec);
        assert_eq!(acted, actuations);
        let script = script
            .committed()
            .ends(&EXHAUSTED, actuations)
            .refuses(reopen(NO_MORE, None), &used_up())
            .reopened(ONE_MORE, None);
        script.moves_to("another").all_pass().committed();
    }
}

#[test]
fn the_flow_says_how_often_inside_and_the_run_how_often_outside() {
    let run = ControlSpec { caps: caps(1), ..flat(9) };
    let (actuations, _) = until_the_cap(run);
    assert_eq!(actuations, 1);
}
