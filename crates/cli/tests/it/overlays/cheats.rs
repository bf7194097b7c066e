//! Cheats that layers could make easier.

use super::{scene, shell};
use windlass_test_support::{Script, When};

fn doer(work: &str) -> Script {
    Script::new().doer(
        When::Always,
        &["{ write = 'done.txt', text = 'done' }", &shell(work), "{ handoff = 'adds done.txt' }"],
    )
}

fn passing(script: Script) -> Script {
    script.judge(When::Always, &["{ verdict = 'pass' }"]).auditor(When::Always, &["{ audit = 'pass' }"])
}

#[test]
fn a_judge_that_edits_is_told_by_what_it_changed() {
    let Some(scene) = scene() else { return };
    let _ = scene.repository.write("kept.txt", "kept\n").commit("more");
    let script = doer("true").judge(
        When::Always,
        &[&shell("echo x >> done.txt; rm kept.txt; echo y > mine.txt"), "{ verdict = 'pass' }"],
    );
    let played = scene.play(&script, &["--rounds", "1"]);
    assert_ne!(played.code, 0);
    scene.assert_nothing_landed();
    let facts = scene.world.windlass(&["log", played.run(), "--json"]).stdout;
    for path in ["done.txt", "kept.txt", "mine.txt"] {
        assert!(facts.contains(path), "{path}: {facts}");
    }
}

#[test]
fn a_judge_that_commits_is_told() {
    let Some(scene) = scene() else { return };
    let commits = shell("git -c user.name=a -c user.email=a@b commit -q --allow-empty -m x");
    let script = doer("true").judge(When::Always, &[&commits, "{ verdict = 'pass' }"]);
    assert_ne!(scene.play(&script, &["--rounds", "1"]).code, 0);
    scene.assert_nothing_landed();
}

#[test]
fn what_a_doer_plants_for_git_runs_for_nobody_else() {
    let Some(scene) = scene() else { return };
    let plants = "git config core.fsmonitor \"touch {script_dir}/ran\"; git config core.hooksPath .; \
                  printf \"#!/bin/sh\\ntouch {script_dir}/ran\\n\" > post-checkout; chmod +x post-checkout; \
                  rm post-checkout";
    let played = scene.play(&passing(doer(plants)), &[]).exits_with(0);
    assert_eq!(scene.landed_changes(), ["A\tdone.txt"]);
    assert!(!scene.world.shared("ran").exists());
    assert_eq!(played.words(), "pass pass pass 1");
}

#[test]
fn a_repository_inside_is_a_hazard_as_in_a_worktree() {
    let Some(scene) = scene() else { return };
    let played = scene.play(&passing(doer("git init -q inner; echo x > inner/file")), &["--rounds", "1"]);
    assert_ne!(played.code, 0);
    scene.assert_nothing_landed();
}

#[test]
fn a_process_that_writes_on_does_not_reach_what_is_judged() {
    let Some(scene) = scene() else { return };
    // Whoever is left when its step has ended is ended before anything is taken down, so all later looks see the same.
    let lasting = "(setsid sh -c \"while :; do echo late > late.txt; sleep 0.01; done\" >/dev/null 2>&1 &) ; \
                   until test -e late.txt; do :; done";
    let steady = "a=$(stat -c %y late.txt); sleep 0.1; test \"$a\" = \"$(stat -c %y late.txt)\"";
    let played = scene.play(&passing(doer(lasting)), &["--check", steady]).exits_with(0);
    assert_eq!(scene.landed_changes(), ["A\tdone.txt", "A\tlate.txt"]);
    assert_eq!(played.words(), "pass pass pass 1");
    scene.world.assert_no_processes();
}

#[test]
fn in_a_sandbox_a_reader_cannot_write_but_for_build_output() {
    let Some(scene) = scene() else { return };
    let _ = scene.repository.write(".gitignore", "/target/\n").commit("rules");
    let tries = shell(
        "echo x > target/out; if echo x >> done.txt; then exit 1; fi; if touch new; then exit 1; fi; true",
    );
    let script = doer("true")
        .judge(When::Always, &[&tries, "{ verdict = 'pass' }"])
        .auditor(When::Always, &["{ audit = 'pass' }"]);
    let played =
        scene.play(&script, &["--check", "test ! -e target/out; echo x > target-of-check"]).exits_with(0);
    assert_eq!(played.words(), "pass pass pass 1");
    assert_eq!(scene.landed_changes(), ["A\tdone.txt"]);
}
