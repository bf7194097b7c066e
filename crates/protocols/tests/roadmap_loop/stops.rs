//! Requests to stop and caps while several agents are at work: nobody new is asked, what was left is taken down, and what is
//! decided stands in the file before the run is over.

use crate::desk::{parallel, planned, with_round};
use crate::script::{Script, of, spec};
use windlass_protocols::effect::Effect;
use windlass_protocols::kernel::budget::Dimension;
use windlass_protocols::outcome::{Outcome, Trouble, Usage};
use windlass_protocols::protocol::roadmap_rounds::end::End;
use windlass_protocols::protocol::roadmap_rounds::plane::RoundStage;
use windlass_protocols::protocol::roadmap_rounds::steps::WorkKind;

const ROUND: &str = "round-001";

fn two() -> Script {
    Script::on(parallel(2)).plans(ROUND, "D1").plans("round-002", "D2")
}

#[test]
fn a_stop_waits_for_every_agent_and_asks_nobody_new() {
    let script = two().stop_asked().implements(ROUND);
    let script = script.asks(&[of("round-002", WorkKind::Implement)]).implements("round-002");
    let script = script.ends(|end| matches!(end, End::Stopped { .. }));
    assert_eq!(script.times("work-taken"), 4);
}

#[test]
fn interrupted_agents_are_asked_again_when_the_run_is_taken_up() {
    let mut script = two().stop_asked();
    while let Some(effect) =
        script.run().unsettled.keys().next().copied().filter(|_| !script.at_work().is_empty())
    {
        script.answer(effect, Outcome::Interrupted { usage: Usage::default() });
    }
    let script = script.keep_house().ends(|end| matches!(end, End::Stopped { .. })).reopened(0);
    script.asks(&[of(ROUND, WorkKind::Implement), of("round-002", WorkKind::Implement)]);
}

#[test]
fn a_stopped_run_leaves_what_it_decided_in_the_file() {
    let script = Script::on(parallel(1)).stop_asked().plans(ROUND, "D1");
    let script = script.ends(|end| matches!(end, End::Stopped { .. }));
    script.stands_at(ROUND, RoundStage::Plan).reopened(0).asks(&[of(ROUND, WorkKind::Implement)]);
}

#[test]
fn a_cap_reached_in_the_middle_lets_the_others_come_back() {
    let mut capped = spec();
    capped.caps.tokens = Some(25);
    let script = Script::with(capped, parallel(2)).plans(ROUND, "D1").plans("round-002", "D2");
    let script = script.implements(ROUND).asks(&[of("round-002", WorkKind::Implement)]);
    script.implements("round-002").ends(|end| matches!(end, End::Spent { dimension: Dimension::Tokens }));
}

#[test]
fn a_cap_of_the_host_ends_the_run() {
    let script = Script::on(with_round(RoundStage::Implement, planned()));
    let trouble = Trouble::CapPassed { dimension: Dimension::DayMoney };
    let script = script.has(&of(ROUND, WorkKind::Implement), trouble);
    script.ends(|end| matches!(end, End::Spent { dimension: Dimension::DayMoney }));
}

#[test]
fn a_stop_while_the_provider_is_waited_for_ends_at_once() {
    let script = Script::on(with_round(RoundStage::Implement, planned()));
    let limited = Trouble::Limited { until: None, why: "later".to_owned() };
    let mut script = script.has(&of(ROUND, WorkKind::Implement), limited).stop_asked();
    let (effect, _) = script.expect("wait", |request| matches!(request, Effect::Wait(_)));
    script.answer(effect, Outcome::Interrupted { usage: Usage::default() });
    script.keep_house().ends(|end| matches!(end, End::Stopped { .. }));
}

#[test]
fn a_step_of_the_controller_that_is_interrupted_for_ever_after_a_stop_ends_the_run() {
    let mut script = Script::unprepared(spec(), parallel(1)).prepared().reads().opens().reads().stop_asked();
    for _ in 0..40 {
        let Some(effect) = script.run().unsettled.keys().next().copied() else { break };
        if script.waiting() == ["close-run"] {
            script.ends(|end| matches!(end, End::Stopped { .. }));
            return;
        }
        script.answer(effect, Outcome::Interrupted { usage: Usage::default() });
    }
    panic!("it is tried for ever: {:?}", script.waiting());
}
