//! `windlass stop` from another process: the end of a run, not a pause.

use super::{ONCE, stubborn, stubborn_doer};
use crate::played_run::{PlayedRun, waiting_doer};
use windlass_test_support::wait_until;

#[track_caller]
fn has_stopped(played: &PlayedRun) {
    played.world.assert_no_processes();
    assert_eq!(played.line()["status"], "stopped");
    let summary = std::fs::read_to_string(played.run_dir().join("summary.json")).unwrap();
    let summary: serde_json::Value = serde_json::from_str(&summary).unwrap();
    assert_eq!(summary["final_verdict"], "needs-human", "the original knows no word for it");
    assert_eq!(summary["rounds_completed"], 0);
    let _ = played.about("verify", &[]).exits_with(0);
}

#[test]
fn another_process_can_stop_a_run() {
    let played = PlayedRun::of(&waiting_doer());
    let running = played.start_until_the_doer_works();
    let _ = played.about("stop", &["--reason", "enough"]).exits_with(0);
    let output = running.wait().exits_with(13);
    assert!(output.stdout.contains("enough"), "{}", output.stdout);
    has_stopped(&played);
    assert_eq!(played.world.steps(), ["doer 1 1"]);
}

#[test]
fn an_agent_that_does_not_listen_is_killed_after_its_grace() {
    let played = PlayedRun::of(&stubborn_doer());
    let running = stubborn(&played);
    let _ = played.about("stop", &[]).exits_with(0);
    let _ = running.wait().exits_with(13);
    has_stopped(&played);
}

#[test]
fn a_run_that_nobody_drives_is_stopped_with_its_agent() {
    let played = PlayedRun::interrupted();
    assert!(!played.world.processes().is_empty(), "the agent outlives the engine");
    let _ = played.about("stop", &[]).exits_with(0);
    has_stopped(&played);
    assert_eq!(played.world.steps(), ["doer 1 1"]);
}

#[test]
fn a_run_whose_agent_has_ended_meanwhile_is_stopped_without_another_step() {
    let played = PlayedRun::interrupted();
    played.go();
    wait_until("the agent to end", || played.world.processes().is_empty().then_some(()));
    let _ = played.about("stop", &[]).exits_with(0);
    assert_eq!(played.line()["status"], "stopped");
    assert_eq!(played.world.steps(), ONCE[..1]);
    assert!(played.run_dir().join("summary.json").is_file());
}

#[test]
fn a_run_that_has_ended_is_not_stopped() {
    let played = PlayedRun::accepted();
    let refused = played.about("stop", &[]).exits_with(14);
    assert!(refused.stderr.contains("has ended already"), "{}", refused.stderr);
    assert_eq!(played.line()["status"], "accepted");
}
