//! More than one run at a time: Ctrl-C between two of them, and a run that waits for another.

use super::start_another;
use crate::played_run::{PlayedRun, waiting_doer};
use std::fs::File;
use std::path::Path;
use windlass_test_support::{Background, Repository, Script, Signal, When, wait_until};

/// Two runs in two repositories, both killed while their doers were at work.
fn two_interrupted_runs() -> (PlayedRun, Repository) {
    let played = PlayedRun::interrupted();
    let other = played.world.repository("other");
    let words = ["run", "Another", "--id", "TASK-2", "--repo", other.text(), "--agent", &played.agent];
    let running = played.world.start_windlass(&words);
    wait_until("both doers", || (played.world.steps().len() == 2).then_some(()));
    let _ = running.kill();
    (played, other)
}

fn status_of(played: &PlayedRun, task: &str) -> (String, String) {
    let list = played.world.windlass(&["ls", "--json"]).exits_with(0).json();
    let line = list.as_array().unwrap().iter().find(|line| line["task"] == task).unwrap().clone();
    (line["status"].as_str().unwrap().to_owned(), line["run"].as_str().unwrap().to_owned())
}

fn wait_for_end(running: &Background) {
    wait_until("the program to end", || (!running.is_alive()).then_some(()));
}

#[test]
fn ctrl_c_while_all_runs_are_resumed_leaves_the_rest_alone() {
    let (played, _other) = two_interrupted_runs();
    let running = played.world.start_windlass(&["resume", "--all"]);
    let is_driven = |task| status_of(&played, task).0 == "running";
    let (first, second) = wait_until("one of them to be driven", || {
        [("TASK-1", "TASK-2"), ("TASK-2", "TASK-1")].into_iter().find(|(first, _)| is_driven(first))
    });
    let (_, left) = status_of(&played, second);
    let before = played.world.windlass(&["log", &left, "--json"]).stdout;
    running.signal(Signal::INT);
    wait_for_end(&running);
    let output = running.wait().exits_with(13);
    assert!(output.stderr.contains(&format!("not taken up: {left}")), "{}", output.stderr);
    assert_eq!(played.world.windlass(&["log", &left, "--json"]).stdout, before, "it was driven");
    assert_eq!(status_of(&played, first).0, "interrupted");
    assert_eq!(status_of(&played, second).0, "interrupted");
    played.go();
    let _ = played.world.windlass(&["resume", "--all"]).exits_with(0);
}

/// Holds a repository as another program would that takes the same lock.
fn held(repository: &Path) -> File {
    // It is there: a run was driven in this repository before.
    let file = File::open(repository.join(".git/windlass.lock")).unwrap();
    rustix::fs::flock(&file, rustix::fs::FlockOperation::LockExclusive).unwrap();
    file
}

/// Nobody drives a run while the program waits for the repository of the next one.
#[test]
fn ctrl_c_between_two_runs_keeps_the_second_from_being_taken_up() {
    let (played, other) = two_interrupted_runs();
    let running = played.world.start_windlass(&["resume", "--all", "--wait"]);
    let runs = [("TASK-1", "TASK-2", other.path()), ("TASK-2", "TASK-1", played.repository.path())];
    let (first, second, waited_for) = wait_until("one of them to be driven", || {
        runs.into_iter().find(|(first, ..)| status_of(&played, first).0 == "running")
    });
    let lock = held(waited_for);
    played.go();
    wait_until("the program between two runs", || running.stderr().contains("waiting: ").then_some(()));
    assert_eq!(status_of(&played, first).0, "accepted");
    running.signal(Signal::INT);
    drop(lock);
    let _ = running.wait().exits_with(13);
    assert_eq!(status_of(&played, second).0, "interrupted");
    let _ = played.world.windlass(&["resume", "--all"]).exits_with(0);
    assert_eq!(status_of(&played, second).0, "accepted");
}

/// Adds a file of this name at once.
fn adds(name: &str) -> Script {
    let write = format!("{{ write = '{name}', text = 'more' }}");
    Script::new()
        .doer(When::Always, &[&write, "{ handoff = 'adds a file' }"])
        .judge(When::Always, &["{ verdict = 'pass' }"])
        .auditor(When::Always, &["{ audit = 'pass' }"])
}

#[test]
fn a_run_that_waited_starts_from_what_the_other_one_landed() {
    let mut played = PlayedRun::of(&waiting_doer());
    played.world.set("WINDLASS_LAND", "current");
    let holder = played.start_until_the_doer_works();
    let agent = played.world.agent("next.toml", &adds("next.txt"));
    let words = ["run", "Next", "--id", "TASK-2", "--repo", played.repository.text(), "--agent", &agent];
    let waiting = played.world.start_windlass(&[&words[..], &["--wait"]].concat());
    wait_until("the second to wait", || waiting.stderr().contains("waiting: ").then_some(()));
    played.go();
    let _ = holder.wait().exits_with(0);
    let _ = waiting.wait().exits_with(0);
    assert_eq!(played.repository.git(&["rev-list", "--count", "main"]), "3");
    assert_eq!(played.repository.git(&["show", "main:done.txt", "main:next.txt"]), "donemore");
}

#[test]
fn who_would_wait_in_vain_is_told_at_once() {
    let played = PlayedRun::of(&waiting_doer());
    let agent = played.agent.clone();
    let holder = start_another(&played, &agent);
    for (wrong, code) in [(["--base", "nowhere"], "WL-GIT-003"), (["--doer", "robot:x"], "WL-AGENT-001")] {
        let refused = played.run(&[&wrong[..], &["--wait"]].concat()).exits_with(2);
        assert!(refused.stderr.contains(code), "{}", refused.stderr);
        assert!(!refused.stderr.contains("waiting: "), "{}", refused.stderr);
    }
    played.go();
    let _ = holder.wait().exits_with(0);
}
