//! `round-plan-record.json`: the round's plan as machines read it. Keys that later planes added are tolerated; the profile
//! among them is taken where it can be read. It knows the record only, not the rules between workers.

use super::files;
use super::plan::{Complexity, Integration, Profile, RoundPlan, VerificationProfile, Worker, WorkerMode};
use super::record::{self, Wanted};
use super::worker_rules;
use crate::fault::{ArtifactFault, FaultKind, excerpt};
use crate::faults::Faults;
use crate::fields::{Choice, Field, Fields};

const VERSION: &str = "round-plan-record-v1";

impl RoundPlan {
    /// Reads `round-plan-record.json` of the round with that id.
    pub fn from_record(round_id: &str, text: &str) -> Result<Self, Faults> {
        let wanted = Wanted { file: files::PLAN_RECORD, schema_version: VERSION, round_id };
        let plan = record::read(wanted, text, |fields| {
            let lineage = record::lineage(fields);
            let plan_path = fields.filled_text("plan_path");
            in_round(fields, "plan_path", &plan_path, &files::in_round(round_id, files::PLAN));
            let worker_mode = fields.choice::<WorkerMode>("worker_mode");
            let workers = fields.list("workers", worker);
            let integration = record::nullable(fields, "integration").and_then(|field| integration(&field));
            let profile = profile(fields);
            Some(Self { lineage, worker_mode: worker_mode?, workers, integration, profile })
        })?;
        Faults::unless_empty(files::PLAN_RECORD, worker_rules::faults(round_id, &plan), || Some(plan))
    }
}

/// A path of the round is written from the top of the repository, or from the round's own folder.
fn in_round(fields: &Fields<'_, '_>, key: &'static str, found: &str, expected: &str) {
    let short = expected.rsplit('/').next().unwrap_or(expected);
    if !found.is_empty() && found != expected && found != short {
        let message = format!("must be {}; found {}", excerpt(expected), excerpt(found));
        fields.report(ArtifactFault::new(FaultKind::UnknownValue, fields.place_of(key), message));
    }
}

fn worker(field: Field<'_, '_>) -> Option<Worker> {
    let mut fields = field.object()?;
    Some(Worker {
        worker_id: fields.filled_text("worker_id"),
        summary: fields.filled_text("summary"),
        assignment_path: fields.filled_text("assignment_path"),
        implementation_notes_path: fields.filled_text("implementation_notes_path"),
        handoff_path: fields.filled_text("handoff_path"),
        branch: fields.filled_text("branch"),
        worktree_path: fields.filled_text("worktree_path"),
        write_scope: record::texts(&mut fields, "write_scope"),
        depends_on_worker_ids: record::texts(&mut fields, "depends_on_worker_ids"),
        blocks_integration: fields.flag("blocks_integration"),
        verification_commands: record::texts(&mut fields, "verification_commands"),
    })
}

fn integration(field: &Field<'_, '_>) -> Option<Integration> {
    let mut fields = field.object()?;
    Some(Integration {
        summary: fields.filled_text("summary"),
        depends_on_worker_ids: record::texts(&mut fields, "depends_on_worker_ids"),
        verification_commands: record::texts(&mut fields, "verification_commands"),
        integration_notes_path: fields.filled_text("integration_notes_path"),
    })
}

/// No part of the schema, so what is unreadable about it is no fault.
fn profile(fields: &mut Fields<'_, '_>) -> Option<Profile> {
    let mut word = |key| fields.optional(key).and_then(|field| field.node.text().map(str::to_owned));
    let (complexity, verification) = (word("complexity"), word("verification_profile"));
    let reason = word("profile_reason").unwrap_or_default();
    Some(Profile {
        complexity: Complexity::spelled(&complexity?)?,
        verification: VerificationProfile::spelled(&verification?)?,
        reason,
    })
}
