//! Section 19: rounds side by side only where roadmap and planners allow it, merged in their declared order.

use crate::desk::{approved, parallel, plan};
use crate::script::{Script, of, spec};
use windlass_protocols::effect::RoundWork;
use windlass_protocols::protocol::roadmap_rounds::plane::{
    CloseoutMode, ParallelHint, PlanSeen, Plane, RoundStage,
};
use windlass_protocols::protocol::roadmap_rounds::steps::WorkKind;

fn planner(round: &str) -> RoundWork {
    of(round, WorkKind::Plan)
}

fn implementer(round: &str) -> RoundWork {
    of(round, WorkKind::Implement)
}

fn two() -> Script {
    Script::on(parallel(2)).plans("round-001", "D1").plans("round-002", "D2")
}

fn merge_approved(script: Script, round: &str) -> Script {
    script.implements(round).reviews(round, approved(&format!("r-{round}"), CloseoutMode::StatusOnly))
}

#[test]
fn serial_is_the_default() {
    Script::on(parallel(1)).plans("round-001", "D1").asks(&[implementer("round-001")]);
}

#[test]
fn a_second_round_is_opened_once_the_first_is_planned() {
    let script = Script::on(parallel(2)).asks(&[planner("round-001")]);
    script.plans("round-001", "D1").asks(&[implementer("round-001"), planner("round-002")]);
}

#[test]
fn no_more_rounds_than_the_cap_are_live() {
    let script = two().asks(&[implementer("round-001"), implementer("round-002")]);
    assert_eq!(script.desk.plane.rounds.len(), 2);
}

#[test]
fn a_run_may_want_fewer_rounds_at_once_than_the_state_allows() {
    let mut fewer = spec();
    fewer.parallel = Some(1);
    let script = Script::with(fewer, parallel(3)).plans("round-001", "D1");
    script.asks(&[implementer("round-001")]);
}

fn stays_alone(bend: impl FnOnce(&mut Plane)) {
    let mut alone = parallel(2);
    bend(&mut alone);
    Script::on(alone).plans("round-001", "D1").asks(&[implementer("round-001")]);
}

#[test]
fn a_serial_direction_is_worked_on_alone() {
    stays_alone(|plane| plane.directions[0].hint = ParallelHint::Serial);
    stays_alone(|plane| plane.directions[1].hint = ParallelHint::Serial);
}

#[test]
fn two_directions_of_one_lane_are_not_worked_on_side_by_side() {
    stays_alone(|plane| "a".clone_into(&mut plane.milestones[1].lane));
}

#[test]
fn a_milestone_that_waits_for_a_live_one_is_not_begun_beside_it() {
    stays_alone(|plane| plane.milestones[1].depends_on = vec!["M1".to_owned()]);
}

fn clashes(chosen: PlanSeen, why: &str) {
    let script = Script::on(parallel(2)).plans("round-001", "D1");
    let script = script.leaves(&planner("round-002"), |desk| {
        desk.round("round-002").evidence.plan = Some(chosen);
    });
    let told = script.told(&planner("round-002"));
    assert!(told.iter().any(|said| said.contains(why)), "{told:?}");
}

#[test]
fn a_choice_that_clashes_with_a_live_round_is_sent_back() {
    clashes(plan("M1", "D1"), "round-001 is live: the item item-D1 is worked on already");
    clashes(
        PlanSeen { item: "other".to_owned(), ..plan("M1", "D1") },
        "the direction D1 is worked on already",
    );
    clashes(
        PlanSeen { item: "item-D1".to_owned(), ..plan("M2", "D2") },
        "the item item-D1 is worked on already",
    );
}

#[test]
fn a_merge_order_that_can_never_be_kept_is_sent_back_when_the_plan_arrives() {
    let after = |rounds: &[&str], items: &[&str]| PlanSeen {
        depends_on_rounds: rounds.iter().map(|&id| id.to_owned()).collect(),
        merge_after_items: items.iter().map(|&id| id.to_owned()).collect(),
        ..plan("M2", "D2")
    };
    clashes(after(&["round-999"], &[]), "it depends on round-999, which is neither merged nor live");
    clashes(
        after(&[], &["nobodys"]),
        "it comes after the item nobodys, which is neither merged nor worked on",
    );
}

#[test]
fn two_rounds_that_would_wait_for_each_other_are_told_so_before_anything_is_built() {
    for by_item in [false, true] {
        let script = two();
        let script = script.edited(|desk| {
            let first = desk.round("round-001").evidence.plan.as_mut().expect("a plan");
            first.depends_on_rounds = vec!["round-002".to_owned()];
            desk.round("round-002").stage = RoundStage::Plan;
        });
        let script = script.reports(&implementer("round-002"), |_| {});
        let mut chosen = plan("M2", "D2");
        if by_item {
            chosen.merge_after_items = vec!["item-D1".to_owned()];
        } else {
            chosen.depends_on_rounds = vec!["round-001".to_owned()];
        }
        let script = script.leaves(&planner("round-002"), |desk| {
            desk.round("round-002").evidence.plan = Some(chosen);
        });
        let told = script.told(&planner("round-002")).join("; ");
        assert!(told.contains("it waits for round-001, which waits for it"), "{told}");
    }
}

#[test]
fn a_round_beside_a_revision_is_planned_anew_with_the_base_in_its_branch() {
    let script = merge_approved(two(), "round-002").edited(|desk| {
        // Published beside it, by the update of another round.
        "rev-002".clone_into(&mut desk.plane.revision);
        desk.plane.base = windlass_protocols::CommitId::new("base-9");
        desk.plane.rounds.iter_mut().for_each(|round| round.roadmap_drifted = true);
    });
    let script = script.held(windlass_protocols::protocol::roadmap_rounds::steps::Held::BaseMoved);
    let script = script.stands_at("round-002", RoundStage::Plan);
    assert!(!script.at_work().contains(&planner("round-002")), "the base comes first");
    let script = script.combines(&["src/lib.rs"]);
    let told = script.told(&planner("round-002")).join("; ");
    assert!(told.contains("revised to rev-002") && told.contains("src/lib.rs"), "{told}");
    let script = script.leaves(&planner("round-002"), |desk| {
        let revised = PlanSeen { revision: "rev-002".to_owned(), ..plan("M2", "D2") };
        desk.round("round-002").evidence.plan = Some(revised);
    });
    let told = script.told(&implementer("round-002")).join("; ");
    assert!(told.contains("conflicts to resolve in src/lib.rs"), "who builds hears of the marks: {told}");
}

#[test]
fn a_declared_order_is_kept_when_the_later_one_is_ready_first() {
    let script = Script::on(parallel(2)).plans("round-001", "D1");
    let after = PlanSeen { depends_on_rounds: vec!["round-001".to_owned()], ..plan("M2", "D2") };
    let script = script.leaves(&planner("round-002"), |desk| {
        desk.round("round-002").evidence.plan = Some(after);
    });
    let script = merge_approved(script, "round-002").stands_at("round-002", RoundStage::FinalizeRound);
    let script = script.asks(&[implementer("round-001")]);
    let script = merge_approved(script, "round-001").merges();
    assert_eq!(script.desk.plane.merged_rounds, ["round-001"]);
    assert_eq!(script.merges().desk.plane.merged_rounds, ["round-001", "round-002"]);
}

#[test]
fn a_round_whose_base_moved_by_the_other_is_combined_and_reviewed_again() {
    let script = merge_approved(merge_approved(two(), "round-001").merges(), "round-002");
    let script = script.edited(|desk| desk.round("round-002").code_drifted = true);
    let script = script.held(windlass_protocols::protocol::roadmap_rounds::steps::Held::BaseMoved);
    let script = script.combines(&[]).stands_at("round-002", RoundStage::Review);
    assert!(script.at_work().contains(&of("round-002", WorkKind::Review)));
}

#[test]
fn only_one_update_at_a_time_and_the_other_round_waits() {
    let semantic = |script: Script, round: &str| {
        script
            .implements(round)
            .reviews(round, approved(&format!("r-{round}"), CloseoutMode::SemanticUpdateRequired))
    };
    let script = semantic(semantic(two(), "round-001").merges(), "round-002");
    let script = script.stands_at("round-002", RoundStage::FinalizeRound);
    script.asks(&[of("round-001", WorkKind::AuthorUpdate)]);
}

#[test]
fn a_blocked_round_does_not_keep_the_other_from_its_end() {
    let script = two().edited(|desk| desk.round("round-001").head = None);
    let script = script.reports(&implementer("round-001"), |_| {});
    let script = merge_approved(script, "round-002").merges();
    script.blocked_by("round-001: its branch");
}
