//! `flow.yaml`: the tree of loops a run walks through. Read once, at the start of a run.
//! It knows the topology, not whether the files it names exist.

mod parse;
mod render;

use crate::repo_path::RepoPath;
pub(crate) use parse::minutes;

/// Iterations of a node where neither it nor the defaults say a number.
pub const DEFAULT_MAX_ITERATIONS: u32 = 10;

/// Where the file lies in a repository that is set up for nested loops.
pub const FLOW_FILE: &str = ".ai-loop/flow.yaml";

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Flow {
    pub version: u32,
    pub root: FlowNode,
}

/// One loop: it measures, decides, and acts itself or through one child loop.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FlowNode {
    pub id: String,
    pub controller: RepoPath,
    pub actuator: FlowActuator,
    pub sensors: Vec<FlowSensor>,
    pub max_iterations: u32,
    pub on_error: OnError,
    pub timeout_minutes: Option<u64>,
    pub budget: Option<FlowBudget>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FlowActuator {
    /// An agent that edits files.
    Direct { agent: RepoPath },
    /// A loop whose setpoint is this node's plan.
    Composite { child: Box<FlowNode> },
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FlowSensor {
    pub path: RepoPath,
    pub target: Option<String>,
    pub required: bool,
}

/// What the parent does when this node ends with an error.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum OnError {
    /// The whole run ends.
    #[default]
    FailFast,
    /// The parent gets the result, measures again and may plan anew.
    ReportToParent,
}

/// Caps of one node and everything below it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct FlowBudget {
    pub actuations: Option<u32>,
    pub minutes: Option<u64>,
    pub tokens: Option<u64>,
    /// Millionths of the currency the agents are priced in.
    pub cost_micros: Option<u64>,
}

impl Flow {
    /// Every file that must exist, in order of the tree, each once.
    pub fn paths(&self) -> Vec<&RepoPath> {
        let mut paths: Vec<&RepoPath> = Vec::new();
        for (_, node) in self.nodes() {
            let agent = match &node.actuator {
                FlowActuator::Direct { agent } => Some(agent),
                FlowActuator::Composite { .. } => None,
            };
            let sensors = node.sensors.iter().map(|sensor| &sensor.path);
            for path in sensors.chain([&node.controller]).chain(agent) {
                if !paths.contains(&path) {
                    paths.push(path);
                }
            }
        }
        paths
    }

    /// The nodes from the root inwards, each with its node path (ids joined by `/`).
    pub fn nodes(&self) -> Vec<(String, &FlowNode)> {
        let mut found = Vec::new();
        let mut path = String::new();
        let mut next = Some(&self.root);
        while let Some(node) = next {
            if !path.is_empty() {
                path.push('/');
            }
            path.push_str(&node.id);
            found.push((path.clone(), node));
            next = node.child();
        }
        found
    }
}

impl FlowNode {
    pub fn child(&self) -> Option<&FlowNode> {
        match &self.actuator {
            FlowActuator::Composite { child } => Some(child),
            FlowActuator::Direct { .. } => None,
        }
    }
}

impl FlowSensor {
    /// The name by which the sensor goes in files, prompts and commits.
    pub fn name(&self) -> String {
        super::agent_file::sensor_name(self.path.stem(), None)
    }
}

impl OnError {
    pub const fn word(self) -> &'static str {
        match self {
            Self::FailFast => "fail-fast",
            Self::ReportToParent => "report-to-parent",
        }
    }
}
