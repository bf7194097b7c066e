//! A control loop in sentences: iterations and nodes.

use super::{found, local_time, short};
use windlass_control_api::events::Tone;
use windlass_protocols::effect::{Measure, NodeStep};
use windlass_protocols::kernel::availability::FOR_GOOD;
use windlass_protocols::kernel::budget::Dimension;
use windlass_protocols::outcome::{Action, AgentReport, CapturedChange, GateFinding, Reading, ReadingStatus};
use windlass_protocols::protocol::Protocol;
use windlass_protocols::protocol::feedback_control::end::{End, NodeEnd};
use windlass_protocols::protocol::feedback_control::facts::{Fact, NewLimits, OutKind, RetryKind};
use windlass_protocols::protocol::feedback_control::frame::Frame;
use windlass_protocols::protocol::feedback_control::state::State;
use windlass_protocols::{Role, Run};

/// In front of a sentence about a step of one node.
pub(super) fn place(node: Option<&NodeStep>) -> String {
    match node {
        Some(NodeStep { label, sensor: Some(sensor), .. }) => format!("iteration {label}: {sensor}: "),
        Some(NodeStep { label, .. }) => format!("iteration {label}: "),
        None => String::new(),
    }
}

/// Which model answered, where the repository's agent files may have chosen it.
pub(super) fn with_model(report: &AgentReport) -> String {
    match (report.role, &report.model) {
        (Role::Sensor | Role::Controller | Role::Actuator, Some(model)) => format!(", with {model}"),
        _ => String::new(),
    }
}

pub(super) fn measuring(asked: &Measure) -> (String, Tone) {
    let names: Vec<&str> = asked.sensors.iter().map(|sensor| sensor.name.as_str()).collect();
    (format!("iteration {}: the engine runs {}", asked.label, names.join(", ")), Tone::Plain)
}

pub(super) fn readings(readings: &[Reading]) -> (String, Tone) {
    let words = |reading: &Reading| {
        let cause = reading.cause.as_ref().map_or_else(String::new, |cause| format!(" ({cause})"));
        let edited = match reading.edited.len() {
            0 => String::new(),
            _ => format!(" (changed {} in its own copy)", reading.edited.join(", ")),
        };
        format!("{} {}{cause}{edited}", reading.sensor, reading.status.word())
    };
    let all: Vec<String> = readings.iter().map(words).collect();
    let good = readings.iter().all(|reading| reading.status == ReadingStatus::Pass);
    (all.join(", "), if good { Tone::Good } else { Tone::Bad })
}

pub(super) fn sentence(run: &Run, fact: &Fact) -> (String, Tone) {
    let protocol = run.started.as_ref().map(|started| &started.protocol);
    let Some(Protocol::FeedbackControl(state)) = protocol else {
        return (fact.name().to_owned(), Tone::Quiet);
    };
    match fact {
        Fact::BaseFixed { commit, .. } => {
            (format!("the loop begins at {}", short(commit.as_str())), Tone::Quiet)
        }
        Fact::NodeEntered { depth, .. } => (format!("enters {}", path(state, *depth)), Tone::Plain),
        Fact::MeasurementSkipped { .. } => {
            ("its first measurement is left out: its parent's readings stand".to_owned(), Tone::Quiet)
        }
        Fact::IterationOpened { depth, .. } => {
            (format!("iteration {} of {}", label(state), path(state, *depth)), Tone::Plain)
        }
        Fact::ReadingsTaken { readings: taken, .. } if taken.is_empty() => {
            ("the node has no sensors".to_owned(), Tone::Quiet)
        }
        Fact::ReadingsTaken { readings: taken, gate, .. } => {
            let (words, tone) = readings(taken);
            if gate.is_empty() {
                return (format!("measured: {words}"), tone);
            }
            let (found, tone) = found(gate);
            (format!("measured: {words}; {found}"), tone)
        }
        Fact::GateInspected { report, .. } if !report.findings.is_empty() => found(&report.findings),
        // A record that does not say what ran is not told as if it did.
        Fact::GateInspected { report, .. } if report.ran_with_base.is_empty() => {
            ("nothing more was found about the gate".to_owned(), Tone::Quiet)
        }
        Fact::GateInspected { .. } => {
            ("it passes with the base's own tests and configuration too".to_owned(), Tone::Good)
        }
        Fact::Remarked { remark, .. } => (remark.words(), Tone::Attention),
        Fact::DecisionTaken { decision, .. } if decision.target_met => {
            ("the controller says the target is met".to_owned(), Tone::Plain)
        }
        Fact::DecisionTaken { decision, .. } => {
            (format!("the controller plans: {}", decision.summary), Tone::Plain)
        }
        Fact::ClaimRefused { failing, gate, .. } => (refused(failing, gate), Tone::Bad),
        Fact::ActionTaken { action, .. } => acted(action),
        Fact::ChangeTaken { change, .. } => changed(change),
        Fact::RepairAsked { role, faults } => {
            (format!("the {role}'s answer cannot be used: {}", faults.join("; ")), Tone::Attention)
        }
        Fact::StepRetried { stage, why, kind } => {
            let again = match kind {
                RetryKind::Interrupted => "goes on",
                RetryKind::Lost | RetryKind::Failed => "tried again",
            };
            (format!("{}: {why}; {again}", stage.words()), Tone::Attention)
        }
        Fact::AgentOut { agent, until, kind: OutKind::Misconfigured, .. } if *until == FOR_GOOD => {
            (format!("{agent} is not asked again before a person has looked"), Tone::Attention)
        }
        Fact::AgentOut { agent, until, .. } => {
            (format!("{agent} is not asked before {}", local_time(until.0)), Tone::Attention)
        }
        Fact::NodeConcluded { depth, end } => {
            (format!("{} ends: {}", path(state, *depth), words(end)), tone(end))
        }
        Fact::IterationCommitted { label, commit, .. } => {
            (format!("iteration {label} is commit {}", short(commit.as_str())), Tone::Plain)
        }
        Fact::ChildReturned { end, .. } => (format!("back from the inner loop: {}", words(end)), tone(end)),
        Fact::Concluded { end } => ended(end),
        Fact::LimitsChanged { limits } => (new_limits(state, limits), Tone::Plain),
        Fact::SetupEdited { paths } => (
            format!("somebody edited {}; this run goes on with the set-up it began with", paths.join(", ")),
            Tone::Attention,
        ),
    }
}

fn ended(end: &End) -> (String, Tone) {
    match end {
        End::Complete => ("the target is met".to_owned(), Tone::Good),
        End::Exhausted { dimension: Dimension::Rounds } => {
            ("its iterations are used up".to_owned(), Tone::Attention)
        }
        End::Exhausted { dimension } => (format!("nothing is left of its {dimension}"), Tone::Attention),
        End::Stalled { how } => (format!("stopped early: {}", how.words()), Tone::Attention),
        End::NeedsHuman { cause } => (format!("needs a person: {}", cause.words()), Tone::Attention),
        End::Stopped { by, .. } => (format!("stopped by {by}"), Tone::Attention),
        End::SetupFailed { reason } => (format!("could not be set up: {reason}"), Tone::Bad),
    }
}

fn refused(failing: &[String], gate: &[GateFinding]) -> String {
    if gate.is_empty() {
        let verb = if failing.len() == 1 { "does" } else { "do" };
        return format!("the engine refuses that: {} {verb} not pass", failing.join(", "));
    }
    let names: Vec<&str> = gate.iter().map(|finding| finding.kind.name()).collect();
    format!("the engine refuses that: nobody waived {}", names.join(", "))
}

fn changed(change: &CapturedChange) -> (String, Tone) {
    let mut told = vec![match change.files_changed {
        0 => "nothing was changed".to_owned(),
        1 => "1 file changed".to_owned(),
        several => format!("{several} files changed"),
    }];
    if !change.reverted.is_empty() {
        told.push(format!("what was done to the loop's own {} was undone", change.reverted.join(", ")));
    }
    told.extend(change.left_out.iter().cloned());
    if !change.gate.is_empty() {
        told.push(found(&change.gate).0);
    }
    let plain = change.files_changed > 0 && change.left_out.is_empty() && change.gate.is_empty();
    (told.join("; "), if plain { Tone::Plain } else { Tone::Attention })
}

fn new_limits(state: &State, limits: &NewLimits) -> String {
    let patience = limits.steady_limit.map(|limit| match limit {
        0 => "any number of iterations without progress".to_owned(),
        1 => "one iteration without progress ends it".to_owned(),
        several => format!("{several} iterations without progress end it"),
    });
    let inner = limits.more_iterations.iter().map(|(depth, _)| {
        let most = state.spec.node(*depth as usize).max_iterations;
        format!("up to {most} actuations in {}", path(state, *depth))
    });
    format!("from now on: {}", patience.into_iter().chain(inner).collect::<Vec<_>>().join(", "))
}

fn acted(action: &Action) -> (String, Tone) {
    let report = match action.summary.as_str() {
        "" if action.artifact.is_some() => "the actuator's report does not say what was done".to_owned(),
        "" => "the actuator leaves no report".to_owned(),
        summary => format!("the actuator reports: {summary}"),
    };
    let commands = if action.commands_off { "" } else { " (its program could have run commands)" };
    (format!("{report}{commands}"), Tone::Plain)
}

fn path(state: &State, depth: u32) -> String {
    state.spec.node_path(depth as usize).join(" > ")
}

fn label(state: &State) -> String {
    state.frame().map(Frame::label).unwrap_or_default()
}

fn words(end: &NodeEnd) -> String {
    match end {
        NodeEnd::TargetMet => "the target is met".to_owned(),
        NodeEnd::MaxIterations => "its iterations are used up".to_owned(),
        NodeEnd::Stalled { how } => how.words().to_owned(),
        NodeEnd::Spent { dimension } => format!("nothing is left of its {dimension}"),
        NodeEnd::Failed { cause } => cause.words(),
    }
}

const fn tone(end: &NodeEnd) -> Tone {
    match end {
        NodeEnd::TargetMet => Tone::Good,
        NodeEnd::MaxIterations | NodeEnd::Stalled { .. } | NodeEnd::Spent { .. } => Tone::Attention,
        NodeEnd::Failed { .. } => Tone::Bad,
    }
}
