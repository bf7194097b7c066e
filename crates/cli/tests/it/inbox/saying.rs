//! Answer, retry, skip, approve, reject: each does what it says once, and every no says what was kept.

use super::{asking, inbox, not_landed, only, refused, waits};
use crate::played_run::PlayedRun;
use windlass_test_support::Output;

/// A command in the repository's own directory, where a run need not be named.
fn here(played: &PlayedRun, words: &[&str]) -> Output {
    played.world.windlass_in(played.repository.path(), words, "")
}

fn facts(played: &PlayedRun) -> usize {
    played.about("log", &["--json"]).exits_with(0).json()["entries"].as_array().unwrap().len()
}

/// Refused with this code and sentence, and the record is as it was.
#[track_caller]
fn changes_nothing(played: &PlayedRun, words: &[&str], exit: u8, said: &[&str]) {
    let before = facts(played);
    let no = here(played, words).exits_with(exit);
    for part in said {
        refused(&no, part);
    }
    assert_eq!(facts(played), before, "a refusal was recorded");
}

#[test]
fn an_answer_reaches_the_doer_and_the_run_goes_on() {
    let played = asking();
    let _ = here(&played, &["answer", "the polite one"]).exits_with(0);
    assert!(played.prompt(2, "doer").contains("the polite one"));
    assert!(!waits(&played));
    assert_eq!(played.line()["status"], "accepted");
    let _ = played.about("verify", &[]).exits_with(0);
}

#[test]
fn an_answer_for_later_is_kept_until_somebody_resumes() {
    let played = asking();
    let left = played.about("answer", &["the polite one", "--no-run", "--json"]).exits_with(0).json();
    assert_eq!(left["status"], "interrupted");
    assert!(!waits(&played));
    assert_eq!(played.world.steps(), ["doer 1 1", "judge 1 1"], "nobody was started");
    changes_nothing(&played, &["answer", &played.id(), "again", "--no-run"], 14, &["has not ended"]);
    let _ = played.about("resume", &[]).exits_with(0);
    assert!(played.prompt(2, "doer").contains("the polite one"));
}

#[test]
fn a_retry_goes_on_without_a_word() {
    let played = asking();
    let _ = here(&played, &["retry"]).exits_with(0);
    assert_eq!(played.line()["status"], "accepted");
}

#[test]
fn a_retry_can_give_more_room() {
    let played = PlayedRun::judged(&["needs-human", "pass"]);
    let _ = played.run(&["--rounds", "1"]).exits_with(11);
    changes_nothing(&played, &["retry"], 14, &["all its rounds are used up"]);
    let _ = here(&played, &["retry", "--rounds", "+1"]).exits_with(0);
}

#[test]
fn a_skipped_run_waits_no_more_says_so_and_comes_back_when_it_is_taken_up() {
    let played = asking();
    let line = here(&played, &["skip", "--reason", "done by hand", "--json"]).exits_with(0).json();
    assert_eq!(
        (&line["status"], &line["now"]),
        (&"needs-human".into(), &"needs a person (dismissed)".into())
    );
    assert!(!waits(&played));
    assert!(played.about("show", &[]).stdout.contains("dismissed"));
    assert!(played.about("log", &[]).stdout.contains("tester lets it be: done by hand"));
    let _ = played.about("verify", &[]).exits_with(0);
    let _ = played.about("resume", &[]).exits_with(0);
    assert!(!played.line()["now"].as_str().unwrap().contains("dismissed"));
}

#[test]
fn a_run_whose_repository_is_gone_can_still_be_skipped() {
    let played = asking();
    std::fs::remove_dir_all(played.repository.path()).unwrap();
    let _ = played.about("skip", &[]).exits_with(0);
    assert!(!waits(&played));
}

#[test]
fn a_run_need_not_be_named_only_when_there_is_no_doubt() {
    let played = asking();
    let outside = played.world.windlass(&["retry"]).exits_with(2);
    refused(&outside, "this directory is in no repository");
    let _ = played.run(&[]).exits_with(11);
    let several = here(&played, &["answer", "yes"]).exits_with(2);
    refused(&several, "several wait in this repository");
    for entry in inbox(&played.world, &[]) {
        let _ = played.world.windlass(&["skip", entry["run"].as_str().unwrap()]).exits_with(0);
    }
    let none = here(&played, &["retry"]).exits_with(2);
    refused(&none, "none waits in this repository");
}

#[test]
fn an_approval_lands_exactly_the_tree_that_waits() {
    let played = not_landed();
    let tree = only(&played.world)["tree"].as_str().unwrap().to_owned();
    let _ = here(&played, &["approve", "--tree", &tree[..7]]).exits_with(0);
    assert_eq!(played.repository.git(&["rev-parse", "windlass/TASK-1^{tree}"]), tree);
    assert!(!waits(&played));
    let told = played.about("log", &[]).stdout;
    assert!(told.contains(&format!("tester approves tree {tree}")), "{told}");
    let _ = played.about("verify", &[]).exits_with(0);
}

#[test]
fn what_was_accepted_and_never_landed_can_be_approved() {
    let played = PlayedRun::of(&windlass_test_support::Script::that_passes());
    let _ = played.run(&["--land", "none"]).exits_with(0);
    assert!(!waits(&played), "nobody asked for a landing");
    let _ = played.about("approve", &["--branch", "topic/it"]).exits_with(0);
    assert_eq!(played.repository.git(&["show", "topic/it:done.txt"]), "done");
}

#[test]
fn an_approval_of_another_tree_changes_nothing() {
    let played = not_landed();
    let id = played.id();
    let other = "0123456789012345678901234567890123456789";
    changes_nothing(&played, &["approve", &id, "--tree", other], 14, &["WL-RUN-004", "nothing was changed"]);
    changes_nothing(&played, &["approve", &id, "--tree", &other[..7]], 14, &["WL-RUN-004"]);
    changes_nothing(&played, &["approve", &id, "--tree", "0123"], 2, &["too short for a tree"]);
    assert!(waits(&played));
}

#[test]
fn what_a_run_does_not_ask_is_refused_with_what_to_do_instead() {
    let played = asking();
    let id = played.id();
    changes_nothing(&played, &["approve", &id], 14, &["WL-RUN-002", "no accepted change"]);
    changes_nothing(&played, &["reject", &id, "--reason", "no"], 14, &["tell it with `answer`"]);
    changes_nothing(&played, &["hand-back", &id], 14, &["nobody took it over"]);
    let landed = PlayedRun::accepted();
    let id = landed.id();
    changes_nothing(&landed, &["approve", &id], 14, &["it is landed already"]);
    changes_nothing(&landed, &["reject", &id, "--reason", "no"], 14, &["the change is accepted"]);
    changes_nothing(&landed, &["take-over", &id], 14, &["the change is accepted; land it instead"]);
    let working = PlayedRun::interrupted();
    let id = working.id();
    changes_nothing(&working, &["skip", &id], 14, &["the run has not ended"]);
    changes_nothing(&working, &["take-over", &id], 14, &["the run has not ended"]);
}
