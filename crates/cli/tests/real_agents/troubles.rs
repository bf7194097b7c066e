//! What goes wrong between an agent program and its provider: limits, outages, cut replies, wrong keys, a program that is
//! killed. Each program once, with one mishap after the other, because starting some of them takes long.

use crate::script::{RIGHT, doer, figures, work, working};
use crate::stage::Stage;
use windlass_test_support::scripted_model::{Fault, ModelScript, ScriptEntry, Turn};
use rustix::process::{Signal, kill_process};
use windlass_test_support::{AgentProgram, wait_until};

/// A first reply that goes wrong in this way, for one conversation.
fn mishap(fault: Fault) -> ScriptEntry {
    ScriptEntry::when("Role: doer").uses(1).turn(Turn::say("Thinking.").usage(figures(6)).fault(fault))
}

/// A limit is waited for, a cut reply is asked for again, a reply that ends at the token limit and a killed program cost
/// their round, and the next one is told why.
fn one_mishap_after_the_other(program: AgentProgram) {
    let script = ModelScript::new()
        .entry(mishap(Fault::rate_limit(2)))
        .entry(mishap(Fault::cut()))
        .entry(mishap(Fault::token_limit()))
        .entry(mishap(Fault::hang_before_reply()))
        .entry(working(doer(3), &work(RIGHT)));
    let Some(stage) = Stage::with(&[program], script) else { return };
    let running = stage.start_doer(program, &["--rounds", "3"]);
    stage.model.wait_for_hanging(1);
    let pid = wait_until("the program's process", || stage.process_of(program));
    kill_process(pid, Signal::KILL).unwrap();
    let played = stage.played(running).exits_with(0, &stage);
    assert_eq!(played.outcome["rounds_completed"], 3, "{:#}", played.outcome);
    eprintln!("{:#?}", stage.turns());
    for fact in stage.facts() { eprintln!("{} {} {}", fact["at_ms"], fact["kind"], fact["text"]); if fact["kind"] == "agent-out" || fact["kind"] == "effect-settled" { eprintln!("   {}", fact["fact"]); } }
    eprintln!("counted {:?} served {:?}", stage.counted(), stage.model.served_usage());
}

#[test]
fn codex_gets_through_one_mishap_after_the_other() {
    one_mishap_after_the_other(AgentProgram::Codex);
}

#[test]
fn claude_gets_through_one_mishap_after_the_other() {
    one_mishap_after_the_other(AgentProgram::Claude);
}

#[test]
fn gemini_gets_through_one_mishap_after_the_other() {
    one_mishap_after_the_other(AgentProgram::Gemini);
}

#[test]
fn opencode_gets_through_one_mishap_after_the_other() {
    one_mishap_after_the_other(AgentProgram::OpenCode);
}

#[test]
fn copilot_gets_through_one_mishap_after_the_other() {
    one_mishap_after_the_other(AgentProgram::Copilot);
}
