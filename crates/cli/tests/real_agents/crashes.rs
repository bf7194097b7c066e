//! Windlass is killed or stopped while a real program is in the middle of its turn, or a cap is passed there: nothing is
//! left alive, nothing is paid twice, and the run goes on.

use crate::script::{RIGHT, doer, figures, work};
use crate::stage::Stage;
use windlass_test_support::scripted_model::{Fault, ModelScript, Turn};
use windlass_test_support::{AgentProgram, wait_until};

/// Two kills in one turn: whoever resumes finds the program at work, and its words are paid once.
fn survives_two_kills_of_windlass(program: AgentProgram) {
    let entry = doer(1)
        .turn(Turn::shell(&work(RIGHT)).usage(figures(1)))
        .turn(Turn::say("Done.").usage(figures(2)).fault(Fault::hang_before_reply()));
    let Some(stage) = Stage::with(&[program], ModelScript::new().entry(entry)) else { return };
    let running = stage.start_doer(program, &["--rounds", "1"]);
    stage.model.wait_for_hanging(1);
    let _ = running.kill();
    let _ = stage.start_resume().kill();
    let running = stage.start_resume();
    stage.model.release();
    let _ = stage.played(running).exits_with(0, &stage);
    assert_eq!(stage.turns().len(), 2, "{:#?}", stage.turns());
    stage.assert_all_counted();
    stage.assert_landed_and_verified();
}

/// Its shell sleeps, one sleeper in a session of its own. Windlass is killed, resumed and stopped.
fn leaves_nobody_behind(program: AgentProgram) {
    let sleepers = "setsid sleep 300 >/dev/null 2>&1 & sleep 300";
    let script = ModelScript::new().entry(doer(1).turn(Turn::shell(sleepers)).last_again());
    let Some(stage) = Stage::with(&[program], script) else { return };
    let running = stage.start_doer(program, &["--rounds", "1"]);
    let asleep = || stage.world.processes().iter().filter(|process| process.ends_with("sleep 300")).count();
    wait_until("both sleepers", || (asleep() >= 2).then_some(()));
    let _ = running.kill();
    let running = stage.start_resume();
    assert!(asleep() >= 2, "it was not adopted");
    // Refused while the one that resumes is about to take the run into its hands.
    let stop = || stage.world.windlass(&["stop", &stage.id()]).code == Some(0);
    wait_until("the request to stop", || stop().then_some(()));
    let _ = stage.played(running).exits_with(13, &stage);
    // The others tell nothing about a reply whose tools still run, and that is said.
    let (counted, served) = (stage.counted(), stage.model.served_usage());
    if matches!(program, AgentProgram::Claude | AgentProgram::Copilot) {
        assert_eq!(counted, served, "{:#?}", stage.turns());
    } else {
        assert!(
            counted.input + counted.output < served.input + served.output,
            "it tells more than it used to"
        );
        assert_eq!(stage.show()["spent"]["cut_off_steps"], 1);
        let shown = stage.world.windlass(&["show", &stage.id()]).exits_with(0).stdout;
        assert!(shown.contains("tokens not told") || shown.contains("at least"), "{shown}");
    }
}

/// Only what the second reply says, which is told last of it, passes the cap.
const CAP: u64 = 2100;

/// Ended in the middle of its turn where the program tells its tokens as it goes, at the end of the step else.
fn is_held_to_its_tokens(program: AgentProgram) {
    let is_live = matches!(program, AgentProgram::Claude | AgentProgram::OpenCode);
    let last = Turn::say("Done.").usage(figures(3));
    let last = if is_live { last.fault(Fault::hang_before_reply()) } else { last };
    let entry = doer(1)
        .turn(Turn::shell("true").usage(figures(1)))
        .turn(Turn::shell("echo more").usage(figures(2)))
        .turn(last);
    let Some(mut stage) = Stage::with(&[program], ModelScript::new().entry(entry)) else { return };
    stage.world.set("WINDLASS_MAX_TOKENS", CAP.to_string());
    let played = stage.played(stage.start_doer(program, &["--rounds", "1"]));
    let played = played.exits_with(12, &stage);
    assert!(played.explained().contains("tokens"), "{:#}", played.outcome);
    stage.assert_all_counted();
    if is_live {
        let in_flight = figures(2).input + figures(2).output;
        assert!(stage.show()["used"]["tokens"].as_u64().unwrap() <= CAP + in_flight);
    }
}

/// A cap that the first round does not reach and the second one passes, with two kills of Windlass in between.
fn is_held_to_its_tokens_after_two_kills(program: AgentProgram) {
    let is_live = matches!(program, AgentProgram::Claude | AgentProgram::OpenCode);
    let first = doer(1)
        .turn(Turn::shell(&work("wrong")).usage(figures(1)))
        .turn(Turn::say("Done.").usage(figures(2)).fault(Fault::hang_before_reply()));
    let last = Turn::say("Done.").usage(figures(4));
    let last = if is_live { last.fault(Fault::hang_before_reply()) } else { last };
    let second = doer(2).turn(Turn::shell(&work(RIGHT)).usage(figures(3))).turn(last);
    let script = ModelScript::new().entry(first).entry(second);
    let Some(mut stage) = Stage::with(&[program], script) else { return };
    let tokens = |number| figures(number).input + figures(number).output;
    let cap = tokens(1) + tokens(2) + tokens(3);
    stage.world.set("WINDLASS_MAX_TOKENS", cap.to_string());
    let running = stage.start_doer(program, &["--rounds", "2", "--check", "grep right word.txt"]);
    stage.model.wait_for_hanging(1);
    let _ = running.kill();
    let _ = stage.start_resume().kill();
    let running = stage.start_resume();
    stage.model.release();
    let played = stage.played(running).exits_with(12, &stage);
    assert!(played.explained().contains("tokens"), "{:#}", played.outcome);
    stage.assert_all_counted();
    // Whoever tells its tokens as it goes is ended between two replies, everybody else at the end of the turn.
    let in_flight = if is_live { 0 } else { tokens(4) };
    assert_eq!(stage.show()["used"]["tokens"], cap + in_flight);
}

#[test]
fn the_acp_adapter_is_held_to_its_tokens_after_two_kills() {
    is_held_to_its_tokens_after_two_kills(AgentProgram::ClaudeAgentAcp);
}

each_program!(is_held_to_its_tokens_after_two_kills);
each_program!(survives_two_kills_of_windlass);
each_program!(leaves_nobody_behind);
each_program!(is_held_to_its_tokens);
