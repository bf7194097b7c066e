//! The message of an iteration's commit, in the exact form that the original's viewer and history queries read.
//! It knows the form; when to commit is decided elsewhere.

use std::fmt::Write;

use super::artifacts::{NodeStatus, SensorStatus};
use super::paths::Layout;
use crate::one_line::one_line;

/// Longest subject and field; a message is read in one line of a terminal or a list.
const MAX_SUMMARY_CHARS: usize = 100;
const MAX_FIELD_CHARS: usize = 300;

/// The action of iteration 0, measured and skipped.
pub const INITIAL_MEASUREMENT: &str = "initial measurement";
pub const INITIAL_ENTRY: &str = "initial entry (sensors skipped)";

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct IterationMessage<'a> {
    pub layout: Layout,
    /// From the root to the node. Not written in the flat form.
    pub node_ids: &'a [&'a str],
    /// `2`, or `2.1` inside a child.
    pub label: &'a str,
    pub summary: &'a str,
    pub status: NodeStatus,
    pub target_met: bool,
    pub sensors: &'a [(&'a str, SensorStatus)],
    pub action: &'a str,
    pub run_id: Option<&'a str>,
}

impl IterationMessage<'_> {
    pub fn render(&self) -> String {
        let label = one_line(self.label, MAX_FIELD_CHARS).replace(' ', "");
        let label = if label.is_empty() { "0".to_owned() } else { label };
        let mut summary = one_line(self.summary, MAX_SUMMARY_CHARS);
        if summary.is_empty() {
            // The viewer drops a commit whose subject ends at the dash.
            self.status.word().clone_into(&mut summary);
        }
        let mut fields: Vec<(&str, String)> = Vec::new();
        let scope = match self.layout {
            Layout::Flat => String::new(),
            Layout::Nested => {
                fields.push(("node-path", self.node_ids.join("/")));
                fields.push(("level", self.node_ids.len().saturating_sub(1).to_string()));
                format!("[{}]", self.node_ids.join(" > "))
            }
        };
        fields.push(("iteration", label.clone()));
        fields.push(("status", self.status.word().to_owned()));
        fields.push(("target-met", self.target_met.to_string()));
        fields.push(("sensors", sensors(self.sensors)));
        fields.push(("action", self.action.to_owned()));
        fields.push(("run-id", self.run_id.unwrap_or_default().to_owned()));
        let mut message = format!("ai-loop{scope}: iteration {label} — {summary}\n\n");
        for (name, value) in fields {
            let value = one_line(&value, MAX_FIELD_CHARS.max(value_limit(name)));
            // A field without value would be lost on every reader.
            if !value.is_empty() {
                let _ = writeln!(message, "[{name}] {value}");
            }
        }
        message
    }
}

/// The list of sensors is never cut: half a name would be another sensor.
fn value_limit(name: &str) -> usize {
    if name == "sensors" || name == "node-path" { usize::MAX } else { 0 }
}

/// The viewer splits at a comma only before a plain word, so a name with a hyphen anywhere but first would merge with
/// its neighbour. Such names go first; the order is kept otherwise.
fn sensors(sensors: &[(&str, SensorStatus)]) -> String {
    let is_plain = |name: &str| name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
    let mut ordered: Vec<_> = sensors.iter().collect();
    ordered.sort_by_key(|(name, _)| is_plain(name));
    ordered.iter().map(|(name, status)| format!("{name}: {}", status.word())).collect::<Vec<_>>().join(", ")
}
