//! `windlass compat`: the original scripts' flags, output and exit codes.

use crate::scene::{Scene, TASK};
use std::os::unix::fs::PermissionsExt;
use windlass_test_support::{Output, Script, When};

fn run_loop(scene: &Scene, script: &Script, flags: &[&str]) -> Output {
    let agent = scene.world.agent("script.toml", script);
    let repository = scene.repository.text();
    let words = ["compat", "run-loop", "--repo", repository, "--task-id", TASK, "--task", "Add done.txt"];
    scene.world.windlass(&[&words[..], &["--agent", &agent], flags].concat())
}

/// The four lines as (key, value); anything else on standard output fails the test.
#[track_caller]
fn four_lines(output: &Output) -> Vec<(String, String)> {
    let split = |line: &str| line.split_once('=').map(|(key, value)| (key.to_owned(), value.to_owned()));
    let lines: Vec<_> = output.stdout.lines().map(split).collect::<Option<_>>().unwrap_or_default();
    let keys: Vec<&str> = lines.iter().map(|(key, _)| key.as_str()).collect();
    assert_eq!(keys, ["run_dir", "final_verdict", "judge_verdict", "audit_gate"], "{}", output.stdout);
    lines
}

fn words(lines: &[(String, String)]) -> Vec<&str> {
    lines[1..].iter().map(|(_, value)| value.as_str()).collect()
}

fn saying(verdict: &str, gate: &str) -> Script {
    Script::that_passes()
        .judge(When::Round(1), &[&format!("{{ verdict = '{verdict}' }}")])
        .auditor(When::Round(1), &[&format!("{{ audit = '{gate}' }}")])
}

#[test]
fn run_loop_prints_four_lines_and_ends_with_0_however_the_loop_ended() {
    let table = [
        ("pass", "pass", ["pass", "pass", "pass"]),
        ("reject", "pass", ["reject", "reject", "not-run"]),
        ("needs-human", "pass", ["needs-human", "needs-human", "not-run"]),
        ("pass", "fail", ["reject", "pass", "fail"]),
        ("pass", "needs-human", ["needs-human", "pass", "needs-human"]),
    ];
    for (verdict, gate, expected) in table {
        let scene = Scene::new();
        let output = run_loop(&scene, &saying(verdict, gate), &[]).exits_with(0);
        let lines = four_lines(&output);
        assert_eq!(words(&lines), expected, "{verdict} {gate}");
        let summary = crate::scene::json(&std::path::Path::new(&lines[0].1).join("summary.json"));
        assert_eq!(summary["final_verdict"], expected[0]);
        scene.assert_nothing_landed();
    }
}

#[test]
fn run_loop_gives_distinct_exit_codes_on_request() {
    for (verdict, gate, code) in [("pass", "pass", 0), ("reject", "pass", 10), ("pass", "needs-human", 11)] {
        let scene = Scene::new();
        let _ = run_loop(&scene, &saying(verdict, gate), &["--exit-codes"]).exits_with(code);
    }
}

#[test]
fn run_loop_makes_one_round_unless_told_otherwise_and_goes_on_after_needs_human() {
    let scene = Scene::new();
    let script = Script::new()
        .doer(When::Always, &["{ write = 'done-{round}.txt', text = 'x' }", "{ handoff = 'adds a file' }"])
        .judge(When::Round(1), &["{ verdict = 'needs-human' }"])
        .judge(When::Round(2), &["{ verdict = 'pass' }"])
        .auditor(When::Always, &["{ audit = 'pass' }"]);
    let output = run_loop(&scene, &script, &["--max-rounds", "2"]).exits_with(0);
    assert_eq!(words(&four_lines(&output)), ["pass", "pass", "pass"]);
    let one = Scene::new();
    let output = run_loop(&one, &script, &[]).exits_with(0);
    assert_eq!(words(&four_lines(&output)), ["needs-human", "needs-human", "not-run"]);
}

#[test]
fn run_loop_without_the_audit_takes_the_judge_s_word() {
    let scene = Scene::new();
    let output = run_loop(&scene, &Script::that_passes(), &["--skip-audit"]).exits_with(0);
    assert_eq!(words(&four_lines(&output)), ["pass", "pass", "not-run"]);
}

#[test]
fn run_loop_dry_run_prints_the_agents_commands_and_starts_none() {
    let scene = Scene::new();
    let output = run_loop(&scene, &Script::that_passes(), &["--dry-run"]).exits_with(0);
    let dry: Vec<&str> = output.stdout.lines().filter(|line| line.starts_with("[DRY-RUN] ")).collect();
    assert_eq!(dry.len(), 3, "{}", output.stdout);
    assert!(output.stdout.contains("\nfinal_verdict=dry-run\njudge_verdict=dry-run\naudit_gate=dry-run\n"));
    assert_eq!(scene.world.steps(), Vec::<String>::new());
}

#[test]
fn run_loop_runs_the_judge_s_checks_itself() {
    let scene = Scene::new();
    let output = run_loop(&scene, &Script::that_passes(), &["--judge-eval", "false"]).exits_with(0);
    assert_eq!(words(&four_lines(&output)), ["reject", "reject", "not-run"]);
}

#[test]
fn run_loop_warns_about_an_odd_task_id_and_goes_on() {
    let scene = Scene::new();
    let agent = scene.world.agent("script.toml", &Script::that_passes());
    let repository = scene.repository.text();
    let line =
        ["compat", "run-loop", "--repo", repository, "--task-id", "odd", "--task", "x", "--agent", &agent];
    let output = scene.world.windlass(&line).exits_with(0);
    assert!(output.stderr.contains("does not look like TASK-"), "{}", output.stderr);
    assert_eq!(words(&four_lines(&output)), ["pass", "pass", "pass"]);
}

#[test]
fn run_loop_in_a_subdirectory_puts_its_runs_there() {
    let scene = Scene::new();
    scene.repository.write("sub/file.txt", "x\n").commit("a directory");
    let agent = scene.world.agent("script.toml", &Script::that_passes());
    let sub = scene.repository.path().join("sub");
    let line = [
        "compat",
        "run-loop",
        "--repo",
        sub.to_str().unwrap(),
        "--task-id",
        TASK,
        "--task",
        "x",
        "--agent",
        &agent,
    ];
    let output = scene.world.windlass(&line).exits_with(0);
    let lines = four_lines(&output);
    assert!(lines[0].1.starts_with(sub.join(".orchestrator/runs").to_str().unwrap()), "{}", lines[0].1);
    assert_eq!(scene.repository.git(&["status", "--porcelain"]), "");
}

#[test]
fn run_loop_ends_with_1_for_what_it_finds_out_later() {
    let scene = Scene::new();
    let no_repository = scene.world.path().join("scripts");
    let cases: [&[&str]; 2] = [&["--repo", no_repository.to_str().unwrap()], &["--base-ref", "no-such-ref"]];
    for flags in cases {
        let output = run_loop(&scene, &Script::that_passes(), flags).exits_with(1);
        assert_eq!(output.stdout, "", "{flags:?}");
    }
}

fn mk_worktrees(scene: &Scene, flags: &[&str]) -> Output {
    let run_dir = scene.world.path().join("run");
    let words = [
        "compat",
        "mk-worktrees",
        "--repo",
        scene.repository.text(),
        "--run-dir",
        run_dir.to_str().expect("a plain path"),
    ];
    scene.world.windlass(&[&words[..], flags].concat())
}

#[test]
fn mk_worktrees_prints_the_path_of_its_file_and_makes_two_worktrees() {
    let scene = Scene::new();
    let output = mk_worktrees(&scene, &[]).exits_with(0);
    let run_dir = scene.world.path().join("run");
    assert_eq!(output.stdout, format!("{}\n", run_dir.join("worktrees.env").display()));
    let env = std::fs::read_to_string(run_dir.join("worktrees.env")).unwrap();
    assert!(env.contains("\nJUDGE_READONLY=1"), "{env}");
    for name in ["doer", "judge"] {
        let worktree = run_dir.join("worktrees").join(name);
        let branch = scene.repository.git(&["-C", worktree.to_str().unwrap(), "branch", "--show-current"]);
        assert!(branch.starts_with("codex/loop-") && branch.ends_with(name), "{branch}");
    }
    let mode = |path: &str| run_dir.join(path).metadata().unwrap().permissions().mode();
    assert_eq!(mode("worktrees/judge/README.md") & 0o222, 0);
    assert_ne!(mode("worktrees/doer/README.md") & 0o200, 0);
}

#[test]
fn mk_worktrees_takes_names_and_a_writable_judge() {
    let scene = Scene::new();
    let flags = ["--doer-branch", "d", "--judge-branch", "j", "--judge-writable"];
    let _ = mk_worktrees(&scene, &flags).exits_with(0);
    assert!(scene.repository.git_succeeds(&["show-ref", "--verify", "--quiet", "refs/heads/d"]));
    assert!(scene.repository.git_succeeds(&["show-ref", "--verify", "--quiet", "refs/heads/j"]));
    let judge = scene.world.path().join("run/worktrees/judge/README.md");
    assert_ne!(judge.metadata().unwrap().permissions().mode() & 0o200, 0);
}

#[test]
fn mk_worktrees_replaces_what_stands_there_only_by_force_and_keeps_it() {
    let scene = Scene::new();
    let _ = mk_worktrees(&scene, &["--doer-branch", "d1", "--judge-branch", "j1"]).exits_with(0);
    std::fs::write(scene.world.path().join("run/worktrees/doer/work.txt"), "unsaved").unwrap();
    let again = ["--doer-branch", "d2", "--judge-branch", "j2"];
    let _ = mk_worktrees(&scene, &again).exits_with(1);
    let _ = mk_worktrees(&scene, &[&again[..], &["--force"]].concat()).exits_with(0);
    assert!(!scene.world.path().join("run/worktrees/doer/work.txt").exists());
    let kept = scene.repository.git(&["for-each-ref", "--format=%(refname)", "refs/windlass"]);
    let holds = |name: &str| scene.repository.git_succeeds(&["cat-file", "-e", &format!("{name}:work.txt")]);
    assert!(kept.lines().any(holds), "{kept}");
}

#[test]
fn mk_worktrees_ends_with_1_where_nothing_can_be_made() {
    let scene = Scene::new();
    let _ = mk_worktrees(&scene, &["--base-ref", "no-such-ref"]).exits_with(1);
    let _ = mk_worktrees(&scene, &["--repo", scene.world.home().to_str().unwrap()]).exits_with(1);
}
