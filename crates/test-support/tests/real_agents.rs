//! Each real agent program, once, against the scripted model: it writes a file, says its last word, ends with 0, and
//! tells the token figures that were served. Whole runs of Windlass with these programs are tests of the cli crate.

use serde_json::{Value, json};
use windlass_test_support::scripted_model::{
    ModelScript, RequestEnd, RequestKind, ScriptedModel, Turn, Usage,
};
use windlass_test_support::{AgentProgram, Output, World};

const PROMPT: &str = "Write hello.txt.";
const WROTE: Usage = Usage { input: 1200, cached: 300, output: 70, reasoning: 20 };
const SAID: Usage = Usage { input: 1500, cached: 1000, output: 30, reasoning: 0 };

struct Run {
    world: World,
    output: Output,
}

/// The run of one program; nothing where it is skipped.
fn run(program: AgentProgram, args: &[&str]) -> Option<Run> {
    if !program.can_run() {
        return None;
    }
    let script = ModelScript::of([
        Turn::write("${cwd}/hello.txt", "hello\n").usage(WROTE),
        Turn::say("All is written.").usage(SAID),
    ]);
    let model = ScriptedModel::start(script);
    let mut world = World::new("unused");
    world.launch_agents_against(&model);
    let repository = world.repository("repository");
    let launcher = world.agent_launchers().join(program.name());
    let output = world.run(&launcher, repository.path(), args, "").exits_with(0);
    let trace = || format!("{:#?}\n{}\n{}", model.requests(), output.stdout, output.stderr);
    assert!(repository.path().join("hello.txt").is_file(), "{}", trace());
    assert_eq!(repository.read("hello.txt"), "hello\n");
    // Gemini tells it in two pieces.
    assert!(output.stdout.contains("written."), "{}", trace());
    let unheard = |kind: &RequestKind| matches!(kind, RequestKind::Turn { entry: None, .. });
    assert!(!model.requests().iter().any(|request| unheard(&request.kind)), "{}", trace());
    assert!(model.requests().iter().all(|request| request.end != RequestEnd::Underway), "{}", trace());
    assert_eq!(model.served_usage(), WROTE + SAID, "{}", trace());
    world.assert_no_processes();
    Some(Run { world, output })
}

fn event(output: &Output, kind: &str) -> Value {
    let found = output.json_lines().into_iter().rfind(|event| event["type"] == kind);
    found.unwrap_or_else(|| panic!("no {kind} in {}", output.stdout))
}

fn number(value: &Value, field: &str) -> u64 {
    value[field].as_u64().unwrap_or_else(|| panic!("no number {field} in {value}"))
}

#[test]
fn codex_writes_a_file_and_tells_what_was_served() {
    let args = ["exec", "--json", "-s", "workspace-write", PROMPT];
    let Some(run) = run(AgentProgram::Codex, &args) else { return };
    let usage = &event(&run.output, "turn.completed")["usage"];
    let told = Usage {
        input: number(usage, "input_tokens"),
        cached: number(usage, "cached_input_tokens"),
        output: number(usage, "output_tokens"),
        reasoning: number(usage, "reasoning_output_tokens"),
    };
    assert_eq!(told, WROTE + SAID);
}

#[test]
fn claude_writes_a_file_and_tells_what_was_served() {
    let args = ["-p", "--output-format", "stream-json", "--verbose"];
    let args = [args.as_slice(), &["--permission-mode", "acceptEdits", "--", PROMPT]].concat();
    let Some(run) = run(AgentProgram::Claude, &args) else { return };
    let result = event(&run.output, "result");
    assert_eq!((&result["is_error"], &result["result"]), (&json!(false), &json!("All is written.")));
    let (usage, served) = (&result["usage"], WROTE + SAID);
    assert_eq!(number(usage, "input_tokens"), served.input - served.cached);
    assert_eq!(number(usage, "cache_read_input_tokens"), served.cached);
    assert_eq!(number(usage, "output_tokens"), served.output);
}

#[test]
fn gemini_writes_a_file_and_tells_what_was_served() {
    let args = ["--output-format", "stream-json", "--approval-mode", "yolo", "--skip-trust"];
    let args = [args.as_slice(), &["-m", "gemini-2.5-pro", "-p", PROMPT]].concat();
    let Some(run) = run(AgentProgram::Gemini, &args) else { return };
    let (stats, served) = (&event(&run.output, "result")["stats"], WROTE + SAID);
    assert_eq!(number(stats, "input_tokens"), served.input);
    assert_eq!(number(stats, "cached"), served.cached);
    assert_eq!(number(stats, "output_tokens"), served.output - served.reasoning);
    assert_eq!(number(stats, "total_tokens"), served.input + served.output);
}

#[test]
fn opencode_writes_a_file_and_tells_what_was_served() {
    let args = ["run", "--format", "json", "--auto", PROMPT];
    let Some(run) = run(AgentProgram::OpenCode, &args) else { return };
    let told = |event: Value| {
        let (tokens, cache) = (&event["part"]["tokens"], &event["part"]["tokens"]["cache"]);
        let (cached, reasoning) = (number(cache, "read"), number(tokens, "reasoning"));
        let (input, output) = (number(tokens, "input") + cached, number(tokens, "output") + reasoning);
        Usage { input, cached, output, reasoning }
    };
    let steps = run.output.json_lines().into_iter().filter(|event| event["type"] == "step_finish");
    assert_eq!(steps.map(told).sum::<Usage>(), WROTE + SAID);
}

#[test]
fn copilot_writes_a_file_and_tells_what_was_served() {
    let args = ["--output-format", "json", "--allow-all-tools", "--no-ask-user"];
    let args = [args.as_slice(), &["--usage-output-file", "../usage.json", "-p", PROMPT]].concat();
    let Some(run) = run(AgentProgram::Copilot, &args) else { return };
    let file = std::fs::read_to_string(run.world.path().join("usage.json")).unwrap();
    let file: Value = serde_json::from_str(&file).unwrap();
    let usage = &file["agentMetrics"]["main"]["modelMetrics"]["scripted-model"]["usage"];
    let told = Usage {
        input: number(usage, "inputTokens"),
        cached: number(usage, "cacheReadTokens"),
        output: number(usage, "outputTokens"),
        reasoning: number(usage, "reasoningTokens"),
    };
    assert_eq!(told, WROTE + SAID);
}
