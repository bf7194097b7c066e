//! `windlass checkout`: a real worktree of any round, of which the run knows nothing and `clean` everything.

use super::{everything, taken};
use crate::played_run::PlayedRun;
use serde_json::Value;
use std::path::PathBuf;

fn played() -> PlayedRun {
    let played = PlayedRun::judged(&["reject", "pass"]);
    let _ = played.run(&["--rounds", "2"]).exits_with(0);
    played
}

fn checkout(played: &PlayedRun, round: &str, more: &[&str]) -> Value {
    let name = format!("{}{round}", played.id());
    played.world.windlass(&[&["checkout", &name, "--json"], more].concat()).exits_with(0).json()
}

fn file(made: &Value, name: &str) -> Option<String> {
    std::fs::read_to_string(PathBuf::from(made["worktree"].as_str().unwrap()).join(name)).ok()
}

#[test]
fn every_round_can_be_stood_in_and_the_run_does_not_notice() {
    let played = played();
    let before = everything(&played.run_dir());
    let elsewhere = played.world.path().join("elsewhere");
    let first = checkout(&played, ":1", &[elsewhere.to_str().unwrap()]);
    assert_eq!(file(&first, "done.txt").as_deref(), Some("more"));
    let git = |words: &[&str]| {
        let place = ["-C", elsewhere.to_str().unwrap()];
        played.repository.git(&[&place[..], words].concat())
    };
    assert_eq!(git(&["status", "--porcelain"]), "");
    assert_eq!(git(&["rev-parse", "HEAD^{tree}"]), first["tree"].as_str().unwrap());
    assert_eq!(git(&["rev-parse", "--abbrev-ref", "HEAD"]), "HEAD");
    assert_eq!(git(&["diff", "--name-only", "HEAD~1"]), "done.txt");
    assert_eq!(everything(&played.run_dir()), before);

    let last = checkout(&played, "", &["--branch", "mine"]);
    assert_eq!(file(&last, "done.txt").as_deref(), Some("moremore"));
    assert_eq!(last["round"], "2");
    assert_eq!(played.repository.git(&["rev-parse", "mine"]), last["commit"].as_str().unwrap());
    assert_eq!(file(&checkout(&played, ":base", &[]), "done.txt"), None);
    let _ = played.about("verify", &[]).exits_with(0);
    assert_eq!(played.repository.git(&["status", "--porcelain"]), "");

    // Nothing is written over, and what there is not is named with what there is.
    let id = played.id();
    let refused = played.world.windlass(&["checkout", &id, elsewhere.to_str().unwrap()]).exits_with(14);
    assert!(refused.stderr.contains("already"), "{}", refused.stderr);
    let refused = played.world.windlass(&["checkout", &format!("{id}:7")]).exits_with(14);
    assert!(refused.stderr.contains("it has 1, 2, and `base`"), "{}", refused.stderr);
}

#[test]
fn clean_takes_one_in_which_nobody_worked_and_leaves_every_other() {
    let played = played();
    let (first, second) = (checkout(&played, ":1", &[]), checkout(&played, ":2", &[]));
    let touched = PathBuf::from(second["worktree"].as_str().unwrap());
    std::fs::write(touched.join("idea.txt"), "mine").unwrap();
    let report = played.about("clean", &["--json"]).exits_with(0).json();
    assert_eq!(taken(&report, "checkout"), [first["worktree"].as_str().unwrap()], "{report:#}");
    assert!(report["kept"].to_string().contains("somebody worked in it"), "{report:#}");
    assert_eq!(std::fs::read_to_string(touched.join("idea.txt")).unwrap(), "mine");
    let _ = played.about("undo", &[]).exits_with(0);
    assert_eq!(file(&first, "done.txt").as_deref(), Some("more"));
}
