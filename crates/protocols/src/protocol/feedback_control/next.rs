//! What to ask for next, read off the state alone. The start, a settled step and a reopened run all come through here, so
//! there is one order of steps at every depth and no second way to resume.

use super::asking::{agent, limits_of_measuring};
use super::end::{Cause, End, NodeEnd, Stall};
use super::facts::Fact as ControlFact;
use super::frame::Frame;
use super::spec::{Actuator, CapRule, Node, OnError};
use super::state::State;
use crate::draft::Draft;
use crate::effect::{CloseRun, CommitIteration, Effect, InspectGate, Measure, SensorRun};
use crate::fact::Fact;
use crate::kernel::budget::Dimension;
use crate::kernel::gate::{GateFinding, OnFindings};
use crate::outcome::ReadingStatus;
use crate::protocol::Protocol;
use crate::vocabulary::{Role, TreeId};
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

/// # Panics
/// Never: this loop's code is only reached by runs of this loop.
pub(super) fn state(draft: &Draft) -> &State {
    match draft.protocol() {
        Protocol::FeedbackControl(state) => state,
        Protocol::JudgedTask(_) | Protocol::GoalContract(_) | Protocol::RoadmapRounds(_) => {
            unreachable!("a control loop's step in another loop")
        }
    }
}

pub(super) fn record(draft: &mut Draft, fact: ControlFact) {
    draft.record(Fact::FeedbackControl(fact));
}

/// Ends the node at work with an error; its parent or a person is told.
pub(super) fn fail(draft: &mut Draft, cause: Cause) {
    match state(draft).frame().map(|frame| frame.depth) {
        Some(depth) => {
            record(draft, ControlFact::NodeConcluded { depth, end: NodeEnd::Failed { cause } });
        }
        None => needs_human(draft, cause),
    }
}

/// Ends the run where it stands: a person has to look before the same step can be tried again.
pub(super) fn needs_human(draft: &mut Draft, cause: Cause) {
    record(draft, ControlFact::Concluded { end: End::NeedsHuman { cause } });
}

pub(crate) fn go_on(draft: &mut Draft) {
    loop {
        match next(draft) {
            Next::Decided(fact) => record(draft, fact),
            Next::Refused { depth, failing } => refuse_claim(draft, depth, failing),
            Next::NotWaived { depth, findings } => refuse_over_gate(draft, depth, findings),
            Next::Ask(effect) => return ask(draft, effect),
            Next::WindUp(effect) => return draft.request(effect),
        }
    }
}

enum Next {
    /// Something follows from what is known without asking anybody.
    Decided(ControlFact),
    Refused {
        depth: u32,
        failing: Vec<String>,
    },
    NotWaived {
        depth: u32,
        findings: Vec<GateFinding>,
    },
    Ask(Effect),
    /// Bringing an ended node or run home is not stopped by a cap or by a request to stop.
    WindUp(Effect),
}

fn next(draft: &Draft) -> Next {
    let state = state(draft);
    if let Some(end) = &state.end {
        return Next::WindUp(Effect::CloseRun(close(state, end)));
    }
    if let Some(commit) = &state.unseen_commit {
        return Next::WindUp(Effect::CommitIteration(commit.clone()));
    }
    let Some(plant) = &state.plant else {
        return Next::Ask(Effect::PrepareWorkspaces);
    };
    let Some(frame) = state.frame() else {
        return Next::Decided(ControlFact::NodeEntered { depth: 0, setpoint: None });
    };
    let node = state.spec.node(frame.depth as usize);
    if let Some(end) = &frame.end {
        return if frame.committed { leave(state, frame, end) } else { commit(draft, frame, plant) };
    }
    if frame.iteration == 0 {
        return entry(draft, frame, node, plant);
    }
    if frame.committed {
        let (depth, iteration) = (frame.depth, frame.iteration + 1);
        return Next::Decided(ControlFact::IterationOpened { depth, iteration });
    }
    in_iteration(draft, frame, node, plant)
}

/// Iteration 0: the outermost node measures, an inner one begins with its parent's readings.
fn entry(draft: &Draft, frame: &Frame, node: &Node, plant: &TreeId) -> Next {
    let depth = frame.depth;
    if !frame.sensed {
        return if depth == 0 {
            measure(draft, frame, node, plant)
        } else {
            Next::Decided(ControlFact::MeasurementSkipped { depth })
        };
    }
    if !frame.committed {
        return commit(draft, frame, plant);
    }
    Next::Decided(ControlFact::IterationOpened { depth, iteration: 1 })
}

fn in_iteration(draft: &Draft, frame: &Frame, node: &Node, plant: &TreeId) -> Next {
    let state = state(draft);
    let depth = frame.depth;
    let cap = cap(draft, frame, node);
    let conclude = |end| Next::Decided(ControlFact::NodeConcluded { depth, end });
    let Some(decision) = &frame.decision else {
        if state.spec.cap_rule == CapRule::StrictOriginal && strict_cap_is_reached(frame, cap) {
            return conclude(NodeEnd::MaxIterations);
        }
        // Whoever judges is shown what the sensors say without the actuator's own tests.
        let inspection = inspection(draft, frame, node, plant);
        return Next::Ask(inspection.unwrap_or_else(|| agent(draft, frame, Role::Controller, None)));
    };
    if decision.target_met {
        let of_plant = frame.measured.as_ref() == Some(plant) && !frame.put_back;
        if !node.sensors.is_empty() && !of_plant {
            return measure(draft, frame, node, plant);
        }
        let failing = frame.failing(node, plant);
        if !failing.is_empty() {
            return Next::Refused { depth, failing };
        }
        if let Some(effect) = inspection(draft, frame, node, plant) {
            return Next::Ask(effect);
        }
        let findings: Vec<GateFinding> = state.integrity.gate.unwaived().into_iter().cloned().collect();
        return if findings.is_empty() || state.spec.place.gate.is_off() {
            conclude(NodeEnd::TargetMet)
        } else {
            Next::NotWaived { depth, findings }
        };
    }
    let acted = frame.change.is_some() || frame.child_end.is_some();
    if !acted && frame.action.is_none() {
        if let Some(how) = frame.steadiness.stall(state.spec.steady_limit) {
            // Nothing can change while the inner loop fails: that is the reason, and what is to be mended.
            return conclude(match state.child_failure(depth).filter(|_| how == Stall::NoChange) {
                Some(cause) => NodeEnd::Failed { cause: cause.clone() },
                None => NodeEnd::Stalled { how },
            });
        }
        if frame.actuations >= cap {
            return conclude(NodeEnd::MaxIterations);
        }
    }
    if !acted {
        return match &node.actuator {
            Actuator::Cascade(_) => {
                Next::Decided(ControlFact::NodeEntered { depth: depth + 1, setpoint: decision.plan.clone() })
            }
            Actuator::Direct(_) if frame.action.is_none() => {
                Next::Ask(agent(draft, frame, Role::Actuator, None))
            }
            Actuator::Direct(_) => Next::Ask(Effect::CaptureChange { round: state.captures + 1 }),
        };
    }
    if !frame.sensed {
        return measure(draft, frame, node, plant);
    }
    commit(draft, frame, plant)
}

/// How many actuations this entry of the node may have.
fn cap(draft: &Draft, frame: &Frame, node: &Node) -> u32 {
    // More rounds for a run that is taken up again are the outermost node's.
    if frame.depth == 0 { draft.budget().caps.rounds } else { node.max_iterations }
}

/// The original's `i >= max` before the controller, told by actuations: an iteration that ended otherwise and was taken up
/// again is none that the cap is about.
pub(super) const fn strict_cap_is_reached(frame: &Frame, cap: u32) -> bool {
    frame.actuations.saturating_add(1) >= cap
}

fn leave(state: &State, frame: &Frame, end: &NodeEnd) -> Next {
    let end_of_run = |end| Next::Decided(ControlFact::Concluded { end });
    let node = state.spec.node(frame.depth as usize);
    match end {
        NodeEnd::Failed { cause } if frame.depth == 0 || node.on_error == OnError::FailFast => {
            end_of_run(End::NeedsHuman { cause: cause.clone() })
        }
        _ if frame.depth > 0 => {
            Next::Decided(ControlFact::ChildReturned { depth: frame.depth, end: end.clone() })
        }
        NodeEnd::TargetMet => end_of_run(End::Complete),
        NodeEnd::MaxIterations => end_of_run(End::Exhausted { dimension: Dimension::Rounds }),
        NodeEnd::Spent { dimension } => end_of_run(End::Exhausted { dimension: *dimension }),
        NodeEnd::Stalled { how } => end_of_run(End::Stalled { how: *how }),
        NodeEnd::Failed { cause } => end_of_run(End::NeedsHuman { cause: cause.clone() }),
    }
}

/// A claim that its own sensors contradict goes back once; a controller that repeats it cannot be worked with.
fn refuse_claim(draft: &mut Draft, depth: u32, failing: Vec<String>) {
    let names = failing.join(", ");
    record(draft, ControlFact::ClaimRefused { depth, failing: failing.clone(), gate: Vec::new() });
    if state(draft).frame().is_some_and(|frame| frame.claims_refused > 1) {
        return fail(draft, Cause::FalseClaim { failing });
    }
    let fault = format!(
        "target-met: true was refused: these required sensors do not pass on the tree you judged: {names}; plan what is to be done about them"
    );
    record(draft, ControlFact::RepairAsked { role: Role::Controller, faults: alloc::vec![fault] });
}

/// Only for content that could be the target: all required sensors pass on it, and it touches what they measure with.
fn inspection(draft: &Draft, frame: &Frame, node: &Node, plant: &TreeId) -> Option<Effect> {
    let state = state(draft);
    if !state.integrity.wants_inspection(&state.spec.place.gate, frame.depth)
        || !frame.failing(node, plant).is_empty()
    {
        return None;
    }
    let required = node.sensors.iter().filter(|sensor| sensor.required);
    let commands: Vec<String> = required.filter_map(|sensor| sensor.command.clone()).collect();
    if commands.is_empty() {
        return None;
    }
    let (_, base) = state.base.as_ref()?;
    Some(Effect::InspectGate(InspectGate {
        round: state.captures,
        base: base.clone(),
        tree: plant.clone(),
        commands,
        red_at_base: state.integrity.red_at_base.clone(),
        flaky: Vec::new(),
        unmeasured: false,
        // Commands use no tokens, and content that nobody looked at would be paid for in vain: only the run's own caps count.
        limits: draft.budget().step_limits(),
    }))
}

/// The controller is told once which findings it did not waive; then, or at once where the user wants that, a person is asked,
/// and the claim stands until they waive them or send the controller back to work.
fn refuse_over_gate(draft: &mut Draft, depth: u32, findings: Vec<GateFinding>) {
    let state = state(draft);
    let told_already = state.frame().is_some_and(|frame| frame.claims_refused > 0);
    let asks = state.spec.place.gate.on_findings == OnFindings::Ask;
    let reports = depth > 0 && state.spec.node(depth as usize).on_error == OnError::ReportToParent;
    let cause = Cause::GateFindings { findings: findings.clone() };
    match (asks, told_already) {
        (false, false) => {}
        (false, true) if reports => return fail(draft, cause),
        _ => return needs_human(draft, cause),
    }
    let words: Vec<String> = findings.iter().map(GateFinding::words).collect();
    record(draft, ControlFact::ClaimRefused { depth, failing: Vec::new(), gate: findings });
    let fault = format!(
        "target-met: true was refused: the change touches what measures it, and nobody waived this by its name: {}; waive it with a reason under `## Waivers` if it should be so, or plan how it is put right",
        words.join("; ")
    );
    record(draft, ControlFact::RepairAsked { role: Role::Controller, faults: alloc::vec![fault] });
}

/// Commands first, all in one step; then, one after the other, what only an agent can measure.
fn measure(draft: &Draft, frame: &Frame, node: &Node, plant: &TreeId) -> Next {
    let depth = frame.depth;
    let missing = |name: &str| !frame.coming.iter().any(|reading| reading.sensor == name);
    let sensors: Vec<SensorRun> = node
        .sensors
        .iter()
        .filter(|sensor| missing(&sensor.name))
        .filter_map(|sensor| {
            Some(SensorRun {
                name: sensor.name.clone(),
                command: sensor.command.clone()?,
                required: sensor.required,
                total: sensor.timeout.map(|own| limits_of_measuring(draft, frame, Some(own)).total),
            })
        })
        .collect();
    if !sensors.is_empty() {
        let limits = limits_of_measuring(draft, frame, None);
        return Next::Ask(Effect::Measure(Measure {
            depth,
            label: frame.label(),
            tree: plant.clone(),
            sensors,
            limits,
        }));
    }
    if let Some(sensor) = node.sensors.iter().find(|sensor| missing(&sensor.name)) {
        return Next::Ask(agent(draft, frame, Role::Sensor, Some(&sensor.name)));
    }
    let (readings, gate) = (Vec::new(), Vec::new());
    Next::Decided(ControlFact::ReadingsTaken { depth, tree: plant.clone(), readings, gate })
}

fn commit(draft: &Draft, frame: &Frame, plant: &TreeId) -> Next {
    let state = state(draft);
    let node = state.spec.node(frame.depth as usize);
    let Some(parent) = state.head.clone() else {
        return Next::Ask(Effect::PrepareWorkspaces);
    };
    let end = frame.end.as_ref();
    let status = |name: &str| {
        // What was measured on another content says nothing about the one that is committed.
        let of_plant = frame.readings.iter().filter(|_| frame.measured.as_ref() == Some(plant));
        let reading = of_plant.into_iter().find(|reading| reading.sensor == name);
        reading.map_or(ReadingStatus::Pending, |reading| reading.status)
    };
    let effect = Effect::CommitIteration(CommitIteration {
        depth: frame.depth,
        label: frame.label(),
        parent,
        plant: plant.clone(),
        status: end.map_or(super::end::NodeStatus::Running, NodeEnd::status),
        target_met: end == Some(&NodeEnd::TargetMet),
        action: action(state, frame),
        sensors: node.sensors.iter().map(|sensor| (sensor.name.clone(), status(&sensor.name))).collect(),
        decided_at: draft.now(),
    });
    // Nothing is lost by committing what was done, even when nothing may be begun any more.
    Next::WindUp(effect)
}

/// One line of what this iteration did.
fn action(state: &State, frame: &Frame) -> String {
    if let Some(end) = &frame.end {
        let kept = match (frame.depth, frame.steadiness.best()) {
            (0, Some(best)) if state.plant.as_ref() == Some(&best.plant) && *end != NodeEnd::TargetMet => {
                format!("; the branch ends on the content of iteration {}", best.label)
            }
            _ => String::new(),
        };
        return format!("ended: {}{kept}", end.reason());
    }
    if frame.iteration == 0 {
        return match frame.depth {
            0 => "initial measurement".to_string(),
            _ => "initial entry (sensors skipped)".to_string(),
        };
    }
    if let Some(end) = &frame.child_end {
        return format!("inner loop ended: {}", end.reason());
    }
    match (&frame.action, &frame.change) {
        (_, Some(change)) if change.files_changed == 0 => "nothing was changed".to_string(),
        (Some(action), _) if !action.summary.is_empty() => action.summary.clone(),
        (_, Some(change)) => format!("{} files changed", change.files_changed),
        _ => "edited files".to_string(),
    }
}

fn close(state: &State, end: &End) -> CloseRun {
    CloseRun {
        final_verdict: end.word().to_string(),
        judge_verdict: "not-run".to_string(),
        audit_gate: "not-run".to_string(),
        rounds_completed: state.stack.first().map_or(0, |frame| frame.actuations),
    }
}

/// A new step begins only while nobody asked to stop and something is left of every budget.
fn ask(draft: &mut Draft, effect: Effect) {
    let cut_off = match draft.stop() {
        Some(stop) => Some(End::Stopped { by: stop.by.to_string(), reason: stop.reason.clone() }),
        None => draft.exhausted().map(|dimension| End::Exhausted { dimension }),
    };
    let state = state(draft);
    let share = spent_share(state).filter(|dimension| uses_share(state, &effect, *dimension));
    let share = state.frame().map(|frame| frame.depth).zip(share);
    match (cut_off, share) {
        (Some(end), _) => record(draft, ControlFact::Concluded { end }),
        (None, Some((depth, dimension))) => {
            record(draft, ControlFact::NodeConcluded { depth, end: NodeEnd::Spent { dimension } });
        }
        (None, None) => return draft.request(effect),
    }
    go_on(draft);
}

/// Taking down what was done uses nothing of a node's share, and measuring it is a part of doing it. Looking at the gate takes
/// time and nothing else.
fn uses_share(state: &State, effect: &Effect, dimension: Dimension) -> bool {
    let finishes = state.frame().is_some_and(Frame::is_to_be_measured);
    match effect {
        Effect::RunAgent(asked) => asked.role != Role::Sensor || !finishes,
        Effect::Wait(wait) => wait.role != Role::Sensor || !finishes,
        Effect::Measure(_) => !finishes,
        Effect::InspectGate(_) => dimension == Dimension::Minutes && !finishes,
        _ => false,
    }
}

/// A node whose share is used up begins nothing, nor does any node inside it.
pub(super) fn spent_share(state: &State) -> Option<Dimension> {
    state.stack.iter().find_map(|frame| frame.spent(state.spec.node(frame.depth as usize)))
}
