//! The loop as it was given: the tree of nodes with the text of every agent file, pinned at the start. Nothing is looked
//! up later, so a flow that is edited while the run goes on changes nothing.

use super::facts::NewLimits;
use crate::kernel::availability::Patience;
use crate::kernel::budget::Caps;
use crate::kernel::place::Place;
use crate::observation::Rejection;
use crate::vocabulary::{Millis, TaskId};
use alloc::boxed::Box;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use core::iter::successors;
use serde::{Deserialize, Serialize};

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ControlSpec {
    pub task: TaskId,
    /// The setpoint of the outermost node.
    pub text: String,
    /// Its rounds are the actuations of the outermost node.
    pub caps: Caps,
    pub dialect: Dialect,
    /// `run_<date>_<number>`, the directory of a hierarchical run; empty in a flat one.
    pub run_name: String,
    pub root: Node,
    pub cap_rule: CapRule,
    pub keep: Keep,
    /// So many iterations without progress end a node; 0 for any number.
    pub steady_limit: u32,
    #[serde(default, skip_serializing_if = "Patience::is_usual")]
    pub patience: Patience,
    pub base_branch: String,
    pub workplace: Workplace,
    /// The base is a commit of the user's uncommitted changes, which lie in their checkout as well.
    #[serde(default, skip_serializing_if = "core::ops::Not::not")]
    pub taken_along: bool,
    pub place: Place,
}

/// Which of the forms in the wild the repository is set up for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Dialect {
    /// One loop, files directly under `.ai-loop/`.
    Flat,
    /// `flow.yaml`, files under `.ai-loop/runs/`.
    Hierarchical,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum CapRule {
    /// So many actuations, and then one judgement of what they came to.
    JudgeTheLast,
    /// The original's test before the controller: one actuation less, and the last measurement is never judged.
    StrictOriginal,
}

/// What the branch ends on when the target was not met.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Keep {
    Best,
    Last,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Workplace {
    OwnWorktree,
    /// The user's checkout, switched to the loop's branch.
    InPlace,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Node {
    pub id: String,
    pub controller: AgentText,
    pub actuator: Actuator,
    pub sensors: Vec<Sensor>,
    pub max_iterations: u32,
    pub on_error: OnError,
    #[serde(default, skip_serializing_if = "NodeBudget::is_uncapped")]
    pub budget: NodeBudget,
}

/// An agent file of the repository, as it was at the start.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct AgentText {
    pub path: String,
    pub text: String,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Actuator {
    Direct(AgentText),
    /// A loop of its own, whose setpoint is this node's plan.
    Cascade(Box<Node>),
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Sensor {
    pub name: String,
    pub file: AgentText,
    /// Absent: only an agent can measure it.
    pub command: Option<String>,
    pub target: String,
    /// Whether the target can be met without it.
    pub required: bool,
    /// In place of the limit that every step has.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub timeout: Option<Millis>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum OnError {
    FailFast,
    ReportToParent,
}

/// What one entry of a node may use of what its parent has; `None` means: as much as the parent.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct NodeBudget {
    #[serde(default)]
    pub time: Option<Millis>,
    #[serde(default)]
    pub tokens: Option<u64>,
    #[serde(default)]
    pub cost_micros: Option<u64>,
}

impl NodeBudget {
    pub const fn is_uncapped(&self) -> bool {
        self.time.is_none() && self.tokens.is_none() && self.cost_micros.is_none()
    }
}

impl Node {
    pub fn child(&self) -> Option<&Self> {
        match &self.actuator {
            Actuator::Direct(_) => None,
            Actuator::Cascade(child) => Some(child),
        }
    }

    /// This node and those below it, outermost first. Every node has at most one child, so a depth names a node.
    pub fn chain(&self) -> impl Iterator<Item = &Self> {
        successors(Some(self), |node| node.child())
    }
}

impl ControlSpec {
    /// # Panics
    /// Never: a frame is only made for a depth that the flow has.
    pub fn node(&self, depth: usize) -> &Node {
        self.root.chain().nth(depth).unwrap_or(&self.root)
    }

    pub(crate) fn change_limits(&mut self, limits: &NewLimits) {
        self.steady_limit = limits.steady_limit.unwrap_or(self.steady_limit);
        let mut below = Some((1, &mut self.root));
        while let Some((depth, Node { actuator: Actuator::Cascade(child), .. })) = below {
            child.max_iterations = child.max_iterations.saturating_add(limits.more_at(depth));
            below = Some((depth + 1, child));
        }
    }

    /// The commands of all sensors, each once.
    pub fn commands(&self) -> Vec<String> {
        let sensors = self.root.chain().flat_map(|node| &node.sensors);
        let mut commands: Vec<String> = Vec::new();
        for command in sensors.filter_map(|sensor| sensor.command.as_ref()) {
            if !commands.contains(command) {
                commands.push(command.clone());
            }
        }
        commands
    }

    /// Node ids from the outermost to this depth.
    pub fn node_path(&self, depth: usize) -> Vec<&str> {
        self.root.chain().take(depth + 1).map(|node| node.id.as_str()).collect()
    }

    pub(crate) fn validate(&self) -> Result<(), Rejection> {
        let refuse = |why: String| Err(Rejection::InvalidSpec { why });
        if self.text.trim().is_empty() {
            return refuse("the task text is empty".to_string());
        }
        if self.caps.rounds == 0 || self.root.chain().any(|node| node.max_iterations == 0) {
            return refuse("at least one iteration is needed at every level".to_string());
        }
        if self.caps.time.is_some_and(|time| time.0 == 0) || self.caps.step_time.0 == 0 {
            return refuse("a time limit of nothing leaves no time to work".to_string());
        }
        for node in self.root.chain() {
            let names = || node.sensors.iter().map(|sensor| sensor.name.as_str());
            if let Some(twice) =
                names().enumerate().find(|(at, name)| names().take(*at).any(|before| before == *name))
            {
                return refuse(format!("the node {} has two sensors called {}", node.id, twice.1));
            }
        }
        if self.dialect == Dialect::Flat && self.root.child().is_some() {
            return refuse("a flat loop has one level".to_string());
        }
        Ok(())
    }
}
