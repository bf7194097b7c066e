//! Nothing happens twice, nothing is lost, and nobody asks without end.

use crate::support::World;
use serde_json::json;
use std::sync::Arc;
use windlass_control_api::stories::{Answer, Call, Method, StoryApi};

async fn create(world: &World, key: &str, idempotency: &str, name: &str) -> Answer {
    let call =
        Call::new(Method::Post, "/api/v1/projects").with_key(key).with_header("Idempotency-Key", idempotency);
    world.service.call(call.with_json(&json!({ "name": name }))).await.unwrap()
}

#[tokio::test]
async fn the_same_request_under_one_key_has_one_effect_also_after_a_restart() {
    let world = World::new();
    let team = world.team("acme").await;

    let first = create(&world, &team.user, "k1", "Second").await;
    let again = create(&world, &team.user, "k1", "Second").await;
    let other = create(&world, &team.user, "k1", "Third").await;
    let restarted = world.restarted();
    let after = create(&restarted, &team.user, "k1", "Second").await;

    assert_eq!(first.status, 201, "{}", first.value());
    assert_eq!((again.status, &again.body), (201, &first.body));
    assert_eq!(again.header("idempotency-replayed"), Some("true"));
    assert_eq!(other.status, 409);
    assert_eq!((after.status, &after.body), (201, &first.body));
    assert_eq!(restarted.get(&team.user, "/projects").await["meta"]["total_count"], 2);
}

#[tokio::test]
async fn a_key_made_twice_is_made_once_and_shown_once() {
    let world = World::new();
    let team = world.team("acme").await;
    let make = async || {
        let call = Call::new(Method::Post, "/api/v1/api_keys")
            .with_key(&team.user)
            .with_header("idempotency-key", "k");
        world.service.call(call.with_json(&json!({ "name": "n", "role": "agent" }))).await.unwrap().value()
    };

    let (first, again) = (make().await, make().await);

    assert!(first["raw_key"].is_string());
    assert!(again["raw_key"].is_null(), "the journal must not know it");
    assert_eq!(first["api_key"]["id"], again["api_key"]["id"]);
}

/// Under this idempotency key.
async fn once(world: &World, key: &str, path: &str, body: serde_json::Value) -> Answer {
    let call = Call::new(Method::Post, format!("/api/v1{path}")).with_key(key);
    world.service.call(call.with_header("idempotency-key", "once").with_json(&body)).await.unwrap()
}

#[tokio::test]
async fn an_audit_key_is_changed_once_however_often_that_is_asked_under_one_key() {
    let world = World::new();
    let team = world.team("acme").await;
    let tenant = world.get(&team.user, "/tenants/me").await["tenant"]["id"].as_str().unwrap().to_owned();
    let path = format!("/tenants/{tenant}/rotate-audit-key");

    let first = once(&world, &team.user, &path, json!({})).await;
    let again = once(&world, &team.user, &path, json!({})).await;
    let restarted = world.restarted();
    let after = once(&restarted, &team.user, &path, json!({})).await;

    assert_eq!(first.status, 200, "{}", first.value());
    assert_eq!((again.status, again.value()), (200, first.value()));
    assert_eq!((after.status, after.value()), (200, first.value()));
    assert_eq!(after.header("idempotency-replayed"), Some("true"));
    let head = restarted.ask(&team.user, Method::Get, &format!("/audit/sth/{tenant}"), json!(null)).await;
    assert_eq!(head.value()["keys"].as_array().map(Vec::len), Some(2), "{}", head.value());
}

#[tokio::test]
async fn what_an_operator_does_under_one_key_is_done_once() {
    let world = World::new();
    let operator = world.service.make_superadmin_key("ops").await.unwrap();
    let body = json!({ "name": "Acme", "slug": "acme" });

    let first = once(&world, &operator, "/admin/tenants", body.clone()).await;
    let again = once(&world, &operator, "/admin/tenants", body.clone()).await;
    let other = once(&world, &operator, "/admin/tenants", json!({ "name": "Other", "slug": "other" })).await;
    let restarted = world.restarted();
    let after = once(&restarted, &operator, "/admin/tenants", body).await;

    assert_eq!(first.status, 201, "{}", first.value());
    assert!(first.value()["raw_key"].is_string() && again.value()["raw_key"].is_null());
    for answer in [&again, &after] {
        assert_eq!((answer.status, &answer.value()["tenant"]), (201, &first.value()["tenant"]));
    }
    assert_eq!(other.status, 409, "{}", other.value());
}

#[tokio::test]
async fn a_step_that_is_repeated_with_another_capability_is_the_same_step() {
    let world = World::new();
    let team = world.team("acme").await;
    world.two_stories(&team).await;
    let echo = json!({ "story_title": "Read feed", "ac_count": 1 });
    world.post(&team.implementer, "/stories/3.1/contract", echo).await;
    let settings = json!({ "settings": { "require_capabilities": true } });
    assert_eq!(world.ask(&team.user, Method::Patch, "/tenants/me", settings).await.status, 200);
    let claimed = world.post(&team.implementer, "/stories/3.1/claim", json!(null)).await;
    let recovered =
        world.post(&team.implementer, "/stories/3.1/recover-cap", json!({ "cap_type": "start_cap" })).await;
    let start = async |cap: serde_json::Value| {
        once(&world, &team.implementer, "/stories/3.1/start", json!({ "cap": cap })).await
    };

    let first = start(claimed["start_cap"]["token"].clone()).await;
    assert_eq!(first.status, 200, "{}", first.value());
    assert!(recovered.to_string().contains("wcap1."), "{recovered}");
    for other in [json!("wcap1.another"), json!(null)] {
        let again = start(other).await;
        assert_eq!((again.status, again.header("idempotency-replayed")), (200, Some("true")));
    }
}

#[tokio::test]
async fn too_many_requests_in_a_minute_are_told_when_to_come_back() {
    let world = World::new();
    let team = world.team("acme").await;
    let settings = json!({ "settings": { "rate_limit_requests_per_minute": 3 } });
    assert_eq!(world.ask(&team.user, Method::Patch, "/tenants/me", settings).await.status, 200);

    let mut last = world.ask(&team.verifier, Method::Get, "/projects", json!(null)).await;
    for _ in 0..8 {
        last = world.ask(&team.verifier, Method::Get, "/projects", json!(null)).await;
    }

    assert_eq!(last.status, 429);
    assert_eq!(last.header("x-ratelimit-remaining"), Some("0"));
    assert!(last.header("retry-after").is_some());
}

#[tokio::test]
async fn many_at_once_claim_each_story_once() {
    let world = World::new();
    let team = world.team("acme").await;
    let settings = json!({ "settings": { "rate_limit_requests_per_minute": 100_000 } });
    world.ask(&team.user, Method::Patch, "/tenants/me", settings).await;
    world.two_stories(&team).await;
    world
        .post(
            &team.implementer,
            "/stories/3.1/contract",
            json!({ "story_title": "Read feed", "ac_count": 1 }),
        )
        .await;

    let world = Arc::new(world);
    let mut asking = tokio::task::JoinSet::new();
    for turn in 0..32 {
        let key = if turn % 2 == 0 { team.implementer.clone() } else { team.reporter.clone() };
        let world = Arc::clone(&world);
        asking.spawn(
            async move { world.ask(&key, Method::Post, "/stories/3.1/claim", json!(null)).await.status },
        );
    }
    let statuses = asking.join_all().await;

    assert_eq!(statuses.iter().filter(|status| **status == 200).count(), 1, "{statuses:?}");
    assert_eq!(statuses.iter().filter(|status| **status == 409).count(), 31, "{statuses:?}");
}
