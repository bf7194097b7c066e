//! What an agent that is started over a queue could get hold of: no key that may close a story lies where it can read.

use super::stage::{Stage, Turn, plan_of};
use crate::stories::server::{Server, founded};
use serde_json::json;

#[test]
fn the_keys_of_reporter_reviewer_and_verifier_lie_in_no_file() {
    let stage = Stage::of(&plan_of(&["1.1"], &[]), &[Turn::good("1.1", 1)]);
    let _ = stage.orchestrate(&[]).exits_with(0);
    let mut places = vec![stage.world.state_dir().join("orchestrations")];
    let mut seen = 0;
    while let Some(place) = places.pop() {
        if place.is_dir() {
            places.extend(std::fs::read_dir(&place).unwrap().map(|entry| entry.unwrap().path()));
        } else if let Ok(text) = std::fs::read_to_string(&place) {
            seen += 1;
            assert!(!text.contains("\"lc_"), "{} holds a key", place.display());
        }
    }
    assert!(seen > 0);
}

#[test]
fn a_user_s_key_in_a_file_that_agents_can_read_is_refused_before_anything_begins() {
    let (mut world, user) = founded();
    let server = Server::start(&world).unwrap();
    let repository = world.repository("repo");
    let agent = world.agent_from_text("agents.toml", "");
    let made = server.ask(&user, "POST", "/projects", "", &json!({ "name": "App" })).unwrap();
    assert_eq!(made.0, 201, "{}", made.1);
    let url = server.url();
    let _ = world.windlass(&["story", "login", "--server", &url, "--key", &user]).exits_with(0);
    let words = ["orchestrate", "--project", "app", "--repo", repository.text(), "--agent", &agent, "--json"];

    let refused = world.windlass(&words).exits_with(14).json();
    assert_eq!(refused["error"]["code"], "WL-STORY-005", "{refused}");
    assert!(refused.to_string().contains("LOOPCTL_API_KEY"), "{refused}");
    let _ = world.windlass(&[&words[..], &["--allow-readable-key"]].concat()).exits_with(0);

    // From the environment, with nothing left in the file.
    let _ = world.windlass(&["story", "logout"]).exits_with(0);
    world.set("LOOPCTL_SERVER", url).set("LOOPCTL_API_KEY", user);
    let _ = world.windlass(&words).exits_with(0);
    server.stop();
}

#[test]
fn a_key_in_the_environment_is_not_handed_on() {
    let mut stage = Stage::of(&plan_of(&["1.1"], &[]), &[Turn::good("1.1", 1)]);
    stage.world.set("LOOPCTL_API_KEY", "lc_secret").set("LOOPCTL_USER_KEY", "lc_secret");
    let _ = stage.orchestrate(&["--check", "! env | grep lc_secret"]).exits_with(0);
}
