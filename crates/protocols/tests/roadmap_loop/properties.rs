//! What holds for every roadmap loop, whatever happens to it: nothing panics, no answer that fits is refused, replay is exact,
//! the invariants hold, and without faults it comes to its end. `Script::observe` holds each step against the first four.

use crate::desk::{approved, direct, parallel, plan, rejected, update_approved, update_rejected};
use crate::script::{Script, spec};
use proptest::prelude::*;
use windlass_protocols::effect::{Effect, RoundWork};
use windlass_protocols::explain::explain;
use windlass_protocols::outcome::{Answer, Outcome, PlaneOutcome, StepEnd, Trouble, Usage};
use windlass_protocols::protocol::roadmap_rounds::plane::{
    CloseoutMode, MilestoneStatus, RetryTarget, ReviewSeen, RoundStage,
};
use windlass_protocols::protocol::roadmap_rounds::steps::{Held, PlaneStep, WorkKind};
use windlass_protocols::{CommitId, EffectId, Observation, TreeId};

/// Far more steps than the longest run without faults needs.
const CALM: usize = 2_000;

fn pick(script: &Script, which: u8) -> Option<(EffectId, Effect)> {
    let open: Vec<_> = script.run().unsettled.iter().collect();
    let (id, request) = open.get(usize::from(which) % open.len().max(1))?;
    Some((**id, (*request).clone()))
}

/// What an agent leaves; nought is good work.
fn leave(script: &mut Script, work: &RoundWork, how: u8) {
    let number = script.desk.fresh();
    let digest = format!("file-{number}");
    let plane = &mut script.desk.plane;
    let chosen =
        plane.candidates().next().map(|(milestone, direction)| (milestone.id.clone(), direction.id.clone()));
    if work.kind.is_of_update() {
        let Some(update) = &mut plane.update else { return };
        match (&work.kind, how % 4) {
            (WorkKind::AuthorUpdate, 1) => update.author_faults = vec!["no rationale".to_owned()],
            (WorkKind::AuthorUpdate, _) => {
                (update.authored, update.author_faults) = (true, Vec::new());
            }
            (WorkKind::ReviewUpdate, 1) => update.review = Some(update_rejected()),
            (WorkKind::ReviewUpdate, _) => update.review = Some(update_approved(&digest)),
            _ => {}
        }
        return;
    }
    let Some(round) = plane.rounds.iter_mut().find(|round| round.id == work.round) else { return };
    let evidence = &mut round.evidence;
    match (&work.kind, how % 6) {
        (WorkKind::Plan, 1) => evidence.plan_faults = vec!["no goal".to_owned()],
        (WorkKind::Plan, 2) => evidence.plan = Some(direct(&digest)),
        (WorkKind::Plan, 3) => (evidence.request, evidence.plan) = (true, None),
        (WorkKind::Plan, _) => {
            let chosen = chosen.map(|(milestone, direction)| plan(&milestone, &direction));
            (evidence.request, evidence.plan, evidence.plan_faults) = (chosen.is_none(), chosen, Vec::new());
        }
        (WorkKind::Implement, 1) => {}
        (WorkKind::Implement, _) => evidence.notes = true,
        (WorkKind::Review, 1) => evidence.review = Some(rejected(RetryTarget::Plan)),
        (WorkKind::Review, 2) => evidence.review = Some(rejected(RetryTarget::Implement)),
        (WorkKind::Review, 3) => evidence.review = Some(ReviewSeen::Unclassified { why: "both".to_owned() }),
        (WorkKind::Review, 4) => {
            evidence.review = Some(approved(&digest, CloseoutMode::SemanticUpdateRequired));
        }
        (WorkKind::Review, _) => evidence.review = Some(approved(&digest, CloseoutMode::StatusOnly)),
        _ => {}
    }
}

fn trouble(how: u8) -> Option<Trouble> {
    let why = "of the provider".to_owned();
    match how % 29 {
        1 => Some(Trouble::Limited { until: None, why }),
        2 => Some(Trouble::Unavailable { why }),
        3 => Some(Trouble::Misconfigured { why }),
        4 => Some(Trouble::Failed { why }),
        _ => None,
    }
}

/// An outcome that fits; nought is the good one.
fn outcome(script: &mut Script, request: &Effect, how: u8) -> Outcome {
    match request {
        Effect::RunAgent(asked) => {
            let work = asked.work.as_ref().map(|place| place.work.clone());
            if let Some(work) = &work {
                leave(script, work, how);
            }
            let mut report = Script::sound(asked);
            report.trouble = trouble(how);
            report.end = StepEnd::Exited { code: i32::from(how % 13 == 5) };
            if matches!(work.map(|work| work.kind), Some(WorkKind::Investigate { .. })) {
                report.answer = Answer::Missing;
            }
            Outcome::from(report)
        }
        Effect::Plane(PlaneStep::FinalizeRound(_) | PlaneStep::PublishUpdate(_))
            if !how.is_multiple_of(5) =>
        {
            Outcome::Plane(PlaneOutcome::Held(match how % 5 {
                1 => Held::BaseMoved,
                2 => Held::Stale { why: "old".to_owned() },
                3 => Held::Conflicts { paths: vec!["a".to_owned()] },
                _ => Held::InTheWay { why: "edits".to_owned() },
            }))
        }
        Effect::Plane(PlaneStep::FinalizeRound(asked)) => merged(script, &asked.round),
        Effect::Plane(PlaneStep::PublishUpdate(_)) => {
            script.desk.plane.update.iter_mut().for_each(|update| update.merged = true);
            commit(script)
        }
        Effect::Plane(PlaneStep::CombineWork(asked)) => {
            let head = CommitId::new(format!("{}@{}", asked.branch, script.desk.fresh()));
            script.advance(&asked.branch, &head);
            let conflicts = if how % 3 == 1 { vec!["a".to_owned()] } else { Vec::new() };
            Outcome::Plane(PlaneOutcome::WorkCombined { head, conflicts, kept: None })
        }
        Effect::Wait(_) => Outcome::Waited,
        Effect::CloseRun(_) => Outcome::Closed,
        _ => {
            script.looks = how.is_multiple_of(2);
            script.housework(request)
        }
    }
}

fn commit(script: &mut Script) -> Outcome {
    let commit = CommitId::new(format!("base-{}", script.desk.fresh()));
    script.desk.plane.base = commit.clone();
    Outcome::Plane(PlaneOutcome::Merged { commit, tree: TreeId::new("tree") })
}

fn merged(script: &mut Script, round: &str) -> Outcome {
    let plane = &mut script.desk.plane;
    let seen = plane.rounds.iter_mut().find(|seen| seen.id == round);
    let plan = seen.and_then(|seen| {
        seen.evidence.merged = true;
        seen.evidence.plan.clone()
    });
    if let Some(plan) = plan {
        plane.merged_items.push(plan.item);
        let milestone = plane.milestones.iter_mut().filter(|known| known.id == plan.milestone);
        milestone.for_each(|known| known.status = MilestoneStatus::Done);
    }
    plane.merged_rounds.push(round.to_owned());
    commit(script)
}

fn edit(script: &mut Script, which: u8, how: u8) {
    let stages = [RoundStage::Plan, RoundStage::Implement, RoundStage::Review, RoundStage::FinalizeRound];
    let rounds = &mut script.desk.plane.rounds;
    let place = usize::from(which) % rounds.len().max(1);
    match (how % 6, rounds.get_mut(place)) {
        (0, Some(round)) => round.stage = stages[usize::from(which) % 4],
        (1, Some(round)) => round.stage = RoundStage::Blocked,
        (2, Some(round)) => round.worktree_stands = false,
        (3, Some(round)) => round.head = Some(CommitId::new(format!("by-hand-{which}"))),
        (4, Some(_)) => drop(rounds.remove(place)),
        _ => script.desk.plane.base = CommitId::new(format!("base-by-hand-{which}")),
    }
    script.desk.moved();
}

fn happens(script: &mut Script, which: u8, how: u8) {
    let Some((effect, request)) = pick(script, which) else { return };
    let usage = Usage { tokens: u64::from(how % 7), ..Usage::default() };
    let refusable = matches!(request, Effect::PrepareWorkspaces | Effect::Plane(_));
    match how {
        0..6 => script.answer(effect, Outcome::Lost { reason: "gone".to_owned(), usage }),
        6..9 => script.answer(effect, Outcome::Interrupted { usage }),
        9..12 if refusable => script.answer(effect, Outcome::Refused { reason: "no".to_owned() }),
        12 if !script.run().ended => {
            let _ = script.observe(Observation::StopRequested { reason: "lunch".to_owned() });
        }
        13..40 => edit(script, which, how),
        _ => {
            let outcome = outcome(script, &request, how);
            script.answer(effect, outcome);
        }
    }
    assert!(!explain(script.run()).now.is_empty());
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 96, ..ProptestConfig::default() })]

    #[test]
    fn every_run_stays_lawful_and_comes_to_its_end(
        cap in 1..4_u32,
        happenings in proptest::collection::vec((any::<u8>(), any::<u8>()), 0..80),
    ) {
        let mut script = Script::unprepared(spec(), parallel(cap));
        for (which, how) in happenings {
            happens(&mut script, which, how);
        }
        for _ in 0..CALM {
            let Some((effect, request)) = pick(&script, 0) else { break };
            let outcome = outcome(&mut script, &request, 0);
            script.answer(effect, outcome);
        }
        prop_assert!(script.run().ended, "it never comes to its end: {:?}", script.waiting());
    }
}
