//! How an agent of a node is asked: by whom, with what it is told, what it may use. Which step comes next is not known
//! here.

use super::frame::Frame;
use super::next::state;
use super::state::State;
use super::steadiness::Remark;
use crate::draft::Draft;
use crate::effect::{Ask, Effect, NodeStep, RunAgent, StepLimits, Wait};
use crate::kernel::availability::Available;
use crate::outcome::AgentSession;
use crate::vocabulary::{ArtifactRef, Millis, Role};
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

/// What one step may use: of the run, and of what every node around it was given.
pub(super) fn limits(draft: &Draft) -> StepLimits {
    within_shares(draft, draft.budget().step_limits())
}

fn within_shares(draft: &Draft, limits: StepLimits) -> StepLimits {
    let state = state(draft);
    state.stack.iter().fold(limits, |limits, frame| {
        let budget = frame.share(state.spec.node(frame.depth as usize));
        let caps = [budget.time.map(|time| time.0), budget.tokens, budget.cost_micros];
        limits.within(caps, &frame.used)
    })
}

/// What a measurement may use, by a sensor that may have a time limit of its own. One that ends a step is never cut short by a
/// node's share: what was paid for would be lost.
pub(super) fn limits_of_measuring(draft: &Draft, frame: &Frame, own: Option<Millis>) -> StepLimits {
    let mut budget = *draft.budget();
    budget.caps.step_time = own.unwrap_or(budget.caps.step_time);
    let limits = budget.step_limits();
    if frame.is_to_be_measured() { limits } else { within_shares(draft, limits) }
}

/// Asks the first agent of the role's chain that can be asked now, or waits for it.
pub(super) fn agent(draft: &Draft, frame: &Frame, role: Role, sensor: Option<&str>) -> Effect {
    let state = state(draft);
    match state.availability.choose(state.spec.place.chain(role), draft.now()) {
        Available::Now(agent) => ask_agent(draft, frame, (role, sensor), Some(agent)),
        // A run without any agent is refused by whoever carries the request out, in the user's words.
        Available::Never => ask_agent(draft, frame, (role, sensor), None),
        Available::From(until) => {
            let why = state.last_outage.clone();
            Effect::Wait(Wait { role, until, why })
        }
    }
}

fn ask_agent(
    draft: &Draft,
    frame: &Frame,
    (role, sensor): (Role, Option<&str>),
    agent: Option<&str>,
) -> Effect {
    let state = state(draft);
    let ask = match &state.repairing {
        Some(faults) => Ask::Repair { faults: faults.clone() },
        None => Ask::Fresh { feedback: told(state, frame, role), history: Vec::new() },
    };
    Effect::RunAgent(RunAgent {
        role,
        round: frame.iteration,
        attempt: state.attempts.total() + 1,
        tree: state.plant.clone(),
        ask,
        inputs: inputs(state, frame, role),
        limits: match sensor {
            Some(name) => {
                let node = state.spec.node(frame.depth as usize);
                let own = node.sensors.iter().find(|one| one.name == name).and_then(|one| one.timeout);
                limits_of_measuring(draft, frame, own)
            }
            None => limits(draft),
        },
        agent: agent.map(ToString::to_string),
        session: session_to_go_on_with(state, role, agent),
        node: Some(NodeStep {
            depth: frame.depth,
            label: frame.label(),
            sensor: sensor.map(ToString::to_string),
        }),
        item: None,
        work: None,
    })
}

/// What the engine and a person have to say to the controller; the others have what they need in files.
fn told(state: &State, frame: &Frame, role: Role) -> Vec<String> {
    if role != Role::Controller {
        return Vec::new();
    }
    let remarks = frame.remarks.iter().map(Remark::words);
    let notes = state.unsaid_notes.iter().map(|note| format!("a person says: {note}"));
    let undone = state
        .reverted
        .iter()
        .map(|path| format!("{path} belongs to the loop; what the actuator did to it was undone"));
    let left_out = state.left_out.iter().map(|what| format!("the actuator left something behind: {what}"));
    let failed = state
        .child_failure(frame.depth)
        .map(|cause| format!("the inner loop failed, and changed no more after that: {}", cause.words()));
    remarks.chain(failed).chain(undone).chain(left_out).chain(notes).collect()
}

/// Only a repair goes on with a conversation, and only with the agent it was with; every other step begins afresh.
fn session_to_go_on_with(state: &State, role: Role, agent: Option<&str>) -> Option<AgentSession> {
    state.repairing.as_ref()?;
    state.session.as_ref()?.with(role, agent)
}

/// Sealed artifacts that the prompt quotes, never files that somebody could have changed since.
fn inputs(state: &State, frame: &Frame, role: Role) -> Vec<ArtifactRef> {
    let mut inputs = Vec::new();
    if state.repairing.is_some() {
        inputs.extend(state.left.clone());
    }
    inputs.extend(frame.setpoint.clone());
    match role {
        Role::Controller => {
            // An inner node that has not measured yet is not left blind: what a node around it measured is known.
            let known = state.stack.iter().rev().find(|frame| frame.measured.is_some());
            let known = known.into_iter().flat_map(|frame| frame.readings.iter());
            inputs.extend(known.map(|reading| reading.artifact.clone()));
            inputs.extend(state.integrity.gate.evidence.iter().cloned());
        }
        Role::Actuator => inputs.extend(frame.decision.iter().map(|decision| decision.artifact.clone())),
        Role::Sensor
        | Role::Doer
        | Role::Judge
        | Role::Auditor
        | Role::Planner
        | Role::Builder
        | Role::Evaluator
        | Role::Implementer
        | Role::Reviewer
        | Role::Investigator => {}
    }
    inputs
}
