//! Real agents behind the Agent Client Protocol, driven by `windlass __acp` against the scripted model.

use crate::world;
use serde_json::{Value, json};
use windlass_test_support::scripted_model::{ModelScript, ScriptEntry, ScriptedModel, Turn, Usage};
use windlass_test_support::{AgentProgram, Output, Repository, World, wait_until};

const WROTE: Usage = Usage { input: 1200, cached: 300, output: 70, reasoning: 0 };
const SAID: Usage = Usage { input: 1500, cached: 1000, output: 30, reasoning: 0 };

const GEMINI: &[&str] = &["gemini", "--acp", "--skip-trust"];
const CLAUDE: &[&str] = &["claude-agent-acp"];

/// An agent in a repository of its own, with a model that plays the script.
struct Scene {
    world: World,
    model: ScriptedModel,
    repository: Repository,
    agent: &'static [&'static str],
}

impl Scene {
    /// Nothing where the program is skipped.
    fn new(program: AgentProgram, agent: &'static [&'static str], script: ModelScript) -> Option<Self> {
        if !program.can_run() {
            return None;
        }
        let model = ScriptedModel::start(script);
        let mut world = world();
        world.launch_agents_against(&model);
        let outbox = world.path().join("outbox");
        std::fs::create_dir(&outbox).unwrap();
        // As the driver does.
        world.set("GEMINI_CLI_NO_RELAUNCH", "true").set("WINDLASS_OUTBOX", outbox);
        let repository = world.repository("repository");
        Some(Self { world, model, repository, agent })
    }

    fn turn(&self, options: &[&str], prompt: &str) -> Output {
        let words = [&["__acp"], options, &["--"], self.agent].concat();
        let output = self.world.windlass_in(self.repository.path(), &words, prompt);
        // Without a keeper above it, claude's own child is on its way out a moment longer than the adapter.
        wait_until("everything of the agent to have left", || {
            self.world.processes().is_empty().then_some(())
        });
        output
    }
}

fn signals(output: &Output, kind: &str) -> Vec<Value> {
    let lines = output.stdout.lines().filter(|line| !line.is_empty());
    let signal = |line: &str| serde_json::from_str::<Value>(line).unwrap()["windlass_signal"].take();
    lines.map(signal).filter(|signal| signal["kind"] == kind).collect()
}

fn number(value: &Value, field: &str) -> u64 {
    value[field].as_u64().unwrap_or_else(|| panic!("no number {field} in {value}"))
}

fn write_and_say() -> ModelScript {
    ModelScript::of([
        Turn::write("${cwd}/hello.txt", "hello\n").usage(WROTE),
        Turn::say("All is written.").usage(SAID),
    ])
}

fn makes_a_file(scene: &Scene) -> Value {
    let output = scene.turn(&["--read-write"], "Write hello.txt.").exits_with(0);
    assert_eq!(scene.repository.read("hello.txt"), "hello\n");
    assert_eq!(signals(&output, "end"), [json!({"kind": "end", "claim": "finished", "answer": null})]);
    let said = signals(&output, "message");
    assert_eq!(said.last().unwrap()["text"], "All is written.", "{}", output.stdout);
    let file = scene.repository.path().canonicalize().unwrap().join("hello.txt");
    assert_eq!(signals(&output, "file-change"), [json!({"kind": "file-change", "path": file})]);
    assert_eq!((signals(&output, "tool-call").len(), signals(&output, "tool-result").len()), (1, 1));
    assert_eq!(signals(&output, "session").len(), 1);
    signals(&output, "usage").into_iter().find(|usage| usage["scope"] == "process").unwrap()
}

#[test]
fn gemini_makes_a_file_and_tells_what_was_served() {
    let Some(scene) = Scene::new(AgentProgram::Gemini, GEMINI, write_and_say()) else { return };
    let usage = makes_a_file(&scene);
    let served = scene.model.served_usage();
    assert_eq!((number(&usage, "input"), number(&usage, "output")), (served.input, served.output));
}

#[test]
fn claude_makes_a_file_and_tells_what_was_served() {
    let Some(scene) = Scene::new(AgentProgram::ClaudeAgentAcp, CLAUDE, write_and_say()) else { return };
    let usage = makes_a_file(&scene);
    let served = scene.model.served_usage();
    let told = (number(&usage, "input"), number(&usage, "cached"), number(&usage, "output"));
    assert_eq!(told, (served.input, served.cached, served.output));
}

fn changes_nothing_as_a_reader(scene: &Scene) {
    let output = scene.turn(&["--read-only"], "Write hello.txt.").exits_with(0);
    assert!(!scene.repository.path().join("hello.txt").exists(), "{}", output.stdout);
    assert_eq!(signals(&output, "file-change"), Vec::<Value>::new());
    assert_eq!(signals(&output, "message").last().unwrap()["text"], "I tried.", "{}", output.stdout);
}

fn try_to_write() -> ModelScript {
    ModelScript::of([Turn::write("${cwd}/hello.txt", "hello\n"), Turn::say("I tried.")])
}

#[test]
fn gemini_as_a_reader_changes_nothing_even_when_its_model_wants_to() {
    let Some(scene) = Scene::new(AgentProgram::Gemini, GEMINI, try_to_write()) else { return };
    changes_nothing_as_a_reader(&scene);
}

#[test]
fn claude_as_a_reader_changes_nothing_even_when_its_model_wants_to() {
    let Some(scene) = Scene::new(AgentProgram::ClaudeAgentAcp, CLAUDE, try_to_write()) else { return };
    changes_nothing_as_a_reader(&scene);
}

/// Not with gemini: 0.61 loses a session that is loaded in the minute in which it was begun.
#[test]
fn claude_goes_on_in_an_earlier_session() {
    let turns = [Turn::say("First answer."), Turn::say("Second answer.")];
    let script = ModelScript::new().entry(ScriptEntry::when("First question.").turns(turns));
    let Some(scene) = Scene::new(AgentProgram::ClaudeAgentAcp, CLAUDE, script) else { return };
    let first = scene.turn(&["--read-write"], "First question.").exits_with(0);
    let session = signals(&first, "session")[0]["id"].as_str().unwrap().to_owned();
    let second = scene.turn(&["--read-write", "--resume", &session], "Second question.").exits_with(0);
    assert_eq!(signals(&second, "session")[0]["id"], session);
    let expected = json!({"kind": "message", "text": "Second answer.", "partial": false});
    assert_eq!(signals(&second, "message"), [expected], "{}", second.stdout);
}
