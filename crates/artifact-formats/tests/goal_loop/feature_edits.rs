//! Section 13, row 1: edits of `FEATURES.json` change the bytes of their fields and no others.

use proptest::prelude::*;
use windlass_artifact_formats::goal_loop::{EditFault, FeatureList, ItemContract, ItemStatus, NewItem};

use crate::features::{ONBOARDED, ours};
use crate::id;

fn new_item(id_text: &str) -> NewItem {
    NewItem {
        id: id(id_text),
        name: "New \"one\"\nhere".to_owned(),
        priority: 9,
        status: ItemStatus::NotStarted,
        description: "d".to_owned(),
        acceptance_criteria: vec!["one".to_owned(), "two".to_owned()],
        contract: ItemContract { deliverable: "x".to_owned(), verification: "y".to_owned() },
        dependencies: vec![],
        kind: None,
        affected_files: vec![],
        risk: None,
        rollback_plan: None,
    }
}

#[test]
fn a_status_changes_only_its_own_bytes() {
    let list = ours(ONBOARDED).set_status(&id("R001"), ItemStatus::InProgress).unwrap();
    assert_eq!(list.text(), ONBOARDED.replace(r#""needs-rework""#, r#""in-progress""#));
}

#[test]
fn new_keys_go_to_the_end_of_the_item_in_its_own_layout() {
    let list = ours(ONBOARDED)
        .set_true(&id("F001"), "designed")
        .and_then(|list| list.set_text(&id("F001"), "design_doc", "docs/designs/F001-design.md"))
        .and_then(|list| list.set_text(&id("R001"), "design_status", "approved"))
        .unwrap();
    let expected = ONBOARDED
        .replace(
            "\"weight\": 1e2 }\n",
            "\"weight\": 1e2 },\n      \"designed\": true,\n      \"design_doc\": \"docs/designs/F001-design.md\"\n",
        )
        .replace(r#""rollback_plan":"revert"}"#, r#""rollback_plan":"revert","design_status":"approved"}"#);
    assert_eq!(list.text(), expected);
    let item = list.get(&id("F001")).unwrap();
    assert!(item.designed);
    assert_eq!(item.design_doc.as_deref(), Some("docs/designs/F001-design.md"));
}

fn refined() -> ItemContract {
    ItemContract { deliverable: "a \"page\"".to_owned(), verification: "v".to_owned() }
}

#[test]
fn a_refined_contract_changes_only_the_values_that_differ() {
    let list = ours(ONBOARDED).set_contract(&id("F001"), &refined()).unwrap();
    assert_eq!(list.text(), ONBOARDED.replace(r#""deliverable": "d""#, r#""deliverable": "a \"page\"""#));
    assert_eq!(list.get(&id("F001")).unwrap().contract, refined());
    assert_eq!(list.set_contract(&id("F001"), &refined()).unwrap().text(), list.text());
}

#[test]
fn a_contract_that_is_missing_or_half_there_is_completed_in_the_items_layout() {
    let half = ONBOARDED.replace(r#"{ "deliverable": "d", "verification": "v" }"#, r#"{ "by": "kim" }"#);
    let list = ours(&half).set_contract(&id("F001"), &refined()).unwrap();
    let whole = r#"{ "by": "kim", "deliverable": "a \"page\"", "verification": "v" }"#;
    assert_eq!(list.text(), half.replace(r#"{ "by": "kim" }"#, whole));
    let spelled = "\"contract\": {\n        \"deliverable\": \"a \\\"page\\\"\",\n        \"verification\": \"v\"\n      }";
    let none =
        ONBOARDED.replace("      \"contract\": { \"deliverable\": \"d\", \"verification\": \"v\" },\n", "");
    let list = ours(&none).set_contract(&id("F001"), &refined()).unwrap();
    let end = "\"weight\": 1e2 }";
    assert_eq!(list.text(), none.replace(end, &format!("{end},\n      {spelled}")));
    for empty in ["{ }", "null"] {
        let there = ONBOARDED.replace(r#"{ "deliverable": "d", "verification": "v" }"#, empty);
        let list = ours(&there).set_contract(&id("F001"), &refined()).unwrap();
        assert_eq!(list.text(), there.replace(&format!("\"contract\": {empty}"), spelled));
    }
}

#[test]
fn the_same_value_in_another_spelling_is_left_alone() {
    let text = ONBOARDED.replace("\"not-started\"", "\"not\\u002dstarted\"");
    assert_eq!(ours(&text).set_status(&id("F001"), ItemStatus::NotStarted).unwrap().text(), text);
}

#[test]
fn an_item_is_appended_in_the_layout_of_the_last_one() {
    let multi = "{\n\t\"features\": [\n\t\t{\n\t\t\t\"id\": \"F001\",\n\t\t\t\"name\": \"a\",\n\t\t\t\"status\": \"complete\",\n\t\t\t\"acceptance_criteria\": []\n\t\t}\n\t]\n}";
    let list = ours(multi);
    assert_eq!(list.next_id('F'), Some(id("F002")));
    let longer = list.append(&new_item("F002")).unwrap();
    let added = longer.text().strip_prefix(multi.strip_suffix("\n\t]\n}").unwrap()).unwrap();
    assert!(
        added.starts_with(",\n\t\t{\n\t\t\t\"id\": \"F002\",\n\t\t\t\"name\": \"New \\\"one\\\"\\nhere\","),
        "{added}"
    );
    assert!(added.contains("\n\t\t\t\"acceptance_criteria\": [\n\t\t\t\t\"one\",\n"), "{added}");
    assert!(added.ends_with("\n\t\t}\n\t]\n}"), "{added}");
    let compact = ours(ONBOARDED).append(&new_item("B001")).unwrap();
    assert!(compact.text().contains("\"revert\"},\n    {\"id\":\"B001\",\"name\":"), "{}", compact.text());
    for empty in ["{\"features\": []}", "{\r\n    \"features\": [\r\n    ]\r\n}\r\n"] {
        let list = ours(empty).append(&new_item("F001")).unwrap();
        assert_eq!(list.items().count(), 1);
        assert_eq!(list.text().contains('\n'), empty.contains('\n'));
        assert!(!list.text().replace("\r\n", "").contains('\n'), "{:?}", list.text());
    }
}

#[test]
fn numbers_are_never_given_twice() {
    let list = ours(ONBOARDED);
    assert_eq!(list.next_id('B'), Some(id("B001")));
    assert_eq!(list.next_id('E'), Some(id("E002")));
    assert!(matches!(list.append(&new_item("F001")), Err(EditFault::WouldBreak(_))));
}

#[test]
fn edits_that_would_break_the_file_are_refused() {
    let list = ours(ONBOARDED);
    assert_eq!(list.set_true(&id("F777"), "designed"), Err(EditFault::NoSuchItem(id("F777"))));
    assert!(matches!(list.set_text(&id("F001"), "id", "F002"), Err(EditFault::FrozenKey(_))));
    assert!(matches!(list.set_text(&id("F001"), "status", "done"), Err(EditFault::WouldBreak(_))));
}

/// The file in another dress: line ends, byte order mark, end of file.
fn dressed(crlf: bool, mark: bool, final_newline: bool) -> String {
    let mut text = ONBOARDED.trim_end().to_owned();
    if final_newline {
        text.push('\n');
    }
    if crlf {
        text = text.replace('\n', "\r\n");
    }
    if mark { format!("\u{feff}{text}") } else { text }
}

#[derive(Debug, Clone)]
enum Edit {
    Status(usize, usize),
    Text(usize, usize, String),
    True(usize),
}

const IDS: [&str; 3] = ["E001", "F001", "R001"];
const STATUSES: [ItemStatus; 3] = [ItemStatus::Complete, ItemStatus::Blocked, ItemStatus::NeedsRework];
const KEYS: [&str; 3] = ["design_doc", "design_status", "odd \"key\""];

fn edit() -> impl Strategy<Value = Edit> {
    prop_oneof![
        (0..3_usize, 0..3_usize).prop_map(|(item, status)| Edit::Status(item, status)),
        (0..3_usize, 0..3_usize, "[a-z\"\\\\{}\n\u{e4}]{0,8}")
            .prop_map(|(item, key, text)| Edit::Text(item, key, text)),
        (0..3_usize).prop_map(Edit::True),
    ]
}

fn apply(list: &FeatureList, edit: &Edit) -> FeatureList {
    match edit {
        Edit::Status(item, status) => list.set_status(&id(IDS[*item]), STATUSES[*status]),
        Edit::Text(item, key, text) => list.set_text(&id(IDS[*item]), KEYS[*key], text),
        Edit::True(item) => list.set_true(&id(IDS[*item]), "designed"),
    }
    .expect("the edit leaves a sound file")
}

proptest! {
    #[test]
    fn edits_compose_and_everything_else_stays(
        crlf: bool, mark: bool, final_newline: bool,
        edits in proptest::collection::vec(edit(), 1..8),
    ) {
        let before = dressed(crlf, mark, final_newline);
        let mut list = ours(&before);
        for edit in &edits {
            let next = apply(&list, edit);
            let (old, new) = (list.text(), next.text());
            // What differs is one stretch inside the edited item.
            let start = old.bytes().zip(new.bytes()).take_while(|(a, b)| a == b).count();
            let most = old.len().min(new.len()) - start;
            let end = old.bytes().rev().zip(new.bytes().rev()).take_while(|(a, b)| a == b).count().min(most);
            let item = match edit { Edit::Status(item, _) | Edit::Text(item, ..) | Edit::True(item) => IDS[*item] };
            let begin = old.find(&format!("\"{item}\"")).unwrap();
            let after_item = IDS.iter().filter_map(|id| old.find(&format!("\"id\": \"{id}\"")).or_else(|| old.find(&format!("\"id\":\"{id}\"")))).filter(|at| *at > begin).min();
            if old != new {
                prop_assert!(start > begin, "{edit:?} touched {start} before {begin}");
                prop_assert!(old.len() - end < after_item.unwrap_or(old.len()), "{edit:?}");
            }
            // Again is nothing.
            prop_assert_eq!(apply(&next, edit).text().to_owned(), new);
            list = next;
        }
        // Taking the edited fields out again gives back the file.
        let mut plain = list.text().to_owned();
        let newline = if crlf { "\r\n" } else { "\n" };
        for key in ["designed", "design_doc", "design_status", "odd \\\"key\\\""] {
            for lead in [format!(",{newline}      \"{key}\": "), format!(",\"{key}\":")] {
                while let Some(at) = plain.find(&lead) {
                    let value = &plain[at + lead.len()..];
                    let mut values = serde_json::Deserializer::from_str(value).into_iter::<serde_json::Value>();
                    values.next().unwrap().unwrap();
                    let length = lead.len() + values.byte_offset();
                    plain.replace_range(at..at + length, "");
                }
            }
        }
        for (item, status) in IDS.iter().zip(["existing", "not-started", "needs-rework"]) {
            let at = plain.find(&format!("\"{item}\",")).unwrap();
            let status_at = at + plain[at..].find("\"status\":").unwrap() + 9;
            let open = status_at + plain[status_at..].find('"').unwrap() + 1;
            let close = open + plain[open..].find('"').unwrap();
            plain.replace_range(open..close, status);
        }
        prop_assert_eq!(plain, before);
    }
}
