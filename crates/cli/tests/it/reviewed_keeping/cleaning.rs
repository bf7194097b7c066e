//! Cleaning keeps what is kept nowhere else: foreign files, what unsettled steps left, ignored files.

use super::doer_that;
use crate::played_run::{PlayedRun, files_under};
use serde_json::Value;
use std::path::Path;
use windlass_test_support::wait_until;

fn clean(played: &PlayedRun) -> Value {
    let words = ["clean", "--repo", played.repository.text(), "--json"];
    let dry = played.world.windlass(&[&words[..], &["--dry-run"]].concat()).exits_with(0).json();
    let real = played.world.windlass(&words).exits_with(0).json();
    let names = |report: &Value, list: &str| -> Vec<String> {
        let items = report[list].as_array().unwrap();
        items.iter().map(|item| item["what"].as_str().unwrap().to_owned()).collect()
    };
    for list in ["items", "kept"] {
        assert_eq!(names(&dry, list), names(&real, list), "a dry run decides the same");
    }
    real
}

/// The reason given for the one thing whose name ends like this.
#[track_caller]
fn why(report: &Value, list: &str, ending: &str) -> String {
    let items = report[list].as_array().unwrap();
    let found = items.iter().find(|item| item["what"].as_str().unwrap().ends_with(ending));
    let found = found.unwrap_or_else(|| panic!("no {ending} among {list} of {report:#}"));
    found["why"].as_str().unwrap().to_owned()
}

/// Where a file of this name lies below a directory, with what it says.
#[track_caller]
fn find(directory: &Path, name: &str) -> (std::path::PathBuf, String) {
    let files = files_under(directory);
    let found = files.iter().find(|path| path.ends_with(name)).cloned();
    let path = found.unwrap_or_else(|| panic!("no {name} among {files:#?}"));
    let text = std::fs::read_to_string(&path).unwrap();
    (path, text)
}

fn passing_and(more: &[&str]) -> PlayedRun {
    let actions =
        [&["{ write = 'done.txt', text = 'done' }", "{ handoff = 'adds done.txt' }"], more].concat();
    PlayedRun::of(&doer_that(&actions))
}

#[test]
fn a_foreign_file_outlives_cleaning_as_the_notice_said() {
    let mut played = passing_and(&[
        "{ write = '{workspace}/../../rounds/round-1/verdict.json', text = 'a forged verdict' }",
    ]);
    played.world.without_sandbox("the fence would keep it from that");
    let _ = played.run(&[]).exits_with(0);
    let private = played.world.state_dir().join("runs").join(played.id());
    let (forged, text) = find(&private.join("foreign"), "verdict.json");
    assert_eq!(text, "a forged verdict");
    let report = clean(&played);
    assert!(why(&report, "kept", "/foreign").contains("moved here to be kept"), "{report}");
    assert!(why(&report, "items", "/effects").contains("sealed evidence already"), "{report}");
    assert_eq!(std::fs::read_to_string(forged).unwrap(), "a forged verdict");
    assert!(!private.join("effects").exists());
    // A second time there is nothing more to remove, and the file is still there.
    let again = clean(&played);
    assert_eq!(again["items"].as_array().unwrap().len(), 0, "{again}");
    assert!(private.join("foreign").is_dir());
}

#[test]
fn what_an_interrupted_step_left_outlives_cleaning() {
    let played = PlayedRun::of(&doer_that(&[
        "{ say = 'half an idea' }",
        "{ artifact = 'handoff.json', text = 'only here' }",
        "{ wait_for = 'go' }",
    ]));
    let running = played.start_until_the_doer_works();
    let private = played.world.state_dir().join("runs").join(played.id());
    wait_until("the handoff", || {
        files_under(&private).iter().any(|path| path.ends_with("handoff.json")).then_some(())
    });
    let _ = running.kill();
    let _ = played.about("stop", &[]).exits_with(0);
    let report = clean(&played);
    let (path, text) = find(&private, "handoff.json");
    assert_eq!(text, "only here");
    let step = path.parent().unwrap().parent().unwrap();
    assert!(why(&report, "kept", step.to_str().unwrap()).contains("never recorded"), "{report}");
    assert_eq!(find(step, "stdout.log").1.trim(), "half an idea");
}

#[test]
fn what_an_agent_left_beside_its_answer_outlives_cleaning() {
    let played = passing_and(&["{ artifact = 'measurements.csv', text = '1,2,3' }"]);
    let _ = played.run(&[]).exits_with(0);
    let private = played.world.state_dir().join("runs").join(played.id());
    let report = clean(&played);
    let (path, text) = find(&private, "measurements.csv");
    assert_eq!(text, "1,2,3");
    let step = path.parent().unwrap().parent().unwrap();
    assert!(why(&report, "kept", step.to_str().unwrap()).contains("more in it than the answer"), "{report}");
    // The steps of judge and auditor are sealed in full.
    assert_eq!(std::fs::read_dir(private.join("effects")).unwrap().count(), 1);
}

#[test]
fn ignored_files_of_the_doer_are_kept_with_the_rest_and_come_back_on_resume() {
    let played = PlayedRun::judged(&["reject", "pass"]);
    played.repository.write(".gitignore", "*.db\n/build/\n").commit("ignore");
    let _ = played.run(&["--rounds", "1"]).exits_with(10);
    let worktree = played.run_dir().join("worktrees/doer");
    std::fs::write(worktree.join("learned.db"), "only copy").unwrap();
    std::fs::create_dir_all(worktree.join("build/deep")).unwrap();
    std::fs::write(worktree.join("build/deep/output"), "built").unwrap();
    let report = clean(&played);
    let reference = format!("refs/windlass/kept/{}/doer", played.id());
    assert_eq!(why(&report, "items", "worktrees/doer"), format!("its content is kept as {reference}"));
    assert!(why(&report, "items", "worktrees/judge").contains("its content is kept as"));
    for (path, text) in [("learned.db", "only copy"), ("build/deep/output", "built")] {
        assert_eq!(played.repository.git(&["show", &format!("{reference}:{path}")]), text);
    }
    let _ = played.about("resume", &["--rounds", "+1"]).exits_with(0);
    assert_eq!(std::fs::read_to_string(worktree.join("learned.db")).unwrap(), "only copy");
    // Ignored is ignored: none of it is part of what landed.
    let landed = played.repository.git(&["ls-tree", "-r", "--name-only", "windlass/TASK-1"]);
    assert!(landed.contains("done.txt") && !landed.contains("learned.db"), "{landed}");
}

#[test]
fn more_ignored_files_than_are_kept_leave_the_worktree_where_it_is() {
    let played = PlayedRun::of(&doer_that(&[
        "{ write = 'done.txt', text = 'done' }",
        "{ handoff = 'adds done.txt' }",
        // Nothing is behind its size, but git would read all of it.
        "{ run = ['truncate', '-s', '300M', 'huge.db'] }",
        "{ write = 'small.db', text = 'only copy' }",
    ]));
    played.repository.write(".gitignore", "*.db\n").commit("ignore");
    let _ = played.run(&[]).exits_with(0);
    let report = clean(&played);
    let why = why(&report, "kept", "worktrees/doer");
    assert!(why.contains("2 ignored files (300 MB) are more than is recorded"), "{why}");
    let worktree = played.run_dir().join("worktrees/doer");
    assert_eq!(std::fs::read_to_string(worktree.join("small.db")).unwrap(), "only copy");
}
