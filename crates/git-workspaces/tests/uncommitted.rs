//! What a person changed is what their own git calls changed, and what is taken along is what it would commit.
#![expect(clippy::unwrap_used, reason = "a helper of a test fails by panicking")]

mod support;

use std::fs;

use support::{SEARCH_PATH, World};
use windlass_git_workspaces::{Commit, PersonsEnvironment, Repository};

fn environment(world: &World) -> PersonsEnvironment {
    let home = world.path(".").to_string_lossy().into_owned();
    let wrong = ("GIT_DIR", "/nowhere".to_owned());
    PersonsEnvironment::of([("PATH", SEARCH_PATH.to_owned()), ("HOME", home), wrong])
}

fn changed(world: &World) -> Vec<String> {
    let found = world.open().uncommitted(&environment(world)).unwrap();
    found.changed.iter().map(ToString::to_string).collect()
}

/// The tree of everything that was changed, and the listing that git gives of it.
fn taken_along(world: &World) -> (Repository, Commit, String) {
    let (repository, base) = world.ready();
    let found = repository.uncommitted(&environment(world)).unwrap();
    let tree = repository.with_uncommitted(&base, &found, &environment(world)).unwrap();
    // Nothing of it may depend on the person's own store.
    let git_dir = world.path("control");
    let listed = world.git(&git_dir, &["--git-dir", ".", "ls-tree", "-r", tree.as_str()]);
    let _ = world.git(&git_dir, &["--git-dir", ".", "rev-list", "--objects", tree.as_str()]);
    (repository, base, listed)
}

/// What the person would commit, by their own git in an index of its own.
fn would_commit(world: &World) -> String {
    world.shell(&world.repo, "cp .git/index ../theirs && GIT_INDEX_FILE=../theirs git add -A && GIT_INDEX_FILE=../theirs git write-tree > ../tree");
    let tree = fs::read_to_string(world.path("tree")).unwrap();
    world.git(&world.repo, &["ls-tree", "-r", tree.trim()])
}

/// Letters are stored turned, as a program that encrypts would store them.
fn with_filter(world: &World) {
    world.git(&world.repo, &["config", "filter.turn.clean", "tr a-m n-z"]);
    world.git(&world.repo, &["config", "filter.turn.smudge", "tr n-z a-m"]);
    world.write(".gitattributes", "*.secret filter=turn\n*.dos text eol=crlf\n");
    world.write("key.secret", "abc\n");
    world.write("lines.dos", "one\r\ntwo\r\n");
    world.commit_all("with filters");
}

#[test]
fn what_filters_and_line_ends_made_of_a_file_is_no_change() {
    let world = World::new();
    with_filter(&world);
    assert_eq!(changed(&world), Vec::<String>::new());
    // Git has to read it again, and still calls it the same.
    world.write("key.secret", "abc\n");
    assert_eq!(changed(&world), Vec::<String>::new());
    world.write("key.secret", "abcd\n");
    assert_eq!(changed(&world), ["key.secret"]);
}

#[test]
fn what_is_taken_along_went_through_the_filters() {
    let world = World::new();
    with_filter(&world);
    world.write("key.secret", "abcd\n");
    world.write("more.secret", "def\n");
    world.write("lines.dos", "one\r\nthree\r\n");
    fs::remove_file(world.repo.join("tool.sh")).unwrap();
    let (.., listed) = taken_along(&world);
    assert_eq!(listed, would_commit(&world));
    assert!(!listed.contains("tool.sh"), "{listed}");
}

#[test]
fn what_a_sparse_checkout_leaves_out_is_there_all_the_same() {
    let world = World::new();
    world.git(&world.repo, &["sparse-checkout", "set", "src/deep"]);
    assert!(!world.repo.join("tool").exists());
    world.git(&world.repo, &["sparse-checkout", "set", "--no-cone", "/src/deep/", "/.gitignore"]);
    assert!(!world.repo.join("readme.txt").exists());
    assert_eq!(changed(&world), Vec::<String>::new());
    world.write("src/deep/er/data.bin", "other\n");
    let (.., listed) = taken_along(&world);
    assert!(listed.contains("readme.txt") && listed.contains("src/main.rs"), "{listed}");
    assert_eq!(listed, would_commit(&world));
}

#[test]
fn what_the_person_told_git_not_to_look_at_is_not_looked_at() {
    let world = World::new();
    world.git(&world.repo, &["update-index", "--skip-worktree", "readme.txt"]);
    world.git(&world.repo, &["update-index", "--assume-unchanged", "tool.sh"]);
    world.write("readme.txt", "mine\n");
    world.write("tool.sh", "mine\n");
    fs::write(world.path("ignored-everywhere"), "*.swp\n").unwrap();
    let everywhere = world.path("ignored-everywhere");
    world.git(&world.repo, &["config", "--global", "core.excludesFile", everywhere.to_str().unwrap()]);
    world.write("a.swp", "x\n");
    assert_eq!(changed(&world), Vec::<String>::new());
}

#[test]
fn what_was_staged_and_is_not_looked_for_in_the_checkout_comes_along() {
    let world = World::new();
    world.write("readme.txt", "staged only\n");
    world.git(&world.repo, &["add", "readme.txt"]);
    world.git(&world.repo, &["update-index", "--skip-worktree", "readme.txt"]);
    fs::remove_file(world.repo.join("readme.txt")).unwrap();
    world.git(&world.repo, &["rm", "-q", "--cached", "tool.sh"]);
    world.write("src/main.rs", "fn main() { }\n");
    let (.., listed) = taken_along(&world);
    assert_eq!(listed, would_commit(&world));
    assert!(listed.contains("readme.txt"), "{listed}");
}

#[test]
fn files_that_became_directories_and_the_other_way_round_are_taken_as_they_are() {
    let world = World::new();
    fs::remove_file(world.repo.join("readme.txt")).unwrap();
    world.write("readme.txt/now", "a directory\n");
    fs::remove_dir_all(world.repo.join("src")).unwrap();
    world.write("src", "a file\n");
    world.write("odd \"name\"\n of many\twords", "x\n");
    let (.., listed) = taken_along(&world);
    assert_eq!(listed, would_commit(&world));
}

#[test]
fn a_conflict_is_told_apart_from_a_change() {
    let world = World::new();
    world.git(&world.repo, &["checkout", "-q", "-b", "other"]);
    world.write("readme.txt", "theirs\n");
    world.commit_all("theirs");
    world.git(&world.repo, &["checkout", "-q", "main"]);
    world.write("readme.txt", "ours\n");
    world.commit_all("ours");
    let _ = world.try_git(&world.repo, &["merge", "other"]).unwrap_err();
    let found = world.open().uncommitted(&environment(&world)).unwrap();
    assert_eq!(found.unmerged.iter().map(ToString::to_string).collect::<Vec<_>>(), ["readme.txt"]);
}

/// Git's own status would take the lock to write down what it saw; a person may be at work beside us.
#[test]
fn looking_changes_nothing_and_runs_no_hook() {
    let world = World::new();
    let hook = world.repo.join(".git/hooks/post-index-change");
    fs::create_dir_all(hook.parent().unwrap()).unwrap();
    support::write(&hook, "#!/bin/sh\ntouch ../ran\n");
    support::chmod(&hook, 0o755);
    world.git(&world.repo, &["config", "core.fsmonitor", "touch ../ran; false"]);
    world.write("readme.txt", "hello\n");
    world.write("new", "x\n");
    let before = fs::read(world.repo.join(".git/index")).unwrap();
    let _ = taken_along(&world);
    assert_eq!(fs::read(world.repo.join(".git/index")).unwrap(), before);
    assert!(!world.path("ran").exists());
}
