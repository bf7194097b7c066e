//! An approved round becomes exactly one commit of the base branch, with exactly the approved closeout, or nothing changes.

use super::texts::{self, Closeout};
use super::world::{BRANCH, ROUND, STATE, WORKTREE, World};
use windlass_artifact_formats::roadmap_loop::round::{
    CloseoutRecord, CloseoutStatus, FoundMerge, files, sha256_hex,
};
use windlass_protocols::protocol::roadmap_rounds::plane::Generation;
use windlass_protocols::protocol::roadmap_rounds::steps::{Held, WorkKind};
use windlass_protocols::{CommitId, Digest};

const BOTH: [Generation; 2] = [Generation::Records, Generation::StructuredMarkdown];
const MARKDOWN: Generation = Generation::StructuredMarkdown;

fn in_round(name: &str) -> String {
    files::in_round(ROUND, name)
}

fn roadmap_path() -> String {
    format!("{}/roadmap.md", texts::dir("rev-001"))
}

/// Base branch, index and files of the user, which a merge that is held must leave as they are.
fn untouched(world: &World) -> (CommitId, String, String) {
    (world.at("main"), world.git(&["status", "--porcelain"]), world.read(&roadmap_path()))
}

fn count(world: &World) -> String {
    world.git(&["rev-list", "--count", "main"])
}

#[test]
fn a_round_becomes_one_commit_with_code_artifacts_and_closeout() {
    for generation in BOTH {
        let world = World::approved(generation, &Closeout::Done);
        let (asked, base) = (world.to_finalize(), world.at("main"));
        let commit = world.finalize(&asked).unwrap();
        assert_eq!((world.at("main"), world.at("main~1")), (commit, base.clone()));
        assert_eq!(world.git(&["status", "--porcelain"]), "");
        assert_eq!(world.read("src/work.rs"), "pub fn work() {}\n");
        let roadmap = world.read(&roadmap_path());
        assert!(
            roadmap.contains("### [done] Work") && roadmap.contains("- round-004: it works"),
            "{roadmap}"
        );
        let message = world.git(&["log", "-1", "--format=%B"]);
        assert!(message.starts_with("Complete round-004: Make it work."), "{message}");
        for trailer in [
            "Windlass-Run: run-1".to_owned(),
            "Windlass-Round: round-004".to_owned(),
            "Windlass-Milestone: m-1".to_owned(),
            "Windlass-Item: item-1".to_owned(),
            format!("Windlass-Review: sha256:{}", asked.approval),
            format!("Windlass-Head: {}", asked.head),
        ] {
            assert!(message.lines().any(|line| line == trailer), "{trailer} in {message}");
        }
        match generation {
            Generation::Records => {
                let text = world.read(&in_round(files::CLOSEOUT_RECORD));
                let record = CloseoutRecord::parse(ROUND, &text).unwrap();
                assert_eq!(record.status, CloseoutStatus::Applied);
                assert_eq!(record.base_revision, base.as_str());
                let review = world.read(&in_round(files::REVIEW_RECORD));
                assert_eq!(record.differs_from_review(review.as_bytes()), None);
                assert!(
                    world.read(&format!("{}/roadmap-view.json", texts::dir("rev-001"))).contains("\"done\"")
                );
            }
            Generation::StructuredMarkdown => {
                let found = FoundMerge::parse(&world.read(&in_round(files::MERGE))).unwrap();
                assert_eq!(found.branch_commit.as_deref(), Some(asked.head.as_str()));
            }
        }
    }
}

#[test]
fn there_is_never_a_second_squash_commit() {
    let world = World::approved(MARKDOWN, &Closeout::Done);
    let asked = world.to_finalize();
    let commit = world.finalize(&asked).unwrap();
    let after = count(&world);
    assert_eq!(world.finalize(&asked).unwrap(), commit);
    // The user has gone on since.
    world.write("src/later.rs", "later\n");
    world.commit_all("later");
    assert_eq!(world.finalize(&asked).unwrap(), commit);
    // Decided anew, at another time and on the base as it is now.
    let mut again = world.to_finalize();
    again.decided_at.0 += 60_000;
    assert_eq!(world.finalize(&again).unwrap(), commit);
    assert_eq!(count(&world).parse::<u32>().unwrap(), after.parse::<u32>().unwrap() + 1);
}

#[test]
fn the_states_edits_of_the_checkout_survive_and_are_not_committed() {
    let world = World::approved(MARKDOWN, &Closeout::Done);
    let committed = world.file_at("main", STATE);
    world.write(STATE, "{\"active_rounds\": [\"live\"]}\n");
    world.finalize(&world.to_finalize()).unwrap();
    assert_eq!(world.read(STATE), "{\"active_rounds\": [\"live\"]}\n");
    assert_eq!(world.file_at("main", STATE), committed);
    assert_eq!(world.git(&["status", "--porcelain"]), format!(" M {STATE}"));
}

#[test]
fn a_committed_state_that_fell_behind_the_active_revision_is_brought_up_to_it() {
    let world = World::approved(MARKDOWN, &Closeout::Done);
    let behind = texts::state("rev-001").replace("rev-001", "rev-000");
    world.write(STATE, &behind);
    world.commit_all("of an older program");
    world.write(STATE, "{\"active_rounds\": [\"live\"]}\n");
    world.finalize(&world.to_finalize()).unwrap();
    assert_eq!(world.file_at("main", STATE) + "\n", texts::state("rev-001"));
    assert_eq!(world.read(STATE), "{\"active_rounds\": [\"live\"]}\n");
}

#[test]
fn an_index_that_another_git_keeps_is_waited_for_and_then_named() {
    let world = World::approved(MARKDOWN, &Closeout::Done);
    let lock = world.repo.join(".git/index.lock");
    std::fs::write(&lock, "").unwrap();
    let before = untouched(&world);
    let Err(Held::InTheWay { why }) = world.finalize(&world.to_finalize()) else { panic!("it was merged") };
    assert!(why.contains("another git") && why.contains(".git/index.lock"), "{why}");
    assert_eq!(untouched(&world), before);
    std::fs::remove_file(&lock).unwrap();
    assert_eq!(world.finalize(&world.to_finalize()).unwrap(), world.at("main"));
}

#[test]
fn a_state_that_somebody_committed_on_the_rounds_branch_stays_out() {
    let world = World::approved(MARKDOWN, &Closeout::Done);
    let committed = world.file_at("main", STATE);
    world.leave(STATE, "{\"active_rounds\": [\"theirs\"]}\n");
    world.git_in(WORKTREE, &["commit", "-q", "-a", "-m", "foreign"]);
    world.finalize(&world.to_finalize()).unwrap();
    assert_eq!(world.file_at("main", STATE), committed);
}

#[test]
fn a_changed_file_in_the_way_is_told_in_words_and_nothing_changes() {
    let world = World::approved(MARKDOWN, &Closeout::Done);
    world.write("src/main.rs", "fn main() { /* mine */ }\n");
    let before = untouched(&world);
    let Err(Held::InTheWay { why }) = world.finalize(&world.to_finalize()) else { panic!("it was merged") };
    assert!(why.contains("src/main.rs"), "{why}");
    assert_eq!(untouched(&world), before);
    world.git(&["checkout", "-q", "src/main.rs"]);
    world.finalize(&world.to_finalize()).unwrap();
}

#[test]
fn a_checkout_on_another_branch_is_in_the_way() {
    let world = World::approved(MARKDOWN, &Closeout::Done);
    world.git(&["checkout", "-q", "-b", "elsewhere"]);
    let Err(Held::InTheWay { why }) = world.finalize(&world.to_finalize()) else { panic!("it was merged") };
    assert!(why.contains("no longer on main"), "{why}");
}

#[test]
fn a_base_that_moved_in_code_is_looked_at_again_or_conflicts() {
    let world = World::approved(MARKDOWN, &Closeout::Done);
    let asked = world.to_finalize();
    world.write("src/other.rs", "other\n");
    world.commit_all("of somebody");
    let before = untouched(&world);
    // Since it was decided, and before it was decided.
    assert_eq!(world.finalize(&asked), Err(Held::BaseMoved));
    assert_eq!(world.finalize(&world.to_finalize()), Err(Held::BaseMoved));
    world.write("src/main.rs", "fn main() { other(); }\n");
    world.commit_all("in the same place");
    let paths = vec!["src/main.rs".to_owned()];
    assert_eq!(world.finalize(&world.to_finalize()), Err(Held::Conflicts { paths }));
    assert_eq!(world.at("main~1"), before.0);
    assert_eq!(world.git(&["status", "--porcelain"]), "");
}

#[test]
fn a_base_on_which_only_the_plane_moved_is_merged_with_the_closeout_applied_to_it() {
    for generation in BOTH {
        let world = World::approved(generation, &Closeout::Done);
        let history = windlass_artifact_formats::roadmap_loop::plane::names::history_file(texts::FAMILY);
        world.write(&history, "# History\n\n## Completed Rounds\n\n- round-003: earlier\n");
        world.write("orchestrator/rounds/round-003/review.md", "of another round\n");
        world.commit_all("Complete round-003");
        let asked = world.to_finalize();
        assert!(asked.refreshed);
        world.finalize(&asked).unwrap();
        assert!(world.read(&roadmap_path()).contains("### [done] Work"));
        assert!(world.read(&history).contains("round-003: earlier"));
        assert_eq!(world.read("orchestrator/rounds/round-003/review.md"), "of another round\n");
        if generation == Generation::Records {
            let record =
                CloseoutRecord::parse(ROUND, &world.read(&in_round(files::CLOSEOUT_RECORD))).unwrap();
            assert_eq!(record.status, CloseoutStatus::Revalidated);
            assert!(record.verification.revalidated_after_base_refresh);
            assert_eq!(record.base_revision, asked.base.as_str());
        }
    }
}

#[test]
fn a_closeout_that_does_not_fit_any_more_is_stale_and_nothing_changes() {
    for generation in BOTH {
        let world = World::approved(generation, &Closeout::Done);
        let edited = |path: &str| world.write(path, &world.read(path).replace("pending", "done"));
        edited(&roadmap_path());
        if generation == Generation::Records {
            edited(&format!("{}/roadmap-view.json", texts::dir("rev-001")));
        }
        world.commit_all("Somebody was faster");
        let before = untouched(&world);
        let Err(Held::Stale { why }) = world.finalize(&world.to_finalize()) else { panic!("it was merged") };
        assert!(why.contains("m-1") && why.contains("done already"), "{why}");
        assert_eq!(untouched(&world), before);
    }
}

#[test]
fn only_the_file_that_was_agreed_on_approves() {
    let world = World::approved(MARKDOWN, &Closeout::Done);
    let mut asked = world.to_finalize();
    asked.approval = Digest::new(sha256_hex(b"another review"));
    let Err(Held::Stale { why }) = world.finalize(&asked) else { panic!("it was merged") };
    assert!(why.contains("is another"), "{why}");
    let moved = World::approved(MARKDOWN, &Closeout::Done);
    let asked = moved.to_finalize();
    moved.leave("src/late.rs", "late\n");
    moved.capture(WorkKind::Implement);
    let Err(Held::Stale { why }) = moved.finalize(&asked) else { panic!("it was merged") };
    assert!(why.contains("moved since"), "{why}");
}

#[test]
fn edits_of_the_plane_beyond_the_closeout_are_stale() {
    for (path, found) in [
        (roadmap_path(), "edited beyond"),
        ("orchestrator/project-contract.md".to_owned(), "belongs to the control plane"),
    ] {
        let world = World::approved(MARKDOWN, &Closeout::Done);
        let inside = format!("{WORKTREE}/{path}");
        world.write(&inside, &(world.read(&inside) + "\nmore\n"));
        world.git_in(WORKTREE, &["commit", "-q", "-a", "-m", "foreign"]);
        let Err(Held::Stale { why }) = world.finalize(&world.to_finalize()) else { panic!("it was merged") };
        assert!(why.contains(found), "{why}");
    }
}

#[test]
fn a_closeout_that_another_controller_applied_in_the_worktree_is_taken() {
    let world = World::approved(MARKDOWN, &Closeout::Done);
    let inside = format!("{WORKTREE}/{}", roadmap_path());
    let applied = world.read(&inside).replace("[pending]", "[done]");
    let applied =
        applied.replace("Completion pointers: none\n", "Completion pointers:\n- round-004: it\n  works\n");
    world.write(&inside, &applied);
    world.git_in(WORKTREE, &["commit", "-q", "-a", "-m", "closeout"]);
    world.finalize(&world.to_finalize()).unwrap();
    assert!(world.read(&roadmap_path()).contains("- round-004: it works\n"));
}

#[test]
fn a_round_that_needs_a_new_roadmap_merges_without_touching_this_one() {
    for generation in BOTH {
        let world = World::approved(generation, &Closeout::Semantic);
        let before = world.read(&roadmap_path());
        world.finalize(&world.to_finalize()).unwrap();
        assert_eq!(world.read(&roadmap_path()), before);
        assert!(!world.repo.join(in_round(files::CLOSEOUT_RECORD)).exists());
        assert_eq!(world.read("src/work.rs"), "pub fn work() {}\n");
    }
}

#[test]
fn a_simple_round_is_merged_on_its_planners_evidence() {
    let world = World::with_round(MARKDOWN);
    world.leave(&in_round(files::PLAN), &texts::plan("simple"));
    world.leave(&texts::notes_path(), &texts::direct_notes());
    world.leave("src/main.rs", "fn main() { planned(); }\n");
    world.capture(WorkKind::Plan);
    world.leave(&in_round(files::REVIEW), "for the digest\n");
    let mut asked = world.to_finalize();
    asked.approval = Digest::new(sha256_hex(texts::direct_notes().as_bytes()));
    world.finalize(&asked).unwrap();
    assert!(world.read(&roadmap_path()).contains("### [done] Work"));
    assert!(world.read(&in_round(files::MERGE)).contains("direct evidence"));
}

#[test]
fn the_rounds_branch_and_worktree_stay() {
    let world = World::approved(MARKDOWN, &Closeout::Done);
    let asked = world.to_finalize();
    world.finalize(&asked).unwrap();
    assert_eq!(world.at(BRANCH), asked.head);
    world.is_settled(WORKTREE, BRANCH);
}

#[test]
fn words_that_changed_on_the_base_hold_the_merge_back_and_so_does_a_lineage_that_is_gone() {
    for generation in BOTH {
        let world = World::approved(generation, &Closeout::Done);
        world.write(&roadmap_path(), &world.read(&roadmap_path()).replace("it works", "it works on Sundays"));
        world.commit_all("other words");
        assert_eq!(world.finalize(&world.to_finalize()), Err(Held::BaseMoved), "{generation:?}");
        for path in [roadmap_path(), format!("{}/roadmap-view.json", texts::dir("rev-001"))] {
            if world.repo.join(&path).exists() {
                world.write(&path, &world.read(&path).replace("d-1", "d-2"));
            }
        }
        world.commit_all("another direction");
        let before = untouched(&world);
        let Err(Held::Stale { why }) = world.finalize(&world.to_finalize()) else { panic!("it was merged") };
        assert!(why.contains("no milestone m-1 with a direction d-1"), "{why}");
        assert_eq!(untouched(&world), before);
    }
}
