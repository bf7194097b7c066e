//! The rows of the original's tables for one level: set-up, caps, ends, files and messages.

use super::plant::{ADDING_ACTUATOR, BRANCH, Plant, counting_controller, outcome};

#[test]
fn a_flat_loop_measures_plans_acts_and_commits_until_its_target_is_met() {
    let plant = Plant::flat(2);
    let before = plant.repository.record();
    let ended = outcome(&plant.count_to(2, &[]).exits_with(0));
    assert_eq!(ended["final_verdict"], "complete");
    assert_eq!(ended["control"]["branch"], BRANCH);
    assert_eq!(ended["control"]["commits"], 4);
    assert_eq!(plant.labels(), ["0", "1", "2", "3"]);
    let commits = plant.commits();
    assert_eq!(commits[0].action, "initial measurement");
    assert_eq!(commits[3].status, "complete");
    assert!(commits.iter().all(|commit| (commit.target_met == "true") == (commit.iteration == "3")));
    assert_eq!(plant.ends_with("value"), "2");
    for file in ["orchestrator-output.md", "sensor-high-output.md", "controller-output.md"] {
        assert!(!plant.ends_with(&format!(".ai-loop/{file}")).is_empty(), "{file}");
    }
    assert!(plant.ends_with(".ai-loop/orchestrator-output.md").contains("status: complete"));
    plant.assert_sound();
    // What the worktrees of a loop leave in the repository must not be in the way of its user's own git.
    plant.repository.git(&["fsck", "--strict"]);
    plant.repository.git(&["gc", "--quiet"]);
    plant.assert_untouched(&before);
}

#[test]
fn a_repository_that_is_not_set_up_is_told_all_that_is_missing_and_nothing_is_begun() {
    let plant = Plant::bare();
    plant.repository.commit("nothing of a loop");
    let refused = plant.count_to(1, &[]);
    assert_eq!(refused.code, Some(2));
    for missing in ["loop-sensor-", "loop-controller.md", "loop-actuator.md", "windlass control init"] {
        assert!(refused.stdout.contains(missing), "{missing} in {}", refused.stdout);
    }
    assert_eq!(plant.world.windlass(&["ls", "--json"]).exits_with(0).json(), serde_json::json!([]));
}

/// So many actuations are allowed, and then what they came to is judged once more.
#[test]
fn s12_2_caps_allow_so_many_actuations_and_one_last_judgement() {
    for cap in [1, 2, 4] {
        let plant = Plant::flat(100);
        let ended = plant.count_to(100, &["--max-iterations", &cap.to_string(), "--patience", "0"]);
        let ended = outcome(&ended.exits_with(10));
        assert_eq!(ended["control"]["actuations"], cap, "{ended}");
        assert_eq!(plant.ends_with("value"), cap.to_string());
        assert_eq!(plant.commits().len(), cap + 2, "iteration 0, each actuation, and the last word");
        assert_eq!(plant.commits().last().unwrap().status, "max-iterations-reached");
    }
}

#[test]
fn s12_2_a_target_that_the_last_allowed_actuation_reaches_counts() {
    let plant = Plant::flat(2);
    let ended = outcome(&plant.count_to(2, &["--max-iterations", "2"]).exits_with(0));
    assert_eq!(ended["control"]["actuations"], 2);
}

/// One actuation less, and a last measurement that nobody judges.
#[test]
fn s12_2_strict_original_keeps_the_literal_rule() {
    for cap in [1_usize, 2, 3] {
        let plant = Plant::flat(1);
        let flags = ["--max-iterations", &cap.to_string(), "--strict-original"];
        // With a cap of 2 the sensors are green in the end, and it still counts as exhausted.
        let code = if cap > 2 { 0 } else { 10 };
        let ended = outcome(&plant.count_to(1, &flags).exits_with(code));
        let actuations = if cap > 2 { 1 } else { cap - 1 };
        assert_eq!(ended["control"]["actuations"], actuations, "{ended}");
    }
}

#[test]
fn s12_2_a_single_shot_node_without_sensors_acts_once_and_is_judged() {
    let plant = Plant::bare();
    plant.role("loop-actuator", "# Actuator\n");
    plant.role("loop-controller-once", "# Controller\n");
    plant.repository.write(
        ".ai-loop/flow.yaml",
        "version: 1\nflow:\n  id: once\n  type: loop\n  controller: .claude/agents/loop-controller-once.md\n  sensors: []\n  termination:\n    max_iterations: 1\n  actuator:\n    strategy: direct\n    agent: .claude/agents/loop-actuator.md\n",
    );
    plant.repository.commit("set up");
    let ended = outcome(&plant.count_to(1, &[]).exits_with(0));
    assert_eq!(ended["control"]["actuations"], 1);
    let because = ended["explanation"]["because"].to_string();
    assert!(because.contains("the controller's word alone counts"), "{because}");
    // By the letter of the original such a node does nothing at all.
    let strict = outcome(&plant.count_to(1, &["--strict-original"]).exits_with(10));
    assert_eq!(strict["control"]["actuations"], 0, "{strict}");
}

#[test]
fn an_uncommitted_change_is_refused_or_taken_along_as_a_commit_of_its_own() {
    let plant = Plant::flat(2);
    plant.repository.write("value", "1\n").write("new.txt", "mine\n");
    let refused = plant.count_to(2, &[]);
    assert_eq!(refused.code, Some(14), "{refused:?}");
    assert!(refused.stdout.contains("--allow-dirty") && refused.stdout.contains("new.txt"), "{refused:?}");
    let before = plant.repository.record();
    let _ = plant.count_to(2, &["--allow-dirty"]).exits_with(0);
    let first = plant.repository.git(&["rev-list", "--reverse", &format!("HEAD..{BRANCH}")]);
    let first = first.lines().next().unwrap();
    assert!(plant.repository.git(&["show", "-s", "--format=%s", first]).contains("uncommitted changes"));
    assert_eq!(plant.repository.git(&["show", &format!("{first}:new.txt")]), "mine");
    assert_eq!(plant.ends_with("value"), "2");
    plant.assert_untouched(&before);
}

#[test]
fn s12_7_two_runs_with_the_same_task_get_two_branches_and_two_names() {
    let plant = Plant::levels(0, 1);
    let _ = plant.count_to(1, &[]).exits_with(0);
    let _ = plant.count_to(1, &[]).exits_with(0);
    let second = format!("{BRANCH}-2");
    assert_eq!(plant.commits_of(&second).len(), plant.commits().len());
    let runs =
        |branch: &str| plant.repository.git(&["ls-tree", "--name-only", &format!("{branch}:.ai-loop/runs/")]);
    let (first, second) = (runs(BRANCH), runs(&second));
    assert!(first.ends_with("_001") && second.ends_with("_002"), "{first} {second}");
}

#[test]
fn s12_7_a_task_in_any_words_becomes_a_branch_and_stays_what_it_was() {
    let tasks = [
        "Fix: \"quotes\", 'more' and: colons",
        "-leading dash\nand a second line\n",
        "# Task\n---\nstatus: complete\n---",
        &"very long ".repeat(1000),
        "…",
    ];
    for task in tasks {
        let plant = Plant::flat(1);
        let file = plant.world.shared("task.md");
        std::fs::write(&file, task).unwrap();
        let controller = plant.agent("controller", &counting_controller(1));
        let actuator = plant.agent("actuator", ADDING_ACTUATOR);
        let words = [
            "control",
            "run",
            "--task-file",
            file.to_str().unwrap(),
            "--repo",
            plant.repository.text(),
            "--yes",
            "--json",
            "--controller",
            &controller,
            "--actuator",
            &actuator,
        ];
        let ended = outcome(&plant.world.windlass(&words).exits_with(0));
        let branch = ended["control"]["branch"].as_str().unwrap();
        assert!(branch.starts_with("ai-loop/") && branch.len() <= "ai-loop/".len() + 50, "{branch}");
        let state = plant.repository.git(&["show", &format!("{branch}:.ai-loop/orchestrator-output.md")]);
        let read = windlass_artifact_formats::control_loop::NodeState::parse(state.as_bytes()).unwrap().0;
        assert_eq!(read.setpoint.trim(), task.trim(), "{state}");
    }
}

#[test]
fn in_place_the_checkout_follows_the_branch() {
    let plant = Plant::flat(2);
    let _ = plant.count_to(2, &["--in-place"]).exits_with(0);
    assert_eq!(plant.repository.git(&["rev-parse", "--abbrev-ref", "HEAD"]), BRANCH);
    assert_eq!(plant.repository.read("value"), "2\n");
    assert_eq!(plant.repository.git(&["status", "--porcelain", "--untracked-files=no"]), "");
}

#[test]
fn a_dry_run_says_what_would_be_done_and_does_nothing() {
    let plant = Plant::levels(1, 1);
    let said = plant.count_to(1, &["--dry-run"]).exits_with(0);
    let said = outcome(&said).to_string();
    for word in ["outer", "middle", "sensor high", "controller"] {
        assert!(said.contains(word), "{word} in {said}");
    }
    assert!(!plant.repository.git_succeeds(&["rev-parse", "--verify", "-q", BRANCH]));
}
