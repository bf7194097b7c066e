//! Many clients at once want the same stories, one by one and in bulk: each story is claimed once, and by nobody twice.

use crate::world;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use windlass_test_support::StoryServer;

const CLIENTS: usize = 64;
const STORIES: usize = 96;
/// What each client wants, beginning at a place of its own: every story is wanted by many.
const WANTED: usize = 24;

fn number(place: usize) -> String {
    format!("1.{}", place % STORIES + 1)
}

/// What this client was told that it has. Every other asks for all at once.
fn claimed(server: &StoryServer, client: usize, key: &str) -> Vec<String> {
    let wanted: Vec<String> = (0..WANTED).map(|place| number(client * STORIES / CLIENTS + place)).collect();
    let mut queue = server.client(key);
    if client.is_multiple_of(2) {
        let body = json!({ "story_ids": wanted });
        let (status, answer) = queue.call("POST", "/api/v1/stories/bulk/claim", &body);
        assert!(matches!(status, 200 | 422), "{status} {answer}");
        let results = answer["results"].as_array().expect("one result for each");
        assert_eq!(results.len(), WANTED, "{answer}");
        let got = results.iter().filter(|one| one["status"] == "success");
        return got.filter_map(|one| one["story"]["number"].as_str().map(str::to_owned)).collect();
    }
    let got = |story: &String| {
        let path = format!("/api/v1/stories/{story}/claim");
        let (status, answer) = queue.call("POST", &path, &json!({}));
        assert!(matches!(status, 200 | 409), "{status} {answer}");
        status == 200
    };
    wanted.into_iter().filter(got).collect()
}

#[test]
fn sixty_four_clients_claim_every_story_once() {
    let world = world();
    let server = StoryServer::start(&world, &world.path().join("data"));
    server.lift_rate_limit();
    let mut user = server.user();
    user.succeed("POST", "/api/v1/projects", &json!({ "name": "Crowd", "slug": "crowd" }));
    let story = |place: usize| json!({ "number": number(place), "title": "Wanted" });
    let stories: Vec<Value> = (0..STORIES).map(story).collect();
    let plan = json!({ "epics": [{ "number": 1, "title": "All", "stories": stories }] });
    user.succeed("POST", "/api/v1/projects/crowd/import", &plan);
    let keys: Vec<String> =
        (0..CLIENTS).map(|client| server.agent(&format!("client-{client}"), "agent")).collect();
    let mut first = server.client(&keys[0]);
    for place in 0..STORIES {
        let path = format!("/api/v1/stories/{}/contract", number(place));
        first.succeed("POST", &path, &json!({ "story_title": "Wanted", "ac_count": 0 }));
    }

    let claims: Vec<Vec<String>> = std::thread::scope(|scope| {
        let start = |(client, key): (usize, &String)| {
            let (server, key) = (&server, key.clone());
            scope.spawn(move || claimed(server, client, &key))
        };
        let running: Vec<_> = keys.iter().enumerate().map(start).collect();
        running.into_iter().map(|client| client.join().expect("no client fails")).collect()
    });

    let mut owners: BTreeMap<&str, usize> = BTreeMap::new();
    for (client, stories) in claims.iter().enumerate() {
        for story in stories {
            let before = owners.insert(story, client);
            assert_eq!(before, None, "{story} was given to two clients, the second is {client}");
        }
    }
    assert_eq!(owners.len(), STORIES, "every story is claimed");
    let listed = user.get("/api/v1/stories?project_id=crowd&limit=500");
    for story in listed["data"].as_array().unwrap() {
        let owner = owners[story["number"].as_str().unwrap()];
        let agent = user.get(&format!("/api/v1/agents/client-{owner}"));
        assert_eq!(story["agent_status"], "assigned", "{story}");
        assert_eq!(story["assigned_agent_id"], agent["agent"]["id"], "{story} is client {owner}'s");
    }
    let moves = user.get("/api/v1/changes?since=0&project_id=crowd&action=status_changed&limit=1000");
    let to_assigned = |change: &&Value| change["new_state"]["agent_status"] == "assigned";
    let claims = moves["data"].as_array().unwrap().iter().filter(to_assigned).count();
    assert_eq!(claims, STORIES, "each claim is written down once");
}
