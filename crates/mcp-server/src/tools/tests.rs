//! The table against the original's list, and what becomes of arguments.

use super::*;
use crate::server::Server;
use std::sync::Mutex;
use windlass_control_api::stories::{Answering, Method, Unreachable};

/// The tools of the original, which its clients and prompts name.
const ORIGINAL: [&str; 52] = [
    "get_tenant",
    "list_projects",
    "list_routes",
    "create_project",
    "delete_project",
    "get_progress",
    "backfill_story",
    "create_story",
    "import_stories",
    "list_stories",
    "list_ready_stories",
    "get_story",
    "get_acceptance_criteria",
    "get_story_token_usage",
    "contract_story",
    "claim_story",
    "start_story",
    "request_review",
    "report_story",
    "review_complete",
    "verify_story",
    "reject_story",
    "bulk_mark_complete",
    "verify_all_in_epic",
    "report_token_usage",
    "get_cost_summary",
    "get_cost_anomalies",
    "set_token_budget",
    "knowledge_index",
    "knowledge_search",
    "knowledge_get",
    "knowledge_context",
    "knowledge_create",
    "knowledge_publish",
    "knowledge_bulk_publish",
    "knowledge_unpublish",
    "knowledge_archive",
    "knowledge_delete",
    "knowledge_drafts",
    "knowledge_lint",
    "knowledge_export",
    "knowledge_ingest",
    "knowledge_ingest_batch",
    "knowledge_ingestion_jobs",
    "knowledge_analytics_top",
    "knowledge_article_stats",
    "knowledge_agent_usage",
    "knowledge_unused_articles",
    "dispatch",
    "get_sth",
    "get_system_articles",
    "recover_cap",
];

/// Answers what it was told to and keeps what it was asked.
struct Played {
    answers: Mutex<Vec<Result<Answer, Unreachable>>>,
    asked: Mutex<Vec<Call>>,
}

impl Played {
    fn answering(answers: Vec<Answer>) -> Self {
        let answers = answers.into_iter().rev().map(Ok).collect();
        Self { answers: Mutex::new(answers), asked: Mutex::new(Vec::new()) }
    }
}

impl StoryApi for Played {
    fn call(&self, call: Call) -> Answering<'_> {
        self.asked.lock().unwrap().push(call);
        let answer = self.answers.lock().unwrap().pop();
        let answering: Answering<'_> =
            Box::pin(async move { answer.unwrap_or_else(|| Err(Unreachable("nobody is there".into()))) });
        answering
    }
}

async fn called(queue: &Played, tool: &str, arguments: Value) -> (bool, Value) {
    let request = json!({
        "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": tool, "arguments": arguments},
    });
    let answer = Server::new(queue, "1").answer(&request.to_string(), &Keys::one("lc_k")).await.unwrap();
    let answer: Value = serde_json::from_str(&answer).unwrap();
    let result = &answer["result"];
    let text = result["content"][0]["text"].as_str().unwrap_or_default();
    (result["isError"] == true, serde_json::from_str(text).unwrap_or_default())
}

#[test]
fn every_tool_of_the_original_is_there_and_every_name_is_unique() {
    for name in ORIGINAL {
        assert!(named(name).is_some(), "{name}");
    }
    let mut names: Vec<&str> = all().map(|tool| tool.name).collect();
    let count = names.len();
    names.sort_unstable();
    names.dedup();
    assert_eq!(names.len(), count);
}

#[test]
fn every_hole_in_a_path_is_an_argument() {
    for tool in all() {
        for hole in tool.path.split('{').skip(1).filter_map(|rest| rest.split('}').next()) {
            assert!(tool.arguments.iter().any(|argument| argument.name == hole), "{}: {hole}", tool.name);
        }
    }
}

#[tokio::test]
async fn arguments_go_to_path_query_and_body() {
    let queue = Played::answering(vec![Answer::json(200, &json!({"story": {}}))]);
    let arguments = json!({"story_id": "US-3.1/x", "artifact_type": "commit_diff", "artifact_path": "a b"});
    assert!(!called(&queue, "report_story", arguments).await.0);
    let asked = queue.asked.lock().unwrap();
    assert_eq!(
        (asked[0].method, asked[0].path.as_str()),
        (Method::Post, "/api/v1/stories/US-3.1%2Fx/report")
    );
    let body: Value = serde_json::from_slice(&asked[0].body).unwrap();
    assert_eq!(body, json!({"artifact": {"artifact_type": "commit_diff", "path": "a b"}}));
    assert_eq!(asked[0].header("authorization"), Some("Bearer lc_k"));
}

#[tokio::test]
async fn a_refusal_is_told_with_status_and_body() {
    let refusal =
        json!({"error": {"status": 409, "code": "self_report_blocked", "message": "your own work"}});
    let queue = Played::answering(vec![Answer::json(409, &refusal)]);
    let (is_error, told) = called(&queue, "report_story", json!({"story_id": "1.1"})).await;
    assert!(is_error);
    assert_eq!(told, json!({"error": "your own work", "status": 409, "body": refusal}));
}

#[tokio::test]
async fn a_missing_misspelled_or_mistyped_argument_is_refused_before_anybody_is_asked() {
    let queue = Played::answering(vec![]);
    let wrong = [json!({}), json!({"story_id": 3}), json!({"story_id": "1.1", "stroy_title": "x"})];
    for arguments in wrong {
        let (is_error, told) = called(&queue, "claim_story", arguments.clone()).await;
        assert!(is_error && told["status"] == 0, "{arguments}");
    }
    assert!(queue.asked.lock().unwrap().is_empty());
}

#[tokio::test]
async fn a_save_reads_the_version_first_and_starts_at_none() {
    let saved = Answer::json(200, &json!({"version": 8}));
    let queue = Played::answering(vec![Answer::json(200, &json!({"version": 7})), saved.clone()]);
    assert!(!called(&queue, "state_save", json!({"project_id": "p", "state_data": {"a": 1}})).await.0);
    let body: Value = serde_json::from_slice(&queue.asked.lock().unwrap()[1].body).unwrap();
    assert_eq!(body, json!({"state_key": "main", "state_data": {"a": 1}, "version": 7}));

    let queue = Played::answering(vec![Answer::json(404, &json!({})), saved]);
    assert!(!called(&queue, "state_save", json!({"project_id": "p", "state_data": {}})).await.0);
    let body: Value = serde_json::from_slice(&queue.asked.lock().unwrap()[1].body).unwrap();
    assert_eq!(body["version"], 0);
}

#[tokio::test]
async fn a_payload_is_read_from_a_plain_file_only() {
    let queue = Played::answering(vec![]);
    for path in ["relative.json", "/proc/self/status", "/dev/zero", "/"] {
        let (is_error, told) =
            called(&queue, "import_stories", json!({"project_id": "p", "payload_path": path})).await;
        assert!(is_error && told["status"] == 0, "{path}: {told}");
    }
    assert!(queue.asked.lock().unwrap().is_empty());
}

#[tokio::test]
async fn a_version_that_is_asked_for_is_spoken_and_another_gets_the_newest() {
    let queue = Played::answering(vec![]);
    for (asked, spoken) in
        [("2024-11-05", "2024-11-05"), ("2025-06-18", "2025-06-18"), ("2099-01-01", "2025-11-25")]
    {
        let request = json!({
            "jsonrpc": "2.0", "id": "a", "method": "initialize", "params": {"protocolVersion": asked},
        });
        let answer = Server::new(&queue, "1").answer(&request.to_string(), &Keys::default()).await.unwrap();
        let answer: Value = serde_json::from_str(&answer).unwrap();
        assert_eq!(answer["result"]["protocolVersion"], spoken);
    }
}

#[tokio::test]
async fn without_any_key_a_tool_says_which_one_it_wants() {
    let queue = Played::answering(vec![]);
    let request = json!({
        "jsonrpc": "2.0", "id": 1, "method": "tools/call",
        "params": {"name": "claim_story", "arguments": {"story_id": "1.1"}},
    });
    let answer = Server::new(&queue, "1").answer(&request.to_string(), &Keys::default()).await.unwrap();
    assert!(answer.contains("role agent"), "{answer}");
}

#[test]
fn whatever_takes_a_storys_number_takes_its_project() {
    for tool in all() {
        let names: Vec<&str> = tool.arguments.iter().map(|argument| argument.name).collect();
        let by_number = ["story_id", "story_ids", "stories", "scope_id"];
        if names.iter().any(|name| by_number.contains(name)) {
            assert!(names.contains(&"project_id"), "{}: {names:?}", tool.name);
        }
    }
}

#[test]
fn a_sequence_number_may_be_a_number_or_a_text() {
    let tool = all().find(|tool| tool.name == "list_changes").unwrap();
    let given = |since: Value| Map::from_iter([("since".to_owned(), since)]);
    for since in [json!(0), json!("0"), json!("2026-01-31T12:00:00Z")] {
        assert_eq!(tool.checked(&given(since.clone())), Ok(()), "{since}");
    }
    assert_eq!(tool.call(&given(json!(7))).query, "since=7");
    let told = tool.checked(&given(json!(true))).unwrap_err();
    assert!(told.starts_with("since must be a text or a whole number"), "{told}");
}
