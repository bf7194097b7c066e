//! Steps are cut off by their limits, which are told in seconds where minutes are too long.

use crate::played_run::PlayedRun;
use windlass_test_support::{Script, When};

/// A doer that does this for ever in its first round, and gives in in its second.
fn hanging(action: &str) -> PlayedRun {
    let script = Script::that_passes().doer(When::Round(1), &[action]);
    PlayedRun::of(&script)
}

#[test]
fn a_step_that_takes_too_long_is_cut_off_by_the_total_limit() {
    let played = hanging("{ run = ['sh', '-c', 'while :; do echo busy; sleep 0.1; done'] }");
    let output = played.run(&["--step-limit", "2s", "--idle-limit", "1h"]).exits_with(0);
    assert!(output.stderr.contains("the doer ran into its time limit"), "{}", output.stderr);
    assert_eq!(played.world.steps()[..2], ["doer 1 1", "doer 2 1"]);
    played.world.assert_no_processes();
}

#[test]
fn a_step_that_is_silent_too_long_is_cut_off_by_the_idle_limit() {
    let played = hanging("{ run = ['sleep', '3600'] }");
    played.repository.write("windlass.toml", "idle-limit = '1s'\nstep-limit = '1h'\n");
    let output = played.run(&[]).exits_with(0);
    assert!(output.stderr.contains("the doer was silent too long"), "{}", output.stderr);
    played.world.assert_no_processes();
}

#[test]
fn minutes_on_the_command_line_are_stronger_than_a_limit_in_a_file() {
    let played = PlayedRun::of(&Script::that_passes());
    played.repository.write("windlass.toml", "step-limit = '90s'\n");
    let _ = played.run(&["--step-minutes", "5"]).exits_with(0);
    let log = played.about("log", &["--json", "--all"]).exits_with(0).json();
    let started = &log["entries"][0]["fact"].to_string();
    assert!(started.contains("\"step_time\":300000"), "{started}");
}
