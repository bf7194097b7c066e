//! `audit-results.json`: the auditor-side checks and commands as they were executed.
//! It knows the record only; `audit_collector` fills in the checks.

use serde::Serialize;

use super::command_result::{CheckStatus, CommandResult, command_result, count};
use crate::artifact::{Format, Reading, artifact};
use crate::extra_keys::ExtraKeys;
use crate::fields::{Field, Fields, choice};
use crate::schema::Schema;

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct AuditResults {
    pub repo: String,
    /// Path of the hand-off that was looked at.
    pub handoff: String,
    /// Path of the verdict that was looked at.
    pub verdict: String,
    pub checks: Vec<AuditCheck>,
    pub commands: Vec<CommandResult>,
    pub summary: AuditResultsSummary,
    #[serde(flatten)]
    pub extra: ExtraKeys,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct AuditCheck {
    /// One of [`CheckName`] in files of ours; other tools may add their own.
    pub name: String,
    pub status: CheckStatus,
    pub details: String,
    #[serde(flatten)]
    pub extra: ExtraKeys,
}

choice! {
    /// The six checks every audit makes.
    CheckName {
        HandoffPresent = "handoff_present",
        VerdictPresent = "verdict_present",
        HandoffJsonValid = "handoff_json_valid",
        VerdictJsonValid = "verdict_json_valid",
        TaskIdAlignment = "task_id_alignment",
        RequirementsTraceability = "requirements_traceability",
    }
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct AuditResultsSummary {
    pub checks: u32,
    pub checks_failed: u32,
    pub commands: u32,
    pub commands_failed: u32,
    #[serde(flatten)]
    pub extra: ExtraKeys,
}

impl AuditCheck {
    pub fn new(name: CheckName, status: CheckStatus, details: impl Into<String>) -> Self {
        Self { name: name.as_str().to_owned(), status, details: details.into(), extra: ExtraKeys::default() }
    }
}

impl AuditResults {
    /// A record whose summary is counted from its checks and commands.
    pub fn new(
        repo: impl Into<String>,
        handoff: impl Into<String>,
        verdict: impl Into<String>,
        checks: Vec<AuditCheck>,
        commands: Vec<CommandResult>,
    ) -> Self {
        let summary = AuditResultsSummary {
            checks: count(checks.len()),
            checks_failed: count(checks.iter().filter(|check| check.status == CheckStatus::Fail).count()),
            commands: count(commands.len()),
            commands_failed: count(commands.iter().filter(|command| command.failed()).count()),
            extra: ExtraKeys::default(),
        };
        let extra = ExtraKeys::default();
        Self {
            repo: repo.into(),
            handoff: handoff.into(),
            verdict: verdict.into(),
            checks,
            commands,
            summary,
            extra,
        }
    }

    /// Status of a named check; a check that was not made is unknown.
    pub fn status_of(&self, name: CheckName) -> CheckStatus {
        let check = self.checks.iter().find(|check| check.name == name.as_str());
        check.map_or(CheckStatus::Unknown, |check| check.status)
    }

    pub fn failed_checks(&self) -> impl Iterator<Item = &AuditCheck> {
        self.checks.iter().filter(|check| check.status == CheckStatus::Fail)
    }

    pub fn failed_commands(&self) -> impl Iterator<Item = &CommandResult> {
        self.commands.iter().filter(|command| command.failed())
    }

    /// Whether a gate `pass` would contradict what was measured.
    pub fn contradicts_pass(&self) -> bool {
        self.failed_checks().next().is_some() || self.failed_commands().next().is_some()
    }
}

artifact!(AuditResults);

impl Format for AuditResults {
    const NAME: &'static str = "audit-results.json";

    fn schema() -> &'static Schema {
        &super::schemas::AUDIT_RESULTS
    }

    fn from_fields(fields: &mut Fields<'_, '_>, _reading: &Reading<'_>) -> Option<Self> {
        let repo = fields.text("repo");
        let handoff = fields.text("handoff");
        let verdict = fields.text("verdict");
        let checks = fields.list("checks", audit_check);
        let commands = fields.list("commands", command_result);
        let summary = fields.object("summary").map(|mut summary| AuditResultsSummary {
            checks: summary.count("checks"),
            checks_failed: summary.count("checks_failed"),
            commands: summary.count("commands"),
            commands_failed: summary.count("commands_failed"),
            extra: summary.extra(),
        });
        let extra = fields.extra();
        Some(Self { repo, handoff, verdict, checks, commands, summary: summary?, extra })
    }
}

fn audit_check(field: Field<'_, '_>) -> Option<AuditCheck> {
    let mut fields = field.object()?;
    let name = fields.filled_text("name");
    let status = fields.choice("status");
    let details = fields.text("details");
    Some(AuditCheck { name, status: status?, details, extra: fields.extra() })
}
