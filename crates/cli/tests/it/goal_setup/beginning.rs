//! A run that begins: its branch, a red baseline, what waits for a person, and a second one beside it.

use super::*;
use windlass_test_support::wait_until;

#[test]
fn a_red_baseline_has_an_exit_code_of_its_own_and_asks_no_agent() {
    let place = Place::set_up("F001", "L2");
    place.repository.write("test.sh", "echo boom; exit 1\n").commit("red");
    let red = place.run(&["--yes", "--json"]).exits_with(16);
    let outcome = red.json_lines().pop().unwrap();
    assert_eq!(outcome["status"], "red-baseline");
    assert_eq!(outcome["goal"]["iterations"]["used"], 0);
    let again = place.run(&["--yes"]);
    assert_eq!(again.code, Some(16), "a run that never began is not open: {}", again.stderr);
}

#[test]
fn at_l1_the_run_rests_with_the_change_proposed_and_a_second_one_is_refused() {
    let place = Place::set_up("F001", "L1");
    let before = place.repository.git(&["rev-parse", "HEAD"]);
    let rested = place.build(&[]).exits_with(11).stdout;
    assert_eq!(place.repository.git(&["rev-parse", "HEAD"]), before);
    assert_eq!(place.repository.git(&["status", "--porcelain"]), "", "your checkout stays yours");
    let (run, tree) = place.proposed();
    for words in [
        "F001 — Hello waits for your word on its change".to_owned(),
        format!("next: windlass approve {run} --tree {tree}"),
        format!("next: windlass reject {run}"),
        "branch       goal/f001-1".to_owned(),
    ] {
        assert!(rested.contains(&words), "{words} in {rested}");
    }
    assert_eq!(place.check(&[])["open_run"], run.as_str());
    let second = place.run(&["--yes"]).exits_with(14);
    let why = format!("the goal loop {run} of this repository is open: F001 waits for approval");
    assert_refused(&second, "WL-RUN-002", &[&why, "--another"]);
    let another = place.build(&["--another"]).exits_with(11).stdout;
    assert!(another.contains("goal/f001-2"), "{another}");
}

#[test]
fn a_repository_that_another_run_holds_is_refused_by_name() {
    let place = Place::set_up("F001", "L1");
    let go = place.world.path().join("go");
    let waits = format!("shell:while [ ! -f {} ]; do sleep 0.1; done", go.display());
    let words = ["goal", "run", "--repo", place.repository.text(), "--yes", "--agent", &waits, "--json"];
    let running = place.world.start_windlass(&words);
    wait_until("the builder works", || {
        let runs = place.world.windlass(&["ls", "--json"]).json();
        runs[0]["now"].as_str().is_some_and(|now| now.contains("the builder works")).then_some(())
    });
    let refused = place.run(&["--yes", "--another"]).exits_with(14);
    assert_refused(&refused, "WL-RUN-003", &["held by process", "windlass goal run f001"]);
    std::fs::write(&go, "").unwrap();
    let _ = running.wait().exits_with(11);
}
