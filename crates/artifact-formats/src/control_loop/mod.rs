//! The files of the control loop (sensors, controller, actuator) under `.ai-loop/` and `.claude/agents/`, its commit
//! messages and the prompts of its roles, in the three dialects that exist.
//! It knows formats and rules about content; it decides no iteration and touches no disk.

mod agent_file;
mod artifacts;
mod commit_message;
mod flow;
mod front_matter;
pub mod paths;
pub mod prompts;
mod run_id;
mod slug;
mod viewer;
mod yaml;

pub use agent_file::{
    AgentFile, AgentTemplate, DEFAULT_TARGET, Dialect, ListedSensor, Placeholders, SensorEntry,
    SensorTemplate, is_known_rendering, measurement_command, scaffold_flow, sensor_entries, sensor_name,
    sensor_name_fault,
};
pub use artifacts::{
    ActuatorOutput, ChangedFile, ControllerOutput, FileChange, NodePlace, NodeState, NodeStatus, PlanFor,
    ResultOutput, RunState, SensorOutput, SensorStatus, TerminationReason,
};
pub use commit_message::{INITIAL_ENTRY, INITIAL_MEASUREMENT, IterationMessage};
pub use flow::{
    DEFAULT_MAX_ITERATIONS, FLOW_FILE, Flow, FlowActuator, FlowBudget, FlowNode, FlowSensor, OnError,
};
pub use paths::{Layout, NodePaths, is_loop_owned};
pub use run_id::RunId;
pub use slug::{BRANCH_PREFIX, branch_for, slug};
pub use viewer::{ViewedCommit, ViewedSensor, read_loop_commit, seen_by_viewer};

pub use crate::faults::{Faults, MAX_FILE_BYTES, Parsed, readable_text};
pub use crate::metric::{Better, Metric, MetricLabel, MetricRule, MetricRuleError};
pub use crate::output_text::{OUTPUT_BYTES, bounded_output, clean_output};
pub use crate::repo_path::{RepoPath, RepoPathFault};
