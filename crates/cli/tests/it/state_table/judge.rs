//! The rows that begin with the judge.

use super::{doer_prompt, working_doer};
use crate::scene::Scene;
use windlass_test_support::{Script, When};

const REPAIRED: [&str; 3] = ["doer 1 1", "judge 1 1", "judge 1 2"];

/// A judge that answers this way, and an auditor that would let everything through.
fn judged_by(actions: &[&str]) -> Script {
    working_doer().judge(When::Always, actions).auditor(When::Always, &["{ audit = 'pass' }"])
}

#[test]
fn judge_exit_other_than_0_is_tried_again_and_then_waits_for_a_person() {
    let scene = Scene::new();
    let played = scene.play(&judged_by(&["{ verdict = 'pass' }", "{ exit = 3 }"]), &[]).exits_with(11);
    assert_eq!(played.words().split(' ').next(), Some("needs-human"));
    assert_eq!(scene.world.steps(), ["doer 1 1", "judge 1 1", "judge 1 2", "judge 1 3"]);
    assert_eq!(played.artifact(1, "verdict.json")["verdict"], "needs-human");
    scene.assert_nothing_landed();
}

#[test]
fn judge_that_fails_once_and_then_speaks_is_heard() {
    let scene = Scene::new();
    let script = judged_by(&["{ verdict = 'pass' }"])
        .judge(When::Attempt { round: 1, attempt: 1 }, &["{ crash = 'KILL' }"]);
    let played = scene.play(&script, &[]).exits_with(0);
    assert_eq!(played.words(), "pass pass pass 1");
    assert_eq!(scene.world.steps(), ["doer 1 1", "judge 1 1", "judge 1 2", "auditor 1 1"]);
}

#[test]
fn judge_without_a_verdict_counts_as_needs_human_with_the_fallback_written() {
    let scene = Scene::new();
    let played = scene.play(&judged_by(&["{ say = 'looks fine to me' }"]), &[]).exits_with(11);
    assert_eq!(played.words(), "needs-human needs-human not-run 1");
    assert_eq!(scene.world.steps(), REPAIRED);
    let verdict = played.artifact(1, "verdict.json");
    assert_eq!(verdict["verdict"], "needs-human");
    assert_eq!(verdict["reasons"].as_array().unwrap().len(), 1);
    assert_eq!(verdict["reasons"][0]["check"], "orchestrator");
    assert_eq!(verdict["required_changes"].as_array().unwrap().len(), 1);
    assert_eq!(verdict["suggested_tests"].as_array().unwrap().len(), 0);
}

#[test]
fn judge_whose_file_is_not_json_is_asked_once_more_and_then_waits_for_a_person() {
    for text in ["pass", "[]", "{ \"verdict\": \"pass\", \"reasons\": [\"fine\"] }"] {
        let scene = Scene::new();
        let action = format!("{{ artifact = 'verdict.json', text = '{text}' }}");
        let played = scene.play(&judged_by(&[&action]), &[]).exits_with(11);
        assert_eq!(played.words(), "needs-human needs-human not-run 1", "{text}");
        assert_eq!(scene.world.steps(), REPAIRED, "{text}");
    }
}

#[test]
fn judge_whose_file_is_mended_on_request_is_heard() {
    let scene = Scene::new();
    let script = judged_by(&["{ verdict = 'pass' }"])
        .judge(When::Attempt { round: 1, attempt: 1 }, &["{ artifact = 'verdict.json', text = 'pass' }"]);
    let played = scene.play(&script, &[]).exits_with(0);
    assert_eq!(played.words(), "pass pass pass 1");
    assert!(played.text(1, "judge.prompt.md").contains("not valid JSON"));
}

#[test]
fn judge_whose_verdict_is_absent_or_no_string_counts_as_needs_human() {
    for action in ["{ verdict = 'pass', without = ['verdict'] }", "{ verdict = { verdict = 1 } }"] {
        let scene = Scene::new();
        let played = scene.play(&judged_by(&[action]), &[]).exits_with(11);
        assert_eq!(played.words(), "needs-human needs-human not-run 1", "{action}");
    }
}

#[test]
fn judge_pass_with_the_audit_off_ends_in_pass() {
    let scene = Scene::new();
    let played = scene.play(&judged_by(&["{ verdict = 'pass' }"]), &["--no-audit"]).exits_with(0);
    assert_eq!(played.words(), "pass pass not-run 1");
    assert_eq!(played.summary()["audit_enabled"], false);
    assert_eq!(scene.world.steps(), ["doer 1 1", "judge 1 1"]);
    assert!(!played.has(1, "audit.prompt.md"));
}

#[test]
fn judge_pass_with_the_audit_on_goes_to_the_auditor() {
    let scene = Scene::new();
    let played = scene.play(&judged_by(&["{ verdict = 'pass' }"]), &[]).exits_with(0);
    assert_eq!(played.words(), "pass pass pass 1");
    assert_eq!(scene.world.steps(), ["doer 1 1", "judge 1 1", "auditor 1 1"]);
}

#[test]
fn judge_reject_with_rounds_left_goes_to_the_next_doer_with_the_feedback() {
    let scene = Scene::new();
    let no = "{ verdict = { verdict = 'reject', reasons = [{ check = 'unit', details = 'too short' }], \
              required_changes = ['make it longer'] } }";
    let script = judged_by(&["{ verdict = 'pass' }"]).judge(When::Round(1), &[no]);
    let played = scene.play(&script, &["--rounds", "2"]).exits_with(0);
    assert_eq!(played.words(), "pass pass pass 2");
    let prompt = doer_prompt(&played, 2);
    assert!(prompt.contains("- [unit] too short\n- make it longer"), "{prompt}");
    assert!(!played.has(1, "audit.json"));
}

#[test]
fn judge_reject_in_the_last_round_ends_in_reject() {
    let scene = Scene::new();
    let played = scene.play(&judged_by(&["{ verdict = 'reject' }"]), &["--rounds", "2"]).exits_with(10);
    assert_eq!(played.words(), "reject reject not-run 2");
    assert_eq!(scene.world.steps(), ["doer 1 1", "judge 1 1", "doer 2 1", "judge 2 1"]);
}

#[test]
fn judge_any_other_string_is_no_verdict() {
    let scene = Scene::new();
    let script = judged_by(&["{ verdict = { verdict = 'PASS' } }"]);
    let played = scene.play(&script, &["--rounds", "2"]).exits_with(11);
    assert_eq!(played.words(), "needs-human needs-human not-run 1");
}

#[test]
fn judge_needs_human_stops_the_loop_while_rounds_are_left() {
    let scene = Scene::new();
    let script = judged_by(&["{ verdict = 'needs-human' }"]);
    let played = scene.play(&script, &["--rounds", "3"]).exits_with(11);
    assert_eq!(played.words(), "needs-human needs-human not-run 1");
    assert_eq!(scene.world.steps(), ["doer 1 1", "judge 1 1"]);
}

#[test]
fn judge_needs_human_goes_on_when_the_original_s_way_is_asked_for() {
    let scene = Scene::new();
    let script = judged_by(&["{ verdict = 'pass' }"]).judge(When::Round(1), &["{ verdict = 'needs-human' }"]);
    let flags = ["--rounds", "2", "--on-needs-human", "continue"];
    let played = scene.play(&script, &flags).exits_with(0);
    assert_eq!(played.words(), "pass pass pass 2");
}
