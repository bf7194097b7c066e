//! A checker's word that a finding about the gate is as it should be: the finding's name and the reason.

use serde::Serialize;

use crate::fields::{Field, Fields, choice};

choice! {
    /// What can be found about a gate.
    GateFinding {
        PassesOnlyWithItsOwnTests = "passes-only-with-its-own-tests",
        FewerTests = "fewer-tests",
        TestDeleted = "test-deleted",
        TestSkipped = "test-skipped",
        WeakenedAssertions = "weakened-assertions",
        CheckChanged = "check-changed",
        CheckReplacedOnPath = "check-replaced-on-path",
        CiChanged = "ci-changed",
        ConfigurationChanged = "configuration-changed",
        LockChanged = "lock-changed",
    }
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Waiver {
    pub finding: GateFinding,
    pub reason: String,
}

/// The key `waivers`, which may be absent.
pub(crate) fn waivers(fields: &mut Fields<'_, '_>) -> Vec<Waiver> {
    fields.optional("waivers").map(|field| field.list(waiver)).unwrap_or_default()
}

fn waiver(field: Field<'_, '_>) -> Option<Waiver> {
    let mut fields = field.object()?;
    let finding = fields.choice("finding");
    let reason = fields.filled_text("reason");
    Some(Waiver { finding: finding?, reason })
}
