//! An earlier review is out of the way before the next reviewer is asked, and nothing of it is lost.

use super::texts::{self, Closeout};
use super::world::{BRANCH, ROUND, WORKTREE, World};
use windlass_artifact_formats::roadmap_loop::round::files;
use windlass_protocols::protocol::roadmap_rounds::plane::Generation;
use windlass_protocols::protocol::roadmap_rounds::steps::{WorkKind, WorktreePurpose};

const BOTH: [Generation; 2] = [Generation::Records, Generation::StructuredMarkdown];

#[test]
fn the_files_of_a_reviewer_go_into_the_history_and_the_same_bytes_are_an_answer_again() {
    for generation in BOTH {
        let world = World::approved(generation, &Closeout::Done);
        let before = world.at(BRANCH);
        let head = world.set_aside(WorkKind::Review, &before);
        assert_eq!((world.at(BRANCH), world.at(&format!("{BRANCH}~1"))), (head.clone(), before.clone()));
        for (path, text) in texts::reviewed(generation, &Closeout::Done) {
            assert!(!world.repo.join(WORKTREE).join(&path).exists(), "{path}");
            assert_eq!(world.file_at(before.as_str(), &path), text.trim_end());
        }
        assert!(world.repo.join(WORKTREE).join(texts::notes_path()).exists(), "what others left stays");
        world.is_settled(WORKTREE, BRANCH);
        // Killed and asked again.
        assert_eq!(world.set_aside(WorkKind::Review, &before), head);
        assert_eq!(world.at(BRANCH), head);

        for (path, text) in texts::reviewed(generation, &Closeout::Done) {
            world.leave(&path, &text);
        }
        assert!(world.capture(WorkKind::Review).files_changed > 0);
        world.finalize(&world.to_finalize()).unwrap();
    }
}

#[test]
fn what_an_interrupted_reviewer_left_is_kept_under_a_name_of_its_own() {
    let world = World::approved(Generation::StructuredMarkdown, &Closeout::Done);
    let before = world.at(BRANCH);
    world.leave(&files::in_round(ROUND, files::REVIEW), "half a review\n");
    world.leave("src/smuggled.rs", "by a reviewer\n");
    world.git_in(WORKTREE, &["add", "-A"]);
    world.git_in(WORKTREE, &["commit", "-q", "-m", "of the reviewer"]);
    let committed = world.at(BRANCH);
    let head = world.set_aside(WorkKind::Review, &before);
    assert_eq!(world.at(&format!("{BRANCH}~1")), before, "its commits are not the round's");
    assert!(!world.repo.join(WORKTREE).join("src/smuggled.rs").exists());
    assert_eq!(world.at(BRANCH), head);
    let kept = world.git(&["for-each-ref", "--format=%(objectname)", "refs/windlass/kept/"]);
    assert!(kept.lines().any(|id| id == committed.as_str()), "{kept}");
}

#[test]
fn a_worker_of_a_round_that_is_planned_anew_gets_its_plan_and_keeps_what_it_made() {
    let world = World::with_round(Generation::Records);
    let kind = || WorkKind::Worker { worker: "lexer".to_owned() };
    let (branch, worktree) = (format!("orchestrator/{ROUND}-lexer"), format!("{WORKTREE}-lexer"));
    let own = |name: &str| files::in_round(ROUND, &files::of_worker("lexer", name));
    let plan = files::in_round(ROUND, files::PLAN);
    let commit = |place: &str, message: &str| {
        world.git_in(place, &["add", "-A"]);
        world.git_in(place, &["commit", "-q", "-m", message]);
    };
    world.leave(&plan, "first\n");
    world.leave("src/shared.rs", "one\n");
    commit(WORKTREE, "planned");
    world.open(WorktreePurpose::Worker { round: ROUND.to_owned(), worker: "lexer".to_owned() }).unwrap();
    for (path, text) in [
        (own(files::HANDOFF), "Status: ready\n"),
        (own(files::NOTES), "notes\n"),
        ("src/lexer.rs".to_owned(), "made\n"),
        ("src/shared.rs".to_owned(), "of the worker\n"),
    ] {
        world.write(&format!("{worktree}/{path}"), text);
    }
    commit(&worktree, "shared");
    let before = world.at(&branch);
    world.leave(&plan, "second\n");
    world.leave("src/shared.rs", "of the round\n");
    commit(WORKTREE, "planned anew");

    let head = world.set_aside(kind(), &before);
    assert_eq!(world.at(&branch), head);
    assert_eq!(
        (world.at(&format!("{branch}^1")), world.at(&format!("{branch}^2"))),
        (world.at(BRANCH), before.clone())
    );
    let there = |path: &str| world.repo.join(&worktree).join(path).exists();
    assert!(!there(&own(files::HANDOFF)) && !there(&own(files::NOTES)), "nothing is handed over any more");
    assert_eq!(world.file_at(head.as_str(), &plan), "second");
    assert_eq!(world.file_at(head.as_str(), "src/lexer.rs"), "made");
    assert_eq!(
        world.file_at(head.as_str(), "src/shared.rs"),
        "of the round",
        "where both wrote, the round counts"
    );
    world.is_settled(&worktree, &branch);
    // Killed and asked again.
    assert_eq!(world.set_aside(kind(), &before), head);
}
