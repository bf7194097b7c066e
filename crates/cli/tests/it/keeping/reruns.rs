//! `windlass verify RUN --rerun`: the recorded checks once more, on the tree that counts, in a clean place.

use crate::control_loop::plant::{Plant, outcome};
use crate::goal_loop::scene::{Play as GoalPlay, Scene as GoalScene, write};
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
        "test -f done.txt && {{ grep -qs silent {0} || echo \"test result: ok. $(cat {0}) passed; 0 failed; 0 ignored\"; }}",
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
    std::fs::write(&weather, "silent").unwrap();
    let found = played.about("verify", &["--rerun", "--json"]).exits_with(15).json();
    assert!(found.to_string().contains("it tells of no tests now, and 3 of 3 passed"), "{found:#}");
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

#[test]
fn one_at_a_time_and_nothing_of_one_that_was_killed_is_believed() {
    let played = PlayedRun::judged(&["pass"]);
    let _ = played.run(&["--check", "test -f done.txt"]).exits_with(0);
    let run = played.id();
    let place = played.world.state_dir().join("runs").join(format!("rerun-of-{run}"));
    std::fs::create_dir_all(place.join("effects")).unwrap();
    let lock = std::fs::File::create(place.join("lock")).unwrap();
    lock.lock().unwrap();
    let refused = played.about("verify", &["--rerun", "--json"]);
    assert!(refused.code != Some(0) && refused.stdout.contains("just now"), "{}", refused.stdout);
    drop(lock);
    let found = played.about("verify", &["--rerun", "--json"]).exits_with(0).json();
    assert_eq!(lines(&found).len(), 1, "{found:#}");
    assert!(!place.exists());
}

#[test]
fn of_a_goal_loop_the_suite_runs_again_on_what_was_committed() {
    let scene = GoalScene::of(2, "L2");
    let cause = ["criterion", "f002.txt:1", "the file says too little"];
    let play = GoalPlay::well(&["F001"])
        .builds(2, "F002")
        .fails(2, "F002", cause)
        .builder(3, &[&write("f002.txt", "done, done\n")])
        .fails(3, "F002", cause);
    let _ = scene.ends(&play, 11);
    let found = scene.about("verify", &["--rerun", "--json"]).exits_with(0).json();
    assert_eq!(lines(&found).len(), 1, "{found:#}");
    // The base's test and that of the first item; the second item brought another one.
    assert!(found.to_string().contains("2 of 2 tests, as recorded"), "{found:#}");
}
