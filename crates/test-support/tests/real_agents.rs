//! Each real agent program, once, against the scripted model: it writes a file, says its last word, ends with 0, and
//! tells the token figures that were served. Whole runs of Windlass with these programs are tests of the cli crate.

use serde_json::{Value, json};
use std::path::{Path, PathBuf};
use windlass_test_support::scripted_model::{
    ModelScript, RequestEnd, RequestKind, ScriptedModel, Turn, Usage,
};
use windlass_test_support::{AgentProgram, Output, Repository, World, wait_until};

const PROMPT: &str = "Write hello.txt.";
const WROTE: Usage = Usage { input: 1200, cached: 300, output: 70, reasoning: 20 };
const SAID: Usage = Usage { input: 1500, cached: 1000, output: 30, reasoning: 0 };

/// A world with one program, and a model that has it write a file.
struct Scene {
    world: World,
    model: ScriptedModel,
    repository: Repository,
    launcher: PathBuf,
}

impl Scene {
    /// Nothing where the program is skipped.
    fn with(program: AgentProgram) -> Option<Self> {
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
        let (repository, launcher) =
            (world.repository("repository"), world.agent_launchers().join(program.name()));
        Some(Self { world, model, repository, launcher })
    }

    fn run(&self, args: &[&str]) -> Output {
        let output = self.world.run(&self.launcher, self.repository.path(), args, "");
        self.world.assert_no_processes();
        self.check(output)
    }

    /// The file is there, the last word came through, everything was served as the script says.
    fn check(&self, output: Output) -> Output {
        let output = output.exits_with(0);
        let requests = self.model.requests();
        let trace = || format!("{requests:#?}\n{}\n{}", output.stdout, output.stderr);
        assert!(self.repository.path().join("hello.txt").is_file(), "{}", trace());
        assert_eq!(self.repository.read("hello.txt"), "hello\n");
        // Some tell it in two pieces.
        assert!(output.stdout.contains("written."), "{}", trace());
        let unheard = |kind: &RequestKind| matches!(kind, RequestKind::Turn { entry: None, .. });
        assert!(!requests.iter().any(|request| unheard(&request.kind)), "{}", trace());
        assert!(requests.iter().all(|request| request.end != RequestEnd::Underway), "{}", trace());
        assert_eq!(self.model.served_usage(), WROTE + SAID, "{}", trace());
        output
    }
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
    let Some(scene) = Scene::with(AgentProgram::Codex) else { return };
    let output = scene.run(&args);
    let usage = &event(&output, "turn.completed")["usage"];
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
    let Some(scene) = Scene::with(AgentProgram::Claude) else { return };
    let output = scene.run(&args);
    let result = event(&output, "result");
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
    let Some(scene) = Scene::with(AgentProgram::Gemini) else { return };
    let output = scene.run(&args);
    let (stats, served) = (&event(&output, "result")["stats"], WROTE + SAID);
    assert_eq!(number(stats, "input_tokens"), served.input);
    assert_eq!(number(stats, "cached"), served.cached);
    assert_eq!(number(stats, "output_tokens"), served.output - served.reasoning);
    assert_eq!(number(stats, "total_tokens"), served.input + served.output);
}

#[test]
fn opencode_writes_a_file_and_tells_what_was_served() {
    let args = ["run", "--format", "json", "--auto", PROMPT];
    let Some(scene) = Scene::with(AgentProgram::OpenCode) else { return };
    let output = scene.run(&args);
    let told = |event: Value| {
        let (tokens, cache) = (&event["part"]["tokens"], &event["part"]["tokens"]["cache"]);
        let (cached, reasoning) = (number(cache, "read"), number(tokens, "reasoning"));
        let (input, output) = (number(tokens, "input") + cached, number(tokens, "output") + reasoning);
        Usage { input, cached, output, reasoning }
    };
    let steps = output.json_lines().into_iter().filter(|event| event["type"] == "step_finish");
    assert_eq!(steps.map(told).sum::<Usage>(), WROTE + SAID);
}

#[test]
fn copilot_writes_a_file_and_tells_what_was_served() {
    let args = ["--output-format", "json", "--allow-all-tools", "--no-ask-user"];
    let args = [args.as_slice(), &["--usage-output-file", "../usage.json", "-p", PROMPT]].concat();
    let Some(scene) = Scene::with(AgentProgram::Copilot) else { return };
    let _ = scene.run(&args);
    let file = std::fs::read_to_string(scene.world.path().join("usage.json")).unwrap();
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

#[test]
fn the_acp_adapter_writes_a_file_and_tells_what_was_served() {
    let Some(scene) = Scene::with(AgentProgram::ClaudeAgentAcp) else { return };
    let client = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/acp_client.sh");
    let launcher = scene.launcher.to_string_lossy();
    let args = [launcher.as_ref(), scene.repository.text(), PROMPT];
    let output = scene.world.run(&client, scene.world.path(), &args, "");
    // The adapter does not wait for the claude that it has started.
    wait_until("the end of the adapter's own claude", || scene.world.processes().is_empty().then_some(()));
    let output = scene.check(output);
    let answer = output.json_lines().into_iter().find(|message| message["id"] == 3).unwrap();
    assert_eq!(answer["result"]["stopReason"], "end_turn");
    let (usage, served) = (&answer["result"]["usage"], WROTE + SAID);
    assert_eq!(number(usage, "inputTokens"), served.input - served.cached);
    assert_eq!(number(usage, "cachedReadTokens"), served.cached);
    assert_eq!(number(usage, "outputTokens"), served.output);
}
