//! Section 25.3: rounds that their planner does all by itself, with the proof of it.

use crate::desk::{direct, plan, plane};
use crate::script::{Script, is_finalizing, of};
use windlass_protocols::Digest;
use windlass_protocols::effect::Effect;
use windlass_protocols::protocol::roadmap_rounds::plane::{
    DirectSeen, Generation, PlanSeen, Plane, RoundStage,
};
use windlass_protocols::protocol::roadmap_rounds::steps::{Held, PlaneStep, WorkKind};

const ROUND: &str = "round-001";

fn planned(plan: PlanSeen) -> Script {
    let markdown = Plane { generation: Generation::StructuredMarkdown, ..plane() };
    Script::on(markdown)
        .leaves(&of(ROUND, WorkKind::Plan), |desk| desk.round(ROUND).evidence.plan = Some(plan))
}

#[test]
fn a_proven_simple_round_is_finalized_without_implementer_and_reviewer() {
    let script = planned(direct("d1")).stands_at(ROUND, RoundStage::FinalizeRound);
    let Effect::Plane(PlaneStep::FinalizeRound(asked)) = script.expect("merge", is_finalizing).1 else {
        unreachable!("looked for it")
    };
    assert_eq!(asked.approval, Digest::new("d1"));
    script.merges().asks(&[of("round-002", WorkKind::Plan)]);
}

#[test]
fn an_unproven_simple_round_goes_back_to_its_planner() {
    let faults = vec!["implementation-notes.md: no result".to_owned()];
    let script = planned(PlanSeen { direct: Some(DirectSeen::Unproven { faults }), ..plan("M1", "D1") });
    let script = script.stands_at(ROUND, RoundStage::Plan);
    assert_eq!(script.told(&of(ROUND, WorkKind::Plan)), ["implementation-notes.md: no result"]);
}

#[test]
fn a_simple_round_whose_proof_changed_is_planned_again() {
    let mut script = planned(direct("d1"));
    script.desk.round(ROUND).evidence.plan = Some(direct("forged"));
    let script = script.held(Held::BaseMoved).stands_at(ROUND, RoundStage::Plan);
    script.asks(&[of(ROUND, WorkKind::Plan)]);
}

#[test]
fn a_standard_round_of_that_generation_has_all_its_stages() {
    planned(plan("M1", "D1")).stands_at(ROUND, RoundStage::Implement).asks(&[of(ROUND, WorkKind::Implement)]);
}
