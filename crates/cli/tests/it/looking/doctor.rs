//! What is wrong with this machine is said before a run meets it, each thing with how to mend it.

use crate::played_run::PlayedRun;
use serde_json::Value;
use std::os::unix::fs::PermissionsExt;
use windlass_test_support::World;

fn doctor(world: &World, code: u8, more: &[&str]) -> Vec<Value> {
    let words: Vec<&str> = ["doctor", "--json"].into_iter().chain(more.iter().copied()).collect();
    let json = world.windlass(&words).exits_with(code).json();
    json["lines"].as_array().unwrap().clone()
}

/// The line about this thing: its state, and how to mend it.
#[track_caller]
fn line(lines: &[Value], what: &str) -> (String, String) {
    let line = lines.iter().find(|line| line["what"] == what);
    let text =
        |key: &str| line.unwrap_or_else(|| panic!("{what} in {lines:?}"))[key].as_str().unwrap().to_owned();
    (text("state"), text("fix"))
}

#[test]
fn a_healthy_machine_has_nothing_to_mend() {
    let played = PlayedRun::accepted();
    let lines = doctor(&played.world, 0, &["--repo", played.repository.text()]);
    for what in ["git", "state directory", "disk", "journal", "runs", "repository"] {
        assert_eq!(line(&lines, what), ("good".to_owned(), String::new()), "{what}");
    }
    let plain = played.world.windlass(&["doctor"]).exits_with(0).stdout;
    assert!(plain.contains("git: ") && plain.contains("journal: ") && plain.contains("1 runs"), "{plain}");
}

#[test]
fn git_that_is_missing_is_broken() {
    let mut world = crate::world();
    let empty = world.path().join("empty");
    std::fs::create_dir(&empty).unwrap();
    world.set("PATH", empty);
    let (state, fix) = line(&doctor(&world, 1, &[]), "git");
    assert_eq!(state, "broken");
    assert!(fix.contains("install git"), "{fix}");
}

#[test]
fn git_that_is_too_old_is_broken() {
    let mut world = crate::world();
    let directory = world.path().join("old");
    std::fs::create_dir(&directory).unwrap();
    let git = directory.join("git");
    std::fs::write(&git, "#!/bin/sh\necho git version 1.8.3\n").unwrap();
    std::fs::set_permissions(&git, std::fs::Permissions::from_mode(0o755)).unwrap();
    world.set("PATH", directory);
    let (state, fix) = line(&doctor(&world, 1, &[]), "git");
    assert_eq!(state, "broken");
    assert!(fix.contains("2.39"), "{fix}");
}

#[test]
fn a_state_directory_that_others_can_read_is_a_warning() {
    let world = crate::world();
    let _ = doctor(&world, 0, &[]);
    std::fs::set_permissions(world.state_dir(), std::fs::Permissions::from_mode(0o755)).unwrap();
    let (state, fix) = line(&doctor(&world, 0, &[]), "state directory");
    assert_eq!(state, "warning");
    assert_eq!(fix, format!("chmod 700 {}", world.state_dir().display()));
}

#[test]
fn a_journal_that_cannot_be_opened_is_named_with_what_to_do() {
    let world = crate::world();
    std::fs::create_dir(world.state_dir()).unwrap();
    std::fs::write(
        world.state_dir().join("journal.db"),
        "no database at all, but long enough to be looked at",
    )
    .unwrap();
    let said = world.windlass(&["doctor"]).exits_with(1).stdout;
    assert!(said.contains("journal: ") && said.contains("journal.db"), "{said}");
    assert!(said.contains("WINDLASS_STATE_DIR"), "{said}");
}

#[test]
fn a_journal_with_damaged_pages_is_broken() {
    let played = PlayedRun::accepted();
    let path = played.world.state_dir().join("journal.db");
    let mut bytes = std::fs::read(&path).unwrap();
    // Everything behind the first pages, where the tables' contents lie.
    for byte in bytes.iter_mut().skip(8 * 4096 + 8) {
        *byte = byte.wrapping_add(1);
    }
    std::fs::write(&path, bytes).unwrap();
    let output = played.world.windlass(&["doctor"]).exits_with(1);
    let said = output.stdout + &output.stderr;
    assert!(said.contains("journal"), "{said}");
    assert!(said.contains("damaged") || said.contains("malformed"), "{said}");
}

#[test]
fn interrupted_runs_are_a_warning_with_the_command_that_goes_on() {
    let played = PlayedRun::interrupted();
    let (state, fix) = line(&doctor(&played.world, 0, &[]), "runs");
    assert_eq!(state, "warning");
    assert!(fix.contains("windlass resume --all"), "{fix}");
}

#[test]
fn agents_that_cannot_be_found_are_broken() {
    let world = crate::world();
    let repository = world.repository("repo");
    let check = |agent: &str, code| {
        repository.write("windlass.toml", &format!("agent = '{agent}'\n"));
        line(&doctor(&world, code, &["--repo", repository.text()]), "agent (agent)")
    };
    assert_eq!(check("command:git", 0).0, "good");
    assert_eq!(check("shell:anything | goes", 0).0, "good");
    for agent in ["command:no-such-program", "command:/nowhere/agent", "scripted:nowhere.toml", "nonsense"] {
        let (state, fix) = check(agent, 1);
        assert_eq!(state, "broken", "{agent}");
        assert!(!fix.is_empty(), "{agent}");
    }
    // A script beside the settings file is found from anywhere, as a run would find it.
    repository.write("play.toml", "").write("bin/agent", "");
    assert_eq!(check("scripted:play.toml", 0).0, "good");
    assert_eq!(check("command:./bin/agent", 0).0, "good");
}

#[test]
fn settings_that_cannot_be_read_are_broken_and_unknown_keys_a_warning() {
    let world = crate::world();
    let repository = world.repository("repo");
    repository.write("windlass.toml", "rownd = 3\n");
    let (state, fix) = line(&doctor(&world, 0, &["--repo", repository.text()]), "settings");
    assert_eq!((state.as_str(), fix.as_str()), ("warning", "correct or remove the key"));
    repository.write("windlass.toml", "rounds = 'three'\n");
    let (state, fix) = line(&doctor(&world, 1, &["--repo", repository.text()]), "settings");
    assert_eq!(state, "broken");
    assert!(fix.contains("mend the file"), "{fix}");
}

#[test]
fn a_place_that_is_no_repository_is_a_warning() {
    let world = crate::world();
    let (state, fix) = line(&doctor(&world, 0, &["--repo", "/"]), "repository");
    assert_eq!(state, "warning");
    assert!(fix.contains("git init"), "{fix}");
}
