//! The three forms in the wild, from repositories as the original leaves them: each runs from beginning to end, and the original's
//! viewer reads what is committed.

use super::nested::CASCADE;
use super::original::{self, EARLIER, Form, shown_by_the_viewer};
use super::plant::{ADDING_ACTUATOR, BRANCH, Plant, counting_controller, outcome};
use windlass_artifact_formats::control_loop::{SensorOutput, seen_by_viewer};

/// Nobody is told of a loop that is still running, and what an earlier run left is as it was.
fn assert_the_earlier_run_is_let_be(plant: &Plant) {
    let checked = plant.world.windlass(&["control", "check", "--repo", plant.repository.text()]);
    assert!(!checked.stdout.contains("still running"), "{}", checked.stdout);
    let tree = |of: &str| plant.repository.git(&["rev-parse", &format!("{of}:{EARLIER}")]);
    assert_eq!(tree(BRANCH), tree("main"));
    let older = plant.repository.git(&["log", "--format=%B%x00", "--grep=^ai-loop", "main"]);
    let mut older = older.split('\0').map(str::trim).filter(|message| !message.is_empty());
    assert!(older.all(|message| seen_by_viewer(message).is_some()), "the fixture is of the original's form");
}

/// A file of the outermost node of our run.
fn of_our_run(plant: &Plant, path: &str) -> String {
    let runs = plant.repository.git(&["ls-tree", "--name-only", &format!("{BRANCH}:.ai-loop/runs/")]);
    let ours = runs.lines().find(|name| name.starts_with("run_") && !EARLIER.ends_with(name));
    plant.ends_with(&format!(".ai-loop/runs/{}/nodes/{path}", ours.expect("a name of our own")))
}

#[test]
fn s12_1_c0_after_its_set_up_runs_and_its_commits_are_read() {
    let plant = original::flat(2);
    let ended = outcome(&plant.count_to(2, &[]).exits_with(0));
    assert_eq!(ended["control"]["actuations"], 2);
    assert_eq!(plant.labels(), ["0", "1", "2", "3"]);
    // The original's viewer passes over flat commits, its own as ours.
    assert!(plant.commits().iter().all(|commit| commit.nodes.is_none() && commit.level == 0));
    assert!(plant.ends_with(".ai-loop/orchestrator-output.md").contains("status: complete"));
    plant.assert_sound();
}

#[test]
fn s12_1_c0_that_was_cut_off_is_named_and_a_new_run_goes_from_beginning_to_end() {
    let plant = original::flat(1);
    original::cut_off(&plant);
    let ran = plant.count_to(1, &[]).exits_with(0);
    let words = "says that a loop on ai-loop/old-thing is still running";
    assert!(ran.stdout.contains(words), "{}", ran.stdout);
    let ended = outcome(&ran);
    assert_eq!(ended["control"]["base_branch"], "ai-loop/old-thing");
    assert_eq!(plant.labels(), ["0", "1", "2"]);
    let state = plant.ends_with(".ai-loop/orchestrator-output.md");
    assert!(state.contains("status: complete") && state.contains(BRANCH), "{state}");
    assert!(
        plant.ends_with(".ai-loop/actuator-output.md").contains("Added one."),
        "ours, and not the old one"
    );
    plant.assert_sound();
}

#[test]
fn s12_1_c1_with_one_level_runs_and_the_viewer_shows_it() {
    let plant = original::nested(Form::C1, &["main"], 2);
    let ended = outcome(&plant.count_to(2, &[]).exits_with(0));
    assert_eq!(ended["final_verdict"], "complete");
    let seen = shown_by_the_viewer(&plant);
    let labels: Vec<&str> = seen.iter().map(|commit| commit.iteration.as_str()).collect();
    assert_eq!(labels, ["0", "1", "2", "3"]);
    assert_eq!(seen.last().map(|commit| commit.target_met.as_str()), Some("true"));
    // What theirs leave out, ours say.
    let report = of_our_run(&plant, "main/sensor-high-output.md");
    let read = SensorOutput::parse("high", report.as_bytes()).unwrap().0;
    assert!(read.status.is_some() && read.exit_code == Some(0), "{report}");
    assert_the_earlier_run_is_let_be(&plant);
    plant.assert_sound();
}

#[test]
fn s12_1_c1_with_two_levels_runs_and_the_viewer_shows_it() {
    let plant = original::nested(Form::C1, &["outer", "inner"], 2);
    let keep = plant.world.shared("prompt.md");
    let controller =
        format!("[ \"$WINDLASS_LABEL\" = 2 ] && cat > {}\n{}", keep.display(), counting_controller(2));
    let ended = outcome(&plant.run(&controller, ADDING_ACTUATOR, &[]).exits_with(0));
    assert_eq!(ended["control"]["worked"], 2);
    let seen = shown_by_the_viewer(&plant);
    let labels: Vec<&str> = seen.iter().map(|commit| commit.iteration.as_str()).collect();
    assert_eq!(labels, ["0", "1.0", "1.1", "1.2", "1.3", "1", "2"]);
    assert!(of_our_run(&plant, "outer/inner/result-output.md").contains("target-met: true"));
    // What an agent file of the original says about the place of the inner result is wrong; the prompt has the result itself.
    let told = std::fs::read_to_string(keep).unwrap();
    assert!(told.contains("# Result: inner") && !told.contains("{sensors-section}"), "{told}");
    assert_the_earlier_run_is_let_be(&plant);
    plant.assert_sound();
}

#[test]
fn s12_1_c2_with_three_levels_runs_and_the_viewer_shows_it() {
    let plant = original::nested(Form::C2, &["outer", "middle", "inner"], 3);
    let ended = outcome(&plant.run(CASCADE, ADDING_ACTUATOR, &[]).exits_with(0));
    assert_eq!(ended["control"]["worked"], 3);
    let seen = shown_by_the_viewer(&plant);
    let deepest: Vec<&str> =
        seen.iter().filter(|commit| commit.level == 2).map(|commit| commit.iteration.as_str()).collect();
    assert_eq!(deepest, ["1.1.0", "1.1.1", "1.1.2", "1.1.3", "1.1.4"]);
    assert_eq!(seen.len(), plant.commits().len());
    assert_the_earlier_run_is_let_be(&plant);
    plant.assert_sound();
}
