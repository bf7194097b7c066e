//! The full suite against the baseline: regressions, red and flaky baselines, none at all, and the commands before a commit.

use super::scene::{Play, Scene, assert_because, contract, item, outcome, queue, write};
use serde_json::json;

/// A test that stays green only as long as README.md does not forbid it; items may edit that file.
fn guarded() -> Scene {
    let guarded = super::scene::with(item("F001"), json!({ "affected_files": ["f001.txt", "guard.txt"] }));
    let scene = Scene::set_up(&[guarded], "L2");
    scene
        .repository
        .write("guard.txt", "up\n")
        .write("tests/guard.sh", "grep -q up guard.txt\n")
        .commit("guard");
    scene
}

/// The item's own work with the guard in this state.
fn builds_with(play: Play, round: u32, guard: &str) -> Play {
    let made = super::scene::makes("F001");
    play.builder(round, &[&made[0], &made[1], &write("guard.txt", guard)])
}

#[test]
fn a_regression_is_mended_in_one_iteration_on_the_same_item() {
    let scene = guarded();
    let play = builds_with(Play::default(), 1, "down\n");
    let ended = scene.ends(&builds_with(play, 2, "up again\n").passes(2, "F001"), 0);
    let first = &ended["goal"]["iterations_done"][0];
    assert_eq!(first["why"], "tests that were green are red: guard");
    assert_eq!(first["tests"], json!({ "passed": 2, "total": 3 }));
    assert!(scene.prompt("builder-2-1").contains("guard"), "{}", scene.prompt("builder-2-1"));
    assert_eq!(scene.world.steps(), ["builder 1 1", "builder 2 1", "evaluator 2 1"]);
    scene.assert_sound();
}

#[test]
fn a_regression_that_is_not_mended_escalates_also_where_other_tests_are_hit() {
    let scene = guarded();
    let play = builds_with(Play::default(), 1, "down\n");
    let play = play.builder(2, &[&write("guard.txt", "up\n"), &write("tests/base.sh", "exit 1\n")]);
    let ended = scene.ends(&play, 11);
    assert_eq!(ended["goal"]["outcome"], "ESCALATED");
    let words = "F001 breaks tests that were green, also after one iteration to mend it: base";
    assert_because(&ended, words);
    assert!(scene.at_end("docs/LOOP.md").contains(words));
    scene.assert_sound();
}

/// W19: a new test that takes the place of an old one does not make up for it.
#[test]
fn a_green_test_that_is_gone_from_the_suite_is_a_regression() {
    let scene = guarded();
    let made = super::scene::makes("F001");
    // Skipped, not deleted: the file is there and prints nothing under its name.
    let renames = "{ rename = 'tests/guard.sh', to = 'tests/guard_later.sh' }";
    let play = Play::default().builder(1, &[&made[0], &made[1], renames]);
    let ended = scene.ends(
        &play.builder(2, &["{ rename = 'tests/guard_later.sh', to = 'tests/guard.sh' }"]).passes(2, "F001"),
        0,
    );
    let first = &ended["goal"]["iterations_done"][0];
    assert_eq!(first["result"], "rework", "{first:#}");
    assert!(first["why"].as_str().unwrap().contains("guard"), "{first:#}");
    scene.assert_sound();
}

/// W17: a new test that is red is no regression, and no commit either.
#[test]
fn a_new_red_test_goes_to_the_evaluator_and_not_to_a_commit() {
    let scene = Scene::of(1, "L2");
    let red = write("tests/new.sh", "exit 1\n");
    let play = Play::default().builder(1, &[&red]).fails(1, "F001", ["tests", "tests/new.sh", "it is red"]);
    let ended = scene.ends(&play.builds(2, "F001").builder(3, &[]), 11);
    assert_eq!(scene.world.steps()[..2], ["builder 1 1", "evaluator 1 1"]);
    assert_eq!(ended["goal"]["commits"], json!([]));
}

#[test]
fn a_test_command_that_is_not_there_is_no_red_baseline() {
    let missing = contract("F001", "L2").replace("`sh test.sh`", "`no-such-command --all`");
    let scene = Scene::with_contract(&queue(&[item("F001")]), &missing);
    let ended = scene.ends(&Play::well(&["F001"]), 1);
    assert_because(&ended, "the test command could not be run");
    assert_eq!(scene.world.steps(), Vec::<String>::new());
}

#[test]
fn a_red_baseline_names_its_tests_and_asks_nobody() {
    let scene = Scene::of(1, "L2");
    scene.repository.write("tests/broken.sh", "exit 1\n").commit("red");
    let ended = scene.ends(&Play::well(&["F001"]), 16);
    assert_eq!(ended["status"], "red-baseline");
    assert_because(&ended, "the test suite is red before anything was changed: broken");
    assert_eq!(scene.world.steps(), Vec::<String>::new());
    assert_eq!(ended["goal"]["iterations"]["used"], 0, "it is no iteration");
    let branches = scene.repository.git(&["for-each-ref", "--format=%(refname)", "refs/heads/goal"]);
    let at = |name: &str| scene.repository.git(&["rev-parse", name]);
    assert!(branches.is_empty() || at(&branches) == at("main"), "{branches}");
}

/// Every second run of the suite this test fails; the file that counts lies outside the repository.
fn flaky_scene() -> Scene {
    let scene = Scene::of(1, "L2");
    let count = scene.world.shared("flaky-count");
    let lines = format!("echo x >> {0}; n=$(wc -l < {0}); [ $((n % 2)) -eq 1 ]\n", count.display());
    scene.repository.write("tests/wobbly.sh", &lines).commit("a test that differs by itself");
    scene
}

#[test]
fn a_flaky_test_is_named_and_blames_nobody() {
    let scene = flaky_scene();
    let ended = scene.ends(&Play::well(&["F001"]), 0);
    assert_eq!(ended["goal"]["flaky"], json!(["wobbly"]));
    assert!(scene.at_end("docs/loop-run-log.md").contains("flaky: wobbly"));
    assert_eq!(scene.world.steps(), ["builder 1 1", "evaluator 1 1"]);
    scene.assert_sound();
}

#[test]
fn without_a_test_command_only_l1_begins_and_says_so() {
    let no_tests = |level: &str| contract("F001", level).replace("- Test command: `sh test.sh`\n", "");
    for level in ["L2", "L3"] {
        let scene = Scene::with_contract(&queue(&[item("F001")]), &no_tests(level));
        scene.repository.git(&["mv", "test.sh", "check-all"]);
        scene.repository.commit("nothing that looks like a test runner");
        let refused = scene.run(&Play::well(&["F001"]), &[]);
        assert_ne!(refused.code, Some(0));
        let said = [refused.stdout, refused.stderr].concat();
        let why = format!("no test command is known, and {level} needs one: only L1 may do without");
        assert!(said.contains(&why), "{said}");
        assert_eq!(scene.world.steps(), Vec::<String>::new());
    }
    let scene = Scene::with_contract(&queue(&[item("F001")]), &no_tests("L1"));
    scene.repository.git(&["mv", "test.sh", "check-all"]);
    scene.repository.commit("nothing that looks like a test runner");
    let rested = scene.ends(&Play::well(&["F001"]), 11);
    let tree = rested["goal"]["proposed"]["tree"].as_str().unwrap().to_owned();
    let _ = scene.about("approve", &["--tree", &tree]).exits_with(0);
    assert!(scene.at_end("docs/loop-run-log.md").contains("no test command"));
    assert!(scene.at_end("docs/PROGRESS.md").contains("no test command"));
}

#[test]
fn a_red_pre_commit_command_counts_as_rework_and_its_words_reach_the_builder() {
    let scene = Scene::of(1, "L2");
    let lint = "if grep -q TODO f001.txt; then echo 'f001.txt: a TODO is left'; exit 1; fi";
    let made = super::scene::makes("F001");
    let play = Play::default()
        .builder(1, &[&write("f001.txt", "done, TODO\n"), &made[1]])
        .passes(1, "F001")
        .builder(2, &[&made[0]])
        .passes(2, "F001");
    let ended = outcome(&scene.run(&play, &["--pre-commit", lint]).exits_with(0));
    let first = &ended["goal"]["iterations_done"][0];
    assert_eq!(first["result"], "rework");
    assert!(first["why"].as_str().unwrap().starts_with("a pre-commit check is red: "), "{first:#}");
    assert!(scene.prompt("builder-2-1").contains("a TODO is left"), "{}", scene.prompt("builder-2-1"));
    assert_eq!(ended["goal"]["items"][0]["rework"], 1);
    scene.assert_sound();
}

/// W16: every no counts the same, wherever it comes from.
#[test]
fn a_red_pre_commit_command_twice_is_one_cause_twice() {
    let scene = Scene::of(1, "L2");
    let made = super::scene::makes("F001");
    let play = Play::default()
        .builds(1, "F001")
        .passes(1, "F001")
        .builder(2, &[&write("f001.txt", "done otherwise\n"), &made[1]])
        .passes(2, "F001");
    let ended = outcome(&scene.run(&play, &["--pre-commit", "exit 3"]).exits_with(11));
    assert_because(&ended, "F001 failed twice for the same root cause: `exit 3`");
    scene.assert_sound();
}
