//! Section 7: directories of planning files.

use serde_json::{Value, json};
use windlass_artifact_formats::story_queue::{
    Dangling, Duplicate, PlanningImport, Renumbering, Unmapped, import_of_planning_files,
    planning_file_of_story, story_number,
};

fn file(id: &str, depends_on: &[&str]) -> String {
    json!({
        "id": id,
        "title": format!("Story {id}"),
        "epic": {"id": "EPIC-7", "name": "Ingest"},
        "priority": "high",
        "phase": "core",
        "story": {"as_a": "reader", "i_want_to": "read", "so_that": "I know"},
        "rationale": "because",
        "acceptance_criteria": [{"id": "AC-1", "description": "it reads", "status": "open"}],
        "test_cases": ["one"],
        "technical_notes": [],
        "dependencies": depends_on,
        "estimated_hours": 2.5,
        "somebody's key": {"deep": [1, 2]},
    })
    .to_string()
}

fn import(files: &[(&str, String)], renumbering: &Renumbering) -> PlanningImport {
    import_of_planning_files(files.iter().map(|(path, text)| (*path, text.as_str())), renumbering)
}

fn numbers(import: &PlanningImport) -> Vec<String> {
    let epics = import.payload["epics"].as_array().expect("the payload has this shape");
    let stories =
        epics.iter().flat_map(|epic| epic["stories"].as_array().expect("the payload has this shape"));
    stories.map(|story| story["number"].as_str().expect("the payload has this shape").to_owned()).collect()
}

#[test]
fn a_directory_becomes_epics_with_numbers_and_titles() {
    let files = [
        ("docs/epic_2/us_2.10.json", file("US-2.10", &["US-2.1", "US-2.9 (sign in)"])),
        ("docs/epic_2/us_2.9.json", file("US-2.9", &[])),
        ("docs/epic_2/us_2.1.json", file("US-2.1", &[])),
        ("docs/other/us_7.4.json", file("US-7.4", &["US-2.10"])),
    ];
    let import = import(&files, &Renumbering::default());
    assert!(import.report.is_whole(), "{:?}", import.report);
    assert_eq!((import.report.epics, import.report.stories, import.report.dependencies), (2, 4, 3));
    assert_eq!(numbers(&import), ["2.1", "2.9", "2.10", "7.4"], "as people count");
    let epic = &import.payload["epics"][1];
    assert_eq!(
        (&epic["number"], &epic["title"]),
        (&json!(7), &json!("Ingest")),
        "from its text where the path is silent"
    );
    assert_eq!(import.payload["epics"][0]["number"], 2, "the path comes first");
    let story = &epic["stories"][0];
    assert_eq!(story["description"], "As a reader, I want to read, so that I know.");
    assert_eq!(story["metadata"]["planning"]["somebody's key"], json!({"deep": [1, 2]}));
    assert_eq!(story["estimated_hours"], 2.5);
    assert_eq!(import.payload["story_dependencies"][2], json!({"story": "7.4", "depends_on": "2.10"}));
}

#[test]
fn numbers_that_stand_twice_are_reported_and_can_be_renumbered_by_path() {
    let files = [
        ("a/epic_21/us_21.1.json", file("US-21.1", &[])),
        ("b/epic_21/us_21.1.json", file("US-21.1", &[])),
        ("b/epic_21/us_21.2.json", file("US-21.2", &["US-21.1"])),
    ];
    let plain = import(&files, &Renumbering::default());
    let duplicate = Duplicate {
        number: "21.1".into(),
        taken: "a/epic_21/us_21.1.json".into(),
        left_out: "b/epic_21/us_21.1.json".into(),
    };
    assert_eq!((plain.report.duplicates, plain.report.stories), (vec![duplicate], 2));
    let decided = Renumbering::new([("b/epic_21/us_21.1.json".to_owned(), "21.101".to_owned())]);
    let both = import(&files, &decided);
    assert!(both.report.is_whole());
    assert_eq!(numbers(&both), ["21.1", "21.2", "21.101"]);
    assert_eq!(both.payload["story_dependencies"][0]["depends_on"], "21.1", "the one that kept its number");
}

#[test]
fn three_parts_and_letters_are_numbered_by_a_rule_that_is_told() {
    let files = [
        ("epic_7/us_7.4.2.json", file("US-7.4.2", &[])),
        ("epic_7/us_7.4b.json", file("US-7.4b", &["US-7.4.2"])),
        ("epic_7/us_7.4.3a.json", file("US-7.4.3a", &[])),
        ("epic_7/us_7.4.json", file("US-7.4", &[])),
    ];
    let import = import(&files, &Renumbering::default());
    assert!(import.report.is_whole());
    assert_eq!(numbers(&import), ["7.4", "7.402", "7.431", "7.492"]);
    let told = [("US-7.4.2", "7.402"), ("US-7.4.3a", "7.431"), ("US-7.4b", "7.492")];
    assert_eq!(import.report.renumbered, told.map(|(from, to)| (from.to_owned(), to.to_owned())));
    assert_eq!(import.payload["story_dependencies"][0], json!({"story": "7.492", "depends_on": "7.402"}));
}

#[test]
fn the_rule_takes_no_number_that_somebody_wrote() {
    let files =
        [("epic_7/a/us_7.4.2.json", file("US-7.4.2", &[])), ("epic_7/us_7.402.json", file("US-7.402", &[]))];
    let clash = import(&files, &Renumbering::default());
    assert_eq!(clash.report.duplicates[0].left_out, "epic_7/a/us_7.4.2.json");
    let decided = Renumbering::new([("US-7.4.2".to_owned(), "US-7.5".to_owned())]);
    let import = import(&files, &decided);
    assert!(import.report.is_whole());
    assert_eq!(numbers(&import), ["7.5", "7.402"]);
}

#[test]
fn what_cannot_be_taken_is_named() {
    let files = [
        ("epic_1/us_1.1.json", file("US-1.1", &["US-9.9", "EPIC-2"])),
        ("epic_1/us_1.2.json", "{".to_owned()),
        ("epic_1/us_1.3.json", json!({"id": "US-1.3"}).to_string()),
        ("epic_1/us_1.4.json", "[]".to_owned()),
        ("epic_1/us_x.json", file("US-1.2.3.4", &[])),
    ];
    let report = import(&files, &Renumbering::default()).report;
    let dangling = |depends_on: &str| Dangling { story: "1.1".into(), depends_on: depends_on.into() };
    assert_eq!(report.dangling, [dangling("US-9.9"), dangling("EPIC-2")]);
    let unreadable: Vec<&str> = report.unreadable.iter().map(|file| file.why.as_str()).collect();
    assert!(unreadable[0].starts_with("it is not JSON"));
    assert_eq!(unreadable[1..], ["it has no title", "it is not a JSON object"]);
    assert_eq!(report.unmapped, [Unmapped { id: "US-1.2.3.4".into(), path: "epic_1/us_x.json".into() }]);
    assert!(!report.is_whole());
}

#[test]
fn a_planning_file_goes_round_without_loss() {
    let text = file("US-7.4.2", &["US-7.1"]);
    let files =
        [("docs/epic_7/us_7.4.2.json", text.clone()), ("docs/epic_7/us_7.1.json", file("US-7.1", &[]))];
    let import = import(&files, &Renumbering::default());
    let story = &import.payload["epics"][0]["stories"][1];
    let (path, again) = planning_file_of_story(story).unwrap();
    assert_eq!(path, "docs/epic_7/us_7.4.2.json");
    assert_eq!(again, serde_json::from_str::<Value>(&text).unwrap());
    let mut as_served = story.clone();
    as_served["acceptance_criteria"] = json!([{"ac_id": "AC-1", "criterion": "it reads", "status": "open"}]);
    assert_eq!(planning_file_of_story(&as_served).unwrap().1, again, "also as the server words it");
    assert!(planning_file_of_story(&json!({"title": "made by hand", "metadata": {}})).is_none());
}

#[test]
fn only_one_and_two_parts_are_numbers_as_written() {
    for (text, number) in [("US-3.1", "3.1"), ("3", "3"), (" us-3.010 ", "3.10"), ("us_4.2", "4.2")] {
        assert_eq!(story_number(text).as_deref(), Some(number));
    }
    for text in ["", "3.", ".1", "3.1.2", "3.1a", "33333", "3.-1", "x"] {
        assert_eq!(story_number(text), None, "{text}");
    }
}
