//! Setting a goal loop up and starting it, at the border: what can be asked and what comes back.

use crate::commands::SettingValue;
use crate::goal_loop::GoalReport;
use crate::views::{ExplanationView, Status};
use serde::Serialize;
use std::path::PathBuf;

/// `windlass goal run`. Caps, scope, level, commands and agents are settings; they can only take away from the contract.
#[derive(Clone, Debug, Default)]
pub struct StartGoal {
    pub repository: PathBuf,
    /// Where the user stands; relative paths on the command line mean relative to here.
    pub directory: PathBuf,
    pub settings: Vec<(String, SettingValue)>,
    /// One iteration and no more.
    pub once: bool,
    /// Commit to the branch that is checked out.
    pub in_place: bool,
    /// Begin although another run of this repository waits for a person or has accepted items that are not merged.
    pub another: bool,
    /// The hash of the contract that a person was shown and agreed to.
    pub confirmed: Option<String>,
    /// Say what would be done, start and write nothing.
    pub dry_run: bool,
    /// Agree to the contract as it stands and to the repository's commands.
    pub yes: bool,
    pub wait: bool,
}

/// `windlass goal check`: what a run would work on, and what keeps it from starting.
#[derive(Clone, Debug, Default, Serialize)]
pub struct GoalSetup {
    pub repository: String,
    /// The contract's goal in its own words.
    pub goal: String,
    pub autonomy: Option<String>,
    /// The row's name and its cap.
    pub caps: Vec<(String, String)>,
    pub counts: Vec<StatusCount>,
    /// Everything in scope, in the order of the file.
    pub items: Vec<SetupItem>,
    pub next: Option<NextItem>,
    pub test_command: Option<FoundCommand>,
    pub pre_commit: Vec<FoundCommand>,
    /// Sentences of the contract that no machine holds to.
    pub not_enforced: Vec<String>,
    /// What was assumed or ignored.
    pub notices: Vec<String>,
    /// Sentences with their lines about files, flags and settings that no run can begin with.
    pub problems: Vec<String>,
    /// What a run would be refused for as things stand now, in sentences.
    pub in_the_way: Vec<String>,
    pub trusted: bool,
    /// What a person agrees to; absent without a contract that can be read.
    pub contract: Option<ContractView>,
    /// A run of this repository that waits for a person.
    pub open_run: Option<String>,
}

#[derive(Clone, Debug, Serialize)]
pub struct ContractView {
    pub hash: String,
    /// Whether a person agreed to exactly this text.
    pub confirmed: bool,
}

#[derive(Clone, Debug, Serialize)]
pub struct StatusCount {
    pub status: String,
    pub items: usize,
}

#[derive(Clone, Debug, Serialize)]
pub struct SetupItem {
    pub id: String,
    pub name: String,
    pub status: String,
    pub standing: ItemStanding,
    /// What it waits for, or why it does not count yet; empty where there is nothing to say.
    pub why: String,
}

/// What a run that begins now would make of an item.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum ItemStanding {
    /// It can be worked on now.
    Ready,
    /// A dependency is not accepted.
    Waiting,
    /// Called complete without a verdict on record: it is checked before it counts.
    Claimed,
    Accepted,
    /// Blocked or cancelled.
    Aside,
}

impl ItemStanding {
    pub const fn word(self) -> &'static str {
        match self {
            Self::Ready => "ready",
            Self::Waiting => "waiting",
            Self::Claimed => "claimed complete",
            Self::Accepted => "accepted",
            Self::Aside => "aside",
        }
    }
}

/// The item that is worked on next, in full.
#[derive(Clone, Debug, Serialize)]
pub struct NextItem {
    pub id: String,
    pub name: String,
    pub status: String,
    /// `build`, `rework` or `recheck`.
    pub work: String,
    pub priority: Option<String>,
    pub description: String,
    pub acceptance_criteria: Vec<String>,
    pub deliverable: String,
    pub verification: String,
    /// Id and status.
    pub dependencies: Vec<(String, String)>,
    pub design_doc: Option<String>,
    pub affected_files: Vec<String>,
}

#[derive(Clone, Debug, Serialize)]
pub struct FoundCommand {
    pub command: String,
    /// Where it stands.
    pub from: String,
}

/// `windlass goal init`.
#[derive(Clone, Debug, Default)]
pub struct InitGoal {
    pub repository: PathBuf,
    /// For a repository without a queue: name and criteria.
    pub features: Vec<(String, Vec<String>)>,
    pub test_command: Option<String>,
    pub dry_run: bool,
}

#[derive(Clone, Debug, Serialize)]
pub struct GoalInitReport {
    pub repository: String,
    /// Whether this is only what would be written.
    pub dry_run: bool,
    pub written: Vec<String>,
    pub unchanged: Vec<String>,
    /// Other tools' files of the same name: left alone, with the reason.
    pub foreign: Vec<(String, String)>,
    pub test_command: Option<FoundCommand>,
    pub warnings: Vec<String>,
    /// As commands.
    pub next_steps: Vec<String>,
}

/// `windlass goal add`.
#[derive(Clone, Debug, Default)]
pub struct AddItem {
    pub repository: PathBuf,
    pub name: String,
    pub description: Option<String>,
    pub criteria: Vec<String>,
    pub dependencies: Vec<String>,
    /// Files, folders and patterns that it may touch.
    pub paths: Vec<String>,
    /// After every other item where nothing is said.
    pub priority: Option<i64>,
    pub kind: NewItemKind,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum NewItemKind {
    #[default]
    Feature,
    Refactoring,
    Bug,
}

#[derive(Clone, Debug, Serialize)]
pub struct AddedItem {
    pub id: String,
    pub name: String,
    pub file: String,
    /// Whether the contract lets a run work on it.
    pub in_scope: bool,
}

/// `windlass goal status`.
#[derive(Clone, Debug, Serialize)]
pub struct GoalStatus {
    pub run: String,
    pub status: Status,
    pub goal: String,
    pub report: GoalReport,
    pub explanation: ExplanationView,
}
