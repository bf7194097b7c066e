//! The rows of the other sections: dependencies, import and export, checkpoints, the feed, errors, tokens and dispatches. Each
//! is one deed in three forms; they are played in their order, one after the other, in a project of their own.

use super::cases::Expected::{self, Done, Refused, Status};
use super::cases::Who::{self, Ann, Bob, Reporter, Reviewer, Stranger, User, Verifier};
use super::changes_of_plan;
use serde_json::{Value, json};

#[derive(Clone)]
pub(super) struct Row {
    /// The section, and what holds.
    pub(super) name: &'static str,
    pub(super) who: Who,
    pub(super) http: (&'static str, String, Value),
    /// Empty where the command line has no such verb; `PLAN` stands for a file with the body.
    pub(super) words: Vec<String>,
    /// Absent where there is no such tool.
    pub(super) tool: Option<(&'static str, Value)>,
    pub(super) expected: Expected,
    /// What every face tells, whatever else it says.
    pub(super) tells: &'static str,
}

pub(super) const PLAN: &str = "PLAN";
/// A word of nothing but a blank.
const BLANK: &str = "_";

impl Row {
    pub(super) fn tells(mut self, words: &'static str) -> Self {
        self.tells = words;
        self
    }
}

pub(super) fn row(
    name: &'static str,
    who: Who,
    http: (&'static str, &str, Value),
    words: &str,
    tool: Option<(&'static str, Value)>,
    expected: Expected,
) -> Row {
    let (method, path, body) = http;
    let word = |word: &str| if word == BLANK { " ".to_owned() } else { word.to_owned() };
    let words = words.split(' ').filter(|word| !word.is_empty()).map(word).collect();
    Row { name, who, http: (method, path.to_owned(), body), words, tool, expected, tells: "" }
}

pub(super) fn import(name: &'static str, who: Who, merge: bool, plan: Value, expected: Expected) -> Row {
    let (query, flag) = if merge { ("?merge=true", " --merge") } else { ("", "") };
    let tool = json!({ "project_id": "rows", "payload": plan, "merge": merge });
    let path = format!("/projects/rows/import{query}");
    let words = format!("import {PLAN} --project rows{flag}");
    row(name, who, ("POST", &path, plan), &words, Some(("import_stories", tool)), expected)
}

pub(super) fn epic(number: u32, stories: &[&str]) -> Value {
    let story = |number: &&str| json!({ "number": number, "title": format!("Story {number}") });
    json!({ "number": number, "title": format!("Epic {number}"), "stories": stories.iter().map(story).collect::<Vec<_>>() })
}

pub(super) fn plan(epics: &[Value]) -> Value {
    json!({ "epics": epics })
}

pub(super) fn story_edge(name: &'static str, story: &str, on: &str, expected: Expected) -> Row {
    let body = json!({ "story_id": story, "depends_on_story_id": on, "project_id": "rows" });
    let words = format!("depends {story} --on {on} --project rows");
    row(
        name,
        Verifier,
        ("POST", "/story_dependencies", body.clone()),
        &words,
        Some(("add_story_dependency", body)),
        expected,
    )
}

fn epic_edge(name: &'static str, epic: &str, on: &str, expected: Expected) -> Row {
    let body = json!({ "epic_id": epic, "depends_on_epic_id": on, "project_id": "rows" });
    let words = format!("depends {epic} --on {on} --epic --project rows");
    row(
        name,
        Verifier,
        ("POST", "/epic_dependencies", body.clone()),
        &words,
        Some(("add_epic_dependency", body)),
        expected,
    )
}

/// One step of a story, where nothing but the story is said.
pub(super) fn step(name: &'static str, who: Who, verb: &'static str, story: &str, expected: Expected) -> Row {
    let (tool, body) = match verb {
        "contract" => ("contract_story", json!({ "story_title": format!("Story {story}"), "ac_count": 0 })),
        "claim" => ("claim_story", json!({})),
        "start" => ("start_story", json!({})),
        "verify" => ("verify_story", json!({})),
        "report" => ("report_story", json!({})),
        _ => ("review_complete", json!({ "review_type": "code" })),
    };
    let mut arguments = body.clone();
    arguments["story_id"] = json!(story);
    arguments["project_id"] = json!("rows");
    let path = format!("/stories/{story}/{verb}?project=rows");
    row(
        name,
        who,
        ("POST", &path, body),
        &format!("{verb} {story} --project rows"),
        Some((tool, arguments)),
        expected,
    )
}

fn save(name: &'static str, who: Who, version: u64, expected: Expected) -> Row {
    let body = json!({ "state_data": { "phase": version }, "version": version });
    let tool = json!({ "project_id": "rows", "state_data": { "phase": version }, "version": version });
    let words = format!("state save --project rows --data {{\"phase\":{version}}} --version {version}");
    row(name, who, ("PUT", "/orchestrator/state/rows", body), &words, Some(("state_save", tool)), expected)
}

/// Under the key of an orchestration that somebody else's agent runs.
fn save_reserved() -> Row {
    let key = "windlass:00000000-0000-0000-0000-000000000001";
    let body = json!({ "state_key": key, "state_data": {}, "version": 0 });
    let mut tool = body.clone();
    tool["project_id"] = json!("rows");
    row(
        "8: nobody saves over an orchestration's own notes",
        Verifier,
        ("PUT", "/orchestrator/state/rows", body),
        &format!("state save --project rows --data {{}} --key {key} --version 0"),
        Some(("state_save", tool)),
        Refused(403, "state_key_reserved"),
    )
    .tells("nobody else saves there")
}

fn list(name: &'static str, path: &str, words: &str, tool: &'static str) -> Row {
    row(name, Ann, ("GET", path, Value::Null), words, Some((tool, json!({ "project_id": "rows" }))), Done)
}

pub(super) fn all() -> Vec<Row> {
    let sections = [importing(), rings(), brought_as_done(), waiting(), checkpoints(), custody()];
    let plan = changes_of_plan::rows();
    sections.into_iter().flatten().chain(errors()).chain(around_custody()).chain(plan).collect()
}

/// What an import of this shape is refused with.
fn flawed(name: &'static str, plan: Value, tells: &'static str) -> Row {
    import(name, User, false, plan, Refused(422, "import_invalid")).tells(tells)
}

fn with_edges(mut plan: Value, kind: &str, edges: Value) -> Value {
    plan[kind] = edges;
    plan
}

/// Section 7: what comes in, and what does not.
fn importing() -> Vec<Row> {
    let untitled = json!({ "epics": [{ "number": 9, "title": "E", "stories": [{ "number": "9.1" }] }] });
    let sentence = json!({ "epics": [{ "number": 9, "title": "E", "stories": [
        { "number": "9.1", "title": "S", "acceptance_criteria": ["a sentence"] }] }] });
    let nowhere = json!([{ "story": "9.1", "depends_on": "77.7" }]);
    let nine = plan(&[epic(9, &["9.1", "9.2"])]);
    let (fresh, known) =
        (plan(&[epic(2, &["2.1", "2.2"]), epic(3, &["3.1"])]), plan(&[epic(2, &["2.1", "2.2"])]));
    vec![
        import("7: a fresh plan comes in", User, false, fresh, Done).tells("stories_created"),
        import("7: an agent imports nothing", Ann, false, nine.clone(), Status(403)),
        import(
            "7: numbers that exist are named",
            User,
            false,
            known.clone(),
            Refused(409, "import_duplicates"),
        )
        .tells("2 stories (2.1, 2.2)"),
        flawed("7: three parts are no number", plan(&[epic(7, &["7.4.2", "7.4.3"])]), "7.4.3 is no number"),
        flawed(
            "7: one number twice",
            plan(&[epic(7, &["7.1", "7.1"])]),
            "7.1 is also at epics[0].stories[0]",
        ),
        flawed("7: what is missing is told by its place", untitled, "epics[0].stories[0].title"),
        flawed("7: criteria are objects", sentence, "acceptance_criteria[0]"),
        flawed(
            "7: a dependency on nothing",
            with_edges(nine, "story_dependencies", nowhere),
            "there is no story 77.7",
        ),
        import("7: a merge updates by number", User, true, known, Done).tells("stories_updated"),
        row(
            "7: the plan goes out again",
            Ann,
            ("GET", "/projects/rows/export", Value::Null),
            "export --project rows",
            Some(("export_project", json!({ "project_id": "rows" }))),
            Done,
        )
        .tells("\"2.2\""),
    ]
}

/// Section 7: rings are told by the numbers that people wrote, in fresh plans and in merges.
fn rings() -> Vec<Row> {
    let ring = json!([{ "story": "9.1", "depends_on": "9.2" }, { "story": "9.2", "depends_on": "9.1" }]);
    let stories = with_edges(plan(&[epic(9, &["9.1", "9.2"])]), "story_dependencies", ring);
    let ring = json!([{ "epic": 9, "depends_on": 10 }, { "epic": 10, "depends_on": 9 }]);
    let epics = with_edges(plan(&[epic(9, &[]), epic(10, &[])]), "epic_dependencies", ring);
    let refused = Refused(422, "dependency_cycle");
    vec![
        import("7: a cycle is told by numbers", User, false, stories, refused).tells("9.1 → 9.2 → 9.1"),
        import("7: a cycle of epics too", User, false, epics.clone(), refused).tells("9 → 10 → 9"),
        import("7: also in a merge", User, true, epics, refused),
    ]
}

/// Section 7 and trap 10: what comes in as done is not verified by that, and not by whoever brought it.
fn brought_as_done() -> Vec<Row> {
    let story = json!({ "number": "9.1", "title": "S", "initial_agent_status": "reported_done" });
    let done = json!({ "epics": [{ "number": 9, "title": "E", "stories": [story] }] });
    let mut verified = done.clone();
    verified["epics"][0]["stories"][0]["initial_verified_status"] = json!("verified");
    let mut moved = verified.clone();
    moved["reason"] = json!("moved here");
    let (invalid, shared) = (Refused(422, "import_invalid"), Refused(409, "shared_principal_blocked"));
    vec![
        import("7: an orchestrator brings nothing in as verified", Verifier, false, moved, invalid)
            .tells("initial_verified_status"),
        flawed("7: nor a user without a reason", verified, "needs a reason"),
        import("7: what is done comes in unverified", Verifier, false, done, Done),
        step("5: who brought it in does not review it", Verifier, "review-complete", "9.1", shared),
        step("5: somebody else does", Reviewer, "review-complete", "9.1", Done),
        step("5: and does not verify it too", Reviewer, "verify", "9.1", shared),
        step("5: nor does who brought it", Verifier, "verify", "9.1", shared),
    ]
}

/// Section 6.
fn waiting() -> Vec<Row> {
    vec![
        story_edge("6: nothing waits for itself", "2.1", "2.1", Refused(422, "self_dependency")),
        story_edge("6: both ends exist", "2.1", "77.7", Status(404)),
        story_edge("6: one story waits for another", "2.2", "2.1", Done),
        story_edge("6: said twice", "2.2", "2.1", Refused(409, "duplicate")),
        story_edge("6: no cycle", "2.1", "2.2", Refused(422, "dependency_cycle")).tells("2.1 → 2.2 → 2.1"),
        epic_edge("6: an epic waits for another", "3", "2", Done),
        epic_edge("6: no cycle of epics", "2", "3", Refused(422, "dependency_cycle")),
        story_edge("6: no deadlock across levels", "2.1", "3.1", Refused(422, "cross_level_deadlock")),
        list(
            "6: ready is what waits for nothing",
            "/stories/ready?project_id=rows",
            "next --project rows",
            "list_ready_stories",
        )
        .tells("\"2.1\""),
        list(
            "6: blocked says by what",
            "/stories/blocked?project_id=rows",
            "blocked --project rows",
            "list_blocked_stories",
        )
        .tells("blocking_dependencies"),
        list("6: the graph", "/projects/rows/dependency_graph", "", "get_dependency_graph").tells("2.1"),
        step("4: a blocked story can be contracted", Ann, "contract", "2.2", Done),
        step("4: and not claimed", Ann, "claim", "2.2", Refused(409, "dependencies_not_met")).tells("2.1"),
    ]
}

/// Sections 8 and 9.
fn checkpoints() -> Vec<Row> {
    let one = |name, path: &str, words: &str, tool, who| {
        row(name, who, ("GET", path, Value::Null), words, tool, Done)
    };
    vec![
        row(
            "8: nothing to load yet",
            Verifier,
            ("GET", "/orchestrator/state/rows", Value::Null),
            "state load --project rows",
            Some(("state_load", json!({ "project_id": "rows" }))),
            Status(404),
        ),
        save("8: the first has version 0", Verifier, 0, Done),
        save("8: the same again conflicts", Verifier, 0, Refused(409, "version_conflict")),
        save("8: the next is over the first", Verifier, 1, Done),
        save("8: an agent saves nothing", Ann, 2, Status(403)),
        save("8: nor does a user", User, 2, Status(403)),
        save_reserved(),
        one(
            "8: the last is loaded",
            "/orchestrator/state/rows",
            "state load --project rows",
            Some(("state_load", json!({ "project_id": "rows" }))),
            Verifier,
        )
        .tells("\"version\":2"),
        one(
            "8: and all before it",
            "/orchestrator/state/rows/history",
            "state history --project rows",
            None,
            Verifier,
        )
        .tells("\"version\":1"),
        one(
            "9: the feed has the project's transitions",
            "/changes?since=0&project_id=rows&limit=1000",
            "changes --project rows --since 0 --limit 1000",
            Some(("list_changes", json!({ "project_id": "rows", "since": "0", "limit": 1000 }))),
            Ann,
        )
        .tells("contracted"),
        one(
            "9: a story has a history",
            "/stories/2.2/history?project=rows",
            "history 2.2 --project rows",
            Some(("get_story_history", json!({ "story_id": "2.2", "project_id": "rows" }))),
            Ann,
        )
        .tells("contracted"),
        one("9: the log is for users", "/audit?project_id=rows", "audit --project rows", None, User)
            .tells("contracted"),
        row(
            "9: and not for agents",
            Ann,
            ("GET", "/audit", Value::Null),
            "audit --project rows",
            None,
            Status(403),
        ),
    ]
}

/// Traps 1, 2 and 5: tokens that are asked for come back with the calls before, and roots are opened by people.
fn custody() -> Vec<Row> {
    let setting = |name, flag: bool| {
        let body = json!({ "settings": { "require_capabilities": flag } });
        let words = format!("tenant update --setting require_capabilities={flag}");
        row(name, User, ("PATCH", "/tenants/me", body), &words, None, Done)
    };
    let dispatch = |name, who, agent: &str, expected| {
        let body = json!({ "role": "agent", "agent_id": agent });
        let words = format!("dispatch --role agent --agent {agent}");
        row(name, who, ("POST", "/dispatches", body.clone()), &words, Some(("dispatch", body)), expected)
    };
    let recover = |name, who, kind: &str, expected| {
        let body = json!({ "cap_type": kind });
        let tool = json!({ "story_id": "2.1", "cap_type": kind, "project_id": "rows" });
        let words = format!("recover-cap 2.1 --type {kind} --project rows");
        row(
            name,
            who,
            ("POST", "/stories/2.1/recover-cap?project=rows", body),
            &words,
            Some(("recover_cap", tool)),
            expected,
        )
    };
    vec![
        step("4: it is agreed to", Ann, "contract", "2.1", Done),
        step("5: a claim hands out the token for the start", Ann, "claim", "2.1", Done).tells("start_cap"),
        setting("5: tokens are asked for", true),
        step("5: no start without one", Ann, "start", "2.1", Refused(403, "missing_capability")),
        recover("5: nobody else gets it", Bob, "start_cap", Refused(403, "cap_not_recoverable")),
        recover("5: one that was lost comes again", Ann, "start_cap", Done).tells("wcap1."),
        setting("5: tokens are not asked for", false),
        step("5: a start hands out the token for the report", Ann, "start", "2.1", Done).tells("report_cap"),
        recover(
            "5: the implementer gets no token to verify",
            Ann,
            "verify_cap",
            Refused(403, "cap_not_recoverable"),
        ),
        step("5: a report hands out the token for the review", Reporter, "report", "2.1", Done)
            .tells("review_complete_cap"),
        dispatch(
            "5: an orchestrator opens no root",
            Verifier,
            "bob",
            Refused(403, "root_dispatch_forbidden"),
        ),
        dispatch("5: an agent opens nothing", Ann, "bob", Status(403)),
        dispatch("5: a user does", User, "bob", Done).tells("lc_"),
    ]
}

/// Section 13.
fn errors() -> Vec<Row> {
    let stranger = json!({ "project_id": "rows" });
    let unknown = json!({ "story_id": "77.7", "project_id": "rows" });
    let many: Vec<String> = (0..51).map(|number| format!("2.{number}")).collect();
    let in_words = format!("bulk claim {}", many.join(" "));
    let many = json!({ "story_ids": many });
    vec![
        row(
            "13: a key that nobody has",
            Stranger,
            ("GET", "/stories/ready?project_id=rows", Value::Null),
            "next --project rows",
            Some(("list_ready_stories", stranger)),
            Refused(401, "unauthorized"),
        ),
        row(
            "13: a story that is not there",
            Ann,
            ("GET", "/stories/77.7?project=rows", Value::Null),
            "show 77.7 --project rows",
            Some(("get_story", unknown)),
            Status(404),
        ),
        row(
            "13: an id that is none",
            Ann,
            ("GET", "/stories/not-an-id?project=rows", Value::Null),
            "show not-an-id --project rows",
            Some(("get_story", json!({ "story_id": "not-an-id", "project_id": "rows" }))),
            Status(404),
        ),
        row(
            "13: too many at once",
            Ann,
            ("POST", "/stories/bulk/claim", many.clone()),
            &in_words,
            Some(("bulk_claim", many)),
            Refused(422, "batch_size"),
        ),
        row(
            "13: a title that is no title",
            Verifier,
            ("POST", "/projects/rows/epics", json!({ "number": 5, "title": " " })),
            "epic create 5 _ --project rows",
            Some(("create_epic", json!({ "project_id": "rows", "number": 5, "title": " " }))),
            Status(422),
        ),
        row(
            "13: a feed from nowhere",
            Ann,
            ("GET", "/changes?project_id=rows", Value::Null),
            "",
            None,
            Status(400),
        ),
    ]
}

/// Traps 3 and 13: no way around by publishing at once or by bulk.
fn around_custody() -> Vec<Row> {
    vec![
        row(
            "5: an agent publishes nothing",
            Ann,
            (
                "POST",
                "/articles",
                json!({ "title": "T", "body": "b", "category": "decision", "status": "published" }),
            ),
            "",
            None,
            Refused(403, "publish_forbidden"),
        ),
        row(
            "5: bulk holds custody: no verdict without a review",
            Verifier,
            ("POST", "/stories/bulk/verify", json!({ "stories": [{ "story_id": "2.1" }] })),
            "bulk verify 2.1",
            Some(("bulk_verify", json!({ "stories": [{ "story_id": "2.1" }] }))),
            Status(422),
        ),
        row(
            "5: and nothing is marked complete that was not seen",
            Verifier,
            (
                "POST",
                "/stories/bulk/mark-complete",
                json!({ "stories": [{ "story_id": "2.2", "summary": "s", "review_type": "r" }] }),
            ),
            "bulk mark-complete 2.2 --summary s --review-type r",
            Some((
                "bulk_mark_complete",
                json!({ "stories": [{ "story_id": "2.2", "summary": "s", "review_type": "r" }] }),
            )),
            Status(422),
        ),
    ]
}
