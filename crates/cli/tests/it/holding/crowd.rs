//! Twenty starts in the same second: names are told apart by the second, so this is where they could clash.

use crate::played_run::{PlayedRun, TASK, waiting_doer};
use std::collections::BTreeSet;
use windlass_test_support::{Background, Script, When, wait_until};

const CROWD: usize = 20;

fn start_all(played: &PlayedRun, more: &[&str]) -> Vec<Background> {
    let words =
        ["run", "Add a file", "--id", TASK, "--repo", played.repository.text(), "--agent", &played.agent];
    let words = [&words, more].concat();
    (0..CROWD).map(|_| played.world.start_windlass(&words)).collect()
}

#[test]
fn one_of_twenty_runs_and_the_others_are_refused() {
    let played = PlayedRun::of(&waiting_doer());
    let mut all = start_all(&played, &[]);
    // The one that runs waits for us, so the others have nobody to come after.
    wait_until("all but one to end", || {
        let alive = all.iter().filter(|started| started.is_alive()).count();
        (alive <= 1 && !played.world.steps().is_empty()).then_some(())
    });
    played.go();
    let mut accepted = 0;
    for started in all.drain(..) {
        let output = started.wait();
        match output.code {
            Some(0) => accepted += 1,
            _ => drop(output.exits_with(14)),
        }
    }
    assert_eq!(accepted, 1);
    assert_eq!(played.world.steps(), ["doer 1 1", "judge 1 1", "auditor 1 1"]);
    let runs = played.world.windlass(&["ls", "--json"]).exits_with(0).json();
    assert_eq!(runs.as_array().unwrap().len(), 1);
}

#[test]
fn twenty_that_wait_all_complete_each_in_its_own_place() {
    let script = Script::new()
        .doer(When::Always, &["{ write = 'done.txt', text = 'done' }", "{ handoff = 'adds done.txt' }"])
        .judge(When::Always, &["{ verdict = 'pass' }"]);
    let played = PlayedRun::of(&script);
    let before = played.repository.record();
    for started in start_all(&played, &["--wait", "--no-audit"]) {
        let _ = started.wait().exits_with(0);
    }
    let runs = played.world.windlass(&["ls", "--json"]).exits_with(0).json();
    let values = |key: &str| -> BTreeSet<String> {
        runs.as_array().unwrap().iter().map(|run| run[key].to_string()).collect()
    };
    assert_eq!(values("run").len(), CROWD);
    assert_eq!(values("run_dir").len(), CROWD);
    assert_eq!(values("status"), BTreeSet::from(["\"accepted\"".to_owned()]));
    let branches = |pattern: &str| {
        let names = played.repository.git(&["for-each-ref", "--format=%(refname)", pattern]);
        names.lines().count()
    };
    assert_eq!(branches("refs/heads/windlass/*"), CROWD);
    assert_eq!(branches("refs/heads/codex/*"), 2 * CROWD);
    assert_eq!(played.world.steps().len(), 2 * CROWD);
    before.assert_holds(&played.repository);
    played.world.assert_no_processes();
}
