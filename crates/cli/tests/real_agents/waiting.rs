//! What only time brings to an end, a minute of it: every program at once, so that it is waited for once. And a maker that
//! talks and changes nothing.

use crate::script::{RIGHT, doer, figures, hand_over, work, working};
use crate::stage::Stage;
use windlass_test_support::AgentProgram;
use windlass_test_support::scripted_model::{Fault, ModelScript, Turn};

/// Its shell has left two sleepers behind, one in a session of its own, and its model says nothing any more.
#[test]
fn a_silent_program_is_ended_with_all_it_started_and_the_next_one_is_told_why() {
    let sleepers = "sleep 300 >/dev/null 2>&1 & setsid sleep 300 >/dev/null 2>&1 & echo begun";
    let script = || {
        let silent = doer(1)
            .turn(Turn::shell(sleepers).usage(figures(1)))
            .turn(Turn::say("Never.").fault(Fault::hang_before_reply()));
        let told = doer(2).and("the doer was silent longer than its idle limit");
        ModelScript::new().entry(silent).entry(working(told, &work(RIGHT)))
    };
    let five = [
        AgentProgram::Codex,
        AgentProgram::Claude,
        AgentProgram::Gemini,
        AgentProgram::OpenCode,
        AgentProgram::Copilot,
    ];
    let mut stages = Vec::new();
    for program in five {
        let Some(mut stage) = Stage::with(&[program], script()) else { continue };
        stage.world.set("WINDLASS_IDLE_MINUTES", "1");
        let running = stage.start_doer(program, &["--rounds", "2"]);
        stage.model.wait_for_hanging(1);
        stages.push((stage, running));
    }
    for (stage, running) in stages {
        let played = stage.played(running).exits_with(0, &stage);
        assert_eq!(played.outcome["rounds_completed"], 2);
        stage.assert_landed_and_verified();
    }
}

/// It is not silent: its shell prints all the time. Only the limit of the whole step ends it.
#[test]
fn a_program_that_takes_too_long_is_ended_with_all_it_started_and_the_next_one_is_told_why() {
    let busy = "while :; do echo busy; sleep 0.2; done";
    let endless = doer(1).turn(Turn::shell(busy).usage(figures(1))).last_again();
    let told = doer(2).and("the doer ran into its time limit");
    let script = ModelScript::new().entry(endless).entry(working(told, &work(RIGHT)));
    let Some(stage) = Stage::with(&[AgentProgram::Codex], script) else { return };
    let flags = ["--rounds", "2", "--step-limit", "15s"];
    let played = stage.played(stage.start_doer(AgentProgram::Codex, &flags)).exits_with(0, &stage);
    assert_eq!(played.outcome["rounds_completed"], 2);
    assert_eq!(stage.show()["spent"]["cut_off_steps"], 1);
    stage.assert_landed_and_verified();
}

/// Two rounds of words and no change: each is recorded as that, and the third one is told both.
#[test]
fn a_program_that_talks_and_changes_nothing_is_told_so() {
    let talks = |round| working(doer(round), &hand_over());
    let again = "the worktree is as it was at the base, as it was after round 1 already";
    let told = doer(3).and(again).and("round 1: nothing was changed").and("round 2: nothing was changed");
    let script = ModelScript::new().entry(talks(1)).entry(talks(2)).entry(working(told, &work(RIGHT)));
    let Some(stage) = Stage::with(&[AgentProgram::Codex], script) else { return };
    let played =
        stage.played(stage.start_doer(AgentProgram::Codex, &["--rounds", "3"])).exits_with(0, &stage);
    assert_eq!(played.outcome["rounds_completed"], 3);
    let rejected = stage.facts_of("round-rejected");
    let by = |fact: &serde_json::Value| fact["fact"]["data"]["round-rejected"]["by"].clone();
    assert_eq!(rejected.iter().map(by).collect::<Vec<_>>(), ["no-change", "no-change"]);
    stage.assert_all_counted();
}
