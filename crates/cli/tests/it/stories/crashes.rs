//! The server is killed at every single commit. What was acknowledged is there afterwards, and asking again under the same
//! idempotency key has one effect.

use super::server::{Server, founded};
use serde_json::{Value, json};
use std::path::{Path, PathBuf};
use windlass_test_support::World;

const WRITES: usize = 4;

fn write(server: &Server, key: &str, number: usize) -> Option<Value> {
    let body = json!({ "name": format!("Project {number}") });
    let (status, answer) = server.ask(key, "POST", "/projects", &format!("write {number}"), &body)?;
    assert_eq!(status, 201, "{answer}");
    Some(answer["project"]["id"].clone())
}

/// Whether the place was reached at all.
fn survives_a_crash_at(place: usize) -> bool {
    let (mut world, key) = founded();
    world.set("WINDLASS_CRASH_AT", place.to_string());
    let first = Server::start(&world);
    let acknowledged: Vec<Option<Value>> =
        (0..WRITES).map(|number| first.as_ref().and_then(|server| write(server, &key, number))).collect();
    let on_the_way = first.is_none() || acknowledged.iter().any(Option::is_none);
    // Ending is work too: the last tree head is signed and stored.
    let reached = on_the_way || first.is_some_and(|server| !server.stop_or_be_killed());
    world.unset("WINDLASS_CRASH_AT");

    let server = Server::start(&world).unwrap();
    for (number, known) in acknowledged.iter().enumerate() {
        let again = write(&server, &key, number).unwrap();
        if let Some(known) = known {
            assert_eq!(
                &again, known,
                "after a crash at place {place}, write {number} was lost or made twice"
            );
        }
    }
    let (_, projects) = server.ask(&key, "GET", "/projects", "", &Value::Null).unwrap();
    assert_eq!(projects["meta"]["total_count"], WRITES, "after a crash at place {place}: {projects}");
    server.stop();
    reached
}

#[test]
fn no_acknowledged_write_is_lost_and_none_is_made_twice() {
    let mut reached = 0;
    while survives_a_crash_at(reached + 1) {
        reached += 1;
    }
    assert!(reached >= 2 * WRITES, "only {reached} places were reached");
}

/// The steps of custody, a bulk, an import and a key: who asks for what.
const STEPS: [(usize, &str, &str); 9] = [
    (ANN, "/stories/1.1/contract", r#"{"story_title": "S", "ac_count": 0}"#),
    (ANN, "/stories/1.1/claim", "{}"),
    (ANN, "/stories/1.1/start", "{}"),
    (ROB, "/stories/1.1/report", r#"{"artifact": {"artifact_type": "commit_diff", "path": "a.rs"}}"#),
    (REVIEWER, "/stories/1.1/review-complete", r#"{"review_type": "code"}"#),
    (VERIFIER, "/stories/1.1/verify", r#"{"summary": "met"}"#),
    (ANN, "/stories/bulk/claim", r#"{"story_ids": ["1.2", "1.3"]}"#),
    (
        USER,
        "/projects/kept/import",
        r#"{"epics": [{"number": 2, "title": "E", "stories": [{"number": "2.1", "title": "S"}]}]}"#,
    ),
    (USER, "/api_keys", r#"{"name": "late", "role": "agent"}"#),
];

/// Places of their keys.
const USER: usize = 0;
const ANN: usize = 1;
const ROB: usize = 2;
const REVIEWER: usize = 3;
const VERIFIER: usize = 4;

/// A queue before its first step, kept to begin from again and again.
struct Prepared {
    world: World,
    keys: [String; 5],
}

impl Prepared {
    fn set_up() -> Self {
        let (world, user) = founded();
        let server = Server::start(&world).unwrap();
        let keys = [
            user.clone(),
            server.agent(&user, "ann", "agent"),
            server.agent(&user, "rob", "agent"),
            server.agent(&user, "reviewer", "orchestrator"),
            server.agent(&user, "verifier", "orchestrator"),
        ];
        server.done(&user, "POST", "/projects", &json!({ "name": "Kept", "slug": "kept" }));
        let stories: Vec<Value> =
            ["1.1", "1.2", "1.3"].map(|number| json!({ "number": number, "title": "S" })).into();
        let plan = json!({ "epics": [{ "number": 1, "title": "E", "stories": stories }] });
        server.done(&user, "POST", "/projects/kept/import", &plan);
        for story in ["1.2", "1.3"] {
            let path = format!("/stories/{story}/contract");
            server.done(&keys[ANN], "POST", &path, &json!({ "story_title": "S", "ac_count": 0 }));
        }
        server.stop();
        let prepared = Self { world, keys };
        copy(&prepared.data(), &prepared.kept());
        prepared
    }

    fn data(&self) -> PathBuf {
        self.world.state_dir().join("story-server")
    }

    fn kept(&self) -> PathBuf {
        self.world.path().join("kept")
    }

    fn begin_again(&self) {
        std::fs::remove_dir_all(self.data()).unwrap();
        copy(&self.kept(), &self.data());
    }

    /// Each step under an idempotency key of its own: what was acknowledged, without the secrets that are shown once.
    fn play(&self, server: &Server) -> Vec<Option<Value>> {
        let steps = STEPS.iter().enumerate();
        let step = |(place, (who, path, body)): (usize, &(usize, &str, &str))| {
            let body = serde_json::from_str(body).unwrap();
            let (status, mut answer) =
                server.ask(&self.keys[*who], "POST", path, &format!("step {place}"), &body)?;
            assert!((200..300).contains(&status), "{path}: {status} {answer}");
            without_secrets(&mut answer);
            Some(answer)
        };
        steps.map(step).collect()
    }

    /// Everything that ever happened there, in order.
    fn history(&self, server: &Server) -> Vec<String> {
        let changes = server.done(&self.keys[USER], "GET", "/changes?since=0&limit=1000", &Value::Null);
        let word = |change: &Value| format!("{} {}", change["entity_type"], change["action"]);
        changes["data"].as_array().unwrap().iter().map(word).collect()
    }

    fn undisturbed(&self) -> Vec<String> {
        let server = Server::start(&self.world).unwrap();
        assert!(self.play(&server).iter().all(Option::is_some));
        let history = self.history(&server);
        server.stop();
        history
    }

    /// Whether the place was reached at all.
    fn survives_a_crash_at(&mut self, place: usize, expected: &[String]) -> bool {
        self.begin_again();
        self.world.set("WINDLASS_CRASH_AT", place.to_string());
        let first = Server::start(&self.world);
        let acknowledged = first.as_ref().map_or_else(|| vec![None; STEPS.len()], |server| self.play(server));
        let on_the_way = first.is_none() || acknowledged.iter().any(Option::is_none);
        let reached = on_the_way || first.is_some_and(|server| !server.stop_or_be_killed());
        self.world.unset("WINDLASS_CRASH_AT");

        let server = Server::start(&self.world).unwrap();
        let again = self.play(&server);
        for (step, (known, again)) in acknowledged.iter().zip(&again).enumerate() {
            let kept = known.is_none() || known == again;
            assert!(kept, "a crash at place {place} lost step {step}: {known:?}, then {again:?}");
        }
        assert_eq!(self.history(&server), expected, "after a crash at place {place}");
        server.stop();
        reached
    }
}

fn copy(from: &Path, to: &Path) {
    std::fs::create_dir_all(to).unwrap();
    for entry in std::fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        let target = to.join(entry.file_name());
        if entry.file_type().unwrap().is_dir() {
            copy(&entry.path(), &target);
        } else {
            std::fs::copy(entry.path(), target).unwrap();
        }
    }
}

fn without_secrets(value: &mut Value) {
    match value {
        Value::Object(fields) => {
            for (name, field) in fields {
                if matches!(name.as_str(), "token" | "raw_key") {
                    *field = Value::Null;
                }
                without_secrets(field);
            }
        }
        Value::Array(items) => items.iter_mut().for_each(without_secrets),
        _ => {}
    }
}

/// Every other place, from this one on: two tests share them, side by side.
fn no_step_is_lost_or_done_twice(first: usize) {
    let mut prepared = Prepared::set_up();
    let expected = prepared.undisturbed();
    let mut place = first;
    while prepared.survives_a_crash_at(place, &expected) {
        place += 2;
    }
    assert!(place >= 2 * STEPS.len(), "only {place} places were reached");
}

#[test]
fn no_step_of_custody_is_lost_or_done_twice_at_even_places() {
    no_step_is_lost_or_done_twice(2);
}

#[test]
fn no_step_of_custody_is_lost_or_done_twice_at_odd_places() {
    no_step_is_lost_or_done_twice(1);
}
