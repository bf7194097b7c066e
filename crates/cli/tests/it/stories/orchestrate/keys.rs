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

/// Looks for a key in the variables of every process there is, and for a way into the orchestrator's memory.
fn looks_for(key: &str) -> String {
    let look = format!(
        "for one in /proc/[0-9]*; do if tr '\\\\0' '\\\\n' < $one/environ 2>/dev/null | grep -q {key}; then echo $one; fi; \
         done > found.txt; echo looked >> found.txt"
    );
    format!(
        "[[step]]\nrole = 'doer'\ndo = [{{ run = ['sh', '-c', \"{look}\"] }}, {{ handoff = 'looked' }}]\n\n[[step]]\nrole = \
         'judge'\ndo = [{{ verdict = {{ verdict = 'pass', reasons = [{{ check = 'AC-1 verified', details = 'x' }}] }} }}]\n"
    )
}

#[test]
fn no_agent_finds_the_user_s_key_in_a_process_whatever_holds_it() {
    for means in ["landlock", "namespaces", "off"] {
        let (mut world, user) = founded();
        let server = Server::start(&world).unwrap();
        let repository = world.repository("repo");
        let agent = world.agent_from_text("agents.toml", &looks_for(&user));
        world.set("LOOPCTL_SERVER", server.url()).set("LOOPCTL_API_KEY", user.as_str());
        let _ = world.windlass(&["story", "project", "create", "App"]).exits_with(0);
        let file = world.path().join("plan.json");
        std::fs::write(&file, plan_of(&["1.1"], &[]).to_string()).unwrap();
        let _ =
            world.windlass(&["story", "import", file.to_str().unwrap(), "--project", "app"]).exits_with(0);
        let wish = if means == "off" {
            "off"
        } else {
            let settings = world.home().join(".config/windlass/windlass.toml");
            std::fs::create_dir_all(settings.parent().unwrap()).unwrap();
            std::fs::write(&settings, format!("sandbox-means = ['{means}']\n")).unwrap();
            "required"
        };
        let words = [
            "orchestrate",
            "--project",
            "app",
            "--repo",
            repository.text(),
            "--agent",
            &agent,
            "--no-audit",
            "--sandbox",
            wish,
            "--json",
        ];
        let ended = world.windlass(&words);
        // A machine without one of the two says so.
        if !(ended.code == Some(14) && ended.stdout.contains("WL-SANDBOX-001")) {
            let _ = ended.exits_with(0);
            assert_eq!(repository.git(&["show", "windlass/app:found.txt"]), "looked", "{means}");
        }
        server.stop();
    }
}

#[test]
fn a_key_in_the_environment_is_not_left_where_proc_shows_it() {
    let waits = Turn { more: "{ wait_for = 'go' },", ..Turn::good("1.1", 1) };
    let mut stage = Stage::of(&plan_of(&["1.1"], &[]), &[waits]);
    stage.world.set("LOOPCTL_API_KEY", "lc_secret").set("LOOPCTL_USER_KEY", "lc_secret");
    let running = stage.world.start_windlass(&stage.words(&[]));
    wait_until("the implementer", || (stage.attempts() > 0).then_some(()));
    let seen = std::fs::read(format!("/proc/{}/environ", running.pid())).unwrap();
    let seen = String::from_utf8_lossy(&seen);
    let home = format!("HOME={}", stage.world.home().display());
    assert!(seen.contains(&home) && !seen.contains("lc_secret"), "{seen}");
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
fn a_key_in_the_environment_is_not_handed_on() {
    let mut stage = Stage::of(&plan_of(&["1.1"], &[]), &[Turn::good("1.1", 1)]);
    stage.world.set("LOOPCTL_API_KEY", "lc_secret").set("LOOPCTL_USER_KEY", "lc_secret");
    let _ = stage.orchestrate(&["--check", "! env | grep lc_secret"]).exits_with(0);
}
