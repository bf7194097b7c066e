//! A repository where there was none, and its first commit.
#![expect(clippy::unwrap_used, reason = "a helper of a test fails by panicking")]

mod support;

use std::ffi::OsStr;
use std::fs;
use support::{NOON, SEARCH_PATH, World};
use windlass_git_workspaces::{
    Checkout, Commit, CommitRequest, FastForward, Git, Identity, NotFastForwarded, Overlay, Repository,
};

fn first(repository: &Repository, files: &[(&str, &str)]) -> Commit {
    let nothing = repository.empty_tree().unwrap();
    let files: Vec<(String, Vec<u8>)> =
        files.iter().map(|(path, text)| ((*path).to_owned(), text.as_bytes().to_vec())).collect();
    let parts = Overlay { content: &nothing, replaced: &[], removed: &[], files: &files };
    let tree = repository.overlay(&parts).unwrap();
    let me = Identity::new("N", "n@x").unwrap();
    let request = CommitRequest {
        tree: &tree,
        parents: &[],
        message: "first",
        author: &me,
        committer: &me,
        time: NOON,
    };
    repository.publish_new(&request, &nothing).unwrap()
}

#[test]
fn a_directory_becomes_a_repository_and_its_first_commit_leaves_other_files_alone() {
    let root = tempfile::tempdir().unwrap();
    let place = root.path().canonicalize().unwrap().join("place");
    fs::create_dir(&place).unwrap();
    fs::write(place.join("mine.txt"), "mine").unwrap();
    let git = Git::locate(OsStr::new(SEARCH_PATH)).unwrap();
    git.begin_repository(&place).unwrap();
    git.begin_repository(&place).unwrap();
    let checkout = Checkout::discover(&place).unwrap();
    let repository = Repository::open(git, checkout, &root.path().join("control")).unwrap();
    assert_eq!(repository.current_branch().unwrap().as_deref(), Some("refs/heads/main"));
    let commit = first(&repository, &[("a/b.txt", "b\n"), ("c.txt", "c\n")]);
    // A killed attempt may have come as far as this.
    fs::write(place.join("c.txt"), "c\n").unwrap();
    for _ in 0..2 {
        assert_eq!(repository.first_commit(&commit).unwrap(), FastForward::Done);
        assert_eq!(repository.head().unwrap(), commit);
        assert_eq!(fs::read_to_string(place.join("a/b.txt")).unwrap(), "b\n");
    }
    let world = World { root, repo: place };
    assert_eq!(world.git(&world.repo, &["status", "--porcelain"]).trim(), "?? mine.txt");
}

#[test]
fn files_in_the_way_and_staged_files_are_refused_and_nothing_is_touched() {
    let world = World::empty("repo", &[]);
    let repository = world.open();
    let commit = first(&repository, &[("a.txt", "ours\n"), ("b.txt", "b\n")]);
    world.write("a.txt", "theirs\n");
    let refused = repository.first_commit(&commit).unwrap();
    assert!(
        matches!(&refused, FastForward::Refused(NotFastForwarded::InTheWay { detail }) if detail.contains("a.txt")),
        "{refused:?}"
    );
    assert!(!world.repo.join("b.txt").exists());
    fs::remove_file(world.repo.join("a.txt")).unwrap();
    world.write("staged.txt", "x");
    world.git(&world.repo, &["add", "staged.txt"]);
    let refused = repository.first_commit(&commit).unwrap();
    assert!(
        matches!(&refused, FastForward::Refused(NotFastForwarded::InTheWay { detail }) if detail.contains("staged.txt")),
        "{refused:?}"
    );
    assert!(repository.read_reference("refs/heads/main").unwrap().is_none());
}

#[test]
fn a_branch_that_has_a_commit_by_now_is_left_alone() {
    let world = World::empty("repo", &[]);
    let repository = world.open();
    let commit = first(&repository, &[("a.txt", "ours\n")]);
    world.write("other.txt", "x");
    world.commit_all("theirs");
    let refused = repository.first_commit(&commit).unwrap();
    assert!(matches!(refused, FastForward::Refused(NotFastForwarded::HeadMoved { .. })), "{refused:?}");
    assert!(!world.repo.join("a.txt").exists());
}
