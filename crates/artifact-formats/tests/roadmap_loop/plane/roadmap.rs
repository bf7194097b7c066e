//! Sections 4, 5, 9 and 25.2: one model from both machine sources, and every fault of theirs with its rule.

use serde_json::{Value, json};
use windlass_artifact_formats::roadmap_loop::closeout::MilestoneStatus;
use windlass_artifact_formats::roadmap_loop::plane::{
    Roadmap, RoadmapText, RoadmapView, states_not_carried_over,
};

use super::samples::{DIR, DRESSED, PLAIN, bundle, markdown, pretty, records, view};

fn structured(text: &str) -> Result<Roadmap, String> {
    markdown(&bundle(), text).roadmap().map_err(|problems| problems.to_string())
}

fn refused(text: &str) -> String {
    structured(text).expect_err("the roadmap is broken")
}

fn ids<'a>(items: impl Iterator<Item = &'a String>) -> Vec<&'a str> {
    items.map(String::as_str).collect()
}

#[test]
fn rule_25_2_a_structured_roadmap_is_the_machine_source() {
    let roadmap = structured(PLAIN).unwrap();
    let lazy = roadmap.milestone("lazy").unwrap();
    assert_eq!((lazy.title.as_str(), lazy.status), ("Load lazily", MilestoneStatus::InProgress));
    assert_eq!(lazy.depends_on, ["measure"]);
    assert_eq!(lazy.intent.as_deref(), Some("Load what is asked for, and nothing before that."));
    assert_eq!(lazy.completion_pointers, None);
    assert_eq!(
        lazy.extra,
        [("Risk owner".to_owned(), "the loader team".to_owned())],
        "unknown labels are kept"
    );
    let session = roadmap.direction("lazy-session").unwrap();
    assert_eq!(
        (session.milestone.as_str(), session.summary.as_str()),
        ("lazy", "Load sessions on first use.")
    );
    assert_eq!(session.preconditions, ["measure"]);
    assert_eq!(session.extra, [("Reviewers".to_owned(), "two".to_owned())]);
    let measure = roadmap.milestone("measure").unwrap();
    assert_eq!(measure.completion_pointers.as_deref(), Some("- round-331: table in docs/timings.md"));
}

#[test]
fn rule_9_ready_milestones_and_candidate_directions() {
    let roadmap = structured(PLAIN).unwrap();
    assert_eq!(ids(roadmap.unfinished().map(|milestone| &milestone.id)), ["lazy", "ship"]);
    assert_eq!(ids(roadmap.ready_milestones().map(|milestone| &milestone.id)), ["lazy"]);
    let candidates = ids(roadmap.candidate_directions().map(|direction| &direction.id));
    assert_eq!(candidates, ["lazy-session", "lazy-fonts"], "prose is for the planner to judge");
    let text = PLAIN.replace("  Preconditions: measure\n", "  Preconditions: `ship`, measure.\n");
    let roadmap = structured(&text).unwrap();
    assert_eq!(ids(roadmap.candidate_directions().map(|direction| &direction.id)), ["lazy-fonts"]);
}

#[test]
fn rule_5_1_terminal_means_every_milestone_done() {
    assert!(!structured(PLAIN).unwrap().is_terminal());
    let done = PLAIN.replace("[in-progress]", "[done]").replace("[pending]", "[done]");
    assert!(structured(&done).unwrap().is_terminal());
    let empty = &PLAIN[..PLAIN.find("### [done]").unwrap()];
    assert!(refused(empty).contains("no milestones") && refused(empty).contains("5.1"));
    assert!(!Roadmap::default().is_terminal());
}

#[test]
fn rule_25_2_every_missing_section_and_field_is_named() {
    for section in
        ["Goal", "Alignment Summary", "Outcome Boundaries", "Global Sequencing Rules", "Parallel Lanes"]
    {
        let why = refused(&PLAIN.replace(&format!("## {section}\n"), ""));
        assert!(why.contains(&format!("\"## {section}\" is missing (rule 25.2)")), "{why}");
    }
    let labels = [
        "Milestone id",
        "Depends on",
        "Intent",
        "Completion signal",
        "Completion pointers",
        "Parallel lane",
        "Coordination notes",
        "Candidate directions",
    ];
    let ship = PLAIN.find("### [pending]").unwrap();
    for label in labels {
        let at = ship + PLAIN[ship..].find(&format!("{label}:")).unwrap();
        let end = at + PLAIN[at..].find('\n').unwrap() + 1;
        let why = refused(&format!("{}{}", &PLAIN[..at], &PLAIN[end..]));
        let line = PLAIN[..ship].matches('\n').count() + 1;
        assert!(
            why.contains(&format!("{DIR}/roadmap.md:{line}: the label \"{label}:\" is missing")),
            "{why}"
        );
    }
}

#[test]
fn rule_25_2_duplicates_statuses_and_stray_directions() {
    let why = |from: &str, to: &str| refused(&PLAIN.replacen(from, to, 1));
    assert!(why("Milestone id: ship", "Milestone id: lazy").contains("\"lazy\" is used twice"));
    assert!(
        why("Direction id: ship-it", "Direction id: lazy-fonts").contains("\"lazy-fonts\" is used twice")
    );
    assert!(
        why("[pending]", "[completed]").contains("found \"completed\""),
        "no synonyms in a machine source"
    );
    assert!(why("### [pending] Ship", "### Ship").contains("has no status"));
    assert!(
        why("Depends on: measure, lazy", "Depends on: measure, gone").contains("unknown milestone \"gone\"")
    );
    assert!(why("Depends on: measure\n", "Depends on: ship\n").contains("circle: lazy → ship → lazy"));
    assert!(why("One lane.", "- Direction id: lost").contains("outside of every milestone"));
    assert!(why("Parallel lane: main", "Parallel lane: main\nIntent: again").contains("ambiguous"));
    assert!(why("- Direction id: ship-it\n", "").contains("\"Summary:\" stands before any"));
    assert!(why("  Summary: Release.\n", "").contains("\"Summary:\" is missing"));
    assert!(why("Start fast.", "<!-- open").contains("comment"));
}

#[test]
fn rule_25_2_fenced_and_commented_labels_are_no_labels() {
    let text = PLAIN.replace("Intent: Release it.", "Intent: Release it.\n<!-- Milestone id: other -->");
    assert_eq!(structured(&text).unwrap().milestones[2].id, "ship");
    let text = PLAIN.replace("One lane.", "```\n- Direction id: example\n```");
    assert!(structured(&text).is_ok());
}

#[test]
fn rule_25_2_a_value_ends_at_a_blank_line_a_label_or_a_heading() {
    let text =
        PLAIN.replace("Intent: Release it.\n", "Intent: Release it,\nsoon.\n\nA remark.\n#### Aside\nmore\n");
    assert_eq!(structured(&text).unwrap().milestones[2].intent.as_deref(), Some("Release it, soon."));
    let text = PLAIN
        .replace("Completion pointers: none\n", "Completion pointers:\n\n- Round 7: a\n\n- b\n\nA remark.\n");
    let pointers = structured(&text).unwrap().milestones[2].completion_pointers.clone();
    assert_eq!(pointers.as_deref(), Some("- Round 7: a - b"), "a list may stand below its label");
}

#[test]
fn rule_4_1_the_tolerant_reader_takes_every_variant() {
    let roadmap = RoadmapText::read("roadmap.md", DRESSED).roadmap();
    let seen: Vec<_> = roadmap
        .milestones
        .iter()
        .map(|found| (found.id.as_str(), found.title.as_str(), found.status))
        .collect();
    assert_eq!(
        seen,
        [
            ("m-1", "Measure `start`", MilestoneStatus::Done),
            ("m-10", "Load lazily", MilestoneStatus::InProgress)
        ]
    );
    assert_eq!(roadmap.milestones[0].depends_on, [""; 0]);
    assert_eq!(roadmap.milestones[0].intent.as_deref(), Some("know where the time goes"));
    assert_eq!(roadmap.milestones[1].lane.as_deref(), Some("lane-a"));
    assert_eq!(roadmap.directions[0].summary, "sessions on first use");
    let completed = DRESSED.replace("[done] 1.", "[completed] 1.").replace('\n', "\r\n");
    let roadmap = RoadmapText::read("roadmap.md", &format!("\u{feff}{completed}")).roadmap();
    assert_eq!(roadmap.milestones[0].status, MilestoneStatus::Done);
    assert_eq!(roadmap.milestones[1].id, "m-10");
}

#[test]
fn rule_4_2_a_sound_view_is_read() {
    let text = pretty(&view());
    let bundle = bundle();
    let bundle = records(&bundle, DRESSED, &text);
    let found = bundle.checked_view().unwrap();
    assert_eq!(found.anchor("m-1-pointers").unwrap().selector, "#### Completion Pointers: m-1");
    let roadmap = bundle.roadmap().unwrap();
    assert_eq!(ids(roadmap.candidate_directions().map(|direction| &direction.id)), ["d-1"]);
    assert_eq!(roadmap.milestones[1].place.pointer, "/milestones/1");
    assert!(roadmap.milestones[1].place.line > roadmap.milestones[0].place.line);
}

/// What is said of a view with some of its values replaced.
fn said_of(changes: &[(&str, Value)]) -> String {
    let mut broken = view();
    for (pointer, value) in changes {
        *broken.pointer_mut(pointer).expect("the value is there") = value.clone();
    }
    let problems = records(&bundle(), DRESSED, &pretty(&broken)).roadmap().expect_err("the view is broken");
    assert!(problems.names("4.3"), "{problems}");
    problems.to_string()
}

#[test]
fn rule_4_3_every_fault_of_a_view_is_an_error() {
    for (pointer, value, words) in [
        ("/schema_version", json!(null), "/schema_version"),
        ("/schema_version", json!("roadmap-view-v9"), "roadmap-view-v9"),
        ("/milestones/1/milestone_id", json!("m-1"), "\"m-1\" is used twice"),
        ("/directions", json!([view()["directions"][0], view()["directions"][0]]), "\"d-1\" is used twice"),
        ("/milestones/0/status", json!("completed"), "/milestones/0/status"),
        ("/directions/0/milestone_id", json!("m-9"), "unknown milestone \"m-9\""),
        ("/milestones/0/status_anchor", json!("gone"), "/milestones/0/status_anchor"),
        ("/milestones/0/completion_anchor", json!("gone"), "/milestones/0/completion_anchor"),
        ("/milestones/1/status", json!("done"), "is done here and in-progress in"),
        ("/milestones/1/depends_on", json!(["m-7"]), "unknown milestone \"m-7\""),
        ("/milestones/0/depends_on", json!(["m-10"]), "circle: m-1 → m-10 → m-1"),
        ("/milestones/1/direction_ids", json!([]), "/milestones/1/direction_ids"),
        ("/anchors/m-1-status/target_file", json!("x.md"), "\"x.md\" is not there"),
        ("/anchors/m-1-status", json!("x"), "/anchors/m-1-status: expected an object"),
        ("/roadmap_revision", json!("rev-002"), "must be \"rev-001\" as in the state"),
    ] {
        let said = said_of(&[(pointer, value)]);
        assert!(said.contains(words), "{pointer}: {said}");
    }
    let mut without = view();
    without.as_object_mut().unwrap().remove("schema_version");
    assert!(RoadmapView::parse("v", &pretty(&without)).unwrap_err().names("4.3"));
}

#[test]
fn rule_4_3_view_and_narrative_describe_one_roadmap() {
    let other = said_of(&[("/milestones", json!([view()["milestones"][0]])), ("/directions", json!([]))]);
    assert!(other.contains("roadmap.md:") && other.contains("the milestone \"m-10\" is not in"), "{other}");
    let renamed = said_of(&[
        ("/directions/0/direction_id", json!("d-2")),
        ("/milestones/1/direction_ids/0", json!("d-2")),
    ]);
    assert!(
        renamed.contains("the direction \"d-1\" is not in") && renamed.contains("\"d-2\" is not in"),
        "{renamed}"
    );
    let mut titled = view();
    titled["milestones"][0]["title"] = json!("Something else");
    assert!(records(&bundle(), DRESSED, &pretty(&titled)).roadmap().is_ok(), "titles do not count");
    let mut empty = view();
    empty["milestones"] = json!([]);
    empty["directions"] = json!([]);
    assert!(RoadmapView::parse("v", &pretty(&empty)).unwrap_err().names("5.1"));
}

#[test]
fn rule_4_3_a_missing_or_unreadable_view_is_never_terminal() {
    let bundle = bundle();
    let mut texts = records(&bundle, DRESSED, "{");
    assert!(texts.roadmap().unwrap_err().to_string().contains("not valid JSON"));
    texts.view = None;
    assert!(
        texts
            .roadmap()
            .unwrap_err()
            .to_string()
            .contains("roadmap-view.json: this file is required and missing")
    );
    let text = pretty(&view());
    let mut texts = records(&bundle, DRESSED, &text);
    texts.history = None;
    assert!(
        texts.roadmap().unwrap_err().to_string().contains("roadmap-history.md"),
        "an anchor into a missing file"
    );
}

#[test]
fn rule_4_2_anchors_that_cannot_be_used_are_refused_beforehand() {
    let bundle = bundle();
    let sound = pretty(&view());
    assert_eq!(records(&bundle, DRESSED, &sound).warnings(), []);
    let mut broken = view();
    broken["anchors"]["m-10-pointers"]["selector"] = json!("#### Nowhere");
    broken["anchors"]["m-1-pointers"]["selector"] = json!("#### Nowhere");
    let broken = pretty(&broken);
    let text = DRESSED.replace("## Goal\n", "");
    let odd = records(&bundle, &text, &sound).warnings();
    assert_eq!(odd.iter().map(|problem| problem.rule).collect::<Vec<_>>(), ["4.1"]);
    let found = records(&bundle, &text, &broken).roadmap().unwrap_err();
    let seen: Vec<_> = found.all().iter().map(|problem| (problem.rule, problem.pointer.as_str())).collect();
    assert_eq!(seen, [("4.2", "/anchors/m-10-pointers")], "finished milestones need none");
}

#[test]
fn words_about_a_milestone_are_what_a_round_is_judged_by_and_not_what_closeouts_note() {
    let bundle = bundle();
    let words = |text: &str| markdown(&bundle, text).words_about("lazy", "lazy-session");
    let same = |from: &str, to: &str| {
        assert!(PLAIN.contains(from), "{from}");
        words(&PLAIN.replacen(from, to, 1)) == words(PLAIN)
    };
    assert!(same("### [in-progress] Load lazily", "### [done] Load lazily"), "a state");
    assert!(same("Completion pointers: none\n", "Completion pointers:\n- round-340: lazy\n"), "a pointer");
    assert!(same("A table of timings.", "Two tables."), "another milestone");
    assert!(!same("Start below 50 ms.", "Start below 20 ms."));
    assert!(!same("It is the largest part.", "It is the only part."));
    assert!(!same("Milestone id: lazy", "Milestone id: lazier"));
}

#[test]
fn the_next_revision_carries_states_over() {
    let bundle = bundle();
    let roadmap = |text: &str| markdown(&bundle, text).roadmap().unwrap();
    let faults = |text: &str| states_not_carried_over(&roadmap(PLAIN), &roadmap(text)).join("; ");
    assert_eq!(faults(PLAIN), "");
    assert_eq!(
        faults(&PLAIN.replacen("[in-progress]", "[pending]", 1)),
        "",
        "what is open may be seen otherwise"
    );
    assert!(faults(&PLAIN.replacen("[in-progress]", "[done]", 1)).contains("lazy is in-progress, and"));
    assert!(faults(&PLAIN.replacen("[done]", "[pending]", 1)).contains("measure is done, and"));
    let renamed = PLAIN.replace("id: measure\n", "id: gauge\n").replace("on: measure", "on: gauge");
    let found = faults(&renamed);
    assert!(found.contains("gauge is new, and") && found.contains("does not have it"), "{found}");
}
