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
fn accepted_items_of_an_unmerged_branch_are_not_built_again_unless_that_is_wanted() {
    let place = Place::set_up("F001, F002", "L2");
    let first = place.build(&["--once"]).exits_with(0).stdout;
    assert!(first.contains("goal/f001-f002-1"), "{first}");
    let (run, _) = place.proposed();
    let words =
        format!("goal/f001-f002-1 of the goal loop {run} is not merged and holds accepted items: F001");
    let second = place.build(&[]).exits_with(14);
    assert_refused(&second, "WL-RUN-002", &[&words, "git merge goal/f001-f002-1", "--another"]);
    let looked = place.goal("check", &[]).exits_with(14).stdout;
    assert!(looked.contains(&words), "{looked}");
    assert!(place.build(&["--dry-run"]).exits_with(0).stdout.contains(&words));
    let other = place.build(&["--scope", "F002", "--dry-run"]).exits_with(0).stdout;
    assert!(other.contains("in scope: F002") && !other.contains("not merged"), "{other}");

    place.repository.git(&["merge", "--quiet", "--ff-only", "goal/f001-f002-1"]);
    let merged = place.build(&[]).exits_with(0).stdout;
    assert!(merged.contains("F002") && merged.contains("SUCCESS"), "{merged}");
}

#[test]
fn what_stands_on_an_unmerged_branch_can_be_built_once_more_beside_it() {
    let place = Place::set_up("F001", "L2");
    let _ = place.build(&[]).exits_with(0);
    let _ = place.build(&[]).exits_with(14);
    let beside = place.build(&["--another"]).exits_with(0).stdout;
    assert!(beside.contains("goal/f001-2"), "{beside}");
    // Whose branch is gone has nothing to merge.
    for branch in ["goal/f001-1", "goal/f001-2"] {
        place.repository.git(&["branch", "--quiet", "-D", branch]);
    }
    let _ = place.build(&[]).exits_with(0);
}

#[test]
fn whoever_builds_and_grades_alike_is_told_of_at_the_start_and_by_check() {
    let place = Place::set_up("F001", "L1");
    let words = "`claude` builds and grades: no other model looks at what it made";
    let told = place.goal("run", &["--dry-run", "--agent", "claude"]).exits_with(0).stderr;
    assert_eq!(told.matches(words).count(), 1, "{told}");
    let other = place.goal("run", &["--dry-run", "--agent", "claude", "--evaluator", "codex"]).exits_with(0);
    assert!(!other.stderr.contains("builds and grades"), "{}", other.stderr);
    place.repository.write("windlass.toml", "[goal]\nbuilder = \"claude\"\nevaluator = \"claude\"\n");
    let looked = place.goal("check", &[]).stdout;
    assert_eq!(looked.matches(words).count(), 1, "{looked}");
}

#[test]
fn a_builder_that_is_not_there_is_not_called_a_planner() {
    let place = Place::set_up("F001", "L1");
    let words = ["--yes", "--builder", "command:/nope", "--evaluator", "shell:true"];
    let refused = place.goal("run", &words).exits_with(2);
    assert_refused(&refused, "WL-AGENT-001", &["the builder is `command:/nope`"]);
    place.assert_nothing_begun();
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
