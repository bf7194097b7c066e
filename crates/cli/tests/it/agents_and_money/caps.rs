//! Caps on tokens and money: of a step, a run, a day and a repository. Whoever passes one is ended in the middle of its turn.

use super::{Stage, doer_that, uses};

/// Reports these two amounts and then never ends by itself.
fn doer_that_goes_on(first: &str, second: &str) -> windlass_test_support::Script {
    doer_that(&[uses(first), uses(second), "{ hang = 'quiet' }".into()])
}

#[test]
fn a_run_that_passes_its_tokens_is_ended_in_the_middle_of_the_turn() {
    let stage = Stage::new();
    let script = doer_that_goes_on(r#""input":500,"output":100"#, r#""input":500,"output":100"#);
    let agent = stage.world.agent("doer.toml", &script);
    let outcome = stage.outcome(12, &["--agent", &agent, "--max-tokens", "1000"]);
    assert_eq!(outcome["status"], "exhausted");
    // No more than what it had told when it was ended.
    assert_eq!(outcome["spent"]["tokens"], 1200);
    assert_eq!(stage.world.steps(), ["doer 1 1"]);
    stage.world.assert_no_processes();
}

#[test]
fn a_run_that_passes_its_money_is_ended_whoever_tells_the_price() {
    let mut stage = Stage::new();
    let costs = r#""input":1,"output":0,"cost_micros":900000"#;
    let agent = stage.world.agent("told.toml", &doer_that_goes_on(costs, costs));
    let outcome = stage.outcome(12, &["--agent", &agent, "--max-cost", "1.50"]);
    assert_eq!(outcome["spent"]["cost_micros"], 1_800_000);
    let tokens = r#""input":1000,"output":0"#;
    let agent = stage.world.agent("table.toml", &doer_that_goes_on(tokens, tokens));
    stage.world.set("WINDLASS_PRICES", "scripted input=750 output=1");
    let outcome = stage.outcome(12, &["--agent", &agent, "--max-cost", "1.50"]);
    assert_eq!(
        (&outcome["spent"]["cost_micros"], &outcome["spent"]["unpriced_tokens"]),
        (&1_500_000.into(), &0.into())
    );
}

#[test]
fn a_step_that_passes_its_own_cap_fails_and_the_run_goes_on() {
    let stage = Stage::new();
    let costs = r#""input":60,"output":0,"cost_micros":60000"#;
    let agent = stage.world.agent("doer.toml", &doer_that_goes_on(costs, costs));
    for flags in [["--step-tokens", "100"], ["--step-cost", "0.1"]] {
        let ended = stage.run(&[&["--agent", &agent, "--rounds", "1"], &flags[..]].concat()).exits_with(10);
        assert!(ended.stderr.contains("for one step and was ended"), "{}", ended.stderr);
    }
}

#[test]
fn a_day_is_shared_by_all_runs_and_a_repository_by_its_own() {
    for (cap, elsewhere) in [("WINDLASS_DAY_TOKENS", 12), ("WINDLASS_REPOSITORY_TOKENS", 0)] {
        let mut stage = Stage::new();
        let agent = stage.world.agent("doer.toml", &doer_that(&[uses(r#""input":600,"output":0"#)]));
        let other = stage.world.repository("other");
        stage.world.set(cap, "1000");
        let _ = stage.run(&["--agent", &agent]).exits_with(0);
        let second = stage.run(&["--agent", &agent]);
        assert_eq!(second.code, Some(12), "{cap}: {}", second.stderr);
        assert!(second.stdout.contains("nothing is left of its tokens for"), "{}", second.stdout);
        let before = stage.world.steps().len();
        let _ = stage.run(&["--agent", &agent]).exits_with(12);
        assert_eq!(stage.world.steps().len(), before, "{cap}: nobody is asked when nothing is left");
        let _ = stage.run_in(&other, &["--agent", &agent]).exits_with(elsewhere);
    }
}

#[test]
fn money_that_cannot_be_counted_cannot_be_capped() {
    let mut stage = Stage::new();
    stage.install_codex();
    let refused = stage.run(&["--agent", "codex", "--max-cost", "2"]).exits_with(2);
    assert!(refused.stderr.contains("so `max-cost` cannot be kept"), "{}", refused.stderr);
    assert!(refused.stderr.contains("prices = [\"codex input="), "{}", refused.stderr);
    stage.world.set("WINDLASS_PRICES", "codex input=1.25 cached=0.125 output=10");
    let outcome = stage.outcome(0, &["--agent", "codex", "--max-cost", "2"]);
    // Twice 2,100 fresh, 1,400 cached and 250 output tokens.
    assert_eq!(outcome["spent"]["cost_micros"], 2 * (2_625 + 175 + 2_500));
}

#[test]
fn a_cap_on_money_is_an_amount_or_cents_and_the_stronger_place_counts() {
    let stage = Stage::new();
    let cap = |text: &str, flags: &[&str], code: u8| {
        stage.repository.write("windlass.toml", text);
        let costs = r#""input":1,"output":0,"cost_micros":500000"#;
        let agent = stage.world.agent("doer.toml", &doer_that(&[uses(costs)]));
        stage.run(&[&["--agent", &agent], flags].concat()).exits_with(code).stderr
    };
    for file in ["max-cost = '0.5'", "max-cost = 0.5", "max-cents = 50"] {
        cap(file, &[], 12);
        cap(file, &["--max-cost", "0.500001"], 0);
    }
    cap("max-cost = 1", &[], 0);
    let said = cap("max-cost = 1\nmax-cents = 100", &[], 2);
    assert!(said.contains("`max-cents` say the same thing"), "{said}");
    for wrong in ["max-cost = 'much'", "max-cost = true", "max-cost = -1"] {
        let said = cap(wrong, &[], 2);
        assert!(said.contains("an amount such as"), "{said}");
    }
    for wrong in ["0", "1,5", "a lot"] {
        cap("", &["--max-cost", wrong], 2);
    }
}

#[test]
fn money_is_not_capped_by_somebody_who_tells_tokens_and_no_price() {
    let mut stage = Stage::new();
    let script = doer_that(&[uses(r#""input":1000,"output":0"#)]);
    let agent = stage.world.agent("untold.toml", &script);
    let outcome = stage.outcome(11, &["--agent", &agent, "--max-cost", "1.50"]);
    let why = outcome["explanation"]["because"].to_string();
    assert!(why.contains("add the price of `scripted` to the setting `prices`"), "{why}");
    stage.world.set("WINDLASS_PRICES", "scripted input=1 output=1");
    stage.outcome(0, &["--agent", &agent, "--max-cost", "1.50"]);
}
