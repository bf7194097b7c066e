//! Every way in which finalizing says no: each in words with file, place and rule, and with nothing changed.

use super::super::finalize;
use super::texts::{self, Closeout};
use super::world::{BRANCH, ROUND, WORKTREE, World, words};
use windlass_artifact_formats::roadmap_loop::round::{files, sha256_hex};
use windlass_protocols::protocol::roadmap_rounds::plane::Generation;
use windlass_protocols::protocol::roadmap_rounds::steps::{FinalizeRound, Held, WorkKind};
use windlass_protocols::{CommitId, Digest};

const MARKDOWN: Generation = Generation::StructuredMarkdown;
const ABSENT: &str = "it is not in what would be merged (rule 10)";

fn in_round(name: &str) -> String {
    files::in_round(ROUND, name)
}

fn roadmap_path() -> String {
    format!("{}/roadmap.md", texts::dir("rev-001"))
}

/// Commits whatever was done in the round's worktree, as somebody else.
fn commit_in_round(world: &World) {
    world.git_in(WORKTREE, &["add", "-A"]);
    world.git_in(WORKTREE, &["commit", "-q", "-m", "of somebody"]);
}

/// It does not merge, says this, and leaves base branch, index and files as they are.
#[track_caller]
fn is_stale(world: &World, asked: &FinalizeRound, said: &[&str]) {
    let seen = || (world.at("main"), world.git(&["status", "--porcelain"]), world.read(&roadmap_path()));
    let before = seen();
    let Err(Held::Stale { why }) = world.finalize(asked) else { panic!("it was merged, or held otherwise") };
    for words in said {
        assert!(why.contains(words), "{words} in {why}");
    }
    assert_eq!(seen(), before);
}

#[test]
fn what_its_reviewer_was_not_shown_is_not_merged() {
    let world = World::approved(MARKDOWN, &Closeout::Done);
    let shown = world.at(&format!("{BRANCH}~1"));
    let judged = |world: &World| FinalizeRound { judged: Some(shown.clone()), ..world.to_finalize() };
    world.leave("src/late.rs", "late\n");
    commit_in_round(&world);
    is_stale(&world, &judged(&world), &["src/late.rs: it is not as its reviewer was shown it (rule 11)"]);
    world.git_in(WORKTREE, &["reset", "-q", "--hard", "HEAD~1"]);
    world.finalize(&judged(&world)).unwrap();
}

#[test]
fn a_record_that_is_gone_is_named() {
    for (name, said) in [(files::PLAN, ABSENT), (files::NOTES, ABSENT)] {
        let world = World::approved(MARKDOWN, &Closeout::Done);
        world.git_in(WORKTREE, &["rm", "-q", &in_round(name)]);
        commit_staged_in_round(&world);
        is_stale(&world, &world.to_finalize(), &[&format!("{}: {said}", in_round(name))]);
    }
    let world = World::approved(Generation::Records, &Closeout::Done);
    world.git_in(WORKTREE, &["rm", "-q", &in_round(files::SELECTION_RECORD)]);
    commit_staged_in_round(&world);
    let said =
        format!("{}: it is required beside plan.md, and absent (rule 10)", in_round(files::SELECTION_RECORD));
    is_stale(&world, &world.to_finalize(), &[&said]);
    // The review itself: what was agreed on is nowhere.
    let world = World::approved(MARKDOWN, &Closeout::Done);
    let asked = world.to_finalize();
    world.git_in(WORKTREE, &["rm", "-q", &in_round(files::REVIEW)]);
    commit_staged_in_round(&world);
    let asked = FinalizeRound { head: world.at(BRANCH), ..asked };
    is_stale(
        &world,
        &asked,
        &[&in_round(files::REVIEW), "what approved the round is not there any more, or is another (rule 11)"],
    );
}

fn commit_staged_in_round(world: &World) {
    world.git_in(WORKTREE, &["commit", "-q", "-m", "of somebody"]);
}

#[test]
fn a_record_that_cannot_be_read_is_named_with_the_place() {
    for (name, from, to, said) in [
        (files::PLAN, "### Goal", "### Gaol", "the section \"### Goal\" is required"),
        (
            files::NOTES,
            "### Changes Made\n- src/main.rs: works\n",
            "### Changes Made\n",
            "### Changes Made: must not be empty",
        ),
        (files::REVIEW, "- Mode: status-only", "- Mode: whatever", "Mode"),
    ] {
        let world = World::approved(MARKDOWN, &Closeout::Done);
        let path = format!("{WORKTREE}/{}", in_round(name));
        let text = world.read(&path);
        assert!(text.contains(from), "{text}");
        world.write(&path, &text.replace(from, to));
        commit_in_round(&world);
        // What lies there now is what was agreed on: only its form is wrong.
        is_stale(&world, &world.to_finalize(), &[&in_round(name), said, "(rule 10)"]);
    }
}

#[test]
fn a_lineage_of_another_revision_is_not_merged_into_this_one() {
    let world = World::approved(MARKDOWN, &Closeout::Done);
    let path = format!("{WORKTREE}/{}", in_round(files::PLAN));
    world.write(&path, &world.read(&path).replace("rev-001", "rev-000"));
    commit_in_round(&world);
    let said =
        format!("its lineage names {}, and {} is active", texts::dir("rev-000"), texts::dir("rev-001"));
    is_stale(&world, &world.to_finalize(), &[&in_round(files::PLAN), &said, "(rule 11)"]);
}

#[test]
fn a_review_that_rejects_merges_nothing_whoever_agreed_on_it() {
    let world = World::approved(MARKDOWN, &Closeout::Done);
    let path = format!("{WORKTREE}/{}", in_round(files::REVIEW));
    let rejects = world.read(&path).replace("**APPROVED**", "**REJECTED: it is wrong**").replace(
        "- Retry target: none\n- Required changes: none",
        "- Retry target: implement\n- Required changes:\n  - Do it right.",
    );
    world.write(&path, &rejects);
    commit_in_round(&world);
    let asked = world.to_finalize();
    assert_eq!(
        asked.approval,
        Digest::new(sha256_hex(rejects.as_bytes())),
        "it is the file that was agreed on"
    );
    is_stale(&world, &asked, &[&in_round(files::REVIEW), "it rejects the round (rule 11)"]);
}

#[test]
fn a_simple_round_whose_proof_fails_is_not_merged() {
    let world = World::with_round(MARKDOWN);
    world.leave(&in_round(files::PLAN), &texts::plan("simple"));
    let notes = texts::direct_notes().replace("Result: pass", "Result: fail");
    world.leave(&texts::notes_path(), &notes);
    world.capture(WorkKind::Plan);
    world.leave(&in_round(files::REVIEW), "for the digest\n");
    let asked = FinalizeRound { approval: Digest::new(sha256_hex(notes.as_bytes())), ..world.to_finalize() };
    is_stale(&world, &asked, &[&in_round(files::NOTES), "the command did not pass"]);
}

#[test]
fn a_milestone_that_is_not_ready_is_not_this_rounds_to_close() {
    let world = World::approved(MARKDOWN, &Closeout::Done);
    let more = "\n### [pending] Later\nMilestone id: m-2\nDepends on: m-3\nIntent: x\nCompletion signal: x\n\
        Completion pointers: none\nParallel lane: main\nCoordination notes: none\nCandidate directions:\n\
        - Direction id: d-2\n  Summary: x\n";
    let third =
        more.replace("Later", "Last").replace("m-3", "none").replace("m-2", "m-3").replace("d-2", "d-3");
    world.write(&roadmap_path(), &format!("{}{more}{third}", world.read(&roadmap_path())));
    world.commit_all("more to do");
    let path = format!("{WORKTREE}/{}", in_round(files::REVIEW));
    let own = "  - `m-1`: pending -> done";
    let text = world.read(&path);
    world.write(&path, &text.replace(own, &format!("{own}\n  - `m-2`: pending -> done")));
    commit_in_round(&world);
    is_stale(
        &world,
        &world.to_finalize(),
        &["sets m-2 to done", "depends on m-3, which is not done", "(rule 12)"],
    );
}

#[test]
fn a_roadmap_on_the_base_that_breaks_a_rule_takes_no_closeout() {
    let world = World::approved(MARKDOWN, &Closeout::Done);
    world.write(&roadmap_path(), &world.read(&roadmap_path()).replace("## Goal\n", "## Gaol\n"));
    world.commit_all("a slip");
    is_stale(&world, &world.to_finalize(), &[&roadmap_path(), "Goal", "(rule 25.2)"]);
}

#[test]
fn a_base_that_is_gone_and_a_branch_from_elsewhere_are_refused() {
    let world = World::approved(MARKDOWN, &Closeout::Done);
    let refused = |asked: &FinalizeRound, base_branch: &str| {
        let mut plane = world.plane();
        plane.base_branch = base_branch.to_owned();
        words(finalize::run(&world.site(&world.reopened(), "finalize"), asked, &plane).unwrap_err())
    };
    let asked = world.to_finalize();
    assert_eq!(refused(&asked, "nowhere"), "the base branch nowhere is gone");
    let tree = world.git(&["rev-parse", &format!("{BRANCH}^{{tree}}")]);
    let stranger = CommitId::new(world.git(&["commit-tree", &tree, "-m", "from elsewhere"]));
    let why = refused(&FinalizeRound { head: stranger, ..asked }, "main");
    assert_eq!(why, format!("{BRANCH} has no history in common with the base branch"));
}

#[test]
fn something_staged_is_in_the_way_and_stays_staged() {
    let world = World::approved(MARKDOWN, &Closeout::Done);
    world.write("half.txt", "half\n");
    world.git(&["add", "half.txt"]);
    let base = world.at("main");
    let Err(Held::InTheWay { why }) = world.finalize(&world.to_finalize()) else { panic!("it was merged") };
    assert!(why.contains("half.txt"), "{why}");
    assert_eq!(
        (world.at("main"), world.git(&["diff", "--cached", "--name-only"])),
        (base, "half.txt".to_owned())
    );
    world.git(&["reset", "-q"]);
    world.finalize(&world.to_finalize()).unwrap();
}
