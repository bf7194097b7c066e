//! Evaluators that grade badly: their word is held against what the engine measured.

use super::scene::{Play, Scene, assert_because, grade, makes, write};

const NONE: [&str; 3] = ["none", "", ""];

#[test]
fn a_pass_over_red_tests_is_a_fail_for_the_tests() {
    let scene = Scene::of(1, "L2");
    let red = write("tests/new.sh", "grep -q everything f001.txt\n");
    let mended = write("tests/new.sh", "grep -q done f001.txt\n");
    let [file, _] = makes("F001");
    let play = Play::default().builder(1, &[&file, &red]).passes(1, "F001");
    let ended = scene.ends(&play.builder(2, &[&mended]).passes(2, "F001"), 0);
    let first = &ended["goal"]["iterations_done"][0];
    assert_eq!(first["why"], "the test suite is red: new; the evaluator said PASS over it");
    assert_eq!(first["tests"], serde_json::json!({ "passed": 1, "total": 2 }));
    assert!(scene.prompt("evaluator-1-1").contains("new"), "it was told which test is red");
    assert!(scene.prompt("builder-2-1").contains("the test suite is red: new"));
    scene.assert_sound();
}

#[test]
fn the_same_cause_twice_escalates_in_whatever_words() {
    let scene = Scene::of(1, "L2");
    let play = Play::default()
        .builds(1, "F001")
        .fails(1, "F001", ["criterion", "f001.txt:1", "the file says too little"])
        .builder(2, &[&write("f001.txt", "done, done\n")])
        .fails(2, "F001", ["criterion", "f001.txt:1", "more words are needed in there"]);
    let ended = scene.ends(&play, 11);
    assert_eq!(ended["goal"]["outcome"], "ESCALATED");
    assert_because(&ended, "F001 failed twice for the same root cause: criterion at f001.txt:1: more words");
    assert_eq!(ended["goal"]["iterations"]["used"], 2, "there is no third try");
    let told = scene.prompt("builder-2-1");
    assert!(told.contains("the file says too little"), "{told}");
    assert!(scene.at_end("docs/LOOP.md").contains("· cause: F001 failed twice for the same root cause"));
    scene.assert_sound();
}

#[test]
fn two_other_causes_reach_the_item_s_cap_and_a_third_builder_hears_of_both() {
    let scene = Scene::of(1, "L2");
    let play = Play::default()
        .builds(1, "F001")
        .fails(1, "F001", ["criterion", "f001.txt", "too short"])
        .builder(2, &[&write("f001.txt", "done, done\n")])
        .fails(2, "F001", ["quality", "f001.txt", "not polite"])
        .builder(3, &[&write("f001.txt", "kindly done\n")])
        .passes(3, "F001");
    let ended = scene.ends(&play, 12);
    assert_eq!(ended["goal"]["outcome"], "HARD KILL (rework per item: F001)");
    assert_eq!(scene.world.steps().len(), 4, "a cap reached means stop now");
    let _ = scene.about("retry", &["--rounds", "+1"]).exits_with(0);
    let told = scene.prompt("builder-3-1");
    assert!(told.contains("too short") && told.contains("not polite"), "{told}");
    assert_eq!(scene.item_status("F001"), "complete");
    scene.assert_sound();
}

#[test]
fn an_evaluator_that_says_nothing_is_asked_to_mend_it_then_a_fresh_one_then_a_person() {
    let scene = Scene::of(1, "L2");
    let ended = scene.ends(&Play::default().builds(1, "F001").step("evaluator", 1, &[]), 11);
    assert_because(&ended, "no evaluator gave a readable verdict on F001: the evaluator left no report");
    assert_eq!(scene.world.steps(), ["builder 1 1", "evaluator 1 1", "evaluator 1 2", "evaluator 1 3"]);
    assert_eq!(scene.subjects(), ["chore(loop): run summary"]);
    scene.assert_sound();
}

#[test]
fn an_evaluator_that_mends_its_answer_counts() {
    let scene = Scene::of(1, "L2");
    let passed = grade("F001", "PASS", [5; 5], NONE);
    let play = Play::default()
        .builds(1, "F001")
        .attempt("evaluator", (1, 1), &["{ artifact = 'evaluation.json', text = 'looks good to me' }"])
        .attempt("evaluator", (1, 2), &[&passed]);
    let _ = scene.ends(&play, 0);
    assert_eq!(scene.world.steps(), ["builder 1 1", "evaluator 1 1", "evaluator 1 2"]);
    scene.assert_sound();
}

#[test]
fn a_verdict_on_another_item_is_none() {
    let scene = Scene::of(2, "L2");
    let ended = scene.ends(&Play::default().builds(1, "F001").passes(1, "F002"), 11);
    assert_because(&ended, "no evaluator gave a readable verdict on F001");
    assert_eq!(scene.item_status("F002"), "not-started");
    scene.assert_sound();
}

#[test]
fn an_evaluator_that_edits_files_is_not_believed_and_a_second_one_ends_the_run() {
    let mut scene = Scene::of(1, "L2");
    scene.world.without_sandbox("the fence would keep it from writing");
    let passed = grade("F001", "PASS", [5; 5], NONE);
    let edits = write("f001.txt", "better\n");
    let play = Play::default().builds(1, "F001").step("evaluator", 1, &[&edits, &passed]);
    let ended = scene.ends(&play, 11);
    assert_because(&ended, "the evaluator of F001 may only read, and changed f001.txt again");
    assert_eq!(scene.world.steps(), ["builder 1 1", "evaluator 1 1", "evaluator 1 2"]);
    assert_eq!(scene.subjects(), ["chore(loop): run summary"]);
    scene.assert_sound();
}

#[test]
fn an_edit_by_one_evaluator_does_not_reach_the_commit_that_the_next_one_lets_through() {
    let scene = Scene::of(1, "L2");
    let passed = grade("F001", "PASS", [5; 5], NONE);
    let play = Play::default()
        .builds(1, "F001")
        .attempt("evaluator", (1, 1), &[&write("f001.txt", "better\n"), &passed])
        .attempt("evaluator", (1, 2), &[&passed]);
    let _ = scene.ends(&play, 0);
    assert_eq!(scene.at_end("f001.txt"), "F001 is done");
    scene.assert_sound();
}

#[test]
fn a_low_score_fails_the_item_whatever_the_verdict_says() {
    let scene = Scene::of(1, "L2");
    let low = grade("F001", "PASS", [5, 5, 5, 2, 5], ["tests", "tests/f001.sh", "hardly tested"]);
    let play = Play::default().builds(1, "F001").step("evaluator", 1, &[&low]);
    let better = write("tests/f001.sh", "grep -q done f001.txt && grep -q F001 f001.txt\n");
    let ended = scene.ends(&play.builder(2, &[&better]).passes(2, "F001"), 0);
    let first = &ended["goal"]["iterations_done"][0];
    assert_eq!(first["result"], "rework", "{first:#}");
    assert!(first["why"].as_str().unwrap().contains("hardly tested"), "{first:#}");
    scene.assert_sound();
}

#[test]
fn a_low_score_without_a_cause_never_passes_and_its_reason_is_the_cause() {
    let scene = Scene::of(1, "L2");
    let low = grade("F001", "PASS", [5, 1, 5, 5, 5], NONE);
    let again = write("f001.txt", "done, done\n");
    let play = Play::default().builds(1, "F001").builder(2, &[&again]);
    let play = play.step("evaluator", 1, &[&low]).step("evaluator", 2, &[&low]);
    let ended = scene.ends(&play, 11);
    assert_because(&ended, "failed twice for the same root cause: correctness at F001: as the criteria say");
    assert_eq!(scene.world.steps(), ["builder 1 1", "evaluator 1 1", "builder 2 1", "evaluator 2 1"]);
    assert_eq!(scene.subjects(), ["chore(loop): run summary"]);
    scene.assert_sound();
}
