//! `result-output.md`: how a node of a nested run ended, for its parent's controller. The engine writes it.

use std::fmt::Write;

use crate::control_loop::front_matter::{self, render, text};
use crate::faults::{Faults, Parsed, readable_text};
use crate::markdown::{contained, section};

use super::node_state::NodeStatus;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ResultOutput {
    /// Never `Running`.
    pub status: NodeStatus,
    pub target_met: bool,
    pub termination_reason: TerminationReason,
    pub run_id: String,
    pub node_id: String,
    pub node_path: String,
    pub parent_node_path: String,
    /// Actuations, not judgements.
    pub iterations_executed: u32,
    pub summary: String,
    /// First readings against last ones.
    pub metrics_delta: String,
    pub observations: String,
    pub attempted: Option<String>,
    pub failure: Option<String>,
}

/// The first three are the original's; the others say more exactly why a node gave up.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum TerminationReason {
    TargetMet,
    MaxIterations,
    Error,
    Stagnation,
    Oscillation,
    Regression,
    Budget,
    TimedOut,
    Stopped,
}

impl TerminationReason {
    const CHOICES: [(&'static str, Self); 9] = [
        ("target-met", Self::TargetMet),
        ("max-iterations", Self::MaxIterations),
        ("error", Self::Error),
        ("stagnation", Self::Stagnation),
        ("oscillation", Self::Oscillation),
        ("regression", Self::Regression),
        ("budget", Self::Budget),
        ("timed-out", Self::TimedOut),
        ("stopped", Self::Stopped),
    ];

    pub const fn word(self) -> &'static str {
        match self {
            Self::TargetMet => "target-met",
            Self::MaxIterations => "max-iterations",
            Self::Error => "error",
            Self::Stagnation => "stagnation",
            Self::Oscillation => "oscillation",
            Self::Regression => "regression",
            Self::Budget => "budget",
            Self::TimedOut => "timed-out",
            Self::Stopped => "stopped",
        }
    }
}

const SUMMARY: &str = "Summary";
const METRICS: &str = "Metrics Delta";
const OBSERVATIONS: &str = "Key Observations for Parent Controller";
const ATTEMPTED: &str = "What Was Attempted";
const FAILURE: &str = "Failure Details";

impl ResultOutput {
    pub const FILE_NAME: &'static str = "result-output.md";

    pub fn render(&self) -> String {
        let keys = [
            ("status", self.status.word().to_owned()),
            ("target-met", self.target_met.to_string()),
            ("termination-reason", self.termination_reason.word().to_owned()),
            ("run-id", text(&self.run_id)),
            ("node-id", text(&self.node_id)),
            ("node-path", text(&self.node_path)),
            ("parent-node-path", text(&self.parent_node_path)),
            ("iterations-executed", self.iterations_executed.to_string()),
        ];
        let node = self.node_id.split_whitespace().collect::<Vec<_>>().join(" ");
        let mut file = format!("{}\n# Result: {node}\n", render(&keys));
        let sections = [
            (SUMMARY, Some(&self.summary)),
            (METRICS, Some(&self.metrics_delta)),
            (OBSERVATIONS, Some(&self.observations)),
            (ATTEMPTED, self.attempted.as_ref()),
            (FAILURE, self.failure.as_ref()),
        ];
        for (title, text) in sections {
            let Some(text) = text else { continue };
            let _ = writeln!(file, "\n## {title}");
            let text = contained(text);
            if !text.is_empty() {
                let _ = writeln!(file, "\n{text}");
            }
        }
        file
    }

    /// A parent needs status, `target-met` and the summary; what else is missing is taken as empty.
    pub fn parse(bytes: &[u8]) -> Parsed<Self> {
        let (mut keys, body) =
            front_matter::required(Self::FILE_NAME, readable_text(Self::FILE_NAME, bytes)?)?;
        let mut notes = Vec::new();
        let status = keys.required_choice("status", &NodeStatus::CHOICES);
        if status == Some(NodeStatus::Running) {
            keys.faults
                .push("`status` is `running`, but this file is written when a node has ended".to_owned());
        }
        let target_met = keys.required_truth("target-met", &mut notes);
        let termination_reason = match keys.get("termination-reason") {
            Some(_) => keys.required_choice("termination-reason", &TerminationReason::CHOICES),
            None => status.map(usual_reason),
        };
        let iterations_executed = match keys.get("iterations-executed") {
            Some(_) => keys.required_number("iterations-executed"),
            None => 0,
        };
        let part = |title: &str| {
            section(body, |heading| heading.level == 2 && heading.is(title), |heading| heading.level <= 2)
                .map(str::to_owned)
        };
        let summary = part(SUMMARY).unwrap_or_default();
        if summary.is_empty() {
            keys.faults.push("the section `## Summary` is missing or empty".to_owned());
        }
        let word = |key: &str| keys.words(key).unwrap_or_default();
        let result = Self {
            status: status.unwrap_or(NodeStatus::Error),
            target_met: target_met.unwrap_or(false),
            termination_reason: termination_reason.unwrap_or(TerminationReason::Error),
            run_id: word("run-id"),
            node_id: word("node-id"),
            node_path: word("node-path"),
            parent_node_path: word("parent-node-path"),
            iterations_executed,
            summary,
            metrics_delta: part(METRICS).unwrap_or_default(),
            observations: part(OBSERVATIONS).unwrap_or_default(),
            attempted: part(ATTEMPTED),
            failure: part(FAILURE),
        };
        Faults::unless_empty(Self::FILE_NAME, keys.faults, || Some(result)).map(|result| (result, notes))
    }
}

fn usual_reason(status: NodeStatus) -> TerminationReason {
    match status {
        NodeStatus::Complete => TerminationReason::TargetMet,
        NodeStatus::MaxIterationsReached => TerminationReason::MaxIterations,
        NodeStatus::Running | NodeStatus::Error => TerminationReason::Error,
    }
}
