//! The forms of an answer: JSON with the documented fields, plain text without escape codes, a reader that goes away.

use crate::played_run::PlayedRun;
use serde_json::Value;
use windlass_test_support::{Script, World};

#[track_caller]
fn has_fields(value: &Value, fields: &[&str]) {
    let object = value.as_object().unwrap_or_else(|| panic!("{value} is no object"));
    for field in fields {
        assert!(object.contains_key(*field), "{field} is missing in {value}");
    }
}

const LINE: &[&str] = &[
    "run",
    "task",
    "status",
    "now",
    "round",
    "rounds",
    "started_at_ms",
    "updated_at_ms",
    "repository",
    "run_dir",
];
const EXPLANATION: &[&str] = &["now", "because", "commands"];
const OUTCOME: &[&str] = &[
    "run",
    "status",
    "run_dir",
    "final_verdict",
    "judge_verdict",
    "audit_gate",
    "rounds_completed",
    "landed",
    "explanation",
    "would_run",
];

#[test]
fn looking_in_json_has_the_documented_fields() {
    let played = PlayedRun::accepted();
    has_fields(&played.line(), LINE);
    let view = played.about("show", &["--json"]).exits_with(0).json();
    has_fields(&view, LINE);
    has_fields(
        &view,
        &["task_text", "base", "base_ref", "tree", "landed", "judge_verdict", "audit_gate", "checks"],
    );
    has_fields(&view, &["audit_checks", "agents", "used", "explanation", "artifacts"]);
    has_fields(&view["used"], &["milliseconds", "tokens", "cost_micros", "output_bytes", "facts"]);
    has_fields(&view["landed"], &["commit", "reference"]);
    has_fields(&view["artifacts"][0], &["round", "name", "digest", "bytes", "path"]);
    has_fields(&view["explanation"], EXPLANATION);
    let log = played.about("log", &["--json"]).exits_with(0).json();
    has_fields(&log, &["run", "entries", "ended"]);
    has_fields(&log["entries"][0], &["version", "at_ms", "kind", "round", "text", "tone", "fact"]);
    has_fields(
        &played.about("diff", &["--json"]).exits_with(0).json(),
        &["run", "round", "base", "tree", "patch"],
    );
    has_fields(&played.about("explain", &["--json"]).exits_with(0).json(), EXPLANATION);
    let verification = played.about("verify", &["--json"]).exits_with(0).json();
    has_fields(&verification, &["run", "holds", "checks"]);
    has_fields(&verification["checks"][0], &["what", "holds", "details"]);
}

#[test]
fn doing_in_json_is_one_object_per_line_and_the_outcome_last() {
    let played = PlayedRun::of(&Script::that_passes());
    let lines = played.run(&["--json", "--land", "none"]).exits_with(0).json_lines();
    has_fields(&lines[0], &["event", "run", "task", "run_dir"]);
    assert_eq!(lines[0]["event"], "started");
    assert!(lines.iter().any(|line| line["event"] == "fact"));
    has_fields(lines.last().unwrap(), OUTCOME);
    let lines = played.about("land", &["--json"]).exits_with(0).json_lines();
    has_fields(lines.last().unwrap(), OUTCOME);
    let refused = played.about("resume", &["--json"]).exits_with(14).json_lines();
    has_fields(&refused.last().unwrap()["error"], &["code", "message", "kept", "hints"]);
    let dry = played.run(&["--json", "--dry-run"]).exits_with(0).json_lines();
    assert_eq!(dry.last().unwrap()["would_run"].as_array().unwrap().len(), 3);
}

#[test]
fn everything_else_in_json_has_the_documented_fields() {
    let played = PlayedRun::accepted();
    let repository = played.repository.text();
    let json = |words: &[&str]| {
        let words: Vec<&str> = words.iter().copied().chain(["--json"]).collect();
        played.world.windlass(&words).exits_with(0).json()
    };
    let clean = json(&["clean", "--repo", repository]);
    has_fields(&clean, &["removed", "items", "kept"]);
    has_fields(&clean["items"][0], &["run", "kind", "what", "why"]);
    has_fields(&json(&["trust", "--repo", repository]), &["repository", "commands", "hash", "trusted"]);
    has_fields(&json(&["doctor"])["lines"][0], &["what", "state", "details", "fix"]);
    let settings = json(&["settings"]);
    has_fields(&settings, &["settings", "warnings"]);
    has_fields(&settings["settings"][0], &["key", "value", "origin", "help"]);
    has_fields(&json(&["explain-error", "WL-RUN-001"]), &["code", "exit_code", "page"]);
    let stopped = PlayedRun::interrupted();
    has_fields(&stopped.about("stop", &["--json"]).exits_with(0).json(), LINE);
}

#[test]
fn a_fault_in_json_is_an_object_on_standard_output() {
    let world = crate::world();
    for command in ["show", "log", "diff", "explain", "verify", "resume", "stop", "land", "clean"] {
        let output = world.windlass(&[command, "nothing", "--json"]).exits_with(2);
        assert_eq!(output.json()["error"]["code"], "WL-RUN-001", "{command}");
        assert_eq!(output.stderr, "", "{command}");
    }
}

#[test]
fn text_in_a_pipe_has_no_escape_codes_whatever_a_task_or_an_agent_says() {
    let escape = "{ say = { hex = '1b 5b 33 31 6d 0a' } }";
    let script = Script::new()
        .doer(windlass_test_support::When::Always, &[
            escape,
            "{ write = 'done.txt', text = 'done' }",
            "{ handoff = \"red \\u001b[31m\" }",
        ])
        .judge(windlass_test_support::When::Always, &[
            "{ verdict = { verdict = 'reject', reasons = [{ check = \"\\u001b[31m\", details = \"\\u001b[2J\" }] } }",
        ]);
    let played = PlayedRun::of(&script);
    let words =
        ["run", "Beep \u{7} and \u{1b}[31m red", "--id", "TASK-1", "--repo", played.repository.text()];
    let words: Vec<&str> = words.into_iter().chain(["--agent", &played.agent, "--rounds", "1"]).collect();
    let mut outputs = vec![played.world.windlass(&words).exits_with(10)];
    for command in ["show", "log", "explain", "verify"] {
        outputs.push(played.about(command, &[]).exits_with(0));
    }
    for words in [&["ls"][..], &["doctor"], &["settings"], &["settings", "--origin"]] {
        outputs.push(played.world.windlass(words).exits_with(0));
    }
    for output in outputs {
        let control = |text: &str| text.chars().any(|c| c.is_control() && c != '\n');
        assert!(
            !control(&output.stdout) && !control(&output.stderr),
            "{}\n{:?}",
            output.command,
            output.stdout
        );
    }
}

#[test]
fn colour_comes_when_it_is_asked_for_and_goes_when_it_is_not_wanted() {
    let mut played = PlayedRun::accepted();
    let id = played.id();
    let coloured =
        |world: &World, words: &[&str]| world.windlass(words).exits_with(0).stdout.contains('\u{1b}');
    for words in [&["ls"][..], &["show", &id], &["log", &id], &["diff", &id], &["verify", &id]] {
        let always: Vec<&str> = words.iter().copied().chain(["--color", "always"]).collect();
        assert!(!coloured(&played.world, words), "{words:?}");
        assert!(coloured(&played.world, &always), "{words:?}");
    }
    played.world.set("CLICOLOR_FORCE", "1").set("NO_COLOR", "1");
    assert!(!coloured(&played.world, &["ls"]));
}

#[test]
fn a_reader_that_goes_away_early_is_no_error() {
    let played = PlayedRun::accepted();
    let mut shell = World::new("/bin/sh");
    shell.set("WINDLASS_STATE_DIR", played.world.state_dir());
    for words in [
        "log RUN --all",
        "log -f RUN --all",
        "log RUN --json",
        "show RUN",
        "settings",
        "explain-error --json",
    ] {
        let words = words.replace("RUN", &played.id());
        let script = format!("{{ \"$0\" {words}; echo \"code $?\" >&2; }} | head -n 1 > /dev/null");
        let output = shell.windlass(&["-c", &script, env!("CARGO_BIN_EXE_windlass")]).exits_with(0);
        assert_eq!(output.stderr, "code 0\n", "{words}");
    }
}
