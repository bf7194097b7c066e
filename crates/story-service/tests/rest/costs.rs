//! What work cost: on whose account it goes, what stands out, and what lists call it.

use crate::support::{Team, World};
use serde_json::{Value, json};
use windlass_control_api::stories::Method;

fn used(cost: u64) -> Value {
    json!({ "input_tokens": 10, "output_tokens": 10, "model_name": "m", "cost_millicents": cost })
}

async fn costs(world: &World, team: &Team, story: &str, cost: u64) {
    let mut body = used(cost);
    body["story_id"] = json!(story);
    body["project_id"] = json!("main");
    world.post(&team.implementer, "/token-usage", body).await;
}

#[tokio::test]
async fn what_a_report_says_was_used_is_the_implementers() {
    let world = World::new();
    let team = world.team("acme").await;
    world.two_stories(&team).await;
    let contract = json!({ "story_title": "Read feed", "ac_count": 1 });
    world.post(&team.implementer, "/stories/3.1/contract", contract).await;
    let claimed = world.post(&team.implementer, "/stories/3.1/claim", Value::Null).await;
    let cap = claimed["start_cap"]["token"].clone();
    let started = world.post(&team.implementer, "/stories/3.1/start", json!({ "cap": cap })).await;
    world.post(&team.implementer, "/stories/3.1/request-review", Value::Null).await;
    let report = json!({ "token_usage": used(700), "cap": started["report_cap"]["token"] });
    world.post(&team.reporter, "/stories/3.1/report", report).await;

    let agents = world.get(&team.verifier, "/analytics/agents").await;
    assert_eq!(agents["data"].as_array().unwrap().len(), 1, "{agents}");
    let (name, cost) = (&agents["data"][0]["agent_name"], &agents["data"][0]["cost_millicents"]);
    assert_eq!((name, cost), (&json!("implementer"), &json!(700)));
}

#[tokio::test]
async fn what_stands_out_is_named_by_number_and_stays_settled_until_it_costs_something_else() {
    let world = World::new();
    let team = world.team("acme").await;
    let story = |number: u32| json!({ "number": format!("1.{number}"), "title": "S" });
    let stories: Vec<Value> = (1..=8).map(story).collect();
    world.import(&team, json!({ "epics": [{ "number": 1, "title": "E", "stories": stories }] })).await;
    for number in 1..=7 {
        costs(&world, &team, &format!("1.{number}"), 1000).await;
    }
    costs(&world, &team, "1.8", 50_000).await;

    world.service.look_after_costs().await.unwrap();
    let found = world.get(&team.verifier, "/cost-anomalies?resolved=false").await;
    let one = &found["data"][0];
    assert_eq!((&one["story_number"], &found["meta"]["total_count"]), (&json!("1.8"), &json!(1)), "{found}");
    assert!(one["deviation_factor"].as_f64().is_some_and(|factor| (7.0..7.1).contains(&factor)), "{one}");

    let path = format!("/cost-anomalies/{}", one["id"].as_str().unwrap());
    let settled = world.ask(&team.user, Method::Patch, &path, json!({ "resolved": true })).await;
    assert_eq!(settled.status, 200);
    world.service.look_after_costs().await.unwrap();
    let again = world.get(&team.verifier, "/cost-anomalies?resolved=false").await;
    assert_eq!(again["meta"]["total_count"], 0, "{again}");
    costs(&world, &team, "1.8", 1000).await;
    world.service.look_after_costs().await.unwrap();
    let anew = world.get(&team.verifier, "/cost-anomalies?resolved=false").await;
    assert_eq!(anew["meta"]["total_count"], 1, "{anew}");
}

#[tokio::test]
async fn a_number_means_the_story_of_the_project_that_was_said() {
    let world = World::new();
    let team = world.team("acme").await;
    world.two_stories(&team).await;
    let other = world.post(&team.user, "/projects", json!({ "name": "Other", "slug": "other" })).await;
    let plan =
        json!({ "epics": [{ "number": 3, "title": "E", "stories": [{ "number": "3.1", "title": "S" }] }] });
    let path = format!("/projects/{}/import", other["project"]["id"].as_str().unwrap());
    world.post(&team.user, &path, plan).await;

    costs(&world, &team, "3.1", 5).await;
    for (scope, which, name) in [("story", "3.1", "3.1"), ("epic", "3", "3"), ("project", "other", "other")] {
        let body =
            json!({ "scope_type": scope, "scope_id": which, "project_id": "other", "budget_millicents": 9 });
        let set = world.post(&team.verifier, "/token-budgets", body).await;
        assert_eq!(set["token_budget"]["scope_name"], name, "{set}");
    }
    let used = world.get(&team.user, "/stories/3.1/token-usage?project_id=main").await;
    assert_eq!(used["totals"]["cost_millicents"], 5, "{used}");
    let none = world.get(&team.user, "/stories/3.1/token-usage?project_id=other").await;
    assert_eq!(none["totals"]["cost_millicents"], 0, "{none}");
}
