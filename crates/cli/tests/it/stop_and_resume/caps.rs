//! Caps on tokens, money and output end a run, survive a kill, and are lifted by the very command that `explain` names.

use crate::journal_file::JournalFile;
use crate::played_run::PlayedRun;
use windlass_test_support::{Script, When, wait_until};

/// An action that reports this use, as an agent of any kind may.
fn uses(report: &str) -> String {
    format!("{{ say = '{{\"windlass_signal\":{{\"kind\":\"usage\",{report}}}}}' }}")
}

/// A doer that does this in the first round and something cheap in the second, which passes.
fn first_round_with(actions: &[&str]) -> PlayedRun {
    let work = ["{ append = 'done.txt', text = 'more' }", "{ handoff = 'did more' }"];
    let first: Vec<&str> = actions.iter().copied().chain(work).collect();
    let script = Script::new()
        // An agent that is ended in mid-turn is asked once more; it must not use the same again.
        .doer(When::Attempt { round: 1, attempt: 1 }, &first)
        .doer(When::Always, &work)
        .judge(When::Round(1), &["{ verdict = 'reject' }"])
        .judge(When::Always, &["{ verdict = 'pass' }"])
        .auditor(When::Always, &["{ audit = 'pass' }"]);
    PlayedRun::of(&script)
}

/// Runs into the cap, is refused without more, and goes on with what `explain` says.
#[track_caller]
fn ends_and_goes_on(played: &PlayedRun, run: &[&str], dimension: &str) {
    let ended = played.run(run).exits_with(12);
    assert!(ended.stdout.contains(&format!("nothing is left of its {dimension}")), "{}", ended.stdout);
    assert!(played.run_dir().join("summary.json").is_file());
    let refused = played.about("resume", &[]).exits_with(14);
    assert!(
        refused.stderr.contains(&format!("nothing is left of its {dimension}; give it more")),
        "{}",
        refused.stderr
    );
    let explained = played.about("explain", &["--json"]).exits_with(0).json();
    let command = explained["commands"][0].as_str().expect("it says how to go on").to_owned();
    let words: Vec<&str> = command.split(' ').skip(1).collect();
    let _ = played.world.windlass(&words).exits_with(0);
}

#[test]
fn tokens() {
    let mut played = first_round_with(&[&uses(r#""input":900,"output":100"#)]);
    played.world.set("WINDLASS_MAX_TOKENS", "1000");
    ends_and_goes_on(&played, &[], "tokens");
    assert_eq!(played.world.steps()[0], "doer 1 1");
}

#[test]
fn money() {
    let mut played = first_round_with(&[&uses(r#""cost_micros":20000"#)]);
    played.world.set("WINDLASS_MAX_CENTS", "2");
    ends_and_goes_on(&played, &[], "money");
}

#[test]
fn output() {
    let played = first_round_with(&["{ flood = { bytes = 3_000_000 } }"]);
    ends_and_goes_on(&played, &["--max-output-mb", "1"], "output bytes");
}

#[test]
fn minutes() {
    let mut played = PlayedRun::of(&crate::played_run::waiting_doer());
    played.world.set("WINDLASS_MAX_MINUTES", "1");
    let running = played.start_until_the_doer_works();
    let _ = played.about("stop", &[]).exits_with(0);
    let _ = running.wait().exits_with(13);
    // Nobody wants to wait a minute here, so the record is made to say that this step took one.
    let journal = JournalFile::of(&played);
    let mut rows = journal.rows();
    let step =
        rows.iter_mut().find(|row| row.payload.contains("\"interrupted\"")).expect("a step was interrupted");
    let (before, after) = step.payload.split_once("\"duration\":").expect("it took some time");
    let after = after.trim_start_matches(|c: char| c.is_ascii_digit());
    step.payload = format!("{before}\"duration\":61000{after}");
    journal.write(&journal.chained(&rows));
    played.go();
    let refused = played.about("resume", &[]).exits_with(14);
    assert!(refused.stderr.contains("nothing is left of its minutes; give it more"), "{}", refused.stderr);
    let _ = played.about("resume", &["--minutes", "+5"]).exits_with(0);
}

#[test]
fn an_agent_that_uses_far_more_than_its_cap_is_given_room_beyond_that() {
    let mut played = first_round_with(&[&uses(r#""input":9000000,"cost_micros":70000000"#)]);
    played.world.set("WINDLASS_MAX_TOKENS", "1000").set("WINDLASS_MAX_CENTS", "2");
    ends_and_goes_on(&played, &[], "tokens");
}

#[test]
fn what_was_used_survives_a_kill() {
    let spend = uses(r#""input":600"#);
    let work = ["{ append = 'done.txt', text = 'more' }", "{ handoff = 'did more' }"];
    let script = Script::new()
        .doer(When::Round(1), &[&spend, work[0], work[1]])
        .doer(When::Round(2), &[&spend, "{ wait_for = 'go' }", work[0], work[1]])
        .judge(When::Always, &["{ verdict = 'reject' }"]);
    let mut played = PlayedRun::of(&script);
    played.world.set("WINDLASS_MAX_TOKENS", "1000");
    let running = played.start_until_the_doer_works();
    wait_until("the second doer", || (played.world.steps().len() == 3).then_some(()));
    let _ = running.kill();
    assert_eq!(used(&played)["tokens"], 600);
    // The cap is the run's own by now: neither a setting nor its absence changes it.
    played.world.unset("WINDLASS_MAX_TOKENS");
    played.go();
    let _ = played.about("resume", &[]).exits_with(12);
    assert_eq!(used(&played)["tokens"], 1200);
    assert_eq!(played.world.steps(), ["doer 1 1", "judge 1 1", "doer 2 1"]);
}

/// Nobody looks after an agent whose step is given up without ending it.
#[test]
fn an_agent_at_work_is_ended_when_another_run_used_up_the_day_meanwhile() {
    let mut played = PlayedRun::of(&crate::played_run::waiting_doer());
    played.world.set("WINDLASS_DAY_TOKENS", "1000");
    let _ = played.start_until_the_doer_works().kill();
    let run = played.id();
    let spend = uses(r#""input":1200"#);
    let spender = Script::new().doer(When::Always, &[&spend, "{ wait_for = 'never' }"]);
    let (other, agent) = (played.world.repository("other"), played.world.agent("spender.toml", &spender));
    let words = ["run", "Spend", "--id", "TASK-2", "--repo", other.text(), "--agent", &agent];
    let _ = played.world.windlass(&words).exits_with(12);
    let ended = played.world.windlass(&["resume", &run]).exits_with(12);
    assert!(ended.stdout.contains("nothing is left of its tokens for one day"), "{}", ended.stdout);
    played.world.assert_no_processes();
}

#[test]
fn reports_are_added_up_as_they_are_meant() {
    let reports = [
        uses(r#""input":10,"output":5,"cost_micros":100"#),
        uses(r#""input":20,"cached":20,"reasoning":3,"output":5,"cost_micros":200"#),
        "{ say = 'an ordinary line' }".to_owned(),
        "{ complain = '{\"windlass_signal\":{\"kind\":\"usage\",\"input\":7}}' }".to_owned(),
        "{ say = '{\"windlass_signal\":{\"kind\":\"nonsense\"}}' }".to_owned(),
    ];
    let totals = [
        uses(r#""scope":"process","input":50,"cost_micros":1000"#),
        uses(r#""scope":"process","input":90,"output":10,"cost_micros":3000"#),
    ];
    let doer: Vec<&str> = reports
        .iter()
        .map(String::as_str)
        .chain(["{ write = 'a', text = 'a' }", "{ handoff = 'a' }"])
        .collect();
    let judge: Vec<&str> = totals.iter().map(String::as_str).chain(["{ verdict = 'pass' }"]).collect();
    let script = Script::new()
        .doer(When::Always, &doer)
        .judge(When::Always, &judge)
        .auditor(When::Always, &["{ audit = 'pass' }"]);
    let played = PlayedRun::of(&script);
    let _ = played.run(&[]).exits_with(0);
    // The doer reports each reply: 15 + 25. The judge reports its total so far: the last one counts.
    assert_eq!(used(&played)["tokens"], 15 + 25 + 100);
    assert_eq!(used(&played)["cost_micros"], 100 + 200 + 3000);
    let shown = played.about("show", &[]).exits_with(0).stdout;
    assert!(shown.contains("140 tokens"), "{shown}");
}

fn used(played: &PlayedRun) -> serde_json::Value {
    played.about("show", &["--json"]).exits_with(0).json()["used"].clone()
}
