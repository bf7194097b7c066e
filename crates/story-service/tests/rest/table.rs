//! The table itself: what is said of the interface is what it does.

use crate::support::World;
use serde_json::Value;
use std::collections::BTreeSet;
use windlass_control_api::stories::{Call, Method, StoryApi};
use windlass_story_service::Who;

#[tokio::test]
async fn the_document_names_every_route_once() {
    let world = World::new();
    let document = world.get("", "/openapi").await;

    let mut seen = BTreeSet::new();
    let mut ids = BTreeSet::new();
    for (path, item) in document["paths"].as_object().unwrap() {
        for (method, operation) in item.as_object().unwrap() {
            assert!(ids.insert(operation["operationId"].clone().to_string()), "{operation}");
            seen.insert(format!("{} {path}", method.to_uppercase()));
        }
    }

    assert_eq!(document["openapi"], "3.1.0");
    assert_eq!(seen.len(), world.service.routes().len(), "two routes of one method and path");
}

#[tokio::test]
async fn without_a_key_only_public_routes_answer() {
    let world = World::new();
    for route in world.service.routes() {
        let path = route.full_path().replace(":id", "x").replace(":version", "1").replace(":run", "x");
        let answer = world.service.call(Call::new(route.method, path.clone())).await.unwrap();

        assert_eq!(
            answer.status == 401,
            route.who != Who::Public,
            "{} {path}: {}",
            route.method.name(),
            answer.status
        );
    }
}

#[tokio::test]
async fn what_is_no_route_or_no_body_is_told() {
    let world = World::new();
    let team = world.team("acme").await;

    let nowhere = world.ask(&team.user, Method::Get, "/nowhere", Value::Null).await;
    let method = world.ask(&team.user, Method::Put, "/projects", Value::Null).await;
    let call = Call { body: b"{".to_vec(), ..Call::new(Method::Post, "/api/v1/projects") };
    let broken = world.service.call(call.with_key(&team.user)).await.unwrap();
    let missing = world.refused(&team.user, "/projects", serde_json::json!({ "slug": 3 })).await;

    assert_eq!(nowhere.status, 404);
    assert_eq!((method.status, method.header("allow")), (405, Some("GET, POST")));
    assert_eq!(broken.status, 400);
    assert_eq!(missing.0, 422);
    assert_eq!(missing.1["details"]["name"][0], "is missing");
    assert_eq!(missing.1["details"]["slug"][0], "must be a text");
}
