//! The base that moved and what workers made come into the round's branch; what does not fit is marked and named.

use super::super::site::Stop;
use super::texts::{self, Closeout};
use super::world::{BRANCH, ROUND, WORKTREE, World, words};
use windlass_protocols::Millis;
use windlass_protocols::protocol::roadmap_rounds::plane::Generation;
use windlass_protocols::protocol::roadmap_rounds::steps::CombineWork;

const MARKDOWN: Generation = Generation::StructuredMarkdown;

fn approved() -> World {
    World::approved(MARKDOWN, &Closeout::Done)
}

#[test]
fn a_base_that_moved_elsewhere_comes_in_as_a_merge() {
    let world = approved();
    world.write("src/other.rs", "other\n");
    world.commit_all("of somebody");
    let asked = CombineWork {
        round: ROUND.to_owned(),
        branch: BRANCH.to_owned(),
        worktree: WORKTREE.to_owned(),
        head: world.at(BRANCH),
        with: vec![world.at("main")],
        decided_at: Millis(5_000),
    };
    let (head, conflicts) = world.combine_as(&asked).unwrap();
    assert_eq!((&head, conflicts), (&world.at(BRANCH), vec![]));
    let parents = world.git(&["rev-parse", &format!("{BRANCH}^@")]);
    assert_eq!(parents, format!("{}\n{}", asked.head, asked.with[0]));
    assert_eq!(world.read(&format!("{WORKTREE}/src/other.rs")), "other\n");
    world.is_settled(WORKTREE, BRANCH);
    assert_eq!(world.combine_as(&asked).unwrap().0, head);
    // From now on the round stands on the base as it is.
    assert_eq!(world.git(&["merge-base", BRANCH, "main"]), world.at("main").as_str());
    assert_eq!(world.combine(&["main"]).unwrap().0, head);
}

#[test]
fn what_does_not_fit_is_marked_in_the_worktree_for_the_implementer() {
    let world = approved();
    world.write("src/main.rs", "fn main() { other(); }\n");
    world.commit_all("of somebody");
    let (_, conflicts) = world.combine(&["main"]).unwrap();
    assert_eq!(conflicts, ["src/main.rs"]);
    let marked = world.read(&format!("{WORKTREE}/src/main.rs"));
    assert!(marked.contains("<<<<<<< round-004\nfn main() { work(); }\n=======\n"), "{marked}");
    world.is_settled(WORKTREE, BRANCH);
}

#[test]
fn a_conflict_in_the_plane_is_not_left_to_a_role_that_may_not_write_there() {
    let world = World::with_round(MARKDOWN);
    // Another controller committed its view of the contract on the round's branch.
    world.leave("orchestrator/project-contract.md", "theirs\n");
    world.git_in(WORKTREE, &["commit", "-q", "-a", "-m", "foreign"]);
    world.write("orchestrator/project-contract.md", "the base's\n");
    world.commit_all("of somebody");
    let (_, conflicts) = world.combine(&["main"]).unwrap();
    assert_eq!(conflicts, [""; 0]);
    assert_eq!(world.file_at(BRANCH, "orchestrator/project-contract.md"), "the base's");
}

#[test]
fn several_workers_become_one_merge() {
    let world = approved();
    for worker in ["a", "b"] {
        world.git(&["checkout", "-q", "-b", &format!("worker-{worker}"), BRANCH, "--ignore-other-worktrees"]);
        world.write(&format!("src/{worker}.rs"), "share\n");
        world.commit_all("share");
    }
    world.git(&["checkout", "-q", "main"]);
    let (_, conflicts) = world.combine(&["worker-a", "worker-b"]).unwrap();
    assert_eq!(conflicts, [""; 0]);
    for worker in ["a", "b"] {
        assert_eq!(world.read(&format!("{WORKTREE}/src/{worker}.rs")), "share\n");
    }
    assert_eq!(world.git(&["rev-parse", &format!("{BRANCH}^@")]).lines().count(), 3);
}

#[test]
fn work_that_nobody_committed_is_kept_before_the_worktree_moves() {
    let world = approved();
    world.leave("src/by-hand.rs", "a person's\n");
    world.write("src/other.rs", "other\n");
    world.commit_all("of somebody");
    world.combine(&["main"]).unwrap();
    let kept = world.git(&["for-each-ref", "--format=%(refname)", "refs/windlass/kept/"]);
    assert_eq!(world.file_at(&kept, "src/by-hand.rs"), "a person's");
    assert!(!world.repo.join(WORKTREE).join("src/by-hand.rs").exists());
}

#[test]
fn a_branch_that_moved_meanwhile_is_left_alone() {
    let world = approved();
    let head = world.at(BRANCH);
    world.leave(&texts::notes_path(), "other notes\n");
    world.git_in(WORKTREE, &["commit", "-q", "-a", "-m", "a person's"]);
    let moved = world.at(BRANCH);
    world.write("src/other.rs", "other\n");
    world.commit_all("of somebody");
    let asked = CombineWork {
        round: ROUND.to_owned(),
        branch: BRANCH.to_owned(),
        worktree: WORKTREE.to_owned(),
        head,
        with: vec![world.at("main")],
        decided_at: Millis(5_000),
    };
    let stop = world.combine_as(&asked).unwrap_err();
    assert!(matches!(&stop, Stop::Refused(_)));
    assert!(words(stop).contains("does not stand at"));
    assert_eq!(world.at(BRANCH), moved);
}
