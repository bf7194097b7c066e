//! `orchestrator-output.md`: where a node stands and what it is to reach.

use crate::control_loop::front_matter::{self, render, text};
use crate::faults::{Faults, Parsed, readable_text};
use crate::markdown::headings;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NodeState {
    pub iteration: u32,
    pub status: NodeStatus,
    pub max_iterations: u32,
    pub place: NodePlace,
    /// The user's task, or the parent's plan word for word.
    pub setpoint: String,
}

/// What the two dialects write differently.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum NodePlace {
    Flat { base_branch: String, branch: String },
    Nested { node_path: String, parent_node_path: String },
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum NodeStatus {
    Running,
    Complete,
    MaxIterationsReached,
    Error,
}

impl NodeStatus {
    pub(super) const CHOICES: [(&'static str, Self); 4] = [
        ("running", Self::Running),
        ("complete", Self::Complete),
        ("max-iterations-reached", Self::MaxIterationsReached),
        ("error", Self::Error),
    ];

    pub const fn word(self) -> &'static str {
        match self {
            Self::Running => "running",
            Self::Complete => "complete",
            Self::MaxIterationsReached => "max-iterations-reached",
            Self::Error => "error",
        }
    }
}

impl NodeState {
    pub const FILE_NAME: &'static str = "orchestrator-output.md";

    pub fn render(&self) -> String {
        let mut keys = vec![
            ("iteration", self.iteration.to_string()),
            ("status", self.status.word().to_owned()),
            ("max-iterations", self.max_iterations.to_string()),
        ];
        let heading = match &self.place {
            NodePlace::Flat { base_branch, branch } => {
                keys.extend([("base-branch", text(base_branch)), ("branch", text(branch))]);
                "# Task"
            }
            NodePlace::Nested { node_path, parent_node_path } => {
                keys.extend([("node-path", text(node_path)), ("parent-node-path", text(parent_node_path))]);
                "# Task (setpoint)"
            }
        };
        format!("{}\n{heading}\n\n{}\n", render(&keys), self.setpoint)
    }

    pub fn parse(bytes: &[u8]) -> Parsed<Self> {
        let (mut keys, body) =
            front_matter::required(Self::FILE_NAME, readable_text(Self::FILE_NAME, bytes)?)?;
        let iteration = keys.required_number("iteration");
        let status = keys.required_choice("status", &NodeStatus::CHOICES);
        // The flat dialect's default; a file of the other always states it.
        let max_iterations = match keys.get("max-iterations") {
            Some(_) => keys.required_number("max-iterations"),
            None => crate::control_loop::flow::DEFAULT_MAX_ITERATIONS,
        };
        let place = if keys.get("node-path").is_some() {
            let node_path = keys.required_words("node-path");
            NodePlace::Nested { node_path, parent_node_path: keys.required_words("parent-node-path") }
        } else {
            let base_branch = keys.words("base-branch").unwrap_or_default();
            NodePlace::Flat { base_branch, branch: keys.words("branch").unwrap_or_default() }
        };
        let mut faults = std::mem::take(&mut keys.faults);
        let setpoint = setpoint(body);
        if setpoint.is_none() {
            faults.push("the heading `# Task` with the task below it is missing".to_owned());
        }
        let state = || Some(Self { iteration, status: status?, max_iterations, place, setpoint: setpoint? });
        Faults::unless_empty(Self::FILE_NAME, faults, state).map(|state| (state, Vec::new()))
    }
}

/// Everything below the heading, as it was given: only the lines that rendering put around it are taken off.
fn setpoint(body: &str) -> Option<String> {
    let heading =
        headings(body).into_iter().find(|heading| heading.level == 1 && heading.opens_with("Task"))?;
    let text = &body[heading.content_start..];
    let text = text.strip_prefix("\r\n").or_else(|| text.strip_prefix('\n')).unwrap_or(text);
    Some(text.strip_suffix('\n').unwrap_or(text).to_owned())
}
