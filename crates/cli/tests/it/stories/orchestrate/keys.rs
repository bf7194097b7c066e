//! What an agent that is started over a queue could get hold of: no key that may close a story lies where it can read.

use super::stage::{Stage, Turn, plan_of};
use crate::stories::server::{Server, founded};
use serde_json::json;
use windlass_test_support::wait_until;

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
fn a_key_in_the_environment_is_not_left_where_proc_shows_it() {
    let waits = Turn { more: "{ wait_for = 'go' },", ..Turn::good("1.1", 1) };
    let mut stage = Stage::of(&plan_of(&["1.1"], &[]), &[waits]);
    stage
        .world
        .set("LOOPCTL_API_KEY", "lc_secret")
        .set("LOOPCTL_USER_KEY", "lc_secret")
        .set("KEPT", "in sight");
    let running = stage.world.start_windlass(&stage.words(&[]));
    wait_until("the implementer", || (stage.attempts() > 0).then_some(()));
    let seen = std::fs::read(format!("/proc/{}/environ", running.pid())).unwrap();
    let seen = String::from_utf8_lossy(&seen);
    assert!(seen.contains("in sight") && !seen.contains("lc_secret"), "{seen}");
    for file in std::fs::read_dir(format!("/proc/{}/fd", running.pid())).unwrap() {
        let file = file.unwrap().path();
        if std::fs::read_link(&file).is_ok_and(|target| target.to_string_lossy().contains("memfd:variables"))
        {
            assert_eq!(std::fs::read(&file).unwrap(), b"", "what was handed over is gone");
        }
    }
    std::fs::write(stage.world.shared("go"), "").unwrap();
    let _ = running.wait().exits_with(0);
}

#[test]
fn a_key_that_was_taken_out_of_sight_is_still_the_one_that_asks() {
    let (mut world, user) = founded();
    let server = Server::start(&world).unwrap();
    let repository = world.repository("repo");
    let agent = world.agent_from_text("agents.toml", "");
    let made = server.ask(&user, "POST", "/projects", "", &json!({ "name": "App" })).unwrap();
    assert_eq!(made.0, 201, "{}", made.1);
    let words = ["orchestrate", "--project", "app", "--repo", repository.text(), "--agent", &agent, "--json"];
    world.set("LOOPCTL_SERVER", server.url()).set("LOOPCTL_API_KEY", "lc_nobody");
    let refused = world.windlass(&words);
    assert!(refused.stdout.contains("WL-STORY-004"), "{}{}", refused.stdout, refused.stderr);
    world.set("LOOPCTL_API_KEY", user);
    let _ = world.windlass(&words).exits_with(0);
    server.stop();
}

#[test]
fn a_story_that_somebody_else_closed_while_it_was_in_hand_is_an_alarm() {
    let waits = Turn { more: "{ wait_for = 'go' },", ..Turn::good("1.1", 1) };
    let stage = Stage::of(&plan_of(&["1.1"], &[]), &[waits]);
    let running = stage.world.start_windlass(&stage.words(&[]));
    wait_until("the implementer", || (stage.attempts() > 0).then_some(()));
    for words in [
        &["report", "US-1.1", "--as", "agent:mallory"][..],
        &["review-complete", "US-1.1"],
        &["verify", "US-1.1", "--as", "orchestrator:trudy"],
    ] {
        let _ = stage.story(words).exits_with(0);
    }
    std::fs::write(stage.world.shared("go"), "").unwrap();
    let ended = running.wait().exits_with(11).json_lines();

    let ended = ended.last().unwrap();
    assert!(ended["now"].as_str().unwrap().contains("by somebody else while in hand here"), "{ended}");
    assert_eq!(stage.landed(), Vec::<String>::new());
    let inbox = stage.world.windlass(&["inbox", "--json"]).exits_with(0).json();
    assert!(inbox[0]["cause"].as_str().unwrap().contains("verified by somebody else"), "{inbox}");
    let _ = stage.orchestrate(&[]).exits_with(11);
    let _ = stage.orchestrate(&["--retry", "US-1.1"]).exits_with(0);
}

#[test]
fn a_key_in_the_environment_is_not_handed_on() {
    let mut stage = Stage::of(&plan_of(&["1.1"], &[]), &[Turn::good("1.1", 1)]);
    stage.world.set("LOOPCTL_API_KEY", "lc_secret").set("LOOPCTL_USER_KEY", "lc_secret");
    let _ = stage.orchestrate(&["--check", "! env | grep lc_secret"]).exits_with(0);
}
