//! A run that begins: its branch, a red baseline, what waits for a person, and a second one beside it.

use super::*;

/// Builds the item's file and reports; as the evaluator it passes.
const BUILDS_AND_PASSES: &str = r#"shell:case "$WINDLASS_ROLE" in
builder) echo hello > hello.txt; printf '## Built\n\nSays hello\n\n## Files\n\n- hello.txt\n\n## Tests\n\nnone\n\n## Issues\n\nnone\n' > "$WINDLASS_OUTBOX/report.md" ;;
*) printf '{"item_id":"F001","scores":{"completeness":{"score":5,"reason":"all"},"correctness":{"score":5,"reason":"all"},"code_quality":{"score":5,"reason":"all"},"test_coverage":{"score":5,"reason":"all"},"architecture_fit":{"score":5,"reason":"all"}},"verdict":"PASS","cause":{"category":"none","location":"","text":""},"issues":[],"fix":""}' > "$WINDLASS_OUTBOX/evaluation.json" ;;
esac"#;

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
    let words = ["run", "--repo", place.repository.text(), "--agent", BUILDS_AND_PASSES, "--yes"];
    let rested = place.world.windlass(&[&["goal"], &words[..]].concat()).exits_with(11).stdout;
    assert_eq!(place.repository.git(&["rev-parse", "HEAD"]), before);
    assert_eq!(place.repository.git(&["status", "--porcelain"]), "", "your checkout stays yours");
    let status = place.goal("status", &["--json"]).exits_with(0).json();
    let run = status["run"].as_str().unwrap();
    let tree = status["report"]["proposed"]["tree"].as_str().unwrap();
    assert_eq!(status["report"]["branch"], "goal/f001-1");
    for words in [
        "F001 — Hello waits for your word on its change".to_owned(),
        format!("next: windlass approve {run} --tree {tree}"),
        format!("next: windlass reject {run}"),
        "proposed".to_owned(),
    ] {
        assert!(rested.contains(&words), "{words} in {rested}");
    }
    assert_eq!(place.check(&[])["open_run"], *run);
    let second = place.run(&["--yes"]).exits_with(14);
    assert_refused(
        &second,
        "WL-RUN-002",
        &[&format!("the goal loop {run} of this repository is open: F001 waits for approval"), "--another"],
    );
    let another =
        place.world.windlass(&[&["goal"], &words[..], &["--another"]].concat()).exits_with(11).stdout;
    assert!(another.contains("goal/f001-2"), "{another}");
}
