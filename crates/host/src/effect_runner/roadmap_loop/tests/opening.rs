//! Branches and worktrees are made, found again and brought back; a planner's request goes along byte for byte.

use super::texts;
use super::world::{BRANCH, ROUND, UPDATE_BRANCH, UPDATE_WORKTREE, WORKTREE, World};
use std::fs;
use windlass_protocols::protocol::roadmap_rounds::plane::{Generation, UpdateTrigger};
use windlass_protocols::protocol::roadmap_rounds::steps::{WorkKind, WorktreePurpose};

const MARKDOWN: Generation = Generation::StructuredMarkdown;

fn round() -> WorktreePurpose {
    WorktreePurpose::Round { round: ROUND.to_owned() }
}

#[test]
fn a_round_gets_its_branch_and_worktree_once() {
    let world = World::new(MARKDOWN);
    for _ in 0..2 {
        assert_eq!(world.open(round()).unwrap(), world.at("main"));
        world.is_settled(WORKTREE, BRANCH);
    }
    assert_eq!(world.git(&["status", "--porcelain"]), "");
}

#[test]
fn a_branch_of_that_name_that_stands_elsewhere_is_refused_in_words() {
    let world = World::new(MARKDOWN);
    world.git(&["checkout", "-q", "-b", BRANCH]);
    world.write("other", "work\n");
    world.commit_all("of somebody");
    world.git(&["checkout", "-q", "main"]);
    let why = world.open(round()).unwrap_err();
    assert!(why.contains(BRANCH) && why.contains("already exists"), "{why}");
    assert!(!world.repo.join(WORKTREE).exists());
}

#[test]
fn a_worker_begins_at_the_rounds_newest_commit() {
    let world = World::with_round(MARKDOWN);
    world.leave(&format!("orchestrator/rounds/{ROUND}/plan.md"), &texts::plan("standard"));
    let planned = world.capture(WorkKind::Plan).commit;
    let purpose = WorktreePurpose::Worker { round: ROUND.to_owned(), worker: "a".to_owned() };
    assert_eq!(world.open(purpose).unwrap(), planned);
}

#[test]
fn a_worktree_that_is_gone_comes_back_with_what_its_branch_holds() {
    let world = World::with_round(MARKDOWN);
    world.leave(&format!("orchestrator/rounds/{ROUND}/plan.md"), &texts::plan("standard"));
    let planned = world.capture(WorkKind::Plan).commit;
    fs::remove_dir_all(world.repo.join(WORKTREE)).unwrap();
    let reopen = || WorktreePurpose::Reopen { round: ROUND.to_owned() };
    assert_eq!(world.open(reopen()).unwrap(), planned);
    world.is_settled(WORKTREE, BRANCH);
    assert_eq!(
        world.read(&format!("{WORKTREE}/orchestrator/rounds/{ROUND}/plan.md")),
        texts::plan("standard")
    );
    fs::remove_dir_all(world.repo.join(WORKTREE)).unwrap();
    world.git(&["worktree", "prune"]);
    world.git(&["branch", "-D", BRANCH]);
    assert!(world.open(reopen()).unwrap_err().contains("is gone"));
}

#[test]
fn a_planners_request_goes_along_byte_for_byte_and_the_planning_branch_does_not() {
    let world = World::with_round(MARKDOWN);
    let request = "### Roadmap Update Required\r\n- Round id: round-004  \n\n\tno newline at the end";
    world.leave(&texts::request_path(), request);
    world.capture(WorkKind::Plan);
    let opened = world.open(World::update_opened(UpdateTrigger::PlannerRequest)).unwrap();
    assert_eq!(world.open(World::update_opened(UpdateTrigger::PlannerRequest)).unwrap(), opened);
    assert_eq!(
        fs::read(world.repo.join(UPDATE_WORKTREE).join(texts::request_path())).unwrap(),
        request.as_bytes()
    );
    world.is_settled(UPDATE_WORKTREE, UPDATE_BRANCH);
    assert_eq!(world.git(&["rev-parse", &format!("{UPDATE_BRANCH}^@")]), world.at("main").as_str());
    assert_eq!(world.names_of(UPDATE_BRANCH), [texts::request_path()]);
}

#[test]
fn an_update_after_a_merged_round_begins_at_the_base_and_one_without_a_request_is_refused() {
    let world = World::with_round(MARKDOWN);
    let why = world.open(World::update_opened(UpdateTrigger::PlannerRequest)).unwrap_err();
    assert!(why.contains("roadmap-update-request.md"), "{why}");
    let opened = world.open(World::update_opened(UpdateTrigger::MergedRound)).unwrap();
    assert_eq!(opened, world.at("main"));
}

#[test]
fn what_people_keep_where_a_worktree_has_to_be_is_named_and_left_as_it_is() {
    for (place, what) in [("orchestrator/worktrees", "no folder"), (WORKTREE, "no folder")] {
        let world = World::new(MARKDOWN);
        world.write(place, "mine\n");
        let why = world.open(round()).unwrap_err();
        assert!(why.starts_with(&format!("{place} is in the way of the worktree {WORKTREE}")), "{why}");
        assert!(why.contains(what) && why.contains("move it somewhere else"), "{why}");
        assert_eq!(world.read(place), "mine\n");
        assert_eq!(world.git(&["branch", "--list", "orchestrator/*"]), "", "nothing was begun");
        fs::remove_file(world.repo.join(place)).unwrap();
        world.open(round()).unwrap();
        world.is_settled(WORKTREE, BRANCH);
    }
    let world = World::new(MARKDOWN);
    let note = format!("{WORKTREE}/note.txt");
    world.write(&note, "mine\n");
    let why = world.open(round()).unwrap_err();
    assert!(why.contains("holds files and is no worktree that git knows"), "{why}");
    assert_eq!(world.read(&note), "mine\n");
}
