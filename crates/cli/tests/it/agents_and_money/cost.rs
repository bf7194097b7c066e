//! What was used, added up in every way it can be asked for, and never shown as free.

use super::{Stage, doer_that, reports, uses};
use serde_json::{Value, json};
use windlass_test_support::{Script, When, wait_until};

const DOER: &str = r#""input":1000,"cached":400,"output":200,"reasoning":50,"cost_micros":150000"#;

/// A doer with a price and a model, a judge with neither; the judge says this word.
fn script(word: &str) -> Script {
    let doer = [reports(r#""kind":"model","name":"big-model""#), uses(DOER)];
    let judge = uses(r#""input":500,"output":50"#);
    let verdict = format!("{{ verdict = '{word}' }}");
    doer_that(&doer).judge(When::Round(1), &[&judge, &verdict])
}

/// One accepted run and one that came to nothing.
fn two_runs() -> Stage {
    let stage = Stage::new();
    let good = stage.world.agent("good.toml", &script("pass"));
    let bad = stage.world.agent("bad.toml", &script("reject"));
    let _ = stage.run(&["--agent", &good, "--rounds", "1"]).exits_with(0);
    let _ = stage.run(&["--agent", &bad, "--rounds", "1"]).exits_with(10);
    stage
}

#[track_caller]
fn cost(stage: &Stage, more: &[&str]) -> Value {
    stage.world.windlass(&[&["cost", "--json"], more].concat()).exits_with(0).json()
}

fn names(report: &Value) -> Vec<String> {
    report["rows"].as_array().unwrap().iter().map(|row| row["name"].as_str().unwrap().to_owned()).collect()
}

#[test]
fn everything_is_added_up_and_shared_by_what_was_accepted() {
    let stage = two_runs();
    let report = cost(&stage, &["--all"]);
    let total = json!({
        "steps": 4, "tokens": 3500, "input": 3000, "cached": 800, "output": 500, "reasoning": 100,
        "cost_micros": 300_000, "unpriced_tokens": 1100, "cut_off_steps": 0,
    });
    assert_eq!(report["total"], total);
    // Two runs were paid for and one change came of it.
    assert_eq!((&report["runs"], &report["accepted"]), (&2.into(), &1.into()));
    assert_eq!(report["per_accepted"], total);
    assert_eq!(names(&report).len(), 2);
    assert_eq!(report["rows"][0]["accepted"], 0, "the newest first");
    assert_eq!(report["rows"][1]["spent"]["cost_micros"], 150_000);
}

#[test]
fn each_way_to_divide_it_comes_to_the_same_sum() {
    let stage = two_runs();
    let day = |name: &str| name.len() == 10 && name.starts_with("20");
    for (by, rows) in [("run", 2), ("role", 2), ("agent", 2), ("model", 2), ("day", 1)] {
        let report = cost(&stage, &["--all", "--by", by]);
        let names = names(&report);
        assert_eq!(names.len(), rows, "{by}: {names:?}");
        let sum = |key: &str| {
            report["rows"]
                .as_array()
                .unwrap()
                .iter()
                .map(|row| row["spent"][key].as_u64().unwrap())
                .sum::<u64>()
        };
        for key in
            ["steps", "tokens", "input", "cached", "output", "reasoning", "cost_micros", "unpriced_tokens"]
        {
            assert_eq!(Some(sum(key)), report["total"][key].as_u64(), "{by} {key}");
        }
        match by {
            "role" => assert_eq!(names, ["doer", "judge"]),
            "model" => assert_eq!(names, ["big-model", "not told (scripted)"]),
            "agent" => {
                assert!(names[0].ends_with("bad.toml") && names[1].ends_with("good.toml"), "{names:?}");
            }
            "day" => assert!(names.iter().all(|name| day(name)), "{names:?}"),
            _ => {}
        }
    }
}

#[test]
fn the_question_is_narrowed_to_a_run_a_time_or_a_repository() {
    let stage = two_runs();
    let run = cost(&stage, &["--all"])["rows"][1]["name"].as_str().unwrap().to_owned();
    let report = cost(&stage, &[&run]);
    assert_eq!((names(&report), &report["total"]["steps"]), (vec!["doer".into(), "judge".into()], &2.into()));
    assert_eq!(cost(&stage, &["--all", "--since", "1d"])["total"]["steps"], 4);
    assert_eq!(cost(&stage, &["--all", "--since", "2999-01-01"])["runs"], 0);
    assert_eq!(cost(&stage, &["--repo", stage.repository.text()])["runs"], 2);
    let other = stage.world.repository("other");
    assert_eq!(cost(&stage, &["--repo", other.text()])["runs"], 0);
    let empty = stage.world.windlass(&["cost", "--repo", other.text()]).exits_with(0);
    assert!(
        empty.stdout.is_empty() && empty.stderr.contains("no agent has worked here yet"),
        "{}",
        empty.stderr
    );
    let _ = stage.world.windlass(&["cost", "nothing-like-it"]).exits_with(2);
    let _ = stage.world.windlass(&["cost", "--since", "yesterday"]).exits_with(2);
}

#[test]
fn the_table_never_calls_untold_money_free() {
    let stage = two_runs();
    let shown = stage.world.windlass(&["cost", "--all", "--by", "role"]).exits_with(0).stdout;
    let row = |name: &str| {
        let line = shown.lines().find(|line| line.starts_with(name)).unwrap_or_else(|| panic!("{shown}"));
        line.split_whitespace().map(str::to_owned).collect::<Vec<_>>().join(" ")
    };
    assert_eq!(row("ROLE"), "ROLE ACCEPTED STEPS INPUT CACHED OUTPUT REASONING TOKENS COST");
    assert_eq!(row("doer"), "doer 1 of 2 2 2,000 800 400 100 2,400 0.30");
    assert_eq!(row("judge"), "judge 1 of 2 2 1,000 0 100 0 1,100 price not told");
    assert_eq!(
        row("total"),
        "total 1 of 2 4 3,000 800 500 100 3,500 0.30 and price not told of 1,100 tokens"
    );
    let last = shown.lines().last().unwrap();
    let expected = "for each accepted task: 0.30 and price not told of 1,100 tokens (3,500 tokens); 1 of 2 runs accepted";
    assert_eq!(last, expected);
}

/// Who says that it costs nothing is told apart from who says nothing, by its own word and by the table.
#[test]
fn what_is_free_is_called_free_and_not_unknown() {
    let mut stage = Stage::new();
    let free = doer_that(&[uses(r#""input":1000,"output":200,"cost_micros":0"#)]);
    let free = stage.world.agent("free.toml", &free);
    let outcome = stage.outcome(0, &["--agent", &free]);
    assert_eq!(
        (&outcome["spent"]["tokens"], &outcome["spent"]["unpriced_tokens"]),
        (&1200.into(), &0.into())
    );
    let untold = stage.world.agent("untold.toml", &doer_that(&[uses(r#""input":1000,"output":200"#)]));
    let outcome = stage.outcome(0, &["--agent", &untold]);
    assert_eq!(outcome["spent"]["unpriced_tokens"], 1200);
    let shown = stage.world.windlass(&["cost", "--all", "--by", "agent"]).exits_with(0).stdout;
    let row =
        |name: &str| shown.lines().find(|line| line.contains(name)).unwrap_or_else(|| panic!("{shown}"));
    assert!(row("free.toml").ends_with(" free"), "{shown}");
    assert!(row("untold.toml").ends_with(" price not told"), "{shown}");
    stage.world.set("WINDLASS_PRICES", "scripted input=0 output=0");
    let outcome = stage.outcome(0, &["--agent", &untold, "--max-cost", "0.01"]);
    assert_eq!(outcome["spent"]["unpriced_tokens"], 0);
}

/// A program whose figures come with its last word is ended before it.
#[test]
fn a_step_that_was_ended_before_it_told_all_is_shown_as_a_least() {
    let stage = Stage::new();
    let said = r#"echo '{"type":"item.completed","item":{"id":"1","type":"agent_message","text":"hm"}}'"#;
    let _ = stage.install("codex", "codex-cli 0.166.0", &format!("{said}\nkill -9 $$"));
    let judge =
        stage.world.agent("judge.toml", &Script::new().judge(When::Always, &["{ verdict = 'pass' }"]));
    let outcome = stage.outcome(10, &["--doer", "codex", "--judge", &judge, "--rounds", "1"]);
    assert_eq!((&outcome["spent"]["tokens"], &outcome["spent"]["cut_off_steps"]), (&0.into(), &1.into()));
    let run = cost(&stage, &["--all"])["rows"][0]["name"].as_str().unwrap().to_owned();
    let shown = stage.world.windlass(&["show", &run]).exits_with(0).stdout;
    assert!(
        shown.lines().any(|line| line.starts_with("cost") && line.ends_with("tokens not told")),
        "{shown}"
    );
    let table = stage.world.windlass(&["cost", &run]).exits_with(0).stdout;
    let told = "1 step was ended before telling all tokens: the sums are the least it can have been";
    assert_eq!(table.lines().last(), Some(told));
}

#[test]
fn the_end_of_a_run_and_show_say_what_it_cost() {
    let stage = Stage::new();
    let agent = stage.world.agent("good.toml", &script("pass"));
    let ended = stage.run(&["--agent", &agent]).exits_with(0).stdout;
    let told = "0.15 and price not told of 550 tokens (1,750 tokens)";
    assert!(ended.lines().any(|line| line.starts_with("cost") && line.ends_with(told)), "{ended}");
    let run = cost(&stage, &["--all"])["rows"][0]["name"].as_str().unwrap().to_owned();
    let shown = stage.world.windlass(&["show", &run]).exits_with(0).stdout;
    assert!(shown.lines().any(|line| line.starts_with("cost") && line.ends_with(told)), "{shown}");
    let view = stage.world.windlass(&["show", &run, "--json"]).exits_with(0).json();
    assert_eq!(view["spent"]["unpriced_tokens"], 550);
}

#[test]
fn programs_of_two_kinds_are_counted_by_their_own_words() {
    let stage = Stage::new();
    stage.install_codex();
    stage.install_claude();
    let outcome = stage.outcome(0, &["--doer", "claude", "--judge", "codex:gpt-5.5"]);
    assert_eq!(outcome["spent"]["cost_micros"], 13_680);
    assert_eq!(outcome["spent"]["unpriced_tokens"], 3750);
    let models = cost(&stage, &["--all", "--by", "model"]);
    assert_eq!(names(&models), ["claude-opus-5-5", "gpt-5.5"]);
}

#[test]
fn what_is_used_is_told_while_the_agent_is_still_at_work() {
    let stage = Stage::new();
    let script =
        doer_that(&[uses(r#""input":900,"output":100,"cost_micros":5000"#), "{ wait_for = 'go' }".into()]);
    let agent = stage.world.agent("slow.toml", &script);
    let words = ["run", "x", "--repo", stage.repository.text(), "--no-audit", "--json", "--agent", &agent];
    let running = stage.world.start_windlass(&words);
    let told = wait_until("the tokens of the doer", || {
        let lines = running.stdout();
        let events = lines.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
        events.filter(|event| event["event"] == "progress").find(|event| event["step"]["tokens"] == 1000)
    });
    assert_eq!((&told["run"]["tokens"], &told["run"]["cost_micros"]), (&1000.into(), &5000.into()));
    std::fs::write(stage.world.shared("go"), "").unwrap();
    let _ = running.wait().exits_with(0);
}
