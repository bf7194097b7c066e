//! A control loop's state in the words of the border.

use crate::effect_runner::INTERRUPTED;
use crate::fault::git_fault;
use crate::host::Host;
use crate::shell_words::quoted;
use std::path::Path;
use windlass_control_api::Fault;
use windlass_control_api::control_loop::{BestView, ControlReport, NodeView, SensorReading};
use windlass_git_workspaces::Checkout;
use windlass_protocols::Run;
use windlass_protocols::kernel::gate::GateFinding;
use windlass_protocols::outcome::ReadingStatus;
use windlass_protocols::protocol::feedback_control::end::{End, NodeEnd};
use windlass_protocols::protocol::feedback_control::frame::Frame;
use windlass_protocols::protocol::feedback_control::spec::{Node, Workplace};
use windlass_protocols::protocol::feedback_control::state::State;
use windlass_protocols::protocol::feedback_control::steadiness::{Point, Remark};

/// Whether the loop's branch can be named in a command.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Branch {
    Stands,
    Gone,
}

impl Branch {
    /// What cannot be found out is not said to be gone.
    pub(crate) fn now(host: &Host, state: &State) -> Self {
        let place = &state.spec.place;
        let looked = Checkout::discover(Path::new(&place.repository)).map_err(git_fault);
        let found = looked.and_then(|checkout| {
            let name = format!("refs/heads/{}", place.doer_branch);
            host.repository(checkout)?.is_taken(&name).map_err(git_fault)
        });
        if state.commits > 0 && found.is_ok_and(|there| !there) { Self::Gone } else { Self::Stands }
    }

    /// The commands of an explanation that can work.
    pub(crate) fn possible(self, state: &State, commands: Vec<String>) -> Vec<String> {
        let branch = &state.spec.place.doer_branch;
        let (Self::Gone, Some(head)) = (self, &state.head) else { return commands };
        let others = commands.into_iter().filter(|command| !command.starts_with("git "));
        std::iter::once(format!("git branch {branch} {head}")).chain(others).collect()
    }
}

pub(crate) fn of(host: &Host, run: &Run, state: &State, now: Branch) -> ControlReport {
    let branch = state.spec.place.doer_branch.clone();
    let base_branch = state.spec.base_branch.clone();
    ControlReport {
        commits: state.commits_on_branch(),
        actuations: state.stack.first().map_or(0, |frame| frame.actuations),
        best: best(state).map(|best| BestView {
            iteration: best.label.clone(),
            commit: best.commit.as_ref().map(ToString::to_string),
            failing: best.failing().map(str::to_owned).collect(),
        }),
        kept: kept(host, run, state).unwrap_or_default(),
        nodes: nodes(run, state),
        setup_edited: state.setup_edited.clone(),
        next_steps: now.possible(state, next_steps(run, state)),
        open_findings: state.open_findings().into_iter().map(GateFinding::words).collect(),
        worked: state.captures,
        branch,
        base_branch,
    }
}

/// What cannot be found out is not said to be there.
fn kept(host: &Host, run: &Run, state: &State) -> Result<Vec<String>, Fault> {
    let Some(started) = &run.started else { return Ok(Vec::new()) };
    let checkout = Checkout::discover(Path::new(&state.spec.place.repository)).map_err(git_fault)?;
    let directory = format!("refs/windlass/kept/{}/", started.id);
    let names = host.repository(checkout)?.references_in(&directory).map_err(git_fault)?;
    let unfinished = format!("{directory}{INTERRUPTED}");
    Ok(names.into_iter().filter(|name| name.starts_with(&unfinished)).collect())
}

/// Of the node at work, where that is an inner one that has measured: the outer one has not seen its work yet.
fn best(state: &State) -> Option<&Point> {
    let inner = state.stack.iter().skip(1).rev().find_map(|frame| frame.steadiness.best());
    inner.or_else(|| state.best())
}

/// What can be done with the branch. One that is still worked on is neither merged nor deleted by a hint of ours.
fn next_steps(run: &Run, state: &State) -> Vec<String> {
    let (branch, base_branch) = (&state.spec.place.doer_branch, &state.spec.base_branch);
    let goes_on = matches!(state.end, None | Some(End::Stopped { .. }));
    let resume = run.started.as_ref().filter(|_| goes_on).map(|run| format!("windlass resume {}", run.id));
    let mut steps: Vec<String> = resume.into_iter().collect();
    if state.commits == 0 {
        return steps;
    }
    // A branch that is checked out can be neither merged into itself nor deleted.
    let in_place = state.spec.workplace == Workplace::InPlace;
    let (since, change) = (format!("{base_branch}..{branch}"), format!("{base_branch}...{branch}"));
    let look = [format!("git log --oneline {}", quoted(&since)), format!("git diff {}", quoted(&change))];
    let (branch, base_branch) = (quoted(branch), quoted(base_branch));
    if goes_on {
        steps.extend(look);
        return steps;
    }
    steps.extend(in_place.then(|| format!("git switch {base_branch}")));
    steps.extend(look);
    // What nobody waived is looked at before it is merged.
    if state.end == Some(End::Complete) || state.open_findings().is_empty() {
        // Git merges nothing over changes that are not committed.
        steps.extend(state.spec.taken_along.then(|| "git stash --include-untracked".to_owned()));
        steps.push(format!("git merge {branch}"));
    }
    if state.end == Some(End::Complete) {
        steps.push(format!("git rebase --interactive {base_branch} {branch}"));
    }
    steps.push(format!("git branch -D {branch}"));
    steps
}

fn nodes(run: &Run, state: &State) -> Vec<NodeView> {
    let root_cap = run.started.as_ref().map_or(0, |started| started.budget.caps.rounds);
    let chain = state.spec.root.chain().enumerate();
    chain
        .map(|(depth, node)| {
            let left = || state.left_nodes.iter().find(|left| left.depth as usize == depth);
            let frame = state.stack.get(depth).or_else(left);
            NodeView {
                path: state.spec.node_path(depth).join("/"),
                status: frame.map_or_else(|| "not entered".to_owned(), |frame| status(state, frame)),
                iteration: frame.map(Frame::label),
                actuations: frame.map_or(0, |frame| frame.actuations),
                max_iterations: if depth == 0 { root_cap } else { node.max_iterations },
                sensors: sensors(node, frame),
                remarks: frame
                    .map(|frame| frame.remarks.iter().map(Remark::words).collect())
                    .unwrap_or_default(),
            }
        })
        .collect()
}

fn status(state: &State, frame: &Frame) -> String {
    match (&frame.end, &state.end) {
        // The original has one word for all that did not reach the target.
        (Some(end @ (NodeEnd::Stalled { .. } | NodeEnd::Spent { .. })), _) => end.reason().to_owned(),
        (Some(end), _) => NodeEnd::status(end).word().to_owned(),
        (None, Some(end)) => end.word().to_owned(),
        (None, None) => "running".to_owned(),
    }
}

fn sensors(node: &Node, frame: Option<&Frame>) -> Vec<SensorReading> {
    let readings = frame.map(|frame| frame.readings.as_slice()).unwrap_or_default();
    let sensors = node.sensors.iter().map(|sensor| {
        let reading = readings.iter().find(|reading| reading.sensor == sensor.name);
        let metrics = reading.map(|reading| reading.metrics.as_slice()).unwrap_or_default();
        let figure = |metric: &windlass_protocols::outcome::Metric| {
            (metric.name.clone(), crate::effect_runner::figure(metric), metric.unit.clone())
        };
        SensorReading {
            name: sensor.name.clone(),
            status: reading.map_or(ReadingStatus::Pending, |reading| reading.status).word().to_owned(),
            cause: reading.and_then(|reading| reading.cause.clone()),
            required: sensor.required,
            figures: metrics.iter().map(figure).collect(),
        }
    });
    sensors.collect()
}
