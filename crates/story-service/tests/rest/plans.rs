//! Whole plans: how long they may be, and that nothing an author wrote in them is dropped.

use crate::support::World;
use serde_json::{Value, json};
use windlass_control_api::stories::{LONGEST_BODY, LONGEST_PLAN, Method, StoryApi as _};

#[tokio::test]
async fn an_export_of_ten_thousand_stories_can_be_imported_again() {
    let world = World::new();
    let team = world.team("acme").await;
    let stories = |epic: u32| -> Vec<Value> {
        let story = |number: u32| json!({ "number": format!("{epic}.{number}"), "title": "One of many" });
        (1..=2_500).map(story).collect()
    };
    let epic = |number: u32| json!({ "number": number, "title": "E", "stories": stories(number) });
    world.import(&team, json!({ "epics": (1..=4).map(epic).collect::<Vec<_>>() })).await;

    let export = world.get(&team.user, "/projects/main/export").await;
    let length = export.to_string().len();
    assert!(length > 2 * LONGEST_BODY, "{length}");
    let copy = world.post(&team.user, "/projects", json!({ "name": "Copy", "slug": "copy" })).await;
    let path = format!("/projects/{}/import", copy["project"]["id"].as_str().unwrap());
    let taken = world.post(&team.user, &path, export).await;
    assert_eq!(taken["import"]["stories_created"], 10_000, "{taken}");
}

#[tokio::test]
async fn only_a_plan_may_be_long_and_the_interface_says_how_long() {
    let world = World::new();
    let team = world.team("acme").await;
    let longest = |path: &str| world.service.longest_body(Method::Post, path);
    assert_eq!(longest("/api/v1/projects/main/import"), LONGEST_PLAN);
    assert_eq!(longest("/api/v1/projects"), LONGEST_BODY);
    assert_eq!(longest("/api/v1/nowhere"), LONGEST_BODY);
    let long = json!({ "name": "x".repeat(LONGEST_BODY) });
    let (status, error) = world.refused(&team.user, "/projects", long).await;
    assert_eq!(status, 413, "{error}");
    let document = world.get(&team.user, "/openapi").await;
    let import = &document["paths"]["/api/v1/projects/{id}/import"]["post"]["description"];
    assert!(import.as_str().unwrap().contains("64000000"), "{import}");
}

#[tokio::test]
async fn what_a_story_says_it_waits_for_is_taken() {
    let world = World::new();
    let team = world.team("acme").await;
    let stories = json!([
        { "number": "1.1", "title": "A" },
        { "number": "1.2", "title": "B", "dependencies": ["US-1.1"] },
        { "number": "1.3", "title": "C", "depends_on": ["1.1", "1.2"] },
        { "number": "1.4", "title": "D", "depends_on_stories": ["1.1"] },
    ]);
    let plan = json!({
        "epics": [{ "number": 1, "title": "E", "stories": stories }],
        "story_dependencies": [{ "story": "1.2", "depends_on": "1.1" }],
    });
    let path = format!("/projects/{}/import", team.project);
    let taken = world.post(&team.user, &path, plan).await;
    assert_eq!(taken["import"]["dependencies_created"], 4, "said twice is once: {taken}");
    let ready = world.get(&team.implementer, "/stories/ready?project=main").await;
    assert_eq!(ready["meta"]["total_count"], 1, "{ready}");

    let stories = json!([{ "number": "2.1", "title": "A", "depends_on": "1.1" },
        { "number": "2.2", "title": "B", "dependencies": [{ "id": "1.1" }] },
        { "number": "2.3", "title": "C", "initial_agent_status": "implementing" }]);
    let plan = json!({ "epics": [{ "number": 2, "title": "E", "stories": stories }] });
    let (status, error) = world.refused(&team.user, &path, plan).await;
    assert_eq!(status, 422, "{error}");
    for place in ["stories[0].depends_on", "stories[1].dependencies", "stories[2].initial_agent_status"] {
        assert!(error.to_string().contains(place), "{place} in {error}");
    }
}

#[tokio::test]
async fn a_merge_changes_no_status_and_names_whose_it_left_out() {
    let world = World::new();
    let team = world.team("acme").await;
    let stories = json!([{ "number": "7.1", "title": "A", "initial_agent_status": "reported_done" },
        { "number": "7.2", "title": "B" }]);
    let plan = json!({ "epics": [{ "number": 7, "title": "E", "stories": stories }] });
    let path = format!("/projects/{}/import?merge=true", team.project);
    let taken = world.post(&team.user, &path, plan).await;
    assert_eq!(taken["import"]["statuses_ignored"], json!(["7.1"]), "{taken}");
}

#[tokio::test]
async fn a_number_that_json_would_change_is_refused() {
    let world = World::new();
    let team = world.team("acme").await;
    let path = format!("/projects/{}/import", team.project);
    let plan = |number: Value| {
        let stories = json!([{ "number": number, "title": "S" }]);
        json!({ "epics": [{ "number": 1, "title": "E", "stories": stories }] })
    };
    let (status, error) = world.refused(&team.user, &path, plan(json!(1.10))).await;
    assert!(status == 422 && error.to_string().contains("as text"), "{error}");
    world.post(&team.user, &path, plan(json!(7))).await;
    let far = json!({ "epics": [{ "number": 1_000_000_000_000_u64, "title": "E", "stories": [] }] });
    let (status, error) = world.refused(&team.user, &path, far).await;
    assert!(status == 422 && error.to_string().contains("between 1 and 4294967295"), "{error}");
}
