//! Section 14: what is found on a plane that somebody else's controller, or an earlier run, left in the middle.

use crate::desk::{
    approved, implemented, plan, planned, rejected, reviewed, update, update_approved, update_rejected,
    with_round, with_update, worker,
};
use crate::script::{Script, is_finalizing, is_publishing, of};
use windlass_protocols::protocol::roadmap_rounds::plane::{
    CloseoutMode, Evidence, Plane, RetryTarget, ReviewSeen, RoundStage, UpdateSeen, UpdateStatus, WorkerState,
};
use windlass_protocols::protocol::roadmap_rounds::spec::{LeftBehind, RoadmapSpec};
use windlass_protocols::protocol::roadmap_rounds::steps::WorkKind;
use windlass_protocols::{CommitId, Digest};

const ROUND: &str = "round-001";

fn gone(mut plane: Plane) -> Plane {
    plane.rounds[0].worktree_stands = false;
    plane
}

#[test]
fn row_5_a_live_round_goes_on_at_its_recorded_stage() {
    Script::on(with_round(RoundStage::Implement, planned())).asks(&[of(ROUND, WorkKind::Implement)]);
}

#[test]
fn row_6_a_missing_worktree_is_made_again_from_its_branch() {
    let script = Script::on(gone(with_round(RoundStage::Implement, planned())));
    assert!(script.desk.plane.rounds[0].worktree_stands);
    script.asks(&[of(ROUND, WorkKind::Implement)]).stands_at(ROUND, RoundStage::Implement);
}

#[test]
fn row_7_a_missing_branch_is_a_blockage() {
    let mut lost = with_round(RoundStage::Implement, planned());
    lost.rounds[0].head = None;
    Script::on(lost).blocked_by("its branch orchestrator/round-001-walls is gone");
}

#[test]
fn row_7_a_worktree_that_cannot_be_made_is_a_blockage() {
    let mut script =
        Script::unprepared(crate::script::spec(), gone(with_round(RoundStage::Implement, planned())));
    script.refusing = Some(("open-worktree", "the directory is not empty"));
    script.keep_house().blocked_by("the directory is not empty");
}

#[test]
fn row_8_a_plan_stage_without_a_selection_asks_the_planner() {
    Script::on(with_round(RoundStage::Plan, Evidence::default())).asks(&[of(ROUND, WorkKind::Plan)]);
}

#[test]
fn row_9_a_plan_stage_with_a_request_only_becomes_an_update() {
    let request = Evidence { request: true, ..Evidence::default() };
    let script = Script::on(with_round(RoundStage::Plan, request)).asks(&[of(ROUND, WorkKind::AuthorUpdate)]);
    assert!(script.desk.plane.rounds.is_empty());
}

#[test]
fn row_11_artifacts_that_prove_a_later_stage_are_taken_stage_by_stage() {
    Script::on(with_round(RoundStage::Plan, planned())).asks(&[of(ROUND, WorkKind::Implement)]);
    Script::on(with_round(RoundStage::Plan, implemented())).asks(&[of(ROUND, WorkKind::Review)]);
}

#[test]
fn a_review_beside_a_stage_before_it_is_set_aside_and_its_reviewer_is_asked() {
    for stage in [RoundStage::Plan, RoundStage::Implement] {
        let approved = reviewed(approved("r1", CloseoutMode::StatusOnly));
        let script = Script::on(with_round(stage, approved)).asks(&[of(ROUND, WorkKind::Review)]);
        assert_eq!(script.requests("set-aside"), 1, "{stage:?}");
    }
}

fn left_behind(plane: Plane, update: bool, approved: Option<&str>) -> Script {
    let approved = approved.map(Digest::new);
    let left_behind = vec![LeftBehind { round: ROUND.to_owned(), update, approved }];
    Script::with(RoadmapSpec { left_behind, ..crate::script::spec() }, plane)
}

#[test]
fn of_what_an_earlier_run_left_only_what_it_took_for_a_decision_is_one() {
    let lies = |stage| with_round(stage, reviewed(approved("r1", CloseoutMode::StatusOnly)));
    for stage in [RoundStage::Review, RoundStage::FinalizeRound] {
        let nobody = left_behind(lies(stage), false, None).asks(&[of(ROUND, WorkKind::Review)]);
        assert_eq!(nobody.requests("set-aside"), 1, "{stage:?}");
        left_behind(lies(stage), false, Some("another")).asks(&[of(ROUND, WorkKind::Review)]);
        left_behind(lies(stage), false, Some("r1")).expect("merge", is_finalizing);
    }
    let proven = || Evidence { plan: Some(crate::desk::direct("n1")), notes: true, ..Evidence::default() };
    left_behind(with_round(RoundStage::Plan, proven()), false, None).asks(&[of(ROUND, WorkKind::Plan)]);
    Script::on(with_round(RoundStage::Plan, proven())).expect("merge", is_finalizing);
}

#[test]
fn the_draft_of_an_updates_reviewer_that_was_stopped_is_no_decision() {
    let lies =
        |status, review| with_update(UpdateSeen { authored: true, review: Some(review), ..update(status) });
    let reviewer = || [of(ROUND, WorkKind::ReviewUpdate)];
    for review in [update_approved("r1"), update_rejected()] {
        left_behind(lies(UpdateStatus::Review, review), true, None).asks(&reviewer());
    }
    let decided = left_behind(lies(UpdateStatus::Review, update_approved("r1")), true, Some("r1"));
    decided.expect("publication", is_publishing);
    let claimed = left_behind(lies(UpdateStatus::Approved, update_approved("r1")), true, None);
    assert!(!claimed.waiting().contains(&"publish-update"));
}

#[test]
fn row_11_a_rejected_review_proves_no_implementation() {
    let rejected = reviewed(rejected(RetryTarget::Implement));
    Script::on(with_round(RoundStage::Plan, rejected)).asks(&[of(ROUND, WorkKind::Implement)]);
}

#[test]
fn row_12_an_update_is_resumed_where_its_files_say() {
    let on = |bend: &dyn Fn(&mut UpdateSeen)| {
        let mut seen = update(UpdateStatus::Authoring);
        bend(&mut seen);
        Script::on(with_update(seen))
    };
    let (author, reviewer) = (of(ROUND, WorkKind::AuthorUpdate), of(ROUND, WorkKind::ReviewUpdate));
    on(&|_| {}).asks(core::slice::from_ref(&author));
    on(&|seen| seen.worktree_stands = false).asks(core::slice::from_ref(&author));
    on(&|seen| seen.authored = true).asks(core::slice::from_ref(&reviewer));
    on(&|seen| (seen.status, seen.authored) = (UpdateStatus::Review, true)).asks(&[reviewer]);
    on(&|seen| {
        (seen.status, seen.authored, seen.review) = (UpdateStatus::Rejected, true, Some(update_rejected()));
    })
    .asks(&[author]);
    let script = on(&|seen| {
        (seen.status, seen.authored, seen.review) =
            (UpdateStatus::Approved, true, Some(update_approved("r1")));
    });
    script.expect("publication", is_publishing);
    assert_eq!(on(&|seen| seen.merged = true).desk.plane.revision, "rev-002");
}

#[test]
fn row_14_finalizing_without_a_review_goes_back_to_review() {
    let script = Script::on(with_round(RoundStage::FinalizeRound, implemented()));
    script.stands_at(ROUND, RoundStage::Review).asks(&[of(ROUND, WorkKind::Review)]);
}

#[test]
fn rows_15_and_16_an_approved_round_is_finalized() {
    let evidence = reviewed(approved("r1", CloseoutMode::StatusOnly));
    let script = Script::on(with_round(RoundStage::FinalizeRound, evidence));
    script.expect("merge", is_finalizing);
}

#[test]
fn row_19_a_fanned_out_round_goes_on_with_its_incomplete_worker() {
    let mut fanned = plan("M1", "D1");
    fanned.workers = vec![worker("w1"), worker("w2")];
    fanned.workers[0].state = WorkerState::Complete;
    fanned.workers[0].head = Some(CommitId::new("w1@1"));
    let evidence = Evidence { plan: Some(fanned), ..Evidence::default() };
    let script = Script::on(with_round(RoundStage::Implement, evidence));
    script.asks(&[of(ROUND, WorkKind::Worker { worker: "w2".to_owned() })]);
}

#[test]
fn row_20_a_conversation_is_gone_on_with() {
    let script = Script::on(with_round(RoundStage::Review, implemented()));
    let work = of(ROUND, WorkKind::Review);
    let script = script.reports(&work, |report| {
        report.session = Some(windlass_protocols::outcome::AgentSession {
            id: "session-1".to_owned(),
            so_far: windlass_protocols::outcome::Usage::default(),
        });
    });
    let session = script.asked(&work).session.map(|session| session.id);
    assert_eq!(session.as_deref(), Some("session-1"));
}

#[test]
fn row_21_a_recorded_blockage_is_tried_again_when_the_run_is() {
    let work = of(ROUND, WorkKind::Review);
    let script = Script::on(with_round(RoundStage::Review, implemented()));
    let script = script.reviews(ROUND, rejected(RetryTarget::Blocked));
    let looking = of(ROUND, WorkKind::Investigate { update: false });
    let script = script.diagnoses(&looking, false).blocked_by("no lawful retry");
    let script = script.reopened(0);
    assert!(script.desk.plane.errors.is_empty());
    assert!(!script.at_work().contains(&work), "what no retry could help is planned anew");
    assert_eq!(script.told(&of(ROUND, WorkKind::Plan)), ["name it better"], "in the words of that review");
    script.asks(&[of(ROUND, WorkKind::Plan)]);
}

#[test]
fn what_a_review_that_was_no_decision_said_is_not_passed_on_as_a_rejection() {
    let script = Script::on(with_round(RoundStage::Review, implemented()));
    let script = script.reviews(ROUND, ReviewSeen::Unclassified { why: "found nowhere".to_owned() });
    assert_eq!(script.told(&of(ROUND, WorkKind::Review))[0], "found nowhere", "its reviewer hears it");
    let script = script.reviews(ROUND, rejected(RetryTarget::Blocked));
    let looking = of(ROUND, WorkKind::Investigate { update: false });
    let script = script.diagnoses(&looking, false).blocked_by("no lawful retry");
    assert_eq!(script.state().book.rounds[ROUND].told, ["name it better"], "as the inbox shows it");
    assert_eq!(script.reopened(0).told(&of(ROUND, WorkKind::Plan)), ["name it better"]);
}
