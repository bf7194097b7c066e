//! The files of the control loop (sensors, controller, actuator) under `.ai-loop/` and `.claude/agents/`, its commit
//! messages and the prompts of its roles, in the three dialects that exist.
//! It knows formats and rules about content; it decides no iteration and touches no disk.

mod agent_file;
mod artifacts;
mod commit_message;
mod decimal;
mod faults;
mod flow;
mod front_matter;
mod markdown;
mod metric;
pub mod paths;
pub mod prompts;
mod repo_path;
mod run_id;
mod slug;
mod viewer;
mod yaml;

pub use agent_file::{
    AgentFile, AgentTemplate, DEFAULT_TARGET, Dialect, ListedSensor, Placeholders, SensorEntry,
    SensorTemplate, is_known_rendering, measurement_command, scaffold_flow, sensor_entries, sensor_name,
};
pub use artifacts::{
    ActuatorOutput, ChangedFile, ControllerOutput, FileChange, NodePlace, NodeState, NodeStatus,
    OUTPUT_BYTES, PlanFor, ResultOutput, RunState, SensorOutput, SensorStatus, TerminationReason,
    bounded_output, clean_output,
};
pub use commit_message::{INITIAL_ENTRY, INITIAL_MEASUREMENT, IterationMessage};
pub use faults::{Faults, MAX_FILE_BYTES, Parsed, readable_text};
pub use flow::{
    DEFAULT_MAX_ITERATIONS, FLOW_FILE, Flow, FlowActuator, FlowBudget, FlowNode, FlowSensor, OnError,
};
pub use metric::{Better, Metric, MetricLabel, MetricRule, MetricRuleError};
pub use paths::{Layout, NodePaths, is_loop_owned};
pub use repo_path::{RepoPath, RepoPathFault};
pub use run_id::RunId;
pub use slug::{BRANCH_PREFIX, branch_for, slug};
pub use viewer::{ViewedCommit, ViewedSensor, read_loop_commit, seen_by_viewer};
