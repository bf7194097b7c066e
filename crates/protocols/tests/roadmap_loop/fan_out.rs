//! Section 18: shares of one round in worktrees of their own, and the pass that brings them together.

use crate::desk::{plan, with_round, worker};
use crate::script::{Script, of};
use windlass_protocols::effect::{Effect, RoundWork};
use windlass_protocols::protocol::roadmap_rounds::plane::{
    Evidence, Plane, RoundStage, WorkerSeen, WorkerState,
};
use windlass_protocols::protocol::roadmap_rounds::steps::{PlaneStep, WorkKind};

const ROUND: &str = "round-001";

fn share(id: &str) -> RoundWork {
    of(ROUND, WorkKind::Worker { worker: id.to_owned() })
}

fn fanned(cap: u32, workers: Vec<WorkerSeen>) -> Plane {
    let mut chosen = plan("M1", "D1");
    chosen.workers = workers;
    let evidence = Evidence { plan: Some(chosen), ..Evidence::default() };
    // Nothing else can be worked on beside it.
    let mut plane = with_round(RoundStage::Implement, evidence);
    plane.directions.truncate(1);
    Plane { max_parallel: cap, ..plane }
}

fn finishes(script: Script, id: &str) -> Script {
    script.leaves(&share(id), |desk| {
        let plan = desk.round(ROUND).evidence.plan.as_mut().expect("a plan");
        let worker = plan.workers.iter_mut().find(|worker| worker.id == id).expect("that worker");
        worker.state = WorkerState::Complete;
    })
}

#[test]
fn workers_work_side_by_side_as_far_as_the_cap_allows() {
    let script = Script::on(fanned(2, vec![worker("w1"), worker("w2"), worker("w3")]));
    let script = script.asks(&[share("w1"), share("w2")]);
    finishes(script, "w1").asks(&[share("w2"), share("w3")]);
}

#[test]
fn each_worker_has_a_branch_and_a_worktree_of_its_own() {
    let script = Script::on(fanned(2, vec![worker("w1"), worker("w2")]));
    let place = script.asked(&share("w2")).work.expect("a place");
    assert_eq!(place.worktree, "orchestrator/worktrees/round-001-w2");
}

#[test]
fn a_worker_waits_for_those_it_depends_on() {
    let mut later = worker("w2");
    later.depends_on = vec!["w1".to_owned()];
    let script = Script::on(fanned(2, vec![worker("w1"), later])).asks(&[share("w1")]);
    finishes(script, "w1").asks(&[share("w2")]);
}

#[test]
fn the_shares_are_combined_and_integrated_and_then_reviewed() {
    let script = Script::on(fanned(2, vec![worker("w1"), worker("w2")]));
    let script = finishes(finishes(script, "w1"), "w2");
    let Effect::Plane(PlaneStep::CombineWork(asked)) =
        script.expect("merge", |request| matches!(request, Effect::Plane(PlaneStep::CombineWork(_)))).1
    else {
        unreachable!("looked for it")
    };
    assert_eq!(asked.with.len(), 2);
    let script = script.combines(&[]).asks(&[of(ROUND, WorkKind::Integrate)]);
    let script =
        script.leaves(&of(ROUND, WorkKind::Integrate), |desk| desk.round(ROUND).evidence.notes = true);
    script.stands_at(ROUND, RoundStage::Review).asks(&[of(ROUND, WorkKind::Review)]);
}

#[test]
fn integration_does_not_wait_for_a_share_that_does_not_block_it() {
    let mut idle = worker("w2");
    (idle.blocks_integration, idle.depends_on) = (false, vec!["w9".to_owned()]);
    let script = Script::on(fanned(2, vec![worker("w1"), idle]));
    finishes(script, "w1").combines(&[]).asks(&[of(ROUND, WorkKind::Integrate)]);
}

#[test]
fn a_share_without_a_handoff_goes_back_to_its_worker() {
    let script = Script::on(fanned(1, vec![worker("w1")]));
    let script = script.reports(&share("w1"), |_| {});
    assert_eq!(script.told(&share("w1")), ["the share was left without a finished handoff"]);
}

#[test]
fn a_handoff_that_cannot_be_read_goes_back_to_its_worker_with_what_is_wrong() {
    let script = Script::on(fanned(1, vec![worker("w1")]));
    let wrong = "workers/w1/handoff.md: line 2: Status: must be ready or blocked; found \"soon\"";
    let script = script.leaves(&share("w1"), |desk| {
        let plan = desk.round(ROUND).evidence.plan.as_mut().expect("a plan");
        plan.workers[0].faults = vec![wrong.to_owned()];
    });
    assert_eq!(script.told(&share("w1")), [wrong]);
}

#[test]
fn a_share_that_waits_for_nobody_there_is_a_blockage_with_a_reason() {
    let mut never = worker("w1");
    never.depends_on = vec!["w9".to_owned()];
    Script::on(fanned(1, vec![never])).blocked_by("w1");
}
