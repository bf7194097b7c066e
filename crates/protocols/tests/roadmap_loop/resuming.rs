//! Section 14: what is found on a plane that somebody else's controller, or an earlier run, left in the middle.

use crate::desk::{
    approved, implemented, plan, planned, rejected, reviewed, round, update, update_approved,
    update_rejected, with_round, with_update, worker,
};
use crate::script::{Script, is_finalizing, is_publishing, of};
use windlass_protocols::protocol::roadmap_rounds::plane::{
    CloseoutMode, Evidence, Plane, RetryTarget, ReviewSeen, RoundSeen, RoundStage, UpdateSeen, UpdateStatus,
    WorkerState,
};
use windlass_protocols::protocol::roadmap_rounds::spec::{LeftBehind, RoadmapSpec};
use windlass_protocols::protocol::roadmap_rounds::steps::{Held, Mechanism, RetryNote, WorkKind};
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

fn noted(stage: &str, mechanism: Mechanism, attempt: u32) -> RetryNote {
    let (of_update, id, stage) = (false, ROUND.to_owned(), stage.to_owned());
    RetryNote { of_update, id, stage, mechanism, attempt, review_cycles: 0 }
}

fn with_note(mut plane: Plane, note: RetryNote) -> Script {
    plane.rounds.iter_mut().for_each(|round| round.resume_error = Some("it exited with 1".to_owned()));
    plane.update.iter_mut().for_each(|update| update.resume_error = Some("it exited with 1".to_owned()));
    Script::on(Plane { retry_noted: true, retry: Some(note), ..plane })
}

#[test]
fn row_13_the_attempt_that_is_noted_is_the_one_that_is_made() {
    let work = of(ROUND, WorkKind::Implement);
    let here = || with_round(RoundStage::Implement, planned());
    let script = with_note(here(), noted("implementation", Mechanism::SameHandle, 3));
    assert_eq!(script.asked(&work).attempt, 3);
    assert_eq!(script.told(&work), ["it exited with 1"], "it hears why it is tried again");
    // Two failures went before it, so that the next one is looked into and the one after it is somebody else's.
    let looking = of(ROUND, WorkKind::Investigate { update: false });
    let script = script.fails(&work).asks(std::slice::from_ref(&looking)).diagnoses(&looking, false);
    assert_eq!(script.asked(&work).attempt, 4);
    let script = script.fails(&work);
    let note = script.desk.plane.retry.clone().expect("it is noted");
    assert_eq!((note.attempt, note.mechanism), (5, Mechanism::FreshAgent));
    // By somebody else's hand it was the last rung.
    let script = with_note(here(), noted("implementation", Mechanism::FreshAgent, 5));
    assert_eq!(script.asked(&work).attempt, 5);
    script.fails(&work).blocked_by("does not come to its end");
}

#[test]
fn row_13_a_note_about_another_round_or_stage_counts_for_nobody() {
    let work = of(ROUND, WorkKind::Implement);
    let other = RetryNote { id: "round-009".to_owned(), ..noted("implementation", Mechanism::FreshAgent, 5) };
    for note in [noted("planning", Mechanism::FreshAgent, 5), other] {
        let script = with_note(with_round(RoundStage::Implement, planned()), note);
        assert_eq!(script.asked(&work).attempt, 1);
        script.fails(&work).asks(std::slice::from_ref(&work));
    }
}

#[test]
fn row_13_review_cycles_and_the_attempts_of_an_update_and_of_a_worker_go_on() {
    let cycles = RetryNote { review_cycles: 3, ..noted("review", Mechanism::SameHandle, 5) };
    let script = with_note(with_round(RoundStage::Review, implemented()), cycles);
    assert_eq!(script.asked(&of(ROUND, WorkKind::Review)).attempt, 5);
    let looking = of(ROUND, WorkKind::Investigate { update: false });
    script.reviews(ROUND, rejected(RetryTarget::Implement)).asks(&[looking]);

    let update = with_update(update(UpdateStatus::Rejected));
    let note = noted("the roadmap update", Mechanism::SameHandle, 2);
    let script = with_note(update, RetryNote { of_update: true, ..note });
    assert_eq!(script.asked(&of(ROUND, WorkKind::AuthorUpdate)).attempt, 2);

    let mut fanned = plan("M1", "D1");
    fanned.workers = vec![worker("w1"), worker("w2")];
    fanned.workers.iter_mut().for_each(|worker| worker.head = Some(CommitId::new("w@1")));
    let evidence = Evidence { plan: Some(fanned), ..Evidence::default() };
    let two = Plane { max_parallel: 2, ..with_round(RoundStage::Implement, evidence) };
    let script = with_note(two, noted("w2", Mechanism::SameHandle, 2));
    let attempt =
        |worker: &str| script.asked(&of(ROUND, WorkKind::Worker { worker: worker.to_owned() })).attempt;
    assert_eq!((attempt("w1"), attempt("w2")), (1, 2));
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

#[test]
fn row_22_an_approved_round_that_cannot_be_merged_yet_waits_and_nothing_else_moves() {
    let evidence = || reviewed(approved("r1", CloseoutMode::StatusOnly));
    let mut both = with_round(RoundStage::FinalizeRound, evidence());
    let waits = both.rounds[0].evidence.plan.as_mut().expect("it is planned");
    waits.depends_on_rounds = vec!["round-002".to_owned()];
    let other = Evidence { plan: Some(plan("M2", "D2")), ..Evidence::default() };
    both.rounds.push(RoundSeen { evidence: other, ..round("round-002", RoundStage::Implement) });
    let script = Script::on(Plane { max_parallel: 3, next_number: 3, ..both });
    let script =
        script.asks(&[of("round-002", WorkKind::Implement)]).stands_at(ROUND, RoundStage::FinalizeRound);
    assert_eq!((script.requests("finalize-round"), script.times("round-opened")), (0, 0));
    assert_eq!(script.desk.plane.revision, "rev-001");

    let script = Script::on(with_round(RoundStage::FinalizeRound, evidence()));
    let script = script.held(Held::InTheWay { why: "lib.rs has local edits".to_owned() });
    assert_eq!((script.times("round-merged"), script.times("round-opened")), (0, 0));
    let script = script.blocked_by("lib.rs has local edits").reopened(0);
    script.expect("merge", is_finalizing);
}
