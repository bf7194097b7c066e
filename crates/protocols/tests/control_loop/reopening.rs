//! The ways back into an ended loop, and that a person's words are heard.

use crate::script::{Script, reopen};
use crate::words::{NO_MORE, ONE_MORE, figure, flat, malformed, nested, reading};
use windlass_protocols::explain::explain;
use windlass_protocols::outcome::{Better, Reading, ReadingStatus};
use windlass_protocols::protocol::feedback_control::end::End;
use windlass_protocols::protocol::feedback_control::facts::NewLimits;
use windlass_protocols::protocol::feedback_control::spec::{ControlSpec, Keep};
use windlass_protocols::{Observation, Rejection, Role, TreeId};

#[test]
fn a_target_that_is_met_is_not_taken_up() {
    let why = "the target is met".to_owned();
    Script::start(flat(1))
        .prepared()
        .all_pass()
        .committed()
        .claims()
        .committed()
        .ends(&End::Complete, 0)
        .refuses(reopen(ONE_MORE, None), &Rejection::NothingToReopen { why });
}

#[test]
fn a_failed_setup_is_tried_again() {
    let end = End::SetupFailed { reason: "no room".to_owned() };
    Script::start(flat(1)).refused("no room").ends(&end, 0).reopened(NO_MORE, None).prepared().all_fail();
}

#[test]
fn a_node_that_failed_goes_on_with_its_next_iteration() {
    let script = Script::at_controller(flat(2)).leaves(malformed()).leaves(malformed()).committed().closed();
    let script = script.reopened(NO_MORE, Some("write the front matter")).asks(Role::Controller, "2");
    assert_eq!(script.told(), ["a person says: write the front matter"]);
    script.moves_to("tree-1").all_pass().committed().claims().committed().ends(&End::Complete, 1);
}

#[test]
fn a_child_that_failed_fast_goes_on_inside() {
    let script = Script::at_controller(nested(2, 2)).plans().committed();
    let script = script.leaves(malformed()).leaves(malformed()).committed().closed();
    script.reopened(NO_MORE, None).asks(Role::Controller, "1.2").moves_to("tree-1");
}

#[test]
fn a_note_is_said_again_to_a_controller_that_got_lost_and_not_after_it_was_answered() {
    let noted = |script: &Script| script.told().iter().any(|line| line == "a person says: mind the plural");
    let script = Script::at_controller(flat(3)).stop_asked().interrupted().closed();
    let script = script.reopened(NO_MORE, Some("mind the plural"));
    assert!(noted(&script));
    let script = script.lost();
    assert!(noted(&script), "{:?}", script.told());
    let script = script.fails_on("tree-1").asks(Role::Controller, "2");
    assert!(!noted(&script), "{:?}", script.told());
}

/// A controller that is only asked to repair its claim has not heard the note.
#[test]
fn a_note_waits_for_a_question_that_can_carry_it() {
    let script = Script::at_controller(nested(2, 2)).plans().committed().claims().stop_asked().interrupted();
    let script = script.closed().reopened(NO_MORE, Some("mind the plural")).all_fail();
    let script = script.asks(Role::Controller, "1.1");
    assert!(!script.faults().is_empty());
    let script = script.fails_on("tree-1").asks(Role::Controller, "1.2");
    assert!(script.told().contains(&"a person says: mind the plural".to_owned()), "{:?}", script.told());
}

/// A plan made for the last content is not carried out on the best one that was put back.
#[test]
fn after_a_refused_last_commit_the_controller_looks_again() {
    let spec = ControlSpec { keep: Keep::Best, ..flat(1) };
    let script = Script::start(spec).prepared().all_pass().committed();
    let script = script.moves_to("tree-1").all_fail().committed().plans();
    assert_eq!(script.commit().plant.as_str(), "base-tree");
    let script = script.refused("hook: no").closed().reopened(ONE_MORE, None).asks(Role::Controller, "2");
    assert_eq!(script.asked().tree.as_ref().map(TreeId::as_str), Some("base-tree"));
    script.plans().asks(Role::Actuator, "2");
}

#[test]
fn a_claim_about_a_content_that_was_put_back_is_measured_first() {
    let spec = ControlSpec { keep: Keep::Best, ..flat(1) };
    let script = Script::start(spec).prepared().all_pass().committed();
    let script = script.moves_to("tree-1").all_fail().committed().plans().committed().closed();
    let script = script.reopened(ONE_MORE, None).asks(Role::Controller, "3");
    assert_eq!(script.inputs(), ["sensor-tests-output.md"], "what it measured then is known");
    let script = script.claims();
    assert_eq!(script.measure().tree.as_str(), "base-tree");
    script.all_pass().committed().ends(&End::Complete, 1);
}

#[test]
fn patience_can_be_given_to_a_loop_that_was_stopped_early() {
    let standing = |name: &str| {
        let metrics = vec![figure("errors", 3, Better::Lower)];
        Reading { metrics, ..reading(name, ReadingStatus::Fail, true) }
    };
    let script = Script::start(ControlSpec { steady_limit: 1, ..flat(9) }).prepared();
    let script = script.measured_by(standing).committed().moves_to("tree-1").measured_by(standing);
    let stalled = script.committed().plans().committed().closed();
    assert!(matches!(stalled.state().end, Some(End::Stalled { .. })), "{:?}", stalled.state().end);
    let limits = NewLimits { steady_limit: Some(0), ..NewLimits::default() };
    let script = stalled.reopened_with(NO_MORE, limits);
    let script = script.fails_on("tree-3").fails_on("tree-4").fails_on("tree-5");
    script.plans().asks(Role::Actuator, "6");
}

#[test]
fn an_inner_node_is_given_more_iterations_of_its_own() {
    let inner = |script: Script| script.plans().committed().fails_on("tree-1").plans();
    let script = inner(Script::at_controller(nested(1, 1))).committed().all_fail().committed();
    let script = script.plans().committed().closed();
    let more = NewLimits { more_iterations: vec![(1, 1)], ..NewLimits::default() };
    let script = script.reopened_with(ONE_MORE, more).plans().committed().fails_on("tree-2");
    script.plans().asks(Role::Actuator, "3.2");
}

#[test]
fn iterations_are_given_only_to_inner_nodes_that_there_are() {
    let mut script = Script::at_controller(nested(1, 1)).stop_asked().interrupted().closed();
    for depth in [0, 2] {
        let limits = NewLimits { more_iterations: vec![(depth, 1)], ..NewLimits::default() };
        let refused = Rejection::InvalidSpec {
            why: "more iterations were given to an inner node that the flow does not have".to_owned(),
        };
        script = script.refuses(Observation::Reopened { caps: NO_MORE, note: None, limits }, &refused);
    }
}

/// Whoever looks between two entries of an inner node sees what it measured last.
#[test]
fn a_node_that_was_left_is_remembered_until_it_is_entered_again() {
    let script = Script::at_controller(nested(2, 1)).plans().committed().fails_on("tree-1").plans();
    let script = script.committed();
    let left = &script.state().left_nodes;
    assert_eq!(left.len(), 1);
    assert_eq!((left[0].label(), left[0].readings.len()), ("1.2".to_owned(), 1));
    let script = script.all_fail().committed().plans();
    assert!(script.state().left_nodes.is_empty(), "it is entered again");
}

#[test]
fn every_end_explains_itself_and_names_the_way_on() {
    let script = Script::at_controller(flat(1));
    assert!(explain(script.run()).now.starts_with("iteration 1: the controller"));
    let script = script.fails_on("tree-1").plans().committed().closed();
    let explained = explain(script.run());
    assert_eq!(explained.now, "out of iterations after 1 actuation");
    assert_eq!(explained.commands[0], "windlass resume run-1 --max-iterations +1");
    let best = explained.because.iter().any(|line| line.starts_with("the best so far is iteration 1"));
    assert!(best, "{:?}", explained.because);
    assert_eq!(script.facts().last().map(windlass_protocols::Fact::name), Some("run-ended"));
}
