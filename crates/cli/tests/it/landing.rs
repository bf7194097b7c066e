//! Bringing an accepted change home: one commit with the judged tree, where the user asked for it, and nothing of the
//! user's own lost on the way.

mod current;

use crate::played_run::{PlayedRun, waiting_doer};
use windlass_test_support::Script;

fn trailer(played: &PlayedRun, revision: &str, key: &str) -> String {
    let format = format!("--format=%(trailers:key={key},valueonly)");
    played.repository.git(&["log", "-1", &format, revision]).trim().to_owned()
}

fn shown(played: &PlayedRun) -> serde_json::Value {
    played.about("show", &["--json"]).exits_with(0).json()
}

#[test]
fn a_change_lands_on_a_branch_of_its_own_and_the_user_s_things_stay_as_they_were() {
    let played = PlayedRun::of(&Script::that_passes());
    played.repository.write("README.md", "edited, not committed\n").write("notes.txt", "untracked");
    let before = played.repository.record();
    let base = played.repository.git(&["rev-parse", "HEAD"]);
    let _ = played.run(&[]).exits_with(0);
    before.assert_holds(&played.repository);
    let view = shown(&played);
    let git = |args: &[&str]| played.repository.git(args);
    assert_eq!(view["landed"]["reference"], "windlass/TASK-1");
    assert_eq!(view["landed"]["commit"], git(&["rev-parse", "windlass/TASK-1"]).as_str());
    assert_eq!(view["tree"], git(&["rev-parse", "windlass/TASK-1^{tree}"]).as_str());
    assert_eq!(git(&["rev-parse", "windlass/TASK-1^"]), base);
    assert_eq!(git(&["diff", "--name-status", &base, "windlass/TASK-1"]), "A\tdone.txt");
    git(&["fsck", "--strict"]);
}

#[test]
fn the_commit_leads_to_its_evidence() {
    let played = PlayedRun::accepted();
    let view = shown(&played);
    let branch = "windlass/TASK-1";
    assert_eq!(trailer(&played, branch, "Windlass-Run"), played.id());
    assert_eq!(trailer(&played, branch, "Windlass-Task"), "TASK-1");
    assert_eq!(trailer(&played, branch, "Windlass-Round"), "1");
    assert_eq!(trailer(&played, branch, "Windlass-Tree"), view["tree"].as_str().unwrap());
    for (key, name) in [("Windlass-Verdict", "verdict.json"), ("Windlass-Audit", "audit.json")] {
        let sealed = view["artifacts"].as_array().unwrap().iter().find(|artifact| artifact["name"] == name);
        let digest = sealed.expect("it was sealed")["digest"].as_str().unwrap();
        assert_eq!(trailer(&played, branch, key), format!("sha256:{digest}"));
    }
    assert_eq!(played.repository.git(&["log", "-1", "--format=%s", branch]), "Add a file");
    assert_eq!(
        played.repository.git(&["log", "-1", "--format=%an <%ae>", branch]),
        "Windlass <windlass@localhost>"
    );
}

#[test]
fn a_branch_name_that_is_taken_gets_a_number() {
    let played = PlayedRun::accepted();
    for number in 2..=3 {
        let _ = played.run(&[]).exits_with(0);
        assert_eq!(shown(&played)["landed"]["reference"], format!("windlass/TASK-1-{number}"));
    }
}

#[test]
fn a_branch_in_the_way_of_the_name_costs_no_work() {
    // Git keeps branches as paths: with `windlass` there is no room for `windlass/TASK-1`.
    let played = PlayedRun::of(&waiting_doer());
    let running = played.start_until_the_doer_works();
    played.repository.git(&["branch", "windlass"]);
    played.go();
    let ended = running.wait().exits_with(11);
    assert!(ended.stdout.contains("accepted, but could not be landed"), "{}", ended.stdout);
    assert!(ended.stdout.contains("beside refs/heads/windlass"), "{}", ended.stdout);
    let _ = played.about("land", &[]).exits_with(0);
    assert_eq!(shown(&played)["landed"]["reference"], "windlass-TASK-1");
    assert_eq!(played.repository.git(&["show", "windlass-TASK-1:done.txt"]), "done");
}

#[test]
fn a_branch_made_meanwhile_under_the_chosen_name_is_left_alone() {
    let played = PlayedRun::of(&waiting_doer());
    let running = played.start_until_the_doer_works();
    played.repository.git(&["branch", "windlass/TASK-1"]);
    let theirs = played.repository.git(&["rev-parse", "windlass/TASK-1"]);
    played.go();
    let ended = running.wait().exits_with(11);
    assert!(ended.stdout.contains("branch windlass/TASK-1 is there already"), "{}", ended.stdout);
    assert_eq!(played.repository.git(&["rev-parse", "windlass/TASK-1"]), theirs);
    let _ = played.about("land", &[]).exits_with(0);
    assert_eq!(shown(&played)["landed"]["reference"], "windlass/TASK-1-2");
}

#[test]
fn what_was_not_landed_can_be_landed_later_and_only_once() {
    let played = PlayedRun::of(&Script::that_passes());
    let ended = played.run(&["--land", "none"]).exits_with(0);
    assert!(ended.stdout.contains("windlass land"), "{}", ended.stdout);
    assert_eq!(shown(&played)["landed"], serde_json::Value::Null);
    assert!(!played.repository.git_succeeds(&["rev-parse", "--verify", "--quiet", "windlass/TASK-1"]));
    let _ = played.about("land", &["--branch", "topic/parser"]).exits_with(0);
    let view = shown(&played);
    assert_eq!(view["tree"], played.repository.git(&["rev-parse", "topic/parser^{tree}"]).as_str());
    let again = played.about("land", &[]).exits_with(14);
    assert!(again.stderr.contains("it is landed already"), "{}", again.stderr);
    let _ = played.about("verify", &[]).exits_with(0);
}

#[test]
fn a_change_that_was_not_accepted_is_never_landed() {
    let rejected = PlayedRun::judged(&["reject"]);
    let _ = rejected.run(&["--rounds", "1"]).exits_with(10);
    for place in [&[][..], &["--branch", "topic"], &["--current"]] {
        let refused = rejected.about("land", place).exits_with(14);
        assert!(refused.stderr.contains("no accepted change"), "{}", refused.stderr);
    }
    let interrupted = PlayedRun::interrupted();
    let refused = interrupted.about("land", &[]).exits_with(14);
    assert!(refused.stderr.contains("the run has not ended"), "{}", refused.stderr);
    for played in [rejected, interrupted] {
        assert_eq!(played.repository.git(&["branch", "--list", "windlass/*", "topic"]), "");
    }
}

#[test]
fn a_branch_name_that_git_would_refuse_changes_nothing() {
    let played = PlayedRun::of(&Script::that_passes());
    let _ = played.run(&["--land", "none"]).exits_with(0);
    for name in ["a..b", "-x", "a b", "x.lock", "refs/../../x"] {
        let output = played.about("land", &[&format!("--branch={name}")]).exits_with(2);
        assert!(output.stderr.contains("is not a usable reference name"), "{name}: {}", output.stderr);
    }
    let _ = played.about("land", &["--branch", "fine"]).exits_with(0);
}

#[test]
fn commits_are_by_whom_the_settings_say() {
    let played = PlayedRun::of(&Script::that_passes());
    played.repository.write("windlass.toml", "author = 'Ann Example <ann@example.org>'\n").commit("settings");
    let _ = played.run(&[]).exits_with(0);
    let format = "--format=%an <%ae> %cn <%ce>";
    let who = played.repository.git(&["log", "-1", format, "windlass/TASK-1"]);
    assert_eq!(who, "Ann Example <ann@example.org> Ann Example <ann@example.org>");
}

#[test]
fn an_author_that_cannot_be_written_is_refused_before_any_work() {
    let mut played = PlayedRun::of(&Script::that_passes());
    played.world.set("WINDLASS_AUTHOR", "Ann <ann@<example>");
    let refused = played.run(&[]).exits_with(2);
    assert!(refused.stderr.contains("error[WL-SETTINGS-001]"), "{}", refused.stderr);
    assert!(refused.stderr.contains("$WINDLASS_AUTHOR"), "{}", refused.stderr);
    assert_eq!(played.world.steps(), Vec::<String>::new());
}

#[test]
fn a_task_text_of_any_kind_makes_a_good_commit_message() {
    let long = "word ".repeat(40);
    let texts = [
        "Quotes \" ' ` and $(touch pwned) %s %n \\",
        "# looks like a comment",
        "- looks like a flag",
        "Größe, 日本語 and 🎉 \u{202e}backwards",
        "first line\n\nWindlass-Run: forged\nWindlass-Tree: forged",
        "first line\r\nsecond line\r\n",
        "\n\n   the text begins late\n",
        "a bell \u{7} and an escape \u{1b}[31m",
        long.as_str(),
    ];
    for text in texts {
        let played = PlayedRun::of(&Script::that_passes());
        let file = played.world.shared("task.md");
        std::fs::write(&file, text).unwrap();
        let words = ["run", "--task-file", file.to_str().unwrap(), "--id", "TASK-1"];
        let place = ["--repo", played.repository.text(), "--agent", &played.agent];
        let words: Vec<&str> = words.into_iter().chain(place).collect();
        let _ = played.world.windlass(&words).exits_with(0);
        let branch = "windlass/TASK-1";
        let subject = played.repository.git(&["log", "-1", "--format=%s", branch]);
        assert!(!subject.trim().is_empty() && subject.chars().count() <= 72, "{text:?}: {subject:?}");
        assert!(!subject.chars().any(char::is_control), "{text:?}: {subject:?}");
        assert_eq!(trailer(&played, branch, "Windlass-Run"), played.id(), "{text:?}");
        assert_eq!(shown(&played)["tree"], trailer(&played, branch, "Windlass-Tree").as_str(), "{text:?}");
        played.repository.git(&["fsck", "--strict"]);
        assert!(!played.repository.path().join("pwned").exists());
    }
}
