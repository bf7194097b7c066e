//! `audit.json`: the auditor's landing gate, with defaults for the keys its prompt never asked for.
//! It knows the keys and their constraints, not what happens after a gate.

use serde::Serialize;

use super::command_result::CheckStatus;
use crate::answer_schema::narrowed;
use crate::artifact::{Format, Reading, artifact, belonging_id};
use crate::extra_keys::ExtraKeys;
use crate::fault::ArtifactFaults;
use crate::fields::{Field, Fields, choice};
use crate::schema::Schema;

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct AuditReport {
    pub task_id: String,
    pub gate: Gate,
    pub risk: Risk,
    pub findings: Vec<Finding>,
    pub policy: AuditPolicy,
    pub traceability: AuditTraceability,
    pub required_actions: Vec<String>,
    pub notes: String,
    #[serde(flatten)]
    pub extra: ExtraKeys,
}

choice! {
    /// What an auditor can decide.
    Gate {
        Pass = "pass",
        Fail = "fail",
        NeedsHuman = "needs-human",
    }
}

choice! {
    RiskLevel {
        Low = "low",
        Medium = "medium",
        High = "high",
    }
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Risk {
    pub level: RiskLevel,
    pub reasons: Vec<String>,
    #[serde(flatten)]
    pub extra: ExtraKeys,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Finding {
    pub category: String,
    pub details: String,
    #[serde(flatten)]
    pub extra: ExtraKeys,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct AuditPolicy {
    pub artifact_integrity: CheckStatus,
    pub eval_commands: CheckStatus,
    #[serde(flatten)]
    pub extra: ExtraKeys,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct AuditTraceability {
    pub task_id_match: CheckStatus,
    pub requirements_coverage: CheckStatus,
    pub issues: Vec<String>,
    #[serde(flatten)]
    pub extra: ExtraKeys,
}

impl Finding {
    pub fn new(category: impl Into<String>, details: impl Into<String>) -> Self {
        Self { category: category.into(), details: details.into(), extra: ExtraKeys::default() }
    }
}

impl AuditReport {
    /// For agents that can be held to the form of their answer.
    pub fn answer_schema() -> String {
        narrowed(super::schemas::AUDIT.text)
    }

    /// Holds a report that is about to be written to everything the readers demand of it.
    pub fn checked(self) -> Result<Self, ArtifactFaults> {
        Self::parse(self.render().as_bytes(), &Reading::default())
    }
}

artifact!(AuditReport);

impl Format for AuditReport {
    const NAME: &'static str = "audit.json";

    fn schema() -> &'static Schema {
        &super::schemas::AUDIT
    }

    fn from_fields(fields: &mut Fields<'_, '_>, reading: &Reading<'_>) -> Option<Self> {
        let task_id = belonging_id(fields, "task_id", reading);
        let gate = fields.choice("gate");
        let risk = risk(fields);
        let findings = fields.list("findings", finding);
        let policy = policy(fields);
        let traceability = fields.object("traceability").and_then(traceability);
        let required_actions = fields.list("required_actions", |field| field.filled_text());
        let notes = fields.text("notes");
        let extra = fields.extra();
        Some(Self {
            task_id,
            gate: gate?,
            risk: risk?,
            findings,
            policy: policy?,
            traceability: traceability?,
            required_actions,
            notes,
            extra,
        })
    }
}

/// An auditor that did not rate the risk is taken to mean the highest: silence must not open a gate.
fn risk(fields: &mut Fields<'_, '_>) -> Option<Risk> {
    let Some(field) = fields.optional("risk") else {
        return Some(Risk { level: RiskLevel::High, reasons: Vec::new(), extra: ExtraKeys::default() });
    };
    let mut risk = field.object()?;
    let level = risk.choice("level");
    let reasons = risk.list("reasons", |field| field.text());
    Some(Risk { level: level?, reasons, extra: risk.extra() })
}

fn policy(fields: &mut Fields<'_, '_>) -> Option<AuditPolicy> {
    let Some(field) = fields.optional("policy") else {
        let unknown = CheckStatus::Unknown;
        let extra = ExtraKeys::default();
        return Some(AuditPolicy { artifact_integrity: unknown, eval_commands: unknown, extra });
    };
    let mut policy = field.object()?;
    let mut member = |key| match policy.optional(key) {
        Some(field) => field.choice(),
        None => Some(CheckStatus::Unknown),
    };
    let artifact_integrity = member("artifact_integrity");
    let eval_commands = member("eval_commands");
    Some(AuditPolicy {
        artifact_integrity: artifact_integrity?,
        eval_commands: eval_commands?,
        extra: policy.extra(),
    })
}

fn traceability(mut fields: Fields<'_, '_>) -> Option<AuditTraceability> {
    let task_id_match = fields.choice("task_id_match");
    let requirements_coverage = fields.choice("requirements_coverage");
    let issues = fields.list("issues", |field| field.text());
    Some(AuditTraceability {
        task_id_match: task_id_match?,
        requirements_coverage: requirements_coverage?,
        issues,
        extra: fields.extra(),
    })
}

fn finding(field: Field<'_, '_>) -> Option<Finding> {
    let mut fields = field.object()?;
    let category = fields.filled_text("category");
    let details = fields.filled_text("details");
    Some(Finding { category, details, extra: fields.extra() })
}
