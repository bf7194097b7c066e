//! A strict reader of the original's layout finds nothing to complain about in a directory of ours, however the run
//! ended; and what it does not know is kept.

use crate::scene::{Played, Scene, assert_strict_layout};
use windlass_artifact_formats::task_loop::RunKind;
use windlass_test_support::{Script, When, wait_until};

#[test]
fn an_accepted_run_with_checks_has_every_file_of_the_layout() {
    let scene = Scene::new();
    let flags = ["--check", "echo checked", "--check", "test -f done.txt", "--audit-check", "echo audited"];
    let script = Script::that_passes();
    let played = scene.play(&script, &flags);
    // The base has no done.txt, so the second check is red there and green on the change.
    let played = played.exits_with(0);
    played.assert_strict_layout();
    let files = [
        "doer.prompt.md",
        "doer.last.md",
        "handoff.json",
        "patch.diff",
        "judge.prompt.md",
        "judge.last.md",
        "verdict.json",
        "eval-results.json",
        "audit.prompt.md",
        "audit.last.md",
        "audit.json",
        "audit-results.json",
    ];
    for name in files {
        assert!(played.has(1, name), "{name}");
    }
    // Counted over the checks of judge and auditor, so that neither overwrites the other's.
    assert_eq!(played.text(1, "logs/cmd-01.stdout.log"), "checked\n");
    assert_eq!(played.text(1, "logs/cmd-03.stdout.log"), "audited\n");
    let results = played.artifact(1, "eval-results.json");
    assert_eq!(results["summary"], serde_json::json!({ "commands": 2, "passed": 2, "failed": 0 }));
}

#[test]
fn a_rejected_run_holds_the_layout_in_every_round() {
    let scene = Scene::new();
    let script = Script::new()
        .doer(When::Always, &["{ write = 'done-{round}.txt', text = 'x' }", "{ handoff = 'adds a file' }"])
        .judge(When::Always, &["{ verdict = 'reject' }"]);
    let played = scene.play(&script, &["--rounds", "3"]).exits_with(10);
    played.assert_strict_layout();
    assert!(played.has(3, "verdict.json"));
}

#[test]
fn a_run_that_waits_for_a_person_holds_the_layout() {
    let scene = Scene::new();
    let script = Script::that_passes().auditor(When::Round(1), &["{ audit = 'needs-human' }"]);
    scene.play(&script, &[]).exits_with(11).assert_strict_layout();
}

#[test]
fn a_run_rejected_by_the_engine_s_own_check_holds_the_layout() {
    let scene = Scene::new();
    let played = scene.play(&Script::that_passes(), &["--check", "false", "--rounds", "1"]).exits_with(10);
    played.assert_strict_layout();
    assert_eq!(played.artifact(1, "verdict.json")["verdict"], "reject");
    assert_eq!(played.artifact(1, "verdict.json")["reasons"][0]["check"], "eval");
    assert!(!played.has(1, "judge.prompt.md"), "nobody was asked");
}

#[test]
fn a_run_rejected_by_an_audit_check_holds_the_layout() {
    let scene = Scene::new();
    let flags = ["--audit-check", "false", "--rounds", "1"];
    let played = scene.play(&Script::that_passes(), &flags).exits_with(10);
    played.assert_strict_layout();
    assert_eq!(played.artifact(1, "audit.json")["gate"], "fail");
    assert_eq!(played.artifact(1, "audit.json")["policy"]["eval_commands"], "fail");
}

#[test]
fn a_dry_run_holds_the_layout_of_a_dry_run() {
    let scene = Scene::new();
    let played = scene.play(&Script::that_passes(), &["--dry-run"]).exits_with(0);
    assert_strict_layout(&played.run_dir, RunKind::DryRun);
    assert_eq!(played.words(), "dry-run dry-run dry-run 1");
    for prompt in ["doer.prompt.md", "judge.prompt.md", "audit.prompt.md"] {
        assert!(played.has(1, prompt), "{prompt}");
    }
    assert_eq!(scene.world.steps(), Vec::<String>::new());
}

#[test]
fn a_dry_run_without_the_audit_says_that_it_was_not_run() {
    let scene = Scene::new();
    let played = scene.play(&Script::that_passes(), &["--dry-run", "--no-audit"]).exits_with(0);
    assert_strict_layout(&played.run_dir, RunKind::DryRun);
    assert_eq!(played.words(), "dry-run dry-run not-run 1");
    assert!(!played.has(1, "audit.prompt.md"));
}

#[test]
fn a_stopped_run_holds_the_layout() {
    let scene = Scene::new();
    let script = Script::new().doer(When::Always, &["{ hang = 'quiet' }"]);
    let agent = scene.world.agent("script.toml", &script);
    let repository = scene.repository.text();
    let words = ["run", "Add", "--id", "TASK-1", "--repo", repository, "--json", "--agent", &agent];
    let background = scene.world.start_windlass(&words);
    wait_until("the doer to begin", || (!scene.world.steps().is_empty()).then_some(()));
    let started: serde_json::Value =
        serde_json::from_str(background.stdout().lines().next().unwrap()).unwrap();
    let _ = scene.world.windlass(&["stop", started["run"].as_str().unwrap()]).exits_with(0);
    let played = Played::of(&background.wait()).exits_with(13);
    assert_eq!(played.words(), "needs-human not-run not-run 0");
    played.assert_strict_layout();
    scene.world.assert_no_processes();
}

#[test]
fn unknown_keys_are_kept_in_the_canonical_copy() {
    let scene = Scene::new();
    let script = Script::new()
        .doer(
            When::Always,
            &[
                "{ write = 'done.txt', text = 'done' }",
                "{ handoff = { summary = 'x', mood = 'fine', effort = { hours = 2 } } }",
            ],
        )
        .judge(When::Always, &["{ verdict = { verdict = 'pass', confidence = 0.5 } }"])
        .auditor(When::Always, &["{ audit = { gate = 'pass', ticket = 'T-1', risk = { owner = 'me' } } }"]);
    let played = scene.play(&script, &[]).exits_with(0);
    assert_eq!(played.artifact(1, "handoff.json")["mood"], "fine");
    assert_eq!(played.artifact(1, "handoff.json")["effort"]["hours"], 2);
    assert_eq!(played.artifact(1, "verdict.json")["confidence"], 0.5);
    assert_eq!(played.artifact(1, "audit.json")["ticket"], "T-1");
    assert_eq!(played.artifact(1, "audit.json")["risk"]["owner"], "me");
    played.assert_strict_layout();
}

#[test]
fn requirements_are_traced_from_the_handoff_to_the_verdict() {
    let scene = Scene::new();
    let script = Script::new()
        .doer(
            When::Always,
            &[
                "{ write = 'done.txt', text = 'done' }",
                "{ handoff = { summary = 'x', requirements_touched = ['RQ-001'] } }",
            ],
        )
        .judge(When::Always, &["{ verdict = { verdict = 'pass', requirements_checked = ['RQ-001'] } }"])
        .auditor(When::Always, &["{ audit = 'pass' }"]);
    let played = scene.play(&script, &["--audit-check", "true"]).exits_with(0);
    let checks = played.artifact(1, "audit-results.json")["checks"].clone();
    let traced = checks.as_array().unwrap().iter().find(|check| check["name"] == "requirements_traceability");
    assert_eq!(traced.unwrap()["status"], "pass");
}
