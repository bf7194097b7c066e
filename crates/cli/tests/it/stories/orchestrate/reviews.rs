//! What counts as a review of a story, and what the engine itself looks for.

use super::stage::{Stage, Turn, plan_of};
use serde_json::json;

/// One story with this criterion, and further ones.
fn plan_with(criteria: &[&str]) -> serde_json::Value {
    let mut plan = plan_of(&["1.1"], &[]);
    let rows =
        (1..).zip(criteria).map(|(place, text)| json!({ "id": format!("AC-{place}"), "description": text }));
    plan["epics"][0]["stories"][0]["acceptance_criteria"] = rows.collect();
    plan
}

/// The same agents, whose reviewer says something else when it is asked once more.
fn repaired(stage: &Stage, reasons: &str) {
    let script = std::fs::read_to_string(stage.world.path().join("scripts/agents.toml")).unwrap();
    let second = format!(
        "[[step]]\nrole = 'judge'\nlabel = 'US-1.1-1'\nattempt = 2\ndo = [{{ verdict = {{ verdict = 'pass', reasons = \
         [{reasons}] }} }}]\n"
    );
    let _ = stage.world.agent_from_text("agents.toml", &format!("{script}{second}"));
}

const MET: &str = "{ check = 'AC-1 verified', details = 'it is there' }";
const BOTH: &str =
    "{ check = 'AC-1 verified', details = 'here' }, { check = 'AC-2 verified', details = 'and there' }";

#[test]
fn a_reviewer_who_leaves_a_criterion_out_is_asked_again_and_nothing_is_made_twice() {
    let stage = Stage::of(&plan_with(&["it greets", "it says goodbye"]), &[Turn::good("1.1", 1)]);
    repaired(&stage, BOTH);

    let ended = stage.orchestrate(&[]).exits_with(0).json_lines();

    assert_eq!(ended.last().unwrap()["verified"][0]["cycles"], 1, "{ended:?}");
    assert_eq!((stage.attempts(), stage.landed()), (1, vec!["1.1".to_owned()]));
    let prompt = stage.prompt("US-1.1-1", "judge");
    assert!(prompt.contains("/reasons: says nothing about the criterion AC-2"), "{prompt}");
    assert!(!prompt.contains("says nothing about the criterion AC-1"), "{prompt}");
    let (_, repair) = prompt.split_once("# Repair").unwrap();
    assert!(repair.contains("one entry for each acceptance criterion: `AC-1`, `AC-2`."), "{repair}");
}

#[test]
fn a_review_that_stays_incomplete_is_for_a_person_and_no_new_implementation() {
    let stage = Stage::of(&plan_with(&["it greets", "it says goodbye"]), &[Turn::good("1.1", 1)]);

    let ended = stage.orchestrate(&[]).exits_with(11).json_lines();

    let waiting = &ended.last().unwrap()["waiting"][0];
    assert!(waiting["why"].to_string().contains("AC-2"), "{waiting}");
    let story = stage.story(&["show", "US-1.1", "--json"]).exits_with(0).json();
    assert_eq!(story["story"]["agent_status"], "implementing", "nobody sent it back: {story}");
    let inbox = stage.world.windlass(&["inbox", "--json"]).exits_with(0).json();
    let kinds: Vec<_> = inbox.as_array().unwrap().iter().map(|entry| &entry["kind"]).collect();
    assert_eq!(kinds, ["stories"], "once, and not as the run of its attempt too: {inbox}");

    repaired(&stage, BOTH);
    let script = std::fs::read_to_string(stage.world.path().join("scripts/agents.toml")).unwrap();
    let _ = stage.world.agent_from_text("agents.toml", &script.replace(MET, BOTH));
    let _ = stage.orchestrate(&["--retry", "US-1.1"]).exits_with(0);
    assert_eq!((stage.attempts(), stage.landed()), (1, vec!["1.1".to_owned()]));
}

#[test]
fn a_reviewer_who_puts_criteria_among_the_requirements_is_told_where_they_belong() {
    let stage = Stage::of(&plan_with(&["it greets"]), &[Turn::good("1.1", 1)]);
    let script = std::fs::read_to_string(stage.world.path().join("scripts/agents.toml")).unwrap();
    let wrong = script.replace("verdict = 'pass'", "verdict = 'pass', requirements_checked = ['AC-1']");
    assert_ne!(script, wrong);
    let _ = stage.world.agent_from_text("agents.toml", &wrong);
    repaired(&stage, MET);

    let _ = stage.orchestrate(&[]).exits_with(0);

    let prompt = stage.prompt("US-1.1-1", "judge");
    let (_, repair) = prompt.split_once("# Repair").unwrap();
    assert!(repair.contains("These ids stand in `reasons` alone"), "{repair}");
}

#[test]
fn a_criterion_whose_file_is_missing_is_not_met_whatever_the_reviewer_says() {
    let mut plan = plan_of(&["1.1"], &[]);
    plan["epics"][0]["stories"][0]["acceptance_criteria"][0]["verification_criterion"] =
        json!({ "type": "test", "path": "tests/extra.sh" });
    let with_file = Turn { more: "{ write = 'tests/extra.sh', text = 'true' },", ..Turn::good("1.1", 2) };
    let stage = Stage::of(&plan, &[Turn::good("1.1", 1), with_file]);

    let ended = stage.orchestrate(&[]).exits_with(0).json_lines();

    assert_eq!(ended.last().unwrap()["verified"][0]["cycles"], 2, "{ended:?}");
    assert!(stage.prompt("US-1.1-2", "doer").contains("AC-1: tests/extra.sh is not there or empty"));
}

/// Neither a folder of the file's name, nor a link that leads to itself. One that leads out of the tree is a hazard before.
#[test]
fn what_only_has_the_name_of_a_file_is_not_that_file() {
    let mut plan = plan_of(&["1.1"], &[]);
    plan["epics"][0]["stories"][0]["acceptance_criteria"][0]["verification_criterion"] =
        json!({ "type": "code", "path": "src/hello.txt" });
    for pretence in
        ["{ write = 'src/hello.txt/a', text = 'x' },", "{ symlink = 'src/hello.txt', target = 'hello.txt' },"]
    {
        let stage = Stage::of(&plan, &[Turn { more: pretence, ..Turn::good("1.1", 1) }]);

        let ended = stage.orchestrate(&["--once"]).json_lines();

        assert_eq!(ended.last().unwrap()["verified"], json!([]), "{pretence}: {ended:?}");
        assert_eq!(stage.landed(), Vec::<String>::new(), "{pretence}");
        let told = format!("{ended:?}");
        assert!(told.contains("AC-1: src/hello.txt is not there or empty"), "{pretence}: {told}");
    }
}

#[test]
fn a_link_to_a_file_of_the_tree_counts_and_it_is_told_where_it_leads() {
    let link = Turn { more: "{ symlink = 'src/hello.txt', target = '../test.sh' },", ..Turn::good("1.1", 1) };
    let stage = Stage::of(&plan_with(&["`hello.txt` says hello"]), &[link]);
    let _ = stage.orchestrate(&[]).exits_with(0);
    let summary = stage.summary("US-1.1");
    assert!(summary.ends_with("the engine found hello.txt, a link to test.sh (AC-1)"), "{summary}");
}

#[test]
fn a_file_that_a_criterion_names_in_backquotes_is_looked_for_by_the_engine() {
    let with_file = Turn { more: "{ write = 'src/hello.txt', text = 'hello' },", ..Turn::good("1.1", 2) };
    let stage = Stage::of(&plan_with(&["`hello.txt` says hello"]), &[Turn::good("1.1", 1), with_file]);

    let ended = stage.orchestrate(&[]).exits_with(0).json_lines();

    assert_eq!(ended.last().unwrap()["verified"][0]["cycles"], 2, "{ended:?}");
    let prompt = stage.prompt("US-1.1-2", "doer");
    assert!(prompt.contains("AC-1: hello.txt is not there or empty"), "{prompt}");
    let summary = stage.summary("US-1.1");
    assert!(summary.ends_with("the engine found hello.txt (AC-1)"), "{summary}");
}

#[test]
fn a_plan_can_say_that_a_named_file_is_not_to_be_looked_for() {
    let mut plan = plan_with(&["`hello.txt` is what a user would call it"]);
    plan["epics"][0]["stories"][0]["acceptance_criteria"][0]["verification_criterion"] =
        json!({ "type": "manual" });
    let stage = Stage::of(&plan, &[Turn::good("1.1", 1)]);
    let _ = stage.orchestrate(&[]).exits_with(0);
    assert!(stage.summary("US-1.1").ends_with("AC-1 names no file, so only the reviewer looked"));
}

#[test]
fn a_file_that_words_only_seem_to_name_must_be_answered_for_by_the_reviewer() {
    let stage =
        Stage::of(&plan_with(&["There is a file src/hello.txt that says hello"]), &[Turn::good("1.1", 1)]);
    repaired(&stage, "{ check = 'AC-1 verified', details = 'src/hello.txt is called part-1.1.txt here' }");

    let ended = stage.orchestrate(&[]).exits_with(0).json_lines();

    let prompt = stage.prompt("US-1.1-1", "judge");
    assert!(prompt.contains("AC-1: src/hello.txt is not there or empty"), "{prompt}");
    assert!(prompt.contains("does not speak of src/hello.txt"), "it was asked again: {prompt}");
    assert_eq!((stage.attempts(), stage.landed()), (1, vec!["1.1".to_owned()]));
    let told = "not there, and the reviewer says not needed: src/hello.txt (AC-1)";
    assert!(stage.summary("US-1.1").contains(told), "{}", stage.summary("US-1.1"));
    assert!(
        ended.iter().any(|line| line["text"].as_str().is_some_and(|text| text.contains(told))),
        "{ended:?}"
    );
}
