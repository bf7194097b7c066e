//! What is measured, on which tree, in which order, and what a reading is worth whose sensor did more than read.

use crate::script::Script;
use crate::words::{BASE_TREE, STEP, command, flat, leaf, lines, malformed, of, prose, reading};
use windlass_protocols::outcome::{Answer, Measured, Outcome, Reading, ReadingStatus};
use windlass_protocols::protocol::feedback_control::end::{Cause, NodeEnd};
use windlass_protocols::protocol::feedback_control::spec::ControlSpec;
use windlass_protocols::{Role, TreeId};

fn passes(name: &str) -> Answer {
    Answer::Reading(reading(name, ReadingStatus::Pass, true))
}

/// Two commands and two sensors that only an agent can be.
fn mixed() -> ControlSpec {
    of(leaf("root", vec![prose("look"), command("tests"), prose("feel"), command("lint")], 2))
}

fn sensor_asked(script: &Script) -> Option<&str> {
    script.asked().node.as_ref().and_then(|node| node.sensor.as_deref())
}

#[test]
fn commands_are_measured_in_one_step_and_prose_sensors_one_after_the_other() {
    let script = Script::start(mixed()).prepared();
    let names: Vec<_> = script.measure().sensors.iter().map(|sensor| sensor.name.as_str()).collect();
    assert_eq!(names, ["tests", "lint"]);
    let script = script.all_pass().asks(Role::Sensor, "0");
    assert_eq!(sensor_asked(&script), Some("look"));
    assert_eq!(script.asked().tree, Some(TreeId::new(BASE_TREE)));
    let script = script.leaves(passes("look"));
    assert_eq!(sensor_asked(&script), Some("feel"));
    let script = script.leaves(passes("feel"));
    let order: Vec<_> = script.commit().sensors.iter().map(|(name, _)| name.as_str()).collect();
    assert_eq!(order, ["look", "tests", "feel", "lint"]);
    assert!(script.commit().sensors.iter().all(|(_, status)| *status == ReadingStatus::Pass));
}

#[test]
fn readings_of_another_tree_or_another_sensor_are_no_answer() {
    let of_tree = |tree: &str, names: &[&str]| {
        Outcome::Measured(Measured {
            tree: TreeId::new(tree),
            readings: names.iter().map(|name| reading(name, ReadingStatus::Pass, true)).collect(),
            usage: STEP,
            gate: Vec::new(),
        })
    };
    let script = Script::start(mixed()).prepared();
    let script = script.does_not_take(of_tree("another-tree", &["tests", "lint"]));
    let script = script.does_not_take(of_tree(BASE_TREE, &["tests"]));
    let script = script.does_not_take(of_tree(BASE_TREE, &["lint", "tests"])).all_pass();
    let another = Outcome::from(crate::words::report(Role::Sensor, passes("feel")));
    script.does_not_take(another).leaves(passes("look"));
}

#[test]
fn an_unreadable_prose_sensor_is_asked_once_more_then_the_node_ends() {
    let spec = || of(leaf("root", vec![prose("look")], 2));
    let script = Script::start(spec()).prepared().leaves(malformed()).asks(Role::Sensor, "0");
    assert_eq!(script.faults(), ["no target-met"]);
    script.leaves(passes("look")).committed().asks(Role::Controller, "1");
    let cause = Cause::NoReadableAnswer { role: Role::Sensor, faults: lines(&["the sensor left no report"]) };
    Script::start(spec())
        .prepared()
        .leaves(Answer::Missing)
        .leaves(Answer::Missing)
        .node_ends(&NodeEnd::Failed { cause: cause.clone() })
        .committed()
        .needs(cause, 0);
}

#[test]
fn a_prose_sensor_that_edits_is_void_asked_once_more_then_the_node_ends() {
    let spec = || of(leaf("root", vec![prose("look")], 2));
    let once = || Script::start(spec()).prepared().edits(passes("look"), &["a.c"]).asks(Role::Sensor, "0");
    once().leaves(passes("look")).committed();
    let cause = Cause::WorkspaceChanged { role: Role::Sensor, paths: lines(&["a.c"]) };
    once().edits(passes("look"), &["a.c"]).committed().needs(cause, 0);
}

/// It did so in a snapshot of its own.
#[test]
fn a_command_that_edits_counts_by_its_exit_code_and_the_record_says_what_it_changed() {
    let spec = of(leaf("root", vec![command("format"), command("tests")], 2));
    let edits = |name: &str| Reading {
        edited: if name == "format" { lines(&["a.c"]) } else { Vec::new() },
        ..reading(name, ReadingStatus::Pass, true)
    };
    let script = Script::start(spec).prepared().measured_by(edits);
    assert_eq!(script.commit().sensors[0], ("format".to_owned(), ReadingStatus::Pass));
    script.committed().asks(Role::Controller, "1");
}

#[test]
fn a_sensor_that_keeps_failing_to_start_its_work_ends_the_node() {
    let spec = of(leaf("root", vec![prose("look")], 2));
    let cause = Cause::AgentKeepsFailing { role: Role::Sensor, why: "exited with 1".to_owned() };
    Script::start(spec).prepared().exits(1).exits(1).exits(1).committed().needs(cause, 0);
}

/// What was measured on the content before says nothing about the one that is committed.
#[test]
fn a_commit_of_a_content_that_was_not_measured_says_pending() {
    let spec = of(leaf("root", vec![prose("look")], 2));
    let script = Script::start(spec).prepared().leaves(passes("look")).committed();
    let script = script.moves_to("tree-1").leaves(Answer::Missing).leaves(Answer::Missing);
    assert_eq!(script.commit().plant, TreeId::new("tree-1"));
    assert_eq!(script.commit().sensors, [("look".to_owned(), ReadingStatus::Pending)]);
}

#[test]
fn lost_measurements_are_asked_for_again_but_not_for_ever() {
    use windlass_protocols::protocol::feedback_control::stage::Stage;
    let script = Script::start(flat(1)).prepared().lost().lost().lost().lost();
    assert_eq!(script.measure().label, "0");
    script.lost().needs(Cause::StepKeepsGettingLost { stage: Stage::Measuring }, 0);
}
