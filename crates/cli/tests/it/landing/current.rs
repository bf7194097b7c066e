//! Landing on the branch the user stands on: a clean step forward, or a refusal that touches nothing.

use super::shown;
use crate::played_run::{PlayedRun, waiting_doer};
use windlass_test_support::{Script, When};

const CURRENT: &[&str] = &["--land", "current"];

#[test]
fn a_clean_checkout_moves_forward() {
    let played = PlayedRun::of(&Script::that_passes());
    let _ = played.run(CURRENT).exits_with(0);
    let view = shown(&played);
    assert_eq!(view["landed"]["reference"], "main");
    assert_eq!(view["landed"]["commit"], played.repository.git(&["rev-parse", "main"]).as_str());
    assert_eq!(view["tree"], played.repository.git(&["rev-parse", "HEAD^{tree}"]).as_str());
    assert_eq!(played.repository.git(&["status", "--porcelain"]), "");
    assert_eq!(played.repository.read("done.txt"), "done");
    let _ = played.about("verify", &[]).exits_with(0);
}

#[test]
fn files_that_are_not_in_the_way_stay_as_they_are() {
    let played = PlayedRun::of(&Script::that_passes());
    played.repository.write("README.md", "edited\n").write("notes.txt", "mine");
    let _ = played.run(CURRENT).exits_with(0);
    assert_eq!(
        (played.repository.read("README.md"), played.repository.read("notes.txt")),
        ("edited\n".into(), "mine".into())
    );
    assert_eq!(played.repository.git(&["status", "--porcelain"]), " M README.md\n?? notes.txt");
    assert_eq!(played.repository.git(&["show", "HEAD:README.md"]), "# A repository");
}

/// The landing is refused, the user's things are as they were, and the change can be landed elsewhere.
#[track_caller]
fn refused(played: &PlayedRun, because: &str) {
    let before = played.repository.record();
    let ended = played.run(CURRENT).exits_with(11);
    assert!(ended.stdout.contains(because), "{}", ended.stdout);
    before.assert_holds(&played.repository);
    assert_eq!(played.line()["status"], "needs-human");
    let _ = played.about("verify", &[]).exits_with(0);
    let _ = played.about("land", &[]).exits_with(0);
    before.assert_holds(&played.repository);
    assert_eq!(shown(played)["landed"]["reference"], "windlass/TASK-1");
}

#[test]
fn an_edited_file_in_the_way_is_not_overwritten() {
    let script = Script::new()
        .doer(When::Always, &["{ write = 'README.md', text = 'theirs' }", "{ handoff = 'rewrites' }"])
        .judge(When::Always, &["{ verdict = 'pass' }"])
        .auditor(When::Always, &["{ audit = 'pass' }"]);
    let played = PlayedRun::of(&script);
    played.repository.write("README.md", "mine\n");
    refused(&played, "your checkout has changes in the way");
}

#[test]
fn an_untracked_file_in_the_way_is_not_overwritten() {
    let played = PlayedRun::of(&Script::that_passes());
    played.repository.write("done.txt", "mine\n");
    refused(&played, "your checkout has changes in the way");
}

#[test]
fn an_ignored_file_in_the_way_is_not_overwritten() {
    let script = Script::new()
        .doer(
            When::Always,
            &[
                "{ write = 'build/out.txt', text = 'theirs' }",
                "{ run = ['git', 'add', '--force', 'build/out.txt'] }",
                "{ write = 'done.txt', text = 'done' }",
                "{ handoff = 'adds done.txt' }",
            ],
        )
        .judge(When::Always, &["{ verdict = 'pass' }"])
        .auditor(When::Always, &["{ audit = 'pass' }"]);
    let played = PlayedRun::of(&script);
    played.repository.write(".git/info/exclude", "done.txt\n").write("done.txt", "mine, and ignored\n");
    let output = played.run(CURRENT);
    assert_eq!(played.repository.read("done.txt"), "mine, and ignored\n", "{}", output.stdout);
}

#[test]
fn a_staged_change_is_kept() {
    let played = PlayedRun::of(&Script::that_passes());
    played.repository.write("staged.txt", "mine\n");
    played.repository.git(&["add", "staged.txt"]);
    refused(&played, "staged changes: staged.txt");
}

#[test]
fn a_detached_head_is_not_moved() {
    let played = PlayedRun::of(&Script::that_passes());
    played.repository.git(&["checkout", "--quiet", "--detach"]);
    refused(&played, "no branch is checked out");
}

#[test]
fn a_branch_that_moved_since_is_not_moved() {
    let mut played = PlayedRun::of(&waiting_doer());
    played.world.set("WINDLASS_LAND", "current");
    let running = played.start_until_the_doer_works();
    let theirs = played.repository.write("meanwhile.txt", "x").commit("meanwhile");
    played.go();
    let ended = running.wait().exits_with(11);
    assert!(ended.stdout.contains("the branch has moved to"), "{}", ended.stdout);
    assert_eq!(played.repository.git(&["rev-parse", "main"]), theirs);
    let explained = played.about("explain", &["--json"]).json();
    assert_eq!(explained["commands"][1], format!("windlass land {} --current", played.id()));
    assert_eq!(explained["commands"][0], format!("windlass land {}", played.id()));
    let _ = played.about("land", &["--current"]).exits_with(11);
    let _ = played.about("land", &[]).exits_with(0);
    assert_eq!(played.repository.git(&["rev-parse", "main"]), theirs);
    assert_eq!(
        shown(&played)["tree"],
        played.repository.git(&["rev-parse", "windlass/TASK-1^{tree}"]).as_str()
    );
}

#[test]
fn a_refusal_is_mended_and_the_current_branch_moves_after_all() {
    let played = PlayedRun::of(&Script::that_passes());
    played.repository.write("done.txt", "mine\n");
    let _ = played.run(CURRENT).exits_with(11);
    std::fs::remove_file(played.repository.path().join("done.txt")).unwrap();
    let _ = played.about("land", &["--current"]).exits_with(0);
    assert_eq!(played.repository.read("done.txt"), "done");
    assert_eq!(played.repository.git(&["status", "--porcelain"]), "");
    let _ = played.about("verify", &[]).exits_with(0);
}

#[test]
fn hooks_of_the_repository_do_not_run() {
    let played = PlayedRun::of(&Script::that_passes());
    let marker = played.world.shared("hook-ran");
    for hook in ["post-checkout", "post-merge", "reference-transaction", "pre-commit", "post-commit"] {
        let path = format!(".git/hooks/{hook}");
        played.repository.write(&path, &format!("#!/bin/sh\necho {hook} >> '{}'\n", marker.display()));
        let file = std::fs::metadata(played.repository.path().join(&path)).unwrap();
        let mut mode = file.permissions();
        std::os::unix::fs::PermissionsExt::set_mode(&mut mode, 0o755);
        std::fs::set_permissions(played.repository.path().join(&path), mode).unwrap();
    }
    let _ = played.run(CURRENT).exits_with(0);
    assert!(!marker.exists(), "{}", std::fs::read_to_string(&marker).unwrap_or_default());
}
