//! Section 2.1: `FEATURES.json` as init, onboard, refactor and sync leave it, look-alikes, and every broken rule.

use windlass_artifact_formats::goal_loop::{
    DefinitionChanges, FeatureList, FieldOwner, ItemChange, ItemStatus, Priority, Recognised,
};

use crate::id;

/// Three kinds of item, keys we do not know, odd numbers and one line without blanks.
pub(crate) const ONBOARDED: &str = r#"{
  "project_type": "onboarded",
  "onboarded_date": "2026-04-29",
  "features": [
    {
      "id": "E001",
      "name": "Existing login",
      "priority": 0,
      "status": "existing",
      "description": "Was there before",
      "acceptance_criteria": ["Users can log in"],
      "contract": { "deliverable": "login", "verification": "tests/login" },
      "dependencies": [],
      "location": ["src/login.rs"],
      "test_coverage": "partial",
      "quality": "good"
    },
    {
      "id": "F001",
      "name": "Invoices",
      "priority": 1.50,
      "status": "not-started",
      "description": "Line one\nline \u00fcber two",
      "acceptance_criteria": ["A PDF is made", "It is mailed"],
      "contract": { "deliverable": "d", "verification": "v" },
      "dependencies": ["E001"],
      "x-team": { "owner": "kim",   "weight": 1e2 }
    },
    {"id":"R001","name":"Split module","priority":2,"status":"needs-rework","description":"","acceptance_criteria":["existing tests still pass"],"contract":{"deliverable":"","verification":""},"dependencies":["F001"],"type":"structural","affected_files":["src/a.rs","src/b/"],"risk":"low","rollback_plan":"revert"}
  ]
}
"#;

pub(crate) fn ours(text: &str) -> FeatureList {
    match FeatureList::recognise(text) {
        Recognised::Ours(list) => list,
        other => panic!("{other:?}"),
    }
}

fn faults(text: &str) -> Vec<String> {
    match FeatureList::recognise(text) {
        Recognised::Invalid(faults) => faults.sentences().to_vec(),
        other => panic!("must be invalid: {other:?}"),
    }
}

/// A file with one item per pair of id and further keys.
fn queue(items: &[(&str, &str)]) -> String {
    let items: Vec<String> = items
        .iter()
        .map(|(id, more)| {
            format!(r#"{{"id": "{id}", "name": "n", "status": "not-started", "acceptance_criteria": ["c"]{more}}}"#)
        })
        .collect();
    format!("{{\"features\": [\n{}\n]}}", items.join(",\n"))
}

#[test]
fn every_key_of_2_1_is_read() {
    let list = ours(ONBOARDED);
    assert_eq!(list.project_type.as_deref(), Some("onboarded"));
    let items: Vec<_> = list.items().collect();
    assert_eq!(items.iter().map(|item| item.id.as_str()).collect::<Vec<_>>(), ["E001", "F001", "R001"]);
    assert_eq!(items[0].status, ItemStatus::Existing);
    assert_eq!(items[0].location, ["src/login.rs"]);
    assert_eq!(
        (items[0].test_coverage.as_deref(), items[0].quality.as_deref()),
        (Some("partial"), Some("good"))
    );
    assert_eq!(items[1].priority, Priority::Given(1.5));
    assert_eq!(items[1].description, "Line one\nline über two");
    assert_eq!(items[1].acceptance_criteria, ["A PDF is made", "It is mailed"]);
    assert_eq!(items[1].contract.verification, "v");
    assert_eq!(items[1].dependencies, [id("E001")]);
    assert_eq!(
        items[1].extra.iter().collect::<Vec<_>>(),
        [("x-team", r#"{ "owner": "kim",   "weight": 1e2 }"#)]
    );
    assert_eq!(items[2].kind.as_deref(), Some("structural"));
    assert_eq!(items[2].affected_files, ["src/a.rs", "src/b/"]);
    assert_eq!((items[2].risk.as_deref(), items[2].rollback_plan.as_deref()), (Some("low"), Some("revert")));
    assert_eq!(list.unmet_dependencies(items[1]), []);
    assert_eq!(list.unmet_dependencies(items[2]), [id("F001")]);
}

#[test]
fn a_missing_priority_comes_last_and_floats_sort_among_integers() {
    let text = queue(&[("F001", ""), ("F002", r#", "priority": 2"#), ("F003", r#", "priority": 1.5"#)]);
    let list = ours(&text);
    let mut items: Vec<_> = list.items().collect();
    items.sort_by_key(|item| item.priority);
    assert_eq!(items.iter().map(|item| item.id.as_str()).collect::<Vec<_>>(), ["F003", "F002", "F001"]);
}

#[test]
fn files_of_other_tools_are_recognised_by_shape_and_named() {
    for (text, part) in [
        ("[]", "one JSON object"),
        (r#"{"items": []}"#, "no key \"features\""),
        (r#"{"features": {"a": 1}}"#, "an object, not a list"),
        (r#"{"features": ["login", "logout"]}"#, "1:15: an item is text"),
        (
            r#"{"features": [{"id": "F001", "name": "n", "status": "fertig", "acceptance_criteria": []}]}"#,
            "fertig",
        ),
        (
            r#"{"features": [{"id": 7, "name": "n", "status": "complete", "acceptance_criteria": []}]}"#,
            "text \"id\"",
        ),
        (r#"{"features": [{"id": "F001", "name": "n", "status": "complete"}]}"#, "acceptance_criteria"),
    ] {
        match FeatureList::recognise(text) {
            Recognised::Foreign(why) => assert!(why.contains(part), "{why}"),
            other => panic!("{text}: {other:?}"),
        }
        assert!(FeatureList::parse(text).unwrap_err().to_string().contains("another tool"));
    }
}

#[test]
fn an_empty_queue_is_ours() {
    assert_eq!(ours(r#"{"features": []}"#).items().count(), 0);
}

#[test]
fn a_malformed_file_is_named_with_its_position_and_is_not_missing() {
    let found = faults("{\n  \"features\": [\n    {\"id\": \"F001\",}\n  ]\n}");
    assert!(found[0].contains("line 3 column"), "{found:?}");
    assert!(faults("")[0].contains("empty"));
}

#[test]
fn broken_rules_are_named_with_line_and_column() {
    let known = ("F001", "");
    for (more, part) in [
        (("F001", ""), "3:1: F001: this id is taken by the item at 2:1"),
        (("F02", ""), "F02: id: must be one capital letter"),
        (("f002", ""), "capital letter"),
        (("F002", r#", "dependencies": ["F009"]"#), "F002: depends on F009, which is not in the file"),
        (("F002", r#", "dependencies": ["later"]"#), "must be the id of an item; found \"later\""),
        (("F002", r#", "dependencies": ["F002"]"#), "in a circle: F002 → F002"),
        (("F002", r#", "priority": "high""#), "F002: priority: expected a number, found text"),
        (("F002", r#", "designed": "yes""#), "F002: designed: expected true or false"),
        (("F002", r#", "contract": "c""#), "F002: contract: expected an object"),
        (("F002", r#", "name": "again""#), "3:92: F002: name: this key appears more than once"),
        (("F002", r#", "affected_files": [1]"#), "F002: affected_files/0: expected text"),
    ] {
        let found = faults(&queue(&[known, more]));
        assert!(found.iter().any(|fault| fault.contains(part)), "{part}: {found:?}");
        assert!(
            found.iter().all(|fault| fault.starts_with(|letter: char| letter.is_ascii_digit())),
            "{found:?}"
        );
    }
}

#[test]
fn one_unknown_status_among_known_ones_is_a_fault_and_not_another_tool() {
    let text = queue(&[("F001", ""), ("F002", "")]).replacen("not-started", "done", 1);
    let found = faults(&text);
    assert!(found[0].starts_with("2:39: F001: status: must be exactly one of \"not-started\""), "{found:?}");
    assert!(found[0].ends_with("found \"done\""), "{found:?}");
}

#[test]
fn a_longer_circle_is_told_once_and_whole() {
    let on = |other: &str| format!(r#", "dependencies": ["{other}"]"#);
    let (a, b, c) = (on("F002"), on("F003"), on("F001"));
    let found = faults(&queue(&[("F001", &a), ("F002", &b), ("F003", &c), ("F004", &a)]));
    assert_eq!(found.len(), 1, "{found:?}");
    assert!(found[0].contains("F001 → F002 → F003 → F001"), "{found:?}");
}

#[test]
fn a_chain_of_thousands_of_dependencies_is_walked() {
    let items: Vec<(String, String)> = (1..3000)
        .map(|n| {
            (
                format!("F{n:04}"),
                if n > 1 { format!(r#", "dependencies": ["F{:04}"]"#, n - 1) } else { String::new() },
            )
        })
        .collect();
    let items: Vec<(&str, &str)> = items.iter().map(|(id, more)| (id.as_str(), more.as_str())).collect();
    assert_eq!(ours(&queue(&items)).items().count(), 2999);
}

#[test]
fn a_builder_that_marks_its_item_or_edits_another_is_caught_by_name() {
    let before = ours(ONBOARDED);
    let text = ONBOARDED
        .replace(r#""status": "not-started""#, r#""status": "complete""#)
        .replace("Split module", "Split  module")
        .replace(r#""weight": 1e2"#, r#""weight": 1e3"#)
        .replace(r#""onboarded_date": "2026-04-29""#, r#""onboarded_date": "today""#);
    let changes = DefinitionChanges::between(&before, &ours(&text));
    let sentences: Vec<String> = changes.items.iter().map(ItemChange::sentence).collect();
    assert_eq!(
        sentences,
        [
            "F001: status changed from \"not-started\" to \"complete\"; x-team changed from \
             { \"owner\": \"kim\", \"weight\": 1e2 } to { \"owner\": \"kim\", \"weight\": 1e3 }",
            "R001: name changed from \"Split module\" to \"Split module\"",
        ]
    );
    let engine: Vec<_> =
        changes.fields_of(FieldOwner::Engine).map(|(id, field)| (id.as_str(), field.key.as_str())).collect();
    assert_eq!(engine, [("F001", "status")]);
    let outside: Vec<_> =
        changes.outside(&id("F001")).into_iter().map(|change| change.id().as_str()).collect();
    assert_eq!(outside, ["R001"]);
    assert_eq!(changes.other_keys, ["onboarded_date"]);
}

#[test]
fn items_that_come_go_or_move_are_changes_and_layout_is_none() {
    let before = ours(&queue(&[("F001", ""), ("F002", "")]));
    let after = ours(&queue(&[("F003", ""), ("F002", "")]));
    let changes = DefinitionChanges::between(&before, &after);
    assert_eq!(changes.items, [ItemChange::Removed(id("F001")), ItemChange::Added(id("F003"))]);
    assert!(!changes.reordered);
    let swapped = ours(&queue(&[("F002", ""), ("F001", "")]));
    assert!(DefinitionChanges::between(&before, &swapped).reordered);
    let reformatted =
        ours(&before.text().replace(", ", ",\r\n\t").replace("not-started", "not\\u002dstarted"));
    assert!(DefinitionChanges::between(&before, &reformatted).is_empty());
}
