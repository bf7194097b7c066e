//! Cleaning takes away what ended runs left behind, after it is kept elsewhere, and a dry run decides the same.

use crate::played_run::{PlayedRun, files_under, waiting_doer};
use serde_json::Value;
use windlass_test_support::{Script, When};

fn clean(played: &PlayedRun, more: &[&str]) -> Value {
    let repository = played.repository.text();
    let words: Vec<&str> =
        ["clean", "--repo", repository, "--json"].into_iter().chain(more.iter().copied()).collect();
    played.world.windlass(&words).exits_with(0).json()
}

/// What goes or stays, as kind and name.
fn names(report: &Value, list: &str) -> Vec<(String, String)> {
    let text = |item: &Value, key: &str| item[key].as_str().unwrap().to_owned();
    report[list].as_array().unwrap().iter().map(|item| (text(item, "kind"), text(item, "what"))).collect()
}

/// What stays, and why.
fn kept_because(report: &Value, why: &str) -> bool {
    report["kept"].as_array().unwrap().iter().any(|item| item["why"].as_str().unwrap().contains(why))
}

/// A dry run, then the real thing: the same goes and the same stays.
#[track_caller]
fn clean_twice(played: &PlayedRun) -> Value {
    let before = files_under(&played.run_dir());
    let dry = clean(played, &["--dry-run"]);
    assert_eq!(dry["removed"], false);
    assert_eq!(files_under(&played.run_dir()), before, "a dry run removes nothing");
    let real = clean(played, &[]);
    assert_eq!(real["removed"], true);
    assert_eq!(names(&dry, "items"), names(&real, "items"));
    assert_eq!(names(&dry, "kept"), names(&real, "kept"));
    real
}

fn passing(doer: &[&str]) -> PlayedRun {
    let script = Script::new()
        .doer(When::Always, doer)
        .judge(When::Always, &["{ verdict = 'pass' }"])
        .auditor(When::Always, &["{ audit = 'pass' }"]);
    PlayedRun::of(&script)
}

#[test]
fn a_dry_run_and_the_real_one_decide_the_same_and_a_second_one_finds_nothing() {
    let played = PlayedRun::accepted();
    let stamp_branches = played.repository.git(&["branch", "--list", "codex/*"]);
    assert_eq!(stamp_branches.lines().count(), 2, "{stamp_branches}");
    let report = clean_twice(&played);
    let kinds: Vec<String> = names(&report, "items").into_iter().map(|(kind, _)| kind).collect();
    assert_eq!(kinds, ["worktree", "branch", "worktree", "branch", "scratch files"]);
    assert!(!played.run_dir().join("worktrees/doer").exists());
    assert_eq!(played.repository.git(&["branch", "--list", "codex/*"]), "");
    assert_eq!(played.repository.git(&["worktree", "list"]).lines().count(), 1);
    let again = clean(&played, &[]);
    assert_eq!((names(&again, "items"), names(&again, "kept")), (Vec::new(), Vec::new()));
    let words = ["clean", "--repo", played.repository.text()];
    let said = played.world.windlass(&words).exits_with(0);
    assert!(said.stderr.contains("nothing to clean"), "{}", said.stderr);
}

#[test]
fn the_record_stays_whole() {
    let played = PlayedRun::accepted();
    let files = |played: &PlayedRun| {
        let worktrees = played.run_dir().join("worktrees");
        files_under(&played.run_dir())
            .into_iter()
            .filter(|path| !path.starts_with(&worktrees))
            .collect::<Vec<_>>()
    };
    let (before, diff) = (files(&played), played.about("diff", &[]).stdout);
    let _ = clean_twice(&played);
    assert_eq!(files(&played), before);
    assert_eq!(played.about("diff", &[]).exits_with(0).stdout, diff);
    let _ = played.about("verify", &[]).exits_with(0);
    let _ = played.about("show", &[]).exits_with(0);
    assert_eq!(played.repository.git(&["show", "windlass/TASK-1:done.txt"]), "done");
}

#[test]
fn what_the_doer_left_uncommitted_and_untracked_is_kept_and_can_be_read() {
    let played = passing(&[
        "{ write = 'done.txt', text = 'done' }",
        "{ handoff = 'adds done.txt' }",
        "{ write = 'README.md', text = 'an edit' }",
        "{ write = 'deep/er/notes.txt', text = 'half an idea' }",
        "{ write = 'run.sh', text = 'x', mode = 0o755 }",
    ]);
    let _ = played.run(&[]).exits_with(0);
    // Whatever somebody does in the worktree after the run is work too.
    let worktree = played.run_dir().join("worktrees/doer");
    std::fs::write(worktree.join("later.txt"), "by hand").unwrap();
    let report = clean_twice(&played);
    let reference = format!("refs/windlass/kept/{}/doer", played.id());
    assert!(report["items"][0]["why"].as_str().unwrap().contains(&reference), "{report}");
    let read = |path: &str| played.repository.git(&["show", &format!("{reference}:{path}")]);
    assert_eq!(read("README.md"), "an edit");
    assert_eq!(read("deep/er/notes.txt"), "half an idea");
    assert_eq!(read("later.txt"), "by hand");
    assert!(played.repository.git(&["ls-tree", &reference, "run.sh"]).starts_with("100755"));
    // Kept for good, also when git tidies up.
    played.repository.git(&["gc", "--quiet", "--prune=now"]);
    assert_eq!(read("later.txt"), "by hand");
}

#[test]
fn an_unfinished_run_is_kept() {
    let played = PlayedRun::interrupted();
    let report = clean_twice(&played);
    assert!(names(&report, "items").is_empty(), "{report}");
    assert!(kept_because(&report, "it has not ended"), "{report}");
    played.go();
    let _ = played.about("resume", &[]).exits_with(0);
}

#[test]
fn a_run_that_is_under_way_is_kept() {
    let played = PlayedRun::of(&waiting_doer());
    let running = played.start_until_the_doer_works();
    let report = clean_twice(&played);
    assert!(names(&report, "items").is_empty(), "{report}");
    played.go();
    let _ = running.wait().exits_with(0);
}

#[test]
fn a_branch_with_commits_of_its_own_is_kept() {
    let mut played = passing(&[
        "{ write = 'done.txt', text = 'done' }",
        "{ run = ['git', 'add', 'done.txt'] }",
        "{ run = ['git', '-c', 'user.name=x', '-c', 'user.email=x@localhost', 'commit', '--quiet', '-m', 'mine'] }",
        "{ handoff = 'adds done.txt' }",
    ]);
    played.world.without_sandbox("inside, its commits stay out of the user's repository");
    let _ = played.run(&[]).exits_with(0);
    let report = clean_twice(&played);
    assert!(kept_because(&report, "somebody committed to it"), "{report}");
    let branches = played.repository.git(&["branch", "--list", "codex/*", "--format=%(refname:short)"]);
    assert_eq!(branches.lines().count(), 1, "{branches}");
    assert_eq!(played.repository.git(&["log", "-1", "--format=%s", &branches]), "mine");
}

#[test]
fn a_worktree_that_was_locked_is_kept() {
    let played = PlayedRun::accepted();
    let worktree = played.run_dir().join("worktrees/doer");
    played.repository.git(&["worktree", "lock", worktree.to_str().unwrap()]);
    let report = clean_twice(&played);
    assert!(kept_because(&report, "it is locked"), "{report}");
    assert!(worktree.join("done.txt").is_file());
}

#[test]
fn a_worktree_that_git_cannot_keep_whole_is_kept_where_it_is() {
    let played = PlayedRun::accepted();
    let inner = played.run_dir().join("worktrees/doer/inner");
    played.repository.git(&["init", "--quiet", inner.to_str().unwrap()]);
    std::fs::write(inner.join("precious.txt"), "x").unwrap();
    let report = clean_twice(&played);
    assert!(kept_because(&report, "cannot be kept by git"), "{report}");
    assert!(inner.join("precious.txt").is_file());
}

#[test]
fn only_the_run_that_is_named_or_the_repository_that_is_named_is_cleaned() {
    let played = PlayedRun::accepted();
    let first = played.run_dir();
    let _ = played.run(&[]).exits_with(0);
    let second = played.run_dir();
    let _ = played.about("clean", &[]).exits_with(0);
    assert!(!second.join("worktrees/doer").exists() && first.join("worktrees/doer").exists());
    let other = played.world.repository("other");
    let _ = played.world.windlass(&["clean", "--repo", other.text()]).exits_with(0);
    assert!(first.join("worktrees/doer").exists());
    let _ = clean(&played, &[]);
    assert!(!first.join("worktrees/doer").exists());
}

#[test]
fn a_run_whose_worktrees_were_cleaned_away_goes_on_with_what_was_kept() {
    let played = PlayedRun::judged(&["reject", "pass"]);
    let _ = played.run(&["--rounds", "1"]).exits_with(10);
    let _ = clean_twice(&played);
    let _ = played.about("resume", &["--rounds", "+1"]).exits_with(0);
    // The second round adds to what the first one left.
    assert_eq!(played.repository.git(&["show", "windlass/TASK-1:done.txt"]), "moremore");
    let _ = played.about("verify", &[]).exits_with(0);
}

#[test]
fn a_repository_that_is_gone_leaves_only_our_own_files_to_clean() {
    let played = PlayedRun::accepted();
    let id = played.id();
    std::fs::remove_dir_all(played.repository.path()).unwrap();
    let report = played.world.windlass(&["clean", &id, "--json"]).exits_with(0).json();
    let kinds: Vec<String> = names(&report, "items").into_iter().map(|(kind, _)| kind).collect();
    assert_eq!(kinds, ["scratch files"]);
}
