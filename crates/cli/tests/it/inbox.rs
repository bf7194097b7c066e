//! One place where people are asked: what waits in it, what they can say, and how they go on by hand.

mod control;
mod killed;
mod saying;
mod take_over;

use crate::journal_file::JournalFile;
use crate::played_run::PlayedRun;
use serde_json::Value;
use windlass_test_support::{Output, Script, When, World};

fn inbox(world: &World, more: &[&str]) -> Vec<Value> {
    let words = [&["inbox", "--json"], more].concat();
    world.windlass(&words).exits_with(0).json().as_array().unwrap().clone()
}

/// The only entry there is.
#[track_caller]
fn only(world: &World) -> Value {
    let entries = inbox(world, &[]);
    assert_eq!(entries.len(), 1, "{entries:#?}");
    entries[0].clone()
}

fn waits(played: &PlayedRun) -> bool {
    !inbox(&played.world, &[]).is_empty()
}

fn texts(value: &Value) -> Vec<String> {
    value.as_array().unwrap().iter().map(|text| text.as_str().unwrap().to_owned()).collect()
}

/// A judge that asks in the first round and is content with anything later.
fn asking() -> PlayedRun {
    let played = PlayedRun::judged(&["needs-human", "pass", "pass"]);
    let _ = played.run(&[]).exits_with(11);
    played
}

/// Accepted, but there is no branch to move forward.
fn not_landed() -> PlayedRun {
    let played = PlayedRun::of(&Script::that_passes());
    played.repository.git(&["checkout", "-q", "--detach"]);
    let _ = played.run(&["--land", "current"]).exits_with(11);
    played
}

#[track_caller]
fn refused(output: &Output, code: &str) {
    assert!(output.stderr.contains(code), "{}", output.stderr);
}

#[test]
fn an_empty_inbox_is_quiet_and_good() {
    let played = PlayedRun::accepted();
    let shown = played.world.windlass(&["inbox"]).exits_with(0);
    assert_eq!((shown.stdout.as_str(), shown.stderr.trim()), ("", "nothing waits for you"));
    assert_eq!(inbox(&played.world, &[]), Vec::<Value>::new());
}

#[test]
fn an_entry_has_all_that_is_needed_to_decide() {
    let script = Script::new()
        .doer(When::Always, &["{ append = 'done.txt', text = 'more' }", "{ handoff = 'did more' }"])
        .judge(When::Round(1), &["{ verdict = { verdict = 'reject', reasons = [{ check = 'unit', details = 'too short' }] } }"])
        .judge(When::Round(2), &["{ verdict = { verdict = 'needs-human', reasons = [{ check = 'unit', details = 'how long?' }] } }"]);
    let played = PlayedRun::of(&script);
    let _ = played.run(&["--rounds", "2"]).exits_with(11);
    let (entry, id) = (only(&played.world), played.id());
    assert_eq!((&entry["run"], &entry["kind"]), (&id.as_str().into(), &"task".into()));
    assert_eq!((&entry["task"], &entry["title"]), (&"TASK-1".into(), &"Add a file".into()));
    assert_eq!(entry["repository"], played.line()["repository"]);
    assert_eq!(
        (&entry["question"], &entry["cause"]),
        (&"answer".into(), &"the judge asks for a person".into())
    );
    assert!(texts(&entry["said"]).iter().any(|line| line.contains("how long?")), "{entry:#}");
    let tried = texts(&entry["tried"]);
    assert_eq!(tried.len(), 1);
    assert!(
        tried[0].starts_with("round 1: the judge rejected it: ") && tried[0].contains("too short"),
        "{tried:?}"
    );
    let evidence = entry["evidence"].as_array().unwrap();
    let verdict = evidence.iter().find(|one| one["what"] == "verdict.json").expect("the verdict is evidence");
    let sealed = std::fs::read_to_string(verdict["see"].as_str().unwrap()).unwrap();
    assert!(sealed.contains("how long?"), "{sealed}");
    assert!(evidence.iter().all(|one| one["what"] != "judge.prompt.md"), "{entry:#}");
    assert!(evidence.iter().any(|one| one["see"] == format!("windlass diff {id}")), "{entry:#}");
    assert!(!entry["suggestion"].as_str().unwrap().is_empty());
    let ways = ["answer", "retry", "take-over", "skip"].map(|verb| format!("windlass {verb} {id}"));
    let commands = texts(&entry["commands"]);
    assert_eq!(commands.len(), ways.len());
    for (command, way) in commands.iter().zip(&ways) {
        assert!(command.starts_with(way), "{command}");
    }
    assert!(commands[0].ends_with("--rounds +1"), "all rounds are used: {}", commands[0]);
}

#[test]
fn on_a_terminal_or_in_a_pipe_it_reads_as_sentences() {
    let played = asking();
    let shown = played.world.windlass(&["inbox"]).exits_with(0);
    let id = played.id();
    for part in ["the judge asks for a person", "task loop", "TASK-1: Add a file", "suggestion"] {
        assert!(shown.stdout.contains(part), "{part} in {}", shown.stdout);
    }
    assert!(shown.stdout.contains(&format!("windlass answer {id} \"…\"")), "{}", shown.stdout);
    assert!(shown.stderr.contains("1 run waits for you"), "{}", shown.stderr);
}

#[test]
fn only_runs_that_ask_are_listed() {
    for (played, code) in [(PlayedRun::judged(&["reject"]), 10), (PlayedRun::of(&Script::that_passes()), 0)] {
        let _ = played.run(&["--rounds", "1"]).exits_with(code);
        assert!(!waits(&played));
    }
    let interrupted = PlayedRun::interrupted();
    assert!(!waits(&interrupted), "an interrupted run is resumed, not answered");
    let _ = interrupted.about("stop", &[]).exits_with(0);
    assert!(!waits(&interrupted), "who stopped it knows");
}

#[test]
fn a_refused_landing_waits_with_its_tree() {
    let played = not_landed();
    let entry = only(&played.world);
    assert_eq!(entry["question"], "landing");
    assert_eq!(entry["tree"], played.about("show", &["--json"]).json()["tree"]);
    assert!(entry["cause"].as_str().unwrap().contains("no branch is checked out"), "{entry:#}");
}

#[test]
fn it_is_one_inbox_for_all_repositories_the_newest_last() {
    let played = asking();
    let first = played.id();
    let other = played.world.repository("other");
    let words = ["run", "Another", "--repo", other.text(), "--agent", &played.agent];
    let _ = played.world.windlass(&words).exits_with(11);
    let second = played.id();
    let runs = |more: &[&str]| -> Vec<String> {
        inbox(&played.world, more).iter().map(|entry| entry["run"].as_str().unwrap().to_owned()).collect()
    };
    assert_eq!(runs(&[]), [first.clone(), second.clone()]);
    assert_eq!(runs(&["--repo", other.text()]), [second]);
    assert_eq!(runs(&["--repo", played.repository.text()]), [first]);
}

#[test]
fn runs_that_do_not_wait_are_not_even_read() {
    let played = PlayedRun::accepted();
    let accepted = played.id();
    let journal = JournalFile::of(&played);
    let mut rows = journal.rows();
    rows[3].payload = String::from("not a fact");
    journal.write(&rows);
    let _ = played.world.windlass(&["show", &accepted]).exits_with(1);
    assert_eq!(inbox(&played.world, &[]), Vec::<Value>::new());
}

#[test]
fn lists_and_the_doctor_say_how_many_wait() {
    let played = asking();
    assert_eq!(played.line()["waits"], true);
    let listed = played.world.windlass(&["ls"]).exits_with(0);
    assert!(listed.stderr.contains("1 run waits for you: `windlass inbox`"), "{}", listed.stderr);
    let doctor = played.world.windlass(&["doctor"]).exits_with(0).stdout;
    assert!(doctor.contains("1 waiting for a person"), "{doctor}");
    let _ = played.about("skip", &[]).exits_with(0);
    let doctor = played.world.windlass(&["doctor"]).exits_with(0).stdout;
    assert!(doctor.contains("0 waiting for a person"), "{doctor}");
}
