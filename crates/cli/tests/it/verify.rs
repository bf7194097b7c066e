//! The record proves itself: whatever is changed in it afterwards is found and named, and what was not changed holds.

mod files;
mod journal;
mod landed;

use crate::played_run::{PlayedRun, waiting_doer};
use windlass_test_support::{Output, Script, When, wait_until};

#[test]
fn an_accepted_run_verifies_and_says_what_was_looked_at() {
    let played = PlayedRun::accepted();
    let plain = played.about("verify", &[]).exits_with(0);
    assert!(plain.stdout.contains("the record holds"), "{}", plain.stdout);
    let json = played.about("verify", &["--json"]).exits_with(0).json();
    assert_eq!(json["run"], played.id().as_str());
    assert_eq!(json["holds"], true);
    assert_eq!(
        looked_at(&json),
        [
            ("the chain of facts".to_owned(), true),
            ("the rules of the loop".to_owned(), true),
            ("the line in the list".to_owned(), true),
            ("sealed artifacts".to_owned(), true),
            ("copies in the run directory".to_owned(), true),
            ("the landed tree".to_owned(), true),
        ]
    );
}

#[test]
fn runs_that_were_not_accepted_verify_too() {
    let rejected = PlayedRun::judged(&["reject"]);
    let _ = rejected.run(&["--rounds", "1"]).exits_with(10);
    holds(&rejected);
    let needs_human = PlayedRun::judged(&["needs-human"]);
    let _ = needs_human.run(&[]).exits_with(11);
    holds(&needs_human);
    let overruled = PlayedRun::judged(&["pass"]);
    let _ = overruled.run(&["--rounds", "1", "--check", "false"]).exits_with(10);
    holds(&overruled);
}

#[test]
fn an_interrupted_run_verifies_before_and_after_it_goes_on() {
    let played = PlayedRun::interrupted();
    assert_eq!(played.line()["status"], "interrupted");
    holds(&played);
    played.go();
    let _ = played.about("resume", &[]).exits_with(0);
    holds(&played);
}

#[test]
fn a_prompt_written_for_a_step_that_never_ended_is_no_damage() {
    let script = Script::new()
        .doer(When::Attempt { round: 1, attempt: 1 }, &["{ write = 'done.txt', text = 'done' }"])
        .doer(When::Attempt { round: 1, attempt: 2 }, &["{ wait_for = 'go' }", "{ handoff = 'now' }"])
        .judge(When::Always, &["{ verdict = 'pass' }"])
        .auditor(When::Always, &["{ audit = 'pass' }"]);
    let played = PlayedRun::of(&script);
    let running = played.start_until_the_doer_works();
    wait_until("the second attempt", || (played.world.steps().len() == 2).then_some(()));
    let _ = running.kill();
    holds(&played);
}

#[test]
fn a_run_taken_up_again_verifies_while_it_goes_on_and_at_its_end() {
    let played = PlayedRun::judged(&["reject", "pass"]);
    let _ = played.run(&["--rounds", "1"]).exits_with(10);
    let _ = played.about("resume", &["--rounds", "+1", "--note", "try again"]).exits_with(0);
    holds(&played);
}

#[test]
fn a_stopped_run_verifies() {
    let played = PlayedRun::of(&waiting_doer());
    let running = played.start_until_the_doer_works();
    let _ = played.about("stop", &[]).exits_with(0);
    let _ = running.wait().exits_with(13);
    holds(&played);
}

#[test]
fn a_run_nobody_knows_is_a_usage_error_not_a_finding() {
    let played = PlayedRun::accepted();
    let output = played.world.windlass(&["verify", "nothing"]).exits_with(2);
    assert!(output.stderr.contains("WL-RUN-001"), "{}", output.stderr);
}

fn looked_at(json: &serde_json::Value) -> Vec<(String, bool)> {
    let check = |check: &serde_json::Value| {
        (check["what"].as_str().unwrap().to_owned(), check["holds"].as_bool().unwrap())
    };
    json["checks"].as_array().unwrap().iter().map(check).collect()
}

#[track_caller]
fn holds(played: &PlayedRun) {
    let _ = played.about("verify", &[]).exits_with(0);
}

/// Fails unless the damage is found; comes back with what was said.
#[track_caller]
fn does_not_hold(played: &PlayedRun, id: &str) -> Output {
    let output = played.world.windlass(&["verify", id]).exits_with(15);
    assert!(output.stdout.contains("the record does NOT hold"), "{}", output.stdout);
    output
}
