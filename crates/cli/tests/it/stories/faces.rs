//! One table of cases, three faces: what the queue allows and refuses is the same over HTTP, on the command line and as a
//! tool, down to the code; and no refusal ends with exit code 0.

mod cases;
mod changes_of_plan;
mod rows;
mod scene;
mod sections;
mod shut_out;
mod traps;

use cases::Expected::{self, Done, Refused, Status};
use cases::Standing::{Contracted, CriterionFailed, Implementing, Reviewed};
use cases::Who::{Ann, Reporter, User, Verifier};
use cases::{CASES, Who};
use scene::{FORGED, Scene, body_of};
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::fmt::Write as _;
use windlass_test_support::Output;

/// What a face said, in the same words for all three.
struct Said {
    done: bool,
    status: Option<u64>,
    /// On the command line, where a refusal has no status: its code of an error and the exit code.
    ended: Option<(String, i32)>,
    code: String,
    /// What to do next, as this face carries it.
    hints: Vec<String>,
    told: String,
}

impl Said {
    fn has_status(&self, status: u16) -> bool {
        match &self.ended {
            Some((code, exit)) => (code.as_str(), *exit) == ends_with(status),
            None => self.status == Some(u64::from(status)),
        }
    }

    fn is(&self, expected: Expected) -> bool {
        match expected {
            Done => self.done,
            Refused(status, code) => !self.done && self.code == code && self.has_status(status),
            Status(status) => !self.done && self.has_status(status),
        }
    }
}

/// How a command ends that the queue refuses with this status.
const fn ends_with(status: u16) -> (&'static str, i32) {
    match status {
        401 => ("WL-STORY-004", 2),
        404 => ("WL-STORY-002", 2),
        429 => ("WL-STORY-003", 1),
        _ => ("WL-STORY-001", 14),
    }
}

fn remedy_in(error: &Value) -> Vec<String> {
    error["remediation"]["do"].as_str().map(str::to_owned).into_iter().collect()
}

fn over_http(scene: &mut Scene, who: Who, action: &str, story: &str) -> Said {
    let (path, body) = match action {
        "settle" => (format!("/violations/{}/resolve", scene.violation()), body_of(action)),
        "import" | "import-pending" => ("/projects/faces/import".to_owned(), scene.plan_of(action, story)),
        "criterion" => {
            (format!("/stories/US-{story}/acceptance_criteria/AC-1?project=faces"), body_of(action))
        }
        _ => (format!("/stories/US-{story}/{}?project=faces", verb_of(action)), body_of(action)),
    };
    let (status, answer) = scene.server.ask(scene.key(who), "POST", &path, "", &body).unwrap();
    let code = answer["error"]["code"].as_str().unwrap_or_default().to_owned();
    let hints = remedy_in(&answer["error"]);
    let status = u64::from(status);
    Said { done: status < 300, status: Some(status), ended: None, code, hints, told: answer.to_string() }
}

fn on_the_command_line(scene: &mut Scene, who: Who, action: &str, story: &str) -> Said {
    let key = scene.key(who).to_owned();
    scene.world.set("LOOPCTL_API_KEY", key);
    let number = format!("US-{story}");
    let more: &[&str] = match action {
        "report" => &["--artifact", r#"{"artifact_type": "commit_diff", "path": "src/a.rs"}"#],
        "verify" => &["--summary", "all met"],
        "reject" => &["--reason", "no tests"],
        "reject-bare" => &["--reason", " "],
        "backfill" => &["--reason", "done before", "--pr-number", "7"],
        "backfill-bare" => &["--reason", "done before"],
        "report-forged" => &["--capability", FORGED],
        "release" => &["--reason", "looked at it"],
        "criterion" => &["AC-1", "--status", "verified", "--evidence", "tests/a.rs"],
        _ => &[],
    };
    let violation = if action == "settle" { scene.violation() } else { String::new() };
    let file = scene.world.path().join("plan.json");
    let plan = file.to_str().unwrap();
    if action.starts_with("import") {
        std::fs::write(&file, scene.plan_of(action, story).to_string()).unwrap();
    }
    // Flags before and after the story: both are heard.
    let words = match action {
        "settle" => vec!["story", "--json", "settle", &violation, "--note", "looked at it"],
        "import" | "import-pending" => vec!["story", "--json", "import", plan, "--project", "faces"],
        _ => [&["story", "--json", verb_of(action), "--project", "faces", &number], more].concat(),
    };
    told_by_the_command_line(&scene.world.windlass(&words))
}

fn told_by_the_command_line(output: &Output) -> Said {
    let answer: Value = serde_json::from_str(&output.stdout).unwrap_or_default();
    let text = |name: &str| answer["error"][name].as_str().unwrap_or_default().to_owned();
    let (code, ended) = (text("case"), (text("code"), output.code.unwrap_or(-1)));
    let told = format!("{:?} {}{}", output.code, output.stdout, output.stderr);
    let hints = answer["error"]["hints"].as_array().into_iter().flatten();
    let hints = hints.filter_map(|hint| hint.as_str().map(str::to_owned)).collect();
    Said { done: output.code == Some(0), status: None, ended: Some(ended), code, hints, told }
}

fn as_a_tool(scene: &mut Scene, who: Who, action: &str, story: &str) -> Said {
    let key = scene.key(who).to_owned();
    scene.world.set("LOOPCTL_API_KEY", key);
    let (tool, mut arguments) = match action {
        "request-review" => ("request_review".to_owned(), json!({})),
        "review-complete" => ("review_complete".to_owned(), body_of(action)),
        "report" => {
            ("report_story".to_owned(), json!({"artifact_type": "commit_diff", "artifact_path": "src/a.rs"}))
        }
        "settle" => ("resolve_violation".to_owned(), body_of(action)),
        "criterion" => ("judge_criterion".to_owned(), body_of(action)),
        "import" | "import-pending" => ("import_stories".to_owned(), json!({})),
        other => (format!("{}_story", verb_of(other).replace('-', "_")), body_of(other)),
    };
    match action {
        "settle" => arguments["violation_id"] = json!(scene.violation()),
        "import" | "import-pending" => {
            arguments = json!({"project_id": "faces", "payload": scene.plan_of(action, story)});
        }
        "criterion" => arguments["criterion_id"] = json!("AC-1"),
        _ => {}
    }
    if !matches!(action, "settle" | "import" | "import-pending") {
        arguments["story_id"] = json!(format!("US-{story}"));
    }
    tool_called(scene, &tool, &arguments)
}

fn tool_called(scene: &Scene, tool: &str, arguments: &Value) -> Said {
    let mut input = String::new();
    for (id, method, params) in [
        (1, "initialize", json!({"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {}})),
        (2, "tools/call", json!({"name": tool, "arguments": arguments})),
    ] {
        let _ =
            writeln!(input, "{}", json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params}));
    }
    let output = scene.world.windlass_in(scene.world.path(), &["mcp"], &input).exits_with(0);
    let answer = output.json_lines().pop().unwrap();
    let text = answer["result"]["content"][0]["text"].as_str().unwrap_or_default();
    let body: Value = serde_json::from_str(text).unwrap_or_default();
    let done = answer["result"]["isError"] == false;
    let code = body["body"]["error"]["code"].as_str().unwrap_or_default().to_owned();
    let hints = remedy_in(&body["body"]["error"]);
    Said { done, status: body["status"].as_u64(), ended: None, code, hints, told: answer.to_string() }
}

/// A deed is a verb, or a verb with something that must not help.
fn verb_of(deed: &str) -> &str {
    deed.trim_end_matches("-forged").trim_end_matches("-bare")
}

type Face = fn(&mut Scene, Who, &str, &str) -> Said;

#[track_caller]
fn holds_through(face: Face) {
    let mut scene = Scene::set();
    let mut wrong = Vec::new();
    let mut commands = BTreeSet::new();
    for (who, action, standing, expected) in CASES {
        let story = scene.story(*standing);
        let said = face(&mut scene, *who, action, &story);
        commands.extend(said.hints.iter().flat_map(|hint| commands_in(hint)));
        // A refusal that leaves whoever got it standing there is half of one.
        if !said.done && said.hints.is_empty() {
            wrong.push(format!(
                "{who:?} {action} when {standing:?}: no word of what to do, said {}",
                said.told
            ));
        }
        if !said.is(*expected) {
            wrong.push(format!(
                "{who:?} {action} when {standing:?}: expected {expected:?}, said {}",
                said.told
            ));
        }
    }
    for command in commands {
        let words: Vec<&str> = command.split(' ').skip(1).chain(["--help"]).collect();
        if scene.world.windlass(&words).code != Some(0) {
            wrong.push(format!("there is no `{command}`"));
        }
    }
    scene.server.stop();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// What a hint says to type.
fn commands_in(hint: &str) -> Vec<String> {
    let quoted = hint.split('`').skip(1).step_by(2);
    quoted.filter(|words| words.starts_with("windlass ")).map(str::to_owned).collect()
}

#[test]
fn the_table_holds_over_http() {
    holds_through(over_http);
}

#[test]
fn the_table_holds_on_the_command_line() {
    holds_through(on_the_command_line);
}

#[test]
fn the_table_holds_for_tools() {
    holds_through(as_a_tool);
}

#[test]
fn a_verification_that_failed_rejects_and_the_command_did_what_it_was_asked() {
    let mut scene = Scene::set();
    let story = scene.story(Reviewed);
    let key = scene.key(Verifier).to_owned();
    scene.world.set("LOOPCTL_API_KEY", key);
    let words = ["story", "verify", &story, "--result", "fail", "--summary", "no tests", "--json"];
    let answer = scene.world.windlass(&words).exits_with(0).json();
    assert_eq!(answer["story"]["verified_status"], "rejected", "{answer}");
    assert_eq!(answer["story"]["agent_status"], "pending", "{answer}");
    scene.server.stop();
}

#[test]
fn a_refused_custody_call_holds_the_story_and_nothing_else() {
    let mut scene = Scene::set();
    let (held, other) = (scene.story(Implementing), scene.story(Implementing));
    let said = on_the_command_line(&mut scene, Ann, "report", &held);
    assert_eq!(said.code, "self_report_blocked", "{}", said.told);
    let said = on_the_command_line(&mut scene, Reporter, "report", &held);
    assert_eq!(said.code, "story_quarantined", "{}", said.told);
    assert!(on_the_command_line(&mut scene, Reporter, "report", &other).done, "other stories go on");
    let key = scene.key(User).to_owned();
    scene.world.set("LOOPCTL_API_KEY", key);
    let _ = scene.world.windlass(&["story", "release", &held, "--reason", "a mistake"]).exits_with(0);
    assert!(on_the_command_line(&mut scene, Reporter, "report", &held).done);
    scene.server.stop();
}

#[test]
fn settings_that_would_shut_a_tenant_out_are_refused_on_every_way_to_set_them() {
    let mut scene = Scene::set();
    let zero = json!({"settings": {"rate_limit_requests_per_minute": 0}});
    let (status, answer) = scene.server.ask(scene.key(User), "PATCH", "/tenants/me", "", &zero).unwrap();
    assert_eq!(status, 422, "{answer}");
    assert!(answer["error"]["message"].as_str().unwrap().contains("1 or more"), "{answer}");
    let key = scene.key(User).to_owned();
    scene.world.set("LOOPCTL_API_KEY", key);
    let words = ["story", "tenant", "update", "--setting", "rate_limit_requests_per_minute=0", "--json"];
    let output = scene.world.windlass(&words);
    assert_ne!(output.code, Some(0), "{}", output.stdout);
    assert!(output.stdout.contains("1 or more"), "{}", output.stdout);
    let _ = scene.world.windlass(&["story", "next", "--project", "faces"]).exits_with(0);
    let typo = json!({"settings": {"max_project": 3}});
    let (status, answer) = scene.server.ask(scene.key(User), "PATCH", "/tenants/me", "", &typo).unwrap();
    assert_eq!(status, 422, "{answer}");
    assert!(answer["error"]["message"].as_str().unwrap().contains("max_projects"), "{answer}");
    scene.server.stop();
}

#[test]
fn one_unknown_story_in_bulk_is_named_and_the_others_are_done() {
    let mut scene = Scene::set();
    let (good, other) = (scene.story(Contracted), scene.story(Reviewed));
    let body = json!({"story_ids": [good, "US-9.99", "00000000-0000-0000-0000-000000000001"]});
    let (status, answer) =
        scene.server.ask(scene.key(Ann), "POST", "/stories/bulk/claim", "", &body).unwrap();
    assert_eq!(
        (status, &answer["meta"]),
        (200, &json!({"total": 3, "succeeded": 1, "failed": 2})),
        "{answer}"
    );
    let results = answer["results"].as_array().unwrap();
    let bad: Vec<&Value> = results.iter().filter(|one| one["status"] == "error").collect();
    assert_eq!(
        (&bad[0]["story_id"], &bad[0]["error"]["status"]),
        (&json!("US-9.99"), &json!(404)),
        "{answer}"
    );
    let body = json!({"stories": [{"story_id": "US-9.99"}, {"story_id": other}]});
    for action in ["verify", "reject", "mark-complete"] {
        let path = format!("/stories/bulk/{action}");
        let (_, answer) = scene.server.ask(scene.key(Verifier), "POST", &path, "", &body).unwrap();
        assert_eq!(answer["meta"]["total"], 2, "{action} {answer}");
        assert!(answer.to_string().contains("US-9.99"), "{action} {answer}");
    }
    scene.server.stop();
}

#[test]
fn a_failed_criterion_is_not_made_undecided_again() {
    let mut scene = Scene::set();
    let story = scene.story(CriterionFailed);
    let path = format!("/stories/US-{story}/acceptance_criteria/AC-1");
    for body in [json!({"status": "pending"}), json!({"status": "unverifiable"})] {
        let (status, answer) = scene.server.ask(scene.key(Verifier), "POST", &path, "", &body).unwrap();
        assert_eq!(status, 422, "{answer}");
    }
    let said = over_http(&mut scene, Verifier, "verify", &story);
    assert_eq!(said.code, "criterion_failed", "{}", said.told);
    scene.server.stop();
}
