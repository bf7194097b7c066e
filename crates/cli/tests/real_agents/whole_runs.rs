//! Two rounds from the first prompt to the landed commit, with one program in all three roles, and with three together.

use crate::script::{sent_back_by_a_check, two_rounds};
use crate::stage::{Stage, word_for};
use windlass_test_support::AgentProgram;

/// Who sends the first round back. A check costs no start of a slow program.
#[derive(PartialEq, Eq)]
enum SentBackBy {
    Judge,
    Check,
}

/// A wrong word, a rejection, the right word, a pass, a gate that opens: all by this program.
fn plays_every_role(program: AgentProgram, sent_back_by: SentBackBy) {
    let by_check = sent_back_by == SentBackBy::Check;
    let script = if by_check { sent_back_by_a_check() } else { two_rounds() };
    let Some(stage) = Stage::with(&[program], script) else { return };
    let check: &[&str] = if by_check { &["--check", "grep right word.txt"] } else { &[] };
    let played = stage.run(&[&["--agent", &word_for(program)], check].concat()).exits_with(0, &stage);
    assert_eq!(played.outcome["rounds_completed"], 2);
    // As users have it: codex is left room for a sandbox of its own.
    let held = if program == AgentProgram::Codex { "namespaces" } else { "landlock" };
    assert_eq!(stage.held_by(), [held.to_owned()].into());
    stage.assert_all_counted();
    stage.assert_landed_and_verified();
    let artifacts = stage.show()["artifacts"].to_string();
    for name in
        ["doer.prompt.md", "judge.prompt.md", "audit.prompt.md", "doer.stdout.log", "audit.stdout.log"]
    {
        assert!(artifacts.contains(name), "{name} is not sealed: {artifacts}");
    }
}

#[test]
fn codex_plays_every_role() {
    plays_every_role(AgentProgram::Codex, SentBackBy::Judge);
}

#[test]
fn claude_plays_every_role() {
    plays_every_role(AgentProgram::Claude, SentBackBy::Judge);
}

#[test]
fn gemini_plays_every_role() {
    plays_every_role(AgentProgram::Gemini, SentBackBy::Check);
}

#[test]
fn opencode_plays_every_role() {
    plays_every_role(AgentProgram::OpenCode, SentBackBy::Check);
}

#[test]
fn copilot_plays_every_role() {
    plays_every_role(AgentProgram::Copilot, SentBackBy::Judge);
}

#[test]
fn the_acp_adapter_plays_every_role() {
    plays_every_role(AgentProgram::ClaudeAgentAcp, SentBackBy::Judge);
}

/// Without our fence the programs have only their own, as on a machine that offers none.
#[test]
fn two_programs_play_a_run_without_a_sandbox() {
    let programs = [AgentProgram::Codex, AgentProgram::Claude];
    let Some(mut stage) = Stage::with(&programs, two_rounds()) else { return };
    stage.world.without_sandbox("there are machines that offer none");
    let agents = ["--doer", "codex", "--judge", "claude", "--auditor", "claude"];
    let _ = stage.run(&agents).exits_with(0, &stage);
    assert_eq!(stage.held_by(), ["none".to_owned()].into());
    stage.assert_landed_and_verified();
}

/// The distance between maker and checkers that the user asked for.
const DISTINCT: (&str, &str) = ("WINDLASS_DISTINCT_VENDORS", "true");

#[test]
fn three_vendors_play_one_run_together() {
    let programs = [AgentProgram::Codex, AgentProgram::Claude, AgentProgram::Gemini];
    let Some(mut stage) = Stage::with(&programs, two_rounds()) else { return };
    stage.world.set(DISTINCT.0, DISTINCT.1);
    let agents = ["--doer", "codex", "--judge", "claude", "--auditor", "gemini"];
    let played = stage.run(&agents).exits_with(0, &stage);
    assert_eq!(played.outcome["rounds_completed"], 2);
    stage.assert_all_counted();
    stage.assert_landed_and_verified();
}

#[test]
fn a_checker_of_the_makers_vendor_is_refused_with_the_reason_before_anybody_is_asked() {
    let Some(mut stage) = Stage::with(&[AgentProgram::Claude], two_rounds()) else { return };
    stage.world.set(DISTINCT.0, DISTINCT.1);
    let usual = [("--doer", "claude:opus"), ("--judge", "codex"), ("--auditor", "gemini")];
    for checker in ["judge", "auditor"] {
        let chosen = |(flag, agent): (&'static str, &'static str)| {
            [flag, if flag.ends_with(checker) { "claude:haiku" } else { agent }]
        };
        let refused = stage.start(&usual.map(chosen).concat()).wait();
        let said = format!("{}{}", refused.stdout, refused.stderr);
        let reason = format!("the doer `claude:opus` and the {checker} `claude:haiku` are both of anthropic");
        assert!(refused.code != Some(0) && said.contains(&reason), "{said}");
    }
    assert_eq!(stage.turns(), Vec::<String>::new());
}
