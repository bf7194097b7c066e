//! The loop's own files in the form of the original, from the state of the run and from sealed evidence alone: written
//! twice they are the same bytes.

use crate::context::{RunContext, git_tree};
use crate::fault::{bug, git_fault};
use windlass_artifact_formats::control_loop::paths::run_state;
use windlass_artifact_formats::control_loop::{
    ActuatorOutput, ChangedFile, FileChange, NodePaths, NodePlace, NodeState, NodeStatus, ResultOutput,
    RunId, RunState, SensorOutput, TerminationReason, paths,
};
use windlass_control_api::Fault;
use windlass_protocols::effect::CommitIteration;
use windlass_protocols::outcome::{Metric, Reading};
use windlass_protocols::protocol::Protocol;
use windlass_protocols::protocol::feedback_control::end::{NodeEnd, NodeStatus as Status, Stall};
use windlass_protocols::protocol::feedback_control::frame::Frame;
use windlass_protocols::protocol::feedback_control::spec::{ControlSpec, Dialect, OnError};
use windlass_protocols::protocol::feedback_control::state::State;
use windlass_protocols::protocol::feedback_control::steadiness::Remark;
use windlass_protocols::{ArtifactRef, Run};

/// A path in the repository and what is to stand there.
pub(super) type LoopFile = (String, Vec<u8>);

pub(super) fn state(run: &Run) -> Result<&State, Fault> {
    match run.started.as_ref().map(|started| &started.protocol) {
        Some(Protocol::FeedbackControl(state)) => Ok(state),
        _ => Err(bug("a step of a control loop in a run that is none")),
    }
}

pub(super) fn frame(state: &State) -> Result<&Frame, Fault> {
    state.frame().ok_or_else(|| bug("a step of a control loop before its first node was entered"))
}

pub(super) fn node_paths(spec: &ControlSpec, depth: u32) -> Result<NodePaths, Fault> {
    Ok(match spec.dialect {
        Dialect::Flat => NodePaths::flat(),
        Dialect::Hierarchical => NodePaths::nested(&run_name(spec)?, &node_path(spec, depth)),
    })
}

pub(super) fn node_path(spec: &ControlSpec, depth: u32) -> String {
    spec.node_path(depth as usize).join("/")
}

fn run_name(spec: &ControlSpec) -> Result<RunId, Fault> {
    RunId::parse(&spec.run_name).ok_or_else(|| bug(format!("`{}` is no name of a run", spec.run_name)))
}

pub(super) fn text(context: &RunContext, artifact: &ArtifactRef) -> Result<String, Fault> {
    Ok(String::from_utf8_lossy(&context.evidence.read(artifact)?).into_owned())
}

/// What the node is to come to: the task, or its parent's plan word for word.
pub(super) fn setpoint(context: &RunContext, spec: &ControlSpec, frame: &Frame) -> Result<String, Fault> {
    match &frame.setpoint {
        Some(plan) => text(context, plan),
        None => Ok(spec.text.clone()),
    }
}

/// All files of one iteration of one node, for its commit.
pub(super) fn of_iteration(
    context: &RunContext,
    run: &Run,
    asked: &CommitIteration,
) -> Result<Vec<LoopFile>, Fault> {
    let (spec, state) = (context.control_loop()?, state(run)?);
    let frame = frame(state)?;
    let paths = node_paths(spec, frame.depth)?;
    let mut files = vec![node_state(context, run, asked.status)?];
    if spec.dialect == Dialect::Hierarchical {
        files.push((run_state(&run_name(spec)?), whole_run(spec, state, asked)?.render().into_bytes()));
    }
    for sensor in &spec.node(frame.depth as usize).sensors {
        let reading = frame.readings.iter().find(|reading| reading.sensor == sensor.name);
        let report = match reading {
            Some(reading) => context.evidence.read(&reading.artifact)?,
            None => SensorOutput::pending(&sensor.name).render().into_bytes(),
        };
        files.push((paths.sensor_output(&sensor.name), report));
    }
    if let Some(decision) = &frame.decision {
        files.push((paths.controller_output(), context.evidence.read(&decision.artifact)?));
    }
    if frame.change.is_some() {
        files.push((paths.actuator_output(), action_report(context, frame)?));
    }
    if let (Some(end), Some(path)) = (&frame.end, paths.result_output()) {
        files.push((path, result(spec, state, frame, end)?.render().into_bytes()));
    }
    Ok(files)
}

/// Directories whose files belong to an earlier entry of the node that is entered now.
pub(super) fn stale(spec: &ControlSpec, state: &State) -> Result<Vec<String>, Fault> {
    let frame = frame(state)?;
    if spec.dialect == Dialect::Flat || frame.iteration > 0 || frame.depth == 0 {
        return Ok(Vec::new());
    }
    Ok(vec![format!("{}/", node_paths(spec, frame.depth)?.directory())])
}

pub(super) fn node_state(context: &RunContext, run: &Run, status: Status) -> Result<LoopFile, Fault> {
    let (spec, state) = (context.control_loop()?, state(run)?);
    let frame = frame(state)?;
    let root_cap = run.started.as_ref().map_or(spec.caps.rounds, |started| started.budget.caps.rounds);
    // A person may have given it more since the start.
    let node = state.spec.node(frame.depth as usize);
    let file = NodeState {
        iteration: frame.iteration,
        status: status_word(status),
        max_iterations: if frame.depth == 0 { root_cap } else { node.max_iterations },
        place: match spec.dialect {
            Dialect::Flat => NodePlace::Flat {
                base_branch: spec.base_branch.clone(),
                branch: spec.place.doer_branch.clone(),
            },
            Dialect::Hierarchical => NodePlace::Nested {
                node_path: node_path(spec, frame.depth),
                parent_node_path: parent_path(spec, frame.depth),
            },
        },
        setpoint: setpoint(context, spec, frame)?,
    };
    Ok((node_paths(spec, frame.depth)?.orchestrator_output(), file.render().into_bytes()))
}

fn parent_path(spec: &ControlSpec, depth: u32) -> String {
    match depth.checked_sub(1) {
        Some(parent) => node_path(spec, parent),
        None => paths::NO_PARENT.to_owned(),
    }
}

fn whole_run(spec: &ControlSpec, state: &State, asked: &CommitIteration) -> Result<RunState, Fault> {
    let frame = frame(state)?;
    let fails_fast = spec.node(frame.depth as usize).on_error == OnError::FailFast;
    let over = frame.depth == 0 || (asked.status == Status::Error && fails_fast);
    let status = if over { asked.status } else { Status::Running };
    // A node that has ended is left with this commit.
    let ended = frame.end.is_some() && !(asked.status == Status::Error && fails_fast);
    let stack = if ended { &state.stack[..state.stack.len() - 1] } else { &state.stack[..] };
    let path = |frame: &Frame| node_path(spec, frame.depth);
    Ok(RunState {
        run_id: spec.run_name.clone(),
        status: status_word(status),
        active_node_path: stack.last().map_or_else(|| node_path(spec, 0), path),
        execution_stack: stack.iter().map(path).collect(),
        branch: spec.place.doer_branch.clone(),
        base_branch: spec.base_branch.clone(),
        task: Some(spec.text.clone()),
    })
}

/// The actuator's own report, or the engine's where it left none, and what the engine found besides.
fn action_report(context: &RunContext, frame: &Frame) -> Result<Vec<u8>, Fault> {
    let own = frame.action.as_ref().and_then(|action| action.artifact.as_ref());
    let own = own.map(|artifact| context.evidence.read(artifact)).transpose()?;
    let own = own.and_then(|bytes| ActuatorOutput::parse(&bytes).ok());
    let what_was_done = own.map_or_else(
        || "The actuator left no report.".to_owned(),
        |(report, _)| match report.what_was_done.trim() {
            "" => "The actuator's report does not say.".to_owned(),
            said => said.to_owned(),
        },
    );
    let report = ActuatorOutput { what_was_done, files_changed: changed_files(context, frame)? };
    let mut report = report.render().into_bytes();
    let left_out = frame.change.as_ref().map(|change| change.left_out.as_slice()).unwrap_or_default();
    if !left_out.is_empty() {
        report.extend(b"\n\n## Not Recorded\n\n");
    }
    for what in left_out {
        report.extend(format!("- {}\n", one_line(what)).into_bytes());
    }
    Ok(report)
}

/// As the snapshot has them: a report may leave files out or name others.
fn changed_files(context: &RunContext, frame: &Frame) -> Result<Vec<ChangedFile>, Fault> {
    let (Some(before), Some(change)) = (&frame.found, &frame.change) else { return Ok(Vec::new()) };
    let (before, after) = (git_tree(before)?, git_tree(&change.tree)?);
    let differences = context.repository.differences(&before, &after).map_err(git_fault)?;
    let changed = differences.into_iter().map(|one| ChangedFile {
        path: one.path.to_string(),
        change: match (one.before, one.after) {
            (None, _) => FileChange::Created,
            (_, None) => FileChange::Deleted,
            (Some(_), Some(_)) => FileChange::Modified,
        },
    });
    Ok(changed.collect())
}

/// A file's name may hold anything.
fn one_line(words: &str) -> String {
    words
        .chars()
        .map(|letter| if letter.is_control() { char::REPLACEMENT_CHARACTER } else { letter })
        .collect()
}

fn result(spec: &ControlSpec, state: &State, frame: &Frame, end: &NodeEnd) -> Result<ResultOutput, Fault> {
    let node = spec.node(frame.depth as usize);
    let best = frame.steadiness.best().map(|best| {
        format!(
            "best measurement: iteration {}, required sensors failing: {}",
            best.label,
            best.required_failing()
        )
    });
    let remarks = frame.remarks.iter().map(Remark::words).chain(best);
    Ok(ResultOutput {
        status: status_word(end.status()),
        target_met: *end == NodeEnd::TargetMet,
        termination_reason: reason(end),
        run_id: run_name(spec)?.to_string(),
        node_id: node.id.clone(),
        node_path: node_path(spec, frame.depth),
        parent_node_path: parent_path(spec, frame.depth),
        iterations_executed: frame.actuations,
        summary: format!(
            "{} after {}; this is commit {} on the branch.",
            end.reason(),
            if frame.actuations == 1 {
                "1 actuation".to_owned()
            } else {
                format!("{} actuations", frame.actuations)
            },
            state.commits_on_branch().saturating_add(1)
        ),
        metrics_delta: delta(frame),
        observations: remarks.map(|line| format!("- {line}")).collect::<Vec<_>>().join("\n"),
        attempted: (!frame.attempted.is_empty()).then(|| {
            let lines = frame.attempted.iter().map(|line| format!("- {}", one_line(line)));
            lines.collect::<Vec<_>>().join("\n")
        }),
        failure: match end {
            NodeEnd::Failed { cause } => Some(cause.words()),
            _ => None,
        },
    })
}

/// First and last readings side by side.
fn delta(frame: &Frame) -> String {
    let figures = |metrics: &[Metric]| {
        let words = metrics.iter().map(|one| format!("{} {}", one.name, figure(one)));
        words.collect::<Vec<_>>().join(", ")
    };
    let words = |reading: &Reading| match figures(&reading.metrics) {
        figures if figures.is_empty() => reading.status.word().to_owned(),
        figures => format!("{} ({figures})", reading.status.word()),
    };
    let first = frame.first_readings.as_deref().unwrap_or_default();
    let lines = frame.readings.iter().map(|reading| {
        let before = first.iter().find(|one| one.sensor == reading.sensor);
        // An inner node is entered without measuring: its first readings are of what was done in it already.
        let before = before.filter(|_| frame.depth == 0);
        let before = before.map_or_else(|| "not measured at the entry".to_owned(), &words);
        format!("- {}: {before} → {}", reading.sensor, words(reading))
    });
    match lines.collect::<Vec<_>>().join("\n") {
        none if none.is_empty() => "Nothing was measured.".to_owned(),
        lines => lines,
    }
}

/// A figure as people write it.
pub(crate) fn figure(metric: &Metric) -> String {
    const BILLION: u128 = 1_000_000_000;
    let all = metric.billionths();
    let sign = if all < 0 { "-" } else { "" };
    let (whole, rest) = (all.unsigned_abs() / BILLION, all.unsigned_abs() % BILLION);
    let text = format!("{sign}{whole}.{rest:09}");
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

const fn status_word(status: Status) -> NodeStatus {
    match status {
        Status::Running => NodeStatus::Running,
        Status::Complete => NodeStatus::Complete,
        Status::MaxIterationsReached => NodeStatus::MaxIterationsReached,
        Status::Error => NodeStatus::Error,
    }
}

pub(super) const fn node_status(status: Status) -> NodeStatus {
    status_word(status)
}

const fn reason(end: &NodeEnd) -> TerminationReason {
    match end {
        NodeEnd::TargetMet => TerminationReason::TargetMet,
        NodeEnd::MaxIterations => TerminationReason::MaxIterations,
        NodeEnd::Stalled { how: Stall::Stagnation | Stall::NoChange | Stall::Plateau } => {
            TerminationReason::Stagnation
        }
        NodeEnd::Stalled { how: Stall::Oscillation } => TerminationReason::Oscillation,
        NodeEnd::Stalled { how: Stall::Regression } => TerminationReason::Regression,
        NodeEnd::Spent { .. } => TerminationReason::Budget,
        NodeEnd::Failed { .. } => TerminationReason::Error,
    }
}
