//! Loops inside loops: setpoints, what a child comes to, what its parent sees of it, labels, and that nothing of an
//! earlier entry is left (W3, W6, W11, W16).

use crate::script::Script;
use crate::words::{malformed, nested, three_levels};
use windlass_protocols::Role;
use windlass_protocols::outcome::Answer;
use windlass_protocols::protocol::feedback_control::end::{Cause, End, NodeEnd, NodeStatus};
use windlass_protocols::protocol::feedback_control::spec::{Actuator, ControlSpec, OnError};

/// The inner node's first controller is asked.
fn inside(spec: ControlSpec) -> Script {
    Script::at_controller(spec).plans().committed()
}

fn reporting() -> ControlSpec {
    let mut spec = nested(2, 2);
    if let Actuator::Cascade(child) = &mut spec.root.actuator {
        child.on_error = OnError::ReportToParent;
    }
    spec
}

fn unreadable() -> Cause {
    Cause::NoReadableAnswer { role: Role::Controller, faults: vec!["no target-met".to_owned()] }
}

#[test]
fn a_child_that_used_up_its_iterations_returns_and_its_parent_measures_and_plans_again() {
    let script =
        inside(nested(2, 1)).fails_on("tree-1").plans().node_ends(&NodeEnd::MaxIterations).committed();
    assert_eq!(script.times("child-returned"), 1);
    assert_eq!((script.measure().depth, script.measure().tree.as_str()), (0, "tree-1"));
    let script = script.all_fail();
    assert_eq!(script.commit().action, "inner loop ended: max-iterations");
    script.committed().asks(Role::Controller, "2").plans().committed().asks(Role::Controller, "2.1");
}

#[test]
fn a_parent_measures_again_also_when_the_child_changed_nothing() {
    let script = inside(nested(2, 2)).claims().all_pass().committed();
    assert_eq!((script.measure().depth, script.measure().tree.as_str()), (0, "base-tree"));
}

#[test]
fn the_childs_word_and_the_parents_are_independent() {
    let script = inside(nested(1, 2)).moves_to("tree-1").all_pass().committed().claims().committed();
    let script = script.all_fail().committed().claims().asks(Role::Controller, "2");
    assert!(script.faults()[0].contains("tests"), "{:?}", script.faults());
}

#[test]
fn a_child_that_fails_ends_the_run_when_it_is_to_fail_fast() {
    let script = inside(nested(2, 2)).leaves(malformed()).leaves(malformed());
    let script = script.node_ends(&NodeEnd::Failed { cause: unreadable() });
    assert_eq!((script.commit().depth, script.commit().status), (1, NodeStatus::Error));
    let script = script.committed();
    assert_eq!(script.times("child-returned"), 0);
    script.needs(unreadable(), 0);
}

#[test]
fn w25_a_child_that_fails_is_reported_to_its_parent_when_it_is_to() {
    let script = inside(reporting()).leaves(malformed()).leaves(malformed()).committed();
    let script = script.all_fail();
    assert_eq!(script.commit().action, "inner loop ended: error");
    let failed = NodeEnd::Failed { cause: unreadable() };
    assert_eq!(script.state().last_child_end, [(0, failed)]);
    script.committed().asks(Role::Controller, "2").plans().committed().asks(Role::Controller, "2.1");
}

#[test]
fn an_outermost_node_that_fails_has_nobody_to_report_to() {
    let mut spec = nested(2, 2);
    spec.root.on_error = OnError::ReportToParent;
    let script = Script::at_controller(spec).leaves(Answer::Missing).leaves(Answer::Missing).committed();
    assert!(matches!(script.state().end, Some(End::NeedsHuman { .. })));
}

#[test]
fn nothing_of_the_childs_earlier_entry_is_left() {
    let script = inside(nested(3, 1)).fails_on("tree-1").plans().committed().all_fail().committed().plans();
    let frame = script.frame();
    assert_eq!((frame.depth, frame.iteration, frame.actuations), (1, 0, 0));
    assert_eq!((&frame.decision, &frame.action, &frame.change, &frame.end), (&None, &None, &None, &None));
    assert_eq!((&frame.measured, frame.readings.len(), frame.remarks.len()), (&None, 0, 0));
    assert_eq!(frame.steadiness.best(), None);
    assert_eq!(script.commit().label, "2.0");
}

#[test]
fn w16_labels_have_a_number_for_each_level_and_none_twice() {
    let script = inside(three_levels()).asks(Role::Controller, "1.1").plans();
    assert_eq!(script.commit().label, "1.1.0");
    let script = script.committed().asks(Role::Controller, "1.1.1").moves_to("tree-1").all_pass().committed();
    let script = script.claims().committed().all_pass().committed().claims().committed();
    let script = script.all_pass().committed().claims().committed();
    let labels = ["0", "1.0", "1.1.0", "1.1.1", "1.1.2", "1.1", "1.2", "1", "2"];
    assert_eq!(script.labels(), labels);
    assert_eq!(script.state().commits, 9);
    script.ends(&End::Complete, 1);
}

#[test]
fn three_levels_use_up_their_iterations_from_the_inside() {
    let mut script = Script::at_controller(three_levels());
    let (mut tree, mut steps) = (0, 0);
    while script.state().end.is_none() {
        use windlass_protocols::effect::Effect;
        script = match script.waiting() {
            Effect::RunAgent(asked) if asked.role == Role::Controller => script.plans(),
            Effect::RunAgent(_) => script.acts(),
            Effect::CaptureChange { .. } => {
                tree += 1;
                script.captured(&format!("tree-{tree}"))
            }
            Effect::Measure(_) => script.all_fail(),
            _ => script.committed(),
        };
        steps += 1;
        assert!(steps < 500, "the run does not end");
    }
    assert_eq!(tree, 8, "two in each of two in each of two");
    assert_eq!(script.times("child-returned"), 6);
    // Each entry of a node has iteration 0, two actuations and the judgement: 1, 2 and 4 entries.
    assert_eq!(script.labels().len(), 4 * (1 + 2 + 4));
}

#[test]
fn w06_a_child_that_has_not_measured_yet_is_shown_what_its_parent_measured() {
    let script = inside(nested(2, 2)).asks(Role::Controller, "1.1");
    assert_eq!(script.inputs(), ["plan.md", "sensor-tests-output.md"]);
    let script = script.fails_on("tree-1").asks(Role::Controller, "1.2");
    assert_eq!(script.inputs(), ["plan.md", "sensor-build-output.md"]);
}

#[test]
fn a_childs_child_is_not_left_blind_either() {
    let script = inside(three_levels()).plans().committed().asks(Role::Controller, "1.1.1");
    assert_eq!(script.inputs(), ["plan.md", "sensor-tests-output.md"]);
}

#[test]
fn what_a_deeper_child_came_to_is_forgotten_with_the_node_around_it() {
    let script = inside(three_levels()).plans().committed().moves_to("tree-1").all_pass().committed();
    let script = script.claims().committed();
    assert_eq!(script.state().last_child_end, [(1, NodeEnd::TargetMet)]);
    let script = script.all_pass().committed().claims().committed();
    assert_eq!(script.state().last_child_end, [(0, NodeEnd::TargetMet)]);
}

#[test]
fn an_inner_loop_that_keeps_failing_is_told_to_its_parent_and_is_why_the_run_ends() {
    let fails = |script: Script| {
        let script = script.leaves(malformed()).leaves(malformed()).committed();
        script.all_fail().committed().asks(Role::Controller, "2")
    };
    let script = fails(inside(ControlSpec { steady_limit: 3, ..reporting() }));
    let told = script.told().join("\n");
    assert!(told.contains("the inner loop failed") && told.contains("no target-met"), "{told}");
    assert!(!told.contains("changed nothing"), "{told}");
    let script = script.plans().committed().leaves(malformed()).leaves(malformed()).committed();
    let script = script.all_fail().committed().asks(Role::Controller, "3").plans();
    let script = script.node_ends(&NodeEnd::Failed { cause: unreadable() }).committed();
    let script = script.needs(unreadable(), 2);
    let because = windlass_protocols::explain::explain(script.run()).because.join("\n");
    assert!(
        because.contains("no target-met") && because.contains("that was in the loop inside"),
        "{because}"
    );
}
