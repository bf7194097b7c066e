//! `windlass undo` on a task loop.

use super::{everything, leave_things};
use crate::crash_points::{Kinds, places, visited};
use crate::played_run::PlayedRun;
use serde_json::Value;

/// An accepted run whose doer's and judge's worktrees hold more than the run made.
fn played() -> PlayedRun {
    let played = PlayedRun::judged(&["pass"]);
    played.repository.write(".gitignore", "*.log\n").commit("ignore");
    let _ = played.run(&[]).exits_with(0);
    for name in ["doer", "judge"] {
        leave_things(&played.run_dir().join("worktrees").join(name));
    }
    played
}

fn undo(played: &PlayedRun, more: &[&str], code: u8) -> Value {
    let words = [&["undo", "--repo", played.repository.text(), "--json"], more].concat();
    played.world.windlass(&words).exits_with(code).json()
}

#[test]
fn everything_that_was_cleaned_comes_back_with_every_byte() {
    let played = played();
    let worktrees = played.run_dir().join("worktrees");
    let git = |words: &[&str]| played.repository.git(words);
    let state = || {
        let branches = git(&["for-each-ref", "refs/heads"]);
        let status = |name: &str| {
            let place = worktrees.join(name);
            git(&["-C", place.to_str().unwrap(), "status", "--porcelain", "--ignored", "--branch"])
        };
        (everything(&worktrees), branches, status("doer"), status("judge"))
    };
    let (before, listed) = (state(), played.line());
    let _ = played.about("clean", &[]).exits_with(0);
    assert!(!worktrees.join("doer").exists() && !worktrees.join("judge").exists());
    git(&["gc", "--quiet", "--prune=now"]);

    let kept = undo(&played, &["--list"], 0);
    let mut kinds: Vec<&str> =
        kept.as_array().unwrap().iter().map(|one| one["kind"].as_str().unwrap()).collect();
    kinds.sort_unstable();
    assert_eq!(kinds, ["branch", "branch", "worktree", "worktree"], "{kept:#}");
    assert!(kept.as_array().unwrap().iter().all(|one| one["stands"] == false), "{kept:#}");
    let month = kept[0]["until"].as_u64().unwrap() - kept[0]["kept_at"].as_u64().unwrap();
    assert_eq!(month, 30 * 24 * 60 * 60 * 1000);

    let report = undo(&played, &[&played.id()], 0);
    let given = report["items"].as_array().unwrap().iter();
    assert!(
        given.clone().count() == 4 && given.clone().all(|item| item["outcome"] == "given-back"),
        "{report:#}"
    );
    assert_eq!(state(), before);
    assert_eq!(played.line(), listed, "the list says what it said");
    let _ = played.about("verify", &[]).exits_with(0);
    // Once more changes nothing; and what is cleaned again comes back again.
    assert_eq!(undo(&played, &[], 0)["items"][0]["outcome"], "stands");
    assert_eq!(state(), before);
    let _ = played.about("clean", &[]).exits_with(0);
    let _ = undo(&played, &[], 0);
    assert_eq!(state(), before);
}

#[test]
fn one_thing_alone_comes_back_and_nothing_is_written_over() {
    let played = played();
    let doer = played.run_dir().join("worktrees/doer");
    let before = everything(&doer);
    let _ = played.about("clean", &[]).exits_with(0);
    let id = format!("{}/doer", played.id());
    std::fs::create_dir_all(&doer).unwrap();
    std::fs::write(doer.join("mine"), "x").unwrap();
    let report = undo(&played, &[&id], 14);
    assert_eq!(report["items"][0]["outcome"], "not-given-back", "{report:#}");
    assert_eq!(std::fs::read(doer.join("mine")).unwrap(), b"x");
    std::fs::remove_dir_all(&doer).unwrap();
    let report = undo(&played, &[&id], 0);
    assert_eq!(report["items"].as_array().unwrap().len(), 1, "{report:#}");
    assert_eq!(everything(&doer), before);
    assert!(!played.run_dir().join("worktrees/judge").exists());
    let said = played.world.windlass(&["undo", "no-such-run", "--repo", played.repository.text()]);
    assert!(said.exits_with(14).stderr.contains("nothing is kept of no-such-run"));
}

#[test]
fn old_states_stay_until_somebody_lets_them_go() {
    let played = played();
    played.repository.write("windlass.toml", "keep-days = 0\n").commit("keep nothing");
    let clean = |more: &[&str]| {
        let words = [&["clean", "--repo", played.repository.text(), "--json"], more].concat();
        played.world.windlass(&words).exits_with(0).json()
    };
    let first = clean(&[]);
    let said = first["kept"].to_string();
    assert!(said.contains("`windlass clean --expire-kept` lets it go"), "{first:#}");
    assert_eq!(clean(&["--expire-kept", "--dry-run"])["items"].as_array().unwrap().len(), 4);
    assert_eq!(undo(&played, &["--list"], 0).as_array().unwrap().len(), 4);
    assert_eq!(clean(&["--expire-kept"])["items"].as_array().unwrap().len(), 4);
    assert_eq!(undo(&played, &["--list"], 0).as_array().unwrap().len(), 0);
}

/// Some places of `clean` and of `undo` at which a kill can find them; `git-workspaces` visits every one of its own.
#[test]
fn a_kill_anywhere_in_clean_or_undo_loses_nothing() {
    let mut played = played();
    let worktrees = played.run_dir().join("worktrees");
    let id = played.id();
    let before = everything(&worktrees);
    let log = played.world.shared("points");
    for (command, back) in [("clean", "undo"), ("undo", "clean")] {
        played.world.set("WINDLASS_CRASH_LOG", &log);
        let _ = played.world.windlass(&[command, &id]).exits_with(0);
        played.world.unset("WINDLASS_CRASH_LOG");
        let places = places(&log);
        std::fs::remove_file(&log).unwrap();
        // The other command puts the world back to where this one begins.
        let _ = played.world.windlass(&[back, &id]).exits_with(0);
        for place in visited(&places, Kinds::All, 1) {
            played.world.set("WINDLASS_CRASH_AT", place.to_string());
            let _ = played.world.windlass(&[command, &id]);
            played.world.unset("WINDLASS_CRASH_AT");
            if place % 2 == 0 {
                let _ = played.world.windlass(&[command, &id]).exits_with(0);
            }
            let _ = played.world.windlass(&["undo", &id]).exits_with(0);
            assert_eq!(everything(&worktrees), before, "{command} killed at place {place}");
            if command == "undo" {
                let _ = played.world.windlass(&["clean", &id]).exits_with(0);
            }
        }
        let _ = played.world.windlass(&["undo", &id]).exits_with(0);
    }
}
