//! `windlass demo` in its three plays, and the commands it offers at the end.

use crate::world;
use std::path::PathBuf;
use windlass_test_support::{Output, World};

fn play(world: &World, more: &[&str]) -> (Output, PathBuf) {
    let place = world.path().join("demo");
    let words = ["demo", "--keep", place.to_str().expect("the world has a readable path")];
    (world.windlass(&[&words, more].concat()), place)
}

fn steps(place: &std::path::Path) -> Vec<String> {
    let text = std::fs::read_to_string(place.join("agents/steps.txt")).expect("the agents count their steps");
    text.lines().map(str::to_owned).collect()
}

/// The commands offered at the end, run as if they were pasted into a shell that stands somewhere else.
fn paste(world: &World, story: &Output) -> Vec<Output> {
    let offered = story.stdout.lines().skip_while(|line| *line != "Look at the evidence").skip(1);
    let shell = World::new("/bin/sh");
    let run = |line: &str| shell.windlass_in(&world.home(), &["-c", line], "");
    offered.map(run).collect()
}

#[test]
fn the_demo_rejects_the_first_attempt_lands_the_second_and_its_evidence_holds() {
    let world = world();
    let (output, place) = play(&world, &[]);
    let story = output.exits_with(0);
    let place_of =
        |words: &str| story.stdout.find(words).unwrap_or_else(|| panic!("{words} in {}", story.stdout));
    assert!(place_of("round 1 rejected") < place_of("accepted"));
    assert!(place_of("accepted") < place_of("landed"));
    assert_eq!(steps(&place), ["doer 1 1", "doer 2 1", "judge 2 1", "auditor 2 1"]);

    let answers = paste(&world, &story);
    assert_eq!(answers.len(), 6);
    for answer in answers {
        assert_ne!(answer.exits_with(0).stdout, "");
    }
    assert!(!world.state_dir().exists(), "the user's own journal must stay clean");
    world.assert_no_processes();
}

#[test]
fn the_demo_in_json_prints_events_and_the_outcome_last() {
    let world = world();
    let lines = play(&world, &["--json"]).0.exits_with(0).json_lines();
    let (outcome, events) = lines.split_last().unwrap();
    assert!(events.iter().all(|event| event["event"].is_string()));
    assert_eq!(outcome["status"], "accepted");
    assert_eq!(outcome["rounds_completed"], 2);
}

#[test]
fn the_crash_demo_kills_the_engine_and_no_agent_step_is_lost_or_doubled() {
    let world = world();
    let (output, place) = play(&world, &["--crash"]);
    let story = output.exits_with(0);
    assert!(story.stdout.contains("SIGKILL, in the middle of the doer's second step"));
    assert!(story.stdout.contains("is still at work"));
    assert_eq!(steps(&place), ["doer 1 1", "doer 2 1", "judge 2 1", "auditor 2 1"]);
    for answer in paste(&world, &story) {
        let _ = answer.exits_with(0);
    }
    world.assert_no_processes();
}

#[test]
fn the_cheat_demo_believes_neither_the_forged_verdict_nor_the_forged_audit() {
    let world = world();
    let (output, place) = play(&world, &["--cheat"]);
    let story = output.exits_with(0);
    assert!(story.stdout.contains("the judge says reject"), "{}", story.stdout);
    assert!(story.stdout.contains("verdict.json   reject"), "{}", story.stdout);
    assert_eq!(steps(&place), ["doer 1 1", "judge 1 1"]);
    let landed = place.join("repository/.git/refs/heads/windlass");
    assert!(!landed.exists(), "nothing was accepted, so nothing may be landed");
    for answer in paste(&world, &story) {
        let _ = answer.exits_with(0);
    }
    world.assert_no_processes();
}

#[test]
fn the_demo_leaves_a_directory_alone_that_is_not_empty() {
    let world = world();
    let precious = world.path().join("demo/precious");
    std::fs::create_dir(world.path().join("demo")).unwrap();
    std::fs::write(&precious, "mine").unwrap();
    let refused = play(&world, &[]).0.exits_with(2);
    assert!(refused.stderr.contains("is not empty"), "{}", refused.stderr);
    let entries = std::fs::read_dir(world.path().join("demo")).unwrap().count();
    assert_eq!((entries, std::fs::read_to_string(precious).unwrap().as_str()), (1, "mine"));
}
