//! A request to stop, at every stage: nothing new is begun, what is done is committed, and the run goes on where it was.

use crate::script::Script;
use crate::words::{NO_MORE, flat, nested};
use windlass_protocols::Role;
use windlass_protocols::outcome::{Answer, StepEnd};
use windlass_protocols::protocol::feedback_control::end::End;
use windlass_protocols::protocol::feedback_control::stage::Stage;

fn stopped() -> End {
    End::Stopped { by: "ada".to_owned(), reason: "lunch".to_owned() }
}

fn at(stage: Stage) -> Script {
    let script = Script::start(flat(2));
    let script = match stage {
        Stage::Preparing => script,
        Stage::Measuring => script.prepared(),
        Stage::Inspecting => crate::gate::at_inspection(),
        Stage::Deciding => script.prepared().all_fail().committed(),
        Stage::Acting => script.prepared().all_fail().committed().plans(),
        Stage::Capturing => script.prepared().all_fail().committed().plans().acts(),
        Stage::Committing => script.prepared().all_fail().committed().moves_to("tree-1").all_fail(),
        Stage::Closing => script.refused("no room"),
    };
    assert_eq!(script.state().stage, stage);
    script
}

const WORKING: [Stage; 5] =
    [Stage::Preparing, Stage::Measuring, Stage::Deciding, Stage::Acting, Stage::Capturing];

#[test]
fn an_interrupted_step_is_asked_for_again_after_the_stop() {
    for stage in WORKING {
        let script = at(stage);
        let asked = script.waiting().name();
        let script = script.stop_asked().interrupted().ends(&stopped(), 0).reopened(NO_MORE, None);
        assert_eq!((script.waiting().name(), script.state().stage), (asked, stage));
    }
}

#[test]
fn a_step_that_ends_well_after_a_stop_was_asked_counts() {
    let script = at(Stage::Measuring).stop_asked().all_fail();
    let script = script.committed().ends(&stopped(), 0);
    assert_eq!(script.labels(), ["0"]);
    script.reopened(NO_MORE, None).asks(Role::Controller, "1");
    let script = at(Stage::Deciding).stop_asked().plans().ends(&stopped(), 0);
    script.reopened(NO_MORE, None).asks(Role::Actuator, "1");
    let script = at(Stage::Acting).stop_asked().acts().ends(&stopped(), 0).reopened(NO_MORE, None);
    let script = script.stop_asked().captured("tree-1").ends(&stopped(), 1).reopened(NO_MORE, None);
    assert_eq!(script.measure().tree.as_str(), "tree-1");
}

#[test]
fn an_interrupted_inspection_is_asked_for_again_after_the_stop() {
    let script = at(Stage::Inspecting).stop_asked().interrupted().ends(&stopped(), 1);
    let script = script.reopened(NO_MORE, None);
    assert_eq!((script.waiting().name(), script.state().stage), ("inspect-gate", Stage::Inspecting));
}

#[test]
fn a_commit_is_made_also_after_a_stop() {
    let script = at(Stage::Committing).stop_asked().interrupted();
    let script = script.committed().ends(&stopped(), 1);
    assert_eq!(script.labels(), ["0", "1"]);
    script.reopened(NO_MORE, None).asks(Role::Controller, "2");
}

#[test]
fn a_stop_while_closing_changes_nothing() {
    let end = End::SetupFailed { reason: "no room".to_owned() };
    at(Stage::Closing).stop_asked().ends(&end, 0);
}

#[test]
fn a_target_that_is_met_is_met_also_after_a_stop() {
    let script = Script::start(flat(2)).prepared().all_pass().committed().stop_asked().claims();
    script.committed().ends(&End::Complete, 0);
}

#[test]
fn an_agent_that_a_stop_kept_from_starting_is_nobodys_fault() {
    let never = StepEnd::NotStarted { reason: "stopped".to_owned() };
    let script = at(Stage::Acting).stop_asked().reports(Answer::Missing, |report| report.end = never);
    script.ends(&stopped(), 0).reopened(NO_MORE, None).asks(Role::Actuator, "1");
}

#[test]
fn a_run_that_is_stopped_inside_a_child_goes_on_inside_it() {
    let script = Script::at_controller(nested(2, 2)).plans().committed().plans().stop_asked().interrupted();
    let script = script.ends(&stopped(), 0).reopened(NO_MORE, None).asks(Role::Actuator, "1.1");
    let script = script.acts().captured("tree-1").all_pass().committed().claims().committed();
    assert_eq!(script.labels(), ["0", "1.0", "1.1", "1.2"]);
}

#[test]
fn what_is_interrupted_again_and_again_without_a_stop_is_shown_to_a_person() {
    use windlass_protocols::kernel::attempts::MAX_INTERRUPTED;
    use windlass_protocols::protocol::feedback_control::end::Cause;
    let mut script = at(Stage::Acting);
    for _ in 0..MAX_INTERRUPTED {
        script = script.interrupted().asks(Role::Actuator, "1");
    }
    script.interrupted().needs(Cause::StepKeepsGettingLost { stage: Stage::Acting }, 0);
}
