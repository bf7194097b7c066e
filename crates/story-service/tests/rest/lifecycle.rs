//! One story from import to verdict, with who may do what on the way.

use crate::support::World;
use serde_json::{Value, json};
use windlass_control_api::stories::Method;

#[tokio::test]
async fn a_story_goes_from_import_to_verified_by_different_hands() {
    let world = World::new();
    let team = world.team("acme").await;
    world.two_stories(&team).await;
    let ready = world.get(&team.implementer, "/stories/ready?project=main").await;
    assert_eq!(ready["meta"]["total_count"], 1, "{ready}");
    let blocked = world.get(&team.implementer, "/stories/blocked?project=main").await;
    assert_eq!(blocked["data"][0]["blocking_dependencies"][0]["number"], "3.1", "{blocked}");

    let early = world.refused(&team.implementer, "/stories/US-3.1/claim", Value::Null).await;
    assert_eq!((early.0, &early.1["code"]), (409, &json!("must_contract_first")));
    let wrong = world
        .refused(&team.implementer, "/stories/US-3.1/contract", json!({ "story_title": "x", "ac_count": 1 }))
        .await;
    assert_eq!((wrong.0, &wrong.1["code"]), (422, &json!("contract_mismatch")));
    world
        .post(
            &team.implementer,
            "/stories/US-3.1/contract",
            json!({ "story_title": "Read feed", "ac_count": 1 }),
        )
        .await;
    let claimed = world.post(&team.implementer, "/stories/3.1/claim", Value::Null).await;
    let cap = claimed["start_cap"]["token"].as_str().unwrap();
    assert!(cap.starts_with("wcap1."), "{claimed}");
    let started = world.post(&team.implementer, "/stories/3.1/start", json!({ "cap": cap })).await;
    assert_eq!(started["story"]["agent_status"], "implementing");
    world.post(&team.implementer, "/stories/3.1/request-review", Value::Null).await;
    let artifact = json!({ "artifact": { "artifact_type": "commit", "path": "src/feed.rs" }, "cap": started["report_cap"]["token"] });
    world.post(&team.reporter, "/stories/3.1/report", artifact).await;
    let unreviewed = world.refused(&team.verifier, "/stories/3.1/verify", json!({})).await;
    assert_eq!((unreviewed.0, &unreviewed.1["code"]), (422, &json!("no_review_record")));
    world.post(&team.reviewer, "/stories/3.1/review-complete", json!({ "review_type": "code" })).await;
    let verified = world.post(&team.verifier, "/stories/3.1/verify", json!({ "summary": "good" })).await;

    assert_eq!(verified["story"]["verified_status"], "verified");
    let ready = world.get(&team.implementer, "/stories/ready").await;
    assert_eq!(ready["data"][0]["number"], "3.2");
    let progress = world.get(&team.user, "/projects/main/progress").await;
    assert_eq!(progress["progress"]["verification_percentage"], 50.0, "{progress}");
    let changes = world.get(&team.user, "/changes?since=0&project_id=main&action=verified").await;
    assert_eq!(changes["data"][0]["new_state"]["verified_status"], "verified", "{changes}");
    let history = world.get(&team.user, "/stories/3.1/history").await;
    assert!(history["meta"]["total_count"].as_u64().unwrap() >= 7, "{history}");
}

#[tokio::test]
async fn a_failed_verification_rejects() {
    let world = World::new();
    let team = world.team("acme").await;
    world.two_stories(&team).await;
    reported(&world, &team).await;

    let judged =
        world.post(&team.verifier, "/stories/3.1/verify", json!({ "result": "fail", "summary": "no" })).await;

    assert_eq!(judged["story"]["verified_status"], "rejected");
    assert_eq!(judged["story"]["agent_status"], "pending");
    assert_eq!(judged["verified"], false);
}

#[tokio::test]
async fn whoever_reports_their_own_work_is_refused_and_only_the_story_waits() {
    let world = World::new();
    let team = world.team("acme").await;
    world.two_stories(&team).await;
    started(&world, &team).await;

    let (status, error) = world.refused(&team.implementer, "/stories/3.1/report", json!({})).await;

    assert_eq!((status, &error["code"]), (409, &json!("self_report_blocked")));
    let story = world.get(&team.user, "/stories/3.1").await;
    assert_eq!(story["story"]["quarantined"], true);
    world.get(&team.implementer, "/stories/ready").await;
    world.post(&team.user, "/stories/3.1/release", json!({ "note": "a mistake" })).await;
    world.post(&team.reporter, "/stories/3.1/report", json!({})).await;
}

#[tokio::test]
async fn every_criterion_has_a_status_that_a_verdict_gives_and_an_author_does_not() {
    let world = World::new();
    let team = world.team("acme").await;
    world.two_stories(&team).await;
    reported(&world, &team).await;
    let first = world.get(&team.implementer, "/stories/3.1/acceptance_criteria").await;
    assert_eq!(first["data"][0]["status"], "pending", "a new story's criteria have a status: {first}");

    let path = "/stories/3.1/acceptance_criteria/AC-1";
    let (status, _) = world.refused(&team.verifier, path, json!({ "status": "fine" })).await;
    assert_eq!(status, 422);
    let body = json!({ "status": "failed", "evidence_path": "tests/feed.rs" });
    let said = world.post(&team.verifier, path, body).await;

    assert_eq!(said["criterion"]["evidence_path"], "tests/feed.rs", "{said}");
    let (status, error) = world.refused(&team.verifier, "/stories/3.1/verify", json!({})).await;
    assert_eq!((status, &error["code"]), (422, &json!("criterion_failed")));
    let exported = world.get(&team.user, "/projects/main/export").await;
    assert_eq!(exported["epics"][0]["stories"][0]["acceptance_criteria"][0]["status"], "failed");
    let merged = world.post(&team.user, "/projects/main/import?merge=true", exported).await;
    assert_eq!(merged["import"]["stories_updated"], 0, "an export is no rewording: {merged}");
}

#[tokio::test]
async fn a_made_up_token_is_told_of_and_holds_nothing() {
    let world = World::new();
    let team = world.team("acme").await;
    world.two_stories(&team).await;
    started(&world, &team).await;

    let (status, error) = world.refused(&team.reporter, "/stories/3.1/report", json!({ "cap": "x" })).await;

    assert_eq!((status, &error["code"]), (403, &json!("cap_rejected")));
    let seen = world.get(&team.user, "/violations").await;
    assert_eq!(seen["data"][0]["holds_story"], false, "{seen}");
    world.post(&team.reporter, "/stories/3.1/report", json!({})).await;
}

#[tokio::test]
async fn keys_end_where_they_should() {
    let world = World::new();
    let team = world.team("acme").await;
    let ask = async |key: &str| world.ask(key, Method::Get, "/projects", Value::Null).await.status;
    assert_eq!(ask("lc_nobody").await, 401);
    assert_eq!(ask(&team.implementer).await, 200);
    let keys = world.get(&team.user, "/api_keys?page_size=100").await;
    assert!(!keys.to_string().contains("hash"), "{keys}");
    let id = keys["data"].as_array().unwrap().iter().find(|key| key["name"] == "implementer").unwrap()["id"]
        .clone();

    let rotated = world
        .post(
            &team.user,
            &format!("/api_keys/{}/rotate", id.as_str().unwrap()),
            json!({ "grace_period_hours": 1 }),
        )
        .await;
    assert_eq!(ask(rotated["raw_key"].as_str().unwrap()).await, 200, "a bound key can be rotated");
    assert_eq!(ask(&team.implementer).await, 200, "the old one works for a while");
    let path = format!("/api_keys/{}", id.as_str().unwrap());
    assert_eq!(world.ask(&team.user, Method::Delete, &path, Value::Null).await.status, 200);
    assert_eq!(ask(&team.implementer).await, 401);

    let admin = world.service.make_superadmin_key("ops").await.unwrap();
    let tenant = world.get(&team.user, "/tenants/me").await["tenant"]["id"].as_str().unwrap().to_owned();
    world.post(&admin, &format!("/admin/tenants/{tenant}/suspend"), Value::Null).await;
    assert_eq!(ask(&team.user).await, 403);
    assert_eq!(ask(&admin).await, 400, "a superadmin says which tenant");
}

pub(crate) async fn started(world: &World, team: &crate::support::Team) {
    world
        .post(
            &team.implementer,
            "/stories/3.1/contract",
            json!({ "story_title": "Read feed", "ac_count": 1 }),
        )
        .await;
    world.post(&team.implementer, "/stories/3.1/claim", Value::Null).await;
    world.post(&team.implementer, "/stories/3.1/start", Value::Null).await;
}

pub(crate) async fn reported(world: &World, team: &crate::support::Team) {
    started(world, team).await;
    world.post(&team.reporter, "/stories/3.1/report", json!({})).await;
    world.post(&team.reviewer, "/stories/3.1/review-complete", json!({ "review_type": "code" })).await;
}
