//! What a role of a control loop is told, put together from the run and from sealed evidence. The wording lives in
//! `artifact-formats`.

use super::files;
use crate::context::RunContext;
use crate::fault::bug;
use std::path::Path;
use windlass_agent_drivers::AnswerBy;
use windlass_artifact_formats::control_loop::prompts::{
    ActuatorPrompt, ChildView, ControllerPrompt, Need, NodeBrief, RepairPrompt, RepairedReport, RolePlaces,
    SPOKEN_REPORT, SensorPrompt, SensorView,
};
use windlass_artifact_formats::control_loop::{AgentFile, SensorStatus};
use windlass_artifact_formats::gate::GateEvidence;
use windlass_control_api::Fault;
use windlass_protocols::effect::{Ask, RunAgent};
use windlass_protocols::kernel::gate::{GateFinding, NewTests};
use windlass_protocols::outcome::{Reading, ReadingStatus};
use windlass_protocols::protocol::feedback_control::frame::Frame;
use windlass_protocols::protocol::feedback_control::spec::{Actuator, ControlSpec, Dialect, Node, Sensor};
use windlass_protocols::protocol::feedback_control::state::State;
use windlass_protocols::{Role, Run};

/// Of one sensor's output, so much is quoted.
const TAIL_LINES: usize = 60;
const TAIL_BYTES: usize = 8 * 1024;

pub(in super::super) fn render(
    context: &RunContext,
    asked: &RunAgent,
    run: &Run,
    (outbox, answer_by): (&Path, AnswerBy),
) -> Result<String, Fault> {
    let (spec, state) = (context.control_loop()?, files::state(run)?);
    let frame = files::frame(state)?;
    let node = spec.node(frame.depth as usize);
    let setpoint = files::setpoint(context, spec, frame)?;
    let outbox = outbox.to_string_lossy().into_owned();
    let worktree = context.worktree(asked.role);
    let artifacts = worktree.join(files::node_paths(spec, frame.depth)?.directory());
    let (worktree, artifacts) = (worktree.to_string_lossy(), artifacts.to_string_lossy());
    let places = RolePlaces { worktree: &worktree, artifacts: &artifacts, outbox: &outbox };
    let (path, label) = (files::node_path(spec, frame.depth), frame.label());
    let cap = run.started.as_ref().map_or(spec.caps.rounds, |started| started.budget.caps.rounds);
    let brief = NodeBrief {
        node_path: (spec.dialect == Dialect::Hierarchical).then_some(path.as_str()),
        label: &label,
        iteration: frame.iteration,
        // A person may have given an inner node more since the start.
        max_iterations: if frame.depth == 0 {
            cap
        } else {
            state.spec.node(frame.depth as usize).max_iterations
        },
        setpoint: &setpoint,
    };
    let told = Told { context, spec, state, frame, node, brief, places };
    let sensor = asked.node.as_ref().and_then(|step| step.sensor.as_deref());
    let mut text = match (asked.role, sensor) {
        (Role::Controller, _) => told.controller(&asked.ask)?,
        (Role::Actuator, _) => told.actuator()?,
        (Role::Sensor, Some(name)) => told.sensor(name)?,
        (role, _) => return Err(bug(format!("a control loop asks for a {role}"))),
    };
    if let Ask::Repair { faults } = &asked.ask {
        text.push_str("\n\n");
        text.push_str(&told.repair((asked, sensor), faults)?);
    }
    if answer_by != AnswerBy::Outbox {
        text.push('\n');
        text.push_str(SPOKEN_REPORT);
    }
    Ok(text)
}

struct Told<'a> {
    context: &'a RunContext,
    spec: &'a ControlSpec,
    state: &'a State,
    frame: &'a Frame,
    node: &'a Node,
    brief: NodeBrief<'a>,
    places: RolePlaces<'a>,
}

impl Told<'_> {
    fn controller(&self, ask: &Ask) -> Result<String, Fault> {
        let paths = files::node_paths(self.spec, self.frame.depth)?;
        let readings = self.readings(self.frame, self.node)?;
        let sensors = views(self.node, &readings);
        // An inner node that has not measured yet is not left blind: what a node around it measured is known.
        let outer = self.state.stack.iter().rev().skip(1).filter(|_| self.frame.measured.is_none());
        let outer = outer.into_iter().find(|frame| frame.measured.is_some());
        let outer = outer.map(|frame| (frame, self.spec.node(frame.depth as usize)));
        let known = outer.map(|(frame, node)| self.readings(frame, node)).transpose()?.unwrap_or_default();
        let around = outer.map(|(_, node)| views(node, &known)).unwrap_or_default();
        let mut history: Vec<String> = match ask {
            Ask::Fresh { feedback, .. } => feedback.clone(),
            Ask::Repair { .. } => Vec::new(),
        };
        history.extend(self.past());
        let history: Vec<&str> = history.iter().map(String::as_str).collect();
        let child_result = self.child_result(&paths)?;
        let child =
            self.node.child().map(|child| ChildView { node_id: &child.id, result: child_result.as_deref() });
        let body = body(&self.node.controller.path, &self.node.controller.text)?;
        let gate = &self.state.integrity.gate;
        let findings: Vec<String> = gate.findings.iter().map(GateFinding::words).collect();
        let new_tests: Vec<String> = gate.new_tests.iter().map(NewTests::words).collect();
        Ok(ControllerPrompt {
            node: self.brief,
            places: self.places,
            agent: &body,
            sensors: &sensors,
            around: &around,
            history: &history,
            child,
            gate: GateEvidence { findings: &findings, new_tests: &new_tests },
        }
        .render())
    }

    /// The measured history in one line for each iteration, the newest last.
    fn past(&self) -> Vec<String> {
        const SHOWN: usize = 12;
        let steadiness = &self.frame.steadiness;
        let points = steadiness.points();
        let from = points.len().saturating_sub(SHOWN);
        let mut lines: Vec<String> = points[from..]
            .iter()
            .map(|point| {
                let readings = point.readings.iter().map(|reading| {
                    let figures = figures(reading);
                    let figures = if figures.is_empty() { figures } else { format!(" ({figures})") };
                    format!("{} {}{figures}", reading.sensor, reading.status.word())
                });
                format!("iteration {}: {}", point.label, readings.collect::<Vec<_>>().join(", "))
            })
            .collect();
        if let Some(best) = steadiness.best().filter(|_| points.len() > 1) {
            lines.push(format!("best so far: iteration {}", best.label));
        }
        lines
    }

    fn readings(&self, frame: &Frame, node: &Node) -> Result<Vec<Shown>, Fault> {
        let paths = files::node_paths(self.spec, frame.depth)?;
        let sensors = node.sensors.iter().map(|sensor| {
            let reading = frame.readings.iter().find(|reading| reading.sensor == sensor.name);
            let file = paths.sensor_output(&sensor.name);
            let Some(reading) = reading else { return Ok(Shown::pending(file)) };
            let log = reading.log.as_ref().unwrap_or(&reading.artifact);
            let text = files::text(self.context, log)?;
            let printable = windlass_artifact_formats::control_loop::clean_output(&text);
            Ok(Shown {
                file,
                status: Some(match reading.status {
                    ReadingStatus::Pass => SensorStatus::Pass,
                    ReadingStatus::Fail => SensorStatus::Fail,
                    ReadingStatus::Pending => SensorStatus::Pending,
                }),
                figures: reading.cause.clone().unwrap_or_else(|| figures(reading)),
                tail: windlass_artifact_formats::task_loop::last_lines(&printable, TAIL_LINES, TAIL_BYTES),
            })
        });
        sensors.collect()
    }

    /// What the inner loop came to when it was last left, from the commit that left it.
    fn child_result(
        &self,
        paths: &windlass_artifact_formats::control_loop::NodePaths,
    ) -> Result<Option<String>, Fault> {
        let left = self.state.last_child_end.iter().any(|(depth, _)| *depth == self.frame.depth);
        let (Some(child), true) = (self.node.child(), left) else { return Ok(None) };
        let Some(path) = paths.child(&child.id).result_output() else { return Ok(None) };
        let head = super::shown::newest(self.context, self.state)?;
        let read = self.context.repository.file_at(&head.tree, &path).map_err(crate::fault::git_fault)?;
        Ok(read.map(|bytes| String::from_utf8_lossy(&bytes).into_owned()))
    }

    fn actuator(&self) -> Result<String, Fault> {
        let Actuator::Direct(file) = &self.node.actuator else {
            return Err(bug("an actuator is asked for by a node whose actuator is a loop"));
        };
        let decision = self.frame.decision.as_ref().ok_or_else(|| bug("an actuator without a decision"))?;
        let decision = files::text(self.context, &decision.artifact)?;
        let path = files::node_paths(self.spec, self.frame.depth)?.controller_output();
        let body = body(&file.path, &file.text)?;
        Ok(ActuatorPrompt {
            node: self.brief,
            places: self.places,
            agent: &body,
            decision: &decision,
            decision_path: &path,
        }
        .render())
    }

    fn sensor(&self, name: &str) -> Result<String, Fault> {
        let sensor = self.node.sensors.iter().find(|sensor| sensor.name == name);
        let sensor = sensor.ok_or_else(|| bug(format!("the node has no sensor {name}")))?;
        let body = body(&sensor.file.path, &sensor.file.text)?;
        Ok(SensorPrompt { node: self.brief, places: self.places, agent: &body, name, target: &sensor.target }
            .render())
    }

    fn repair(&self, (asked, sensor): (&RunAgent, Option<&str>), faults: &[String]) -> Result<String, Fault> {
        let left = asked.inputs.iter().find(|input| input.name.ends_with(".as-left"));
        let previous = left.map(|input| files::text(self.context, input)).transpose()?;
        let report = match (asked.role, sensor) {
            (Role::Actuator, _) => RepairedReport::Actuator,
            (Role::Sensor, Some(name)) => RepairedReport::Sensor { name },
            _ => RepairedReport::Controller,
        };
        Ok(RepairPrompt {
            report,
            outbox: self.places.outbox,
            faults: Some(&faults.join("\n")),
            previous: previous.as_deref(),
            setpoint: self.brief.setpoint,
        }
        .render())
    }
}

struct Shown {
    file: String,
    status: Option<SensorStatus>,
    figures: String,
    tail: String,
}

impl Shown {
    const fn pending(file: String) -> Self {
        Self { file, status: Some(SensorStatus::Pending), figures: String::new(), tail: String::new() }
    }
}

fn views<'a>(node: &'a Node, readings: &'a [Shown]) -> Vec<SensorView<'a>> {
    let view = |(sensor, read): (&'a Sensor, &'a Shown)| SensorView {
        name: &sensor.name,
        output_file: &read.file,
        target: &sensor.target,
        need: if sensor.required { Need::Required } else { Need::Optional },
        status: read.status,
        reading: &read.figures,
        output_tail: &read.tail,
    };
    node.sensors.iter().zip(readings).map(view).collect()
}

fn figures(reading: &Reading) -> String {
    let words = reading.metrics.iter().map(|metric| {
        let unit = if metric.unit.is_empty() { String::new() } else { format!(" {}", metric.unit) };
        format!("{} {}{unit}", metric.name, files::figure(metric))
    });
    words.collect::<Vec<_>>().join(", ")
}

fn body(path: &str, text: &str) -> Result<String, Fault> {
    match AgentFile::parse(path, text) {
        Ok((file, _)) => Ok(file.body),
        // It could be read when the run began, or the run would not have begun.
        Err(faults) => Err(bug(format!("{path}: {faults}"))),
    }
}
