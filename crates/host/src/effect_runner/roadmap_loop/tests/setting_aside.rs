//! An earlier review is out of the way before the next reviewer is asked, and nothing of it is lost.

use super::texts::{self, Closeout};
use super::world::{BRANCH, ROUND, WORKTREE, World};
use windlass_artifact_formats::roadmap_loop::round::files;
use windlass_protocols::protocol::roadmap_rounds::plane::Generation;
use windlass_protocols::protocol::roadmap_rounds::steps::WorkKind;

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
