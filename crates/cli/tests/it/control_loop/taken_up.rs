//! What `windlass resume` can be given for a control loop, and what not.

use super::plant::{ADDING_ACTUATOR, BRANCH, Plant, counting_controller, outcome};
use crate::world;
use windlass_test_support::Script;

#[test]
fn more_iterations_and_patience_are_given_to_a_loop_that_goes_on() {
    let plant = Plant::flat(4);
    let _ = plant.count_to(4, &["--max-iterations", "1"]).exits_with(10);
    let run = plant.run_id();
    let resumed = plant.world.windlass(&["resume", &run, "--max-iterations", "2", "--json"]).exits_with(10);
    assert_eq!(outcome(&resumed)["control"]["nodes"][0]["max_iterations"], 2);
    let refused = plant.world.windlass(&["resume", &run, "--max-iterations", "inner=+1"]).exits_with(2);
    assert!(refused.stderr.contains("there is no node `inner`"), "{}", refused.stderr);
    let _ =
        plant.world.windlass(&["resume", &run, "--max-iterations", "+2", "--patience", "9"]).exits_with(0);
    assert_eq!(plant.ends_with("value"), "4");
    let told = plant.log().iter().any(|entry| {
        entry["text"].as_str().is_some_and(|text| text.contains("9 iterations without progress end it"))
    });
    assert!(told, "{:#?}", plant.log());
    plant.assert_sound();
}

#[test]
fn a_loop_that_was_stopped_early_is_given_patience() {
    let plant = Plant::flat(9);
    let idle = ADDING_ACTUATOR.replace("echo $((v + 1)) > value", "echo $((3 - v)) > other");
    let _ = plant.run(&counting_controller(9), &idle, &["--patience", "1"]).exits_with(11);
    let stopped_at = plant.commits_of(BRANCH).len();
    let run = plant.run_id();
    let flags = ["--patience", "0", "--max-iterations", "12"];
    let _ = plant.world.windlass(&[&["resume", &run][..], &flags].concat()).exits_with(10);
    assert!(plant.commits_of(BRANCH).len() > stopped_at + 2, "{:?}", plant.labels());
    plant.assert_sound();
}

#[test]
fn an_inner_node_is_given_iterations_by_its_name() {
    let plant = Plant::levels(1, 3);
    let flags = ["--max-iterations", "outer=1", "--max-iterations", "middle=1"];
    let _ = plant.count_to(3, &flags).exits_with(10);
    let run = plant.run_id();
    let refused = plant.world.windlass(&["resume", &run, "--max-iterations", "inner=2"]).exits_with(2);
    assert!(refused.stderr.contains("the nodes are: outer, middle"), "{}", refused.stderr);
    let flags = ["--max-iterations", "+1", "--max-iterations", "middle=2"];
    let _ = plant.world.windlass(&[&["resume", &run][..], &flags].concat()).exits_with(0);
    assert_eq!(plant.ends_with("value"), "3");
    plant.assert_sound();
}

#[test]
fn room_is_never_taken_away() {
    let plant = Plant::flat(4);
    let _ = plant.count_to(4, &["--max-iterations", "2"]).exits_with(10);
    let run = plant.run_id();
    let refused = plant.world.windlass(&["resume", &run, "--max-iterations", "1"]).exits_with(2);
    assert!(refused.stderr.contains("may have 2 actuations already"), "{}", refused.stderr);
    let both = ["resume", &run, "--max-iterations", "+1", "--rounds", "+1"];
    let refused = plant.world.windlass(&both).exits_with(2);
    assert!(refused.stderr.contains("both speak of the outermost node"), "{}", refused.stderr);
}

#[test]
fn a_flag_of_the_other_loop_is_refused_with_its_name() {
    let plant = Plant::flat(4);
    let _ = plant.count_to(4, &["--max-iterations", "1"]).exits_with(10);
    let flags = ["resume", &plant.run_id(), "--judge", "codex", "--check", "true"];
    let refused = plant.world.windlass(&flags).exits_with(2);
    let words = "--check, --judge belong to the task loop, and this run is a control loop";
    assert!(refused.stderr.contains(words), "{}", refused.stderr);

    let world = world();
    let repository = world.repository("repo");
    let agent = world.agent("script.toml", &Script::that_passes());
    let words = ["run", "Add done.txt", "--repo", repository.text(), "--agent", &agent, "--json"];
    let ended = world.windlass(&words).exits_with(0).json_lines().pop().unwrap();
    let run = ended["run"].as_str().unwrap();
    for flag in ["--patience", "--max-iterations"] {
        let refused = world.windlass(&["resume", run, flag, "3"]).exits_with(2);
        let words = format!("`{flag}` belongs to control loops, and this run is a task loop");
        assert!(refused.stderr.contains(&words), "{}", refused.stderr);
    }
}

#[test]
fn the_help_says_which_flags_are_for_which_loop() {
    let help = world().windlass(&["resume", "--help"]).exits_with(0).stdout;
    let at = |words: &str| help.find(words).unwrap_or_else(|| panic!("{words} in {help}"));
    let (control, original) =
        (at("Control loops only:"), at("Run directories of the original only (task loop):"));
    assert!(at("--note <TEXT>") < control.min(original), "{help}");
    for flag in ["--doer <AGENT>", "--judge <AGENT>", "--check <COMMAND>", "--id <ID>"] {
        assert!(at(flag) > original, "{flag} in {help}");
    }
    assert!(at("--patience <N>") > control);
}
