//! What a person is told: what was left out, why a loop ended, and what to type next.

use super::plant::{ADDING_ACTUATOR, BRANCH, Plant, counting_controller, outcome};
use crate::world;
use serde_json::Value;
use windlass_test_support::Output;

fn steps(ended: &Output, list: &str) -> Vec<String> {
    let outcome = outcome(ended);
    let steps = outcome.pointer(list).and_then(Value::as_array).cloned().unwrap_or_default();
    steps.iter().map(|step| step.as_str().unwrap().to_owned()).collect()
}

fn log(plant: &Plant) -> String {
    plant.world.windlass(&["log", &plant.run_id()]).exits_with(0).stdout
}

/// Red before: git leaves them out without a word, and so did the record.
#[test]
fn what_no_commit_can_hold_is_named_in_the_record() {
    let plant = Plant::flat(1);
    let actuator = format!("mkfifo queue; mkdir -p vendor/.git\n{ADDING_ACTUATOR}");
    let _ = plant.run(&counting_controller(1), &actuator, &[]).exits_with(0);
    let found = [
        "queue is a named pipe, which git does not record",
        "vendor/.git is the git directory of a repository inside, which git does not record",
    ];
    let report = plant.repository.git(&["show", &format!("{BRANCH}~1:.ai-loop/actuator-output.md")]);
    let log = log(&plant);
    assert!(report.contains("Added one."), "the actuator's own words stay: {report}");
    for what in found {
        assert!(report.contains(&format!("- {what}")), "{report}");
        assert!(log.contains(what), "{log}");
    }
    plant.assert_sound();
}

#[test]
fn a_hazard_is_named_in_the_log_and_can_be_talked_over() {
    let plant = Plant::flat(1);
    let actuator = format!("ln -s /etc/passwd secrets\n{ADDING_ACTUATOR}");
    let ended = plant.run(&counting_controller(1), &actuator, &[]).exits_with(11);
    let run = plant.run_id();
    let next = steps(&ended, "/explanation/commands");
    assert_eq!(next[0], format!("windlass resume {run} --note \"…\""));
    let log = log(&plant);
    assert!(log.contains("link secrets leaves the tree: /etc/passwd"), "{log}");
}

#[test]
fn a_loop_that_leads_nowhere_says_how_to_go_on() {
    let plant = Plant::flat(9);
    plant.sensor("high", "echo '1 error'; test \"$(cat value)\" -ge 9");
    plant.repository.commit("a figure");
    let idle = ADDING_ACTUATOR.replace("echo $((v + 1)) > value", "date +%N > other");
    let ended = plant.run(&counting_controller(9), &idle, &["--patience", "2"]).exits_with(11);
    let run = plant.run_id();
    let next = steps(&ended, "/explanation/commands");
    assert_eq!(next[0], format!("windlass resume {run} --note \"…\""), "{next:?}");
    assert_eq!(next[1], format!("windlass resume {run} --patience 4"), "{next:?}");
}

/// Red before: a loop that was stopped was offered for merging first.
#[test]
fn a_stopped_loop_is_to_be_resumed_before_its_branch_is_merged_or_deleted() {
    let mut plant = Plant::flat(2);
    plant.world.without_sandbox("the maker plays the user who stops it");
    let windlass = format!(
        "WINDLASS_STATE_DIR={} {}",
        plant.world.state_dir().display(),
        plant.world.program().display()
    );
    // It waits to be ended: a loop this fast could be over before it hears of the stop.
    let stopping = format!("{windlass} stop \"$WINDLASS_RUN\" > /dev/null\nexec sleep 600\n");
    let ended = plant.run(&counting_controller(2), &stopping, &[]).exits_with(13);
    let next = steps(&ended, "/control/next_steps");
    assert_eq!(next[0], format!("windlass resume {}", plant.run_id()), "{next:?}");
    let offered = |word: &str| next.iter().any(|step| step.starts_with(word));
    assert!(!offered("git merge") && !offered("git branch") && offered("git diff"), "{next:?}");
}

#[test]
fn the_check_says_who_reads_the_target() {
    let plant = Plant::flat(1);
    let check = plant.world.windlass(&["control", "check", "--repo", plant.repository.text()]);
    let words = "a sensor passes when its command exits with 0; its target is what the controller reads";
    assert!(check.stdout.contains(words), "{}", check.stdout);
}

#[test]
fn one_command_is_not_several() {
    let plant = Plant::flat(1);
    let words = ["control", "run", "x", "--repo", plant.repository.text(), "--agent", "shell:true"];
    let refused = plant.world.windlass(&words).exits_with(14);
    assert!(refused.stderr.contains("would have a command run that nobody agreed to"), "{}", refused.stderr);
}

#[test]
fn a_task_in_another_alphabet_has_a_branch_of_its_own() {
    let plant = Plant::flat(0);
    let agent = plant.agent("controller", &counting_controller(0));
    let words =
        |task| ["control", "run", task, "--repo", plant.repository.text(), "--yes", "--agent", &agent];
    for task in ["すべてのテストを通す", "文書を書き直す"] {
        let _ = plant.world.windlass(&words(task)).exits_with(0);
    }
    let branches = plant.repository.git(&["branch", "--list", "ai-loop/*", "--format=%(refname:short)"]);
    let names: Vec<&str> = branches.lines().collect();
    assert_eq!(names.len(), 2);
    assert!(names.iter().all(|name| name.starts_with("ai-loop/task-") && !name.ends_with("-2")), "{names:?}");
}

#[test]
fn scripts_of_the_repository_s_own_become_sensors() {
    let world = world();
    let repository = world.repository("scripts");
    repository.write("test.sh", "exit 0\n").write("justfile", "lint:\n  true\n").commit("scripts");
    let words = ["control", "init", "--repo", repository.text(), "--dry-run", "--json"];
    let found = world.windlass(&words).exits_with(0).json();
    let commands: Vec<&str> =
        found["sensors"].as_array().unwrap().iter().map(|sensor| sensor[1].as_str().unwrap()).collect();
    assert_eq!(commands, ["just lint", "sh test.sh"]);
}

#[test]
fn names_that_mean_something_to_a_shell_are_quoted() {
    let plant = Plant::flat(1);
    plant.repository.git(&["switch", "-q", "-c", "fix(ui)"]);
    let ended = plant.count_to(1, &[]).exits_with(0);
    let next = steps(&ended, "/control/next_steps");
    assert!(next.contains(&format!("git diff 'fix(ui)...{BRANCH}'")), "{next:?}");
    assert!(next.contains(&format!("git rebase --interactive 'fix(ui)' {BRANCH}")), "{next:?}");
}

/// For a run that has not begun there is nothing to add to.
#[test]
fn a_limit_to_begin_with_is_no_addition() {
    let plant = Plant::flat(1);
    let refused = plant.count_to(1, &["--max-iterations", "+2"]).exits_with(2);
    assert!(refused.stdout.contains("whole number from 1 up"), "{refused:?}");
}
