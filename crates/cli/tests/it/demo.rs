//! `windlass demo` in its plays, and the commands it offers at the end.

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
fn the_control_demo_converges_once_and_is_stopped_once_with_the_best_commit_named() {
    let world = world();
    let (output, place) = play_control(&world, &[]);
    let story = output.exits_with(0);
    let place_of =
        |words: &str| story.stdout.find(words).unwrap_or_else(|| panic!("{words} in {}", story.stdout));
    assert!(
        place_of("the engine refuses that: test, style do not pass")
            < place_of("main ends: the target is met")
    );
    assert!(
        place_of("stopped early: states that were there before keep coming back")
            > place_of("A loop that goes")
    );
    assert!(place_of(": speed does not pass") < place_of("What was measured"));
    let best =
        story.stdout.lines().filter(|line| line.trim_start().starts_with("best     iteration")).count();
    assert_eq!(best, 2, "each loop's best commit is named: {}", story.stdout);
    assert!(!story.stdout.contains("found about the gate"), "the work is no finding: {}", story.stdout);

    let cache = place.join("cache").join("cache.conf");
    assert_eq!(std::fs::read_to_string(cache).unwrap(), "size=50\n", "the checkout itself is left alone");
    let answers = paste(&world, &story);
    assert_eq!(answers.len(), 10);
    for answer in answers {
        assert_ne!(answer.exits_with(0).stdout, "");
    }
    assert!(!world.state_dir().exists(), "the user's own journal must stay clean");
    world.assert_no_processes();
}

#[test]
fn the_control_demo_in_json_ends_with_both_outcomes() {
    let world = world();
    let lines = play_control(&world, &["--json"]).0.exits_with(0).json_lines();
    let [.., first, second] = lines.as_slice() else { panic!("two outcomes") };
    assert_eq!(
        (first["status"].as_str(), first["control"]["actuations"].as_u64()),
        (Some("accepted"), Some(3))
    );
    assert_eq!(second["status"], "needs-human");
    assert!(second["control"]["best"]["commit"].is_string(), "{second:#}");
    let (refused, _) = play_control(&crate::world(), &["--crash"]);
    assert!(refused.exits_with(2).stderr.contains("in one way only"));
}

fn play_control(world: &World, more: &[&str]) -> (Output, PathBuf) {
    play(world, &[&["control"], more].concat())
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

#[test]
fn the_goal_demo_approves_one_item_reworks_one_and_hands_one_back() {
    let world = world();
    let (output, _) = play(&world, &["goal"]);
    let story = output.exits_with(0);
    let place_of =
        |words: &str| story.stdout.find(words).unwrap_or_else(|| panic!("{words} in {}", story.stdout));
    assert!(place_of("F001 waits for a person's yes") < place_of("$ windlass approve "));
    assert!(place_of("$ windlass approve ") < place_of("F001 is committed"));
    assert!(place_of("F002 needs rework") < place_of("F002 is committed"));
    assert!(place_of("F002 is committed") < place_of("ESCALATED: F003 failed twice for the same root cause"));
    let answers = paste(&world, &story);
    assert_eq!(answers.len(), 6);
    for answer in answers {
        assert_ne!(answer.exits_with(0).stdout, "");
    }
    assert!(!world.state_dir().exists(), "the user's own journal must stay clean");
    world.assert_no_processes();
}

#[test]
fn the_roadmap_demo_merges_a_pair_after_a_rejected_review_and_revises_the_roadmap() {
    let world = world();
    let (output, place) = play(&world, &["roadmap"]);
    let story = output.exits_with(0);
    let place_of =
        |words: &str| story.stdout.find(words).unwrap_or_else(|| panic!("{words} in {}", story.stdout));
    assert!(place_of("round-001 rejected (implement)") < place_of("round-001 merged as"));
    assert!(place_of("round-002 merged as") < place_of("round-003 merged as"), "the declared order");
    assert!(place_of("roadmap revised to rev-002") < place_of("round-004 merged as"));
    assert!(place.join("repository/orchestrator/state.json").exists());
    let answers = paste(&world, &story);
    assert_eq!(answers.len(), 5);
    for answer in answers {
        assert_ne!(answer.exits_with(0).stdout, "");
    }
    assert!(!world.state_dir().exists(), "the user's own journal must stay clean");
    world.assert_no_processes();
}

#[test]
fn the_demo_of_stories_finishes_an_epic_refuses_a_self_verification_and_its_chain_holds() {
    let world = world();
    let (output, place) = play(&world, &["stories"]);
    let story = output.exits_with(0);
    let place_of =
        |words: &str| story.stdout.find(words).unwrap_or_else(|| panic!("{words} in {}", story.stdout));
    assert!(place_of("self_verify_blocked") < place_of("US-1.3 was sent back (1)"));
    assert!(place_of("US-1.3 was sent back (1)") < place_of("all 5 stories are verified"));

    let answers = paste(&world, &story);
    assert_eq!(answers.len(), 5);
    for answer in answers {
        assert_ne!(answer.exits_with(0).stdout, "");
    }
    assert!(place.join("state/stories").is_dir());
    assert!(!world.state_dir().exists(), "the user's own queue must stay clean");
    world.assert_no_processes();
}

#[test]
fn the_demo_of_stories_in_json_ends_with_what_came_of_it() {
    let world = world();
    let lines = play(&world, &["stories", "--json"]).0.exits_with(0).json_lines();
    let (outcome, events) = lines.split_last().unwrap();
    assert!(events.iter().all(|event| event["event"].is_string()));
    assert_eq!(outcome["orchestrated"]["verified_stories"], 5);
    assert_eq!(outcome["refused"]["code"], "self_verify_blocked");
    assert_eq!(outcome["audit"]["verification"]["holds"], true);
}
