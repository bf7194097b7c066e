//! Providers that say "not now" or nothing at all: waited for, passed on to the next agent of the chain, or given to a
//! person; never a word about the work, never an attempt.

use crate::harness::words::{STEP, agent_report, handoff, malformed, spec};
use crate::harness::{NO_MORE, Script};
use std::collections::BTreeMap;
use windlass_protocols::effect::{Ask, Effect, Wait};
use windlass_protocols::kernel::availability::Patience;
use windlass_protocols::kernel::budget::Dimension;
use windlass_protocols::outcome::{
    AgentReport, AgentSession, Answer, Outcome, StepEnd, TokenKinds, Trouble, Usage,
};
use windlass_protocols::protocol::judged_task::end::{Cause, End};
use windlass_protocols::protocol::judged_task::spec::TaskSpec;
use windlass_protocols::protocol::judged_task::stage::Stage;
use windlass_protocols::{Millis, Role};

fn chain(agents: &[&str]) -> TaskSpec {
    let mut spec = spec();
    for role in [Role::Doer, Role::Judge, Role::Auditor] {
        spec.place.agents.insert(role, agents[0].to_owned());
        spec.place.fallbacks.insert(role, agents[1..].iter().map(|&agent| agent.to_owned()).collect());
    }
    spec.patience =
        Patience { first_delay: Millis(100), longest_delay: Millis(10_000), ..Patience::default() };
    spec
}

fn report(trouble: Trouble) -> AgentReport {
    let end = StepEnd::Exited { code: 1 };
    AgentReport { trouble: Some(trouble), ..agent_report(Role::Doer, end, Answer::Missing, STEP) }
}

fn limited(until: Option<u64>) -> Outcome {
    let why = "429 Too Many Requests".to_owned();
    Outcome::from(report(Trouble::Limited { until: until.map(Millis), why }))
}

fn out_of_order() -> Outcome {
    Outcome::from(report(Trouble::Unavailable { why: "500".to_owned() }))
}

fn waited_for(script: &Script) -> &Wait {
    match script.waiting() {
        Effect::Wait(wait) => wait,
        other => panic!("a wait, not {other:?}"),
    }
}

fn asked_agent(script: &Script) -> &str {
    script.asked().agent.as_deref().expect("the request names its agent")
}

#[test]
fn a_limit_with_a_moment_is_a_wait_until_that_moment_and_costs_no_attempt() {
    let script = Script::at_doer(chain(&["codex"]));
    let until = script.now() + 3_600_000;
    let script = script.answer(limited(Some(until)));
    let wait = waited_for(&script);
    assert_eq!((wait.role, wait.until.0, wait.why.as_str()), (Role::Doer, until, "429 Too Many Requests"));
    let script = script.waits_in(Stage::Doing).answer(Outcome::Waited);
    assert_eq!(script.state().rounds_completed, 0);
    let script = script.asks(Role::Doer, 1, 2);
    assert_eq!(asked_agent(&script), "codex");
    assert!(matches!(script.asked().ask, Ask::Fresh { .. }), "it is asked the same again");
}

#[test]
fn a_moment_that_is_already_past_is_still_let_pass() {
    let script = Script::at_doer(chain(&["codex"])).answer(limited(Some(1)));
    assert!(waited_for(&script).until.0 >= script.now());
}

#[test]
fn an_untold_limit_is_asked_about_after_ever_longer_waits() {
    let mut script = Script::at_doer(chain(&["codex"]));
    let mut delays = Vec::new();
    for _ in 0..5 {
        script = script.answer(limited(None));
        delays.push(waited_for(&script).until.0 - script.now());
        script = script.answer(Outcome::Waited);
    }
    assert_eq!(delays, [1_200, 2_400, 4_800, 9_600, 10_000]);
}

#[test]
fn a_clock_that_was_set_back_does_not_make_it_wait_twice() {
    let script = Script::at_doer(chain(&["codex"]));
    let until = script.now() + 3_600_000;
    script.answer(limited(Some(until))).answer(Outcome::Waited).asks(Role::Doer, 1, 2);
}

#[test]
fn the_next_of_the_chain_is_asked_at_once_and_the_first_again_when_it_can() {
    let script = Script::at_doer(chain(&["codex", "claude"]));
    let until = script.now() + 3_600_000;
    let script = script.answer(limited(Some(until)));
    assert_eq!(asked_agent(&script), "claude");
    let script = script.answer(limited(Some(until + 5)));
    assert_eq!(waited_for(&script).until.0, until, "the one that can be asked first is waited for");
    let script = script.answer(Outcome::Waited);
    assert_eq!(asked_agent(&script), "codex");
}

#[test]
fn an_agent_that_is_out_is_out_for_every_role() {
    let script = Script::at_doer(chain(&["codex", "claude"]));
    let until = script.now() + 3_600_000;
    let script = script.answer(limited(Some(until))).doer_hands_over("tree-1");
    assert_eq!((script.asked().role, asked_agent(&script)), (Role::Judge, "claude"));
}

#[test]
fn a_provider_that_is_out_of_order_is_tried_again_a_bounded_number_of_times() {
    let mut script = Script::at_doer(chain(&["codex"]));
    let mut delays = Vec::new();
    for _ in 0..5 {
        script = script.answer(out_of_order());
        delays.push(waited_for(&script).until.0 - script.now());
        script = script.answer(Outcome::Waited);
    }
    assert_eq!(delays, [100, 200, 400, 800, 1_600]);
    let why = "cannot reach its provider: 500".to_owned();
    let cause = Cause::AgentKeepsFailing { role: Role::Doer, why };
    script.answer(out_of_order()).ends(&End::NeedsHuman { cause }, "needs-human/not-run/not-run/0");
}

#[test]
fn a_wrong_key_goes_to_the_next_of_the_chain_or_to_a_person() {
    let wrong_key = || Outcome::from(report(Trouble::Misconfigured { why: "the key is refused".to_owned() }));
    let script = Script::at_doer(chain(&["codex", "claude"])).answer(wrong_key());
    assert_eq!(asked_agent(&script), "claude");
    let cause = Cause::AgentNotStarted { role: Role::Doer, reason: "the key is refused".to_owned() };
    let script = script.answer(wrong_key());
    let script = script.ends(&End::NeedsHuman { cause }, "needs-human/not-run/not-run/0");
    let script = script.reopened(NO_MORE, None);
    assert_eq!(asked_agent(&script), "codex", "a person has looked: everybody may be asked again");
}

#[test]
fn a_stop_ends_a_wait() {
    let script = Script::at_doer(chain(&["codex"]));
    let until = script.now() + 3_600_000;
    let script = script.answer(limited(Some(until))).stop_asked();
    let script = script.answer(Outcome::Interrupted { usage: Usage::default() });
    assert!(matches!(script.state().end, Some(End::Stopped { .. })));
}

#[test]
fn a_cap_of_the_run_the_day_or_the_repository_ends_the_run_and_one_of_the_step_only_the_round() {
    let passed = |dimension| Outcome::from(report(Trouble::CapPassed { dimension }));
    for dimension in [Dimension::Tokens, Dimension::Money, Dimension::DayMoney, Dimension::RepositoryTokens] {
        let script = Script::at_doer(chain(&["codex"])).answer(passed(dimension));
        script.ends(&End::Exhausted { dimension }, "needs-human/not-run/not-run/0");
    }
    let script =
        Script::at_doer(chain(&["codex"])).answer(passed(Dimension::StepMoney)).asks(Role::Doer, 2, 1);
    let told = script.told_to_doer();
    assert!(told[0].contains("used up its money for one step and was ended"), "{told:?}");
}

#[test]
fn an_agent_that_failed_by_its_own_word_has_not_done_its_step_whatever_its_exit_code_and_answer() {
    let trouble = Trouble::Failed { why: "was cut off in the middle of its reply".to_owned() };
    let well = StepEnd::Exited { code: 0 };
    let answer = Answer::Handoff(handoff(&[]));
    let report = AgentReport { trouble: Some(trouble), ..agent_report(Role::Doer, well, answer, STEP) };
    let script = Script::at_doer(chain(&["codex"])).answer(Outcome::from(report)).asks(Role::Doer, 2, 1);
    let told = script.told_to_doer();
    assert!(told[0].contains("was cut off in the middle of its reply"), "{told:?}");
}

#[test]
fn a_repair_goes_on_with_the_same_conversation_of_the_same_agent_and_nothing_else_does() {
    let session = AgentSession {
        id: "conversation-1".to_owned(),
        so_far: Usage { kinds: TokenKinds { input: 5, ..TokenKinds::default() }, ..Usage::default() },
    };
    let unreadable = |session: &AgentSession| {
        let well = StepEnd::Exited { code: 0 };
        let report = agent_report(Role::Doer, well, malformed(&["not JSON"]), STEP);
        Outcome::from(AgentReport { session: Some(session.clone()), ..report })
    };
    let script = Script::at_doer(chain(&["codex", "claude"]));
    assert_eq!(script.asked().session, None);
    let script = script.answer(unreadable(&session));
    assert_eq!(script.asked().session.as_ref(), Some(&session));
    let until = script.now() + 3_600_000;
    let script = script.answer(limited(Some(until)));
    assert_eq!((asked_agent(&script), &script.asked().session), ("claude", &None), "not with a stranger");
    let script = script.doer_answers(&[]).captured("tree-1");
    assert_eq!((script.asked().role, &script.asked().session), (Role::Judge, &None));
}

#[test]
fn an_old_record_without_chains_is_asked_for_as_before() {
    let mut spec = spec();
    spec.place.agents = BTreeMap::new();
    let script = Script::at_doer(spec);
    assert_eq!(script.asked().agent, None);
    script.doer_answers(&[]).waits_in(Stage::Capturing);
}

#[test]
fn whoever_asks_is_told_until_when_it_waits_and_for_whom() {
    for (moment, words) in [
        (0, "1970-01-01 00:00 UTC"),
        (951_782_400_000, "2000-02-29 00:00 UTC"),
        (1_735_689_599_000, "2024-12-31 23:59 UTC"),
        (4_107_542_399_999, "2100-02-28 23:59 UTC"),
        (u64::MAX, "the end of time"),
    ] {
        assert_eq!(Millis(moment).utc(), words);
    }
    let script = Script::at_doer(chain(&["codex"]));
    let until = script.now() + 3_600_000;
    let script = script.answer(limited(Some(until)));
    let explanation = windlass_protocols::explain::explain(script.run());
    assert_eq!(explanation.now, format!("round 1: waits until {} to ask the doer", Millis(until).utc()));
    assert!(explanation.because.iter().any(|line| line.contains("429 Too Many Requests")), "{explanation:?}");
}
