//! The landed commit: the branch belongs to the user, the commit must stay what was judged.

use super::{does_not_hold, holds};
use crate::journal_file::JournalFile;
use crate::played_run::PlayedRun;

fn landed(played: &PlayedRun) -> String {
    let view = played.about("show", &["--json"]).exits_with(0).json();
    view["landed"]["commit"].as_str().expect("it has landed").to_owned()
}

#[test]
fn the_branch_may_move_or_go_as_long_as_the_commit_is_there() {
    let played = PlayedRun::accepted();
    let commit = landed(&played);
    played.repository.git(&["branch", "--force", "windlass/TASK-1", "main"]);
    holds(&played);
    assert_eq!(mark_of_the_landed_tree(&played), "!", "git may drop a commit that no branch has");
    played.repository.git(&["branch", "elsewhere", &commit]);
    assert_eq!(mark_of_the_landed_tree(&played), "✓");
    played.repository.git(&["branch", "-D", "elsewhere"]);
    played.repository.git(&["tag", "kept", &commit]);
    played.repository.git(&["branch", "-D", "windlass/TASK-1"]);
    holds(&played);
    assert_eq!(mark_of_the_landed_tree(&played), "!");
}

fn mark_of_the_landed_tree(played: &PlayedRun) -> String {
    let said = played.about("verify", &[]).exits_with(0).stdout;
    let line = said.lines().find(|line| line.contains("the landed tree")).unwrap_or_else(|| panic!("{said}"));
    line.split(' ').next().unwrap_or_default().to_owned()
}

#[test]
fn a_landed_commit_that_is_gone_from_the_repository_is_found() {
    let played = PlayedRun::accepted();
    let commit = landed(&played);
    played.repository.git(&["branch", "-D", "windlass/TASK-1"]);
    played.repository.git(&["reflog", "expire", "--expire=now", "--all"]);
    played.repository.git(&["prune", "--expire=now"]);
    assert!(!played.repository.git_succeeds(&["cat-file", "-e", &commit]), "git still has it");
    let said = does_not_hold(&played, &played.id()).stdout;
    assert!(said.contains("the landed commit is not in the repository"), "{said}");
}

#[test]
fn a_record_that_names_another_commit_is_found() {
    let played = PlayedRun::accepted();
    let commit = landed(&played);
    let other = played.repository.write("other.txt", "x").commit("something else");
    let journal = JournalFile::of(&played);
    let mut rows = journal.rows();
    for row in &mut rows {
        row.payload = row.payload.replace(&commit, &other);
    }
    journal.write(&journal.chained(&rows));
    let said = does_not_hold(&played, &played.id()).stdout;
    assert!(said.contains(&format!("{other} holds tree")), "{said}");
}

#[test]
fn a_commit_put_in_its_place_with_git_replace_fools_nobody() {
    let played = PlayedRun::accepted();
    let commit = landed(&played);
    let tree = played.about("show", &["--json"]).json()["tree"].as_str().unwrap().to_owned();
    let other = played.repository.write("other.txt", "x").commit("something else");
    played.repository.git(&["replace", &commit, &other]);
    let said = played.about("verify", &[]).exits_with(0).stdout;
    assert!(said.contains(&tree), "{said}");
}

#[test]
fn a_repository_that_is_gone_is_a_finding_not_a_fault() {
    let played = PlayedRun::accepted();
    let id = played.id();
    std::fs::remove_dir_all(played.repository.path()).unwrap();
    let said = does_not_hold(&played, &id).stdout;
    assert!(said.contains("the landed commit is not in the repository"), "{said}");
    assert!(said.contains("sealed artifacts"), "{said}");
}
