//! All help text in one snapshot, so that it cannot change unseen. `WINDLASS_UPDATE_HELP=1` writes it anew.

use crate::world;
use std::path::Path;
use windlass_test_support::World;

const SNAPSHOT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/help.snap.txt");

#[test]
fn the_help_text_of_every_command_is_as_in_the_snapshot() {
    let help = whole_help(&world());
    if std::env::vars_os().any(|(name, _)| name == "WINDLASS_UPDATE_HELP") {
        std::fs::write(SNAPSHOT, &help).unwrap();
    }
    let snapshot = std::fs::read_to_string(Path::new(SNAPSHOT)).unwrap_or_default();
    let differs = help.lines().zip(snapshot.lines()).position(|(now, then)| now != then);
    let line = differs.unwrap_or_else(|| help.lines().count().min(snapshot.lines().count()));
    assert!(
        help == snapshot,
        "the help text differs from {SNAPSHOT} from line {} on; if that is meant, run this test again with \
         WINDLASS_UPDATE_HELP=1\n  now:  {:?}\n  then: {:?}",
        line + 1,
        help.lines().nth(line),
        snapshot.lines().nth(line),
    );
}

#[test]
fn every_command_shows_examples() {
    let world = world();
    for command in commands(&world, &[]).iter().filter(|command| *command != "compat") {
        let help = world.windlass(&[command, "--help"]).exits_with(0);
        assert!(help.stdout.contains("\nExamples:\n  "), "{command}");
    }
}

#[test]
fn every_command_takes_json() {
    let world = world();
    for command in commands(&world, &[]) {
        let help = world.windlass(&[&command, "--help"]).exits_with(0);
        assert!(help.stdout.contains("--json"), "{command}");
    }
}

#[test]
fn completions_exist_for_the_usual_shells_and_know_the_commands() {
    let world = world();
    for shell in ["bash", "zsh", "fish"] {
        let script = world.windlass(&["completions", shell]).exits_with(0).stdout;
        for word in ["explain-error", "on-needs-human", "mk-worktrees"] {
            assert!(script.contains(word), "{shell} lacks {word}");
        }
    }
}

fn whole_help(world: &World) -> String {
    let mut text = page(world, &[]);
    for command in commands(world, &[]) {
        text += &page(world, &[&command]);
        for script in commands(world, &[&command]) {
            text += &page(world, &[&command, &script]);
        }
    }
    text
}

fn page(world: &World, command: &[&str]) -> String {
    let words: Vec<&str> = command.iter().copied().chain(["--help"]).collect();
    let help = world.windlass(&words).exits_with(0).stdout;
    let lines: Vec<&str> = help.lines().map(str::trim_end).collect();
    let name: Vec<&str> = std::iter::once("windlass").chain(command.iter().copied()).collect();
    format!("======== {}\n{}\n\n", name.join(" "), lines.join("\n"))
}

/// The words in the list of commands of a help page.
fn commands(world: &World, command: &[&str]) -> Vec<String> {
    let words: Vec<&str> = command.iter().copied().chain(["--help"]).collect();
    let help = world.windlass(&words).exits_with(0).stdout;
    let listed = help.lines().skip_while(|line| *line != "Commands:").skip(1);
    let lines = listed.take_while(|line| !line.is_empty());
    lines
        // What is further in goes on with the words of the command above.
        .filter(|line| !line.starts_with("   "))
        .filter_map(|line| line.split_whitespace().next())
        .filter(|word| *word != "help")
        .map(str::to_owned)
        .collect()
}
