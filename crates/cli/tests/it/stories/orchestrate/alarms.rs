//! Stories that others call done while an orchestrator has them in hand: told as what they are, never as its own success.

use super::stage::{Stage, Turn, plan_of};
use serde_json::{Value, json};
use windlass_test_support::wait_until;

fn waits(number: &'static str) -> Turn {
    Turn { more: "{ wait_for = 'go' },", ..Turn::good(number, 1) }
}

/// Begins, lets strangers take these steps while the implementer works, and lets it end. What it said last, and for people.
fn moved_by_strangers(stage: &Stage, steps: &[&[&str]]) -> Value {
    let running = stage.world.start_windlass(&stage.words(&["--parallel", "1"]));
    wait_until("the implementer", || (stage.attempts() > 0).then_some(()));
    for step in steps {
        let _ = stage.story(step).exits_with(0);
    }
    std::fs::write(stage.world.shared("go"), "").unwrap();
    let ended = running.wait().exits_with(11).json_lines();
    ended.last().unwrap().clone()
}

const REPORT: &[&str] = &["report", "US-1.1", "--as", "orchestrator:sr"];
const REVIEW: &[&str] =
    &["review-complete", "US-1.1", "--as", "orchestrator:sq", "--type", "x", "--summary", "fine"];
const VERIFY: &[&str] = &["verify", "US-1.1", "--as", "orchestrator:sv", "--summary", "fine"];

#[test]
fn a_story_that_strangers_verify_while_it_is_in_hand_is_an_alarm_and_no_success() {
    let stage = Stage::of(&plan_of(&["1.1", "1.2"], &[]), &[waits("1.1"), Turn::good("1.2", 1)]);

    let ended = moved_by_strangers(&stage, &[REPORT, REVIEW, VERIFY]);

    assert_eq!(ended["status"], "needs-human", "{ended}");
    assert_eq!(ended["alarms"], json!(["1.1"]), "{ended}");
    assert_eq!(ended["verified"], json!([]), "{ended}");
    assert!(ended["now"].as_str().unwrap().starts_with("ALARM: "), "{ended}");
    let why = ended["waiting"][0]["why"].as_str().unwrap();
    for deed in ["reported", "reviewed", "verified"] {
        assert!(why.contains(deed), "{why}");
    }
    assert!(why.contains("by sv ("), "the evidence names them: {why}");
    assert_eq!(
        (stage.landed(), stage.attempts()),
        (Vec::<String>::new(), 1),
        "nothing landed, nothing else began"
    );

    let inbox = stage.world.windlass(&["inbox", "--json"]).exits_with(0).json();
    let entry = inbox.as_array().unwrap().iter().find(|one| one["kind"] == "stories").unwrap();
    assert!(entry["cause"].as_str().unwrap().starts_with("ALARM: it was reported"), "{entry}");
    assert!(entry["said"].to_string().contains("by sv ("), "{entry}");

    let again = stage.told(&[]).exits_with(11);
    assert!(again.stdout.contains("ALARM: others called US-1.1 done"), "{}", again.stdout);
    assert!(
        again.stdout.contains("nothing landed") && !again.stdout.contains("on windlass/app"),
        "{}",
        again.stdout
    );
    assert_eq!(stage.attempts(), 1, "until a person has looked");
}

#[test]
fn an_alarm_is_not_ended_by_trying_a_story_again_that_still_counts_as_done() {
    let stage = Stage::of(&plan_of(&["1.1"], &[]), &[waits("1.1"), Turn::good("1.1", 2)]);
    let _ = moved_by_strangers(&stage, &[REPORT, REVIEW, VERIFY]);

    let refused = stage.told(&["--retry", "US-1.1"]).exits_with(14);

    for part in ["still counts as done", "windlass story reject US-1.1", "--accept US-1.1"] {
        assert!(refused.stderr.contains(part), "{part}: {}", refused.stderr);
    }
    let ended = stage.orchestrate(&[]).exits_with(11).json_lines();
    assert_eq!(ended.last().unwrap()["alarms"], json!(["1.1"]), "it stands: {ended:?}");

    let taken_back = ["reject", "US-1.1", "--reason", "not ours", "--as", "orchestrator:olga"];
    let _ = stage.story(&taken_back).exits_with(0);
    let ended = stage.orchestrate(&["--retry", "US-1.1"]).exits_with(0).json_lines();
    assert_eq!(ended.last().unwrap()["by_others"], json!([]), "{ended:?}");
    assert_eq!(stage.landed(), ["1.1"]);
}

#[test]
fn what_others_did_stands_when_a_person_says_so_and_is_told_as_theirs() {
    let turns = [waits("1.1"), Turn::good("1.2", 1)];
    let stage = Stage::of(&plan_of(&["1.1", "1.2"], &[]), &turns);
    let _ = moved_by_strangers(&stage, &[REPORT, REVIEW, VERIFY]);

    let ended = stage.orchestrate(&["--accept", "US-1.1"]).exits_with(0).json_lines();

    let last = ended.last().unwrap();
    assert_eq!((&last["by_others"], &last["alarms"]), (&json!(["1.1"]), &json!([])), "{last}");
    assert_eq!(last["now"], "all 2 stories are verified, US-1.1 by others on a person's word");
    assert_eq!(stage.landed(), ["1.2"]);
    let again = stage.orchestrate(&[]).exits_with(0).json_lines();
    assert_eq!(again.last().unwrap()["by_others"], json!(["1.1"]), "later too: {again:?}");
}

#[test]
fn one_that_strangers_only_report_is_an_alarm_too() {
    let stage = Stage::of(&plan_of(&["1.1"], &[]), &[waits("1.1")]);
    let ended = moved_by_strangers(&stage, &[REPORT]);
    let why = ended["waiting"][0]["why"].as_str().unwrap();
    assert!(why.starts_with("ALARM: it was reported while"), "{ended}");
    assert_eq!(stage.landed(), Vec::<String>::new());
}

#[test]
fn one_that_strangers_take_over_and_finish_is_an_alarm_too() {
    let stage = Stage::of(&plan_of(&["1.1"], &[]), &[waits("1.1")]);
    let taken: &[&[&str]] = &[
        &["force-unclaim", "US-1.1", "--as", "orchestrator:olga"],
        &["contract", "US-1.1", "--as", "agent:si"],
        &["claim", "US-1.1", "--as", "agent:si"],
        &["start", "US-1.1", "--as", "agent:si"],
        REPORT,
        REVIEW,
        VERIFY,
    ];
    let ended = moved_by_strangers(&stage, taken);
    let why = ended["waiting"][0]["why"].as_str().unwrap();
    assert!(why.starts_with("ALARM: it was taken over and reported and reviewed and verified"), "{ended}");
}

/// Who asks a person about the review must not keep silent about the story.
#[test]
fn one_whose_review_nobody_can_use_is_an_alarm_all_the_same() {
    let unsaid = Turn { reasons: "", ..waits("1.1") };
    let stage = Stage::of(&plan_of(&["1.1"], &[]), &[unsaid]);
    let ended = moved_by_strangers(&stage, &[REPORT, REVIEW, VERIFY]);
    assert_eq!(ended["alarms"], json!(["1.1"]), "{ended}");
}
