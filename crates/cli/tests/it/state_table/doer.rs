//! The rows that begin with the doer.

use super::doer_prompt;
use crate::scene::Scene;
use windlass_test_support::{Script, When};

fn accepting() -> Script {
    Script::new()
        .judge(When::Always, &["{ verdict = 'pass' }"])
        .auditor(When::Always, &["{ audit = 'pass' }"])
}

const DELIVERS: [&str; 2] = ["{ write = 'done.txt', text = 'done' }", "{ handoff = 'adds done.txt' }"];

#[test]
fn doer_exit_other_than_0_is_a_rejected_round_and_the_next_one_is_told() {
    let scene = Scene::new();
    let script = accepting()
        .doer(When::Round(1), &["{ write = 'half.txt', text = 'half' }", "{ handoff = 'x' }", "{ exit = 7 }"])
        .doer(When::Round(2), &DELIVERS);
    let played = scene.play(&script, &["--rounds", "2"]).exits_with(0);
    assert_eq!(played.words(), "pass pass pass 2");
    assert!(
        doer_prompt(&played, 2).contains("- [doer] the doer exited with 7"),
        "{}",
        doer_prompt(&played, 2)
    );
    // What it did before it failed stays in its tree.
    assert_eq!(scene.landed_changes(), ["A\tdone.txt", "A\thalf.txt"]);
}

#[test]
fn doer_exit_other_than_0_in_the_last_round_ends_with_a_summary() {
    let scene = Scene::new();
    let script = accepting().doer(When::Always, &["{ exit = 1 }"]);
    let played = scene.play(&script, &["--rounds", "1"]).exits_with(10);
    assert_eq!(played.words(), "reject not-run not-run 1");
    assert_eq!(scene.world.steps(), ["doer 1 1"]);
}

#[test]
fn doer_that_fails_again_and_again_waits_for_a_person() {
    let scene = Scene::new();
    let script = accepting().doer(When::Always, &["{ crash = 'SEGV' }"]);
    let played = scene.play(&script, &["--rounds", "9"]).exits_with(11);
    assert_eq!(played.summary()["final_verdict"], "needs-human");
    assert!(scene.world.steps().len() < 9, "{:?}", scene.world.steps());
}

#[test]
fn doer_without_a_change_does_not_abort() {
    let scene = Scene::new();
    let script = accepting().doer(When::Always, &["{ handoff = 'nothing' }"]);
    let played = scene.play(&script, &["--rounds", "1"]).exits_with(10);
    assert_eq!(played.words(), "reject not-run not-run 1");
    // The engine writes the patch, so it is there, and it is empty.
    assert_eq!(played.text(1, "patch.diff"), "");
}

#[test]
fn doer_without_a_handoff_is_asked_once_more() {
    let scene = Scene::new();
    let script = accepting()
        .doer(When::Attempt { round: 1, attempt: 1 }, &["{ write = 'done.txt', text = 'done' }"])
        .doer(When::Attempt { round: 1, attempt: 2 }, &["{ handoff = 'adds done.txt' }"]);
    let played = scene.play(&script, &["--rounds", "1"]).exits_with(0);
    assert_eq!(scene.world.steps(), ["doer 1 1", "doer 1 2", "judge 1 1", "auditor 1 1"]);
    assert!(doer_prompt(&played, 1).contains("handoff.json was not left in the outbox"));
}

#[test]
fn doer_without_a_handoff_also_when_asked_again_is_a_rejected_round() {
    let scene = Scene::new();
    let script = accepting().doer(When::Always, &["{ write = 'done.txt', text = 'done' }"]);
    let played = scene.play(&script, &["--rounds", "1"]).exits_with(10);
    assert_eq!(played.words(), "reject not-run not-run 1");
    assert_eq!(scene.world.steps(), ["doer 1 1", "doer 1 2"]);
    assert!(played.explained().contains("handoff"), "{}", played.explained());
    scene.assert_nothing_landed();
}

#[test]
fn doer_with_both_goes_to_the_judge() {
    let scene = Scene::new();
    let script = accepting().doer(When::Always, &DELIVERS);
    let played = scene.play(&script, &[]).exits_with(0);
    assert_eq!(scene.world.steps(), ["doer 1 1", "judge 1 1", "auditor 1 1"]);
    assert_eq!(played.artifact(1, "handoff.json")["summary"], "adds done.txt");
    assert!(played.text(1, "patch.diff").contains("+done"));
}
