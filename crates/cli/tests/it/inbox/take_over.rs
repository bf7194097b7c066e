//! A person goes on by hand: exactly the maker's last content, nobody else meanwhile, and a way back that is judged like
//! any other, whatever dies in between.

use super::{asking, inbox, only, refused};
use crate::played_run::PlayedRun;
use serde_json::Value;
use std::path::{Path, PathBuf};
use windlass_test_support::{Script, When};

pub(super) struct InHand {
    pub(super) played: PlayedRun,
    taken: Value,
}

impl InHand {
    pub(super) fn of(played: PlayedRun) -> Self {
        let taken = played.about("take-over", &["--json"]).exits_with(0).json_lines().pop().unwrap();
        Self { played, taken }
    }

    pub(super) fn worktree(&self) -> PathBuf {
        self.taken["worktree"].as_str().unwrap().into()
    }

    fn branch(&self) -> &str {
        self.taken["branch"].as_str().unwrap()
    }

    /// Git as the person uses it, in their worktree.
    pub(super) fn git(&self, args: &[&str]) -> String {
        let git = Path::new("/usr/bin/env");
        let words = [&["git", "-c", "user.name=Ada", "-c", "user.email=ada@example.org"], args].concat();
        let output = self.played.world.run(git, &self.worktree(), &words, "").exits_with(0);
        output.stdout.trim_end().to_owned()
    }

    pub(super) fn write(&self, name: &str, text: &str) {
        std::fs::write(self.worktree().join(name), text).unwrap();
    }

    #[track_caller]
    fn landed(&self, file: &str) -> String {
        self.played.repository.git(&["show", &format!("windlass/TASK-1:{file}")])
    }
}

#[test]
fn the_worktree_holds_exactly_what_the_maker_last_left() {
    let played = asking();
    let before = played.repository.record();
    let made = played.about("show", &["--json"]).json()["tree"].clone();
    let hand = InHand::of(played);
    assert_eq!(hand.taken["tree"], made);
    assert_eq!(hand.branch(), format!("windlass/take-over/{}", hand.played.id()));
    assert_eq!(std::fs::read_to_string(hand.worktree().join("done.txt")).unwrap(), "more");
    assert_eq!(hand.git(&["status", "--porcelain"]), "", "a clean start");
    assert_eq!(hand.git(&["rev-parse", "HEAD^{tree}"]), made.as_str().unwrap());
    assert_eq!(hand.git(&["symbolic-ref", "HEAD"]), format!("refs/heads/{}", hand.branch()));
    hand.played.repository.git(&["fsck", "--strict"]);
    before.assert_holds(&hand.played.repository);
}

#[test]
fn nobody_else_goes_on_meanwhile() {
    let hand = InHand::of(asking());
    let entry = only(&hand.played.world);
    assert_eq!(entry["question"], "hand-back");
    assert!(entry["cause"].as_str().unwrap().contains("tester took the work over"), "{entry:#}");
    for (command, more) in [
        ("resume", &["--note", "go"][..]),
        ("answer", &["go"]),
        ("retry", &[]),
        ("land", &[]),
        ("skip", &[]),
        ("approve", &[]),
    ] {
        let no = hand.played.about(command, more).exits_with(14);
        refused(&no, "WL-RUN-005");
        refused(&no, &format!("windlass hand-back {}", hand.played.id()));
    }
    let kept = hand.played.about("clean", &["--json"]).exits_with(0).json();
    assert_eq!(kept["items"], Value::Array(Vec::new()), "nothing of it is cleaned away");
    assert!(hand.played.about("explain", &[]).stdout.contains("works on it by hand"));
}

#[test]
fn what_a_person_made_is_checked_judged_and_landed_like_anybody_s() {
    let script = Script::new()
        .doer(When::Always, &["{ write = 'done.txt', text = 'wrong' }", "{ handoff = 'guesses' }"])
        .judge(When::Round(1), &["{ verdict = 'needs-human' }"])
        .judge(When::Always, &["{ verdict = 'pass' }"])
        .auditor(When::Always, &["{ audit = 'pass' }"]);
    let played = PlayedRun::of(&script);
    played.repository.write(".gitignore", "*.log\n");
    played.repository.commit("ignore logs");
    let _ = played.run(&["--check", "test -s done.txt", "--rounds", "1"]).exits_with(11);
    let hand = InHand::of(played);
    hand.write("done.txt", "right");
    hand.write("new.txt", "untracked");
    hand.write("noise.log", "ignored");
    let ended = hand.played.about("hand-back", &["--note", "the parser was wrong"]).exits_with(0);
    assert!(ended.stdout.contains("accepted in round 2"), "{}", ended.stdout);
    assert_eq!((hand.landed("done.txt"), hand.landed("new.txt")), ("right".into(), "untracked".into()));
    assert!(!hand.played.repository.git_succeeds(&["show", "windlass/TASK-1:noise.log"]));
    assert_eq!(hand.played.world.steps(), ["doer 1 1", "judge 1 1", "judge 2 1", "auditor 2 1"]);
    let told = hand.played.prompt(2, "judge");
    assert!(told.contains("the parser was wrong") && told.contains("made by tester by hand"), "{told}");
    assert!(hand.worktree().join("noise.log").is_file(), "the person's worktree stays");
    let _ = hand.played.about("verify", &[]).exits_with(0);
    assert!(inbox(&hand.played.world, &[]).is_empty());
}

#[test]
fn it_does_not_matter_whether_they_committed_it() {
    let hand = InHand::of(asking());
    hand.write("done.txt", "committed");
    hand.git(&["commit", "-qam", "by hand"]);
    hand.write("done.txt", "committed, and edited since");
    let _ = hand.played.about("hand-back", &[]).exits_with(0);
    assert_eq!(hand.landed("done.txt"), "committed, and edited since");
}

#[test]
fn a_rejected_hand_back_goes_on_with_the_doer_on_top_of_it() {
    let played = PlayedRun::judged(&["needs-human", "reject", "pass"]);
    let _ = played.run(&["--rounds", "3"]).exits_with(11);
    let hand = InHand::of(played);
    hand.write("done.txt", "mine+");
    let _ = hand.played.about("hand-back", &[]).exits_with(0);
    assert_eq!(hand.landed("done.txt"), "mine+more", "the doer builds on the person's work");
}

#[test]
fn what_is_discarded_waits_as_it_did() {
    let played = asking();
    let before = only(&played.world);
    let hand = InHand::of(played);
    hand.write("done.txt", "a failed attempt");
    let line = hand.played.about("hand-back", &["--discard", "--json"]).exits_with(0).json();
    assert_eq!(line["waits"], true);
    let after = only(&hand.played.world);
    assert_eq!((&after["cause"], &after["commands"]), (&before["cause"], &before["commands"]));
    assert!(hand.worktree().join("done.txt").is_file(), "it stays until the run is cleaned");
    let _ = hand.played.about("retry", &[]).exits_with(0);
    assert_eq!(hand.landed("done.txt"), "moremore", "nothing of it went in");
    let _ = hand.played.about("verify", &[]).exits_with(0);
}

#[test]
fn taken_over_twice_there_are_two_places_and_both_are_cleaned_after_they_are_kept() {
    let first = InHand::of(asking());
    first.write("one.txt", "first attempt");
    let _ = first.played.about("hand-back", &["--discard"]).exits_with(0);
    let (worktree, branch) = (first.worktree(), first.branch().to_owned());
    let second = InHand::of(first.played);
    assert_ne!((second.worktree(), second.branch()), (worktree.clone(), branch.as_str()));
    assert!(!second.worktree().join("one.txt").exists());
    second.write("two.txt", "second attempt");
    second.git(&["add", "-A"]);
    second.git(&["commit", "-qm", "by hand"]);
    let _ = second.played.about("hand-back", &[]).exits_with(0);
    let report = second.played.about("clean", &["--json"]).exits_with(0).json();
    assert!(!worktree.exists() && !second.worktree().exists(), "{report:#}");
    let id = second.played.id();
    let git = |args: &[&str]| second.played.repository.git(args);
    assert_eq!(git(&["show", &format!("refs/windlass/kept/{id}/take-over:one.txt")]), "first attempt");
    assert_eq!(
        git(&["show", &format!("refs/windlass/kept/{id}/take-over-2-branch:two.txt")]),
        "second attempt"
    );
    assert_eq!(git(&["branch", "--list", "windlass/take-over/*"]), "");
    let again = second.played.about("clean", &["--json"]).exits_with(0).json();
    assert_eq!(again["items"], Value::Array(Vec::new()));
}

#[test]
fn everything_of_the_maker_s_is_kept_before_it_makes_room() {
    let script = Script::new()
        .doer(
            When::Always,
            &[
                "{ write = 'done.txt', text = 'x' }",
                "{ write = 'notes.log', text = 'work' }",
                "{ handoff = 'x' }",
            ],
        )
        .judge(When::Round(1), &["{ verdict = 'needs-human' }"])
        .judge(When::Always, &["{ verdict = 'pass' }"])
        .auditor(When::Always, &["{ audit = 'pass' }"]);
    let played = PlayedRun::of(&script);
    played.repository.write(".gitignore", "*.log\n");
    played.repository.commit("ignore logs");
    let _ = played.run(&[]).exits_with(11);
    let hand = InHand::of(played);
    hand.write("done.txt", "y");
    let _ = hand.played.about("hand-back", &[]).exits_with(0);
    let kept = format!("refs/windlass/kept/{}/doer-before-take-over:notes.log", hand.played.id());
    assert_eq!(hand.played.repository.git(&["show", &kept]), "work");
}

#[test]
fn a_worktree_that_cannot_be_a_change_is_not_handed_back() {
    let hand = InHand::of(asking());
    std::fs::create_dir(hand.worktree().join("inner")).unwrap();
    hand.git(&["init", "-q", "inner"]);
    hand.write("inner/file", "x");
    let no = hand.played.about("hand-back", &[]).exits_with(14);
    refused(&no, "cannot be taken as a change");
    std::fs::remove_dir_all(hand.worktree().join("inner/.git")).unwrap();
    let _ = hand.played.about("hand-back", &[]).exits_with(0);
    assert_eq!(hand.landed("inner/file"), "x");
}

#[test]
fn a_worktree_somebody_removed_is_said_and_made_again() {
    let hand = InHand::of(asking());
    std::fs::remove_dir_all(hand.worktree()).unwrap();
    let no = hand.played.about("hand-back", &[]).exits_with(14);
    refused(&no, "there is no worktree at");
    let again = InHand::of(hand.played);
    assert_eq!(again.taken, hand.taken);
    assert_eq!(std::fs::read_to_string(again.worktree().join("done.txt")).unwrap(), "more");
}

#[test]
fn a_hand_back_finds_the_maker_s_worktree_gone_and_makes_it_again() {
    let played = PlayedRun::judged(&["needs-human", "reject", "pass"]);
    let _ = played.run(&["--rounds", "3"]).exits_with(11);
    let hand = InHand::of(played);
    hand.write("done.txt", "mine+");
    let maker = hand.played.run_dir().join("worktrees/doer");
    std::fs::remove_dir_all(&maker).unwrap();
    let _ = hand.played.about("hand-back", &[]).exits_with(0);
    assert_eq!(hand.landed("done.txt"), "mine+more");
    assert!(maker.join(".git").is_file(), "git works in it again");
}
