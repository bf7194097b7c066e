//! Repositories and tasks with odd names.

use crate::scene::{Played, TASK};
use crate::world;
use windlass_test_support::Script;

#[track_caller]
fn lands_in(name: &str) -> Played {
    let world = world();
    let repository = world.repository(name);
    let before = repository.record();
    let agent = world.agent("script.toml", &Script::that_passes());
    let words = ["run", "x", "--id", TASK, "--repo", repository.text(), "--json", "--agent", &agent];
    let flags = ["--check", "test -f done.txt", "--audit-check", "true"];
    let played = Played::of(&world.windlass(&[&words[..], &flags].concat())).exits_with(0);
    assert_eq!(played.words(), "pass pass pass 1");
    before.assert_holds(&repository);
    assert_eq!(repository.git(&["show", "windlass/TASK-1:done.txt"]), "done");
    let run = played.run();
    let _ = world.windlass(&["verify", run]).exits_with(0);
    assert!(!world.path().join("marked").exists() && !repository.path().join("marked").exists());
    played
}

#[test]
fn a_space() {
    let _ = lands_in("with space");
}

#[test]
fn quotes_of_both_kinds() {
    let _ = lands_in("it's \"quoted\"");
}

#[test]
fn a_line_break() {
    let _ = lands_in("line\nbreak");
}

#[test]
fn a_command_substitution() {
    let _ = lands_in("$(touch marked) `touch marked`; touch marked");
}

#[test]
fn letters_beyond_ascii_and_a_leading_dash() {
    let _ = lands_in("-größe 木");
}
