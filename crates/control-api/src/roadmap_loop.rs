//! Running a roadmap loop and looking at one, at the border: what can be asked and what comes back.

use crate::commands::SettingValue;
use crate::views::{ExplanationView, Status};
use serde::Serialize;
use std::path::PathBuf;

/// `windlass roadmap run`. Agents, caps and limits are settings.
#[derive(Clone, Debug, Default)]
pub struct StartRoadmap {
    pub repository: PathBuf,
    /// Where the user stands; relative paths on the command line mean relative to here.
    pub directory: PathBuf,
    pub settings: Vec<(String, SettingValue)>,
    /// One round and no more.
    pub once: bool,
    /// Say what would be done, start and write nothing.
    pub dry_run: bool,
    /// Trust the commands of this repository.
    pub yes: bool,
    pub wait: bool,
}

/// What a roadmap loop came to so far.
#[derive(Clone, Debug, Serialize)]
pub struct RoadmapReport {
    /// `complete`, `blocked`, `rounds-used`, …; absent while the run goes on.
    pub outcome: Option<String>,
    pub base_branch: String,
    /// Absent before the control plane was read.
    pub roadmap: Option<String>,
    pub revision: Option<String>,
    pub milestones: Vec<MilestoneView>,
    pub rounds: Vec<LiveRound>,
    pub update: Option<LiveUpdate>,
    pub rounds_opened: u32,
    /// Absent where the run may open as many as it takes.
    pub rounds_allowed: Option<u32>,
    /// The squash commits of this run, oldest first: the diffs to read.
    pub merged: Vec<MergedView>,
    /// Revisions of the roadmap that this run merged.
    pub revisions: Vec<RevisionView>,
    /// What was odd about the files when they were read.
    pub notices: Vec<String>,
}

#[derive(Clone, Debug, Serialize)]
pub struct MilestoneView {
    pub id: String,
    pub title: String,
    /// `pending`, `in-progress` or `done`.
    pub status: &'static str,
}

#[derive(Clone, Debug, Serialize)]
pub struct LiveRound {
    pub id: String,
    pub stage: &'static str,
    /// Absent before it is planned.
    pub milestone: Option<String>,
    pub item: Option<String>,
    pub branch: String,
    pub worktree: String,
    pub rejections: u32,
    /// What holds it up, or what its next agent is told.
    pub trouble: Option<String>,
}

#[derive(Clone, Debug, Serialize)]
pub struct LiveUpdate {
    pub source_round: String,
    pub from: String,
    pub to: String,
    pub status: &'static str,
    pub attempt: u32,
}

#[derive(Clone, Debug, Serialize)]
pub struct MergedView {
    pub round: String,
    pub commit: String,
}

#[derive(Clone, Debug, Serialize)]
pub struct RevisionView {
    pub revision: String,
    pub commit: String,
}

/// `windlass roadmap status`.
#[derive(Clone, Debug, Serialize)]
pub struct RoadmapStatus {
    pub run: String,
    pub status: Status,
    pub goal: String,
    pub report: RoadmapReport,
    pub explanation: ExplanationView,
}
