//! Worktrees that stand on a branch: made for one that is there, found whoever made them, moved with what is ignored kept.
#![expect(clippy::unwrap_used, reason = "a helper of a test fails by panicking")]

mod support;

use std::fs;
use std::path::{Path, PathBuf};

use support::{World, write};
use windlass_git_workspaces::{Commit, GitError, NewWorktree, Repository, SnapshotLimits};

const BRANCH: &str = "orchestrator/round-001-x";

struct Round {
    world: World,
    repository: Repository,
    base: Commit,
    path: PathBuf,
}

fn round() -> Round {
    let world = World::new();
    world.write(".gitignore", "*.ignored\n/target/\n/orchestrator/worktrees/\n");
    world.commit_all("ignore worktrees");
    let (repository, base) = world.ready();
    let path = world.repo.join("orchestrator/worktrees/round-001");
    Round { world, repository, base, path }
}

impl Round {
    fn wanted(&self) -> NewWorktree<'_> {
        NewWorktree { path: &self.path, branch: BRANCH, key: "round-001" }
    }

    fn git(&self, arguments: &[&str]) -> String {
        self.world.git(&self.path, arguments)
    }

    fn branch_at(&self) -> String {
        self.world.git(&self.world.repo, &["rev-parse", BRANCH])
    }

    fn is_clean_on_its_branch(&self) {
        assert_eq!(self.git(&["symbolic-ref", "--short", "HEAD"]), BRANCH);
        assert_eq!(self.git(&["status", "--porcelain"]), "");
        assert_eq!(self.world.git(&self.world.repo, &["status", "--porcelain"]), "");
    }
}

#[test]
fn a_worktree_is_made_inside_the_checkout_on_a_new_branch() {
    let round = round();
    for _ in 0..2 {
        round.repository.open_worktree(&round.wanted(), &round.base).unwrap();
        round.is_clean_on_its_branch();
        assert_eq!(round.branch_at(), round.base.id.as_str());
    }
}

#[test]
fn one_that_is_gone_comes_back_at_what_its_branch_holds() {
    let round = round();
    round.repository.open_worktree(&round.wanted(), &round.base).unwrap();
    write(&round.path.join("made"), "work\n");
    round.git(&["add", "-A"]);
    round.git(&["commit", "-q", "-m", "work"]);
    fs::remove_dir_all(&round.path).unwrap();
    let head = round.repository.resolve_commit(&format!("refs/heads/{BRANCH}")).unwrap();
    round.repository.import(&head).unwrap();
    round.repository.open_worktree(&round.wanted(), &head).unwrap();
    round.is_clean_on_its_branch();
    assert_eq!(fs::read_to_string(round.path.join("made")).unwrap(), "work\n");
}

#[test]
fn a_branch_that_stands_elsewhere_is_not_moved() {
    let round = round();
    round.world.git(&round.world.repo, &["branch", BRANCH, "HEAD~1"]);
    let error = round.repository.open_worktree(&round.wanted(), &round.base).unwrap_err();
    assert!(matches!(error, GitError::BranchTaken { .. }), "{error}");
    assert!(!round.path.exists());
}

fn add_by_hand(round: &Round, options: &[&str]) {
    let path = round.path.to_str().unwrap();
    let arguments: Vec<&str> = ["worktree", "add", "-q"].iter().chain(options).copied().collect();
    round.world.git(&round.world.repo, &[arguments.as_slice(), &[path]].concat());
}

#[test]
fn one_that_a_person_made_on_that_branch_is_taken_as_it_is() {
    let round = round();
    add_by_hand(&round, &["-b", BRANCH]);
    write(&round.path.join("readme.txt"), "not committed\n");
    let worktree = round.repository.open_worktree(&round.wanted(), &round.base).unwrap();
    assert_eq!(fs::read_to_string(round.path.join("readme.txt")).unwrap(), "not committed\n");
    assert!(round.repository.stands(&worktree));
    assert_eq!(round.repository.linked_worktree(&round.path).unwrap(), worktree);
    assert_eq!(round.world.git(&round.world.repo, &["worktree", "list"]).lines().count(), 2);
    // Gone with its directory, it is made again under the name git has for it.
    fs::remove_dir_all(&round.path).unwrap();
    round.repository.open_worktree(&round.wanted(), &round.base).unwrap();
    assert_eq!(round.world.git(&round.world.repo, &["worktree", "list"]).lines().count(), 2);
    round.is_clean_on_its_branch();
}

#[test]
fn one_on_another_branch_and_a_directory_of_somebody_are_refused_and_left() {
    let other = round();
    add_by_hand(&other, &["-b", "elsewhere"]);
    let error = other.repository.open_worktree(&other.wanted(), &other.base).unwrap_err();
    assert!(error.to_string().contains("not on orchestrator/round-001-x"), "{error}");
    let directory = round();
    write(&directory.path.join("notes"), "mine\n");
    let error = directory.repository.open_worktree(&directory.wanted(), &directory.base).unwrap_err();
    assert!(matches!(error, GitError::NotOurs { .. }), "{error}");
    assert_eq!(fs::read_to_string(directory.path.join("notes")).unwrap(), "mine\n");
}

#[test]
fn one_of_a_control_directory_that_is_lost_is_taken_over() {
    let round = round();
    round.repository.open_worktree(&round.wanted(), &round.base).unwrap();
    write(&round.path.join("made"), "work\n");
    fs::remove_dir_all(round.world.path("control")).unwrap();
    let (repository, base) = round.world.ready();
    let worktree = repository.open_worktree(&round.wanted(), &base).unwrap();
    assert!(repository.stands(&worktree));
    assert_eq!(fs::read_to_string(round.path.join("made")).unwrap(), "work\n");
}

fn snapshot(round: &Round) -> windlass_git_workspaces::TreeId {
    let limits = SnapshotLimits::default();
    round.repository.snapshot(&round.path, "round-001", &round.base.tree, limits).unwrap().tree
}

#[test]
fn a_turned_worktree_holds_the_tree_and_keeps_what_git_ignores() {
    let round = round();
    let worktree = round.repository.open_worktree(&round.wanted(), &round.base).unwrap();
    write(&round.path.join("target/out.o"), "built\n");
    write(&round.path.join("src/new/file.rs"), "new\n");
    write(&round.path.join("readme.txt"), "changed\n");
    fs::remove_file(round.path.join("tool.sh")).unwrap();
    let found = snapshot(&round);
    assert_ne!(found, round.base.tree);
    round.repository.turn(&round.path, "round-001", &found, &round.base.tree).unwrap();
    round.repository.settle_on_branch(&worktree, "round-001", BRANCH).unwrap();
    round.is_clean_on_its_branch();
    assert_eq!(fs::read_to_string(round.path.join("readme.txt")).unwrap(), "hello\n");
    assert!(!round.path.join("src/new").exists());
    assert_eq!(fs::read_to_string(round.path.join("target/out.o")).unwrap(), "built\n");
    // A link is left to git, which then clears the place.
    fs::remove_file(round.path.join("link")).unwrap();
    let found = snapshot(&round);
    round.repository.turn(&round.path, "round-001", &found, &round.base.tree).unwrap();
    assert_eq!(fs::read_link(round.path.join("link")).unwrap(), Path::new("readme.txt"));
}

#[test]
fn an_agent_that_broke_its_worktree_gets_it_back_on_its_branch() {
    let round = round();
    let worktree = round.repository.open_worktree(&round.wanted(), &round.base).unwrap();
    round.git(&["checkout", "-q", "--detach"]);
    fs::remove_file(round.path.join(".git")).unwrap();
    snapshot(&round);
    round.repository.settle_on_branch(&worktree, "round-001", BRANCH).unwrap();
    round.is_clean_on_its_branch();
}
