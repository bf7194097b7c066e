//! Builders that do what they must not: each is caught by name, and nothing of it is committed.

use super::scene::{CONTRACT, Play, Scene, TEST_COMMAND, assert_because, item, makes, question, with, write};
use serde_json::{Value, json};

/// A builder that makes the item well and does this beside it.
fn beside(round: u32, actions: &[&str]) -> Play {
    let made = makes("F001");
    let actions: Vec<&str> = made.iter().map(String::as_str).chain(actions.iter().copied()).collect();
    Play::default().builder(round, &actions)
}

/// The loop stopped for scope creep in these words, and what was built is in no commit.
#[track_caller]
fn assert_creep(scene: &Scene, ended: &Value, words: &str) {
    assert_eq!(ended["goal"]["outcome"], "ESCALATED");
    assert_because(ended, "scope creep while F001 was worked on");
    assert_because(ended, words);
    assert_eq!(scene.subjects(), ["chore(loop): run summary"]);
    assert!(scene.at_end(CONTRACT).contains("- F001 — Item F001 · cause: scope creep"));
    assert_eq!(scene.world.steps(), ["builder 1 1"], "nobody grades what does not belong to the item");
    scene.assert_sound();
}

/// The first iteration was sent back for this reason and the next builder was told; the second one is committed.
#[track_caller]
fn assert_sent_back(scene: &Scene, ended: &Value, why: &str) {
    let first = &ended["goal"]["iterations_done"][0];
    assert_eq!(first["result"], "rework", "{first:#}");
    assert!(first["why"].as_str().unwrap().contains(why), "{why} in {first:#}");
    assert!(scene.prompt("builder-2-1").contains(why), "{}", scene.prompt("builder-2-1"));
    assert!(!scene.world.steps().contains(&"evaluator 1 1".to_owned()), "the engine saw it without asking");
    assert_eq!(scene.subjects(), ["feat(F001): what the item asks for", "chore(loop): run summary"]);
    assert_eq!(scene.item_status("F001"), "complete");
    scene.assert_sound();
}

/// The findings of the first iteration are exactly this one.
#[track_caller]
fn assert_found(ended: &Value, words: &str) {
    let findings = ended["goal"]["iterations_done"][0]["findings"].as_array().unwrap();
    assert_eq!(findings.len(), 1, "{findings:?}");
    assert!(findings[0].as_str().unwrap().contains(words), "{words} in {findings:?}");
}

#[test]
fn a_commit_of_the_builder_s_own_is_named_and_never_reaches_the_branch() {
    let scene = Scene::of(1, "L2");
    let commits =
        "{ run = ['sh', '-c', 'git add -A; git -c user.name=B -c user.email=b@localhost commit -qm mine'] }";
    let ended = scene.ends(&beside(1, &[commits]).passes(1, "F001"), 0);
    assert_found(&ended, "committed by itself");
    assert_eq!(scene.subjects(), ["feat(F001): what the item asks for", "chore(loop): run summary"]);
    assert_eq!(scene.at_end("f001.txt"), "F001 is done", "what it committed counts, that it did does not");
    scene.assert_sound();
}

#[test]
fn a_status_the_builder_sets_is_named_and_put_back() {
    let scene = Scene::of(1, "L2");
    let sets = "{ run = ['sed', '-i', 's/in-progress/complete/', 'docs/FEATURES.json'] }";
    let no = ["criterion", "f001.txt", "says too little"];
    let play = beside(1, &[sets]).fails(1, "F001", no);
    let play = play.builder(2, &[&write("f001.txt", "all is done\n")]).fails(2, "F001", no);
    let ended = scene.ends(&play, 11);
    assert_found(&ended, "set a status, which only the engine does");
    assert_ne!(scene.item_status("F001"), "complete", "its word does not count");
    scene.assert_sound();
}

#[test]
fn an_edit_of_another_item_stops_the_loop() {
    let scene = Scene::of(2, "L2");
    let edits = "{ run = ['sed', '-i', 's/Item F002/Something easier/', 'docs/FEATURES.json'] }";
    let ended = scene.ends(&beside(1, &[edits]).passes(1, "F001"), 11);
    assert_creep(&scene, &ended, "edited the definition of an item");
    assert!(!scene.at_end("docs/FEATURES.json").contains("Something easier"));
}

#[test]
fn the_status_of_another_item_is_not_the_builder_s_either() {
    let scene = Scene::of(2, "L2");
    let edits = "{ run = ['sed', '-i', 's/not-started/complete/', 'docs/FEATURES.json'] }";
    let ended = scene.ends(&beside(1, &[edits]).passes(1, "F001"), 11);
    assert_creep(&scene, &ended, "F002");
    assert_eq!(scene.item_status("F002"), "not-started");
}

#[test]
fn criteria_made_easier_stop_the_loop() {
    let scene = Scene::of(1, "L2");
    let edits = "{ run = ['sed', '-i', 's/a test reads it/nothing/', 'docs/FEATURES.json'] }";
    let ended = scene.ends(&beside(1, &[edits]).passes(1, "F001"), 11);
    assert_creep(&scene, &ended, "acceptance_criteria");
}

#[test]
fn an_edit_outside_the_item_s_paths_stops_the_loop() {
    let scene = Scene::of(1, "L2");
    let ended = scene.ends(&beside(1, &[&write("README.md", "mine\n")]).passes(1, "F001"), 11);
    assert_creep(&scene, &ended, "edited outside the item's paths: README.md");
}

#[test]
fn the_file_that_the_test_command_runs_is_nobody_s_unless_the_item_names_it() {
    let runner = write("test.sh", "echo 'ok 1 - base'\n");
    let scene = Scene::of(1, "L2");
    let ended = scene.ends(&beside(1, &[&runner]).passes(1, "F001"), 11);
    assert_creep(&scene, &ended, "edited outside the item's paths: test.sh");
    let about_it = with(item("F001"), json!({ "affected_files": ["f001.txt", "test.sh"] }));
    let scene = Scene::set_up(&[about_it], "L2");
    let longer = write("test.sh", &format!("# Runs every test.\n{TEST_COMMAND}"));
    let _ = scene.ends(&beside(1, &[&longer]).waives(1, "F001", &["check-changed"]), 0);
}

#[test]
fn deleted_tests_are_sent_back_by_name_and_put_back_by_the_next_builder() {
    let scene = Scene::of(1, "L2");
    let play = beside(1, &["{ delete = 'tests/base.sh' }"])
        .builder(2, &[&write("tests/base.sh", "test -f README.md\n")])
        .passes(2, "F001");
    let ended = scene.ends(&play, 0);
    assert_found(&ended, "deleted tests: tests/base.sh");
    assert_sent_back(&scene, &ended, "tests/base.sh");
}

#[test]
fn a_secret_is_sent_back_before_anybody_else_reads_it() {
    let scene = Scene::of(1, "L2");
    let secret = "password = 'kT9#vQ2x!LmP4zRw'\nF001 is done\n";
    let writes = format!("{{ write = 'f001.txt', text = \"\"\"\n{secret}\"\"\" }}");
    let play = Play::default().builder(1, &[&writes]).builds(2, "F001").passes(2, "F001");
    let ended = scene.ends(&play, 0);
    assert_found(&ended, "left a secret in the code");
    assert_sent_back(&scene, &ended, "f001.txt");
    let told = [scene.prompt("builder-2-1"), ended.to_string()].concat();
    assert!(!told.contains("kT9#vQ2x"), "a secret is not repeated: {told}");
}

#[test]
fn edits_of_the_loop_s_own_files_are_named_and_put_back() {
    let scene = Scene::of(1, "L2");
    let widens = "{ run = ['sed', '-i', 's/^L2/L3/', 'docs/LOOP.md'] }";
    let claims = write("docs/PROGRESS.md", "# Progress Log\n\n## Everything is done\n");
    let ended = scene.ends(&beside(1, &[widens, &claims]).passes(1, "F001"), 0);
    assert_found(&ended, "edited the loop's own files: docs/LOOP.md, docs/PROGRESS.md");
    assert!(scene.at_end(CONTRACT).contains("\nL2\n"));
    assert!(!scene.at_end("docs/PROGRESS.md").contains("Everything is done"));
    scene.assert_sound();
}

#[test]
fn changing_nothing_twice_escalates_for_the_same_cause() {
    let scene = Scene::of(1, "L2");
    let ended = scene.ends(&Play::default().builder(1, &[]).builder(2, &[]), 11);
    assert_because(&ended, "F001 failed twice for the same root cause: the builder changed nothing");
    assert_eq!(scene.world.steps(), ["builder 1 1", "builder 2 1"]);
    scene.assert_sound();
}

#[test]
fn changing_nothing_of_what_failed_counts_as_changing_nothing() {
    let scene = Scene::of(1, "L2");
    let play = Play::default().builds(1, "F001").fails(1, "F001", ["criterion", "f001.txt", "too short"]);
    let ended = scene.ends(&play.builder(2, &[]), 12);
    assert_eq!(ended["goal"]["outcome"], "HARD KILL (rework per item: F001)");
    assert_eq!(ended["goal"]["iterations_done"][1]["why"], "the builder changed nothing");
    scene.assert_sound();
}

#[test]
fn a_question_waits_for_a_person_and_the_answer_reaches_the_next_builder() {
    let scene = Scene::of(1, "L2");
    let play = Play::default().step("builder", 1, &[&question("Which words does it say?")]);
    let ended = scene.ends(&play.builds(2, "F001").passes(2, "F001"), 11);
    assert_because(&ended, "the builder of F001 asks: Which words does it say?");
    assert!(scene.at_end(CONTRACT).contains("Which words does it say?"), "it stands in the triage inbox");
    for empty in ["", " \n"] {
        let refused = scene.about("answer", &[empty]).exits_with(2);
        assert!(refused.stderr.contains("the answer is empty"), "{}", refused.stderr);
    }
    assert_eq!(scene.world.steps().len(), 1, "it still waits");
    let _ = scene.about("answer", &["It says done"]).exits_with(0);
    assert!(scene.prompt("builder-2-1").contains("It says done"));
    assert_eq!(scene.item_status("F001"), "complete");
    assert!(!scene.at_end(CONTRACT).contains("Which words"), "answered, it is taken out again");
    scene.assert_sound();
}

#[test]
fn a_builder_that_leaves_no_report_is_asked_again_once_in_each_of_two_iterations() {
    let scene = Scene::of(1, "L2");
    let made = makes("F001");
    let actions: Vec<&str> = made.iter().map(String::as_str).collect();
    let play = Play::default().step("builder", 1, &actions).step("builder", 2, &[]);
    let ended = scene.ends(&play, 11);
    assert_because(&ended, "the builder of F001 keeps failing: it left no readable report");
    assert_eq!(scene.world.steps(), ["builder 1 1", "builder 1 2", "builder 2 1", "builder 2 2"]);
    let done = &ended["goal"]["iterations_done"];
    assert_eq!((&done[0]["result"], &done[1]["result"]), (&"inconclusive".into(), &"inconclusive".into()));
    assert_eq!(ended["goal"]["items"][0]["rework"], 0, "nobody said no");
    scene.assert_sound();
}

#[test]
fn a_builder_that_crashes_once_is_followed_by_another() {
    let scene = Scene::of(1, "L2");
    let play = Play::default().step("builder", 1, &["{ exit = 7 }"]).builds(2, "F001").passes(2, "F001");
    let ended = scene.ends(&play, 0);
    assert_eq!(ended["goal"]["iterations_done"][0]["result"], "inconclusive");
    assert_eq!(ended["goal"]["iterations"]["used"], 2, "the attempt counts as an iteration");
    scene.assert_sound();
}

#[test]
fn a_destructive_command_ends_the_run_at_once() {
    let scene = Scene::of(1, "L2");
    let call = r#"{ say = '{"windlass_signal":{"kind":"tool-call","name":"shell","detail":"rm  -fr /"}}' }"#;
    let ended = scene.ends(&beside(1, &[call]).passes(1, "F001"), 11);
    assert_eq!(ended["goal"]["outcome"], "HARD KILL (destructive command: rm -fr /)");
    assert_eq!(scene.subjects(), ["chore(loop): run summary"]);
    assert!(scene.at_end(CONTRACT).contains("- F001 — Item F001"));
    scene.assert_sound();
}

/// Where nothing states paths nothing can be outside of them; L3 has the item designed first.
#[test]
fn an_item_that_states_no_paths_is_held_to_none_below_l3() {
    let mut free = item("F001");
    free.as_object_mut().unwrap().remove("affected_files");
    let scene = Scene::set_up(&[free], "L2");
    let play = Play::default().builder(1, &[&write("anywhere.txt", "done\n")]).passes(1, "F001");
    let _ = scene.ends(&play, 0);
    assert_eq!(scene.at_end("anywhere.txt"), "done");
    scene.assert_sound();
}
