//! The one repair request a role gets for an unusable report: what was expected, what is wrong, what it left.
//! How often to ask is decided elsewhere.

use crate::data_block::{DATA_NOTICE, data_block, inline_code};
use crate::output_text::bounded_output;
use crate::template::fill;

/// Longest part of the rejected report that is shown again.
const SHOWN_BYTES: usize = 16 * 1024;

/// The reports that agents write.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RepairedReport<'a> {
    Controller,
    Actuator,
    Sensor { name: &'a str },
}

#[derive(Debug, Clone, Copy)]
pub struct RepairPrompt<'a> {
    pub report: RepairedReport<'a>,
    /// Absolute path of the outbox.
    pub outbox: &'a str,
    /// `None`: the report was not there at all.
    pub faults: Option<&'a str>,
    /// The rejected text, where it can be shown.
    pub previous: Option<&'a str>,
    /// The setpoint, so that an agent without memory can judge again.
    pub setpoint: &'a str,
}

impl RepairPrompt<'_> {
    pub fn render(&self) -> String {
        let name = self.report.file_name();
        let path = format!("{}/{name}", self.outbox.trim_end_matches('/'));
        let faults = match self.faults {
            Some(faults) => data_block("faults, found by the engine", faults),
            None => format!("There is no file {} in the outbox.", inline_code(&name)),
        };
        let previous = match self.previous {
            Some(text) => data_block(&format!("{name} as you left it"), &bounded_output(text, SHOWN_BYTES)),
            None => "not available".to_owned(),
        };
        let values = [
            ("role", self.report.role()),
            ("report", &inline_code(&name)),
            ("report_path", &inline_code(&path)),
            ("data_notice", DATA_NOTICE),
            ("faults", &faults),
            ("expectations", &self.report.expectations()),
            ("setpoint", &data_block("setpoint of this loop", self.setpoint)),
            ("previous", &previous),
        ];
        fill(include_str!("../../../prompts/control-loop/repair.md"), &values)
            .expect("the repair template is filled in by a test with these names")
    }
}

impl RepairedReport<'_> {
    pub fn file_name(self) -> String {
        match self {
            Self::Controller => "controller-output.md".to_owned(),
            Self::Actuator => "actuator-output.md".to_owned(),
            Self::Sensor { name } => format!("sensor-{name}-output.md"),
        }
    }

    const fn role(self) -> &'static str {
        match self {
            Self::Controller => "controller",
            Self::Actuator => "actuator",
            Self::Sensor { .. } => "sensor",
        }
    }

    /// What the report must hold, the same words in the prompt and in the repair request.
    pub(super) fn expectations(self) -> String {
        let text = match self {
            Self::Controller => include_str!("../../../prompts/control-loop/expect-controller.md").to_owned(),
            Self::Actuator => include_str!("../../../prompts/control-loop/expect-actuator.md").to_owned(),
            Self::Sensor { name } => {
                fill(include_str!("../../../prompts/control-loop/expect-sensor.md"), &[("name", name)])
                    .expect("the expectation of a sensor is filled in by a test with this name")
            }
        };
        text.trim_end().to_owned()
    }
}
