//! What the recovery investigator found out about a stage that went nowhere. It advises: which stage the existing files
//! prove, and whether to ask again in the same way, in another way, or a person. What is done is decided elsewhere.

use std::fmt::Write;

use serde::Serialize;

use super::evidence::ProvenStage;
use super::schemas;
use crate::answer_schema::narrowed;
use crate::artifact::{Format, Reading, artifact, belonging_id};
use crate::extra_keys::ExtraKeys;
use crate::fields::{Field, Fields, choice};
use crate::one_line::one_line;
use crate::schema::Schema;

const MAX_LINE_CHARS: usize = 600;

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct RecoveryReport {
    /// The round or the update that is stuck.
    pub subject_id: String,
    pub failure_summary: String,
    pub diagnosis: String,
    pub salvageable_outputs: Vec<SalvageableOutput>,
    /// The stage the loop may lawfully go on from, by what is there.
    pub proven_stage: ProvenStage,
    pub recommended_action: RecoveryAction,
    pub action_details: String,
    /// Whether the controller can go on, and under which conditions.
    pub controller_continuation: String,
    /// A note the controller might record; may be empty.
    pub recovery_note: String,
    #[serde(flatten)]
    pub extra: ExtraKeys,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct SalvageableOutput {
    pub path: String,
    pub use_for: String,
}

choice! {
    RecoveryAction {
        SameMechanism = "same-mechanism",
        DifferentMechanism = "different-mechanism",
        Escalate = "escalate",
    }
}

impl RecoveryReport {
    /// For agents that can be held to the form of their answer.
    pub fn answer_schema() -> String {
        narrowed(schemas::RECOVERY.text)
    }

    /// The report as people read it.
    pub fn to_markdown(&self) -> String {
        let line = |text: &str| one_line(text, MAX_LINE_CHARS);
        let mut text = format!("### Failure Summary\n{}\n\n", line(&self.failure_summary));
        let _ = write!(text, "### Diagnosis\n{}\n\n### Salvageable Outputs\n", line(&self.diagnosis));
        for output in &self.salvageable_outputs {
            let _ = writeln!(text, "- {}: {}", line(&output.path), line(&output.use_for));
        }
        let _ = writeln!(text, "- Stage proven: {}\n", self.proven_stage);
        let _ = write!(
            text,
            "### Recommended Recovery Action\n{}: {}\n\n### Controller Continuation\n{}\n",
            self.recommended_action,
            line(&self.action_details),
            line(&self.controller_continuation)
        );
        if !self.recovery_note.trim().is_empty() {
            let _ = write!(text, "\n### Recovery Note\n{}\n", line(&self.recovery_note));
        }
        text
    }
}

artifact!(RecoveryReport);

impl Format for RecoveryReport {
    const NAME: &'static str = "recovery.json";

    fn schema() -> &'static Schema {
        &schemas::RECOVERY
    }

    fn from_fields(fields: &mut Fields<'_, '_>, reading: &Reading<'_>) -> Option<Self> {
        let subject_id = belonging_id(fields, "subject_id", reading);
        let failure_summary = fields.filled_text("failure_summary");
        let diagnosis = fields.filled_text("diagnosis");
        let salvageable_outputs = fields.list("salvageable_outputs", output);
        let proven_stage = fields.choice::<ProvenStage>("proven_stage");
        let recommended_action = fields.choice::<RecoveryAction>("recommended_action");
        let action_details = fields.filled_text("action_details");
        let controller_continuation = fields.filled_text("controller_continuation");
        let recovery_note = fields.text("recovery_note");
        Some(Self {
            subject_id,
            failure_summary,
            diagnosis,
            salvageable_outputs,
            proven_stage: proven_stage?,
            recommended_action: recommended_action?,
            action_details,
            controller_continuation,
            recovery_note,
            extra: fields.extra(),
        })
    }
}

fn output(field: Field<'_, '_>) -> Option<SalvageableOutput> {
    let mut fields = field.object()?;
    Some(SalvageableOutput { path: fields.filled_text("path"), use_for: fields.filled_text("use_for") })
}
