//! Two state directories, one repository: neither journal knows of the other's runs, the repository's own lock does.

use super::{held, run_in};
use crate::played_run::{PlayedRun, TASK, waiting_doer};
use std::path::PathBuf;
use windlass_test_support::{Background, Output, Script, Signal, tree_hash, wait_until};

/// From now on everything is started with another state directory.
fn move_house(played: &mut PlayedRun) {
    let other = played.world.path().join("other-state");
    played.world.set("WINDLASS_STATE_DIR", other);
}

fn lock_of(played: &PlayedRun) -> PathBuf {
    played.repository.path().join(".git/windlass.lock")
}

/// The words that name the holder: its process, run, time and state directory.
#[track_caller]
fn names_the_holder(refused: &Output, played: &PlayedRun, holder: &Background, run: &str) {
    let said = &refused.stderr;
    assert!(said.contains("error[WL-RUN-003]"), "{said}");
    let who = format!("the repository is held by process {} (windlass run {TASK}) on ", holder.pid());
    assert!(said.contains(&who) && said.contains(" since 20"), "{said}");
    assert!(said.contains(&format!("its run is {run}")), "{said}");
    let state = played.world.state_dir().display().to_string();
    assert!(said.contains(&format!("`WINDLASS_STATE_DIR={state} windlass stop {run}`")), "{said}");
}

#[test]
fn another_state_directory_is_told_who_holds_the_repository_and_changes_nothing() {
    let mut played = PlayedRun::of(&waiting_doer());
    played.repository.git(&["worktree", "add", "--quiet", "-b", "side", "../linked"]);
    let linked = played.world.path().join("linked");
    let running = played.start_until_the_doer_works();
    let run = played.id();
    move_house(&mut played);
    let before = tree_hash(played.repository.path(), &[]);
    for directory in [played.repository.text(), linked.to_str().unwrap()] {
        let refused = run_in(&played, directory, &[]).exits_with(14);
        names_the_holder(&refused, &played, &running, &run);
        assert!(refused.stderr.contains("`--wait` waits for it"), "{}", refused.stderr);
        assert_eq!(refused.stdout, "");
    }
    assert_eq!(tree_hash(played.repository.path(), &[]), before, "the repository changed");
    assert_eq!(played.world.windlass(&["ls", "--json"]).exits_with(0).json(), serde_json::json!([]));
    assert_eq!(played.world.steps(), ["doer 1 1"]);
    played.go();
    let _ = running.wait().exits_with(0);
}

#[test]
fn who_waits_from_another_state_directory_comes_next() {
    let (mut played, running) = held();
    move_house(&mut played);
    let words =
        ["run", "Next", "--id", "TASK-2", "--repo", played.repository.text(), "--agent", &played.agent];
    let waiting = played.world.start_windlass(&[&words[..], &["--wait"]].concat());
    let said = format!("waiting: the repository is held by process {}", running.pid());
    wait_until("the second to say that it waits", || waiting.stderr().contains(&said).then_some(()));
    played.go();
    let _ = running.wait().exits_with(0);
    let _ = waiting.wait().exits_with(0);
    let each = ["doer 1 1", "judge 1 1", "auditor 1 1"];
    assert_eq!(played.world.steps(), [each, each].concat(), "one after the other");
}

#[test]
fn the_lock_of_a_killed_holder_is_free_although_its_agent_lives() {
    let (mut played, running) = held();
    let _ = running.kill();
    assert!(std::fs::read_to_string(lock_of(&played)).unwrap().contains(TASK), "its record is still there");
    move_house(&mut played);
    let agent = played.world.agent("quick.toml", &Script::that_passes());
    let words = ["run", "Next", "--id", "TASK-2", "--repo", played.repository.text(), "--agent", &agent];
    let _ = played.world.windlass(&words).exits_with(0);
    assert_eq!(std::fs::read_to_string(lock_of(&played)).unwrap(), "", "a free lock names nobody");
}

#[test]
fn landing_and_cleaning_leave_a_held_repository_alone() {
    let mut played = PlayedRun::of(&Script::that_passes());
    let _ = played.run(&["--land", "none"]).exits_with(0);
    let landed_later = played.id();
    let home = played.world.state_dir();
    move_house(&mut played);
    let agent = played.world.agent("waiting.toml", &waiting_doer());
    let words = ["run", "Hold", "--id", "TASK-2", "--repo", played.repository.text(), "--agent", &agent];
    let before = played.world.steps().len();
    let running = played.world.start_windlass(&words);
    wait_until("the doer", || (played.world.steps().len() > before).then_some(()));
    played.world.set("WINDLASS_STATE_DIR", home);
    let refused = played.world.windlass(&["land", &landed_later]).exits_with(14);
    assert!(refused.stderr.contains("`--wait` waits for it"), "{}", refused.stderr);
    let kept = played.world.windlass(&["clean", &landed_later, "--json"]).exits_with(0).json();
    assert!(kept["kept"][0]["why"].as_str().unwrap().contains("held by process"), "{kept}");
    assert!(!played.repository.git_succeeds(&["rev-parse", "--verify", "--quiet", "windlass/TASK-1"]));
    let waiting = played.world.start_windlass(&["land", &landed_later, "--wait"]);
    wait_until("it to wait", || waiting.stderr().contains("waiting: ").then_some(()));
    played.go();
    let _ = running.wait().exits_with(0);
    let _ = waiting.wait().exits_with(0);
    assert!(played.repository.git_succeeds(&["rev-parse", "--verify", "--quiet", "windlass/TASK-1"]));
}

#[test]
fn a_run_is_not_resumed_in_a_repository_that_is_held_elsewhere() {
    let mut played = PlayedRun::interrupted();
    let run = played.id();
    let home = played.world.state_dir();
    move_house(&mut played);
    let words =
        ["run", "Hold", "--id", "TASK-2", "--repo", played.repository.text(), "--agent", &played.agent];
    let running = played.world.start_windlass(&words);
    wait_until("the second doer", || (played.world.steps().len() > 1).then_some(()));
    played.world.set("WINDLASS_STATE_DIR", home);
    let refused = played.world.windlass(&["resume", &run]).exits_with(14);
    assert!(refused.stderr.contains(&format!("held by process {}", running.pid())), "{}", refused.stderr);
    assert!(!refused.stdout.contains(&run), "a refused command announces nothing: {}", refused.stdout);
    let waiting = played.world.start_windlass(&["resume", &run, "--wait"]);
    wait_until("it to wait", || waiting.stderr().contains("waiting: ").then_some(()));
    played.go();
    let _ = running.wait().exits_with(0);
    let _ = waiting.wait().exits_with(0);
}

#[test]
fn a_deleted_lock_is_put_back_by_its_holder() {
    let (mut played, running) = held();
    let run = played.id();
    std::fs::remove_file(lock_of(&played)).unwrap();
    wait_until("the lock to be put back", || {
        std::fs::read_to_string(lock_of(&played)).ok().filter(|record| record.contains(&run))
    });
    move_house(&mut played);
    let refused = run_in(&played, played.repository.text(), &[]).exits_with(14);
    names_the_holder(&refused, &played, &running, &run);
    played.go();
    let output = running.wait().exits_with(0);
    assert!(output.stderr.contains("somebody deleted the lock"), "{}", output.stderr);
}

#[test]
fn a_holder_whose_lock_another_process_took_goes() {
    let (mut played, running) = held();
    let run = played.id();
    // It cannot look after its lock while it is stopped.
    running.signal(Signal::STOP);
    std::fs::remove_file(lock_of(&played)).unwrap();
    let home = played.world.state_dir();
    move_house(&mut played);
    let agent = played.world.agent("waiting.toml", &waiting_doer());
    let words = ["run", "Hold", "--id", "TASK-2", "--repo", played.repository.text(), "--agent", &agent];
    let second = played.world.start_windlass(&words);
    wait_until("the second doer", || (played.world.steps().len() > 1).then_some(()));
    running.signal(Signal::CONT);
    let output = running.wait().exits_with(14);
    assert!(output.stderr.contains("was taken away while this process held it"), "{}", output.stderr);
    played.go();
    let _ = second.wait().exits_with(0);
    played.world.set("WINDLASS_STATE_DIR", home);
    let _ = played.world.windlass(&["resume", &run]).exits_with(0);
    played.world.assert_no_processes();
}

#[test]
fn git_does_not_mind_the_lock() {
    let (played, running) = held();
    assert!(lock_of(&played).is_file());
    assert_eq!(played.repository.git(&["status", "--porcelain"]), "");
    played.repository.git(&["fsck", "--strict"]);
    played.repository.git(&["gc", "--quiet", "--prune=now"]);
    assert!(lock_of(&played).is_file());
    played.repository.git(&["clone", "--quiet", ".", "../copy"]);
    assert!(!played.world.path().join("copy/.git/windlass.lock").exists());
    played.go();
    let _ = running.wait().exits_with(0);
    played.repository.git(&["fsck", "--strict"]);
}

#[test]
fn a_lock_that_cannot_be_opened_is_a_fault_before_anything_is_done() {
    let played = PlayedRun::of(&Script::that_passes());
    std::fs::create_dir(lock_of(&played)).unwrap();
    let before = tree_hash(played.repository.path(), &[]);
    let refused = played.run(&[]).exits_with(1);
    assert!(refused.stderr.contains("error[WL-GIT-001]: cannot open the lock of the repository"));
    assert!(refused.stderr.contains("windlass.lock"), "{}", refused.stderr);
    assert_eq!(tree_hash(played.repository.path(), &[]), before, "the repository changed");
    assert_eq!(played.world.windlass(&["ls", "--json"]).exits_with(0).json(), serde_json::json!([]));
}
