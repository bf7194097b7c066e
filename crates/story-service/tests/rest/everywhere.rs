//! What the operator sees of all tenants, and what everybody may read.

use crate::lifecycle::started;
use crate::support::World;
use serde_json::{Value, json};
use windlass_control_api::stories::{Call, Method, StoryApi};

#[tokio::test]
async fn the_operator_sees_and_settles_what_was_tried_against_custody() {
    let world = World::new();
    let team = world.team("acme").await;
    world.two_stories(&team).await;
    started(&world, &team).await;
    let _ = world.refused(&team.implementer, "/stories/3.1/report", json!({})).await;
    let admin = world.service.make_superadmin_key("ops").await.unwrap();

    let seen = world.get(&admin, "/admin/violators").await;
    assert_eq!((&seen["meta"]["total_count"], &seen["data"][0]["tenant_slug"]), (&json!(1), &json!("acme")));
    let id = seen["data"][0]["id"].as_str().unwrap();
    let unknown = "/admin/violators/00000000-0000-7000-8000-000000000000/resolve";
    assert_eq!(world.refused(&admin, unknown, json!({})).await.0, 404);
    let path = format!("/admin/violators/{id}/resolve");
    assert_eq!(world.refused(&team.user, &path, json!({})).await.0, 403, "a user is no operator");
    let settled = world.post(&admin, &path, json!({ "note": "a mistake" })).await;
    assert_eq!(settled["violation"]["status"], "resolved");
    assert_eq!(world.refused(&admin, &path, json!({})).await.0, 409);
    assert_eq!(world.get(&admin, "/admin/violators").await["meta"]["total_count"], 0);
    assert_eq!(world.get(&admin, "/admin/violators?status=resolved").await["meta"]["total_count"], 1);
    let log = world.get(&team.user, "/audit?action=violation_closed").await;
    assert_eq!(log["data"][0]["actor_type"], "superadmin", "{log}");
}

#[tokio::test]
async fn a_system_article_is_for_everybody_and_only_a_superadmin_writes_one() {
    let world = World::new();
    let team = world.team("acme").await;
    let admin = world.service.make_superadmin_key("ops").await.unwrap();
    let article = json!({
        "title": "How to begin", "body": "read this", "category": "reference", "scope": "system",
        "status": "published",
    });
    let (status, error) = world.refused(&team.user, "/articles", article.clone()).await;
    assert_eq!((status, &error["code"]), (403, &json!("system_scope_forbidden")), "{error}");
    let call = Call::new(Method::Post, "/api/v1/articles")
        .with_key(&admin)
        .with_header("x-impersonate-tenant", "acme")
        .with_json(&article);
    let made = world.service.call(call).await.unwrap();
    assert_eq!(made.status, 201, "{}", made.value());
    world
        .post(
            &team.user,
            "/articles",
            json!({ "title": "Ours", "body": "x", "category": "decision", "status": "published" }),
        )
        .await;

    let shown = world.get("", "/articles/system").await;
    assert_eq!(shown["meta"]["total_count"], 1, "{shown}");
    assert_eq!(shown["data"][0]["body"], "read this");
    assert!(!shown.to_string().contains("acme"), "whose it is stays untold: {shown}");
    assert_eq!(world.get("", "/articles/system?slug=how-to-begin").await["meta"]["total_count"], 1);
    assert_eq!(world.get("", "/articles/system?category=decision").await["meta"]["total_count"], 0);
}

#[tokio::test]
async fn an_article_belongs_to_the_project_it_was_written_in() {
    let world = World::new();
    let team = world.team("acme").await;
    let article = json!({ "title": "Of main", "body": "x", "category": "decision", "status": "published" });
    let made = world.post(&team.user, "/projects/main/articles", article).await;
    assert_eq!(made["article"]["project_id"], json!(team.project));
    let index = world.get(&team.user, "/projects/main/knowledge/index").await;
    assert_eq!(index["meta"]["total_count"], 1, "{index}");
    assert_eq!(
        world.ask(&team.user, Method::Get, "/projects/other/knowledge/index", Value::Null).await.status,
        404
    );
}
