//! From whatever a role of a control loop left to what a decision may use: validated, put into its canonical form and
//! sealed.

use super::super::answer::waived;
use super::files;
use crate::context::RunContext;
use crate::outbox::{Left, read_answer};
use std::path::Path;
use windlass_artifact_formats::control_loop::{
    ActuatorOutput, ControllerOutput, Faults, PlanFor, SensorOutput, SensorStatus,
};
use windlass_control_api::Fault;
use windlass_process_supervisor::Redaction;
use windlass_protocols::effect::RunAgent;
use windlass_protocols::outcome::{Action, Answer, Decision, Reading, ReadingStatus, StepEnd, TIME_LIMIT};
use windlass_protocols::{ArtifactRef, Role};

const SUMMARY_CHARS: usize = 100;

/// The file in which a role answers.
pub(in super::super) fn file_name(asked: &RunAgent) -> String {
    let sensor = asked.node.as_ref().and_then(|node| node.sensor.as_deref());
    match (asked.role, sensor) {
        (Role::Sensor, Some(name)) => format!("sensor-{name}-output.md"),
        (Role::Actuator, _) => "actuator-output.md".to_owned(),
        _ => "controller-output.md".to_owned(),
    }
}

pub(in super::super) fn read(
    context: &RunContext,
    (outbox, redaction): (&Path, &Redaction),
    asked: &RunAgent,
    (spoken, commands_off): (Option<&str>, bool),
    evidence: &mut Vec<ArtifactRef>,
) -> Result<Answer, Fault> {
    let name = file_name(asked);
    let left = match read_answer(outbox, &name) {
        Left::Nothing if asked.role == Role::Actuator => in_its_tree(context, asked, &name)?,
        left => left,
    };
    let bytes = match (left, spoken) {
        (Left::Content(bytes), _) => redaction.of(&bytes),
        (_, Some(spoken)) if !spoken.trim().is_empty() => redaction.of(unfenced(spoken).as_bytes()),
        (Left::NotAFile(fault), _) => return Ok(Answer::Malformed { faults: vec![fault] }),
        (Left::Nothing, _) => return Ok(Answer::Missing),
    };
    evidence.push(context.evidence.seal(&format!("{name}.as-left"), &bytes)?);
    interpret(context, asked, &bytes, commands_off)
}

/// The original's agent files tell the actuator to leave its report among the loop's files.
fn in_its_tree(context: &RunContext, asked: &RunAgent, name: &str) -> Result<Left, Fault> {
    let depth = asked.node.as_ref().map_or(0, |node| node.depth);
    let worktree = context.worktree(Role::Actuator);
    let directory = worktree.join(files::node_paths(context.control_loop()?, depth)?.directory());
    // A link on the way would lead out of the tree.
    let real = directory.canonicalize().ok().zip(worktree.canonicalize().ok());
    if real.is_none_or(|(directory, worktree)| !directory.starts_with(worktree)) {
        return Ok(Left::Nothing);
    }
    // Not one of an earlier iteration: that was left out of what the actuator was shown.
    Ok(read_answer(&directory, name))
}

/// A whole message that is one fenced block means the block.
fn unfenced(text: &str) -> &str {
    let trimmed = text.trim();
    let inner = trimmed.strip_prefix("```").and_then(|rest| rest.strip_suffix("```"));
    match inner.and_then(|inner| inner.split_once('\n')) {
        Some((_, body)) if !body.contains("\n```") => body,
        _ => trimmed,
    }
}

fn interpret(
    context: &RunContext,
    asked: &RunAgent,
    bytes: &[u8],
    commands_off: bool,
) -> Result<Answer, Fault> {
    let malformed = |faults: &Faults| Answer::Malformed { faults: faults.sentences().to_vec() };
    let depth = asked.node.as_ref().map_or(0, |node| node.depth);
    let node = context.control_loop()?.node(depth as usize);
    Ok(match asked.role {
        Role::Actuator => match ActuatorOutput::parse(bytes) {
            Ok((report, _)) => Answer::Action(Action {
                summary: first_line(&report.what_was_done),
                artifact: Some(context.evidence.seal("actuator-output.md", report.render().as_bytes())?),
                commands_off,
            }),
            Err(faults) => malformed(&faults),
        },
        Role::Sensor => {
            let name = asked.node.as_ref().and_then(|step| step.sensor.clone()).unwrap_or_default();
            let required = node.sensors.iter().any(|sensor| sensor.name == name && sensor.required);
            match SensorOutput::parse(&name, bytes) {
                Ok((report, _)) => reading(context, &report, &name, required)?,
                Err(faults) => malformed(&faults),
            }
        }
        _ => match ControllerOutput::parse(bytes) {
            Ok((report, _)) => {
                let plan_for = if node.child().is_some() { PlanFor::ChildLoop } else { PlanFor::Actuator };
                let plan = report.plan.as_deref().filter(|plan| !plan.trim().is_empty());
                let plan = plan.filter(|_| !report.target_met);
                Answer::Decision(Decision {
                    target_met: report.target_met,
                    plan: plan.map(|plan| context.evidence.seal("plan.md", plan.as_bytes())).transpose()?,
                    summary: first_line(&report.gap_analysis),
                    artifact: context
                        .evidence
                        .seal("controller-output.md", report.render(plan_for).as_bytes())?,
                    waivers: waived(&report.waivers),
                })
            }
            Err(faults) => malformed(&faults),
        },
    })
}

fn reading(context: &RunContext, report: &SensorOutput, name: &str, required: bool) -> Result<Answer, Fault> {
    let status = match report.status {
        Some(SensorStatus::Pass) => ReadingStatus::Pass,
        Some(SensorStatus::Fail) => ReadingStatus::Fail,
        Some(SensorStatus::Pending) | None => {
            let fault = "the front matter needs `status: pass` or `status: fail`".to_owned();
            return Ok(Answer::Malformed { faults: vec![fault] });
        }
    };
    Ok(Answer::Reading(Reading {
        sensor: name.to_owned(),
        status,
        required,
        cause: report.cause.clone(),
        metrics: Vec::new(),
        edited: Vec::new(),
        artifact: context.evidence.seal(&format!("sensor-{name}-output.md"), report.render().as_bytes())?,
        log: None,
        tests: None,
    }))
}

/// The reading of an agent that is a sensor and did not end within the limit of its own file: that is what there is to say.
pub(in super::super) fn out_of_time(
    context: &RunContext,
    asked: &RunAgent,
    end: &StepEnd,
) -> Result<Option<Answer>, Fault> {
    let timed_out = asked.role == Role::Sensor && *end == StepEnd::TotalLimit;
    let Some(step) = asked.node.as_ref().filter(|_| timed_out) else { return Ok(None) };
    let node = context.control_loop()?.node(step.depth as usize);
    let of_step = node.sensors.iter().find(|sensor| Some(&sensor.name) == step.sensor.as_ref());
    // One that was ended by what the run had left was not measured.
    let Some(sensor) = of_step.filter(|one| one.timeout.is_some_and(|own| asked.limits.total >= own)) else {
        return Ok(None);
    };
    let report = SensorOutput {
        sensor: sensor.name.clone(),
        status: Some(SensorStatus::Fail),
        command: None,
        exit_code: None,
        cause: Some(TIME_LIMIT.to_owned()),
        output: "The agent did not end within the sensor's time limit.".to_owned(),
    };
    reading(context, &report, &sensor.name, sensor.required).map(Some)
}

fn first_line(text: &str) -> String {
    let plain = text.lines().map(|line| line.trim().trim_start_matches(['-', '*', '#', ' ']));
    let first = plain.into_iter().find(|line| !line.is_empty()).unwrap_or_default();
    first.chars().filter(|c| !c.is_control()).take(SUMMARY_CHARS).collect()
}
