//! Where each value comes from, what is wrong with a value and where it stands, and whose commands may run.

mod trust;

use crate::played_run::PlayedRun;
use serde_json::Value;
use windlass_test_support::{Output, Repository, Script, World};

fn user_file(world: &World, text: &str) {
    let directory = world.home().join(".config/windlass");
    std::fs::create_dir_all(&directory).unwrap();
    std::fs::write(directory.join("windlass.toml"), text).unwrap();
}

fn settings(world: &World, repository: &Repository, more: &[&str]) -> Output {
    let words: Vec<&str> =
        ["settings", "--repo", repository.text()].into_iter().chain(more.iter().copied()).collect();
    world.windlass(&words)
}

/// One setting's value and origin.
fn setting(world: &World, repository: &Repository, key: &str) -> (String, String) {
    let view = settings(world, repository, &["--json"]).exits_with(0).json();
    let found = view["settings"].as_array().unwrap().iter().find(|setting| setting["key"] == key);
    let text = |name: &str| found.expect("every key is listed")[name].as_str().unwrap().to_owned();
    (text("value"), text("origin"))
}

#[test]
fn the_later_layer_is_the_stronger_and_each_value_names_its_place() {
    let mut world = crate::world();
    let repository = world.repository("repo");
    let rounds = |world: &World| setting(world, &repository, "rounds");
    assert_eq!(rounds(&world), ("3".to_owned(), "built in".to_owned()));
    user_file(&world, "rounds = 4\n");
    let file = world.home().join(".config/windlass/windlass.toml");
    assert_eq!(rounds(&world), ("4".to_owned(), file.display().to_string()));
    repository.write("windlass.toml", "rounds = 5\n");
    let file = repository.path().join("windlass.toml");
    assert_eq!(rounds(&world), ("5".to_owned(), file.display().to_string()));
    world.set("WINDLASS_ROUNDS", "6");
    assert_eq!(rounds(&world), ("6".to_owned(), "$WINDLASS_ROUNDS".to_owned()));
    let plain = settings(&world, &repository, &["--origin"]).exits_with(0).stdout;
    assert!(
        plain.lines().any(|line| line.starts_with("rounds") && line.contains("$WINDLASS_ROUNDS")),
        "{plain}"
    );
    assert_eq!(setting(&world, &repository, "max-tokens"), (String::new(), "not set".to_owned()));
}

#[test]
fn an_argument_is_the_strongest_and_a_run_works_by_what_was_resolved() {
    let mut played = PlayedRun::judged(&["reject", "reject", "reject"]);
    user_file(&played.world, "rounds = 1\n");
    let _ = played.run(&[]).exits_with(10);
    assert_eq!(played.line()["rounds"], 1);
    played.world.set("WINDLASS_ROUNDS", "2");
    let _ = played.run(&[]).exits_with(10);
    assert_eq!(played.line()["rounds"], 2);
    let _ = played.run(&["--rounds", "3"]).exits_with(10);
    assert_eq!(played.line()["rounds"], 3);
}

#[test]
fn the_user_s_file_is_where_the_desktop_standard_says() {
    let mut world = crate::world();
    let repository = world.repository("repo");
    let elsewhere = world.path().join("config");
    std::fs::create_dir_all(elsewhere.join("windlass")).unwrap();
    std::fs::write(elsewhere.join("windlass/windlass.toml"), "land = 'none'\n").unwrap();
    world.set("XDG_CONFIG_HOME", elsewhere.clone());
    let expected = elsewhere.join("windlass/windlass.toml").display().to_string();
    assert_eq!(setting(&world, &repository, "land"), ("none".to_owned(), expected));
}

#[test]
fn every_key_can_be_set_by_its_variable() {
    let mut world = crate::world();
    let repository = world.repository("repo");
    let view = settings(&world, &repository, &["--json"]).json();
    let keys: Vec<String> =
        view["settings"].as_array().unwrap().iter().map(|s| s["key"].as_str().unwrap().to_owned()).collect();
    assert!(keys.len() >= 20, "{keys:?}");
    for key in keys {
        let variable = format!("WINDLASS_{}", key.replace(['-', '.'], "_").to_uppercase());
        let value = match key.as_str() {
            "audit" | "distinct-vendors" | "notify.desktop" | "goal.trust-complete" => "false",
            "notify.on" => "ended",
            "notify.webhook.url" => "https://example.org/hook",
            "goal.autonomy" => "L1",
            "goal.design" => "never",
            "land" => "none",
            "on-needs-human" => "continue",
            "gate-integrity" => "off",
            "on-gate-findings" => "ask",
            "author" => "Ann <ann@example.org>",
            "step-limit" | "idle-limit" => "7s",
            "sandbox" | "workspaces" => "auto",
            "sandbox-means" => "landlock",
            "max-memory" => "7G",
            _ => "7",
        };
        world.set(&variable, value);
        assert_eq!(setting(&world, &repository, &key).1, format!("${variable}"), "{key}");
        world.unset(&variable);
    }
}

#[test]
fn an_unknown_key_is_a_warning_with_the_nearest_one() {
    let played = PlayedRun::of(&Script::that_passes());
    played.repository.write("windlass.toml", "rownd = 9\nland-on = 'x'\nxyzzy = 1\n");
    let said = settings(&played.world, &played.repository, &[]).exits_with(0).stderr;
    assert!(said.contains("unknown key `rownd`; did you mean `rounds`?"), "{said}");
    assert!(said.contains("unknown key `xyzzy`; `windlass settings` lists every key"), "{said}");
    assert!(said.contains("windlass.toml"), "{said}");
    let json = settings(&played.world, &played.repository, &["--json"]).exits_with(0).json();
    assert_eq!(json["warnings"].as_array().unwrap().len(), 3);
    let run = played.run(&[]).exits_with(0);
    assert!(run.stderr.contains("did you mean `rounds`?"), "{}", run.stderr);
}

/// A check that is not run because of a letter is worse than a file that is refused.
#[test]
fn a_key_with_a_slip_in_it_is_refused_before_anything_is_done() {
    let played = PlayedRun::of(&Script::that_passes());
    for (slip, meant) in
        [("check = ['false']", "checks"), ("ruonds = 9", "rounds"), ("max_tokens = 5", "max-tokens")]
    {
        played.repository.write("windlass.toml", slip);
        let refused = played.run(&[]).exits_with(2).stderr;
        assert!(refused.contains("WL-SETTINGS-001"), "{refused}");
        assert!(refused.contains(&format!("did you mean `{meant}`?")), "{refused}");
    }
    assert_eq!(played.world.windlass(&["ls", "--json"]).exits_with(0).json(), serde_json::json!([]));
}

#[test]
fn a_value_of_the_wrong_kind_names_its_file_and_its_key() {
    let played = PlayedRun::of(&Script::that_passes());
    let file = played.repository.path().join("windlass.toml").display().to_string();
    for (text, key, words) in [
        ("rounds = 'three'", "rounds", "a whole number"),
        ("rounds = -1", "rounds", "a whole number"),
        ("rounds = 0", "rounds", "at least 1"),
        ("rounds = 1.5", "rounds", "a whole number"),
        ("checks = 'make test'", "checks", "a list of texts"),
        ("checks = [1]", "checks", "a list of texts"),
        ("audit = 'yes'", "audit", "true or false"),
        ("land = 'everywhere'", "land", "one of: none, branch, current"),
        ("on-needs-human = 'panic'", "on-needs-human", "one of: stop, continue"),
        ("agent = 5", "agent", "a text"),
        ("[rounds]\nx = 1", "rounds", "a whole number"),
    ] {
        played.repository.write("windlass.toml", text);
        for output in [settings(&played.world, &played.repository, &[]), played.run(&[])] {
            let said = output.exits_with(2).stderr;
            assert!(said.contains("error[WL-SETTINGS-001]"), "{text}: {said}");
            for expected in [file.as_str(), key, words] {
                assert!(said.contains(expected), "{text}: {expected} is missing in {said}");
            }
        }
    }
    assert_eq!(played.world.steps(), Vec::<String>::new());
    assert!(!played.repository.path().join(".orchestrator").exists());
}

#[test]
fn a_file_that_is_no_toml_names_itself_and_the_line() {
    let world = crate::world();
    let repository = world.repository("repo");
    repository.write("windlass.toml", "rounds = 3\nchecks = [\n");
    let said = settings(&world, &repository, &[]).exits_with(2).stderr;
    assert!(said.contains("windlass.toml cannot be read") && said.contains("line 2"), "{said}");
}

#[test]
fn a_variable_of_the_wrong_kind_names_itself() {
    let mut world = crate::world();
    let repository = world.repository("repo");
    world.set("WINDLASS_ROUNDS", "many");
    let said = settings(&world, &repository, &[]).exits_with(2).stderr;
    assert!(said.contains("$WINDLASS_ROUNDS says many"), "{said}");
}

#[test]
fn a_prompt_file_replaces_the_built_in_words_and_keeps_the_context() {
    let played = PlayedRun::of(&Script::that_passes());
    for role in ["doer", "judge", "audit"] {
        std::fs::write(
            played.world.path().join(format!("{role}.md")),
            format!("My own words for the {role}.\n"),
        )
        .unwrap();
    }
    // Relative to where the user stands.
    let prompts = ["--doer-prompt", "doer.md", "--judge-prompt", "judge.md", "--audit-prompt", "audit.md"];
    let _ = played.run(&prompts).exits_with(0);
    for (role, file) in [("doer", "doer"), ("judge", "judge"), ("audit", "audit")] {
        let prompt = played.prompt(1, file);
        assert!(prompt.starts_with(&format!("My own words for the {role}.")), "{prompt}");
        assert!(prompt.contains("Add a file") && prompt.contains("TASK-1"), "{prompt}");
    }
}

#[test]
fn a_prompt_file_is_read_once_at_the_start() {
    let mut played = PlayedRun::judged(&["reject", "pass"]);
    let file = played.world.path().join("doer.md");
    std::fs::write(&file, "The first words.\n").unwrap();
    played.world.set("WINDLASS_DOER_PROMPT", file.clone());
    let _ = played.run(&["--rounds", "1"]).exits_with(10);
    std::fs::remove_file(&file).unwrap();
    played.world.unset("WINDLASS_DOER_PROMPT");
    let _ = played.about("resume", &["--rounds", "+1"]).exits_with(0);
    assert!(played.prompt(2, "doer").starts_with("The first words."));
}

#[test]
fn a_prompt_file_that_is_not_there_is_said_before_anything_begins() {
    let played = PlayedRun::of(&Script::that_passes());
    let refused = played.run(&["--judge-prompt", "nowhere.md"]).exits_with(1);
    assert!(refused.stderr.contains("nowhere.md"), "{}", refused.stderr);
    assert_eq!(played.world.windlass(&["ls", "--json"]).json(), Value::Array(Vec::new()));
    assert!(!played.repository.path().join(".orchestrator").exists());
}
