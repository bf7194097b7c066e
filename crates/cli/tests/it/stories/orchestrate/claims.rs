//! What a run is worth: it counts for the claim it was made under, and for nothing that has the same number. And what an
//! orchestration knows cannot be undone by saving over notes, nor by losing them.

use super::stage::{Stage, Turn, plan_of};
use serde_json::{Value, json};
use windlass_test_support::wait_until;

fn save_over(stage: &Stage) {
    for data in ["{}", r#"{"phase": "rework", "last_verified": "none"}"#] {
        let _ = stage.story(&["state", "save", "--project", "app", "--data", data]).exits_with(0);
    }
}

fn reject(stage: &Stage, story: &str) {
    let words = ["reject", story, "--project", "app", "--reason", "not so", "--as", "orchestrator:olga"];
    let _ = stage.story(&words).exits_with(0);
}

fn proof(stage: &Stage, story: &str) -> Value {
    stage.story(&["show", story, "--json"]).exits_with(0).json()["story"]["verified_status"].clone()
}

/// As on another machine, or after somebody tidied up: who this orchestration is and what it noted is gone.
fn forget(stage: &Stage) {
    let mut places = vec![stage.world.state_dir().join("orchestrations")];
    let mut gone = 0;
    while let Some(place) = places.pop() {
        if place.is_dir() {
            places.extend(std::fs::read_dir(&place).unwrap().map(|entry| entry.unwrap().path()));
        } else if place.ends_with("identities.json") {
            std::fs::remove_file(&place).unwrap();
            gone += 1;
        }
    }
    assert_eq!(gone, 1);
}

#[test]
fn a_rejected_story_is_made_anew_whatever_is_saved_and_takes_nothing_of_others_away() {
    let turns =
        [Turn::good("1.1", 1), Turn::good("1.2", 1), Turn::sent_back("1.1", 2), Turn::sent_back("1.1", 3)];
    let stage = Stage::of(&plan_of(&["1.1", "1.2"], &[]), &turns);
    let _ = stage.orchestrate(&["--check", "sh test.sh"]).exits_with(0);
    reject(&stage, "US-1.1");
    save_over(&stage);

    let ended = stage.orchestrate(&["--check", "sh test.sh"]).exits_with(11).json_lines();

    assert_eq!(ended.last().unwrap()["verified"], json!([]), "{ended:?}");
    assert_eq!(proof(&stage, "US-1.1"), "rejected");
    assert_eq!(stage.landed(), ["1.1", "1.2"], "nothing landed twice");
    assert_eq!(stage.branch_file("part-1.2.txt"), "1.2 attempt 1", "what others landed is there");
    assert_eq!(stage.attempts(), 4, "the person's word was the first of three failures");
}

#[test]
fn a_story_in_other_words_is_judged_by_nothing_that_was_said_of_the_old_ones() {
    let turns = [Turn::good("1.1", 1), Turn::sent_back("1.1", 2), Turn::sent_back("1.1", 3)];
    let stage = Stage::of(&plan_of(&["1.1"], &[]), &turns);
    let _ = stage.orchestrate(&[]).exits_with(0);
    reject(&stage, "US-1.1");
    let words = ["edit", "US-1.1", "--title", "Bonjour", "--criterion", "it is in French"];
    let _ = stage.story(&words).exits_with(0);
    save_over(&stage);

    let _ = stage.orchestrate(&[]).exits_with(11);

    assert_eq!((proof(&stage, "US-1.1"), stage.attempts()), (json!("rejected"), 3));
    assert!(stage.prompt("US-1.1-2", "judge").contains("it is in French"));
}

#[test]
fn five_failures_are_the_end_also_when_the_notes_are_lost() {
    let turns: Vec<Turn> = (1..=5).map(|attempt| Turn::sent_back("1.1", attempt)).collect();
    let stage = Stage::of(&plan_of(&["1.1"], &[]), &turns);
    let _ = stage.orchestrate(&[]).exits_with(11);
    save_over(&stage);
    let _ = stage.orchestrate(&[]).exits_with(11);
    assert_eq!(stage.attempts(), 3, "three wait for a person");
    forget(&stage);
    let ended = stage.orchestrate(&[]).exits_with(11).json_lines();
    assert!(ended.last().unwrap()["waiting"].to_string().contains("sent back 3 times"), "{ended:?}");
    assert_eq!(stage.attempts(), 3, "also for somebody who knows it from the history alone");
    for attempts in [4, 5] {
        let _ = stage.orchestrate(&["--retry", "US-1.1"]).exits_with(11);
        assert_eq!(stage.attempts(), attempts);
    }
    forget(&stage);
    let refused = stage.orchestrate(&["--retry", "US-1.1"]).exits_with(14);
    assert!(refused.stdout.contains("5 times"), "{}", refused.stdout);
    assert_eq!(stage.attempts(), 5);
}

#[test]
fn an_alarm_is_not_ended_by_saving_over_everybody_s_checkpoint() {
    let waits = Turn { more: "{ wait_for = 'go' },", ..Turn::good("1.1", 1) };
    let stage = Stage::of(&plan_of(&["1.1", "1.2"], &[]), &[waits, Turn::good("1.2", 1)]);
    let running = stage.world.start_windlass(&stage.words(&["--parallel", "1"]));
    wait_until("the implementer", || (stage.attempts() > 0).then_some(()));
    let _ = stage.story(&["report", "US-1.1", "--as", "orchestrator:sr"]).exits_with(0);
    std::fs::write(stage.world.shared("go"), "").unwrap();
    let _ = running.wait().exits_with(11);
    save_over(&stage);

    let ended = stage.orchestrate(&[]).exits_with(11).json_lines();

    assert_eq!(ended.last().unwrap()["alarms"], json!(["1.1"]), "{ended:?}");
    assert_eq!(stage.attempts(), 1);
}

#[test]
fn a_story_that_was_taken_away_and_reworded_while_nobody_looked_begins_anew() {
    let waits = Turn { more: "{ wait_for = 'go' },", ..Turn::good("1.1", 1) };
    let stage = Stage::of(&plan_of(&["1.1"], &[]), &[waits, Turn::good("1.1", 2)]);
    let running = stage.world.start_windlass(&stage.words(&[]));
    wait_until("the implementer", || (stage.attempts() > 0).then_some(()));
    let _ = running.kill();
    let _ = stage.story(&["force-unclaim", "US-1.1", "--as", "orchestrator:olga"]).exits_with(0);
    let _ = stage.story(&["edit", "US-1.1", "--title", "Bonjour"]).exits_with(0);
    std::fs::write(stage.world.shared("go"), "").unwrap();

    let ended = stage.orchestrate(&[]).exits_with(0).json_lines();

    assert_eq!(ended.last().unwrap()["verified"][0]["title"], "Bonjour", "{ended:?}");
    assert_eq!(stage.branch_file("part-1.1.txt"), "1.1 attempt 2");
}
