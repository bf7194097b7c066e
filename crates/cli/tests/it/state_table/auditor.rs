//! The rows that begin with the auditor.

use super::{doer_prompt, working_doer};
use crate::scene::Scene;
use windlass_test_support::{Script, When};

const REPAIRED: [&str; 4] = ["doer 1 1", "judge 1 1", "auditor 1 1", "auditor 1 2"];

fn audited_by(actions: &[&str]) -> Script {
    working_doer().judge(When::Always, &["{ verdict = 'pass' }"]).auditor(When::Always, actions)
}

#[test]
fn audit_exit_other_than_0_is_tried_again_and_then_waits_for_a_person() {
    let scene = Scene::new();
    let played = scene.play(&audited_by(&["{ audit = 'pass' }", "{ exit = 9 }"]), &[]).exits_with(11);
    assert_eq!(played.words().split(' ').next(), Some("needs-human"));
    assert_eq!(scene.world.steps()[2..], ["auditor 1 1", "auditor 1 2", "auditor 1 3"]);
    scene.assert_nothing_landed();
}

#[test]
fn audit_bad_json_is_asked_for_once_more_and_then_waits_for_a_person() {
    let scene = Scene::new();
    let script = audited_by(&["{ artifact = 'audit.json', text = '{\"gate\": \"pass\"' }"]);
    let played = scene.play(&script, &[]).exits_with(11);
    assert_eq!(played.words(), "needs-human pass needs-human 1");
    assert_eq!(scene.world.steps(), REPAIRED);
    scene.assert_nothing_landed();
}

#[test]
fn audit_without_a_file_counts_as_needs_human_with_the_fallback_written() {
    let scene = Scene::new();
    let played = scene.play(&audited_by(&[]), &[]).exits_with(11);
    assert_eq!(played.words(), "needs-human pass needs-human 1");
    let audit = played.artifact(1, "audit.json");
    assert_eq!(audit["gate"], "needs-human");
    assert_eq!(audit["risk"]["level"], "high");
    assert_eq!(audit["findings"][0]["category"], "orchestrator");
    assert_eq!(audit["policy"]["artifact_integrity"], "unknown");
    assert_eq!(audit["traceability"]["task_id_match"], "unknown");
    assert_eq!(audit["traceability"]["issues"].as_array().unwrap().len(), 1);
    assert_eq!(audit["required_actions"].as_array().unwrap().len(), 1);
}

#[test]
fn audit_without_a_gate_counts_as_needs_human() {
    let scene = Scene::new();
    let played = scene.play(&audited_by(&["{ audit = 'pass', without = ['gate'] }"]), &[]).exits_with(11);
    assert_eq!(played.words(), "needs-human pass needs-human 1");
}

#[test]
fn audit_pass_ends_in_pass() {
    let scene = Scene::new();
    let played = scene.play(&audited_by(&["{ audit = 'pass' }"]), &[]).exits_with(0);
    assert_eq!(played.words(), "pass pass pass 1");
    assert_eq!(scene.landed_changes(), ["A\tdone-1.txt"]);
}

#[test]
fn audit_fail_with_rounds_left_goes_to_the_next_doer_with_the_feedback() {
    let scene = Scene::new();
    let no = "{ audit = { gate = 'fail', findings = [{ category = 'policy', details = 'no licence' }], \
              required_actions = ['add a licence'] } }";
    let script = audited_by(&["{ audit = 'pass' }"]).auditor(When::Round(1), &[no]);
    let played = scene.play(&script, &["--rounds", "2"]).exits_with(0);
    assert_eq!(played.words(), "pass pass pass 2");
    let prompt = doer_prompt(&played, 2);
    assert!(prompt.contains("- [policy] no licence\n- add a licence"), "{prompt}");
}

#[test]
fn audit_fail_in_the_last_round_ends_in_reject() {
    let scene = Scene::new();
    let played = scene.play(&audited_by(&["{ audit = 'fail' }"]), &["--rounds", "1"]).exits_with(10);
    assert_eq!(played.words(), "reject pass fail 1");
    scene.assert_nothing_landed();
}

#[test]
fn audit_needs_human_stops_the_loop_while_rounds_are_left() {
    let scene = Scene::new();
    let played = scene.play(&audited_by(&["{ audit = 'needs-human' }"]), &["--rounds", "3"]).exits_with(11);
    assert_eq!(played.words(), "needs-human pass needs-human 1");
    assert_eq!(scene.world.steps(), ["doer 1 1", "judge 1 1", "auditor 1 1"]);
}

#[test]
fn audit_anything_else_is_no_gate() {
    let scene = Scene::new();
    let played = scene.play(&audited_by(&["{ audit = { gate = 'ok' } }"]), &["--rounds", "3"]).exits_with(11);
    assert_eq!(played.words(), "needs-human pass needs-human 1");
    scene.assert_nothing_landed();
}

#[test]
fn audit_needs_human_goes_on_when_the_original_s_way_is_asked_for() {
    let scene = Scene::new();
    let script = audited_by(&["{ audit = 'pass' }"]).auditor(When::Round(1), &["{ audit = 'needs-human' }"]);
    let flags = ["--rounds", "2", "--on-needs-human", "continue"];
    let played = scene.play(&script, &flags).exits_with(0);
    assert_eq!(played.words(), "pass pass pass 2");
}
