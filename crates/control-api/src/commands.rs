//! What a face can ask for. Paths are as the user gave them, made absolute; everything else is already what is meant.

use std::path::PathBuf;

/// `windlass run`. What is absent here comes from the settings.
#[derive(Clone, Debug, Default)]
pub struct StartRun {
    pub repository: PathBuf,
    /// Where the user stands; relative paths on the command line mean relative to here.
    pub directory: PathBuf,
    pub task: String,
    pub task_id: Option<String>,
    pub base: Option<String>,
    /// What the verdict must speak of one by one.
    pub criteria: Vec<JudgedCriterion>,
    pub run_root: Option<PathBuf>,
    /// Settings given on the command line, by key as in `windlass.toml`.
    pub settings: Vec<(String, SettingValue)>,
    pub dry_run: bool,
    /// Trust the commands of this repository without asking.
    pub yes: bool,
    /// Wait for the repository instead of giving up when another process holds it.
    pub wait: bool,
}

/// A criterion of a task, by the name everybody calls it by.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct JudgedCriterion {
    pub id: String,
    /// Files that its words seem to name, as far as words can.
    pub seems_to_name: Vec<String>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SettingValue {
    Text(String),
    Number(u64),
    Switch(bool),
    List(Vec<String>),
}

/// `windlass resume`. More room is added to what is there; nothing is taken away.
#[derive(Clone, Debug, Default)]
pub struct ResumeRun {
    /// A run, or the directory of a run that the original began.
    pub run: String,
    pub more_rounds: u32,
    pub more_minutes: u64,
    pub more_tokens: u64,
    /// Millionths of the currency's unit.
    pub more_cost_micros: u64,
    pub more_output_bytes: u64,
    pub note: Option<String>,
    /// Of a control loop: by node id, or for the outermost node where no id is given.
    pub iterations: Vec<(Option<String>, Room)>,
    /// Of a control loop: so many iterations without progress end a node from now on; 0 for any number.
    pub steady_limit: Option<u32>,
    /// For a run directory of the original, which does not record its flags: they must be given again.
    pub legacy: Option<StartRun>,
    pub yes: bool,
    /// Wait for the repository instead of giving up when another process holds it.
    pub wait: bool,
}

/// One pass of a loop, as its loop calls it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Pass {
    Round(u32),
    /// By its label: `2`, or `2.1` in an inner loop.
    Iteration(String),
}

/// How much room somebody means.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Room {
    More(u32),
    InAll(u32),
}

#[derive(Clone, Debug, Default)]
pub struct StopRun {
    pub run: String,
    pub reason: String,
}

#[derive(Clone, Debug)]
pub struct LandRun {
    pub run: String,
    pub place: LandingPlace,
    /// Wait for the repository instead of giving up when another process holds it.
    pub wait: bool,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LandingPlace {
    /// `windlass/<task-id>`, or the branch named.
    Branch(Option<String>),
    Current,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CleanMode {
    /// Say what would go; the same code decides.
    DryRun,
    Remove,
}

/// What becomes of kept states that are older than they need to be kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OldKept {
    Stay,
    /// They go for good.
    Expire,
}

#[derive(Clone, Debug)]
pub struct Clean {
    /// One run, or every ended run of the repository.
    pub run: Option<String>,
    pub repository: Option<PathBuf>,
    pub mode: CleanMode,
    pub old_kept: OldKept,
}
