//! What lies uncommitted in the worktree of a round or an update when a run takes it up: it is committed before it counts,
//! and nothing of it is lost, whoever left it there.

use super::overtaking::kill_at;
use super::plane::{Style, milestone, round_record};
use super::play::{Closeout, Cut, Decision, NOTES, Play, Work, shell, write, writes};
use super::scene::Scene;
use serde_json::json;

const DONE: Decision = Decision::Approved(Closeout::Done { from: "pending" });
const STYLES: [Style; 2] = [Style::Records, Style::Markdown];

/// Whoever does this leaves it there and comes to no end.
pub(super) fn stays_at(mut actions: Vec<String>) -> Vec<String> {
    actions.extend([shell("touch {script_dir}/at"), "{ wait_for = 'go' }".to_owned()]);
    actions
}

fn made(cut: &Cut) -> Vec<String> {
    let code = write(&format!("src/{}.txt", cut.round), &format!("{} works\n", cut.milestone));
    vec![code, write(&cut.file("implementation-notes.md"), NOTES)]
}

#[test]
fn what_an_implementer_left_is_committed_before_it_is_reviewed() {
    for style in STYLES {
        let scene = Scene::small(style);
        let cut = scene.cut("round-001", "m-1");
        let play = Play::default().plans(&cut).step(Work("implement", 1, None), &stays_at(made(&cut)));
        kill_at(&scene, &play, "at");
        scene.completes(&Play::default().well(&cut));
        assert_eq!(scene.merged("src/round-001.txt"), "m-1 works");
        assert_eq!(scene.merged(&cut.file("implementation-notes.md")), NOTES.trim_end());
        assert_eq!(scene.works(), ["plan 1 1", "implement 1 1", "review 1 1"], "{style:?}");
        let log = scene.log();
        assert!(log.contains("round-001: 2 files that lay uncommitted in its worktree"), "{log}");
    }
}

#[test]
fn what_a_planner_left_is_committed_before_it_is_implemented() {
    for style in STYLES {
        let scene = Scene::small(style);
        let cut = scene.cut("round-001", "m-1");
        let play = Play::default().step(Work("plan", 1, None), &stays_at(writes(&cut.plan())));
        kill_at(&scene, &play, "at");
        scene.completes(&Play::default().well(&cut));
        assert_eq!(scene.works(), ["plan 1 1", "implement 1 1", "review 1 1"], "{style:?}");
        for (path, text) in cut.plan() {
            assert_eq!(scene.merged(&path), text.trim_end());
        }
        assert!(!scene.log().contains("put back"), "{}", scene.log());
    }
}

#[test]
fn a_review_beside_code_that_nobody_committed_is_asked_for_again() {
    let scene = Scene::small(Style::Records);
    let cut = scene.cut("round-001", "m-1");
    let mut review = writes(&cut.review(&DONE));
    review.push(write("src/beside.txt", "written while it was reviewed\n"));
    let play = Play::default().plans(&cut).implements(&cut).step(Work("review", 1, None), &stays_at(review));
    kill_at(&scene, &play, "at");
    scene.completes(&Play::default().well(&cut));
    assert_eq!(scene.works(), ["plan 1 1", "implement 1 1", "review 1 1", "review 1 1"]);
    assert_eq!(scene.merged("src/beside.txt"), "written while it was reviewed", "its second reviewer saw it");
}

#[test]
fn what_the_author_of_an_update_left_is_committed_before_it_is_reviewed() {
    let scene = Scene::small(Style::Markdown);
    let milestones = [milestone("m-1")];
    let mut left: Vec<String> = writes(&super::plane::bundle(Style::Markdown, "rev-002", &milestones));
    let path = "orchestrator/roadmap-updates/round-001-roadmap-update.md";
    left.push(write(path, &super::play::update(Style::Markdown, "round-001", "planner-request")));
    let play = Play::default()
        .requests(&scene.cut("round-001", "m-1"))
        .step(Work("author-update", 1, None), &stays_at(left));
    kill_at(&scene, &play, "at");
    let rest = Play::default()
        .reviews_update("round-001", None, "APPROVED")
        .well(&scene.cut("round-002", "m-1").in_revision("rev-002"));
    scene.completes(&rest);
    let works = scene.works();
    assert_eq!(works[..3], ["plan 1 1", "author-update 1 1", "review-update 1 1"], "{works:?}");
    assert!(scene.is_merged(path));
}

/// A round of another controller that commits nothing before it merges.
fn uncommitted(style: Style, stage: &str, with_review: bool) -> (Scene, Cut) {
    let scene = Scene::small(style);
    let cut = scene.cut("round-002", "m-1");
    let (branch, worktree) = ("orchestrator/round-002-theirs", "orchestrator/worktrees/round-002");
    scene.repository.git(&["worktree", "add", "-q", "-b", branch, worktree]);
    let mut files = cut.plan();
    files.push((cut.file("implementation-notes.md"), NOTES.to_owned()));
    files.push(("src/round-002.txt".to_owned(), "m-1 works\n".to_owned()));
    if with_review {
        files.extend(cut.review(&DONE));
    }
    for (path, text) in files {
        scene.repository.write(&format!("{worktree}/{path}"), &text);
    }
    scene.edit_state(|state| state["active_rounds"] = json!([round_record("round-002", stage, branch)]));
    (scene, cut)
}

#[test]
fn a_round_that_another_controller_never_committed_keeps_its_files_at_every_stage() {
    for (style, stage, with_review) in [
        (Style::Records, "plan", false),
        (Style::Markdown, "implement", false),
        (Style::Records, "review", false),
        (Style::Markdown, "review", true),
        (Style::Records, "finalize-round", true),
        (Style::Markdown, "blocked", true),
    ] {
        let (scene, cut) = uncommitted(style, stage, with_review);
        scene.completes(&Play::default().well(&cut));
        assert_eq!(scene.merged("src/round-002.txt"), "m-1 works", "{stage}");
        assert_eq!(scene.merged(&cut.file("implementation-notes.md")), NOTES.trim_end(), "{stage}");
        assert_eq!(scene.works(), ["review 2 1"], "{stage}: what nobody committed is judged once more");
    }
}

#[test]
fn a_persons_edit_while_a_reviewer_works_is_kept_and_told_with_the_way_back() {
    let scene = Scene::small(Style::Records);
    let cut = scene.cut("round-001", "m-1");
    let mut review = vec![write("src/mine.txt", "a morning's work\n")];
    review.extend(writes(&cut.review(&DONE)));
    let play = Play::default().plans(&cut).implements(&cut).step(Work("review", 1, None), &review);
    scene.completes(&play);
    assert!(!scene.is_merged("src/mine.txt"));
    let log = scene.log();
    let told = log.lines().find(|line| line.contains("put back")).expect("it is told");
    let (_, rest) = told.split_once("windlass undo ").unwrap_or_else(|| panic!("{told}"));
    let id = rest.split(['`', ' ']).next().unwrap();
    let _ = scene.world.windlass(&["undo", id]).exits_with(0);
    let (_, branch) = told.split_once("the branch ").unwrap_or_else(|| panic!("{told}"));
    let branch = branch.split([' ', ',', ';']).next().unwrap();
    assert_eq!(scene.repository.git(&["show", &format!("{branch}:src/mine.txt")]), "a morning's work");
}
