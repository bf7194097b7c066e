//! `windlass verify RUN --rerun`: the recorded checks once more, on the tree that counts, in a clean place.

use crate::control_loop::plant::{Plant, outcome};
use crate::goal_loop::scene::{Play as GoalPlay, Scene as GoalScene};
use crate::played_run::PlayedRun;
use serde_json::Value;

fn lines(found: &Value) -> Vec<(String, bool)> {
    let checks = found["checks"].as_array().unwrap().iter();
    let again = checks.filter(|one| one["what"].as_str().unwrap().ends_with("once more"));
    again.map(|one| (one["what"].as_str().unwrap().to_owned(), one["holds"].as_bool().unwrap())).collect()
}

#[test]
fn checks_that_end_as_they_did_hold_and_others_are_named() {
    let played = PlayedRun::judged(&["pass"]);
    let weather = played.world.shared("weather");
    std::fs::write(&weather, "3").unwrap();
    let fair = format!(
        "test -f done.txt && echo \"test result: ok. $(cat {}) passed; 0 failed; 0 ignored\"",
        weather.display()
    );
    let _ = played.run(&["--check", &fair, "--check", "git diff --quiet HEAD; test $? = 1"]).exits_with(0);
    let worktrees = || played.repository.git(&["worktree", "list"]);
    let before = worktrees();
    // What somebody does to the worktrees of the run does not count.
    std::fs::remove_file(played.run_dir().join("worktrees/judge/done.txt")).unwrap();
    let found = played.about("verify", &["--rerun", "--json"]).exits_with(0).json();
    assert!(lines(&found).len() == 2 && lines(&found).iter().all(|(_, holds)| *holds), "{found:#}");
    assert!(found.to_string().contains("3 of 3 tests"), "{found:#}");
    assert_eq!(worktrees(), before, "nothing is left of it");
    std::fs::write(&weather, "2").unwrap();
    let found = played.about("verify", &["--rerun", "--json"]).exits_with(15).json();
    assert!(found.to_string().contains("2 of 2 tests pass now, 3 of 3 did"), "{found:#}");
    std::fs::remove_file(&weather).unwrap();
    std::fs::create_dir(&weather).unwrap();
    let found = played.about("verify", &["--rerun", "--json"]).exits_with(15).json();
    assert_eq!(found["holds"], false, "{found:#}");
    let _ = played.about("verify", &[]).exits_with(0);
}

#[test]
fn sensors_and_suites_are_run_again_too() {
    let plant = Plant::flat(1);
    let ended = outcome(&plant.count_to(1, &[]).exits_with(0));
    let run = ended["run"].as_str().unwrap();
    let found = plant.world.windlass(&["verify", run, "--rerun", "--json"]).exits_with(0).json();
    assert_eq!(lines(&found).len(), 1, "{found:#}");
    let scene = GoalScene::of(1, "L2");
    let _ = scene.ends(&GoalPlay::well(&["F001"]), 0);
    let found = scene.about("verify", &["--rerun", "--json"]).exits_with(0).json();
    assert_eq!(lines(&found).len(), 1, "{found:#}");
}
