//! `handoff.json`: what the doer says about its own change. A claim, never proof.
//! It knows the keys and their constraints, not who reads them.

use serde::Serialize;

use super::requirement::{RequirementId, requirement_list};
use crate::artifact::{Format, Reading, artifact, belonging_id};
use crate::extra_keys::ExtraKeys;
use crate::fields::{Field, Fields, choice};
use crate::schema::Schema;

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Handoff {
    pub task_id: String,
    pub summary: String,
    pub requirements_touched: Vec<RequirementId>,
    pub files_touched: Vec<String>,
    pub assumptions: Vec<String>,
    pub smoke_checks: Vec<SmokeCheck>,
    pub notes: String,
    #[serde(flatten)]
    pub extra: ExtraKeys,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct SmokeCheck {
    pub command: String,
    pub status: SmokeStatus,
    #[serde(flatten)]
    pub extra: ExtraKeys,
}

choice! {
    /// How the doer says its own check ended.
    SmokeStatus {
        Pass = "pass",
        Fail = "fail",
        Skip = "skip",
        Unknown = "unknown",
    }
}

artifact!(Handoff);

impl Format for Handoff {
    const NAME: &'static str = "handoff.json";

    fn schema() -> &'static Schema {
        &super::schemas::HANDOFF
    }

    fn from_fields(fields: &mut Fields<'_, '_>, reading: &Reading<'_>) -> Option<Self> {
        Some(Self {
            task_id: belonging_id(fields, "task_id", reading),
            summary: fields.text("summary"),
            requirements_touched: requirement_list(fields, "requirements_touched"),
            files_touched: fields.list("files_touched", |field| field.text()),
            assumptions: fields.list("assumptions", |field| field.text()),
            smoke_checks: fields.list("smoke_checks", smoke_check),
            notes: fields.text("notes"),
            extra: fields.extra(),
        })
    }
}

fn smoke_check(field: Field<'_, '_>) -> Option<SmokeCheck> {
    let mut fields = field.object()?;
    let command = fields.filled_text("command");
    let status = fields.choice("status")?;
    Some(SmokeCheck { command, status, extra: fields.extra() })
}
