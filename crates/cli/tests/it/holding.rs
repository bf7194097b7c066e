//! Two programs, one repository: who holds it, and what the other one says.

mod crowd;
mod elsewhere;

use crate::played_run::{PlayedRun, TASK, waiting_doer};
use crate::reviewed_control::{killed_at, places};
use windlass_test_support::{Background, Output, Script, Signal, tree_hash, wait_until};

/// A run whose doer is at work and waits for the file `go`.
fn held() -> (PlayedRun, Background) {
    let played = PlayedRun::of(&waiting_doer());
    let running = played.start_until_the_doer_works();
    (played, running)
}

fn run_in(played: &PlayedRun, directory: &str, more: &[&str]) -> Output {
    let words = ["run", "Another task", "--id", "TASK-2", "--repo", directory, "--agent", &played.agent];
    played.world.windlass(&[&words, more].concat())
}

/// A run in this directory is refused with the name of the holder, and nothing in the repository is different after.
#[track_caller]
fn is_refused_in(played: &PlayedRun, holder: &Background, directory: &str) {
    let before = tree_hash(played.repository.path(), &[]);
    let refused = run_in(played, directory, &[]).exits_with(14);
    let words = format!("the repository is held by process {} (windlass run {TASK}) since 20", holder.pid());
    assert!(refused.stderr.contains("error[WL-RUN-003]"), "{}", refused.stderr);
    assert!(refused.stderr.contains(&words), "{}", refused.stderr);
    assert!(refused.stderr.contains(&format!("windlass stop {}", played.id())), "{}", refused.stderr);
    assert_eq!(refused.stdout, "");
    assert_eq!(tree_hash(played.repository.path(), &[]), before, "the repository changed");
    let runs = played.world.windlass(&["ls", "--json"]).exits_with(0).json();
    assert_eq!(runs.as_array().unwrap().len(), 1, "a refused run is no run: {runs}");
    assert_eq!(runs[0]["status"], "running");
    assert_eq!(played.world.steps(), ["doer 1 1"]);
}

#[test]
fn a_second_run_is_told_who_holds_the_repository_and_changes_nothing() {
    let (played, running) = held();
    is_refused_in(&played, &running, played.repository.text());
    played.go();
    let _ = running.wait().exits_with(0);
}

#[test]
fn a_linked_worktree_and_its_sub_directories_are_the_same_repository() {
    let played = PlayedRun::of(&waiting_doer());
    played.repository.write("deep/er/file", "text").commit("a directory");
    played.repository.git(&["worktree", "add", "--quiet", "-b", "side", "../linked"]);
    let running = played.start_until_the_doer_works();
    let linked = played.world.path().join("linked");
    for directory in [linked.clone(), linked.join("deep/er"), played.repository.path().join("deep")] {
        is_refused_in(&played, &running, directory.to_str().unwrap());
    }
    let _ = running.kill();
}

#[test]
fn a_refusal_in_json_names_its_code() {
    let (played, running) = held();
    let refused = run_in(&played, played.repository.text(), &["--json"]).exits_with(14);
    let error = &refused.json()["error"];
    assert_eq!(error["code"], "WL-RUN-003");
    assert!(error["message"].as_str().unwrap().contains(&running.pid().to_string()), "{error}");
    let _ = running.kill();
}

#[test]
fn a_run_of_another_repository_is_not_disturbed() {
    let (played, running) = held();
    let other = played.world.repository("other");
    let agent = played.world.agent("other.toml", &Script::that_passes());
    let words = ["run", "Elsewhere", "--id", "TASK-2", "--repo", other.text(), "--agent", &agent];
    let _ = played.world.windlass(&words).exits_with(0);
    assert_eq!(other.git(&["show", "windlass/TASK-2:done.txt"]), "done");
    assert!(running.is_alive());
    played.go();
    let _ = running.wait().exits_with(0);
    assert_eq!(played.repository.git(&["show", &format!("windlass/{TASK}:done.txt")]), "done");
}

#[test]
fn who_waits_says_for_whom_and_comes_next() {
    let (played, running) = held();
    let words =
        ["run", "Next", "--id", "TASK-2", "--repo", played.repository.text(), "--agent", &played.agent];
    let waiting = played.world.start_windlass(&[&words[..], &["--wait"]].concat());
    let said = format!("waiting: the repository is held by process {}", running.pid());
    wait_until("the second to say that it waits", || waiting.stderr().contains(&said).then_some(()));
    assert_eq!(played.world.steps(), ["doer 1 1"]);
    played.go();
    let _ = running.wait().exits_with(0);
    let _ = waiting.wait().exits_with(0);
    let each = ["doer 1 1", "judge 1 1", "auditor 1 1"];
    assert_eq!(played.world.steps(), [each, each].concat(), "one after the other");
}

#[test]
fn a_killed_holder_is_recognised_and_said() {
    let (played, running) = held();
    let pid = running.pid();
    let _ = running.kill();
    played.go();
    let output = run_in(&played, played.repository.text(), &[]).exits_with(0);
    let said = format!("process {pid} (windlass run {TASK}) held this and is gone; taken over");
    assert!(output.stderr.contains(&said), "{}", output.stderr);
    assert!(output.stderr.contains("was cut off: `windlass explain "), "{}", output.stderr);
    let _ = played.world.windlass(&["resume", "--all"]).exits_with(0);
    assert!(played.repository.git_succeeds(&["rev-parse", "--verify", &format!("windlass/{TASK}")]));
    played.world.assert_no_processes();
}

/// Whoever is killed between the taking of the repository and the first fact leaves a name that nobody can ask for.
#[test]
fn a_holder_that_was_killed_before_its_run_was_recorded_is_not_said_to_have_one() {
    let writes = (1..).zip(places(&[])).filter(|(_, place)| place == "append.before");
    let after = |(place, _): (usize, String)| {
        let played = killed_at(place, &[]);
        run_in(&played, played.repository.text(), &[]).exits_with(0).stderr
    };
    // The first of all takes the repository itself.
    let said = writes.map(after).find(|said| said.contains("held this and is gone; taken over"));
    let said = said.expect("somebody was killed who held it");
    assert!(said.contains("had not begun") && !said.contains("was cut off"), "{said}");
}

#[test]
fn a_holder_that_is_only_stopped_still_holds() {
    let (played, running) = held();
    running.signal(Signal::STOP);
    is_refused_in(&played, &running, played.repository.text());
    running.signal(Signal::CONT);
    played.go();
    let _ = running.wait().exits_with(0);
}

#[test]
fn a_repository_is_free_again_after_every_kind_of_end() {
    let played = PlayedRun::judged(&["reject", "pass"]);
    let _ = played.run(&["--rounds", "1"]).exits_with(10);
    let _ = played.run(&["--dry-run"]).exits_with(0);
    let nobody = ["--doer", &played.world.agent_that_cannot_start()];
    let output = run_in(&played, played.repository.text(), &nobody).exits_with(11);
    assert!(!output.stderr.contains("taken over"), "{}", output.stderr);
    let resumed = played.about("resume", &["--json"]);
    assert!(!resumed.stdout.contains("taken over"), "{}", resumed.stdout);
}
