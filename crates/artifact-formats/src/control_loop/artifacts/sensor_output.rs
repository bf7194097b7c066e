//! `sensor-<name>-output.md`: what one sensor measured.

use crate::control_loop::front_matter::{self, Keys, render, text};
use crate::faults::{Faults, Parsed, readable_text};
use crate::markdown::{fenced, section, unfenced};

use crate::output_text::{OUTPUT_BYTES, bounded_output, clean_output};

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SensorOutput {
    pub sensor: String,
    /// Absent in the two older dialects.
    pub status: Option<SensorStatus>,
    /// Absent for sensors that an agent reads off the code.
    pub command: Option<String>,
    pub exit_code: Option<i32>,
    /// Why there is no measurement, such as `not-runnable` or `timed-out`.
    pub cause: Option<String>,
    pub output: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum SensorStatus {
    Pass,
    Fail,
    /// Not measured yet.
    Pending,
}

impl SensorStatus {
    pub(in crate::control_loop) const CHOICES: [(&'static str, Self); 3] =
        [("pass", Self::Pass), ("fail", Self::Fail), ("pending", Self::Pending)];

    pub const fn word(self) -> &'static str {
        match self {
            Self::Pass => "pass",
            Self::Fail => "fail",
            Self::Pending => "pending",
        }
    }
}

impl SensorOutput {
    /// The stub for a measurement that was skipped.
    pub fn pending(sensor: &str) -> Self {
        Self {
            sensor: sensor.to_owned(),
            status: Some(SensorStatus::Pending),
            command: None,
            exit_code: None,
            cause: None,
            output: "Not measured yet: there is no baseline.".to_owned(),
        }
    }

    /// Output is cleaned, bounded and fenced: nothing a command prints can look like a part of the file.
    pub fn render(&self) -> String {
        let mut keys = vec![("sensor", text(&self.sensor))];
        keys.extend(self.status.map(|status| ("status", status.word().to_owned())));
        keys.extend(self.exit_code.map(|code| ("exit-code", code.to_string())));
        keys.extend(self.cause.as_ref().map(|cause| ("cause", text(cause))));
        let name = self.sensor.split_whitespace().collect::<Vec<_>>().join(" ");
        let mut file = format!("{}\n# Sensor Output: {name}\n\n", render(&keys));
        if let Some(command) = &self.command {
            file.push_str("## Command\n\n");
            file.push_str(&fenced(&clean_output(command)));
            file.push('\n');
        }
        file.push_str("## Output\n\n");
        file.push_str(&fenced(&bounded_output(&clean_output(&self.output), OUTPUT_BYTES)));
        file
    }

    /// `expected`: the sensor whose report this is; the file may leave its name out but not state another.
    pub fn parse(expected: &str, bytes: &[u8]) -> Parsed<Self> {
        let file = format!("sensor-{expected}-output.md");
        let (mut keys, body) = front_matter::required(&file, readable_text(&file, bytes)?)?;
        let mut notes = Vec::new();
        let sensor = keys.words("sensor").unwrap_or_else(|| {
            notes.push("`sensor` is missing from the front matter; the file's name was used".to_owned());
            expected.to_owned()
        });
        if sensor != expected {
            keys.faults
                .push(format!("`sensor` must be {expected}; found {}", crate::fault::excerpt(&sensor)));
        }
        let status = match keys.get("status") {
            Some(_) => keys.required_choice("status", &SensorStatus::CHOICES),
            None => None,
        };
        let exit_code = keys.words("exit-code").and_then(|code| code.parse().ok());
        let report = Self {
            sensor,
            status,
            command: own_section(body, "Command").map(unfenced).filter(|command| !command.is_empty()),
            exit_code,
            cause: keys.words("cause"),
            output: own_section(body, "Output").map(unfenced).unwrap_or_default(),
        };
        let Keys { faults, .. } = keys;
        Faults::unless_empty(&file, faults, || Some(report)).map(|report| (report, notes))
    }
}

/// "Output" goes to the end of the file whatever headings an agent pasted into it; "Command" ends where it starts.
fn own_section<'a>(body: &'a str, title: &str) -> Option<&'a str> {
    section(
        body,
        |heading| heading.level == 2 && heading.is(title),
        |heading| title == "Command" && heading.level == 2 && heading.is("Output"),
    )
}
