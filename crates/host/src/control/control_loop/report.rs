//! A control loop's state in the words of the border.

use windlass_control_api::control_loop::{BestView, ControlReport, NodeView, SensorReading};
use windlass_protocols::Run;
use windlass_protocols::outcome::ReadingStatus;
use windlass_protocols::protocol::feedback_control::end::{End, NodeEnd};
use windlass_protocols::protocol::feedback_control::frame::Frame;
use windlass_protocols::protocol::feedback_control::spec::{Node, Workplace};
use windlass_protocols::protocol::feedback_control::state::State;
use windlass_protocols::protocol::feedback_control::steadiness::Remark;

pub(crate) fn of(run: &Run, state: &State) -> ControlReport {
    let branch = state.spec.place.doer_branch.clone();
    let base_branch = state.spec.base_branch.clone();
    let next_steps = if state.commits == 0 {
        Vec::new()
    } else {
        // A branch that is checked out can be neither merged into itself nor deleted.
        let back = (state.spec.workplace == Workplace::InPlace).then(|| format!("git switch {base_branch}"));
        let mut steps: Vec<String> = back.into_iter().collect();
        steps.extend([
            format!("git log --oneline {base_branch}..{branch}"),
            format!("git diff {base_branch}...{branch}"),
            format!("git merge {branch}"),
        ]);
        if state.end == Some(End::Complete) {
            steps.push(format!("git rebase --interactive {base_branch} {branch}"));
        }
        steps.push(format!("git branch -D {branch}"));
        steps
    };
    ControlReport {
        commits: state.commits,
        actuations: state.stack.first().map_or(0, |frame| frame.actuations),
        best: state.best().map(|best| BestView {
            iteration: best.label.clone(),
            commit: best.commit.as_ref().map(ToString::to_string),
            failing: best.failing().map(str::to_owned).collect(),
        }),
        nodes: nodes(run, state),
        branch,
        base_branch,
        next_steps,
    }
}

fn nodes(run: &Run, state: &State) -> Vec<NodeView> {
    let root_cap = run.started.as_ref().map_or(0, |started| started.budget.caps.rounds);
    let chain = state.spec.root.chain().enumerate();
    chain
        .map(|(depth, node)| {
            let frame = state.stack.get(depth);
            let parent = depth.checked_sub(1).and_then(|parent| u32::try_from(parent).ok());
            let left = state.last_child_end.iter().find(|(of, _)| Some(*of) == parent);
            NodeView {
                path: state.spec.node_path(depth).join("/"),
                status: match (frame, left) {
                    (Some(frame), _) => status(state, frame),
                    (None, Some((_, end))) => end.status().word().to_owned(),
                    (None, None) => "not entered".to_owned(),
                },
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
            (metric.name.clone(), crate::effect_runner::thousandths(metric.thousandths), metric.unit.clone())
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
