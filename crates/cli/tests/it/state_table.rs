//! Every row of the task loop's state table, played by scripted agents. Where the original aborts without a summary, ours
//! ends in a typed outcome; `Played` refuses every end without a `summary.json`.

mod auditor;
mod doer;
mod judge;

use crate::scene::{Played, Scene, TASK};
use windlass_test_support::{Script, When};

/// A doer that delivers something new in each round.
fn working_doer() -> Script {
    Script::new()
        .doer(When::Always, &["{ write = 'done-{round}.txt', text = 'done' }", "{ handoff = 'adds a file' }"])
}

/// The one prompt the doer of this round was given.
#[track_caller]
fn doer_prompt(played: &Played, round: u32) -> String {
    played.text(round, "doer.prompt.md")
}

#[test]
fn start_with_valid_arguments_makes_the_run_directory_with_the_task() {
    let scene = Scene::new();
    let played = scene.play(&Script::that_passes(), &[]).exits_with(0);
    assert_eq!(std::fs::read_to_string(played.run_dir.join("task.txt")).unwrap(), "Add done.txt\n");
    let name = played.run_dir.file_name().unwrap().to_str().unwrap();
    let stamp = name.strip_prefix("TASK-1-").unwrap();
    let (date, time) = stamp.split_once('-').unwrap();
    assert!(date.len() == 8 && time.len() == 6, "{name}");
    assert_eq!(played.run_dir.parent().unwrap(), scene.repository.path().join(".orchestrator/runs"));
}

#[test]
fn prepare_with_worktrees_made_goes_to_the_doer_of_round_1() {
    let scene = Scene::new();
    let played = scene.play(&Script::that_passes(), &[]).exits_with(0);
    assert_eq!(scene.world.steps().first().map(String::as_str), Some("doer 1 1"));
    let env = std::fs::read_to_string(played.run_dir.join("worktrees.env")).unwrap();
    let keys: Vec<&str> = env.lines().filter_map(|line| line.split_once('=')).map(|(key, _)| key).collect();
    let expected =
        ["REPO", "BASE_REF", "DOER_BRANCH", "JUDGE_BRANCH", "DOER_DIR", "JUDGE_DIR", "JUDGE_READONLY"];
    assert_eq!(keys, expected);
    assert!(played.run_dir.join("worktrees/doer/README.md").is_file());
    assert!(played.run_dir.join("worktrees/judge/README.md").is_file());
}

#[test]
fn prepare_with_any_git_failure_ends_with_a_summary_and_no_agent_was_started() {
    let scene = Scene::new();
    let blob = scene.repository.git(&["rev-parse", "HEAD:README.md"]);
    let object = scene.repository.path().join(".git/objects").join(&blob[..2]).join(&blob[2..]);
    std::fs::remove_file(object).unwrap();
    let played = scene.play(&Script::that_passes(), &[]).exits_with(1);
    assert_eq!(played.words(), "needs-human not-run not-run 0");
    assert_eq!(played.outcome["status"], "failed");
    assert_eq!(scene.world.steps(), Vec::<String>::new());
}

#[test]
fn transfer_of_a_patch_that_applies_makes_the_judge_tree_base_plus_patch() {
    let scene = Scene::new();
    let script = working_doer()
        .judge(When::Always, &["{ run = ['cp', 'done-1.txt', '{script_dir}/seen'] }", "{ verdict = 'pass' }"])
        .auditor(When::Always, &["{ audit = 'pass' }"]);
    let played = scene.play(&script, &[]).exits_with(0);
    assert_eq!(std::fs::read_to_string(scene.world.shared("seen")).unwrap(), "done");
    let base = scene.repository.git(&["rev-parse", "HEAD"]);
    let patch = played.round(1).join("patch.diff");
    scene.repository.git(&["checkout", "--quiet", "--detach", &base]);
    scene.repository.git(&["apply", "--index", patch.to_str().unwrap()]);
    let tree = scene.repository.git(&["write-tree"]);
    assert_eq!(tree, scene.repository.git(&["rev-parse", &format!("windlass/{TASK}^{{tree}}")]));
}

#[test]
fn transfer_of_an_empty_patch_is_a_rejected_round_with_feedback() {
    let scene = Scene::new();
    let script = Script::new()
        .doer(When::Round(1), &["{ handoff = 'did nothing' }"])
        .doer(When::Round(2), &["{ write = 'done.txt', text = 'done' }", "{ handoff = 'did it' }"])
        .judge(When::Always, &["{ verdict = 'pass' }"])
        .auditor(When::Always, &["{ audit = 'pass' }"]);
    let played = scene.play(&script, &["--rounds", "2"]).exits_with(0);
    assert_eq!(played.words(), "pass pass pass 2");
    assert_eq!(scene.world.steps(), ["doer 1 1", "doer 2 1", "judge 2 1", "auditor 2 1"]);
    assert!(doer_prompt(&played, 2).contains("- [no-change] "), "{}", doer_prompt(&played, 2));
    assert!(!played.has(1, "verdict.json"));
}

#[test]
fn transfer_of_what_a_patch_cannot_carry_is_a_rejected_round_with_feedback() {
    let scene = Scene::new();
    let script = Script::new().doer(
        When::Always,
        &["{ symlink = 'out', target = '/etc/passwd' }", "{ handoff = 'links a file of the host' }"],
    );
    let played = scene.play(&script, &["--rounds", "1"]).exits_with(10);
    assert_eq!(played.words(), "reject not-run not-run 1");
    assert!(played.explained().contains("leaves the tree"), "{}", played.explained());
    scene.assert_nothing_landed();
}

#[test]
fn end_writes_the_summary_in_the_original_s_shape() {
    let scene = Scene::new();
    let played = scene.play(&Script::that_passes(), &[]).exits_with(0);
    let run_dir = played.run_dir.display();
    let expected = format!(
        "{{\n  \"task_id\": \"TASK-1\",\n  \"final_verdict\": \"pass\",\n  \"rounds_completed\": 1,\n  \
         \"run_dir\": \"{run_dir}\",\n  \"judge_verdict\": \"pass\",\n  \"audit_gate\": \"pass\",\n  \
         \"audit_enabled\": true\n}}\n"
    );
    assert_eq!(std::fs::read_to_string(played.run_dir.join("summary.json")).unwrap(), expected);
}
