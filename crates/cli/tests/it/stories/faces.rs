//! One table of cases, three faces: what the queue allows and refuses is the same over HTTP, on the command line and as a
//! tool, down to the code; and no refusal ends with exit code 0.

use super::server::{Server, founded};
use serde_json::{Value, json};
use std::fmt::Write as _;
use windlass_test_support::World;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Who {
    /// Works on the story.
    Ann,
    Bob,
    Reporter,
    Reviewer,
    Verifier,
    /// An orchestrator key of no agent.
    Nobody,
    User,
}

/// How far a story has come before the case.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Standing {
    Pending,
    Contracted,
    Assigned,
    Implementing,
    Reported,
    Reviewed,
    Verified,
    /// Worked on, then taken away.
    TakenBack,
}

#[derive(Clone, Copy, Debug)]
enum Expected {
    Done,
    Refused(u16, &'static str),
    /// Refused by its status; the words may change.
    Status(u16),
}

use Expected::{Done, Refused, Status};
use Standing::{Assigned, Contracted, Implementing, Pending, Reported, Reviewed, TakenBack, Verified};
use Who::{Ann, Bob, Nobody, Reporter, Reviewer, User, Verifier};

const CASES: &[(Who, &str, Standing, Expected)] = &[
    (Ann, "contract", Pending, Done),
    (Reviewer, "contract", Pending, Done),
    (User, "contract", Pending, Status(403)),
    (Ann, "contract", Contracted, Refused(409, "invalid_transition")),
    (Ann, "claim", Contracted, Done),
    (Ann, "claim", Pending, Refused(409, "must_contract_first")),
    (Bob, "claim", Assigned, Status(409)),
    (Verifier, "claim", Contracted, Status(403)),
    (User, "claim", Contracted, Status(403)),
    (Ann, "start", Assigned, Done),
    (Ann, "start", Contracted, Refused(409, "must_claim_first")),
    (Ann, "start", Pending, Refused(409, "must_contract_first")),
    (Bob, "start", Assigned, Refused(403, "not_assigned_agent")),
    (Ann, "request-review", Implementing, Done),
    (Bob, "request-review", Implementing, Refused(403, "not_assigned_agent")),
    (Ann, "request-review", Assigned, Status(409)),
    (Reporter, "report", Implementing, Done),
    (Ann, "report", Implementing, Refused(409, "self_report_blocked")),
    (Nobody, "report", Implementing, Status(400)),
    (User, "report", Implementing, Status(403)),
    (Reporter, "report", Assigned, Status(409)),
    (Reviewer, "review-complete", Reported, Done),
    (User, "review-complete", Reported, Done),
    (Ann, "review-complete", Reported, Status(403)),
    (Nobody, "review-complete", Reported, Status(400)),
    (Verifier, "verify", Reviewed, Done),
    (Verifier, "verify", Reported, Refused(422, "no_review_record")),
    (Verifier, "verify", Implementing, Status(409)),
    (Verifier, "verify", Verified, Status(409)),
    (Reviewer, "verify", Reviewed, Refused(409, "shared_principal_blocked")),
    (Nobody, "verify", Reviewed, Status(400)),
    (Ann, "verify", Reviewed, Status(403)),
    (User, "verify", Reviewed, Status(403)),
    (Verifier, "reject", Reviewed, Done),
    (Verifier, "reject", Verified, Done),
    (Verifier, "reject", Pending, Status(409)),
    (Nobody, "reject", Reviewed, Status(400)),
    (Ann, "unclaim", Assigned, Done),
    (Bob, "unclaim", Assigned, Refused(403, "not_assigned_agent")),
    (Ann, "unclaim", Contracted, Status(403)),
    (Ann, "unclaim", Pending, Status(409)),
    (Verifier, "force-unclaim", Implementing, Done),
    (Verifier, "force-unclaim", Pending, Done),
    (Ann, "force-unclaim", Implementing, Status(403)),
    (Nobody, "force-unclaim", Implementing, Status(400)),
    (Verifier, "backfill", Pending, Done),
    (Ann, "backfill", Pending, Status(403)),
    (Verifier, "backfill", Implementing, Refused(422, "backfill_refused")),
    // What was worked on cannot be laundered by taking it away first.
    (Verifier, "backfill", TakenBack, Refused(422, "backfill_refused")),
];

struct Scene {
    world: World,
    server: Server,
    keys: Vec<(Who, String)>,
    stories: usize,
}

impl Scene {
    fn set() -> Self {
        let (mut world, user) = founded();
        let server = Server::start(&world).unwrap();
        world.set("LOOPCTL_SERVER", server.url());
        let mut scene = Self { world, server, keys: vec![(User, user)], stories: 0 };
        scene.rest(
            User,
            "PATCH",
            "/tenants/me",
            &json!({"settings": {"rate_limit_requests_per_minute": 1_000_000}}),
        );
        for (who, name, role) in [
            (Ann, "ann", "agent"),
            (Bob, "bob", "agent"),
            (Reporter, "reporter", "agent"),
            (Reviewer, "reviewer", "orchestrator"),
            (Verifier, "verifier", "orchestrator"),
        ] {
            let key = scene.agent(name, role);
            scene.keys.push((who, key));
        }
        let nobody = scene.new_key("nobody", "orchestrator", &Value::Null);
        scene.keys.push((Nobody, nobody));
        scene.rest(User, "POST", "/projects", &json!({"name": "Faces", "slug": "faces"}));
        scene.rest(User, "POST", "/projects/faces/epics", &json!({"number": 1, "title": "All"}));
        scene
    }

    fn new_key(&self, name: &str, role: &str, agent: &Value) -> String {
        let body = json!({"name": name, "role": role, "agent_id": agent});
        self.rest(User, "POST", "/api_keys", &body)["raw_key"].as_str().unwrap().to_owned()
    }

    fn agent(&self, name: &str, role: &str) -> String {
        let first = self.new_key(name, "agent", &Value::Null);
        let body = json!({"name": name, "agent_type": "implementer"});
        let (status, made) = self.server.ask(&first, "POST", "/agents/register", "", &body).unwrap();
        assert_eq!(status, 201, "{made}");
        if role == "agent" {
            first
        } else {
            self.new_key(&format!("{name} as {role}"), role, &made["agent"]["id"])
        }
    }

    fn key(&self, who: Who) -> &str {
        self.keys.iter().find(|(known, _)| *known == who).map(|(_, key)| key.as_str()).unwrap()
    }

    /// Done, or the test is broken.
    #[track_caller]
    fn rest(&self, who: Who, method: &str, path: &str, body: &Value) -> Value {
        let (status, answer) = self.server.ask(self.key(who), method, path, "", body).unwrap();
        assert!((200..300).contains(&status), "{method} {path}: {status} {answer}");
        answer
    }

    /// A story of its own for each case, by its number.
    fn story(&mut self, standing: Standing) -> String {
        self.stories += 1;
        let number = format!("1.{}", self.stories);
        let criteria = json!([{"id": "AC-1", "description": "it works"}]);
        let body =
            json!({"number": number, "title": "A story", "epic_number": 1, "acceptance_criteria": criteria});
        self.rest(User, "POST", "/projects/faces/stories", &body);
        let way: &[(Who, &str)] = &[
            (Ann, "contract"),
            (Ann, "claim"),
            (Ann, "start"),
            (Reporter, "report"),
            (Reviewer, "review-complete"),
            (Verifier, "verify"),
        ];
        let steps = match standing {
            Pending => 0,
            Contracted => 1,
            Assigned => 2,
            Implementing | TakenBack => 3,
            Reported => 4,
            Reviewed => 5,
            Verified => 6,
        };
        for (who, action) in &way[..steps] {
            self.rest(*who, "POST", &format!("/stories/{number}/{action}"), &body_of(action));
        }
        if standing == TakenBack {
            self.rest(Verifier, "POST", &format!("/stories/{number}/force-unclaim"), &Value::Null);
        }
        number
    }
}

fn body_of(action: &str) -> Value {
    match action {
        "contract" => json!({"story_title": "A story", "ac_count": 1}),
        "report" => json!({"artifact": {"artifact_type": "commit_diff", "path": "src/a.rs"}}),
        "review-complete" => json!({"review_type": "independent"}),
        "verify" => json!({"summary": "all met"}),
        "reject" => json!({"reason": "no tests"}),
        "backfill" => json!({"reason": "done before"}),
        _ => json!({}),
    }
}

/// What a face said, in the same words for all three: a status where there is one, and the code.
struct Said {
    done: bool,
    status: Option<u64>,
    code: String,
    told: String,
}

fn over_http(scene: &mut Scene, who: Who, action: &str, story: &str) -> Said {
    let path = format!("/stories/US-{story}/{action}?project=faces");
    let (status, answer) = scene.server.ask(scene.key(who), "POST", &path, "", &body_of(action)).unwrap();
    let code = answer["error"]["code"].as_str().unwrap_or_default().to_owned();
    Said { done: status < 300, status: Some(u64::from(status)), code, told: answer.to_string() }
}

fn on_the_command_line(scene: &mut Scene, who: Who, action: &str, story: &str) -> Said {
    let key = scene.key(who).to_owned();
    scene.world.set("LOOPCTL_API_KEY", key);
    let number = format!("US-{story}");
    let more: &[&str] = match action {
        "report" => &["--artifact", r#"{"artifact_type": "commit_diff", "path": "src/a.rs"}"#],
        "verify" => &["--summary", "all met"],
        "reject" => &["--reason", "no tests"],
        "backfill" => &["--reason", "done before"],
        _ => &[],
    };
    // Flags before and after the story: both are heard.
    let words = [&["story", "--json", action, "--project", "faces", &number], more].concat();
    let output = scene.world.windlass(&words);
    let answer: Value = serde_json::from_str(&output.stdout).unwrap_or_default();
    let code = answer["error"]["case"].as_str().unwrap_or_default().to_owned();
    let told = format!("{:?} {}{}", output.code, output.stdout, output.stderr);
    if output.code != Some(0) {
        assert!(answer["error"]["code"].as_str().is_some_and(|code| code.starts_with("WL-STORY-")), "{told}");
    }
    Said { done: output.code == Some(0), status: None, code, told }
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
        other => (format!("{}_story", other.replace('-', "_")), body_of(other)),
    };
    arguments["story_id"] = json!(format!("US-{story}"));
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
    Said { done, status: body["status"].as_u64(), code, told: answer.to_string() }
}

type Face = fn(&mut Scene, Who, &str, &str) -> Said;

#[track_caller]
fn holds_through(face: Face) {
    let mut scene = Scene::set();
    let mut wrong = Vec::new();
    for (who, action, standing, expected) in CASES {
        let story = scene.story(*standing);
        let said = face(&mut scene, *who, action, &story);
        let fits = match expected {
            Done => said.done,
            Refused(status, code) => {
                !said.done && said.code == *code && said.status.is_none_or(|own| own == u64::from(*status))
            }
            Status(status) => !said.done && said.status.is_none_or(|own| own == u64::from(*status)),
        };
        if !fits {
            wrong.push(format!(
                "{who:?} {action} when {standing:?}: expected {expected:?}, said {}",
                said.told
            ));
        }
    }
    scene.server.stop();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
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
