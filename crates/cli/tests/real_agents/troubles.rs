//! What goes wrong between an agent program and its provider: limits, outages, cut replies, wrong keys, a program that is
//! killed. Few starts for many mishaps, because starting some of the programs takes long.

use crate::script::{RIGHT, doer, figures, work, working};
use crate::stage::Stage;
use rustix::process::{Signal, kill_process};
use serde_json::Value;
use windlass_test_support::scripted_model::{Fault, ModelScript, ScriptEntry, Turn};
use windlass_test_support::{AgentProgram, wait_until};

/// A first reply that goes wrong in this way, for one conversation.
fn mishap(fault: Fault) -> ScriptEntry {
    ScriptEntry::when("Role: doer").uses(1).turn(Turn::say("Thinking.").usage(figures(6)).fault(fault))
}

/// All goes well but for one broken reply.
fn cut_once() -> ScriptEntry {
    doer(1)
        .turn(Turn::shell(&work(RIGHT)).usage(figures(1)).fault(Fault::cut().times(1)))
        .turn(Turn::say("Done.").usage(figures(2)))
}

/// A limit is waited for and a cut reply is asked for again; neither costs a round.
fn is_waited_for(program: AgentProgram) {
    // OpenCode tries a cut reply again for more than a minute before it gives up, so it gets what it asks for.
    let gives_up = program != AgentProgram::OpenCode;
    let script = ModelScript::new()
        .entry(mishap(Fault::rate_limit(1)))
        .entry(if gives_up { mishap(Fault::cut()) } else { cut_once() })
        .entry(working(doer(1), &work(RIGHT)));
    let Some(stage) = Stage::with(&[program], script) else { return };
    let played = stage.played(stage.start_doer(program, &["--rounds", "1"])).exits_with(0, &stage);
    assert_eq!(played.outcome["rounds_completed"], 1, "{:#}", played.outcome);
    let outages = stage.facts_of("agent-out");
    let kinds: Vec<&str> = outages.iter().filter_map(|out| out_of(out)["kind"].as_str()).collect();
    assert_eq!(kinds, if gives_up { vec!["limited", "unavailable"] } else { vec!["limited"] });
    assert_eq!(stage.facts_of("round-rejected").len() + stage.facts_of("step-retried").len(), 0);
    // Codex does not pass on when its provider wants to be asked again, so a limit of our own is waited for.
    if program != AgentProgram::Codex {
        let (told, until) = (moment(&outages[0]["at_ms"]), moment(&out_of(&outages[0])["until"]));
        assert!(until <= told + 1_000, "told at {told}, not asked before {until}");
    }
    for out in &outages {
        let until = moment(&out_of(out)["until"]);
        let version = moment(&out["version"]);
        let facts = stage.facts();
        let next = facts.iter().find(|fact| moment(&fact["version"]) > version && is_doers(fact));
        assert!(next.is_some_and(|next| moment(&next["at_ms"]) >= until), "asked before {until}: {next:?}");
    }
    stage.assert_counted_but_for_what_broke();
}

fn out_of(fact: &Value) -> &Value {
    &fact["fact"]["data"]["agent-out"]
}

fn moment(value: &Value) -> u64 {
    value.as_u64().unwrap_or_else(|| panic!("no number: {value}"))
}

fn is_doers(fact: &Value) -> bool {
    fact["kind"] == "effect-requested"
        && fact["text"].as_str().is_some_and(|text| text.contains("the doer works"))
}

/// A reply that always ends at the token limit and a program that is killed cost their rounds; the next one is told why.
fn is_told_to_the_next(program: AgentProgram) {
    let script = ModelScript::new()
        .entry(mishap(Fault::token_limit()).last_again())
        .entry(mishap(Fault::hang_before_reply()))
        .entry(working(doer(3), &work(RIGHT)));
    let Some(stage) = Stage::with(&[program], script) else { return };
    let running = stage.start_doer(program, &["--rounds", "3"]);
    stage.model.wait_for_hanging(1);
    let pid = wait_until("the program's process", || stage.process_of(program));
    kill_process(pid, Signal::KILL).unwrap();
    let played = stage.played(running).exits_with(0, &stage);
    assert_eq!(played.outcome["rounds_completed"], 3, "{:#}", played.outcome);
    // Two of them say nothing about the limit and end as if all were well; then only the hand-off is missing.
    let why = match program {
        AgentProgram::Codex => "the doer failed: Incomplete response returned, reason: max_output_tokens",
        AgentProgram::Claude => "response exceeded the",
        AgentProgram::OpenCode => "the reply ended at the token limit",
        _ => "handoff.json was not left in the outbox",
    };
    assert!(stage.told_to_entry(1).contains(why), "{}", stage.told_to_entry(1));
    let why = "the doer was ended by SIGKILL; what it changed so far is still in its worktree";
    assert!(stage.told_to_entry(2).contains(why), "{}", stage.told_to_entry(2));
    // A turn of codex that fails tells no tokens.
    if program != AgentProgram::Codex {
        stage.assert_all_counted();
    }
}

/// A provider that is out of order for good is tried once more; a wrong key is told at once. A person mends both, and
/// the run goes on.
fn needs_a_person(program: AgentProgram) {
    // These try by themselves for long each time.
    let is_patient = matches!(program, AgentProgram::OpenCode | AgentProgram::Copilot);
    let tries = if is_patient { 1 } else { 2 };
    let faulty = (0..tries).fold(ModelScript::new(), |script, _| script.entry(mishap(Fault::server_error())));
    let script = faulty.entry(mishap(Fault::bad_key())).entry(working(doer(1), &work(RIGHT)));
    let Some(mut stage) = Stage::with(&[program], script) else { return };
    stage.world.set("WINDLASS_RETRIES", (tries - 1).to_string());
    let played = stage.played(stage.start_doer(program, &["--rounds", "1"])).exits_with(11, &stage);
    let reason = "the doer keeps failing: it cannot reach its provider";
    assert!(played.explained().contains(reason), "{:#}", played.outcome);
    assert_eq!(agent_steps(&stage), tries);
    let played = stage.resume(&[]).exits_with(11, &stage);
    let told = |words: &str| played.explained().contains(words);
    assert!(told("401") || told("Incorrect API key"), "{:#}", played.outcome);
    assert!(told(login_hint(program)), "{:#}", played.outcome);
    assert_eq!(agent_steps(&stage), tries + 1);
    let _ = stage.resume(&[]).exits_with(0, &stage);
    stage.assert_all_counted();
    stage.assert_landed_and_verified();
}

fn agent_steps(stage: &Stage) -> usize {
    stage.facts().iter().filter(|fact| is_doers(fact)).count()
}

fn login_hint(program: AgentProgram) -> &'static str {
    match program {
        AgentProgram::Codex => "codex login",
        AgentProgram::Claude => "run `claude` and log in",
        AgentProgram::Gemini => "run `gemini` and log in",
        AgentProgram::OpenCode => "opencode auth login",
        AgentProgram::Copilot => "copilot login",
        AgentProgram::ClaudeAgentAcp => "log in",
    }
}

each_program!(is_waited_for);
each_program!(is_told_to_the_next);
each_program!(needs_a_person);
