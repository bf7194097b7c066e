//! The control loop at the border: what can be asked of it and what comes back.

use crate::commands::SettingValue;
use serde::Serialize;
use std::path::PathBuf;

/// `windlass control run`. What is absent here comes from the settings or from the repository's own set-up.
#[derive(Clone, Debug, Default)]
pub struct StartControl {
    pub repository: PathBuf,
    /// Where the user stands; relative paths on the command line mean relative to here.
    pub directory: PathBuf,
    pub task: String,
    /// By node id, or for the outermost node where no id is given.
    pub max_iterations: Vec<(Option<String>, u32)>,
    pub settings: Vec<(String, SettingValue)>,
    pub in_place: bool,
    pub strict_original: bool,
    /// What the original keeps is the last; otherwise the best is kept where nothing is said.
    pub keep: Option<KeepChoice>,
    /// So many iterations without progress end a node; 0 for any number.
    pub steady_limit: Option<u32>,
    /// Take uncommitted changes along as the first commit of the loop's branch.
    pub allow_dirty: bool,
    /// Another name than `ai-loop/<slug of the task>`.
    pub branch: Option<String>,
    /// Say what would be done, start nothing.
    pub dry_run: bool,
    pub yes: bool,
    pub wait: bool,
}

/// What the branch ends on when the target was not met.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KeepChoice {
    Best,
    Last,
}

/// What a control loop has come to, for its report.
#[derive(Clone, Debug, Serialize)]
pub struct ControlReport {
    pub branch: String,
    pub base_branch: String,
    pub commits: u32,
    /// Of the outermost node.
    pub actuations: u32,
    /// How often an actuator worked, at whatever depth.
    pub worked: u32,
    /// What was found about the gate of the content the branch ends on, and nobody waived.
    pub open_findings: Vec<String>,
    pub best: Option<BestView>,
    /// References under which work is kept that an actuator left unfinished.
    pub kept: Vec<String>,
    pub nodes: Vec<NodeView>,
    /// Files of the set-up that somebody edited meanwhile; the run worked on with what it had pinned.
    pub setup_edited: Vec<String>,
    /// What to do with the branch now, as commands.
    pub next_steps: Vec<String>,
}

#[derive(Clone, Debug, Serialize)]
pub struct BestView {
    pub iteration: String,
    pub commit: Option<String>,
    pub failing: Vec<String>,
}

/// One node of the flow and where it stands.
#[derive(Clone, Debug, Serialize)]
pub struct NodeView {
    pub path: String,
    /// `running`, `complete`, … or `not entered`.
    pub status: String,
    /// The label of its current or last iteration.
    pub iteration: Option<String>,
    pub actuations: u32,
    pub max_iterations: u32,
    pub sensors: Vec<SensorReading>,
    /// What the engine remarked on its last measurement.
    pub remarks: Vec<String>,
}

#[derive(Clone, Debug, Serialize)]
pub struct SensorReading {
    pub name: String,
    /// `pass`, `fail` or `pending`.
    pub status: String,
    pub cause: Option<String>,
    pub required: bool,
    /// Figures as people write them: name, value, unit.
    pub figures: Vec<(String, String, String)>,
}

/// `windlass control check`: is this repository set up, and what is wrong?
#[derive(Clone, Debug, Serialize)]
pub struct SetupReport {
    pub repository: String,
    /// `flat` or `hierarchical`; absent where nothing is set up.
    pub dialect: Option<String>,
    pub nodes: Vec<SetupNode>,
    /// Sentences; none means that a run can be started.
    pub problems: Vec<String>,
    pub warnings: Vec<String>,
    pub commands: Vec<String>,
    pub trusted: bool,
}

#[derive(Clone, Debug, Serialize)]
pub struct SetupNode {
    pub path: String,
    pub max_iterations: u32,
    /// Name, what measures it (a command, or `an agent`), target.
    pub sensors: Vec<(String, String, String)>,
    /// Names of the sensors that need not pass.
    pub optional: Vec<String>,
    pub actuator: String,
}

/// `windlass control init`.
#[derive(Clone, Debug, Default)]
pub struct InitControl {
    pub repository: PathBuf,
    /// Name and command. They join the sensors there are; where there are none and none is given, the repository's
    /// own files tell.
    pub sensors: Vec<(String, String)>,
    /// As the repository is set up already, else one, where nothing is said.
    pub levels: Option<InitLevels>,
    pub dry_run: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum InitLevels {
    /// Agent files only, as the first version of the original had it.
    Flat,
    One,
    Two,
}

#[derive(Clone, Debug, Serialize)]
pub struct InitReport {
    pub repository: String,
    pub dialect: String,
    /// Whether this is only what would be written.
    pub dry_run: bool,
    /// Name, command, and how it was found.
    pub sensors: Vec<(String, String, String)>,
    pub written: Vec<String>,
    pub unchanged: Vec<String>,
    /// Edited by hand: left alone, with ours beside it.
    pub kept: Vec<(String, String)>,
    pub warnings: Vec<String>,
    /// As commands.
    pub next_steps: Vec<String>,
}

/// `windlass control status`.
#[derive(Clone, Debug, Serialize)]
pub struct ControlStatus {
    pub run: String,
    pub task: String,
    pub status: crate::views::Status,
    pub now: String,
    pub report: ControlReport,
    /// The newest last outputs of the node at work: name of the file and its text.
    pub outputs: Vec<(String, String)>,
    /// The newest first: commit, subject.
    pub recent: Vec<(String, String)>,
}

/// Every measurement of every node, for drawing.
#[derive(Clone, Debug, Serialize)]
pub struct Measurements {
    pub run: String,
    pub task: String,
    pub series: Vec<Series>,
    /// The best iteration of the outermost node.
    pub best: Option<String>,
}

#[derive(Clone, Debug, Serialize)]
pub struct Series {
    pub node: String,
    pub sensor: String,
    /// The figure's name; absent for passing and failing itself.
    pub metric: Option<String>,
    pub unit: String,
    /// Whether more is better.
    pub higher_is_better: bool,
    /// Label of the iteration, value in thousandths, `None` where it was not measured, and whether the sensor passed.
    pub points: Vec<SeriesPoint>,
}

#[derive(Clone, Debug, Serialize)]
pub struct SeriesPoint {
    pub iteration: String,
    pub thousandths: Option<i64>,
    /// Billionths beyond them, of the same sign.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub finer: Option<i64>,
    pub passed: bool,
}
