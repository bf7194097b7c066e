//! The rows of the two state tables, one test each: flat, and a node that is entered by its parent.

use crate::script::{Script, start};
use crate::words::{BASE_TREE, ONE_MORE, caps, command, flat, leaf, nested, of};
use windlass_protocols::effect::Effect;
use windlass_protocols::outcome::ReadingStatus;
use windlass_protocols::protocol::feedback_control::end::{End, NodeEnd, NodeStatus};
use windlass_protocols::protocol::feedback_control::spec::{ControlSpec, Dialect};
use windlass_protocols::protocol::judged_task::spec::Landing;
use windlass_protocols::{Observation, Rejection, Role, TreeId};

const EXHAUSTED: End = End::Exhausted { dimension: windlass_protocols::kernel::budget::Dimension::Rounds };

#[test]
fn check_a_loop_that_is_not_set_up_is_not_started() {
    let refused = |spec: ControlSpec, why: &str| {
        let rejection = Rejection::InvalidSpec { why: why.to_owned() };
        Script::unborn().refuses(start(spec), &rejection);
    };
    refused(ControlSpec { text: " \n".to_owned(), ..flat(1) }, "the task text is empty");
    let no_iterations = "at least one iteration is needed at every level";
    refused(ControlSpec { caps: caps(0), ..flat(1) }, no_iterations);
    refused(nested(1, 0), no_iterations);
    let twice = of(leaf("root", vec![command("tests"), command("tests")], 1));
    refused(twice, "the node root has two sensors called tests");
    refused(ControlSpec { dialect: Dialect::Flat, ..nested(1, 1) }, "a flat loop has one level");
}

#[test]
fn branch_the_base_is_fixed_before_anything_is_measured() {
    let script = Script::start(flat(1));
    assert_eq!(*script.waiting(), Effect::PrepareWorkspaces);
    let script =
        script.prepared().decides(&["effect-settled", "base-fixed", "node-entered", "effect-requested"]);
    assert_eq!(script.measure().tree, TreeId::new(BASE_TREE));
}

#[test]
fn branch_a_workspace_that_cannot_be_made_ends_the_run() {
    let end = End::SetupFailed { reason: "the branch exists".to_owned() };
    Script::start(flat(1)).refused("the branch exists").ends(&end, 0);
}

#[test]
fn iteration_0_measures_and_commits() {
    let script = Script::start(flat(1)).prepared().all_fail();
    let commit = script.commit();
    assert_eq!((commit.label.as_str(), commit.action.as_str()), ("0", "initial measurement"));
    assert_eq!((commit.status, commit.target_met), (NodeStatus::Running, false));
    assert_eq!(commit.sensors, [("tests".to_owned(), ReadingStatus::Fail)]);
    assert_eq!(commit.parent.as_str(), "base-commit");
}

#[test]
fn a_iteration_1_opens_when_0_is_committed_and_c_asks_the_controller() {
    Script::start(flat(1))
        .prepared()
        .all_fail()
        .committed()
        .decides(&["effect-settled", "iteration-committed", "iteration-opened", "effect-requested"])
        .asks(Role::Controller, "1");
}

#[test]
fn b_the_cap_ends_the_run_with_a_commit_and_no_actuation() {
    let end = NodeEnd::MaxIterations;
    let script = Script::at_controller(flat(1)).fails_on("tree-1").plans().node_ends(&end);
    assert_eq!(script.commit().status, NodeStatus::MaxIterationsReached);
    script.committed().ends(&EXHAUSTED, 1);
}

#[test]
fn d_a_target_that_is_met_ends_the_run_without_actuation_or_sensing() {
    Script::start(flat(5))
        .prepared()
        .all_pass()
        .committed()
        .claims()
        .decides(&["effect-settled", "decision-taken", "node-concluded", "effect-requested"])
        .node_ends(&NodeEnd::TargetMet)
        .committed()
        .ends(&End::Complete, 0);
}

#[test]
fn e_f_g_an_iteration_acts_is_taken_down_measured_and_committed() {
    let script = Script::at_controller(flat(2)).plans().asks(Role::Actuator, "1");
    assert_eq!(script.asked().tree, Some(TreeId::new(BASE_TREE)));
    let script = script.acts().captured("tree-1");
    assert_eq!(script.measure().tree, TreeId::new("tree-1"));
    let script = script.all_pass();
    let commit = script.commit();
    assert_eq!((commit.label.as_str(), commit.plant.as_str()), ("1", "tree-1"));
    assert_eq!((commit.parent.as_str(), commit.action.as_str()), ("commit of 0", "edited the parser"));
    assert_eq!(commit.sensors, [("tests".to_owned(), ReadingStatus::Pass)]);
    script.committed().asks(Role::Controller, "2").claims().committed().ends(&End::Complete, 1);
}

#[test]
fn step_0_and_1_a_child_is_entered_with_the_plan_and_its_sensors_are_pending() {
    let script = Script::at_controller(nested(2, 2)).plans().decides(&[
        "effect-settled",
        "decision-taken",
        "node-entered",
        "measurement-skipped",
        "effect-requested",
    ]);
    let commit = script.commit();
    assert_eq!((commit.depth, commit.label.as_str()), (1, "1.0"));
    assert_eq!(commit.action, "initial entry (sensors skipped)");
    assert_eq!(commit.sensors, [("build".to_owned(), ReadingStatus::Pending)]);
    let setpoint = script.frame().setpoint.as_ref().map(|plan| plan.name.as_str());
    assert_eq!(setpoint, Some("plan.md"), "the parent's plan is the whole task of the child");
}

#[test]
fn step_2_a_child_works_and_its_parent_goes_on_where_it_was() {
    let script = Script::at_controller(nested(2, 2)).plans().committed().asks(Role::Controller, "1.1");
    let script = script.moves_to("tree-1").all_pass().committed().asks(Role::Controller, "1.2").claims();
    let script = script.node_ends(&NodeEnd::TargetMet).committed();
    assert_eq!((script.measure().depth, script.measure().label.as_str()), (0, "1"));
    let script = script.all_pass();
    assert_eq!(script.commit().action, "inner loop ended: target-met");
    let script = script.committed().asks(Role::Controller, "2").claims().committed();
    assert_eq!(script.labels(), ["0", "1.0", "1.1", "1.2", "1", "2"]);
    script.ends(&End::Complete, 1);
}

#[test]
fn nothing_of_a_control_loop_is_landed() {
    let mut spec = flat(1);
    spec.place.doer_branch = "ai-loop/x".to_owned();
    let script = Script::at_controller(spec).fails_on("tree-1").plans().committed().closed();
    let why = "a control loop leaves its commits on ai-loop/x; merge that".to_owned();
    let landing = Observation::LandingRequested { landing: Landing::Current };
    script
        .refuses(landing, &Rejection::NothingToLand { why })
        .reopened(ONE_MORE, None)
        .asks(Role::Controller, "3");
}
