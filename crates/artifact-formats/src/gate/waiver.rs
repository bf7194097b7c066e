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

/// The same as a Markdown list: `- NAME: reason`. Lines below an item go on with its reason.
pub(crate) fn listed_waivers(text: &str, faults: &mut Vec<String>) -> Vec<Waiver> {
    let mut waivers: Vec<Waiver> = Vec::new();
    for line in text.lines().map(str::trim).filter(|line| !line.is_empty()) {
        let Some(item) = line.strip_prefix(['-', '*', '+']) else {
            if let Some(last) = waivers.last_mut() {
                last.reason = format!("{} {line}", last.reason);
            }
            continue;
        };
        let (name, reason) = item.split_once(':').unwrap_or((item, ""));
        let (name, reason) = (name.trim().trim_matches(['`', '*']), reason.trim().trim_matches('*').trim());
        match GateFinding::from_word(name) {
            Some(_) if reason.is_empty() => {
                faults.push(format!("the waiver of `{name}` needs a reason: write `- {name}: why`"));
            }
            Some(finding) => waivers.push(Waiver { finding, reason: reason.to_owned() }),
            // Whoever has nothing to waive may say so.
            None if ["none", "n/a", "nothing"].contains(&name.trim_end_matches('.').to_lowercase().as_str()) => {}
            None => faults.push(format!(
                "the section `Waivers` names {}, which is no finding about the gate; write `- NAME: why`, one line for each",
                crate::fault::excerpt(name)
            )),
        }
    }
    waivers
}
