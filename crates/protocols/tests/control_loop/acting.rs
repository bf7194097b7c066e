//! The actuator, what it left, and the commit that an iteration becomes.

use crate::script::Script;
use crate::words::{NO_MORE, ONE_MORE, command, flat, leaf, lines, malformed, of};
use windlass_protocols::Role;
use windlass_protocols::effect::Effect;
use windlass_protocols::outcome::{Answer, StepEnd};
use windlass_protocols::protocol::feedback_control::end::{Cause, End, NodeEnd, Stall};
use windlass_protocols::protocol::feedback_control::spec::ControlSpec;
use windlass_protocols::protocol::feedback_control::stage::Stage;

#[test]
fn an_actuator_sees_the_decision_and_neither_readings_nor_remarks() {
    let script = Script::at_controller(flat(2)).plans().asks(Role::Actuator, "1");
    assert_eq!(script.inputs(), ["controller-output.md"]);
}

#[test]
fn the_work_counts_also_without_a_readable_report() {
    let script = Script::at_controller(flat(2)).plans().leaves(malformed()).asks(Role::Actuator, "1");
    let script = script.leaves(Answer::Missing).captured("tree-1").all_fail();
    assert_eq!(script.commit().action, "1 files changed");
}

#[test]
fn an_actuator_that_keeps_failing_ends_the_node() {
    let cause = Cause::AgentKeepsFailing { role: Role::Actuator, why: "exited with 3".to_owned() };
    Script::at_controller(flat(2)).plans().exits(3).exits(3).exits(3).committed().needs(cause, 0);
}

#[test]
fn an_actuator_that_is_not_there_needs_a_person_and_is_asked_again_afterwards() {
    let cause = Cause::AgentNotStarted { role: Role::Actuator, reason: "no such program".to_owned() };
    let missing = StepEnd::NotStarted { reason: "no such program".to_owned() };
    Script::at_controller(flat(2))
        .plans()
        .reports(Answer::Missing, |report| report.end = missing)
        .needs(cause, 0)
        .reopened(NO_MORE, None)
        .asks(Role::Actuator, "1");
}

#[test]
fn files_of_the_loop_that_the_actuator_changed_are_told_to_the_controller_once() {
    let reverted = lines(&[".ai-loop/flow.yaml"]);
    let script = Script::at_controller(flat(3)).plans().acts();
    let script = script.captured_as(|change| change.reverted = reverted, "tree-1").all_fail().committed();
    let told = script.told();
    assert!(told.iter().any(|line| line.starts_with(".ai-loop/flow.yaml belongs to the loop")), "{told:?}");
    let script = script.fails_on("tree-2");
    assert!(!script.told().iter().any(|line| line.contains("flow.yaml")), "{:?}", script.told());
}

#[test]
fn what_cannot_be_taken_safely_ends_the_node_on_the_content_before() {
    let cause = Cause::Hazard { hazards: lines(&["a link leads out of the tree"]) };
    let hazards = lines(&["a link leads out of the tree"]);
    let script = Script::at_controller(flat(2)).plans().acts();
    let script = script.captured_as(|change| change.hazards = hazards, "bad-tree");
    assert_eq!(script.commit().plant.as_str(), "base-tree");
    script.committed().needs(cause, 0);
}

#[test]
fn a_snapshot_that_is_refused_needs_a_person_and_is_taken_afterwards() {
    let script = Script::at_controller(flat(2)).plans().acts().refused("disk full");
    let script = script.needs(Cause::CaptureRefused { reason: "disk full".to_owned() }, 0);
    let script = script.reopened(NO_MORE, None);
    assert!(matches!(script.waiting(), Effect::CaptureChange { round: 1 }));
    script.captured("tree-1");
}

#[test]
fn an_actuator_that_changes_nothing_twice_in_a_row_ends_the_loop() {
    let spec = ControlSpec { steady_limit: 9, ..flat(9) };
    let script = Script::at_controller(spec).plans().acts();
    let script = script.captured_as(|change| change.files_changed = 0, "base-tree").all_fail();
    assert_eq!(script.commit().action, "nothing was changed");
    let script = script.committed();
    assert!(script.told().iter().any(|line| line.contains("changed nothing")), "{:?}", script.told());
    let script = script.fails_on("base-tree").asks(Role::Controller, "3").plans();
    script
        .node_ends(&NodeEnd::Stalled { how: Stall::NoChange })
        .committed()
        .ends(&End::Stalled { how: Stall::NoChange }, 2);
}

/// An inner node has no measurement to begin with; its first idle iteration is one all the same.
#[test]
fn two_idle_iterations_are_enough_in_an_inner_node_too() {
    let spec = ControlSpec { steady_limit: 9, ..crate::words::nested(2, 9) };
    let script = Script::at_controller(spec).plans().committed();
    let script = script.fails_on("base-tree").fails_on("base-tree").plans();
    script.node_ends(&NodeEnd::Stalled { how: Stall::NoChange });
}

#[test]
fn an_iteration_without_change_between_two_with_one_does_not_count() {
    let spec = ControlSpec { steady_limit: 9, ..flat(9) };
    let script = Script::at_controller(spec).fails_on("base-tree").fails_on("tree-1").fails_on("tree-1");
    script.plans().asks(Role::Actuator, "4");
}

#[test]
fn a_commit_that_is_tried_again_is_the_same_commit() {
    let script = Script::at_controller(flat(2)).moves_to("tree-1").all_fail();
    let first = script.commit().clone();
    let script = script.lost().interrupted().lost();
    assert_eq!(*script.commit(), first, "another time would be another commit");
}

#[test]
fn a_commit_that_a_hook_refuses_needs_a_person_and_is_tried_afterwards() {
    let script = Script::at_controller(flat(2)).moves_to("tree-1").all_fail().refused("hook: no");
    let script = script.needs(Cause::CommitRefused { reason: "hook: no".to_owned() }, 1);
    let script = script.reopened(NO_MORE, None);
    assert_eq!((script.commit().label.as_str(), script.commit().plant.as_str()), ("1", "tree-1"));
    script.committed().asks(Role::Controller, "2");
}

/// A commit that got lost may be on the branch: going on must not put a second one beside it.
#[test]
fn a_last_commit_that_nobody_saw_is_asked_for_again_as_it_was_whatever_room_is_given() {
    let script = Script::at_controller(flat(1)).fails_on("tree-1").plans();
    let unseen = script.commit().clone();
    let script = script.lost().lost().lost().lost().lost();
    let script = script.needs(Cause::StepKeepsGettingLost { stage: Stage::Committing }, 1);
    let script = script.reopened(ONE_MORE, None);
    assert_eq!(*script.commit(), unseen);
    let script = script.committed().asks(Role::Controller, "3").moves_to("tree-2").all_pass().committed();
    assert_eq!(script.labels(), ["0", "1", "2", "3"]);
}

#[test]
fn a_target_that_was_met_stays_met_while_its_commit_is_made() {
    let script = Script::start(flat(2)).prepared().all_pass().committed().claims().refused("hook: no");
    let script = script.needs(Cause::CommitRefused { reason: "hook: no".to_owned() }, 0);
    script.reopened(NO_MORE, None).committed().ends(&End::Complete, 0);
    let script = Script::start(flat(2)).prepared().all_pass().committed().claims();
    let script = script.lost().lost().lost().lost().lost().closed();
    script.reopened(NO_MORE, None).committed().ends(&End::Complete, 0);
}

#[test]
fn a_node_with_no_sensors_is_committed_without_any() {
    let script = Script::at_controller(of(leaf("root", Vec::new(), 2))).moves_to("tree-1");
    assert_eq!(script.commit().sensors, []);
    let two = of(leaf("root", vec![command("a"), command("b")], 2));
    assert_eq!(Script::start(two).prepared().all_fail().commit().sensors.len(), 2);
}

#[test]
fn an_edit_of_the_set_up_is_told_once_and_changes_nothing() {
    let (flow, sensor) = (".ai-loop/flow.yaml", ".claude/agents/loop-sensor-tests.md");
    let script = Script::at_controller(flat(3)).moves_to("tree-1").all_fail().committed_beside(&[flow]);
    let script = script.decides(&[
        "effect-settled",
        "iteration-committed",
        "setup-edited",
        "iteration-opened",
        "effect-requested",
    ]);
    let before = script.state().spec.clone();
    let script = script.moves_to("tree-2").all_fail().committed_beside(&[flow, sensor]);
    let script = script.moves_to("tree-3").all_fail().committed_beside(&[flow, sensor]);
    assert_eq!(script.times("setup-edited"), 2, "the flow once, the sensor once");
    assert_eq!(script.state().setup_edited, [flow, sensor]);
    assert_eq!(script.state().spec, before);
}
