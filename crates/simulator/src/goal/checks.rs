//! What is held against a goal loop beyond its own invariants: what the content really is, who really said yes, what the
//! branch really has, and that no counter goes back.

use super::{GoalTruth, goal_state};
use crate::checks::{Check, Violation};
use std::collections::BTreeMap;
use windlass_protocols::effect::CommitItem;
use windlass_protocols::protocol::Spec;
use windlass_protocols::protocol::goal_contract::facts::Fact as GoalFact;
use windlass_protocols::protocol::goal_contract::queue::Autonomy;
use windlass_protocols::protocol::goal_contract::spec::GoalSpec;
use windlass_protocols::{Effect, EffectId, Fact, Run};

/// What a counter must not fall behind.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Counters {
    iterations: u32,
    commits: usize,
    ledger: usize,
    rework: BTreeMap<String, u32>,
}

impl Counters {
    /// Takes the run's counters; none of them may be less than it was.
    pub(crate) fn grow(&mut self, run: &Run) -> Result<(), Violation> {
        let Some(state) = goal_state(run) else {
            return Ok(());
        };
        let now = Self {
            iterations: state.iteration,
            commits: state.commits.len(),
            ledger: state.past.len(),
            rework: state.items.iter().map(|(id, item)| (id.clone(), item.rework)).collect(),
        };
        let rework_lost = self.rework.iter().any(|(id, before)| now.rework.get(id) < Some(before));
        if now.iterations < self.iterations
            || now.commits < self.commits
            || now.ledger < self.ledger
            || rework_lost
        {
            let sentence = format!("counters were {self:?} and are {now:?}");
            return Err(Violation::new(Check::CountersOnlyGrow, sentence));
        }
        *self = now;
        Ok(())
    }
}

pub(crate) fn hold(facts: &[Fact], new: &[Fact], run: &Run, truth: &GoalTruth) -> Result<(), Violation> {
    let Some(Fact::RunStarted { spec: Spec::GoalContract(spec), .. }) = facts.first() else {
        return Ok(());
    };
    let mut committed = false;
    for fact in new {
        match fact {
            Fact::EffectRequested { effect, request } => {
                room_to_work(*effect, request)?;
                if let Effect::CommitItem(commit) = request {
                    judged_in_truth(spec, commit, run, truth)?;
                }
            }
            Fact::GoalContract(GoalFact::ItemCommitted { .. }) => committed = true,
            _ => {}
        }
    }
    if committed { one_commit_each(facts, truth) } else { Ok(()) }
}

pub(crate) fn room_to_work(effect: EffectId, request: &Effect) -> Result<(), Violation> {
    let limits = match request {
        Effect::RunAgent(agent) => agent.limits,
        Effect::RunSuite(suite) => suite.limits,
        Effect::RunChecks(checks) => checks.limits,
        Effect::InspectGate(inspection) => inspection.limits,
        _ => return Ok(()),
    };
    if limits.tokens == Some(0) || limits.cost_micros == Some(0) || limits.total.0 == 0 {
        let sentence = format!("effect {effect} may use nothing: {limits:?}");
        return Err(Violation::new(Check::RoomToWork, sentence));
    }
    Ok(())
}

/// A tree is committed only if it is the one that was green, passed and, where a person is asked, approved in the world.
fn judged_in_truth(
    spec: &GoalSpec,
    commit: &CommitItem,
    run: &Run,
    truth: &GoalTruth,
) -> Result<(), Violation> {
    let Some(item) = &commit.item else {
        return Ok(());
    };
    let tree = &commit.tree;
    let refuse = |why: String| Err(Violation::new(Check::JudgedInTruth, why));
    if spec.suite.is_some() && !truth.works.was_green(tree) {
        return refuse(format!("{item} is to be committed with {tree}, on which the suite is red"));
    }
    if !truth.passed.contains(&(item.clone(), tree.clone())) {
        return refuse(format!("no evaluator passed {item} in {tree}, which is to be committed"));
    }
    let level = goal_state(run).and_then(|state| state.queue.as_ref()).map(|queue| {
        spec.tightened.autonomy.map_or(queue.autonomy, |tightened| tightened.min(queue.autonomy))
    });
    if level == Some(Autonomy::L1) && !truth.approved.contains(tree.as_str()) {
        return refuse(format!("nobody approved {tree}, which is to be committed for {item}"));
    }
    Ok(())
}

/// What the journal believes to be committed is on the branch, in this order; one more may be there that nobody saw.
fn one_commit_each(facts: &[Fact], truth: &GoalTruth) -> Result<(), Violation> {
    let believed: Vec<_> = facts
        .iter()
        .filter_map(|fact| match fact {
            Fact::GoalContract(GoalFact::ItemCommitted { item, tree, .. }) => Some((item.as_str(), tree)),
            _ => None,
        })
        .collect();
    let there: Vec<_> = truth.history.items().collect();
    if there.starts_with(&believed) && there.len() <= believed.len() + 1 {
        return Ok(());
    }
    let sentence = format!("the journal has {believed:?}, the branch {there:?}");
    Err(Violation::new(Check::CommittedOnce, sentence))
}
