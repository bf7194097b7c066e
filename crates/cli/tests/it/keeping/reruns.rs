//! `windlass verify RUN --rerun`: the recorded checks once more, on the tree that counts, in a clean place.

use crate::control_loop::plant::{Plant, outcome};
use crate::goal_loop::scene::{Play as GoalPlay, Scene as GoalScene, write};
use crate::played_run::PlayedRun;
use crate::roadmap_loop::plane::Style;
use crate::roadmap_loop::play::{Closeout, Decision, NOTES, Play as RoadmapPlay, Work, writes};
use crate::roadmap_loop::scene::Scene as RoadmapScene;
use serde_json::Value;
use windlass_test_support::wait_until;

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

#[test]
fn of_a_roadmap_the_checks_run_again_on_what_each_merged_round_held() {
    let scene = RoadmapScene::small(Style::Records);
    let runner = "n=0; for t in tests/*.sh; do sh $t || exit 1; n=$((n + 1)); done\n\
                  echo \"test result: ok. $n passed; 0 failed; 0 ignored\"\n";
    let _ = scene
        .repository
        .write("test.sh", runner)
        .write("tests/there.sh", "test -f test.sh\n")
        .commit("tests");
    let weather = scene.world.shared("weather");
    let check = format!("sh test.sh && ! test -e {}", weather.display());
    let cut = scene.cut("round-001", "m-1");
    let made = [
        write("tests/works.sh", "test -f src/round-001.txt\n"),
        write("src/round-001.txt", "m-1 works\n"),
        write(&cut.file("implementation-notes.md"), NOTES),
    ];
    let play = RoadmapPlay::default().plans(&cut).step(Work("implement", 1, None), &made).step(
        Work("review", 1, None),
        &writes(&cut.review(&Decision::Approved(Closeout::Done { from: "pending" }))),
    );
    let _ = scene.run(&play, &["--check", &check]);
    assert_eq!(scene.merged_rounds().len(), 1, "{}", scene.about("log", &[]).stdout);
    let found = scene.about("verify", &["--rerun", "--json"]).exits_with(0).json();
    assert_eq!(lines(&found).len(), 1, "{found:#}");
    assert!(found.to_string().contains("2 of 2 tests, as recorded"), "{found:#}");
    std::fs::write(weather, "").unwrap();
    let found = scene.about("verify", &["--rerun", "--json"]).exits_with(15).json();
    assert!(lines(&found).iter().all(|(_, holds)| !holds), "{found:#}");
}

#[test]
fn cleaning_takes_away_what_a_rerun_that_was_killed_left() {
    let played = PlayedRun::judged(&["pass"]);
    let weather = played.world.shared("weather");
    let check = format!("test -f done.txt && ! {{ test -e {} && sleep 600; }}", weather.display());
    let _ = played.run(&["--check", &check]).exits_with(0);
    let run = played.id();
    let worktrees = || played.repository.git(&["worktree", "list"]).lines().count();
    let before = worktrees();
    std::fs::write(&weather, "").unwrap();
    let rerun = played.world.start_windlass(&["verify", &run, "--rerun"]);
    let place = played.world.state_dir().join("runs").join(format!("rerun-of-{run}"));
    let child = place.join("effects/1/part-0/child.json");
    wait_until("the check to run again", || child.exists().then_some(()));
    let _ = rerun.kill();
    assert!(place.is_dir() && played.world.has_keeper());
    let told = played.about("clean", &["--json"]).exits_with(0);
    assert!(told.stdout.contains("run again"), "{}", told.stdout);
    assert!(!place.exists() && !played.world.has_keeper());
    assert!(worktrees() <= before);
}
