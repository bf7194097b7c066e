//! Limits are waits with a stated end, or a word to the next agent; going in circles is an end.

use super::{DO_IT, PASS_IT, Stage, doer_that, reports};
use windlass_test_support::{Script, When, wait_until};

const LIMITED: &str = r#"{"windlass_signal":{"kind":"rate-limit","wait":{"for-ms":WAIT}}}"#;

/// A program that is told to wait when it is first asked as the doer, and notes each moment at which it was.
fn limited_once(stage: &Stage, wait_ms: u64) -> String {
    let moments = stage.world.shared("moments.txt");
    let limited = LIMITED.replace("WAIT", &wait_ms.to_string());
    let body = format!(
        "cat > /dev/null\n\
         if [ \"$WINDLASS_ROLE\" = judge ]; then {PASS_IT}; exit 0; fi\n\
         date +%s%3N >> '{moments}'\n\
         if [ \"$(wc -l < '{moments}')\" -eq 1 ]; then echo '{limited}'; exit 1; fi\n\
         {DO_IT}",
        moments = moments.display()
    );
    stage.command("limited", &body)
}

fn moments(stage: &Stage) -> Vec<u64> {
    let text = std::fs::read_to_string(stage.world.shared("moments.txt")).unwrap_or_default();
    text.lines().map(|line| line.trim().parse().unwrap()).collect()
}

#[test]
fn a_limited_agent_is_waited_for_until_the_moment_it_named_and_loses_no_attempt() {
    let stage = Stage::new();
    let agent = limited_once(&stage, 1500);
    let output = stage.run(&["--agent", &agent, "--rounds", "1"]).exits_with(0);
    assert!(output.stderr.contains("waiting until"), "{}", output.stderr);
    let moments = moments(&stage);
    assert_eq!(moments.len(), 2);
    assert!(moments[1] - moments[0] >= 1500, "{moments:?}");
}

#[test]
fn a_wait_outlives_the_engine_and_is_not_begun_anew() {
    let stage = Stage::new();
    let agent = limited_once(&stage, 4000);
    let words =
        ["run", "x", "--repo", stage.repository.text(), "--no-audit", "--rounds", "1", "--agent", &agent];
    let running = stage.world.start_windlass(&words);
    wait_until("the wait", || running.stderr().contains("waiting until").then_some(()));
    let _ = running.kill();
    let run =
        stage.world.windlass(&["ls", "--json"]).exits_with(0).json()[0]["run"].as_str().unwrap().to_owned();
    let _ = stage.world.windlass(&["resume", &run]).exits_with(0);
    let moments = moments(&stage);
    assert_eq!(moments.len(), 2, "asked again exactly once");
    assert!(moments[1] - moments[0] >= 4000, "{moments:?}");
    let entries = stage.world.windlass(&["log", &run, "--json"]).exits_with(0).json()["entries"].clone();
    let waits = entries
        .as_array()
        .unwrap()
        .iter()
        .filter(|entry| entry["fact"]["data"]["request"]["wait"].is_object());
    assert_eq!(waits.count(), 1, "the wait of before is gone on with");
}

#[test]
fn a_fallback_is_asked_at_once_instead_of_waiting() {
    let stage = Stage::new();
    let limited = [reports(r#""kind":"rate-limit","wait":{"for-ms":3600000}"#), "{ exit = 1 }".into()];
    let limited: Vec<&str> = limited.iter().map(String::as_str).collect();
    let first = stage.world.agent("first.toml", &Script::new().doer(When::Always, &limited));
    let second = stage.world.agent("second.toml", &doer_that(&[]));
    let outcome =
        stage.run(&["--doer", &first, "--doer-fallback", &second, "--judge", &second]).exits_with(0);
    assert!(!outcome.stderr.contains("waiting until"), "{}", outcome.stderr);
    assert!(outcome.stderr.contains("first.toml is not asked before"), "{}", outcome.stderr);
    assert_eq!(stage.world.steps(), ["doer 1 1", "doer 1 2", "judge 1 1"]);
}

#[test]
fn a_real_program_s_limit_is_read_from_its_own_words() {
    let stage = Stage::new();
    stage.install_codex();
    let said = stage.world.path().join("limit.jsonl");
    std::fs::write(&said, super::recorded("claude/2.1.325/limit-with-wait.jsonl")).unwrap();
    let body = format!("cat > /dev/null\ncat '{}'\nexit 1", said.display());
    stage.install("claude", "2.1.325 (Claude Code)", &body);
    let output =
        stage.run(&["--doer", "claude", "--doer-fallback", "codex", "--judge", "codex"]).exits_with(0);
    assert!(output.stderr.contains("claude is not asked before"), "{}", output.stderr);
}

#[test]
fn an_agent_that_makes_the_same_call_again_and_again_is_ended() {
    let mut stage = Stage::new();
    let call = reports(r#""kind":"tool-call","name":"shell","detail":"ls""#);
    let mut actions = vec![call; 5];
    actions.push("{ hang = 'quiet' }".into());
    let agent = stage.world.agent("circles.toml", &doer_that(&actions));
    stage.world.set("WINDLASS_MAX_REPEATS", "5");
    let ended = stage.run(&["--agent", &agent, "--rounds", "1"]).exits_with(10);
    assert!(
        ended.stderr.contains("made the same tool call 5 times in a row (shell ls) and was ended"),
        "{}",
        ended.stderr
    );
    stage.world.assert_no_processes();
}
