//! Steps whose end nobody saw, and steps a person interrupted: asked for again, charged to the budget, never to the
//! rounds, and in the case of lost ones not for ever.

use crate::harness::words::{STEP, full_spec, lines, malformed};
use crate::harness::{NO_MORE, Script, accepted};
use windlass_protocols::effect::{Ask, Effect};
use windlass_protocols::kernel::attempts::MAX_LOST;
use windlass_protocols::protocol::judged_task::end::{Cause, End};
use windlass_protocols::protocol::judged_task::stage::Stage;

const WORKING: [Stage; 8] = [
    Stage::Preparing,
    Stage::Baseline,
    Stage::Doing,
    Stage::Capturing,
    Stage::Checking,
    Stage::Judging,
    Stage::AuditChecking,
    Stage::Auditing,
];

/// The request without what must differ between two attempts.
fn same_question(effect: &Effect) -> Effect {
    let mut effect = effect.clone();
    if let Effect::RunAgent(agent) = &mut effect {
        agent.attempt = 0;
    }
    effect
}

#[test]
fn a_lost_step_is_asked_for_again_under_a_new_id() {
    for stage in [&WORKING[..], &[Stage::Landing, Stage::Closing]].concat() {
        let script = Script::at(stage, full_spec());
        let (id, question) = (script.waiting_id(), same_question(script.waiting()));
        let (round, completed) = (script.state().round, script.state().rounds_completed);
        let script =
            script.lost().decides(&["effect-settled", "step-retried", "effect-requested"]).waits_in(stage);
        assert!(script.waiting_id() > id, "{stage:?}");
        assert_eq!(same_question(script.waiting()), question, "{stage:?}");
        let state = script.state();
        assert_eq!((state.round, state.rounds_completed), (round, completed), "{stage:?}");
    }
}

#[test]
fn a_step_that_keeps_getting_lost_needs_a_person_in_every_stage() {
    for stage in WORKING {
        let mut script = Script::at(stage, full_spec());
        for _ in 0..MAX_LOST {
            script = script.lost().waits_in(stage);
        }
        let script = script.lost();
        let cause = Cause::StepKeepsGettingLost { stage };
        assert_eq!(script.state().end, Some(End::NeedsHuman { cause }), "{stage:?}");
        assert_eq!(script.state().rounds_completed, 0, "no round is charged");
        assert_eq!(script.waiting().name(), "close-run");
        script.closed();
    }
}

#[test]
fn a_landing_that_keeps_getting_lost_leaves_the_change_accepted() {
    let mut script = Script::at(Stage::Landing, full_spec());
    for _ in 0..=MAX_LOST {
        script = script.lost();
    }
    let Some(End::NeedsHuman { cause: Cause::LandingRefused { .. } }) = &script.state().end else {
        panic!("what was accepted slipped back: {:?}", script.state().end);
    };
    let end = script.state().end.clone().expect("the run is concluded");
    script
        .ends(&end, "pass/pass/pass/1")
        .landing_asked("main")
        .landed()
        .ends(&accepted("tree-1"), "pass/pass/pass/1");
}

/// A second landing of the same change must make the same commit, or it would meet its own first one and be refused.
#[test]
fn a_landing_that_is_asked_for_again_carries_the_moment_of_the_first() {
    let script = Script::at(Stage::Landing, full_spec());
    let first = script.waiting().clone();
    let script = script.lost().interrupted();
    assert_eq!(script.waiting(), &first);
    let again = script.refused("the branch moved").closed().landing_asked("main");
    assert_eq!(again.waiting(), &first);
}

#[test]
fn the_summary_is_never_given_up() {
    let mut script = Script::at(Stage::Closing, full_spec());
    for _ in 0..MAX_LOST * 3 {
        script = script.lost().interrupted().waits_in(Stage::Closing);
    }
    script.ends(&accepted("tree-1"), "pass/pass/pass/1");
}

#[test]
fn losses_of_one_stage_are_not_charged_to_the_next() {
    let mut script = Script::at(Stage::Doing, full_spec());
    for stage in [Stage::Doing, Stage::Checking, Stage::Judging, Stage::Auditing] {
        for _ in 0..MAX_LOST {
            script = script.lost().waits_in(stage);
        }
        script = match stage {
            Stage::Doing => script.doer_hands_over("tree-1"),
            Stage::Checking => script.checks_pass(),
            Stage::Judging => script.judge("pass", &[]).checks_pass(),
            _ => script.auditor("pass", &[]),
        };
    }
    script.waits_in(Stage::Landing);
}

#[test]
fn losses_of_one_round_are_not_charged_to_the_next() {
    let mut script = Script::at(Stage::Doing, full_spec());
    for _ in 0..2 {
        for _ in 0..MAX_LOST {
            script = script.lost().waits_in(Stage::Doing);
        }
        script = script.agent_exits(1).waits_in(Stage::Doing);
    }
}

#[test]
fn an_interrupted_step_is_asked_for_again_however_often() {
    for stage in WORKING {
        let mut script = Script::at(stage, full_spec());
        let question = same_question(script.waiting());
        for _ in 0..MAX_LOST * 2 {
            script = script
                .interrupted()
                .decides(&["effect-settled", "step-retried", "effect-requested"])
                .waits_in(stage);
        }
        assert_eq!(same_question(script.waiting()), question, "{stage:?}");
        assert_eq!(script.state().rounds_completed, 0, "no round is charged");
    }
}

#[test]
fn what_a_lost_or_interrupted_step_used_is_charged() {
    let script = Script::at(Stage::Doing, full_spec());
    let before = script.run().started.as_ref().expect("started").budget.used;
    let script = script.lost().interrupted();
    let used = script.run().started.as_ref().expect("started").budget.used;
    assert_eq!(used.tokens, before.tokens + 2 * STEP.tokens);
    assert_eq!(used.duration.0, before.duration.0 + 2 * STEP.duration.0);
}

#[test]
fn a_lost_repair_is_asked_for_as_a_repair_again() {
    let script = Script::at(Stage::Judging, full_spec())
        .agent_leaves(malformed(&["not JSON"]))
        .lost()
        .waits_in(Stage::Judging);
    let faults = lines(&["not JSON"]);
    assert_eq!(script.asked().ask, Ask::Repair { faults });
    assert_eq!(script.asked().attempt, 3);
}

#[test]
fn after_a_person_looked_the_lost_step_is_tried_as_often_again() {
    let mut script = Script::at(Stage::Judging, full_spec());
    for _ in 0..=MAX_LOST {
        script = script.lost();
    }
    script = script.closed().reopened(NO_MORE, None).waits_in(Stage::Judging);
    for _ in 0..MAX_LOST {
        script = script.lost().waits_in(Stage::Judging);
    }
}
