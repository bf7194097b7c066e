//! What is left of a run when the world around it changed: branches moved, mail too late, directories gone.

use super::{killed_at, places};
use crate::journal_file::JournalFile;
use crate::played_run::{PlayedRun, waiting_doer};
use windlass_test_support::{tree_hash, wait_until};

fn verified(played: &PlayedRun) -> String {
    played.about("verify", &[]).exits_with(0).stdout
}

#[test]
fn verify_says_where_the_landed_commit_can_be_found_today() {
    let played = PlayedRun::accepted();
    let repository = &played.repository;
    let commit = repository.git(&["rev-parse", "windlass/TASK-1"]);
    let tree = repository.git(&["rev-parse", "windlass/TASK-1^{tree}"]);
    let says = |words: &str| {
        let said = verified(&played);
        let expected = format!("{commit} holds exactly the judged tree {tree}; {words}\n");
        assert!(said.contains(&expected), "not `{words}` but\n{said}");
    };
    says("windlass/TASK-1 has it");
    // Somebody goes on from there.
    repository.git(&["checkout", "--quiet", "windlass/TASK-1"]);
    repository.write("more.txt", "x").commit("more");
    repository.git(&["checkout", "--quiet", "main"]);
    says("windlass/TASK-1 has it");
    repository.git(&["branch", "--force", "windlass/TASK-1", "main"]);
    says("windlass/TASK-1 no longer has it and no branch has it, so git may drop it one day");
    repository.git(&["merge", "--quiet", "--ff-only", &commit]);
    repository.git(&["branch", "--force", "windlass/TASK-1", "main~1"]);
    says("windlass/TASK-1 no longer has it, main has it");
    repository.git(&["branch", "-D", "windlass/TASK-1"]);
    says("windlass/TASK-1 is gone, main has it");
}

fn post_a_stop(played: &PlayedRun) {
    let id = played.id();
    let body = r#"{"stop":"too late","by":"somebody"}"#;
    let insert = format!("INSERT INTO messages (run, body, at) VALUES ('{id}', '{body}', 1)");
    JournalFile::of(played).execute(&insert);
}

#[test]
fn a_stop_that_came_too_late_does_not_stop_the_reopened_run() {
    let played = PlayedRun::judged(&["reject", "pass"]);
    let _ = played.run(&["--rounds", "1"]).exits_with(10);
    post_a_stop(&played);
    // The second round must live long enough to look into the mailbox.
    let slow = waiting_doer();
    std::fs::write(played.world.shared("agent.toml"), slow.text()).unwrap();
    let before = played.world.steps().len();
    let id = played.id();
    let running = played.world.start_windlass(&["resume", &id, "--rounds", "+1"]);
    wait_until("the doer", || (played.world.steps().len() > before).then_some(()));
    let mailbox_is_empty = || JournalFile::of(&played).count("messages") == 0;
    wait_until("the mail to be gone", || mailbox_is_empty().then_some(()));
    played.go();
    let _ = running.wait().exits_with(0);
    assert!(!played.about("log", &[]).stdout.contains("too late"));
}

#[test]
fn a_stop_that_waits_for_an_unfinished_run_is_honoured() {
    let played = PlayedRun::interrupted();
    post_a_stop(&played);
    let stopped = played.about("resume", &[]).exits_with(13);
    assert!(stopped.stdout.contains("too late"), "{}", stopped.stdout);
    assert_eq!(played.line()["status"], "stopped");
}

/// A repository within a repository; the inner one is where the run was made.
fn inner_and_outer() -> (PlayedRun, std::path::PathBuf) {
    let mut played = PlayedRun::judged(&["reject", "pass"]);
    let outer = std::mem::replace(&mut played.repository, played.world.repository("repo/inner"));
    (played, outer.path().to_owned())
}

#[test]
fn a_repository_that_is_gone_is_not_replaced_by_the_one_around_it() {
    let (played, outer) = inner_and_outer();
    let _ = played.run(&["--rounds", "1"]).exits_with(10);
    std::fs::remove_dir_all(played.repository.path().join(".git")).unwrap();
    let before = tree_hash(&outer, &[]);
    let id = played.id();
    for words in [&["resume", &id, "--rounds", "+1"][..], &["clean", &id]] {
        let refused = played.world.windlass(words).exits_with(2);
        assert!(refused.stderr.contains("error[WL-GIT-002]"), "{words:?}: {}", refused.stderr);
        assert!(refused.stderr.contains("is no longer the repository of this run"), "{}", refused.stderr);
    }
    assert_eq!(tree_hash(&outer, &[]), before, "the outer repository was touched");
    assert_eq!(played.world.steps(), ["doer 1 1", "judge 1 1"]);
}

#[test]
fn a_run_whose_directory_was_deleted_is_taken_up_again_with_its_last_change() {
    let played = PlayedRun::judged(&["reject", "pass"]);
    let _ = played.run(&["--rounds", "1"]).exits_with(10);
    std::fs::remove_dir_all(played.repository.path().join(".orchestrator")).unwrap();
    let _ = played.about("resume", &["--rounds", "+1"]).exits_with(0);
    // The second round adds to what the first one left.
    assert_eq!(played.repository.git(&["show", "windlass/TASK-1:done.txt"]), "moremore");
    let _ = played.about("verify", &[]).exits_with(0);
}

#[test]
fn an_unfinished_run_whose_directory_was_deleted_goes_on() {
    let mut numbered = (1..).zip(places(&[]));
    let mut agents = numbered.by_ref().filter(|(_, place)| place == "spawn.before");
    let (judge, _) = agents.nth(1).expect("a judge was started");
    let played = killed_at(judge, &[]);
    std::fs::remove_dir_all(played.repository.path().join(".orchestrator")).unwrap();
    let _ = played.about("resume", &[]).exits_with(0);
    assert_eq!(played.repository.git(&["show", "windlass/TASK-1:done.txt"]), "done");
    assert_eq!(played.world.steps(), ["doer 1 1", "judge 1 1", "auditor 1 1"]);
    let _ = played.about("verify", &[]).exits_with(0);
}
