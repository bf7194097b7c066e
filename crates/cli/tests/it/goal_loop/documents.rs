//! The loop's files: what changes in them and what stays, to the byte; the ledger, the inbox, the evaluations.

use super::scene::{
    BUDGET, CONTRACT, EVALUATION, FEATURES, PROGRESS, Play, RUN_LOG, Scene, contract, item, queue, with,
    write,
};
use serde_json::json;

/// Content as it stands in the branch, to the byte.
fn bytes(scene: &Scene, path: &str) -> String {
    let place = scene.world.shared("content");
    let command = format!("git show {}:{path} > {}", scene.branch(), place.display());
    let _ = scene.world.run("/bin/sh".as_ref(), scene.repository.path(), &["-c", &command], "").exits_with(0);
    String::from_utf8(std::fs::read(place).unwrap()).unwrap()
}

/// A queue nobody formatted: tabs, odd spaces, unknown keys, escapes, an item nobody is to touch, no line end.
const ODD: &str = "{ \"note\" : \"caf\\u00e9 \\/ 1e3\",\r\n\t\"features\":[\r\n\t\t{\"id\":\"F001\" , \"name\":\"Item F001\",\
                   \"x-owner\":{ \"team\" :[1 ,2.50] },\r\n\t\t \"priority\":1.0,\"status\" :  \"not-started\",\
                   \"description\":\"d\",\"acceptance_criteria\":[ \"c\" ],\"dependencies\":[],\"affected_files\":[\"f001.txt\"]},\r\n\
                   \t\t{\"status\":\"cancelled\",\"id\":\"F002\",\"name\":\"n\",\"acceptance_criteria\":[],\"cancel_reason\":\"no\"}\r\n\t],\"z\":null}";

#[test]
fn of_an_oddly_formatted_queue_only_the_status_changes() {
    let scene = Scene::with_contract(ODD, &contract("F001", "L2"));
    let _ = scene.ends(&Play::well(&["F001"]), 0);
    assert_eq!(bytes(&scene, FEATURES), ODD.replacen("\"not-started\"", "\"complete\"", 1));
    scene.assert_sound();
}

#[test]
fn a_contract_with_crlf_and_a_person_s_own_sections_stays_as_it_is() {
    let own = format!("{}\n## My notes\n\n* kept   as is\n", contract("F001", "L2")).replace('\n', "\r\n");
    let scene = Scene::with_contract(&queue(&[item("F001")]), &own);
    let _ = scene.ends(&Play::well(&["F001"]), 0);
    assert_eq!(bytes(&scene, CONTRACT), own);
    scene.assert_sound();
}

#[test]
fn only_the_used_column_and_the_start_of_a_budget_change() {
    let own = super::scene::budget([9, 8, 2, 50])
        .replace("\n| Commits |", "\n| Coffee | 3 | 1 |\n| Commits |")
        + "\n## Hard-kill rule\n\nA  cap is a cap.\n";
    let scene = Scene::of(1, "L2");
    scene.repository.write(BUDGET, &own).commit("caps");
    let ended = scene.ends(&Play::well(&["F001"]), 0);
    assert_eq!(ended["goal"]["iterations"], json!({ "used": 1, "cap": 9 }));
    assert!(ended["goal"]["notices"].to_string().contains("Coffee"), "{}", ended["goal"]["notices"]);
    let text = bytes(&scene, BUDGET);
    let began = text.lines().next().unwrap();
    let expected = own
        .replace("# Loop Budget — run started 2026-01-02T03:04:05Z", began)
        .replace("| Iterations | 9 | 0 |", "| Iterations | 9 | 1 |")
        .replace("| Commits | 8 | 0 |", "| Commits | 8 | 1 |");
    assert_eq!(text, expected);
    scene.assert_sound();
}

#[test]
fn what_stood_in_log_and_story_before_stays_where_it_was() {
    let log = "# Loop Run Log\n\nOurs since spring.\n\n### Iteration 1 — 2025-05-05T05:05:05Z\n- **Feature**: F009 — Old\n\
               - **Evaluator verdict**: PASS\n- **Mood**: good\n";
    let story = "# Progress Log\n\n## Session 2025-05-05\n- Feature: F009\n\nFree   words.\n";
    let scene = Scene::of(1, "L2");
    scene.repository.write(RUN_LOG, log).write(PROGRESS, story).commit("history");
    let _ = scene.ends(&Play::well(&["F001"]), 0);
    assert!(bytes(&scene, RUN_LOG).starts_with(log), "{}", bytes(&scene, RUN_LOG));
    assert!(bytes(&scene, PROGRESS).starts_with(story), "{}", bytes(&scene, PROGRESS));
    scene.assert_sound();
}

#[test]
fn the_log_has_one_block_for_each_iteration_with_the_commit_as_git_has_it() {
    let scene = Scene::of(2, "L2");
    let play = Play::default()
        .builds(1, "F001")
        .fails(1, "F001", ["criterion", "f001.txt", "too short"])
        .builder(2, &[&write("f001.txt", "F001 is done, at length\n")])
        .passes(2, "F001")
        .builds(3, "F002")
        .passes(3, "F002");
    let _ = scene.ends(&play, 0);
    let log = scene.at_end(RUN_LOG);
    let commits =
        scene.repository.git(&["log", "--reverse", "--format=%H %s", &format!("main..{}", scene.branch())]);
    let commits: Vec<&str> = commits.lines().collect();
    let blocks: Vec<&str> = log.split("### Iteration ").skip(1).collect();
    assert_eq!(blocks.len(), 3, "{log}");
    let has =
        |block: usize, words: &str| assert!(blocks[block].contains(words), "{words} in {}", blocks[block]);
    has(0, "- **Feature**: F001 — Item F001\n- **Action**: build → verify → rework\n");
    has(0, "- **Evaluator verdict**: FAIL — the evaluator failed it: criterion at f001.txt: too short\n");
    has(0, "- **Tests**: 2/2\n- **Commit**: (none)\n- **Budget**: iter 1/10 · commits 0/15 · rework 1/2\n");
    has(1, "- **Action**: build → verify → commit\n- **Evaluator verdict**: PASS\n");
    has(1, &format!("- **Commit**: {}\n- **Budget**: iter 2/10 · commits 1/15 · rework 1/2\n", commits[0]));
    has(2, &format!("- **Commit**: {}\n- **Budget**: iter 3/10 · commits 2/15 · rework 0/2\n", commits[1]));
    let base = scene.repository.git(&["rev-parse", "main"]);
    assert!(log.contains(&format!("- **HEAD**: {base}\n- **Baseline tests**: 1/1 green")), "{log}");
    scene.assert_sound();
}

#[test]
fn the_summary_lists_what_there_is_to_read() {
    let scene = Scene::of(2, "L2");
    let _ = scene.ends(&Play::well(&["F001", "F002"]), 0);
    let story = scene.at_end(PROGRESS);
    let summary = story.split("## Loop Run Summary — ").nth(1).expect("a summary");
    let shas =
        scene.repository.git(&["log", "--reverse", "--format=%H", &format!("main..{}~1", scene.branch())]);
    for words in [
        "- **Outcome**: SUCCESS\n",
        "- **Iterations**: 2   **Commits**: 2\n",
        "F001, F002",
        "- **Next**: done",
    ] {
        assert!(summary.contains(words), "{words} in {summary}");
    }
    for sha in shas.lines() {
        assert!(summary.contains(&sha[..7]), "{sha} in {summary}");
    }
    assert_eq!(story.matches("## Session").count(), 2, "{story}");
    scene.assert_sound();
}

#[test]
fn an_inbox_line_is_added_and_taken_out_again_when_its_item_is_accepted() {
    let scene = Scene::of(2, "L2");
    let others = "- F002 — Item F002 · cause: somebody else's · next: wait · run 2025-05-05T05:05:05Z";
    scene.repository.write(CONTRACT, &contract("F001", "L2").replace("(empty)", others)).commit("a line");
    let play = Play::default().builder(1, &[]).builder(2, &[]).builds(3, "F001").passes(3, "F001");
    let _ = scene.ends(&play, 11);
    let handed_back = scene.at_end(CONTRACT);
    assert!(
        handed_back.contains(others) && handed_back.contains("- F001 — Item F001 · cause: "),
        "{handed_back}"
    );
    let _ = scene.about("retry", &["--rounds", "+1"]).exits_with(0);
    let after = scene.at_end(CONTRACT);
    assert!(after.contains(others) && !after.contains("- F001 — "), "{after}");
    scene.assert_sound();
}

#[test]
fn an_inbox_that_is_emptied_says_so() {
    let scene = Scene::of(1, "L2");
    let play = Play::default().builder(1, &[]).builder(2, &[]).builds(3, "F001").passes(3, "F001");
    let _ = scene.ends(&play, 11);
    assert!(!scene.at_end(CONTRACT).contains("(empty)"));
    let _ = scene.about("retry", &["--rounds", "+1"]).exits_with(0);
    assert_eq!(bytes(&scene, CONTRACT), contract("F001", "L2"), "as it was before");
}

/// W17: the newest evaluation is where people look, and none is lost.
#[test]
fn older_evaluations_are_kept_also_the_one_from_before_the_loop() {
    let scene = Scene::of(2, "L2");
    let old = "# Evaluation — 2025-05-05\n\n## Summary\n\nAll was well.\n";
    scene.repository.write(EVALUATION, old).commit("an old evaluation");
    let _ = scene.ends(&Play::well(&["F001", "F002"]), 0);
    let newest = scene.at_end(EVALUATION);
    assert!(newest.contains("### F002 — Item F002") && !newest.contains("### F001"), "{newest}");
    let names = scene.repository.git(&["ls-tree", "-r", "--name-only", &scene.branch(), "docs/evaluations"]);
    let kept: Vec<String> = names.lines().map(|name| bytes(&scene, name)).collect();
    assert!(kept.iter().any(|text| text.contains("### F001 — Item F001")), "{names}");
    assert!(kept.iter().any(|text| text == old), "{names}");
    scene.assert_sound();

    scene.repository.git(&["merge", "-q", &scene.branch()]);
    let reopened = scene.repository.read(FEATURES).replacen("complete", "needs-rework", 1);
    scene.repository.write(FEATURES, &reopened).commit("look again");
    let again = Play::default().builder(1, &[&write("f001.txt", "better done\n")]).passes(1, "F001");
    let _ = scene.ends(&again, 0);
    let names = scene.repository.git(&["ls-tree", "-r", "--name-only", &scene.branch(), "docs/evaluations"]);
    assert_eq!(names.lines().count(), 4, "the same iteration of another run: {names}");
}

/// W2: a builder that follows its own protocol writes into the story and the queue; the engine's words stand there.
#[test]
fn every_commit_holds_its_own_bookkeeping() {
    let scene = Scene::of(2, "L2");
    let _ = scene.ends(&Play::well(&["F001", "F002"]), 0);
    let first = format!("{}~2", scene.branch());
    let at_first = |path: &str| scene.repository.git(&["show", &format!("{first}:{path}")]);
    let list: serde_json::Value = serde_json::from_str(&at_first(FEATURES)).unwrap();
    assert_eq!(
        (&list["features"][0]["status"], &list["features"][1]["status"]),
        (&json!("complete"), &json!("not-started"))
    );
    assert!(at_first(BUDGET).contains("| Commits | 15 | 1 |"), "{}", at_first(BUDGET));
    assert!(at_first(PROGRESS).contains("F001"), "{}", at_first(PROGRESS));
    let message = scene.repository.git(&["show", "-s", "--format=%B", &first]);
    let run = scene.run_id();
    for words in [
        format!("Windlass-Run: {run}"),
        "Windlass-Item: F001".to_owned(),
        "Windlass-Evaluation: sha256:".to_owned(),
    ] {
        assert!(message.contains(&words), "{message}");
    }
}

#[test]
fn another_tool_s_files_of_the_same_names_are_refused_and_not_written() {
    for (path, text) in [
        (FEATURES, "{\"features\": [\"one\", \"two\"]}\n".to_owned()),
        (CONTRACT, "# How our loop works\n\nIt loops.\n".to_owned()),
        (FEATURES, queue(&[item("F001"), with(item("F001"), json!({}))])),
        (FEATURES, queue(&[with(item("F001"), json!({ "dependencies": ["F009"] }))])),
        (FEATURES, queue(&[with(item("F001"), json!({ "status": "fertig" }))])),
    ] {
        let scene = Scene::of(1, "L2");
        scene.repository.write(path, &text).commit("not ours");
        let refused = scene.run(&Play::well(&["F001"]), &[]);
        assert_eq!(refused.code, Some(2), "{text}: {}{}", refused.stdout, refused.stderr);
        assert!(refused.stdout.contains(path) || refused.stderr.contains(path), "{}", refused.stderr);
        assert_eq!(scene.repository.read(path), text);
        assert_eq!(scene.world.steps(), Vec::<String>::new());
    }
}

#[test]
fn pages_of_the_loop_s_names_that_are_somebody_else_s_are_left_alone() {
    let scene = Scene::of(1, "L2");
    let (notes, data) = ("# Our own notes\n\nNot a log.\n", "{\"ours\": 1}\n");
    scene.repository.write(PROGRESS, notes).write(EVALUATION, data).commit("pages of our own");
    let _ = scene.ends(&Play::well(&["F001"]), 0);
    assert_eq!(scene.at_end(PROGRESS), notes.trim_end());
    assert_eq!(scene.at_end(EVALUATION), data.trim_end());
    let kept = scene.repository.git(&["ls-tree", "--name-only", &scene.branch(), "docs/evaluations/"]);
    assert!(kept.contains("F001-iteration-1"), "{kept}");
}
