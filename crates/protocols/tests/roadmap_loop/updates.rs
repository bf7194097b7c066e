//! Section 13: the one roadmap update from its trigger to its activation, with its rejections.

use crate::desk::{plane, update, update_approved, update_rejected, with_update};
use crate::script::{Script, is_publishing, of};
use windlass_protocols::CommitId;
use windlass_protocols::effect::Effect;
use windlass_protocols::protocol::roadmap_rounds::facts::Fact as RoadmapFact;
use windlass_protocols::protocol::roadmap_rounds::plane::{
    ControllerStage, MilestoneStatus, UpdateReview, UpdateStatus, UpdateTrigger,
};
use windlass_protocols::protocol::roadmap_rounds::steps::{Held, PlaneStep, WorkKind};

const ROUND: &str = "round-001";

fn author() -> windlass_protocols::effect::RoundWork {
    of(ROUND, WorkKind::AuthorUpdate)
}

fn reviewer() -> windlass_protocols::effect::RoundWork {
    of(ROUND, WorkKind::ReviewUpdate)
}

fn authored(script: Script) -> Script {
    script.leaves(&author(), |desk| desk.update().authored = true)
}

fn at_review() -> Script {
    authored(Script::on(with_update(update(UpdateStatus::Authoring))))
}

fn rejects(script: Script) -> Script {
    script.leaves(&reviewer(), |desk| desk.update().review = Some(update_rejected()))
}

fn approves(script: Script) -> Script {
    script.leaves(&reviewer(), |desk| desk.update().review = Some(update_approved("r1")))
}

#[test]
fn what_is_authored_is_reviewed() {
    let mut script = at_review().asks(&[reviewer()]);
    assert_eq!(script.desk.update().status, UpdateStatus::Review);
}

#[test]
fn what_is_approved_is_merged_and_activated_and_the_rounds_go_on() {
    let script = approves(at_review());
    let Effect::Plane(PlaneStep::PublishUpdate(asked)) = script.expect("publication", is_publishing).1 else {
        unreachable!("looked for it")
    };
    assert_eq!(asked.revision, "rev-002");
    let script = script.publishes();
    assert_eq!(script.desk.plane.revision, "rev-002");
    assert_eq!(script.desk.plane.stage, ControllerStage::DispatchRounds);
    assert!(script.desk.plane.update.is_none());
    script.asks(&[of("round-002", WorkKind::Plan)]);
}

#[test]
fn an_update_that_leaves_nothing_open_is_done() {
    let mut over = with_update(update(UpdateStatus::Authoring));
    over.milestones.iter_mut().for_each(|known| known.status = MilestoneStatus::Done);
    let script = approves(authored(Script::on(over))).publishes();
    assert_eq!(script.desk.plane.stage, ControllerStage::Done);
    script.ends(|end| end.word() == "complete");
}

#[test]
fn a_rejected_draft_is_revised_in_the_same_place_with_one_more_attempt() {
    let mut script = rejects(at_review());
    assert_eq!((script.desk.update().status, script.desk.update().attempt), (UpdateStatus::Rejected, 2));
    assert_eq!(script.told(&author()), ["too coarse"]);
    assert_eq!(script.asked(&author()).work.expect("a place").branch, script.desk.update().branch);
}

#[test]
fn the_third_rejection_blocks_the_update() {
    let script = rejects(authored(rejects(authored(rejects(at_review())))));
    let mut script = script.blocked_by("rejected 3 times, last: too coarse");
    assert_eq!(script.desk.update().status, UpdateStatus::Blocked);
    assert!(script.desk.update().resume_error.is_some());
}

#[test]
fn the_last_rejection_is_what_stands_in_the_state_and_what_its_author_hears() {
    let last = || UpdateReview::Rejected { summary: "no good 3".to_owned() };
    let script = authored(rejects(authored(rejects(at_review()))));
    let script = script.leaves(&reviewer(), |desk| desk.update().review = Some(last()));
    let edits = script.facts().any(
        |fact| matches!(fact, RoadmapFact::Blocked { rejection: Some(said), .. } if said == "no good 3"),
    );
    assert!(edits);
    let script = script.blocked_by("last: no good 3").reopened(0);
    assert_eq!(script.told(&author()), ["no good 3"]);
}

#[test]
fn a_revision_that_breaks_a_rule_goes_back_to_its_author_whoever_approved_it() {
    let fault = || vec!["m-2 is pending, and the proposed revision calls it done".to_owned()];
    // Before its reviewer is asked, and after.
    let script = Script::on(with_update(update(UpdateStatus::Authoring)));
    let script = script.edited(|desk| desk.plane.milestones[0].status = MilestoneStatus::Done);
    let mut script = approves(authored(script)).marked();
    script.desk.update().author_faults = fault();
    let script = script.held(Held::BaseMoved);
    assert!(script.told(&author())[0].contains("calls it done"), "{:?}", script.told(&author()));
    let facts = script.times("update-decided");
    assert_eq!(facts, 1);
    let script = script.leaves(&author(), |desk| desk.update().author_faults.clear());
    script.asks(&[reviewer()]);
}

#[test]
fn the_revision_is_not_touched_before_the_approval() {
    assert_eq!(rejects(at_review()).desk.plane.revision, "rev-001");
}

#[test]
fn what_its_author_left_unreadable_goes_back_once_with_the_faults() {
    let script = Script::on(with_update(update(UpdateStatus::Authoring)));
    let script = script.leaves(&author(), |desk| {
        desk.update().author_faults = vec!["roadmap-update.md: no rationale".to_owned()];
    });
    assert_eq!(script.told(&author()), ["roadmap-update.md: no rationale"]);
    assert_eq!(script.times("repair-asked"), 1);
}

#[test]
fn a_base_that_moved_is_published_on() {
    let mut script = approves(at_review());
    script.desk.plane.base = CommitId::new("base-9");
    let script = script.held(Held::BaseMoved);
    let Effect::Plane(PlaneStep::PublishUpdate(asked)) = script.expect("publication", is_publishing).1 else {
        unreachable!("looked for it")
    };
    assert_eq!(asked.base, CommitId::new("base-9"));
}

#[test]
fn a_base_that_moved_in_its_files_sends_it_back_to_its_author() {
    let script = approves(at_review()).held(Held::Conflicts { paths: vec!["roadmap-history.md".to_owned()] });
    assert!(script.told(&author())[0].contains("roadmap-history.md"));
}

#[test]
fn a_publication_whose_answer_was_lost_is_found_on_the_base() {
    let mut script = approves(at_review());
    script.desk.update().merged = true;
    let script = script.loses("publish-update").keep_house().publishes();
    assert_eq!(script.desk.plane.revision, "rev-002");
    assert_eq!(script.state().revisions.len(), 1, "it is told which commit it became");
}

#[test]
fn the_request_of_a_planner_names_itself_as_the_trigger() {
    let script = Script::on(plane());
    let script = script.leaves(&of(ROUND, WorkKind::Plan), |desk| desk.round(ROUND).evidence.request = true);
    let opened = script.facts().find_map(|fact| match fact {
        RoadmapFact::UpdateOpened(opened) => Some(opened.clone()),
        _ => None,
    });
    let opened = opened.expect("an update was opened");
    assert_eq!((opened.trigger, opened.prior_revision.as_str()), (UpdateTrigger::PlannerRequest, "rev-001"));
    assert_eq!(opened.branch, "orchestrator/roadmap-update-round-001-walls");
    assert_eq!(opened.worktree, "orchestrator/worktrees/roadmap-update-round-001");
}
