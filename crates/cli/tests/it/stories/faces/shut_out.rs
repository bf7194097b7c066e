//! Whole tenants that are shut out, edges that lead out of a project, and what a verdict and a review do at once: alike through
//! every face.

use super::cases::Expected::Done;
use super::cases::Standing::{Pending, Reviewed};
use super::cases::Who::{self, Ann, User, Verifier};
use super::rows::Row;
use super::scene::Scene;
use super::sections::FACES;
use crate::stories::server::Server;
use serde_json::{Value, json};

pub(super) fn deed(
    who: Who,
    http: (&'static str, &str, Value),
    words: &[&str],
    tool: (&'static str, Value),
) -> Row {
    let (method, path, body) = http;
    Row {
        name: "one deed",
        who,
        http: (method, path.to_owned(), body),
        words: words.iter().map(|word| (*word).to_owned()).collect(),
        tool: Some(tool),
        expected: Done,
        tells: "",
    }
}

fn look() -> Row {
    let tool = ("list_ready_stories", json!({ "project_id": "faces" }));
    deed(Ann, ("GET", "/stories/ready?project_id=faces", Value::Null), &["next", "--project", "faces"], tool)
}

/// By a person, over HTTP.
#[track_caller]
pub(super) fn done(scene: &Scene, key: &str, method: &str, path: &str, body: &Value) -> Value {
    let (status, answer) = scene.server.ask(key, method, path, "", body).unwrap();
    assert!((200..300).contains(&status), "{method} {path}: {status} {answer}");
    answer
}

pub(super) fn set(scene: &Scene, name: &str, value: Value) {
    let mut settings = json!({ "settings": {} });
    settings["settings"][name] = value;
    done(scene, scene.key(User), "PATCH", "/tenants/me", &settings);
}

#[test]
fn everybody_of_a_suspended_tenant_is_refused_and_told_why() {
    let mut scene = Scene::set();
    let id = done(&scene, scene.key(User), "GET", "/tenants/me", &Value::Null)["tenant"]["id"].clone();
    scene.server.stop();
    let told = scene.world.windlass(&["serve", "new-key", "ops", "--superadmin", "--json"]).exits_with(0);
    let operator = serde_json::from_str::<Value>(told.stdout.trim()).unwrap()["key"].clone();
    let operator = operator.as_str().unwrap();
    scene.server = Server::start(&scene.world).unwrap();
    scene.world.set("LOOPCTL_SERVER", scene.server.url());
    let admin = |what: &str| format!("/admin/tenants/{}/{what}", id.as_str().unwrap());
    done(&scene, operator, "POST", &admin("suspend"), &json!({}));
    for face in FACES {
        let said = face(&mut scene, &look()).unwrap();
        assert_eq!((said.done, said.code.as_str()), (false, "tenant_suspended"), "{}", said.told);
        assert!(said.has_status(403) && !said.hints.is_empty(), "{}", said.told);
    }
    done(&scene, operator, "POST", &admin("activate"), &json!({}));
    for face in FACES {
        let said = face(&mut scene, &look()).unwrap();
        assert!(said.done, "{}", said.told);
    }
    scene.server.stop();
}

#[test]
fn whoever_asks_too_often_is_refused_and_told_until_when() {
    let mut scene = Scene::set();
    set(&scene, "rate_limit_requests_per_minute", json!(1));
    for face in FACES {
        // The first may be the first of a minute, and so may the next one be.
        let said = (0..4).find_map(|_| face(&mut scene, &look()).filter(|said| !said.done));
        let said = said.expect("one of them is refused");
        assert_eq!(said.code, "rate_limited", "{}", said.told);
        assert!(said.has_status(429) && !said.hints.is_empty(), "{}", said.told);
    }
    scene.server.stop();
}

/// Our own clients remember what they were shown, so it is only missed of others.
#[test]
fn a_head_that_must_be_shown_is_missed_and_every_client_of_ours_shows_it() {
    let mut scene = Scene::set();
    set(&scene, "require_witness_header", json!(true));
    let [http, command_line, tools] = FACES;
    let said = http(&mut scene, &look()).unwrap();
    assert_eq!((said.status, said.code.as_str()), (Some(428), "witness_header_missing"), "{}", said.told);
    assert!(!said.hints.is_empty(), "{}", said.told);
    for face in [command_line, tools, command_line] {
        let said = face(&mut scene, &look()).unwrap();
        assert!(said.done, "{}", said.told);
    }
    scene.server.stop();
}

#[test]
fn nothing_waits_for_what_is_in_another_project() {
    let mut scene = Scene::set();
    let number = scene.story(Pending);
    let user = scene.key(User).to_owned();
    let here = done(&scene, &user, "GET", &format!("/stories/{number}?project=faces"), &Value::Null);
    done(&scene, &user, "POST", "/projects", &json!({ "name": "Other", "slug": "other" }));
    let epic = json!({ "number": 5, "title": "There" });
    let epic = done(&scene, &user, "POST", "/projects/other/epics", &epic);
    let there = json!({ "number": "5.1", "title": "There", "epic_number": 5 });
    let there = done(&scene, &user, "POST", "/projects/other/stories", &there);
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    let stories = (text(&here["story"]["id"]), text(&there["story"]["id"]));
    let epics = (text(&here["story"]["epic_id"]), text(&epic["epic"]["id"]));
    for face in FACES {
        let body = json!({ "story_id": stories.0, "depends_on_story_id": stories.1 });
        let words = ["depends", &stories.0, "--on", &stories.1];
        let http = ("POST", "/story_dependencies", body.clone());
        let between_stories = deed(Verifier, http, &words, ("add_story_dependency", body));
        let body = json!({ "epic_id": epics.0, "depends_on_epic_id": epics.1 });
        let words = ["depends", &epics.0, "--on", &epics.1, "--epic"];
        let http = ("POST", "/epic_dependencies", body.clone());
        let between_epics = deed(Verifier, http, &words, ("add_epic_dependency", body));
        for row in [between_stories, between_epics] {
            let said = face(&mut scene, &row).unwrap();
            assert!(!said.done && said.has_status(422), "{}", said.told);
            assert!(said.told.contains("must be in the same project"), "{}", said.told);
        }
    }
    scene.server.stop();
}

/// Trap 8: nothing is promised for later.
#[test]
fn a_verdict_holds_when_it_is_answered() {
    let mut scene = Scene::set();
    for face in FACES {
        let number = scene.story(Reviewed);
        let path = format!("/stories/{number}/verify?project=faces");
        let words = ["verify", &number, "--project", "faces"];
        let tool = ("verify_story", json!({ "story_id": number, "project_id": "faces" }));
        let said = face(&mut scene, &deed(Verifier, ("POST", &path, json!({})), &words, tool)).unwrap();
        assert!(said.done && said.status.is_none_or(|status| status == 200), "{}", said.told);
        assert!(!said.told.contains("verification_pending"), "{}", said.told);
        let path = format!("/stories/{number}?project=faces");
        let story = done(&scene, scene.key(User), "GET", &path, &Value::Null);
        assert_eq!(story["story"]["verified_status"], "verified", "{story}");
    }
    scene.server.stop();
}

/// Trap 9: signs of little work are looked at when a review is asked for, and are told with the story.
#[test]
fn little_work_for_much_is_told_with_the_story() {
    let mut scene = Scene::set();
    for (number, face) in ["1.91", "1.92", "1.93"].into_iter().zip(FACES) {
        let body = json!({ "number": number, "title": "A story", "epic_number": 1, "estimated_hours": 8 });
        done(&scene, scene.key(User), "POST", "/projects/faces/stories", &body);
        let path = format!("/stories/{number}?project=faces");
        for step in ["contract", "claim", "start"] {
            let echo = json!({ "story_title": "A story", "ac_count": 0 });
            let path = format!("/stories/{number}/{step}?project=faces");
            done(&scene, scene.key(Ann), "POST", &path, &echo);
        }
        let ask = format!("/stories/{number}/request-review?project=faces");
        let words = ["request-review", number, "--project", "faces"];
        let tool = ("request_review", json!({ "story_id": number, "project_id": "faces" }));
        let said = face(&mut scene, &deed(Ann, ("POST", &ask, json!({})), &words, tool)).unwrap();
        assert!(said.done, "{}", said.told);
        let story = done(&scene, scene.key(User), "GET", &path, &Value::Null);
        let score = story["story"]["metadata"]["lazy_score"].as_f64();
        assert!(score.is_some_and(|score| score > 0.7), "{story}");
        assert_eq!(story["story"]["verifier_needed"], true, "{story}");
    }
    scene.server.stop();
}
