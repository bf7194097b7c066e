//! Every tool is called at least once, with arguments that make sense, and does what it says. A tool that is added and not
//! called here fails this test.

use super::server::{Server, founded};
use serde_json::{Value, json};
use std::collections::BTreeSet;
use windlass_test_support::{Background, Signal, StoryClient, World, wait_until};

/// Each as a process of its own would have it.
struct Keys {
    user: String,
    ann: String,
    rob: String,
    reviewer: String,
    verifier: String,
}

struct Tools {
    process: Background,
    address: std::net::SocketAddr,
    called: BTreeSet<String>,
}

impl Tools {
    fn start(world: &World) -> Self {
        let process = world.start_windlass(&["mcp", "--http", "127.0.0.1:0", "--json"]);
        let address = wait_until("the tools to be there", || {
            let line: Value = serde_json::from_str(process.stdout().lines().next()?).ok()?;
            line["mcp"].as_str()?.strip_prefix("http://")?.strip_suffix("/mcp")?.parse().ok()
        });
        Self { process, address, called: BTreeSet::new() }
    }

    fn asked(&self, key: &str, method: &str, params: &Value) -> Value {
        let body = json!({ "jsonrpc": "2.0", "id": 1, "method": method, "params": params });
        let (status, answer) = StoryClient::at(self.address, key).call("POST", "/mcp", &body);
        assert_eq!(status, 200, "{answer}");
        answer["result"].clone()
    }

    /// Whether it was refused, and what was said.
    fn played(&mut self, key: &str, tool: &str, arguments: &Value) -> (bool, Value) {
        self.called.insert(tool.to_owned());
        let result = self.asked(key, "tools/call", &json!({ "name": tool, "arguments": arguments }));
        let text = result["content"][0]["text"].as_str().unwrap_or_default();
        (result["isError"] != false, serde_json::from_str(text).unwrap_or_else(|_| json!(text)))
    }

    #[track_caller]
    fn call(&mut self, key: &str, tool: &str, arguments: Value) -> Value {
        let (refused, told) = self.played(key, tool, &arguments);
        assert!(!refused, "{tool} {arguments}: {told}");
        told
    }

    #[track_caller]
    fn is_refused(&mut self, key: &str, tool: &str, arguments: Value, code: &str) {
        let (refused, told) = self.played(key, tool, &arguments);
        assert!(refused && told["body"]["error"]["code"] == code, "{tool} {arguments}: {told}");
    }

    /// Brought so far by tools alone.
    fn implementing(&mut self, keys: &Keys, story: &str) {
        let contract = json!({ "story_id": story, "story_title": format!("Story {story}"), "ac_count": 1 });
        self.call(&keys.ann, "contract_story", contract);
        self.call(&keys.ann, "claim_story", json!({ "story_id": story }));
        self.call(&keys.ann, "start_story", json!({ "story_id": story }));
    }

    fn reviewed(&mut self, keys: &Keys, story: &str) {
        self.implementing(keys, story);
        self.finished(keys, story);
    }

    fn finished(&mut self, keys: &Keys, story: &str) {
        let artifact =
            json!({ "story_id": story, "artifact_type": "commit_diff", "artifact_path": "src/a.rs" });
        self.call(&keys.rob, "report_story", artifact);
        let review = json!({ "story_id": story, "review_type": "code", "summary": "read" });
        self.call(&keys.reviewer, "review_complete", review);
    }

    #[track_caller]
    fn stands(&mut self, keys: &Keys, story: &str, work: &str, proof: &str) {
        let told = self.call(&keys.ann, "get_story", json!({ "story_id": story }));
        let standing = (&told["story"]["agent_status"], &told["story"]["verified_status"]);
        assert_eq!(standing, (&json!(work), &json!(proof)), "{told}");
    }
}

fn plan(tools: &mut Tools, keys: &Keys) {
    tools.call(&keys.verifier, "create_project", json!({ "name": "Tools", "slug": "tools" }));
    let projects = tools.call(&keys.ann, "list_projects", json!({}));
    assert!(projects.to_string().contains("\"tools\""), "{projects}");
    for number in [1, 2] {
        let epic = json!({ "project_id": "tools", "number": number, "title": "By hand" });
        tools.call(&keys.verifier, "create_epic", epic);
    }
    let criteria = json!([{ "id": "AC-1", "description": "it works" }]);
    let story = |number: &str| json!({ "number": number, "title": format!("Story {number}"), "acceptance_criteria": criteria });
    let one = json!({ "story": story("1.1"), "project_id": "tools", "epic_number": 1 });
    tools.call(&keys.verifier, "create_story", one);
    let stories: Vec<Value> = (1..=12).map(|number| story(&format!("3.{number}"))).collect();
    let payload = json!({ "epics": [{ "number": 3, "title": "At once", "stories": stories }] });
    tools.call(&keys.verifier, "import_stories", json!({ "project_id": "tools", "payload": payload }));
    let exported = tools.call(&keys.ann, "export_project", json!({ "project_id": "tools" }));
    assert!(exported.to_string().contains("\"3.12\""), "{exported}");
    let edge = json!({ "story_id": "3.12", "depends_on_story_id": "3.1", "project_id": "tools" });
    tools.call(&keys.verifier, "add_story_dependency", edge);
    let edge = json!({ "epic_id": "2", "depends_on_epic_id": "1", "project_id": "tools" });
    tools.call(&keys.verifier, "add_epic_dependency", edge);
    for (tool, holds) in [
        ("list_epics", "At once"),
        ("list_stories", "3.2"),
        ("list_ready_stories", "3.2"),
        ("list_blocked_stories", "3.12"),
        ("get_dependency_graph", "3.12"),
        ("get_progress", "pending"),
    ] {
        let told = tools.call(&keys.ann, tool, json!({ "project_id": "tools" }));
        assert!(told.to_string().contains(holds), "{tool}: {told}");
    }
}

/// One story from contract to verdict, with everything that can be said of it on the way.
fn one_story(tools: &mut Tools, keys: &Keys) {
    tools.implementing(keys, "1.1");
    let used = json!({ "story_id": "1.1", "input_tokens": 5, "output_tokens": 6, "model_name": "m", "cost_millicents": 7 });
    tools.call(&keys.ann, "report_token_usage", used);
    let artifact = json!({ "story_id": "1.1", "artifact_type": "test", "path": "tests/a.rs" });
    tools.call(&keys.ann, "add_artifact", artifact);
    tools.call(&keys.ann, "request_review", json!({ "story_id": "1.1" }));
    tools.finished(keys, "1.1");
    let judged = json!({ "story_id": "1.1", "criterion_id": "AC-1", "status": "verified", "evidence_path": "tests/a.rs" });
    tools.call(&keys.verifier, "judge_criterion", judged);
    tools.call(&keys.verifier, "verify_story", json!({ "story_id": "1.1", "summary": "all met" }));
    tools.stands(keys, "1.1", "reported_done", "verified");
    for (key, tool, holds) in [
        (&keys.ann, "get_acceptance_criteria", "verified"),
        (&keys.ann, "list_artifacts", "tests/a.rs"),
        (&keys.ann, "get_story_history", "contracted"),
        (&keys.verifier, "list_verifications", "all met"),
        (&keys.ann, "get_story_token_usage", "\"m\""),
    ] {
        let told = tools.call(key, tool, json!({ "story_id": "1.1" }));
        assert!(told.to_string().contains(holds), "{tool}: {told}");
    }
    let changes = tools.call(&keys.ann, "list_changes", json!({ "since": 0, "action": "verified" }));
    assert!(changes.to_string().contains("all met"), "{changes}");
}

/// Every other way that a story goes.
fn other_ways(tools: &mut Tools, keys: &Keys) {
    tools.reviewed(keys, "3.1");
    tools.call(&keys.verifier, "reject_story", json!({ "story_id": "3.1", "reason": "no tests" }));
    tools.stands(keys, "3.1", "pending", "rejected");
    let contract =
        |story: &str| json!({ "story_id": story, "story_title": format!("Story {story}"), "ac_count": 1 });
    tools.call(&keys.ann, "contract_story", contract("3.2"));
    tools.call(&keys.ann, "claim_story", json!({ "story_id": "3.2" }));
    let cap = tools.call(&keys.ann, "recover_cap", json!({ "story_id": "3.2", "cap_type": "start_cap" }));
    assert!(cap.to_string().contains("wcap1."), "{cap}");
    tools.call(&keys.ann, "unclaim_story", json!({ "story_id": "3.2" }));
    tools.stands(keys, "3.2", "pending", "unverified");
    tools.implementing(keys, "3.2");
    tools.call(&keys.verifier, "force_unclaim_story", json!({ "story_id": "3.2" }));
    tools.stands(keys, "3.2", "pending", "unverified");
    let before = json!({ "story_id": "3.3", "reason": "done before", "pr_number": 7 });
    tools.call(&keys.verifier, "backfill_story", before);
    tools.stands(keys, "3.3", "reported_done", "verified");

    for story in ["3.4", "3.5"] {
        tools.call(&keys.ann, "contract_story", contract(story));
    }
    tools.call(&keys.ann, "bulk_claim", json!({ "story_ids": ["3.4", "3.5"] }));
    for story in ["3.4", "3.5"] {
        tools.call(&keys.ann, "start_story", json!({ "story_id": story }));
        tools.finished(keys, story);
    }
    let good =
        |story: &str| json!({ "stories": [{ "story_id": story, "summary": "met", "review_type": "code" }] });
    tools.call(&keys.verifier, "bulk_verify", good("3.4"));
    let bad = json!({ "stories": [{ "story_id": "3.5", "reason": "no tests" }] });
    tools.call(&keys.verifier, "bulk_reject", bad);
    tools.reviewed(keys, "3.6");
    tools.call(&keys.verifier, "bulk_mark_complete", good("3.6"));
    tools.reviewed(keys, "3.7");
    let all = json!({ "epic_id": "3", "project_id": "tools", "review_type": "code", "summary": "met" });
    tools.call(&keys.verifier, "verify_all_in_epic", all);
    for (story, proof) in [("3.4", "verified"), ("3.6", "verified"), ("3.7", "verified")] {
        tools.stands(keys, story, "reported_done", proof);
    }
    tools.stands(keys, "3.5", "pending", "rejected");
}

/// Who marks their own work holds it up till somebody looked, in one of three ways.
fn violations(tools: &mut Tools, keys: &Keys) {
    for (story, settled) in
        [("3.8", "resolve_violation"), ("3.9", "ignore_violation"), ("3.10", "release_story")]
    {
        tools.implementing(keys, story);
        tools.is_refused(&keys.ann, "report_story", json!({ "story_id": story }), "self_report_blocked");
        let pending = tools.call(&keys.user, "list_violations", json!({ "status": "pending" }));
        if settled == "release_story" {
            let note = json!({ "story_id": story, "note": "looked at it" });
            tools.call(&keys.verifier, settled, note);
        } else {
            let id = pending["data"][0]["id"].clone();
            tools.call(&keys.user, settled, json!({ "violation_id": id, "note": "looked at it" }));
        }
        tools.call(&keys.rob, "report_story", json!({ "story_id": story }));
    }
}

fn knowledge(tools: &mut Tools, keys: &Keys, ann: &Value) {
    for title in ["A page", "B page", "C page"] {
        let page = json!({ "title": title, "body": "of feeds", "category": "decision", "tags": ["feeds"] });
        tools.call(&keys.ann, "knowledge_create", page);
    }
    let drafts = tools.call(&keys.verifier, "knowledge_drafts", json!({}));
    assert!(drafts.to_string().contains("b-page"), "{drafts}");
    tools.call(&keys.verifier, "knowledge_publish", json!({ "article_id": "a-page" }));
    tools.call(&keys.user, "knowledge_bulk_publish", json!({ "article_ids": ["b-page", "c-page"] }));
    let of_feeds = json!({ "q": "feeds", "mode": "keyword" });
    for (key, tool, arguments, holds) in [
        (&keys.ann, "knowledge_index", json!({}), "a-page"),
        (&keys.ann, "knowledge_search", of_feeds, "b-page"),
        (&keys.ann, "knowledge_get", json!({ "article_id": "a-page" }), "of feeds"),
        (&keys.ann, "knowledge_context", json!({ "query": "feeds", "limit": 3 }), "c-page"),
        (&keys.verifier, "knowledge_lint", json!({}), "coverage_gaps"),
        (&keys.user, "knowledge_export", json!({}), "of feeds"),
        (&keys.verifier, "knowledge_ingestion_jobs", json!({}), "data"),
        (&keys.verifier, "knowledge_analytics_top", json!({}), "A page"),
        (&keys.verifier, "knowledge_article_stats", json!({ "article_id": "a-page" }), "get"),
        (&keys.verifier, "knowledge_agent_usage", json!({ "agent_id": ann }), "access_count"),
        (&keys.verifier, "knowledge_unused_articles", json!({ "days_unused": 1 }), "data"),
        (&keys.ann, "get_system_articles", json!({}), "data"),
    ] {
        let told = tools.call(key, tool, arguments);
        assert!(told.to_string().contains(holds), "{tool}: {told}");
    }
    // No language model takes articles out of texts here, and that is what whoever asks is told.
    let text = json!({ "content": "a text", "source_type": "web_article" });
    tools.is_refused(&keys.verifier, "knowledge_ingest", text.clone(), "not_configured");
    tools.is_refused(&keys.verifier, "knowledge_ingest_batch", json!({ "items": [text] }), "not_configured");
    tools.call(&keys.user, "knowledge_unpublish", json!({ "article_id": "b-page" }));
    tools.call(&keys.user, "knowledge_archive", json!({ "article_id": "c-page" }));
    tools.call(&keys.user, "knowledge_delete", json!({ "article_id": "a-page" }));
}

fn everything_else(tools: &mut Tools, keys: &Keys, fresh: &str) {
    let tenant = tools.call(&keys.ann, "get_tenant", json!({}))["tenant"]["id"].clone();
    let head = tools.call(&keys.ann, "get_sth", json!({ "tenant_id": tenant }));
    assert!(head.to_string().contains("signature"), "{head}");
    let routes = tools.call(&keys.ann, "list_routes", json!({}));
    assert!(routes.to_string().contains("/stories/:id/claim"), "{routes}");
    tools.call(fresh, "register_agent", json!({ "name": "late", "agent_type": "implementer" }));
    let agents = tools.call(&keys.verifier, "list_agents", json!({}));
    assert!(agents.to_string().contains("\"late\""), "{agents}");
    let sent =
        tools.call(&keys.user, "dispatch", json!({ "role": "agent", "agent_id": "ann", "story_id": "3.11" }));
    assert!(sent["raw_key"].as_str().is_some_and(|key| key.starts_with("lc_")), "{sent}");
    let skills = tools.call(&keys.ann, "list_skills", json!({}));
    assert!(skills["data"].is_array(), "{skills}");
    let skill = tools.call(&keys.ann, "get_skill", json!({ "skill": "loopctl:review" }));
    assert!(skill.to_string().contains("acceptance criteria"), "{skill}");
    let note = json!({ "project_id": "tools", "state_data": { "phase": 2 } });
    tools.call(&keys.verifier, "state_save", note);
    let loaded = tools.call(&keys.verifier, "state_load", json!({ "project_id": "tools" }));
    assert!(loaded.to_string().contains("\"phase\":2"), "{loaded}");
    let budget = json!({ "scope_type": "story", "scope_id": "1.1", "budget_millicents": 9 });
    tools.call(&keys.verifier, "set_token_budget", budget);
    let cost = tools.call(&keys.ann, "get_cost_summary", json!({ "project_id": "tools" }));
    assert!(cost.to_string().contains("cost_millicents"), "{cost}");
    let anomalies = tools.call(&keys.verifier, "get_cost_anomalies", json!({ "project_id": "tools" }));
    assert!(anomalies["data"].is_array(), "{anomalies}");
}

#[test]
fn every_tool_does_what_it_says() {
    let (mut world, user) = founded();
    let server = Server::start(&world).unwrap();
    world.set("LOOPCTL_SERVER", server.url());
    let generous = json!({ "settings": { "rate_limit_requests_per_minute": 1_000_000 } });
    server.done(&user, "PATCH", "/tenants/me", &generous);
    let keys = Keys {
        ann: server.agent(&user, "ann", "agent"),
        rob: server.agent(&user, "rob", "agent"),
        reviewer: server.agent(&user, "reviewer", "orchestrator"),
        verifier: server.agent(&user, "verifier", "orchestrator"),
        user,
    };
    let mut tools = Tools::start(&world);
    plan(&mut tools, &keys);
    one_story(&mut tools, &keys);
    other_ways(&mut tools, &keys);
    violations(&mut tools, &keys);
    let ann = server.done(&keys.user, "GET", "/agents/ann", &Value::Null)["agent"]["id"].clone();
    knowledge(&mut tools, &keys, &ann);
    let fresh = json!({ "name": "fresh", "role": "agent" });
    let fresh = server.done(&keys.user, "POST", "/api_keys", &fresh)["raw_key"].clone();
    everything_else(&mut tools, &keys, fresh.as_str().unwrap());
    tools.call(&keys.user, "delete_project", json!({ "project_id": "tools" }));

    let listed = tools.asked(&keys.user, "tools/list", &json!({}));
    let listed = listed["tools"].as_array().unwrap().iter();
    let listed: BTreeSet<String> =
        listed.filter_map(|tool| tool["name"].as_str().map(str::to_owned)).collect();
    assert_eq!(tools.called, listed, "a tool was not called, or is not listed");
    tools.process.signal(Signal::TERM);
    let _ = tools.process.wait().exits_with(0);
    server.stop();
}
