//! What takes several deeds of one story, through each face: tokens from call to call, verdicts that are none, contracts that
//! bind, verifiers that were chosen, whole epics, and what is said to come next.

use super::cases::Standing::{Contracted, Implementing, Pending, Reviewed};
use super::cases::Who::{self, Ann, Reporter, Reviewer, Sent, User, Verifier};
use super::rows::{PLAN, Row};
use super::scene::Scene;
use super::sections::{FACES, Face, plain};
use super::shut_out::{deed, done, set};
use super::tool_called;
use serde_json::{Value, json};

/// One step of a story; `body` is the tool's too, `flags` say the same on the command line.
fn step(who: Who, verb: &'static str, story: &str, body: Value, flags: &[&str]) -> Row {
    let tool = match verb {
        "request-review" => "request_review",
        "review-complete" => "review_complete",
        "recover-cap" => "recover_cap",
        "contract" => "contract_story",
        "claim" => "claim_story",
        "start" => "start_story",
        "report" => "report_story",
        _ => "verify_story",
    };
    let mut arguments = body.clone();
    arguments["story_id"] = json!(story);
    arguments["project_id"] = json!("faces");
    let words = [&[verb, story, "--project", "faces"], flags].concat();
    deed(who, ("POST", &format!("/stories/{story}/{verb}?project=faces"), body), &words, (tool, arguments))
}

fn contract(story: &str, title: &str) -> Row {
    step(Ann, "contract", story, json!({ "story_title": title, "ac_count": 1 }), &[])
}

/// What the face told, after it was done.
#[track_caller]
fn told(scene: &mut Scene, face: Face, row: &Row) -> String {
    let said = face(scene, row).expect("every face has this deed");
    assert!(said.done, "{:?}: {}", row.words, said.told);
    plain(&said.told)
}

#[track_caller]
fn is_refused(scene: &mut Scene, face: Face, row: &Row, (status, code): (u16, &str)) -> String {
    let said = face(scene, row).expect("every face has this deed");
    let fits = !said.done && said.code == code && said.has_status(status) && !said.hints.is_empty();
    assert!(fits, "{:?} is refused with {status} {code}: {}", row.words, said.told);
    plain(&said.told)
}

fn story(scene: &Scene, number: &str) -> Value {
    let path = format!("/stories/{number}?project=faces");
    done(scene, scene.key(User), "GET", &path, &Value::Null)["story"].clone()
}

/// The first token in an answer.
#[track_caller]
fn token_in(told: &str) -> String {
    let from = told.find("wcap1.").expect("the answer holds a token");
    told[from..].split(['"', '\\']).next().unwrap_or_default().to_owned()
}

/// Traps 1 and 2: where tokens are asked for, each comes with the call before and opens its own step, once.
#[test]
fn tokens_that_are_asked_for_lead_through_every_step() {
    let mut scene = Scene::set();
    set(&scene, "require_capabilities", json!(true));
    for face in FACES {
        let number = scene.story(Pending);
        let _ = told(&mut scene, face, &contract(&number, "A story"));
        let start_cap = token_in(&told(&mut scene, face, &step(Ann, "claim", &number, json!({}), &[])));
        let with = |who, verb, mut body: Value, more: &[&str], cap: Option<&str>| {
            let mut flags = more.to_vec();
            if let Some(cap) = cap {
                body["cap"] = json!(cap);
                flags.extend(["--capability", cap]);
            }
            step(who, verb, &number, body, &flags)
        };
        let missing = (403, "missing_capability");
        let _ = is_refused(&mut scene, face, &with(Ann, "start", json!({}), &[], None), missing);
        let start = with(Ann, "start", json!({}), &[], Some(&start_cap));
        let report_cap = token_in(&told(&mut scene, face, &start));
        let _ = is_refused(&mut scene, face, &with(Reporter, "report", json!({}), &[], None), missing);
        let other = with(Reporter, "report", json!({}), &[], Some(&start_cap));
        let _ = is_refused(&mut scene, face, &other, (403, "cap_rejected"));
        let report = with(Reporter, "report", json!({}), &[], Some(&report_cap));
        let review_cap = token_in(&told(&mut scene, face, &report));
        let (review, flags) = (json!({ "review_type": "code" }), ["--type", "code"]);
        let bare = with(Reviewer, "review-complete", review.clone(), &flags, None);
        let _ = is_refused(&mut scene, face, &bare, missing);
        let _ = told(&mut scene, face, &with(Reviewer, "review-complete", review, &flags, Some(&review_cap)));
        let _ = is_refused(&mut scene, face, &with(Verifier, "verify", json!({}), &[], None), missing);
        let recover = json!({ "cap_type": "verify_cap" });
        let recover = with(Verifier, "recover-cap", recover, &["--type", "verify_cap"], None);
        let verify_cap = token_in(&told(&mut scene, face, &recover));
        let verified = told(&mut scene, face, &with(Verifier, "verify", json!({}), &[], Some(&verify_cap)));
        assert!(verified.contains("\"verified_status\":\"verified\""), "{verified}");
    }
    scene.server.stop();
}

/// Trap 6.
#[test]
fn a_verdict_that_is_no_pass_verifies_nothing() {
    let mut scene = Scene::set();
    for face in FACES {
        for (result, work, proof) in
            [("fail", "pending", "rejected"), ("partial", "reported_done", "unverified")]
        {
            let number = scene.story(Reviewed);
            let body = json!({ "result": result, "summary": "no tests" });
            let flags = ["--result", result, "--summary", "no tests"];
            let _ = told(&mut scene, face, &step(Verifier, "verify", &number, body, &flags));
            let story = story(&scene, &number);
            let standing = (&story["agent_status"], &story["verified_status"]);
            assert_eq!(standing, (&json!(work), &json!(proof)), "{result}: {story}");
            assert_eq!(story["iteration_count"], 1, "{result}: {story}");
        }
    }
    scene.server.stop();
}

/// A plan that gives the story another title.
fn reworded_by_merge(number: &str) -> Row {
    let epic = json!({ "number": 1, "stories": [{ "number": number, "title": "Another story" }] });
    let body = json!({ "epics": [epic] });
    let tool = json!({ "project_id": "faces", "payload": body, "merge": true });
    let words = ["import", PLAN, "--project", "faces", "--merge"];
    deed(User, ("POST", "/projects/faces/import?merge=true", body), &words, ("import_stories", tool))
}

/// Trap 12: what is under work keeps its words; what was only agreed to is agreed to again.
#[test]
fn a_contract_binds_whoever_writes_and_whoever_works() {
    let mut scene = Scene::set();
    let [http, command_line, _] = FACES;
    for face in [http, command_line] {
        let number = scene.story(Implementing);
        let body = json!({ "title": "Another story" });
        let path = format!("/stories/{number}?project=faces");
        let words = ["edit", &number, "--title", "Another story", "--project", "faces"];
        let edit = deed(User, ("PATCH", &path, body), &words, ("no_tool_edits", Value::Null));
        let _ = is_refused(&mut scene, face, &edit, (409, "contract_bound"));
    }
    for face in FACES {
        let number = scene.story(Implementing);
        let refused = is_refused(&mut scene, face, &reworded_by_merge(&number), (422, "import_invalid"));
        assert!(refused.contains("acknowledged as they read"), "{refused}");
        assert_eq!(story(&scene, &number)["title"], "A story");

        let number = scene.story(Contracted);
        let _ = told(&mut scene, face, &reworded_by_merge(&number));
        let claim = step(Ann, "claim", &number, json!({}), &[]);
        let _ = is_refused(&mut scene, face, &claim, (409, "must_contract_first"));
        let _ = told(&mut scene, face, &contract(&number, "Another story"));
        let _ = told(&mut scene, face, &claim);
    }
    scene.server.stop();
}

#[test]
fn another_dispatch_than_the_chosen_one_does_not_verify() {
    let mut scene = Scene::set();
    for judge in ["first-judge", "second-judge"] {
        let _ = scene.agent(judge, "agent");
    }
    for face in FACES {
        let number = scene.story(Implementing);
        let _ = scene.send("first-judge");
        let path = format!("/stories/{number}/request-review");
        scene.rest(Ann, "POST", &path, &json!({}));
        let chosen = story(&scene, &number)["verifier_dispatch_id"].clone();
        assert!(chosen.is_string(), "somebody was chosen: {chosen}");
        // Opened afterwards, so that nobody can have chosen it.
        let late = scene.send("second-judge");
        assert_ne!(chosen, late);
        scene.rest(Reporter, "POST", &format!("/stories/{number}/report"), &json!({}));
        let review = json!({ "review_type": "code" });
        scene.rest(Reviewer, "POST", &format!("/stories/{number}/review-complete"), &review);
        let verify = step(Sent, "verify", &number, json!({}), &[]);
        let refused = is_refused(&mut scene, face, &verify, (403, "not_chosen_verifier"));
        assert!(refused.contains("another dispatch was chosen"), "{refused}");
    }
    scene.server.stop();
}

fn completed_epics(scene: &Scene) -> usize {
    let path = "/changes?since=0&project_id=faces&entity_type=epic&action=epic_completed&limit=1000";
    let changes = done(scene, scene.key(User), "GET", path, &Value::Null);
    changes["data"].as_array().map_or(0, Vec::len)
}

/// Section 4: the last verdict of an epic completes it, alone or with others.
#[test]
fn an_epic_is_verified_at_once_and_complete_with_its_last_story() {
    let mut scene = Scene::set();
    for (complete, face) in FACES.into_iter().enumerate() {
        let (epic, numbers) = scene.epic(2, Reviewed);
        let body = json!({ "review_type": "code", "summary": "all met" });
        let (mut tool, path) = (body.clone(), format!("/epics/{epic}/verify-all?project=faces"));
        let number = epic.to_string();
        tool["epic_id"] = json!(number);
        tool["project_id"] = json!("faces");
        let words =
            ["verify-all", &number, "--project", "faces", "--review-type", "code", "--summary", "all met"];
        let all = deed(Verifier, ("POST", &path, body), &words, ("verify_all_in_epic", tool));
        assert!(told(&mut scene, face, &all).contains("\"succeeded\":2"));
        for number in &numbers {
            assert_eq!(story(&scene, number)["verified_status"], "verified");
        }
        assert_eq!(completed_epics(&scene), 2 * complete + 1);

        let (_, alone) = scene.epic(1, Reviewed);
        let last = told(&mut scene, face, &step(Verifier, "verify", &alone[0], json!({}), &[]));
        assert!(last.contains("\"epic_completed\":true"), "{last}");
        assert_eq!(completed_epics(&scene), 2 * complete + 2);
    }
    scene.server.stop();
}

#[test]
fn several_are_rejected_at_once_each_with_the_reason() {
    let mut scene = Scene::set();
    for face in FACES {
        let (_, numbers) = scene.epic(2, Reviewed);
        let one = |number: &String| json!({ "story_id": number, "reason": "no tests" });
        let body = json!({ "stories": numbers.iter().map(one).collect::<Vec<_>>(), "project_id": "faces" });
        let words =
            ["bulk", "reject", &numbers[0], &numbers[1], "--reason", "no tests", "--project", "faces"];
        let http = ("POST", "/stories/bulk/reject", body.clone());
        let both = deed(Verifier, http, &words, ("bulk_reject", body));
        assert!(told(&mut scene, face, &both).contains("\"succeeded\":2"));
        for number in &numbers {
            let story = story(&scene, number);
            assert_eq!(story["verified_status"], "rejected", "{story}");
            assert_eq!(story["rejection_reason"], "no tests", "{story}");
        }
        let said = face(&mut scene, &both).expect("every face has this deed");
        assert!(!said.done && said.has_status(422), "they were rejected already: {}", said.told);
    }
    scene.server.stop();
}

/// Section 4: every step says what comes after it.
#[test]
fn every_step_tells_the_next() {
    let mut scene = Scene::set();
    for face in FACES {
        let number = scene.story(Pending);
        for (row, next) in [
            (contract(&number, "A story"), "claim"),
            (step(Ann, "claim", &number, json!({}), &[]), "start"),
            (step(Ann, "start", &number, json!({}), &[]), "request_review"),
            (step(Ann, "request-review", &number, json!({}), &[]), "report"),
            (step(Reviewer, "report", &number, json!({}), &[]), "verify"),
        ] {
            let answer = told(&mut scene, face, &row);
            assert!(answer.contains(&format!("\"action\":\"{next}\"")), "{:?}: {answer}", row.words);
        }
    }
    scene.server.stop();
}

/// Trap 5, and section 13: what these two faces do not even pass on.
#[test]
fn a_role_that_nobody_gets_and_a_feed_from_nowhere_are_refused_before_anybody_is_asked() {
    let mut scene = Scene::set();
    let user = scene.key(User).to_owned();
    let keys = |scene: &Scene| {
        done(scene, &user, "GET", "/api_keys?page_size=100", &Value::Null)["meta"]["total_count"].clone()
    };
    let before = keys(&scene);
    scene.world.set("LOOPCTL_API_KEY", user.clone());
    let words = ["story", "dispatch", "--role", "user", "--agent", "bob", "--json"];
    let refused = scene.world.windlass(&words).exits_with(2);
    let text = format!("{}{}", refused.stdout, refused.stderr);
    assert!(text.contains("agent, orchestrator"), "{text}");
    let refused = tool_called(&scene, "dispatch", &json!({ "role": "user", "agent_id": "bob" }));
    assert!(!refused.done && refused.told.contains("one of agent, orchestrator"), "{}", refused.told);
    assert_eq!(keys(&scene), before, "no key was made");
    let refused = tool_called(&scene, "list_changes", &json!({ "project_id": "faces" }));
    assert!(!refused.done && refused.told.contains("list_changes needs since"), "{}", refused.told);
    scene.server.stop();
}
