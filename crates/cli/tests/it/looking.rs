//! Looking at runs without touching them: lists, one run, its log, its change, why it stands where it stands.

mod doctor;
mod explain;
mod forms;
mod standing;

use crate::played_run::{PlayedRun, waiting_doer};
use serde_json::Value;
use windlass_test_support::wait_until;

#[test]
fn the_list_has_every_run_the_newest_first_or_those_of_one_repository() {
    let played = PlayedRun::judged(&["reject"]);
    let _ = played.run(&["--rounds", "1"]).exits_with(10);
    let other = played.world.repository("other");
    let words = [
        "run",
        "Another",
        "--id",
        "TASK-2",
        "--repo",
        other.text(),
        "--agent",
        &played.agent,
        "--rounds",
        "1",
    ];
    let _ = played.world.windlass(&words).exits_with(10);
    let tasks = |more: &[&str]| {
        let words: Vec<&str> = ["ls", "--json"].into_iter().chain(more.iter().copied()).collect();
        let list = played.world.windlass(&words).exits_with(0).json();
        let task = |run: &Value| run["task"].as_str().unwrap().to_owned();
        list.as_array().unwrap().iter().map(task).collect::<Vec<_>>()
    };
    assert_eq!(tasks(&[]), ["TASK-2", "TASK-1"]);
    assert_eq!(tasks(&["--repo", other.text()]), ["TASK-2"]);
    let inside = played.repository.write("sub/file", "").path().join("sub");
    assert_eq!(tasks(&["--repo", inside.to_str().unwrap()]), ["TASK-1"]);
    let plain = played.world.windlass(&["ls"]).exits_with(0).stdout;
    assert!(plain.starts_with("RUN ") && plain.contains("rejected") && plain.contains("1/1"), "{plain}");
    let nowhere = played.world.windlass(&["ls", "--repo", "/"]).exits_with(2);
    assert!(nowhere.stderr.contains("error[WL-GIT-002]"), "{}", nowhere.stderr);
}

#[test]
fn a_list_without_runs_says_how_to_begin() {
    let world = crate::world();
    let output = world.windlass(&["ls"]).exits_with(0);
    assert_eq!(output.stdout, "");
    assert!(output.stderr.contains("windlass demo"), "{}", output.stderr);
    assert_eq!(world.windlass(&["ls", "--json"]).json(), Value::Array(Vec::new()));
}

#[test]
fn the_status_follows_the_run_from_running_over_interrupted_to_its_end() {
    let played = PlayedRun::of(&waiting_doer());
    let running = played.start_until_the_doer_works();
    assert_eq!(played.line()["status"], "running");
    assert_eq!(played.line()["now"], "round 1: the doer works");
    let _ = running.kill();
    assert_eq!(played.line()["status"], "interrupted");
    played.go();
    let _ = played.about("resume", &[]).exits_with(0);
    assert_eq!(played.line()["status"], "accepted");
}

#[test]
fn one_run_is_shown_with_everything_that_belongs_to_it() {
    let played = PlayedRun::judged(&["pass"]);
    let _ = played.run(&["--check", "true", "--audit-check", "test -f done.txt"]).exits_with(0);
    let shown = played.about("show", &[]).exits_with(0).stdout;
    let base = played.repository.git(&["rev-parse", "main"]);
    for expected in [
        played.id().as_str(),
        "accepted",
        "TASK-1: Add a file",
        "1 of 3",
        played.repository.text(),
        &base[..10],
        "windlass/TASK-1",
        "doer: scripted:",
        "test -f done.txt",
        "handoff.json",
        "patch.diff",
        "verdict.json",
        "audit.json",
    ] {
        assert!(shown.contains(expected), "{expected} is missing in\n{shown}");
    }
    let view = played.about("show", &["--json"]).exits_with(0).json();
    assert_eq!((&view["judge_verdict"], &view["audit_gate"]), (&"pass".into(), &"pass".into()));
    for artifact in view["artifacts"].as_array().unwrap() {
        let bytes = std::fs::metadata(artifact["path"].as_str().unwrap()).unwrap().len();
        assert_eq!(artifact["bytes"], bytes, "{artifact}");
    }
}

#[test]
fn the_log_tells_the_story_and_with_all_every_fact() {
    let played = PlayedRun::judged(&["reject", "pass"]);
    let _ = played.run(&[]).exits_with(0);
    let story = played.about("log", &[]).exits_with(0).stdout;
    let sentences = [
        "starts TASK-1",
        "round 1",
        "the judge says reject",
        "round 2",
        "the judge says pass",
        "accepted",
        "landed as",
    ];
    let mut from = 0;
    for sentence in sentences {
        let at = story[from..]
            .find(sentence)
            .unwrap_or_else(|| panic!("{sentence} is missing or too early in\n{story}"));
        from += at;
    }
    let log = played.about("log", &["--json"]).exits_with(0).json();
    let entries = log["entries"].as_array().unwrap();
    let versions: Vec<u64> = entries.iter().map(|entry| entry["version"].as_u64().unwrap()).collect();
    assert_eq!(versions, (0..entries.len() as u64).collect::<Vec<_>>());
    assert_eq!((&log["ended"], &entries[0]["kind"]), (&Value::Bool(true), &"run-started".into()));
    let all = played.about("log", &["--all"]).exits_with(0).stdout;
    assert_eq!(all.lines().count(), entries.len());
}

#[test]
fn a_log_that_is_followed_goes_from_the_first_fact_to_the_end_of_a_living_run() {
    let played = PlayedRun::of(&waiting_doer());
    let running = played.start_until_the_doer_works();
    let id = played.id();
    let plain = played.world.start_windlass(&["log", "-f", &id]);
    let json = played.world.start_windlass(&["log", "-f", "--json", &id]);
    wait_until("the follower to catch up", || plain.stdout().contains("the doer works").then_some(()));
    assert!(plain.is_alive() && json.is_alive());
    assert!(plain.stdout().contains("starts TASK-1"), "{}", plain.stdout());
    played.go();
    let _ = running.wait().exits_with(0);
    let plain = plain.wait().exits_with(0).stdout;
    assert_eq!(plain, played.about("log", &[]).stdout, "followed or read afterwards, it is the same story");
    let mut followed = json.wait().exits_with(0).json_lines();
    let last = followed.pop().unwrap();
    assert_eq!(last["status"], "accepted");
    let facts = played.about("log", &["--json"]).json()["entries"].clone();
    let facts: Vec<&Value> = facts.as_array().unwrap().iter().map(|entry| &entry["fact"]).collect();
    assert_eq!(followed.iter().map(|event| &event["fact"]).collect::<Vec<_>>(), facts);
    assert!(followed.iter().all(|event| event["event"] == "fact"));
}

#[test]
fn the_log_of_an_ended_run_is_followed_to_its_end_at_once() {
    let played = PlayedRun::accepted();
    let followed = played.about("log", &["-f"]).exits_with(0).stdout;
    assert_eq!(followed, played.about("log", &[]).stdout);
}

#[test]
fn the_change_of_each_round_can_be_seen_and_applied() {
    let played = PlayedRun::judged(&["reject", "pass"]);
    let _ = played.run(&[]).exits_with(0);
    let last = played.about("diff", &[]).exits_with(0).stdout;
    assert!(last.contains("+moremore"), "{last}");
    let first = played.about("diff", &["--round", "1"]).exits_with(0).stdout;
    assert!(first.contains("+more") && !first.contains("moremore"), "{first}");
    assert_eq!(played.about("diff", &["--round", "2"]).stdout, last);
    let patch = played.world.shared("change.patch");
    std::fs::write(&patch, &last).unwrap();
    played.repository.git(&["apply", "--index", patch.to_str().unwrap()]);
    let judged = played.about("show", &["--json"]).json()["tree"].clone();
    assert_eq!(judged, played.repository.git(&["write-tree"]).as_str());
    let none = played.about("diff", &["--round", "9"]).exits_with(14);
    assert!(none.stderr.contains("round 9 has not handed over a change yet"), "{}", none.stderr);
}

#[test]
fn a_change_of_any_bytes_is_printed_byte_for_byte() {
    let script = windlass_test_support::Script::new()
        .doer(
            windlass_test_support::When::Always,
            &[
                "{ write = 'latin.txt', hex = 'e4 f6 fc 0a' }",
                "{ write = 'binary.dat', hex = '00 ff 00 01' }",
                "{ write = 'escape.txt', hex = '1b 5b 33 31 6d 0d 0a' }",
                "{ handoff = 'adds bytes' }",
            ],
        )
        .judge(windlass_test_support::When::Always, &["{ verdict = 'pass' }"])
        .auditor(windlass_test_support::When::Always, &["{ audit = 'pass' }"]);
    let played = PlayedRun::of(&script);
    let _ = played.run(&[]).exits_with(0);
    // The shell keeps the bytes as they are; a test that reads text would not notice the difference.
    let script = format!("\"$0\" diff {} | git -C \"$1\" apply --index -", played.id());
    let mut shell = windlass_test_support::World::new("/bin/sh");
    shell.set("WINDLASS_STATE_DIR", played.world.state_dir());
    let words = ["-c", script.as_str(), env!("CARGO_BIN_EXE_windlass"), played.repository.text()];
    let _ = shell.windlass(&words).exits_with(0);
    let judged = played.about("show", &["--json"]).json()["tree"].clone();
    assert_eq!(judged, played.repository.git(&["write-tree"]).as_str());
}

#[test]
fn a_run_without_a_change_has_none_to_show() {
    let played = PlayedRun::interrupted();
    let none = played.about("diff", &[]).exits_with(14);
    assert!(none.stderr.contains("no round handed over a change yet"), "{}", none.stderr);
}
