//! What is held against a control loop beyond its own invariants: what the plant really is, what the branch really has.

use crate::checks::{Check, Violation};
use crate::world::Truth;
use std::collections::BTreeMap;
use windlass_protocols::effect::CommitIteration;
use windlass_protocols::protocol::Spec;
use windlass_protocols::protocol::feedback_control::facts::Fact as ControlFact;
use windlass_protocols::protocol::feedback_control::spec::ControlSpec;
use windlass_protocols::{Effect, EffectId, Fact};

pub(crate) fn hold(facts: &[Fact], new: &[Fact], truth: &Truth) -> Result<(), Violation> {
    let Some(Fact::RunStarted { spec: Spec::FeedbackControl(spec), .. }) = facts.first() else {
        return Ok(());
    };
    let mut committed = false;
    for fact in new {
        if let Fact::EffectRequested { effect, request } = fact {
            room_to_work(*effect, request)?;
        }
        match fact {
            Fact::EffectRequested { request: Effect::CommitIteration(commit), .. } if commit.target_met => {
                met_in_truth(spec, commit, truth)?;
            }
            Fact::FeedbackControl(ControlFact::IterationCommitted { .. }) => committed = true,
            _ => {}
        }
    }
    if committed {
        one_commit_each(facts, truth)?;
        capped(spec, facts, truth)?;
    }
    Ok(())
}

fn room_to_work(effect: EffectId, request: &Effect) -> Result<(), Violation> {
    let limits = match request {
        Effect::RunAgent(agent) => agent.limits,
        Effect::Measure(measure) => measure.limits,
        _ => return Ok(()),
    };
    if limits.tokens == Some(0) || limits.cost_micros == Some(0) || limits.total.0 == 0 {
        let sentence = format!("effect {effect} may use nothing: {limits:?}");
        return Err(Violation::new(Check::RoomToWork, sentence));
    }
    Ok(())
}

/// Holds a met target against the plant, not against what was reported about it.
fn met_in_truth(spec: &ControlSpec, commit: &CommitIteration, truth: &Truth) -> Result<(), Violation> {
    let node = spec.node(commit.depth as usize);
    for sensor in node.sensors.iter().filter(|sensor| sensor.required) {
        let figure = truth.plant.known(&commit.plant).map(|figures| figures.of(&sensor.name));
        if figure != Some(0) {
            let sentence =
                format!("iteration {} counts as met and {} reads {figure:?}", commit.label, sensor.name);
            return Err(Violation::new(Check::MetInTruth, sentence));
        }
    }
    Ok(())
}

/// What the journal believes to be committed is on the branch, in this order; one more may be there that nobody saw.
fn one_commit_each(facts: &[Fact], truth: &Truth) -> Result<(), Violation> {
    let believed: Vec<&str> = facts
        .iter()
        .filter_map(|fact| match fact {
            Fact::FeedbackControl(ControlFact::IterationCommitted { label, .. }) => Some(label.as_str()),
            _ => None,
        })
        .collect();
    let there: Vec<&str> = truth.branch.labels().collect();
    if there.starts_with(&believed) && there.len() <= believed.len() + 1 {
        return Ok(());
    }
    let sentence = format!("the journal has {believed:?}, the branch {there:?}");
    Err(Violation::new(Check::CommittedOnce, sentence))
}

/// One entry of a node has iteration 0, its actuations and one that ends it; each time somebody takes the run up there may
/// be one more that ends it, and in the outermost node as many as were given.
fn capped(spec: &ControlSpec, facts: &[Fact], truth: &Truth) -> Result<(), Violation> {
    let (mut reopened, mut given) = (0, 0);
    for fact in facts {
        if let Fact::RunReopened { caps, .. } = fact {
            reopened += 1;
            given += caps.more_rounds;
        }
    }
    let mut iterations: BTreeMap<&str, u32> = BTreeMap::new();
    for label in truth.branch.labels() {
        let entry = label.rsplit_once('.').map_or("", |(parent, _)| parent);
        *iterations.entry(entry).or_default() += 1;
    }
    for (entry, count) in iterations {
        let depth = if entry.is_empty() { 0 } else { entry.split('.').count() };
        let cap = if depth == 0 { spec.caps.rounds + given } else { spec.node(depth).max_iterations };
        if count > cap + 2 + reopened {
            let sentence = format!("the entry {entry:?} has {count} iterations with a cap of {cap}");
            return Err(Violation::new(Check::Capped, sentence));
        }
    }
    Ok(())
}
