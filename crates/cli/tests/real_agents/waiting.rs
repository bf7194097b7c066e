//! What only time brings to an end, a minute of it: every program at once, so that it is waited for once.

use crate::script::{RIGHT, doer, figures, work, working};
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
