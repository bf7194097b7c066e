//! How an agent of a goal loop is asked: by whom, with what it is told, what it may use. Which step comes next is not known
//! here.

use super::iteration::Iteration;
use super::next::state;
use super::state::State;
use crate::draft::Draft;
use crate::effect::{Ask, Effect, RunAgent, StepLimits, Wait};
use crate::kernel::availability::Available;
use crate::outcome::AgentSession;
use crate::vocabulary::{ArtifactRef, Role};
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

/// What one step may use: of the run, and of what the contract has left.
pub(super) fn limits(draft: &Draft) -> StepLimits {
    let limits = draft.budget().step_limits();
    let Some(contract) = state(draft).limits() else { return limits };
    let caps = [contract.time.map(|time| time.0), contract.tokens, contract.cost_micros];
    limits.within(caps, &draft.budget().used)
}

/// Asks the first agent of the role's chain that can be asked now, or waits for it.
pub(super) fn agent(draft: &Draft, open: &Iteration, role: Role) -> Effect {
    let state = state(draft);
    match state.availability.choose(state.spec.place.chain(role), draft.now()) {
        Available::Now(agent) => ask_agent(draft, open, role, Some(agent)),
        // A run without any agent is refused by whoever carries the request out, in the user's words.
        Available::Never => ask_agent(draft, open, role, None),
        Available::From(until) => Effect::Wait(Wait { role, until, why: state.last_outage.clone() }),
    }
}

fn ask_agent(draft: &Draft, open: &Iteration, role: Role, agent: Option<&str>) -> Effect {
    let state = state(draft);
    let ask = match &state.repairing {
        Some(faults) => Ask::Repair { faults: faults.clone() },
        None => Ask::Fresh { feedback: told(state, open, role), history: Vec::new() },
    };
    Effect::RunAgent(RunAgent {
        role,
        round: open.number,
        attempt: open.asked.get(&role).map_or(1, |asked| asked + 1),
        tree: Some(if role == Role::Evaluator { open.tree() } else { &open.start }.clone()),
        ask,
        inputs: inputs(state, open, role),
        limits: limits(draft),
        agent: agent.map(ToString::to_string),
        session: session_to_go_on_with(state, role, agent),
        node: None,
        item: Some(open.item.clone()),
        work: None,
    })
}

/// All earlier root causes and what a person said. An evaluator is told neither: it looks with fresh eyes.
fn told(state: &State, open: &Iteration, role: Role) -> Vec<String> {
    let item = state.item(&open.item);
    let notes = state.unsaid_notes.iter().map(|note| format!("a person says: {note}"));
    match role {
        Role::Planner => {
            let rejected = item.designs_rejected.iter();
            rejected.map(|reason| format!("an earlier design was rejected: {reason}")).chain(notes).collect()
        }
        Role::Builder => item.told().into_iter().chain(notes).collect(),
        Role::Evaluator
        | Role::Doer
        | Role::Judge
        | Role::Auditor
        | Role::Sensor
        | Role::Controller
        | Role::Actuator
        | Role::Implementer
        | Role::Reviewer
        | Role::Investigator => Vec::new(),
    }
}

/// Only a repair goes on with a conversation, and only with the agent it was with; every other step begins afresh.
fn session_to_go_on_with(state: &State, role: Role, agent: Option<&str>) -> Option<AgentSession> {
    state.repairing.as_ref()?;
    state.session.as_ref()?.with(role, agent)
}

/// Sealed artifacts that the prompt quotes, never files that somebody could have changed since.
fn inputs(state: &State, open: &Iteration, role: Role) -> Vec<ArtifactRef> {
    let mut inputs = Vec::new();
    if state.repairing.is_some() {
        inputs.extend(state.left.clone());
    }
    inputs.extend(state.queue.iter().flat_map(|queue| queue.sources.iter().cloned()));
    inputs.extend(state.items.get(&open.item).and_then(|item| item.design_artifact()).cloned());
    if role == Role::Evaluator {
        inputs.extend(open.change.iter().map(|change| change.patch.clone()));
        let suite = open.suite.as_ref().or_else(|| state.baseline.as_ref()?.suite.as_ref());
        inputs.extend(suite.map(|suite| suite.log.clone()));
        inputs.extend(open.gate.evidence.iter().cloned());
    }
    inputs
}

/// One line without control over how it is shown.
pub(super) fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}
