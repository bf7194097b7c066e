//! Checkouts whose files are not, byte for byte, what is committed, though git calls them clean; and what `--allow-dirty`
//! takes along from them.

use super::plant::{ADDING_ACTUATOR, BRANCH, Plant, counting_controller};

/// A file is stored with its letters turned, as a program that encrypts would store it.
fn with_filter() -> Plant {
    let plant = Plant::flat(1);
    plant.repository.git(&["config", "filter.turn.clean", "tr a-m n-z"]);
    plant.repository.git(&["config", "filter.turn.smudge", "tr n-z a-m"]);
    plant.repository.write(".gitattributes", "*.secret filter=turn\n").write("key.secret", "abc\n");
    plant.repository.commit("a file that a filter makes");
    assert_eq!(plant.repository.git(&["cat-file", "-p", "HEAD:key.secret"]), "nop");
    plant
}

#[test]
fn a_checkout_that_git_calls_clean_is_not_dirty() {
    let plant = with_filter();
    let check = ["control", "check", "--repo", plant.repository.text()];
    let _ = plant.world.windlass(&["trust", "--repo", plant.repository.text()]).exits_with(0);
    let _ = plant.world.windlass(&check).exits_with(0);
    let _ = plant.count_to(1, &[]).exits_with(0);
    assert_eq!(plant.repository.git(&["cat-file", "-p", &format!("{BRANCH}:key.secret")]), "nop");
}

#[test]
fn what_is_taken_along_is_what_git_would_commit() {
    let plant = with_filter();
    plant.repository.write("key.secret", "abcd\n");
    let _ = plant.count_to(1, &["--allow-dirty"]).exits_with(0);
    assert_eq!(plant.repository.git(&["cat-file", "-p", &format!("{BRANCH}:key.secret")]), "nopq");
}

#[test]
fn a_sparse_checkout_loses_nothing() {
    let plant = Plant::flat(1);
    plant.repository.write("big/file", "b\n").write("small/file", "s\n").commit("directories");
    plant.repository.git(&["sparse-checkout", "set", "small", ".claude"]);
    plant.repository.write("small/file", "changed\n");
    let _ = plant.count_to(1, &["--allow-dirty"]).exits_with(0);
    assert_eq!(plant.repository.git(&["cat-file", "-p", &format!("{BRANCH}:big/file")]), "b");
    assert_eq!(plant.repository.git(&["cat-file", "-p", &format!("{BRANCH}:small/file")]), "changed");
}

#[test]
fn a_merge_with_conflicts_is_not_taken_along() {
    let plant = Plant::flat(1);
    plant.repository.git(&["switch", "-q", "-c", "other"]);
    plant.repository.write("text", "theirs\n").commit("theirs");
    plant.repository.git(&["switch", "-q", "main"]);
    plant.repository.write("text", "ours\n").commit("ours");
    assert!(!plant.repository.git_succeeds(&["merge", "other"]));
    let refused = plant.count_to(1, &["--allow-dirty"]).exits_with(14);
    assert!(refused.stdout.contains("a merge in your checkout is not finished: text"), "{refused:?}");
}

/// What lies in the checkout is committed as it lies there, so files that a filter made have no place in such a loop.
#[test]
fn in_place_needs_the_bytes_that_are_committed() {
    let plant = with_filter();
    let refused = plant.count_to(1, &["--in-place"]).exits_with(14);
    assert!(refused.stdout.contains("byte for byte: key.secret"), "{refused:?}");
}

/// Red before: `.env` was written over, and gone after `git switch main`.
#[test]
fn in_place_writes_over_no_file_that_git_ignores() {
    let plant = Plant::flat(1);
    plant.repository.write(".gitignore", ".env\n").commit("ignores");
    plant.repository.write(".env", "KEY=1\n");
    let actuator = format!("echo '#' > .gitignore; echo KEY=example > .env\n{ADDING_ACTUATOR}");
    let ended = plant.run(&counting_controller(1), &actuator, &["--in-place"]);
    assert_ne!(ended.code, Some(0), "{ended:?}");
    assert!(ended.stdout.contains("git ignores .env"), "{ended:?}");
    assert_eq!(plant.repository.read(".env"), "KEY=1\n");
}

#[test]
fn in_place_is_not_sent_to_a_flag_that_cannot_go_with_it() {
    let plant = Plant::flat(1);
    plant.repository.write("value", "7\n");
    let refused = plant.count_to(1, &["--in-place"]);
    assert!(refused.stdout.contains("`--allow-dirty` instead of `--in-place`"), "{}", refused.stdout);
}

#[test]
fn a_reference_is_no_name_of_a_branch() {
    let plant = Plant::flat(1);
    let refused = plant.count_to(1, &["--branch", "refs/heads/y"]).exits_with(2);
    assert!(refused.stdout.contains("`--branch y`"), "{}", refused.stdout);
}
