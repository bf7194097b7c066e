//! What each role of the control loop is told: its agent file with the placeholders filled in, and the engine's context
//! below it. It knows wording and inputs; it does not know how a prompt reaches its agent.

mod repair;

use std::fmt::Write;

use super::agent_file::Placeholders;
use super::artifacts::SensorStatus;
use crate::data_block::{DATA_NOTICE, data_block, inline_code};
use crate::gate::GateEvidence;
use crate::markdown::with_closed_fence;
use crate::template::fill;

pub use repair::{RepairPrompt, RepairedReport};

/// Put at the end of a prompt for an agent that may write nothing: its last message is its report.
pub const SPOKEN_REPORT: &str = include_str!("../../../prompts/control-loop/spoken-report.md");

/// The node and the iteration, as every role sees them.
#[derive(Debug, Clone, Copy)]
pub struct NodeBrief<'a> {
    /// Ids joined by `/`; nothing in the flat dialect.
    pub node_path: Option<&'a str>,
    /// `2`, or `2.1` inside a child.
    pub label: &'a str,
    pub iteration: u32,
    pub max_iterations: u32,
    /// The user's task, or the parent's plan.
    pub setpoint: &'a str,
}

/// Absolute paths a role works with.
#[derive(Debug, Clone, Copy)]
pub struct RolePlaces<'a> {
    pub worktree: &'a str,
    /// The node's reports of earlier steps, for reading.
    pub artifacts: &'a str,
    /// Where the role leaves its report; also given to it as `$WINDLASS_OUTBOX`.
    pub outbox: &'a str,
}

/// A sensor's last measurement.
#[derive(Debug, Clone, Copy)]
pub struct SensorView<'a> {
    pub name: &'a str,
    pub output_file: &'a str,
    pub target: &'a str,
    pub need: Need,
    /// Nothing: never measured in this run.
    pub status: Option<SensorStatus>,
    /// Figures and exit code in the engine's words, such as `exit code 1; tests-failed: 3 tests`.
    pub reading: &'a str,
    pub output_tail: &'a str,
}

/// Whether the target can be met while the sensor fails.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Need {
    Required,
    Optional,
}

/// How the last run of the child loop ended.
#[derive(Debug, Clone, Copy)]
pub struct ChildView<'a> {
    pub node_id: &'a str,
    /// Text of its `result-output.md`; nothing before its first run.
    pub result: Option<&'a str>,
}

#[derive(Debug, Clone, Copy)]
pub struct ControllerPrompt<'a> {
    pub node: NodeBrief<'a>,
    pub places: RolePlaces<'a>,
    /// Body of the agent file.
    pub agent: &'a str,
    /// In order of priority.
    pub sensors: &'a [SensorView<'a>],
    /// What a loop around this one measured, where this one has not measured yet.
    pub around: &'a [SensorView<'a>],
    /// What the engine saw in the iterations so far: stagnation, oscillation, regression, best so far, refused claims.
    pub history: &'a [&'a str],
    /// Present for a node whose actuator is a child loop.
    pub child: Option<ChildView<'a>>,
    pub gate: GateEvidence<'a>,
}

#[derive(Debug, Clone, Copy)]
pub struct ActuatorPrompt<'a> {
    pub node: NodeBrief<'a>,
    pub places: RolePlaces<'a>,
    pub agent: &'a str,
    /// Text of the controller's report.
    pub decision: &'a str,
    /// Absolute path of the controller's report.
    pub decision_path: &'a str,
}

/// For a sensor without a command.
#[derive(Debug, Clone, Copy)]
pub struct SensorPrompt<'a> {
    pub node: NodeBrief<'a>,
    pub places: RolePlaces<'a>,
    pub agent: &'a str,
    pub name: &'a str,
    pub target: &'a str,
}

impl ControllerPrompt<'_> {
    pub fn render(&self) -> String {
        let report = outbox_path(self.places, "controller-output.md");
        let list = sensors_section(self.sensors);
        let body = Placeholders {
            output_path: Some(&report),
            artifacts_path: Some(self.places.artifacts),
            node_path: self.node.node_path,
            sensors_section: Some(&list),
            child_node_id: self.child.map(|child| child.node_id),
            ..Placeholders::default()
        }
        .fill(self.agent);
        let (child, plan_rule) = match self.child {
            Some(child) => {
                (child_result(child), include_str!("../../../prompts/control-loop/plan-for-child.md"))
            }
            None => (String::new(), include_str!("../../../prompts/control-loop/plan-for-actuator.md")),
        };
        let history = self.history.iter().fold(String::new(), |mut list, note| {
            let _ = writeln!(list, "- {}", note.split_whitespace().collect::<Vec<_>>().join(" "));
            list
        });
        let history =
            if history.is_empty() { "Nothing yet.".to_owned() } else { history.trim_end().to_owned() };
        let values = [
            ("report_path", inline_code(&report)),
            ("sensors", measurements(self.sensors)),
            ("around", around(self.around)),
            ("history", data_block("observations of the engine", &history)),
            ("child", child),
            ("plan_rule", plan_rule.trim_end().to_owned()),
            ("expectations", RepairedReport::Controller.expectations()),
        ];
        let mut text = with_context(
            &body,
            self.node,
            self.places,
            include_str!("../../../prompts/control-loop/context-controller.md"),
            &values,
        );
        let gate = self.gate.section();
        if !gate.is_empty() {
            text = format!("{}\n\n{gate}\n", text.trim_end());
        }
        text
    }
}

impl ActuatorPrompt<'_> {
    pub fn render(&self) -> String {
        let report = outbox_path(self.places, "actuator-output.md");
        let body = Placeholders {
            output_path: Some(&report),
            input_path: Some(self.decision_path),
            artifacts_path: Some(self.places.artifacts),
            node_path: self.node.node_path,
            ..Placeholders::default()
        }
        .fill(self.agent);
        let values = [
            ("report_path", inline_code(&report)),
            ("decision_path", inline_code(self.decision_path)),
            ("decision", data_block("plan, written by the controller", self.decision)),
            ("expectations", RepairedReport::Actuator.expectations()),
        ];
        with_context(
            &body,
            self.node,
            self.places,
            include_str!("../../../prompts/control-loop/context-actuator.md"),
            &values,
        )
    }
}

impl SensorPrompt<'_> {
    pub fn render(&self) -> String {
        let report = outbox_path(self.places, &format!("sensor-{}-output.md", self.name));
        let body = Placeholders {
            output_path: Some(&report),
            artifacts_path: Some(self.places.artifacts),
            node_path: self.node.node_path,
            ..Placeholders::default()
        }
        .fill(self.agent);
        let values = [
            ("report_path", inline_code(&report)),
            ("name", inline_code(self.name)),
            ("target", data_block("target of this sensor", self.target)),
            ("expectations", RepairedReport::Sensor { name: self.name }.expectations()),
        ];
        with_context(
            &body,
            self.node,
            self.places,
            include_str!("../../../prompts/control-loop/context-sensor.md"),
            &values,
        )
    }
}

/// The list that stands where an agent file says `{sensors-section}`. Measurements are not in it: they are foreign
/// text and come in data blocks.
pub fn sensors_section(sensors: &[SensorView<'_>]) -> String {
    if sensors.is_empty() {
        return "This loop has no sensors.".to_owned();
    }
    let mut list = String::new();
    for (number, sensor) in sensors.iter().enumerate() {
        let target = sensor.target.split_whitespace().collect::<Vec<_>>().join(" ");
        let need = match sensor.need {
            Need::Required => "",
            Need::Optional => " (optional)",
        };
        let _ = write!(
            list,
            "### {}. {}{need}\n- **Output file:** {}\n- **Target:** {target}\n\n",
            number + 1,
            sensor.name,
            inline_code(sensor.output_file),
        );
    }
    list.truncate(list.trim_end().len());
    list
}

fn measurements(sensors: &[SensorView<'_>]) -> String {
    if sensors.is_empty() {
        return "This loop has no sensors.".to_owned();
    }
    let blocks = sensors.iter().map(|sensor| {
        let status = sensor.status.map_or("not measured", SensorStatus::word);
        let need = match sensor.need {
            Need::Required => "required",
            Need::Optional => "optional",
        };
        let facts = format!(
            "status: {status}\nneed: {need}\nmeasured: {}\ntarget: {}",
            sensor.reading, sensor.target
        );
        format!(
            "#### {}\n\nReport: {}\n\n{}\n\n{}",
            inline_code(sensor.name),
            inline_code(sensor.output_file),
            data_block(&format!("measurement of sensor {}", sensor.name), &facts),
            data_block(&format!("end of the output of sensor {}", sensor.name), sensor.output_tail),
        )
    });
    blocks.collect::<Vec<_>>().join("\n\n")
}

fn around(sensors: &[SensorView<'_>]) -> String {
    if sensors.is_empty() {
        return String::new();
    }
    format!(
        "\n### What the loop around this one measured\n\nFor your information: these are not the sensors of this loop, and its target does not depend on them.\n\n{}\n",
        measurements(sensors)
    )
}

fn child_result(child: ChildView<'_>) -> String {
    let result = match child.result {
        Some(result) => data_block(&format!("result of the inner loop {}", child.node_id), result),
        None => "It has not run yet in this run.".to_owned(),
    };
    format!("\n### What the inner loop {} came back with\n\n{result}\n", inline_code(child.node_id))
}

/// The agent's own words first, the engine's below: what stands last and says so overrides paths in the text above.
fn with_context(
    body: &str,
    node: NodeBrief<'_>,
    places: RolePlaces<'_>,
    template: &str,
    own: &[(&str, String)],
) -> String {
    let node_path = node.node_path.map_or_else(|| "the only loop".to_owned(), inline_code);
    let shared = [
        ("node_path", node_path),
        ("label", inline_code(node.label)),
        ("iteration", node.iteration.to_string()),
        ("max_iterations", node.max_iterations.to_string()),
        ("setpoint", data_block("setpoint of this loop", node.setpoint)),
        ("worktree", inline_code(places.worktree)),
        ("artifacts", inline_code(places.artifacts)),
        ("data_notice", DATA_NOTICE.to_owned()),
    ];
    let values: Vec<(&str, &str)> =
        shared.iter().chain(own).map(|(name, value)| (*name, value.as_str())).collect();
    let context =
        fill(template, &values).expect("every context template is filled in by a test with these names");
    // An open fence in the file would turn the context into code.
    format!("{}\n\n{context}", with_closed_fence(body.trim_end()))
}

fn outbox_path(places: RolePlaces<'_>, name: &str) -> String {
    format!("{}/{name}", places.outbox.trim_end_matches('/'))
}
