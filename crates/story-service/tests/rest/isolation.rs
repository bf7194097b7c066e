//! Tenant B asks every route of the table with the ids of tenant A, and learns nothing.

use crate::lifecycle::reported;
use crate::support::{Team, World};
use serde_json::{Map, Value, json};
use windlass_control_api::stories::Method;
use windlass_story_service::{Handler, Kind, Need, Place, Route, Who};

/// Ids of A by the word that stands before the parameter in a path.
async fn ids_of(world: &World, team: &Team) -> Vec<(&'static str, String)> {
    let text = |value: &Value| value.as_str().unwrap_or_else(|| panic!("no id in {value}")).to_owned();
    let first = |list: Value| text(&list["data"][0]["id"]);
    let story = world.get(&team.user, "/stories/3.1").await;
    let epic = text(&story["story"]["epic_id"]);
    let agent = first(world.get(&team.user, "/agents").await);
    let dispatch = json!({ "role": "agent", "agent_id": agent });
    let dispatch = text(&world.post(&team.user, "/dispatches", dispatch).await["dispatch"]["id"]);
    let dependency = first(world.get(&team.user, &format!("/epics/{epic}/story_dependencies")).await);
    let state = json!({ "state_data": { "secret of alpha": true } });
    let saved =
        world.ask(&team.verifier, Method::Put, &format!("/orchestrator/state/{}", team.project), state).await;
    assert_eq!(saved.status, 201);
    let report = json!({ "story_id": "3.1", "input_tokens": 5, "output_tokens": 6, "model_name": "m", "cost_millicents": 7 });
    let usage =
        text(&world.post(&team.implementer, "/token-usage", report).await["token_usage_report"]["id"]);
    let limit = json!({ "scope_type": "story", "scope_id": "3.1", "budget_millicents": 9 });
    let budget = text(&world.post(&team.user, "/token-budgets", limit).await["token_budget"]["id"]);
    let skill = json!({ "name": "alpha:review", "prompt_text": "look" });
    let skill = text(&world.post(&team.user, "/skills", skill).await["skill"]["id"]);
    let webhook = json!({ "url": "https://hooks.example/alpha", "events": ["story.verified"] });
    let webhook = text(&world.post(&team.user, "/webhooks", webhook).await["webhook"]["id"]);
    let article = json!({ "title": "Of alpha", "body": "secret", "category": "decision" });
    let article = text(&world.post(&team.user, "/articles", article).await["article"]["id"]);
    let other = json!({ "title": "Also of alpha", "body": "secret", "category": "decision" });
    let other = text(&world.post(&team.user, "/articles", other).await["article"]["id"]);
    let link = json!({ "source_article_id": article, "target_article_id": other, "relationship_type": "relates_to" });
    let link = text(&world.post(&team.user, "/article_links", link).await["article_link"]["id"]);
    let run = json!({ "guide_reference": "guide of alpha" });
    let run = text(&world.post(&team.user, "/projects/main/ui-tests", run).await["ui_test_run"]["id"]);
    // A token that nobody issued is a violation.
    world.refused(&team.verifier, "/stories/3.1/verify", json!({ "cap": "made up" })).await;
    let violation = first(world.get(&team.user, "/violations").await);
    let (between_epics, anomaly) = dear_epic(world, team).await;
    vec![
        ("stories", text(&story["story"]["id"])),
        ("acceptance_criteria", "AC-1".to_owned()),
        ("epics", epic),
        ("projects", team.project.clone()),
        ("state", team.project.clone()),
        ("agents", agent),
        ("api_keys", first(world.get(&team.user, "/api_keys").await)),
        ("dispatches", dispatch),
        ("story_dependencies", dependency),
        ("epic_dependencies", between_epics),
        ("violations", violation),
        ("versions", "1".to_owned()),
        ("ui-tests", run),
        ("token-usage", usage),
        ("token-budgets", budget),
        ("cost-anomalies", anomaly),
        ("skills", skill),
        ("webhooks", webhook),
        ("articles", article),
        ("tenants", text(&world.get(&team.user, "/tenants/me").await["tenant"]["id"])),
        ("article_links", link),
    ]
}

/// An epic that waits for another, and one of whose stories costs far more than its neighbours: the edge and the anomaly.
async fn dear_epic(world: &World, team: &Team) -> (String, String) {
    let story = |number: u32| json!({ "number": format!("5.{number}"), "title": "Also read feed" });
    let stories: Vec<Value> = (1..=8).map(story).collect();
    world.import(team, json!({ "epics": [{ "number": 5, "title": "Dear", "stories": stories }] })).await;
    let edge = json!({ "epic_id": "5", "depends_on_epic_id": "3", "project_id": "main" });
    let edge = world.post(&team.user, "/epic_dependencies", edge).await;
    for number in 1..=8 {
        let cost = if number == 8 { 50_000 } else { 1000 };
        let report = json!({ "story_id": format!("5.{number}"), "input_tokens": 5, "output_tokens": 6, "model_name": "m", "cost_millicents": cost });
        world.post(&team.implementer, "/token-usage", report).await;
    }
    world.service.look_after_costs().await.unwrap();
    let anomalies = world.get(&team.verifier, "/cost-anomalies").await;
    let text = |value: &Value| value.as_str().unwrap_or_else(|| panic!("no id in {value}")).to_owned();
    (text(&edge["dependency"]["id"]), text(&anomalies["data"][0]["id"]))
}

/// A body that gets past the table.
fn body(route: &Route) -> Value {
    let filled = route.body.iter().filter(|field| field.need == Need::Required).map(|field| {
        let value = match field.kind {
            Kind::Text if field.name == "role" => json!("agent"),
            Kind::Text => json!("3.1"),
            Kind::Integer | Kind::Number => json!(1),
            Kind::Boolean => json!(true),
            Kind::Object => json!({}),
            Kind::List => json!([]),
            Kind::Any => json!("9.9"),
        };
        (field.name.to_owned(), value)
    });
    Value::Object(filled.collect::<Map<_, _>>())
}

#[tokio::test]
async fn no_route_shows_one_tenant_to_another() {
    let world = World::new();
    let (a, b) = (world.team("alpha").await, world.team("beta").await);
    world.two_stories(&a).await;
    reported(&world, &a).await;
    let ids = ids_of(&world, &a).await;
    let settings = json!({ "settings": { "rate_limit_requests_per_minute": 1_000_000 } });
    assert_eq!(world.ask(&b.user, Method::Patch, "/tenants/me", settings).await.status, 200);
    let before = world.get(&a.user, "/changes?since=0&limit=1000").await["sequence"].clone();
    let mut asked = 0;
    for route in world.service.routes().iter().filter(|route| route.place == Place::UnderBase) {
        // What is the operator's or everybody's is nobody's secret; what a tenant asks of the server itself is.
        let for_everybody = matches!(route.who, Who::Public | Who::Superadmin);
        if matches!(route.handler, Handler::Server(_)) && for_everybody {
            continue;
        }
        let (path, with_id) = filled(route, &ids);
        for key in [&b.user, &b.verifier, &b.implementer] {
            let body = if route.method == Method::Get { Value::Null } else { body(route) };
            let answer = world.ask(key, route.method, &path, body).await;
            let text = String::from_utf8(answer.body.clone()).unwrap();
            let what = format!("{} {path}: {} {text}", route.method.name(), answer.status);
            assert!(answer.status < 500, "{what}");
            // A version's number is no secret.
            for (_, id) in ids.iter().filter(|(_, id)| id.len() == 36) {
                assert!(!text.contains(id.as_str()), "an id of the other tenant: {what}");
            }
            assert!(
                !text.contains("Read feed") && !text.contains("alpha"),
                "words of the other tenant: {what}"
            );
            if with_id {
                assert!(matches!(answer.status, 403 | 404), "{what}");
                asked += usize::from(answer.status == 404);
            }
        }
    }
    assert!(asked > 50, "only {asked} answers were 404");
    let after = world.get(&a.user, "/changes?since=0&limit=1000").await["sequence"].clone();
    assert_eq!(before, after, "something was written into the other tenant");
}

/// The path with ids of A, and whether there are any in it.
fn filled(route: &Route, ids: &[(&'static str, String)]) -> (String, bool) {
    let mut before = "";
    let mut with_id = false;
    let mut parts = Vec::new();
    for part in route.path.split('/') {
        if part.starts_with(':') {
            let id = ids.iter().find(|(word, _)| *word == before);
            let (_, id) = id.unwrap_or_else(|| panic!("no id for {before} in {}", route.path));
            parts.push(id.clone());
            with_id = true;
        } else {
            parts.push(part.to_owned());
        }
        before = part;
    }
    (parts.join("/"), with_id)
}
