//! Providers that say "not now", are out of order, or want another key: waited for, passed to the next agent, or shown to a
//! person. None of them is a word about the work.

use crate::script::Script;
use crate::words::{NO_MORE, command, flat, leaf, of, prose};
use windlass_protocols::effect::{Effect, Wait};
use windlass_protocols::outcome::{Outcome, Trouble};
use windlass_protocols::protocol::feedback_control::end::{Cause, NodeEnd};
use windlass_protocols::protocol::feedback_control::spec::ControlSpec;
use windlass_protocols::{Millis, Role};

const ROLES: [Role; 3] = [Role::Sensor, Role::Controller, Role::Actuator];

fn why() -> String {
    "try again later".to_owned()
}

fn limited(until: u64) -> Trouble {
    Trouble::Limited { until: Some(Millis(until)), why: why() }
}

fn misconfigured() -> Trouble {
    Trouble::Misconfigured { why: "no key".to_owned() }
}

/// The agent of that role is asked for the first time.
fn at(role: Role, mut spec: ControlSpec) -> Script {
    spec.root.sensors = vec![command("tests"), prose("look")];
    let script = Script::start(spec).prepared().all_fail();
    let passes = || {
        let reading = crate::words::reading("look", windlass_protocols::outcome::ReadingStatus::Pass, true);
        windlass_protocols::outcome::Answer::Reading(reading)
    };
    match role {
        Role::Sensor => script,
        Role::Controller => script.leaves(passes()).committed(),
        _ => script.leaves(passes()).committed().plans(),
    }
}

fn waits_for(script: &Script, role: Role) -> Millis {
    match script.waiting() {
        Effect::Wait(Wait { role: of, until, .. }) if *of == role => *until,
        other => panic!("the {role} is not waited for, but {}", other.name()),
    }
}

#[test]
fn a_limit_is_waited_for_and_charged_to_nobody() {
    for role in ROLES {
        let script = at(role, flat(2)).has(limited(90_000));
        assert_eq!(waits_for(&script, role), Millis(90_000));
        let script = script.answer(Outcome::Waited);
        assert_eq!(script.asked().role, role);
        assert_eq!(script.state().attempts.failed, 0);
    }
}

#[test]
fn an_outage_is_waited_for_longer_each_time_and_then_the_node_fails() {
    let mut script = at(Role::Controller, flat(2));
    let mut waits = Vec::new();
    for _ in 0..5 {
        script = script.has(Trouble::Unavailable { why: why() });
        waits.push(waits_for(&script, Role::Controller).0 - script.now());
        script = script.answer(Outcome::Waited);
    }
    assert_eq!(waits, [5_000, 10_000, 20_000, 40_000, 80_000]);
    let why = "cannot reach its provider: try again later".to_owned();
    let cause = Cause::AgentKeepsFailing { role: Role::Controller, why };
    script.has(Trouble::Unavailable { why: crate::outages::why() }).committed().needs(cause, 0);
}

#[test]
fn the_next_agent_of_the_chain_is_asked_meanwhile() {
    for role in ROLES {
        let mut spec = flat(2);
        spec.place.fallbacks.insert(role, vec!["second".to_owned()]);
        let script = at(role, spec).has(limited(90_000));
        assert_eq!(script.asked().agent.as_deref(), Some("second"));
        let script = script.has(limited(60_000));
        assert_eq!(waits_for(&script, role), Millis(60_000), "the earlier of the two");
        assert_eq!(script.answer(Outcome::Waited).asked().agent.as_deref(), Some("second"));
    }
}

#[test]
fn a_wrong_key_is_passed_to_the_next_agent_or_shown_to_a_person() {
    let mut spec = flat(2);
    spec.place.fallbacks.insert(Role::Actuator, vec!["second".to_owned()]);
    let script = at(Role::Actuator, spec).has(misconfigured());
    assert_eq!(script.asked().agent.as_deref(), Some("second"));
    let cause = Cause::AgentNotStarted { role: Role::Actuator, reason: "no key".to_owned() };
    let script = script.has(misconfigured()).node_ends(&NodeEnd::Failed { cause: cause.clone() });
    let script = script.committed().needs(cause, 0);
    let script = script.reopened(NO_MORE, None).asks(Role::Controller, "2");
    assert_eq!(script.plans().asked().agent.as_deref(), Some("first"), "a person may have mended it");
}

#[test]
fn a_repair_goes_on_with_the_conversation_and_a_fresh_question_does_not() {
    use windlass_protocols::outcome::{AgentSession, Answer, Usage};
    let session = AgentSession { id: "session-1".to_owned(), so_far: Usage::default() };
    let told = session.clone();
    let script =
        Script::at_controller(flat(3)).reports(Answer::Missing, |report| report.session = Some(told));
    assert_eq!(script.asked().session, Some(session));
    assert_eq!(script.plans().asked().session, None);
}

#[test]
fn a_run_without_an_agent_is_asked_all_the_same_and_refused_by_whoever_starts_it() {
    let mut spec = of(leaf("root", vec![command("tests")], 1));
    spec.place.agents.clear();
    let script = Script::at_controller(spec).asks(Role::Controller, "1");
    assert_eq!(script.asked().agent, None);
}
