//! Caps of the contract: each ends the run by name, none is passed by more than one turn, none is forgotten by a kill, and
//! each is given room by the command that is shown.

use super::stage::{BUDGET, Stage, Turn, uses};
use crate::journal_file::JournalFile;
use serde_json::Value;
use windlass_test_support::Output;

fn three_items() -> Stage {
    Stage::of(3, "L2", &[Turn::passing(1), Turn::passing(2), Turn::passing(3)])
}

/// The last line of what a command that drives a run prints.
fn outcome(output: &Output) -> Value {
    output.json_lines().pop().expect("a run prints its outcome")
}

#[track_caller]
fn ends_with(output: Output, code: u8, words: &str) -> Value {
    let outcome = outcome(&output.exits_with(code));
    assert_eq!(outcome["goal"]["outcome"], words, "{outcome:#}");
    outcome
}

/// Gives exactly the first of the commands shown that has these words.
#[track_caller]
fn goes_on_as_shown(stage: &Stage, wanted: &str) -> Output {
    let explained = stage.about("explain", &["--json"]).exits_with(0).json();
    let commands = explained["commands"].as_array().expect("it says how to go on");
    let command = commands.iter().filter_map(Value::as_str).find(|command| command.contains(wanted));
    let command = command.unwrap_or_else(|| panic!("{wanted} in {commands:?}"));
    let words: Vec<&str> = command.split(' ').skip(1).chain(["--json"]).collect();
    stage.world.windlass(&words)
}

#[test]
fn iterations_end_it_and_rounds_give_it_room() {
    let stage = three_items().capped(&[("Iterations", "2")]);
    ends_with(stage.run(&[]), 12, "HARD KILL (iterations)");
    assert_eq!(stage.subjects(), ["feat(F001): Part 1", "feat(F002): Part 2", "chore(loop): run summary"]);
    assert!(stage.file(BUDGET).contains("| Iterations | 2 | 2 |"), "{}", stage.file(BUDGET));
    // Without room it is the same end again, and nobody is asked.
    ends_with(stage.about("resume", &["--json"]), 12, "HARD KILL (iterations)");
    assert_eq!(stage.steps().len(), 4);
    ends_with(goes_on_as_shown(&stage, "--rounds +1"), 0, "SUCCESS");
    assert_eq!(stage.report()["iterations"], serde_json::json!({ "used": 3, "cap": 3 }));
    assert_eq!(stage.subjects().iter().filter(|subject| subject.starts_with("feat(F003)")).count(), 1);
    stage.assert_sound();
}

#[test]
fn commits_end_it_and_only_its_own_row_gives_it_room() {
    let stage = three_items().capped(&[("Commits", "1")]);
    ends_with(stage.run(&[]), 12, "HARD KILL (commits)");
    assert_eq!(stage.subjects(), ["feat(F001): Part 1", "chore(loop): run summary"]);
    assert!(stage.file(BUDGET).contains("| Commits | 1 | 1 |"), "{}", stage.file(BUDGET));
    let more = stage.about("resume", &["--rounds", "+5", "--json"]);
    let ended = ends_with(more, 12, "HARD KILL (commits)");
    assert_eq!(stage.report()["commits_used"], serde_json::json!({ "used": 1, "cap": 1 }));
    let because = ended["explanation"]["because"].to_string();
    assert!(because.contains("raise `Commits` in docs/loop-budget.md and then resume"), "{because}");
    stage.repository.write(BUDGET, &stage.file(BUDGET).replace("| Commits | 1 |", "| Commits | 2 |"));
    ends_with(goes_on_as_shown(&stage, "resume"), 12, "HARD KILL (commits)");
    assert_eq!(stage.report()["commits_used"], serde_json::json!({ "used": 2, "cap": 2 }));
    stage.assert_sound();
}

#[test]
fn rework_of_an_item_for_different_causes_ends_it_and_nothing_is_committed() {
    let turns = [Turn::failing(1, "part-1.txt"), Turn::failing(1, "tests/part-1.sh"), Turn::passing(1)];
    let stage = Stage::of(1, "L2", &turns);
    let ended = ends_with(stage.run(&[]), 12, "HARD KILL (rework per item: F001)");
    assert_eq!(ended["goal"]["items"][0]["rework"], 2, "{ended:#}");
    assert_eq!(stage.subjects(), ["chore(loop): run summary"]);
    assert!(stage.file("docs/LOOP.md").contains("- F001 — Part 1 · cause: "), "it is in the inbox");
    // To let it go on says nothing about what was tried; room for one more try does, and so would an answer.
    let plain = stage.about("resume", &["--json"]);
    let ended = ends_with(plain, 12, "HARD KILL (rework per item: F001)");
    assert_eq!(ended["explanation"]["now"], "HARD KILL: F001 failed as often as one item may");
    assert_eq!(stage.steps().len(), 4, "nobody was asked");
    ends_with(goes_on_as_shown(&stage, "resume"), 0, "SUCCESS");
    assert!(
        stage.file("docs/LOOP.md").ends_with("## Triage Inbox\n(empty)"),
        "{}",
        stage.file("docs/LOOP.md")
    );
    assert_eq!(stage.report()["items"][0]["rework"], 2);
    stage.assert_sound();
}

#[test]
fn a_lower_cap_of_rework_on_the_command_line_counts() {
    let stage = Stage::of(1, "L2", &[Turn::failing(1, "part-1.txt"), Turn::passing(1)]);
    ends_with(stage.run(&["--max-rework", "1"]), 12, "HARD KILL (rework per item: F001)");
    assert_eq!(stage.steps().len(), 2);
}

#[test]
fn once_is_one_iteration_and_no_more() {
    let stage = three_items();
    let ended = ends_with(stage.run(&["--once"]), 0, "STOPPED");
    assert_eq!(ended["explanation"]["now"], "iteration 1 is done: F001 — Part 1 is complete");
    assert_eq!(stage.steps(), ["builder 1 1", "evaluator 1 1"]);
    assert!(stage.file("docs/PROGRESS.md").contains("STOPPED — one iteration was asked for"));
    ends_with(stage.about("resume", &["--rounds", "+2", "--json"]), 0, "SUCCESS");
    stage.assert_sound();
}

#[test]
fn an_iteration_asked_for_alone_that_came_to_nothing_ends_as_a_cap_does() {
    let stage = Stage::of(2, "L2", &[Turn::failing(1, "part-1.txt"), Turn::passing(1)]);
    ends_with(stage.run(&["--once"]), 12, "HARD KILL (iterations)");
    ends_with(goes_on_as_shown(&stage, "--rounds +1"), 12, "HARD KILL (iterations)");
    stage.assert_sound();
}

#[test]
fn one_iteration_as_a_cap_is_a_cap() {
    let stage = three_items();
    ends_with(stage.run(&["--max-iterations", "1"]), 12, "HARD KILL (iterations)");
}

#[test]
fn a_run_that_is_done_exactly_at_its_caps_is_a_success() {
    let stage = three_items().capped(&[("Iterations", "3"), ("Commits", "3")]);
    ends_with(stage.run(&[]), 0, "SUCCESS");
    let report = stage.report();
    assert_eq!((&report["iterations"]["used"], &report["commits_used"]["used"]), (&3.into(), &3.into()));
    stage.assert_sound();
}

/// Makes the record say that the step that was interrupted took this long: nobody wants to wait for it here.
fn as_if_it_had_taken(stage: &Stage, millis: u64) {
    let journal = JournalFile::in_world(&stage.world, stage.id());
    let mut rows = journal.rows();
    let step =
        rows.iter_mut().find(|row| row.payload.contains("\"interrupted\"")).expect("a step was interrupted");
    let (before, after) = step.payload.split_once("\"duration\":").expect("it took some time");
    let after = after.trim_start_matches(|c: char| c.is_ascii_digit());
    step.payload = format!("{before}\"duration\":{millis}{after}");
    journal.write(&journal.chained(&rows));
}

/// A builder that never ends, stopped by a person after what the record says were so many milliseconds of one minute.
fn hung_for(millis: u64) -> Stage {
    let hung = Turn::passing(1).first("{ wait_for = 'go' }");
    let stage = Stage::of(1, "L2", &[hung, Turn::passing(1)]).capped(&[("Wall-clock (min)", "1")]);
    let running = stage.start_until(1, &[]);
    let _ = stage.about("stop", &[]).exits_with(0);
    let _ = running.wait().exits_with(13);
    as_if_it_had_taken(&stage, millis);
    stage
}

#[test]
fn a_hung_builder_is_ended_by_the_minutes_of_the_contract() {
    let stage = hung_for(59_500);
    ends_with(stage.about("resume", &["--json"]), 12, "HARD KILL (wall-clock)");
    assert_eq!(stage.steps(), ["builder 1 1", "builder 1 2"], "it was asked and ended");
    stage.assert_sound();
    // Its attempt came to nothing; the next iteration has room, and nobody is told that it did what the loop did.
    ends_with(goes_on_as_shown(&stage, "--minutes +"), 0, "SUCCESS");
    let report = stage.report();
    let results: Vec<&Value> = iterations(&report).map(|iteration| &iteration["result"]).collect();
    assert_eq!(results, ["inconclusive", "accepted"], "{report:#}");
    assert_nobody_is_accused(&report);
    stage.assert_sound();
}

fn iterations(report: &Value) -> impl Iterator<Item = &Value> {
    report["iterations_done"].as_array().unwrap().iter()
}

/// The closing commit of a run that was cut off is the loop's doing, not the builder's.
#[track_caller]
fn assert_nobody_is_accused(report: &Value) {
    assert!(iterations(report).all(|iteration| iteration["findings"] == serde_json::json!([])), "{report:#}");
}

#[test]
fn nobody_is_asked_when_no_time_is_left() {
    let stage = hung_for(60_000);
    ends_with(stage.about("resume", &["--json"]), 12, "HARD KILL (wall-clock)");
    assert_eq!(stage.steps(), ["builder 1 1"]);
    stage.assert_sound();
}

/// Reports these uses and then never ends by itself.
fn spends_and_hangs(report: &str) -> Turn {
    let turn = Turn::passing(1).first(&uses(report)).first(&uses(report));
    turn.first("{ wait_for = 'go' }")
}

#[test]
fn tokens_end_a_builder_in_the_middle_of_its_turn() {
    let turn = spends_and_hangs(r#""input":500,"output":100"#);
    let stage = Stage::of(1, "L2", &[turn]).capped(&[("Tokens", "1000")]);
    let ended = ends_with(stage.run(&[]), 12, "HARD KILL (tokens)");
    assert_eq!(ended["spent"]["tokens"], 1200, "no more than what it told at once");
    assert_eq!(stage.steps(), ["builder 1 1"]);
    assert!(stage.subjects().iter().all(|subject| !subject.starts_with("feat")));
    stage.assert_sound();
}

#[test]
fn money_ends_a_builder_in_the_middle_of_its_turn() {
    let turn = spends_and_hangs(r#""input":1,"output":0,"cost_micros":900000"#);
    let stage = Stage::of(1, "L2", &[turn]).capped(&[("Cost", "1.50")]);
    let ended = ends_with(stage.run(&[]), 12, "HARD KILL (money)");
    assert_eq!(ended["spent"]["cost_micros"], 1_800_000);
    stage.assert_sound();
}

#[test]
fn what_was_used_survives_a_kill_and_counts_towards_the_cap() {
    let first = Turn::passing(1).first(&uses(r#""input":600,"output":0"#));
    let second = Turn::passing(2).first(&uses(r#""input":300,"output":0"#)).first("{ wait_for = 'go' }");
    let third = Turn::passing(3).first(&uses(r#""input":200,"output":0"#)).first("{ hang = 'quiet' }");
    let stage = Stage::of(3, "L2", &[first, second, third]).capped(&[("Tokens", "1000")]);
    let running = stage.start_until(3, &[]);
    assert_eq!(running.kill().signal, Some(9));
    stage.go();
    let ended = ends_with(stage.about("resume", &["--json"]), 12, "HARD KILL (tokens)");
    assert_eq!(ended["spent"]["tokens"], 1100, "each turn once, whoever saw it end");
    assert_eq!(stage.subjects(), ["feat(F001): Part 1", "feat(F002): Part 2", "chore(loop): run summary"]);
    assert!(stage.file(BUDGET).contains("| Tokens | 1000 | 1100 |"), "{}", stage.file(BUDGET));
    stage.assert_sound();
}

#[test]
fn more_tokens_let_the_item_be_finished() {
    let spends = Turn::passing(1).first(&uses(r#""input":1200,"output":0"#)).first("{ wait_for = 'go' }");
    let stage = Stage::of(1, "L2", &[spends]).capped(&[("Tokens", "1000")]);
    ends_with(stage.run(&[]), 12, "HARD KILL (tokens)");
    stage.go();
    ends_with(stage.about("resume", &["--tokens", "+2000", "--json"]), 0, "SUCCESS");
    let report = stage.report();
    assert_eq!(report["iterations"]["used"], 1);
    assert_nobody_is_accused(&report);
    assert_eq!(
        stage.subjects(),
        ["chore(loop): run summary", "feat(F001): Part 1", "chore(loop): run summary"]
    );
    stage.assert_sound();
}
