//! What leads back again and again: the base is brought along before anybody is asked anew, somebody looks into it at the limit,
//! and only then it is given up, with counts that agree.

use crate::desk::{approved, implemented, plane, rejected, with_round};
use crate::script::{Script, of};
use windlass_protocols::CommitId;
use windlass_protocols::protocol::roadmap_rounds::facts::Fact as RoadmapFact;
use windlass_protocols::protocol::roadmap_rounds::plane::{
    CloseoutMode, ControllerStage, Plane, RetryTarget, ReviewSeen, RoundStage,
};
use windlass_protocols::protocol::roadmap_rounds::steps::{Held, RoundWork, WorkKind};

const ROUND: &str = "round-001";

fn reviewer() -> RoundWork {
    of(ROUND, WorkKind::Review)
}

fn investigator() -> RoundWork {
    of(ROUND, WorkKind::Investigate { update: false })
}

fn approvable() -> Plane {
    with_round(RoundStage::Review, implemented())
}

fn stale() -> Held {
    Held::Stale { why: "the milestone is in-progress already".to_owned() }
}

fn approves(script: Script) -> Script {
    script.reviews(ROUND, approved("r1", CloseoutMode::StatusOnly))
}

fn base_moves(script: Script, number: u32) -> Script {
    script.edited(|desk| {
        desk.plane.base = CommitId::new(format!("theirs-{number}"));
        desk.round(ROUND).code_drifted = true;
    })
}

#[test]
fn a_reviewer_that_is_asked_again_is_shown_the_base_as_it_is_by_now() {
    let script = Script::on(approvable()).edited(|desk| desk.plane.base = CommitId::new("base-9"));
    let script = approves(script).held(stale()).stands_at(ROUND, RoundStage::Review);
    assert!(script.at_work().is_empty(), "the base comes first: {:?}", script.at_work());
    let script = script.combines(&[]).asks(&[reviewer()]);
    let told = script.told(&reviewer()).join("; ");
    assert!(told.contains("the base branch moved and was merged into the round"), "{told}");
    approves(script).merges();
}

#[test]
fn a_review_that_only_the_base_makes_wrong_is_not_sent_back_to_be_mended() {
    let script = Script::on(approvable()).edited(|desk| desk.plane.base = CommitId::new("base-9"));
    let script = script.leaves(&reviewer(), |desk| {
        desk.round(ROUND).evidence.review = Some(approved("r1", CloseoutMode::StatusOnly));
        desk.round(ROUND).evidence.review_faults = vec!["expected pending, and it is in-progress".to_owned()];
    });
    assert_eq!(script.times("repair-asked"), 0);
    script.combines(&[]).asks(&[reviewer()]);
}

#[test]
fn conflicts_that_come_with_the_base_go_to_the_implementer() {
    let script = Script::on(approvable()).edited(|desk| desk.plane.base = CommitId::new("base-9"));
    let script = approves(script).held(stale()).combines(&["src/a.rs"]);
    script.stands_at(ROUND, RoundStage::Implement).asks(&[of(ROUND, WorkKind::Implement)]);
}

#[test]
fn a_base_that_others_move_each_time_is_looked_into_and_then_given_up() {
    let mut script = Script::on(approvable());
    for number in 0..3 {
        script = approves(base_moves(script, number)).combines(&[]).asks(&[reviewer()]);
    }
    let script = approves(base_moves(script, 3)).asks(&[investigator()]);
    let script = script.diagnoses(&investigator(), false).combines(&[]).asks(&[reviewer()]);
    assert!(script.told(&reviewer()).contains(&"read again".to_owned()), "{:?}", script.told(&reviewer()));
    approves(base_moves(script, 4)).blocked_by("others move the base each time");
}

#[test]
fn a_closeout_that_never_fits_is_looked_into_before_it_is_given_up() {
    let mut script = approves(Script::on(approvable()));
    for _ in 0..3 {
        script = approves(script.held(stale()));
    }
    let script = script.held(stale()).asks(&[investigator()]);
    let script = script.diagnoses(&investigator(), false).held(stale()).asks(&[reviewer()]);
    approves(script).held(stale()).blocked_by("its closeout cannot be applied");
}

#[test]
fn a_rejection_without_a_retry_is_looked_into_before_it_is_given_up_and_is_counted() {
    let script = Script::on(approvable()).reviews(ROUND, rejected(RetryTarget::Blocked));
    let script = script.asks(&[investigator()]).diagnoses(&investigator(), false);
    assert_eq!(script.state().book.rounds[ROUND].rejected, 1);
    script.blocked_by("who looked into it says: read again");
}

#[test]
fn reviews_that_are_no_decisions_are_looked_into_before_the_round_is_given_up() {
    let unclear = || ReviewSeen::Unclassified { why: "nonsense".to_owned() };
    let mut script = Script::on(approvable());
    for _ in 0..3 {
        script = script.reviews(ROUND, unclear()).asks(&[reviewer()]);
    }
    let script = script.reviews(ROUND, unclear()).asks(&[investigator()]);
    let script = script.diagnoses(&investigator(), false).asks(&[reviewer()]);
    assert!(script.told(&reviewer()).contains(&"read again".to_owned()), "{:?}", script.told(&reviewer()));
    script.reviews(ROUND, unclear()).blocked_by("its reviews are no decisions");
}

#[test]
fn the_rejection_that_a_round_is_given_up_for_is_one_of_those_that_are_counted() {
    let mut script = Script::on(with_round(RoundStage::Review, implemented()));
    for _ in 0..3 {
        script = script.reviews(ROUND, rejected(RetryTarget::Implement)).implements(ROUND);
    }
    let script = script.reviews(ROUND, rejected(RetryTarget::Implement));
    let script = script.diagnoses(&investigator(), false).implements(ROUND);
    let script = script.reviews(ROUND, rejected(RetryTarget::Implement));
    assert_eq!(script.state().book.rounds[ROUND].rejected, 5);
    script.blocked_by("rejected 5 times");
}

#[test]
fn a_stale_done_is_left_before_a_round_is_begun_and_told_once() {
    let script = Script::on(Plane { stage: ControllerStage::Done, ..plane() });
    let facts: Vec<&RoadmapFact> = script.facts().collect();
    let at =
        |wanted: &dyn Fn(&RoadmapFact) -> bool| facts.iter().position(|fact| wanted(fact)).expect("is there");
    let left = at(&|fact| matches!(fact, RoadmapFact::ControllerSet { .. }));
    assert!(left < at(&|fact| matches!(fact, RoadmapFact::RoundOpened { .. })));
    let told = facts.iter().filter_map(|fact| match fact {
        RoadmapFact::PlaneTaken { noticed, .. } => Some(noticed.iter()),
        _ => None,
    });
    assert_eq!(told.flatten().filter(|said| said.contains("the state says done")).count(), 1);
}

#[test]
fn rounds_that_vanish_one_after_the_other_are_no_progress() {
    let mut script = Script::on(plane());
    for number in 1..=5 {
        let work = of(&format!("round-{number:03}"), WorkKind::Plan);
        script = script.asks(core::slice::from_ref(&work));
        script = script.edited(|desk| desk.plane.rounds.clear()).reports(&work, |_| {});
    }
    script.blocked_by("5 rounds in a row were taken out of orchestrator/state.json");
}
