//! Test runs of a user interface by an agent, with findings. They stand beside the stories and verify none.

use super::decide::{Decided, Draft};
use super::facts::{self, Entry};
use super::refusal::{Kind, Refusal};
use super::refusal_code::RefusalCode;
use super::vocabulary::{AgentId, JsonText, KeyRole, Micros, ProjectId, UiTestId};
use super::words::{check_length, check_text, words};
use alloc::boxed::Box;
use alloc::collections::{BTreeMap, BTreeSet};
use alloc::string::String;
use alloc::vec::Vec;
use serde::{Deserialize, Serialize};

#[derive(Clone, Debug, Default)]
pub struct State {
    pub runs: BTreeMap<UiTestId, Run>,
    by_project: BTreeMap<ProjectId, BTreeSet<UiTestId>>,
}

words! {
    pub enum RunStatus {
        InProgress = "in_progress",
        Passed = "passed",
        Failed = "failed",
        Cancelled = "cancelled",
    }
}

words! {
    pub enum Severity {
        Critical = "critical",
        High = "high",
        Medium = "medium",
        Low = "low",
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Run {
    pub id: UiTestId,
    pub project: ProjectId,
    pub guide_reference: String,
    pub status: RunStatus,
    pub findings: Vec<Finding>,
    pub summary: Option<String>,
    pub metadata: JsonText,
    pub started_by: Option<AgentId>,
    pub started_at: Micros,
    pub completed_at: Option<Micros>,
}

impl Run {
    pub fn count(&self, severity: Severity) -> usize {
        self.findings.iter().filter(|finding| finding.severity == severity).count()
    }
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Finding {
    pub step: String,
    pub severity: Severity,
    /// What sort of defect, in the tester's words.
    pub kind: String,
    pub description: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub screenshot_path: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub console_errors: Option<String>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "what", rename_all = "kebab-case")]
pub enum Change {
    Started { run: UiTestId, project: ProjectId, guide_reference: String, metadata: JsonText },
    Found { run: UiTestId, finding: Box<Finding> },
    Completed { run: UiTestId, status: RunStatus, summary: Option<String> },
}

impl State {
    pub fn evolve(&mut self, entry: &Entry, change: &Change) {
        match change {
            Change::Started { run, project, guide_reference, metadata } => {
                self.by_project.entry(*project).or_default().insert(*run);
                let started = Run {
                    id: *run,
                    project: *project,
                    guide_reference: guide_reference.clone(),
                    status: RunStatus::InProgress,
                    findings: Vec::new(),
                    summary: None,
                    metadata: metadata.clone(),
                    started_by: entry.by.agent,
                    started_at: entry.at,
                    completed_at: None,
                };
                self.runs.insert(*run, started);
            }
            Change::Found { run, finding } => {
                if let Some(run) = self.runs.get_mut(run) {
                    run.findings.push((**finding).clone());
                }
            }
            Change::Completed { run, status, summary } => {
                if let Some(run) = self.runs.get_mut(run) {
                    run.status = *status;
                    run.summary.clone_from(summary);
                    run.completed_at = Some(entry.at);
                }
            }
        }
    }

    /// Newest first.
    pub fn of_project(&self, project: ProjectId) -> impl Iterator<Item = &Run> {
        let ids = self.by_project.get(&project).into_iter().flatten().rev();
        ids.filter_map(|id| self.runs.get(id))
    }
}

/// More findings than this are several runs.
const MOST_FINDINGS: usize = 1000;
const LONG_TEXT: usize = 10_000;

pub fn start_run(
    draft: &mut Draft<'_>,
    project: ProjectId,
    guide_reference: String,
    metadata: JsonText,
) -> Decided<UiTestId> {
    draft.caller().require_at_least(KeyRole::Agent)?;
    check_text("guide_reference", &guide_reference, 1000)?;
    let run = UiTestId(draft.ids().fresh());
    let change = Change::Started { run, project, guide_reference, metadata };
    draft.record(Some(project), facts::Change::UiTests(change));
    Ok(run)
}

/// A run is found only inside its project.
fn running(draft: &Draft<'_>, project: ProjectId, id: UiTestId) -> Decided<usize> {
    let run = draft.ledger().ui_tests.runs.get(&id).filter(|run| run.project == project);
    let Some(run) = run else { return Err(Refusal::not_found("ui test run")) };
    if run.status != RunStatus::InProgress {
        return Err(Refusal::new(Kind::Conflict, "this run is over")
            .with_code(RefusalCode::RunCompleted)
            .with_context("status", run.status.name()));
    }
    Ok(run.findings.len())
}

pub fn add_finding(
    draft: &mut Draft<'_>,
    project: ProjectId,
    run: UiTestId,
    finding: Finding,
) -> Decided<()> {
    draft.caller().require_at_least(KeyRole::Agent)?;
    if running(draft, project, run)? >= MOST_FINDINGS {
        return Err(Refusal::field("findings", "are as many as one run holds"));
    }
    check_text("step", &finding.step, 1000)?;
    check_text("type", &finding.kind, 255)?;
    check_text("description", &finding.description, LONG_TEXT)?;
    check_length("screenshot_path", finding.screenshot_path.as_deref().unwrap_or_default(), 2000)?;
    check_length("console_errors", finding.console_errors.as_deref().unwrap_or_default(), LONG_TEXT)?;
    let change = Change::Found { run, finding: Box::new(finding) };
    draft.record(Some(project), facts::Change::UiTests(change));
    Ok(())
}

pub fn complete_run(
    draft: &mut Draft<'_>,
    project: ProjectId,
    run: UiTestId,
    status: RunStatus,
    summary: Option<String>,
) -> Decided<()> {
    draft.caller().require_at_least(KeyRole::Agent)?;
    running(draft, project, run)?;
    if status == RunStatus::InProgress {
        return Err(Refusal::field("status", "must be passed, failed or cancelled"));
    }
    check_length("summary", summary.as_deref().unwrap_or_default(), LONG_TEXT)?;
    draft.record(Some(project), facts::Change::UiTests(Change::Completed { run, status, summary }));
    Ok(())
}
