//! What people who tried it for the first time stumbled over: refused too late, named wrongly, or not named at all.

use super::is_a_usage_error;
use crate::played_run::{PlayedRun, waiting_doer};
use rustix::process::Signal;
use serde_json::json;
use std::os::unix::fs::PermissionsExt;
use windlass_test_support::{Script, When, wait_until};

#[test]
fn an_agent_of_ones_own_that_is_not_there_is_refused_before_any_work() {
    let played = PlayedRun::of(&Script::that_passes());
    let cases = [
        ("command:/nowhere/agent", "/nowhere/agent is no program that can be run"),
        ("command:no-such-program --flag", "there is no program `no-such-program` on PATH"),
        ("scripted:/nowhere/play.toml", "there is no file /nowhere/play.toml"),
    ];
    for (agent, why) in cases {
        for role in ["--doer", "--auditor", "--judge-fallback"] {
            let output = played.run(&[role, agent]);
            assert!(output.stderr.contains("WL-AGENT-001"), "{}", output.stderr);
            is_a_usage_error(output, why);
        }
    }
    assert_eq!(played.world.windlass(&["ls", "--json"]).exits_with(0).json(), json!([]));
    assert_eq!(played.world.steps(), Vec::<String>::new());
}

#[test]
fn a_repository_that_is_not_there_is_a_usage_error_of_every_command() {
    let played = PlayedRun::of(&Script::that_passes());
    let nowhere = ["--repo", "/nowhere/at-all"];
    let run = ["run", "x", "--agent", &played.agent];
    let commands: [&[&str]; 7] =
        [&run, &["agents"], &["settings"], &["doctor"], &["ls"], &["cost"], &["trust"]];
    for command in commands {
        is_a_usage_error(played.world.windlass(&[command, &nowhere].concat()), "/nowhere/at-all");
    }
    played.repository.write("windlass.toml", "rounds = [");
    is_a_usage_error(played.run(&[]), "windlass.toml cannot be read");
}

#[test]
fn a_hint_names_the_run_it_is_about() {
    let played = PlayedRun::accepted();
    let id = played.id();
    let refused = played.about("resume", &[]).exits_with(14).stderr;
    assert!(refused.contains(&format!("`windlass explain {id}`")), "{refused}");
    assert!(!refused.contains("RUN`"), "{refused}");
}

#[test]
fn a_fallback_that_answered_is_named_wherever_the_run_is_looked_at() {
    let limited = r#"{ say = '{"windlass_signal":{"kind":"rate-limit","wait":{"for-ms":3600000}}}' }"#;
    let played = PlayedRun::of(&Script::that_passes());
    let first = Script::new().doer(When::Always, &[limited, "{ exit = 1 }"]);
    let first = played.world.agent("first.toml", &first);
    let ended = played.run(&["--doer", &first, "--doer-fallback", &played.agent]).exits_with(0);
    let fallback = &played.agent;
    assert!(
        ended.stderr.contains(&format!("the doer works, once more: its fallback {fallback}")),
        "{}",
        ended.stderr
    );
    let log = played.about("log", &[]).exits_with(0).stdout;
    assert!(log.contains(&format!("its fallback {fallback}")), "{log}");
    let shown = played.about("show", &[]).exits_with(0).stdout;
    assert!(shown.contains(&format!("doer: {first}; answered by its fallback {fallback}")), "{shown}");
    let view = played.about("show", &["--json"]).exits_with(0).json();
    assert_eq!(view["stand_ins"], json!([["doer", fallback]]));
    let explained = played.about("explain", &[]).exits_with(0).stdout;
    assert!(explained.contains(&format!("the doer's word is its fallback's, {fallback}")), "{explained}");
}

#[test]
fn a_no_of_the_engine_is_not_put_into_the_judge_s_mouth() {
    let played = PlayedRun::of(&Script::that_passes());
    let ended = played.run(&["--rounds", "1", "--check", "false"]).exits_with(10);
    let line = |text: &str, name: &str| text.lines().find(|line| line.starts_with(name)).map(str::to_owned);
    let expected = Some("judge    reject (by the engine)".to_owned());
    assert_eq!(line(&ended.stdout, "judge "), expected, "{}", ended.stdout);
    let shown = played.about("show", &[]).exits_with(0).stdout;
    assert!(line(&shown, "judge ").is_some_and(|line| line.ends_with("reject (by the engine)")), "{shown}");
    let view = played.about("show", &["--json"]).exits_with(0).json();
    assert_eq!((&view["judge_verdict"], &view["said_by"]["judge"]), (&"reject".into(), &"engine".into()));
    assert!(ended.stdout.contains("rejected after 1 round\n"), "{}", ended.stdout);
    assert!(ended.stderr.contains("starts TASK-1: one round"), "{}", ended.stderr);
}

#[test]
fn a_key_that_was_refused_is_no_program_that_could_not_be_started() {
    let refused = r#"{ say = '{"windlass_signal":{"kind":"error","severity":"fatal","error":"authentication","message":"key refused"}}' }"#;
    let played = PlayedRun::of(&Script::new().doer(When::Always, &[refused, "{ exit = 1 }"]));
    let _ = played.run(&[]).exits_with(11);
    let explained = played.about("explain", &[]).exits_with(0).stdout;
    assert!(explained.contains("the doer cannot work as it is set up: "), "{explained}");
    assert!(!explained.contains("could not be started"), "{explained}");
}

/// Nobody is at work during a wait, so nobody can be killed.
#[test]
fn an_interrupt_during_a_wait_speaks_of_no_agent() {
    let limited = r#"{ say = '{"windlass_signal":{"kind":"rate-limit","wait":{"for-ms":3600000}}}' }"#;
    let played = PlayedRun::of(&Script::new().doer(When::Always, &[limited, "{ exit = 1 }"]));
    let words = ["run", "x", "--repo", played.repository.text(), "--agent", &played.agent];
    let running = played.world.start_windlass(&words);
    wait_until("the wait", || running.stderr().contains("waiting until").then_some(()));
    running.signal(Signal::INT);
    let ended = running.wait().exits_with(13);
    assert!(ended.stderr.contains("stopping; everything is kept"), "{}", ended.stderr);
    assert!(!ended.stderr.contains("kill the agent"), "{}", ended.stderr);
}

/// What is stopped while it waits was no step at work, and does not go on.
#[test]
fn a_stop_during_a_wait_is_told_as_one() {
    let limited = r#"{ say = '{"windlass_signal":{"kind":"rate-limit","wait":{"for-ms":3600000}}}' }"#;
    let played = PlayedRun::of(&Script::new().doer(When::Always, &[limited, "{ exit = 1 }"]));
    let words = ["run", "x", "--repo", played.repository.text(), "--agent", &played.agent];
    let running = played.world.start_windlass(&words);
    wait_until("the wait", || running.stderr().contains("waiting until").then_some(()));
    let stopped = played.about("stop", &[]).exits_with(0).stdout;
    assert!(stopped.contains("asked to stop; round 1: waits until"), "{stopped}");
    let ended = running.wait().exits_with(13).stderr;
    assert!(ended.contains("the wait was broken off"), "{ended}");
    assert!(!ended.contains("goes on") && !ended.contains("the step was interrupted"), "{ended}");
}

#[test]
fn worktrees_of_the_original_are_made_only_while_nobody_else_holds_the_repository() {
    let played = PlayedRun::of(&waiting_doer());
    let running = played.start_until_the_doer_works();
    let directory = played.world.path().join("theirs");
    let words = [
        "compat",
        "mk-worktrees",
        "--repo",
        played.repository.text(),
        "--run-dir",
        directory.to_str().unwrap(),
    ];
    let refused = played.world.windlass(&words).exits_with(1);
    assert!(refused.stderr.contains("the repository is held by process"), "{}", refused.stderr);
    assert!(!directory.join("worktrees").exists());
    played.go();
    let _ = running.wait().exits_with(0);
    let _ = played.world.windlass(&words).exits_with(0);
}

/// One that hangs and one that fails: both are said at once and neither looks usable.
#[test]
fn a_program_that_does_not_start_is_not_shown_as_usable() {
    let mut played = PlayedRun::of(&Script::that_passes());
    let bin = played.world.path().join("bin");
    std::fs::create_dir(&bin).unwrap();
    for (name, body) in [("codex", "echo no libc >&2; exit 127"), ("claude", "exec sleep 300")] {
        std::fs::write(bin.join(name), format!("#!/bin/sh\n{body}\n")).unwrap();
        std::fs::set_permissions(bin.join(name), std::fs::Permissions::from_mode(0o755)).unwrap();
    }
    played.world.set("PATH", format!("{}:/usr/bin:/bin", bin.display()));
    let shown = played.world.windlass(&["agents"]).exits_with(0).stdout;
    let row =
        |name: &str| shown.lines().find(|line| line.contains(name)).unwrap_or_else(|| panic!("{shown}"));
    for name in ["codex", "claude"] {
        assert!(row(name).starts_with('✗') && row(name).contains("does not start"), "{shown}");
    }
    assert!(shown.contains("ended with exit status: 127: no libc"), "{shown}");
    assert!(shown.contains("said nothing for 5 s"), "{shown}");
    played.world.assert_no_processes();
}
