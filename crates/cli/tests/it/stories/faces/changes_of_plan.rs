//! Rows about plans that grow and shrink: too much at once, epics and stories made and deleted, several stories claimed, and
//! what must not come about by the way: a person's key, an article that nobody published.

use super::cases::Expected::{self, Done, Refused, Status};
use super::cases::Who::{self, Ann, User, Verifier};
use super::rows::{PLAN, Row, epic, import, plan, row, step, story_edge};
use serde_json::{Value, json};

pub(super) fn rows() -> Vec<Row> {
    [too_much(), grown(), several(), shrunk(), no_new_people(), articles()].concat()
}

/// Section 7.
fn too_much() -> Vec<Row> {
    let epics: Vec<Value> = (100..601).map(|number| json!({ "number": number, "title": "E" })).collect();
    let refused = Refused(422, "import_too_large");
    vec![import("7: too much at once", User, false, plan(&epics), refused).tells("at most 500 epics")]
}

fn made(name: &'static str, number: &'static str) -> Row {
    let story = json!({ "number": number, "title": "Made" });
    let tool = json!({ "story": story, "project_id": "rows", "epic_number": 20 });
    let body = json!({ "number": number, "title": "Made", "epic_number": 20 });
    row(
        name,
        Verifier,
        ("POST", "/projects/rows/stories", body),
        &format!("create {number} Made --project rows"),
        Some(("create_story", tool)),
        Done,
    )
    .tells(number)
}

/// Section 12: what an orchestrator adds.
fn grown() -> Vec<Row> {
    let body = json!({ "number": 20, "title": "Twenty" });
    let mut tool = body.clone();
    tool["project_id"] = json!("rows");
    vec![
        row(
            "12: an epic is made",
            Verifier,
            ("POST", "/projects/rows/epics", body),
            "epic create 20 Twenty --project rows",
            Some(("create_epic", tool)),
            Done,
        ),
        made("12: a story is made in it", "20.1"),
        made("12: and another", "20.2"),
        story_edge("6: one of them waits", "20.2", "20.1", Done),
    ]
}

fn claimed(name: &'static str, stories: &[&str], expected: Expected) -> Row {
    let body = json!({ "story_ids": stories, "project_id": "rows" });
    let words = format!("bulk claim {} --project rows", stories.join(" "));
    let http = ("POST", "/stories/bulk/claim", body.clone());
    row(name, Ann, http, &words, Some(("bulk_claim", body)), expected)
}

/// Section 4: claims in bulk are claims, and a contract says what it is about.
fn several() -> Vec<Row> {
    let other_words = json!({ "story_title": "Other words", "ac_count": 0 });
    let mut tool = other_words.clone();
    tool["story_id"] = json!("21.1");
    tool["project_id"] = json!("rows");
    vec![
        import("7: two more stories", User, false, plan(&[epic(21, &["21.1", "21.2"])]), Done),
        row(
            "4: a contract repeats the story",
            Ann,
            ("POST", "/stories/21.1/contract?project=rows", other_words),
            "",
            Some(("contract_story", tool)),
            Refused(422, "contract_mismatch"),
        ),
        step("4: one is agreed to", Ann, "contract", "21.1", Done).tells("\"action\":\"claim\""),
        step("4: so is the other", Ann, "contract", "21.2", Done),
        claimed("4: both are claimed at once", &["21.1", "21.2"], Done).tells("\"succeeded\":2"),
        claimed("4: and not once more", &["21.1", "21.2"], Status(422)),
    ]
}

fn deleted(name: &'static str, who: Who, path: &str, words: &str, expected: Expected) -> Row {
    row(name, who, ("DELETE", path, Value::Null), words, None, expected)
}

/// Section 12: taking out is for people.
fn shrunk() -> Vec<Row> {
    let (story, in_words) = ("/stories/20.2?project=rows", "delete 20.2 --project rows");
    let (all, all_in_words) = ("/epics/20?project=rows", "epic delete 20 --project rows");
    let gone = |name, number: &str| {
        row(
            name,
            Ann,
            ("GET", &format!("/stories/{number}?project=rows"), Value::Null),
            &format!("show {number} --project rows"),
            Some(("get_story", json!({ "story_id": number, "project_id": "rows" }))),
            Status(404),
        )
    };
    vec![
        deleted("12: an orchestrator deletes nothing", Verifier, story, in_words, Status(403)),
        deleted("12: a user deletes a story", User, story, in_words, Done),
        gone("12: it is gone", "20.2"),
        deleted("12: an orchestrator deletes no epic", Verifier, all, all_in_words, Status(403)),
        deleted("12: a user deletes an epic with its stories", User, all, all_in_words, Done),
        gone("12: they are gone", "20.1"),
    ]
}

/// Trap 5.
fn no_new_people() -> Vec<Row> {
    vec![
        row(
            "5: nobody dispatches a person",
            User,
            ("POST", "/dispatches", json!({ "role": "user", "agent_id": "bob" })),
            "",
            None,
            Refused(403, "role_escalation"),
        ),
        row(
            "5: an orchestrator makes no key of a person",
            Verifier,
            ("POST", "/api_keys", json!({ "name": "p", "role": "user" })),
            "keys create --name p --role user",
            None,
            Status(403),
        ),
    ]
}

/// Trap 13: what an agent writes is a draft, on every way.
fn articles() -> Vec<Row> {
    let body = json!({ "title": "Thirteen", "body": "b", "category": "decision" });
    let publish = |name, who, expected| {
        row(
            name,
            who,
            ("POST", "/articles/thirteen/publish", json!({})),
            "knowledge publish thirteen",
            Some(("knowledge_publish", json!({ "article_id": "thirteen" }))),
            expected,
        )
    };
    vec![
        row(
            "5: what an agent writes is a draft",
            Ann,
            ("POST", "/articles", body.clone()),
            &format!("knowledge create Thirteen --file {PLAN} --category decision"),
            Some(("knowledge_create", body)),
            Done,
        )
        .tells("\"status\":\"draft\""),
        publish("5: which no agent publishes", Ann, Status(403)),
        publish("5: but an orchestrator", Verifier, Done).tells("\"status\":\"published\""),
    ]
}
