//! Which item comes next: what is claimed, what waits, what is put aside, what was to be mended.

use super::scene::{CONTRACT, Play, Scene, assert_because, contract, item, queue, with, write};
use serde_json::json;

fn called(id: &str, status: &str) -> serde_json::Value {
    with(item(id), json!({ "status": status }))
}

/// W3: what a file calls complete counts when it was checked, and not before.
#[test]
fn what_is_called_complete_is_checked_first_and_a_pass_is_enough() {
    let scene = Scene::set_up(&[item("F001"), called("F002", "complete")], "L2");
    scene.repository.write("f002.txt", "F002 is done\n").commit("as if it were");
    let play = Play::default().passes(1, "F002").builds(2, "F001").passes(2, "F001");
    let ended = scene.ends(&play, 0);
    assert_eq!(scene.world.steps(), ["evaluator 1 1", "builder 2 1", "evaluator 2 1"]);
    assert_eq!(ended["goal"]["iterations_done"][0]["work"], "recheck");
    assert_eq!(ended["goal"]["commits"].as_array().unwrap().len(), 1, "nothing was built for it");
    let log = scene.at_end("docs/loop-run-log.md");
    let block = "- **Action**: recheck → accept\n- **Evaluator verdict**: PASS\n- **Tests**: 1/1\n- **Commit**: (none)";
    assert!(log.contains(block), "{log}");
    scene.assert_sound();
}

#[test]
fn what_is_called_complete_and_is_not_becomes_rework() {
    let scene = Scene::set_up(&[called("F001", "complete")], "L2");
    let play = Play::default()
        .fails(1, "F001", ["criterion", "f001.txt", "there is no such file"])
        .builds(2, "F001")
        .passes(2, "F001");
    let ended = scene.ends(&play, 0);
    assert_eq!(ended["goal"]["iterations_done"][0]["result"], "rework");
    assert!(scene.prompt("builder-2-1").contains("there is no such file"));
    assert_eq!(scene.at_end("f001.txt"), "F001 is done");
    scene.assert_sound();
}

#[test]
fn history_is_let_be_when_asked_and_what_a_loop_passed_needs_no_second_look() {
    let scene = Scene::set_up(&[item("F001"), called("F002", "complete")], "L2");
    let _ = scene.run(&Play::well(&["F001"]), &["--trust-complete"]).exits_with(0);
    assert_eq!(scene.world.steps(), ["builder 1 1", "evaluator 1 1"]);
    scene.repository.git(&["merge", "-q", &scene.branch()]);
    let again = scene.ends(&Play::default().passes(1, "F002"), 0);
    assert_eq!(again["goal"]["iterations_done"][0]["item"], "F002", "F001 has its PASS in the run log");
    assert_eq!(again["goal"]["iterations"]["used"], 1);
}

#[test]
fn rework_comes_first_then_priority_then_the_order_of_the_file() {
    let items = [
        with(item("F001"), json!({ "priority": 2 })),
        with(item("F002"), json!({ "priority": 1.5 })),
        with(item("F003"), json!({ "priority": 9, "status": "needs-rework" })),
        with(item("F004"), json!({ "priority": 1.5 })),
    ];
    let scene = Scene::set_up(&items, "L2");
    let _ = scene.ends(&Play::well(&["F003", "F002", "F004", "F001"]), 0);
    let subjects = scene.subjects();
    let order: Vec<&str> = subjects.iter().map(|subject| &subject[..10]).collect();
    assert_eq!(order, ["feat(F003)", "feat(F002)", "feat(F004)", "feat(F001)", "chore(loop"]);
    scene.assert_sound();
}

/// W13: one item that waits does not stop the others.
#[test]
fn an_item_that_waits_is_passed_over_until_its_dependency_is_accepted() {
    let waits = with(item("F001"), json!({ "dependencies": ["F002"] }));
    let scene = Scene::set_up(&[waits, item("F002")], "L2");
    let ended = scene.ends(&Play::well(&["F002", "F001"]), 0);
    assert_eq!(ended["goal"]["outcome"], "SUCCESS");
    scene.assert_sound();
}

/// W10: nothing selectable is no success while something in scope is left.
#[test]
fn a_blocked_dependency_escalates_when_nothing_else_is_ready() {
    let waits = with(item("F001"), json!({ "dependencies": ["F002"] }));
    let scene = Scene::set_up(&[waits, called("F002", "blocked"), item("F003")], "L2");
    let ended = scene.ends(&Play::well(&["F003"]), 11);
    assert_eq!(ended["goal"]["outcome"], "ESCALATED");
    assert_because(&ended, "nothing is ready: F001: a dependency is not accepted; F002: it is blocked");
    assert_eq!(ended["goal"]["commits"].as_array().unwrap().len(), 1, "what was ready is built");
    let contract = scene.at_end(CONTRACT);
    assert!(contract.contains("- F001 — Item F001 · cause: a dependency is not accepted"), "{contract}");
    assert!(contract.contains("- F002 — Item F002 · cause: it is blocked"), "{contract}");
    scene.assert_sound();
}

#[test]
fn cancelled_and_existing_items_are_nobody_s_work() {
    let needs = with(item("F001"), json!({ "dependencies": ["E001"] }));
    let there = with(item("E001"), json!({ "status": "existing", "priority": 0 }));
    let list = queue(&[needs, there, called("F002", "cancelled")]);
    let scene = Scene::with_contract(&list, &contract("F001, F002", "L2"));
    let ended = scene.ends(&Play::well(&["F001"]), 0);
    assert_eq!(ended["goal"]["iterations"]["used"], 1);
    assert_eq!(
        (scene.item_status("E001"), scene.item_status("F002")),
        ("existing".into(), "cancelled".into())
    );
    scene.assert_sound();
}

#[test]
fn commits_are_named_after_the_kind_of_their_item() {
    let scene = Scene::set_up(&[item("B001"), item("R002"), item("F003")], "L2");
    let _ = scene.ends(&Play::well(&["B001", "R002", "F003"]), 0);
    let subjects = scene.subjects();
    for (subject, kind) in subjects.iter().zip(["fix(B001): ", "refactor(R002): ", "feat(F003): "]) {
        assert!(subject.starts_with(kind), "{subject}");
    }
}

/// One item fails twice for one cause; whether the other is built is for the contract to say.
fn one_hopeless(play: Play) -> Play {
    let cause = ["criterion", "f001.txt", "cannot be tested"];
    play.builds(1, "F001")
        .fails(1, "F001", cause)
        .builder(2, &[&write("f001.txt", "done again\n")])
        .fails(2, "F001", cause)
        .builds(3, "F002")
        .passes(3, "F002")
}

#[test]
fn an_item_that_fails_stops_the_loop_by_default() {
    let scene = Scene::of(2, "L2");
    let ended = scene.ends(&one_hopeless(Play::default()), 11);
    assert_eq!(ended["goal"]["iterations"]["used"], 2);
    assert_eq!(scene.item_status("F002"), "not-started");
    scene.assert_sound();
}

#[test]
fn an_item_that_fails_is_parked_when_the_contract_says_so_and_the_others_are_built() {
    let parks = contract("F001, F002", "L2")
        .replace("- The loop is in doubt", "- The loop is in doubt\n- Park blocked items and go on");
    let scene = Scene::with_contract(&queue(&[item("F001"), item("F002")]), &parks);
    let ended = scene.ends(&one_hopeless(Play::default()), 11);
    assert_eq!(ended["goal"]["outcome"], "ESCALATED", "what is parked is not done");
    assert_eq!((scene.item_status("F001"), scene.item_status("F002")), ("blocked".into(), "complete".into()));
    assert!(!scene.repository.git_succeeds(&["cat-file", "-e", &format!("{}:f001.txt", scene.branch())]));
    let contract = scene.at_end(CONTRACT);
    assert_eq!(contract.matches("- F001 — Item F001 · cause: F001 failed twice").count(), 1, "{contract}");
    assert!(!contract.contains("(empty)"), "{contract}");
    scene.assert_sound();
}
