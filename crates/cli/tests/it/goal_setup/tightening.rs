//! Flags and settings only take away from the contract; what would add to it is refused by name.

use super::*;

#[test]
fn whatever_would_widen_the_contract_is_refused_by_name() {
    let place = Place::set_up("F001, F002", "L2");
    place.repository.write(BUDGET, "# Loop Budget\n\n| Control | Cap | Used |\n|---|---|---|\n| Iterations | 4 | 0 |\n| Cost | 1.00 | 0 |\n");
    place.repository.commit("a budget");
    for (flags, words) in [
        (
            &["--scope", "F001, F003"][..],
            "scope F001, F003 (argument) would widen the contract: docs/LOOP.md does not include F003",
        ),
        (&["--scope", "all F"], "does not include F003"),
        (&["--autonomy", "L3"], "autonomy L3 (argument) would widen the contract: docs/LOOP.md says L2"),
        (
            &["--budget", "iterations=5"],
            "iterations 5 (argument) would widen the contract: docs/loop-budget.md allows 4",
        ),
        (&["--max-commits", "16"], "docs/loop-budget.md allows 15"),
        (&["--budget", "rework=3"], "docs/loop-budget.md allows 2"),
        (&["--max-minutes", "61"], "docs/loop-budget.md allows 60"),
        (&["--max-cost", "1.01"], "cost 1.01 (argument) would widen the contract"),
    ] {
        let refused = place.run(&[&["--yes"], flags].concat()).exits_with(2);
        assert_refused(&refused, "WL-GOAL-003", &[words, "edit docs/"]);
        let looked = place.goal("check", flags).exits_with(2).stdout;
        assert!(looked.contains(words), "goal check says the same: {words} in {looked}");
    }
    place.assert_nothing_begun();
}

#[test]
fn check_shows_the_caps_that_a_run_with_these_flags_and_settings_would_have() {
    let place = Place::set_up("F001, F002", "L2");
    place.repository.write("windlass.toml", "max-tokens = 9000\n[goal]\nrework = 1\n").commit("settings");
    let flags = ["--max-iterations", "3", "--max-commits", "2", "--max-minutes", "20", "--max-cost", "1.50"];
    let shown = place.goal("check", &flags).stdout;
    let caps = "iterations 3, commits 2, rework per item 1, minutes 20, tokens 9000, cost 1.50";
    assert!(shown.contains(caps), "{caps} in {shown}");
    let fewer = place.goal("check", &["--max-tokens", "500"]).stdout;
    assert!(fewer.contains("tokens 500"), "{fewer}");
}

#[test]
fn a_scope_that_names_nothing_is_a_mistake_and_no_tightening() {
    let place = Place::set_up("F001, F002", "L2");
    for nothing in ["", " "] {
        let refused = place.run(&["--yes", "--scope", nothing]).exits_with(2);
        assert_refused(&refused, "WL-USAGE-001", &["the scope (argument) names no item"]);
        assert!(place.goal("check", &["--scope", nothing]).exits_with(2).stdout.contains("names no item"));
    }
    for scope in ["F009", "all B", "F001, R001", "everything"] {
        let refused = place.run(&["--yes", "--scope", scope]).exits_with(2);
        assert_refused(&refused, "WL-USAGE-001", &[&format!("the scope `{scope}`")]);
    }
}

#[test]
fn what_takes_away_is_taken_from_flags_and_from_the_settings_file() {
    let place = Place::set_up("F001-F003", "L2");
    place.repository.write(
        "windlass.toml",
        "[goal]\nscope = \"F001, F002\"\nautonomy = \"L1\"\niterations = 3\npre-commit = [\"sh lint.sh\"]\nbuilder = \"shell:true\"\n",
    );
    place.repository.commit("settings");
    let from_file = place.goal("run", &["--dry-run", "--evaluator", "shell:true"]).exits_with(0).stdout;
    for words in ["in scope: F001, F002\n", "autonomy: L1", "pre-commit: `sh lint.sh`", "builder: shell:true"]
    {
        assert!(from_file.contains(words), "{words} in {from_file}");
    }
    let by_flag = place.run(&["--dry-run", "--scope", "F002"]).exits_with(0).stdout;
    assert!(by_flag.contains("in scope: F002\n"), "{by_flag}");
    let wide = place.run(&["--dry-run", "--autonomy", "L3"]).exits_with(2);
    assert_refused(&wide, "WL-GOAL-003", &["says L2"]);
    place.repository.write("windlass.toml", "[goal]\nscop = \"F001\"\n").commit("a slip");
    let slip = place.run(&["--dry-run"]).exits_with(2);
    assert_refused(&slip, "WL-SETTINGS-001", &["goal.scop", "goal.scope"]);
}

#[test]
fn another_test_command_than_the_contracts_is_told() {
    let place = Place::set_up("F001", "L1");
    let dry = place.run(&["--dry-run", "--test-cmd", "true"]).exits_with(0);
    assert!(
        dry.stderr.contains("run with `true` (argument), not with the contract's `sh test.sh`"),
        "{}",
        dry.stderr
    );
    assert!(dry.stdout.contains("tests: `true` (argument)"), "{}", dry.stdout);
}
