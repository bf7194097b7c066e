//! `verdict.json`: what the judge found, and the rule that a refusal must say why.
//! It knows the keys and their constraints, not what happens after a verdict.

use serde::Serialize;

use super::requirement::{RequirementId, requirement_list};
use crate::answer_schema::narrowed;
use crate::artifact::{Format, Reading, Strictness, artifact, belonging_id};
use crate::extra_keys::ExtraKeys;
use crate::fault::{ArtifactFault, ArtifactFaults, FaultKind};
use crate::fields::{Field, Fields, choice};
use crate::gate::{Waiver, waivers};
use crate::schema::Schema;

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct VerdictReport {
    pub task_id: String,
    pub verdict: Verdict,
    pub reasons: Vec<Reason>,
    pub required_changes: Vec<String>,
    pub suggested_tests: Vec<String>,
    pub requirements_checked: Vec<RequirementId>,
    pub requirements_missing: Vec<RequirementId>,
    pub notes: String,
    /// Findings about the gate that the judge lets be.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub waivers: Vec<Waiver>,
    #[serde(flatten)]
    pub extra: ExtraKeys,
}

choice! {
    /// What a judge can decide.
    Verdict {
        Pass = "pass",
        Reject = "reject",
        NeedsHuman = "needs-human",
    }
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Reason {
    pub check: String,
    pub details: String,
    #[serde(flatten)]
    pub extra: ExtraKeys,
}

impl Reason {
    pub fn new(check: impl Into<String>, details: impl Into<String>) -> Self {
        Self { check: check.into(), details: details.into(), extra: ExtraKeys::default() }
    }
}

impl VerdictReport {
    /// For agents that can be held to the form of their answer.
    pub fn answer_schema() -> String {
        narrowed(super::schemas::VERDICT.text)
    }

    /// Holds a report that is about to be written to everything the readers demand of it.
    pub fn checked(self) -> Result<Self, ArtifactFaults> {
        Self::parse(self.render().as_bytes(), &Reading::default())
    }
}

artifact!(VerdictReport);

impl Format for VerdictReport {
    const NAME: &'static str = "verdict.json";

    fn schema() -> &'static Schema {
        &super::schemas::VERDICT
    }

    fn from_fields(fields: &mut Fields<'_, '_>, reading: &Reading<'_>) -> Option<Self> {
        let task_id = belonging_id(fields, "task_id", reading);
        let verdict: Option<Verdict> = fields.choice("verdict");
        let reasons_stated = fields.optional("reasons").is_some_and(|field| field.node.items() != Some(&[]));
        let reasons = fields.list("reasons", reason);
        let required_changes = fields.list("required_changes", |field| field.filled_text());
        let suggested_tests = fields.list("suggested_tests", |field| field.filled_text());
        let requirements_checked = requirement_list(fields, "requirements_checked");
        let requirements_missing = requirement_list(fields, "requirements_missing");
        let notes = fields.text("notes");
        let waivers = waivers(fields);
        let extra = fields.extra();
        let verdict = verdict?;
        // A missing list is its own fault; this one is for a list that is there and empty.
        if reading.strictness == Strictness::Agent && verdict != Verdict::Pass && !reasons_stated {
            let message = format!("the verdict \"{verdict}\" needs at least one reason");
            fields.report(ArtifactFault::new(FaultKind::ReasonMissing, fields.place_of("reasons"), message));
        }
        Some(Self {
            task_id,
            verdict,
            reasons,
            required_changes,
            suggested_tests,
            requirements_checked,
            requirements_missing,
            notes,
            waivers,
            extra,
        })
    }
}

fn reason(field: Field<'_, '_>) -> Option<Reason> {
    let mut fields = field.object()?;
    let check = fields.filled_text("check");
    let details = fields.filled_text("details");
    Some(Reason { check, details, extra: fields.extra() })
}
