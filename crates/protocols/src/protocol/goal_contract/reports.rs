//! What the steps of a goal loop come back with. Read and validated by the engine; long texts stay in sealed artifacts.

use crate::effect::SuitePurpose;
use crate::kernel::gate::{GateFinding, Waiver};
use crate::outcome::{StepEnd, Usage};
use crate::vocabulary::{ArtifactRef, TreeId};
use alloc::string::String;
use alloc::vec::Vec;
use serde::{Deserialize, Serialize};

/// One run of the full test suite, by the engine, on an exact tree.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SuiteReport {
    pub purpose: SuitePurpose,
    pub tree: TreeId,
    pub end: StepEnd,
    pub passed: u32,
    /// 0 where no count could be read; the exit code still counts.
    pub total: u32,
    /// Names, bounded; empty where none could be read.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub failing: Vec<String>,
    /// Green in the baseline, red or gone now.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub regressions: Vec<String>,
    /// Every test with its result, sealed: the baseline of later runs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub list: Option<ArtifactRef>,
    pub log: ArtifactRef,
    pub usage: Usage,
    /// What was found about the programs that the command runs.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub gate: Vec<GateFinding>,
}

impl SuiteReport {
    /// The command says so, and no test in its output says otherwise.
    pub fn is_green(&self) -> bool {
        self.end == (StepEnd::Exited { code: 0 }) && self.failing.is_empty()
    }
}

/// What a builder says it did; what it did is seen by the snapshot.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct BuildReport {
    /// One line, for the commit's subject.
    pub summary: String,
    /// What keeps it from going on, if something does: a person is asked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub question: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub artifact: Option<ArtifactRef>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Evaluation {
    /// What its verdict and its scores come to together.
    pub pass: bool,
    /// Absent for a pass.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cause: Option<RootCause>,
    /// One line each, with file and line where it was told.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub issues: Vec<String>,
    pub artifact: ArtifactRef,
    /// Findings about the gate that it lets be.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub waivers: Vec<Waiver>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RootCause {
    /// Category and location: the same however it is worded.
    pub key: String,
    /// One line.
    pub text: String,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct DesignReport {
    /// One line.
    pub summary: String,
    /// The files the item may touch from now on.
    pub paths: Vec<String>,
    pub artifact: ArtifactRef,
    /// Absent where it says what the queue says already.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub refined: Option<RefinedContract>,
}

/// What a design made of its item's contract.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RefinedContract {
    /// What the planner was shown. Where a person has written something else since, that counts.
    pub from: ContractWords,
    pub to: ContractWords,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ContractWords {
    pub deliverable: String,
    pub verification: String,
}

/// Something a builder did beyond its item, seen in the snapshot and not in what it says.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Finding {
    pub kind: FindingKind,
    /// Paths, ids, places: whatever the kind is about.
    pub about: Vec<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum FindingKind {
    /// Files that are not the item's.
    OutsidePaths,
    /// The definition of an item: its own or another's.
    ItemEdited,
    /// A status only the engine writes. It was put back.
    StatusSet,
    /// Commits in its own worktree. Their content counts, they do not.
    Committed,
    TestsDeleted,
    Secret,
    /// Files of the loop. They were put back.
    LoopFile,
}

impl FindingKind {
    pub const fn words(self) -> &'static str {
        match self {
            Self::OutsidePaths => "edited outside the item's paths",
            Self::ItemEdited => "edited the definition of an item",
            Self::StatusSet => "set a status, which only the engine does",
            Self::Committed => "committed by itself",
            Self::TestsDeleted => "deleted tests",
            Self::Secret => "left a secret in the code",
            Self::LoopFile => "edited the loop's own files",
        }
    }

    /// Whether it stops the loop: work that belongs to no item in hand.
    pub const fn is_scope_creep(self) -> bool {
        matches!(self, Self::OutsidePaths | Self::ItemEdited)
    }
}

impl Finding {
    pub fn words(&self) -> String {
        if self.about.is_empty() {
            return self.kind.words().into();
        }
        alloc::format!("{}: {}", self.kind.words(), self.about.join(", "))
    }
}
