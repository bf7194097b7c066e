//! Commands in a repository's own settings run only after a person agreed to exactly these.

use crate::played_run::PlayedRun;
use serde_json::Value;
use windlass_test_support::{Output, Repository, Script};

/// A repository whose settings name a check that leaves a trace.
fn with_a_check() -> (PlayedRun, std::path::PathBuf) {
    let played = PlayedRun::of(&Script::that_passes());
    let marker = played.world.shared("marker");
    let settings = format!("checks = ['touch {}']\n", marker.display());
    played.repository.write("windlass.toml", &settings).commit("settings");
    (played, marker)
}

fn trust(played: &PlayedRun, more: &[&str]) -> Output {
    let repository = played.repository.text();
    let words: Vec<&str> = ["trust", "--repo", repository].into_iter().chain(more.iter().copied()).collect();
    played.world.windlass(&words)
}

/// Refused with the commands named, and nothing was done at all.
#[track_caller]
fn refused(played: &PlayedRun, output: Output, command: &str) {
    let said = output.exits_with(14).stderr;
    assert!(said.contains("error[WL-TRUST-001]") && said.contains(command), "{said}");
    assert!(said.contains("windlass trust") && said.contains("--yes"), "{said}");
    assert_eq!(played.world.windlass(&["ls", "--json"]).json(), Value::Array(Vec::new()));
    assert_eq!(played.world.steps(), Vec::<String>::new());
    assert!(!played.repository.path().join(".orchestrator").exists());
}

#[test]
fn commands_of_the_repository_do_not_run_before_somebody_agreed() {
    let (played, marker) = with_a_check();
    refused(&played, played.run(&[]), "touch");
    refused(&played, played.run(&["--dry-run"]), "touch");
    assert!(!marker.exists());
    let json = trust(&played, &["--show", "--json"]).exits_with(0).json();
    assert_eq!((&json["trusted"], json["commands"].as_array().unwrap().len()), (&Value::Bool(false), 1));
}

#[test]
fn trust_is_remembered_until_it_is_taken_back() {
    let (played, marker) = with_a_check();
    let said = trust(&played, &[]).exits_with(0).stdout;
    assert!(said.contains("trusted") && said.contains("touch"), "{said}");
    let _ = played.run(&[]).exits_with(0);
    let _ = played.run(&[]).exits_with(0);
    assert!(marker.exists());
    let _ = trust(&played, &["--revoke"]).exits_with(0);
    let _ = played.run(&[]).exits_with(14);
}

#[test]
fn yes_agrees_for_this_once() {
    let (played, marker) = with_a_check();
    let _ = played.run(&["--yes"]).exits_with(0);
    assert!(marker.exists());
    let _ = played.run(&[]).exits_with(14);
}

#[test]
fn a_changed_command_needs_trust_again_and_another_setting_does_not() {
    let (played, marker) = with_a_check();
    let _ = trust(&played, &[]).exits_with(0);
    let check = played.repository.read("windlass.toml");
    played.repository.write("windlass.toml", &format!("{check}rounds = 2\n"));
    let _ = played.run(&[]).exits_with(0);
    std::fs::remove_file(&marker).unwrap();
    for changed in [
        check.replace("touch", "touch -c"),
        format!("{check}audit-checks = ['true']\n"),
        format!("{check}agent = 'shell:true'\n"),
        format!("{check}doer-prompt = 'prompt.md'\n"),
        check.replace("']", "', 'true']"),
    ] {
        played.repository.write("windlass.toml", &changed);
        let refused =
            played.world.windlass(&["run", "x", "--repo", played.repository.text(), "--doer", &played.agent]);
        assert!(refused.exits_with(14).stderr.contains("error[WL-TRUST-001]"), "{changed}");
    }
    assert!(!marker.exists());
    played.repository.write("windlass.toml", &check);
    let _ = played.run(&[]).exits_with(0);
}

#[test]
fn two_commands_are_not_mistaken_for_one_with_a_line_break() {
    let (played, _) = with_a_check();
    played.repository.write("windlass.toml", "checks = [\"true\", \"false\"]\n");
    let _ = trust(&played, &[]).exits_with(0);
    played.repository.write("windlass.toml", "checks = [\"true\\nchecks = false\"]\n");
    let json = trust(&played, &["--show", "--json"]).json();
    assert_eq!(json["trusted"], false, "{json}");
}

#[test]
fn trust_in_one_repository_is_none_in_another() {
    let (played, _) = with_a_check();
    let _ = trust(&played, &[]).exits_with(0);
    let other: Repository = played.world.repository("other");
    other.write("windlass.toml", &played.repository.read("windlass.toml"));
    let words = ["run", "x", "--repo", other.text(), "--agent", &played.agent];
    let _ = played.world.windlass(&words).exits_with(14);
}

#[test]
fn commands_given_by_the_user_need_no_trust() {
    let (mut played, marker) = with_a_check();
    // What the user says replaces what the file says, so nothing foreign is left to run.
    let _ = played.run(&["--check", "true"]).exits_with(0);
    played.world.set("WINDLASS_CHECKS", "true");
    let _ = played.run(&[]).exits_with(0);
    assert!(!marker.exists());
    played.world.unset("WINDLASS_CHECKS");
    std::fs::remove_file(played.repository.path().join("windlass.toml")).unwrap();
    super::user_file(&played.world, &format!("checks = ['touch {}']\n", marker.display()));
    let _ = played.run(&[]).exits_with(0);
    assert!(marker.exists());
}

#[test]
fn an_agent_named_by_the_repository_is_found_beside_its_file_and_needs_trust() {
    let played = PlayedRun::of(&Script::that_passes());
    let script = std::fs::read_to_string(played.world.shared("agent.toml")).unwrap();
    played
        .repository
        .write("tools/agent.toml", &script)
        .write("windlass.toml", "agent = 'scripted:tools/agent.toml'\n");
    played.repository.commit("an agent of its own");
    let inside = played.repository.path().join("tools");
    let words = ["run", "x", "--id", "TASK-1"];
    let untrusted = played.world.windlass_in(&inside, &words, "");
    refused(&played, untrusted, "scripted:tools/agent.toml");
    let _ = trust(&played, &[]).exits_with(0);
    let _ = played.world.windlass_in(&inside, &words, "").exits_with(0);
}

#[test]
fn settings_without_commands_need_no_trust() {
    let played = PlayedRun::of(&Script::that_passes());
    played.repository.write("windlass.toml", "rounds = 2\nland = 'none'\nauthor = 'A <a@localhost>'\n");
    let _ = played.run(&[]).exits_with(0);
    let said = trust(&played, &["--show"]).exits_with(0).stdout;
    assert!(said.contains("names no commands"), "{said}");
}

#[test]
fn a_list_of_trust_that_cannot_be_read_trusts_nobody_and_is_left_alone() {
    let (played, marker) = with_a_check();
    let _ = trust(&played, &[]).exits_with(0);
    let list = played.world.state_dir().join("trust.json");
    std::fs::write(&list, "{ not json").unwrap();
    for output in [played.run(&[]), trust(&played, &[])] {
        let said = output.exits_with(2).stderr;
        assert!(said.contains("trust.json cannot be read"), "{said}");
    }
    assert_eq!(std::fs::read_to_string(&list).unwrap(), "{ not json");
    assert!(!marker.exists());
}
