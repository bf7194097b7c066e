//! Damage to files: the sealed artifacts in the private store, and their copies in the run directory.

use super::{does_not_hold, holds};
use crate::played_run::{PlayedRun, files_under};
use std::path::{Path, PathBuf};
use windlass_test_support::{Script, When};

/// Two rounds with checks of both kinds and a repaired answer, so that every kind of file is there.
fn eventful_run() -> PlayedRun {
    let script = Script::new()
        .doer(When::Round(1), &["{ write = 'bad.txt', text = 'bad' }", "{ handoff = 'a try' }"])
        .doer(When::Round(2), &["{ write = 'good.txt', text = 'good' }", "{ handoff = 'better' }"])
        .judge(When::Attempt { round: 2, attempt: 1 }, &["{ artifact = 'verdict.json', text = 'oops' }"])
        .judge(When::Always, &["{ say = 'fine' }", "{ complain = 'a warning' }", "{ verdict = 'pass' }"])
        .auditor(When::Always, &["{ audit = 'pass' }"]);
    let played = PlayedRun::of(&script);
    let checks = ["--check", "test -f good.txt", "--audit-check", "echo audited"];
    let _ = played.run(&checks).exits_with(0);
    holds(&played);
    played
}

#[test]
fn one_changed_byte_of_any_sealed_artifact_is_found_and_named() {
    let played = eventful_run();
    let id = played.id();
    let sealed = played.about("show", &["--json"]).exits_with(0).json()["artifacts"].clone();
    let files = files_under(&played.world.state_dir().join("evidence"));
    assert!(files.len() > 15, "{files:?}");
    for file in files {
        let path = file.to_str().unwrap();
        let names: Vec<&str> = sealed
            .as_array()
            .unwrap()
            .iter()
            .filter(|artifact| artifact["path"] == path)
            .filter_map(|artifact| artifact["name"].as_str())
            .collect();
        assert!(!names.is_empty(), "{path} belongs to no artifact that the run shows");
        let damage = Damage::flip(&file);
        let said = does_not_hold(&played, &id).stdout;
        assert!(names.iter().any(|name| said.contains(name)) && said.contains(path), "{names:?}: {said}");
        damage.undo();
    }
    holds(&played);
}

#[test]
fn one_changed_byte_of_any_copy_in_the_run_directory_is_found_and_named() {
    let played = eventful_run();
    let id = played.id();
    let run_dir = played.run_dir();
    let copies: Vec<PathBuf> = files_under(&run_dir)
        .into_iter()
        .filter(|path| !path.starts_with(run_dir.join("worktrees")))
        .collect();
    let names: Vec<&str> =
        copies.iter().map(|path| path.strip_prefix(&run_dir).unwrap().to_str().unwrap()).collect();
    for expected in [
        "task.txt",
        "worktrees.env",
        "windlass.json",
        "summary.json",
        "rounds/round-1/doer.prompt.md",
        "rounds/round-1/verdict.json",
        "rounds/round-1/eval-results.json",
        "rounds/round-1/logs/cmd-01.stdout.log",
        "rounds/round-2/handoff.json",
        "rounds/round-2/patch.diff",
        "rounds/round-2/judge.last.md",
        "rounds/round-2/verdict.json",
        "rounds/round-2/audit.json",
        "rounds/round-2/audit-results.json",
    ] {
        assert!(names.contains(&expected), "{expected} is missing in {names:?}");
    }
    for (path, name) in copies.iter().zip(&names) {
        let damage = Damage::flip(path);
        let said = does_not_hold(&played, &id).stdout;
        assert!(said.contains(name), "{name}: {said}");
        damage.undo();
    }
    holds(&played);
}

#[test]
fn a_sealed_artifact_or_a_copy_that_is_gone_is_found_and_named() {
    let played = PlayedRun::accepted();
    let (id, run_dir) = (played.id(), played.run_dir());
    for name in ["summary.json", "windlass.json", "task.txt", "rounds/round-1/verdict.json"] {
        let damage = Damage::delete(&run_dir.join(name));
        let said = does_not_hold(&played, &id).stdout;
        assert!(said.contains(name), "{name}: {said}");
        damage.undo();
    }
    let sealed = files_under(&played.world.state_dir().join("evidence"));
    let damage = Damage::delete(&sealed[0]);
    let said = does_not_hold(&played, &id).stdout;
    assert!(said.contains("of round 1 cannot be read"), "{said}");
    damage.undo();
    holds(&played);
}

#[test]
fn a_verdict_of_the_engine_itself_is_guarded_like_any_other() {
    let played = PlayedRun::judged(&["pass"]);
    let _ = played.run(&["--rounds", "1", "--check", "false"]).exits_with(10);
    let path = played.run_dir().join("rounds/round-1/verdict.json");
    let text = std::fs::read_to_string(&path).unwrap();
    assert!(text.contains("\"reject\""), "{text}");
    std::fs::write(&path, text.replace("\"reject\"", "\"pass\"")).unwrap();
    let said = does_not_hold(&played, &played.id()).stdout;
    assert!(said.contains("rounds/round-1/verdict.json"), "{said}");
}

#[test]
fn the_sealed_artifacts_stand_alone_when_the_run_directory_is_gone() {
    let played = PlayedRun::accepted();
    let id = played.id();
    std::fs::remove_dir_all(played.run_dir()).unwrap();
    let said = played.world.windlass(&["verify", &id]).exits_with(0).stdout;
    assert!(said.contains("the run directory was removed"), "{said}");
}

/// One change to one file, to be undone.
struct Damage {
    path: PathBuf,
    before: Vec<u8>,
}

impl Damage {
    fn flip(path: &Path) -> Self {
        let before = std::fs::read(path).unwrap();
        let mut after = before.clone();
        match after.len() {
            0 => after.push(b'x'),
            length => after[length / 2] ^= 1,
        }
        // What is sealed is read-only; whoever damages it puts another file in its place.
        std::fs::remove_file(path).unwrap();
        std::fs::write(path, after).unwrap();
        Self { path: path.to_owned(), before }
    }

    fn delete(path: &Path) -> Self {
        let before = std::fs::read(path).unwrap();
        std::fs::remove_file(path).unwrap();
        Self { path: path.to_owned(), before }
    }

    fn undo(self) {
        std::fs::write(self.path, self.before).unwrap();
    }
}
