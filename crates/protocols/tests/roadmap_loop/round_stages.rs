//! Sections 7 and 9: the stages of a round, who decides each edge, and what is checked about a planner's choice.

use crate::desk::{
    approved, direction, implemented, milestone, plan, plane, planned, rejected, reviewed, with_round,
};
use crate::script::{Script, of};
use windlass_protocols::CommitId;
use windlass_protocols::protocol::roadmap_rounds::facts::{Fact as RoadmapFact, Why};
use windlass_protocols::protocol::roadmap_rounds::plane::{
    CloseoutMode, Evidence, MilestoneStatus, PlanSeen, RetryTarget, ReviewSeen, RoundStage,
};
use windlass_protocols::protocol::roadmap_rounds::steps::{Held, WorkKind};

const ROUND: &str = "round-001";

fn at_review() -> Script {
    Script::on(with_round(RoundStage::Review, implemented()))
}

fn edges(script: &Script) -> Vec<(RoundStage, RoundStage)> {
    let decided = script.facts().filter_map(|fact| match fact {
        RoadmapFact::StageDecided { from, to, .. } => Some((*from, *to)),
        _ => None,
    });
    decided.collect()
}

#[test]
fn a_valid_plan_leads_to_implementing() {
    let script = Script::on(plane()).plans(ROUND, "D1").stands_at(ROUND, RoundStage::Implement);
    assert_eq!(edges(&script), [(RoundStage::Plan, RoundStage::Implement)]);
    script.asks(&[of(ROUND, WorkKind::Implement)]);
}

#[test]
fn notes_lead_to_the_review() {
    let script = Script::on(plane()).plans(ROUND, "D1").implements(ROUND);
    script.stands_at(ROUND, RoundStage::Review).asks(&[of(ROUND, WorkKind::Review)]);
}

#[test]
fn an_approval_leads_to_finalizing() {
    let script = at_review().reviews(ROUND, approved("r1", CloseoutMode::StatusOnly));
    let script = script.stands_at(ROUND, RoundStage::FinalizeRound);
    assert_eq!(script.waiting(), ["finalize-round"]);
}

#[test]
fn a_rejection_for_the_implementer_leads_back_to_it_with_what_to_change() {
    let script = at_review().reviews(ROUND, rejected(RetryTarget::Implement));
    let script = script.stands_at(ROUND, RoundStage::Implement);
    assert_eq!(script.told(&of(ROUND, WorkKind::Implement)), ["name it better"]);
}

#[test]
fn a_rejection_for_the_planner_leads_back_to_it_in_the_same_round() {
    let script = at_review().reviews(ROUND, rejected(RetryTarget::Plan)).stands_at(ROUND, RoundStage::Plan);
    assert_eq!(script.told(&of(ROUND, WorkKind::Plan)), ["name it better"]);
    assert_eq!(
        script.asked(&of(ROUND, WorkKind::Plan)).work.map(|place| place.branch).as_deref(),
        Some("orchestrator/round-001-walls")
    );
    assert_eq!(script.times("round-opened"), 0);
}

#[test]
fn a_reviewer_who_sees_no_retry_blocks_the_round() {
    let looking = of(ROUND, WorkKind::Investigate { update: false });
    let script = at_review().reviews(ROUND, rejected(RetryTarget::Blocked)).diagnoses(&looking, false);
    let script = script.stands_at(ROUND, RoundStage::Blocked);
    script.blocked_by("its reviewer sees no lawful retry: name it better");
}

#[test]
fn a_review_that_is_no_decision_is_blocked_by_the_book_and_reviewed_again_at_once() {
    let unclear = || ReviewSeen::Unclassified { why: "approved without a closeout".to_owned() };
    let script = at_review().reviews(ROUND, unclear());
    assert_eq!(edges(&script), [(RoundStage::Review, RoundStage::Blocked)]);
    let script = script.stands_at(ROUND, RoundStage::Review).asks(&[of(ROUND, WorkKind::Review)]);
    let script = script.reviews(ROUND, unclear()).reviews(ROUND, unclear()).reviews(ROUND, unclear());
    let looking = of(ROUND, WorkKind::Investigate { update: false });
    let script = script.diagnoses(&looking, false).reviews(ROUND, unclear());
    script.blocked_by("its reviews are no decisions");
}

#[test]
fn code_drift_brings_the_base_in_and_the_round_back_to_review() {
    let script = at_review().edited(|desk| {
        desk.plane.base = CommitId::new("base-9");
        desk.round(ROUND).code_drifted = true;
    });
    let script = script.reviews(ROUND, approved("r1", CloseoutMode::StatusOnly));
    let script = script.combines(&[]).stands_at(ROUND, RoundStage::Review);
    script.asks(&[of(ROUND, WorkKind::Review)]);
}

#[test]
fn code_drift_with_conflicts_brings_it_back_to_the_implementer() {
    let script = at_review().edited(|desk| {
        desk.plane.base = CommitId::new("base-9");
        desk.round(ROUND).code_drifted = true;
    });
    let script = script.reviews(ROUND, approved("r1", CloseoutMode::StatusOnly)).combines(&["src/lib.rs"]);
    let script = script.stands_at(ROUND, RoundStage::Implement);
    assert!(script.told(&of(ROUND, WorkKind::Implement))[0].contains("src/lib.rs"));
}

#[test]
fn a_closeout_that_cannot_be_applied_any_more_goes_back_to_review() {
    let script = at_review().reviews(ROUND, approved("r1", CloseoutMode::StatusOnly));
    let script = script.held(Held::Stale { why: "the status is another".to_owned() });
    let script = script.stands_at(ROUND, RoundStage::Review);
    assert!(script.told(&of(ROUND, WorkKind::Review))[0].contains("the status is another"));
}

#[test]
fn a_roadmap_that_was_revised_sends_a_finished_round_back_to_plan() {
    let script = at_review().edited(|desk| "rev-002".clone_into(&mut desk.plane.revision));
    let script = script.reviews(ROUND, approved("r1", CloseoutMode::StatusOnly));
    let script = script.stands_at(ROUND, RoundStage::Plan);
    let revised = script.facts().any(|fact| {
        matches!(fact, RoadmapFact::StageDecided { why: Why::RoadmapRevised { revision }, .. } if revision == "rev-002")
    });
    assert!(revised);
}

#[test]
fn a_blocked_round_goes_on_where_its_artifacts_put_it() {
    let rows = [
        (with_round(RoundStage::Blocked, Evidence::default()), RoundStage::Plan),
        (with_round(RoundStage::Blocked, planned()), RoundStage::Implement),
        (with_round(RoundStage::Blocked, implemented()), RoundStage::Review),
        (
            // What blocked it may have come after that approval.
            with_round(RoundStage::Blocked, reviewed(approved("r1", CloseoutMode::StatusOnly))),
            RoundStage::Review,
        ),
    ];
    for (plane, stage) in rows {
        let script = Script::on(plane);
        assert!(!script.at_work().is_empty(), "somebody is asked: {:#?}", script.names());
        let recovered = script.facts().find_map(|fact| match fact {
            RoadmapFact::Recovered { rounds, .. } => rounds.first().map(|(_, stage)| *stage),
            _ => None,
        });
        assert_eq!(recovered, Some(stage), "{:#?}", script.names());
    }
}

/// What a planner may not choose goes back to it once with every fault, and never to the implementer.
fn sends_back(bend: impl FnOnce(&mut PlanSeen), fault: &str) {
    let mut later = plane();
    later.milestones.push(milestone("M3", "c"));
    later.milestones[2].depends_on = vec!["M2".to_owned()];
    later.milestones.push(milestone("M4", "d"));
    later.milestones[3].status = MilestoneStatus::Done;
    later.directions.extend([direction("D3", "M3"), direction("D4", "M4")]);
    later.merged_items = vec!["item-old".to_owned()];
    let mut chosen = plan("M1", "D1");
    bend(&mut chosen);
    let script = Script::on(later).leaves(&of(ROUND, WorkKind::Plan), |desk| {
        desk.round(ROUND).evidence.plan = Some(chosen);
    });
    let script = script.stands_at(ROUND, RoundStage::Plan);
    let told = script.told(&of(ROUND, WorkKind::Plan));
    assert!(told.iter().any(|said| said.contains(fault)), "{told:?}");
}

#[test]
fn a_choice_outside_the_roadmap_is_sent_back() {
    sends_back(|plan| "M9".clone_into(&mut plan.milestone), "has no milestone M9");
    sends_back(|plan| "D9".clone_into(&mut plan.direction), "with a direction D9");
}

#[test]
fn a_direction_of_another_milestone_is_sent_back() {
    sends_back(|plan| "D2".clone_into(&mut plan.direction), "the direction D2 belongs to M2");
}

#[test]
fn a_milestone_that_is_not_ready_is_sent_back() {
    let waits = |plan: &mut PlanSeen| (plan.milestone, plan.direction) = ("M3".to_owned(), "D3".to_owned());
    sends_back(waits, "M3 is done or waits for others");
    let over = |plan: &mut PlanSeen| (plan.milestone, plan.direction) = ("M4".to_owned(), "D4".to_owned());
    sends_back(over, "M4 is done or waits for others");
}

#[test]
fn a_lineage_of_another_revision_is_sent_back() {
    sends_back(|plan| "rev-000".clone_into(&mut plan.revision), "names rev-000, and rev-001 is active");
}

#[test]
fn an_item_that_is_merged_already_is_sent_back() {
    sends_back(|plan| "item-old".clone_into(&mut plan.item), "item-old is merged already");
}

#[test]
fn only_directions_of_ready_milestones_are_candidates() {
    let mut later = plane();
    later.milestones[1].depends_on = vec!["M1".to_owned()];
    let named = |plane: &windlass_protocols::protocol::roadmap_rounds::plane::Plane| {
        plane.candidates().map(|(_, direction)| direction.id.clone()).collect::<Vec<_>>()
    };
    assert_eq!(named(&later), ["D1"]);
    later.milestones[0].status = MilestoneStatus::Done;
    assert_eq!(named(&later), ["D2"]);
    later.directions[1].preconditions = vec!["M9".to_owned()];
    assert!(named(&later).is_empty());
}
