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

/// The same as a Markdown list, with or without numbers: `- NAME: reason`. Lines below an item go on with its reason.
pub(crate) fn listed_waivers(text: &str, faults: &mut Vec<String>) -> Vec<Waiver> {
    let mut waivers: Vec<Waiver> = Vec::new();
    for line in text.lines().map(str::trim).filter(|line| !line.is_empty()) {
        let Some(item) = item(line) else {
            match waivers.last_mut() {
                Some(last) => last.reason = format!("{} {line}", last.reason),
                None if is_nothing(line) => {}
                None if faults.is_empty() => faults.push(format!(
                    "nothing is waived by {}; write `- NAME: why` under `## Waivers`, one line for each",
                    crate::fault::excerpt(line)
                )),
                None => {}
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
            None if is_nothing(name) => {}
            None => faults.push(format!(
                "the section `Waivers` names {}, which is no finding about the gate; write `- NAME: why`, one line for each",
                crate::fault::excerpt(name)
            )),
        }
    }
    waivers
}

fn item(line: &str) -> Option<&str> {
    line.strip_prefix(['-', '*', '+']).or_else(|| {
        let rest = line.trim_start_matches(|one: char| one.is_ascii_digit());
        rest.strip_prefix(['.', ')']).filter(|_| rest.len() < line.len())
    })
}

fn is_nothing(words: &str) -> bool {
    ["none", "n/a", "nothing"].contains(&words.trim_end_matches('.').to_lowercase().as_str())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn waivers_are_read_from_every_kind_of_list() {
        for text in [
            "- test-deleted: a copy\n- fewer-tests: same",
            "1. test-deleted: a copy\n2. fewer-tests: same",
            "1) `test-deleted`: a copy\n2) **fewer-tests**: same",
            "* **test-deleted**: a\n  copy\n+ fewer-tests: same",
        ] {
            let mut faults = Vec::new();
            let found = listed_waivers(text, &mut faults);
            assert!(faults.is_empty(), "{faults:?}");
            let told: Vec<_> = found.iter().map(|one| (one.finding, one.reason.as_str())).collect();
            let expected = [(GateFinding::TestDeleted, "a copy"), (GateFinding::FewerTests, "same")];
            assert_eq!(told, expected, "{text}");
        }
    }

    #[test]
    fn words_that_waive_nothing_are_a_fault_and_a_word_for_nothing_is_none() {
        let faults = |text: &str| {
            let mut faults = Vec::new();
            assert!(listed_waivers(text, &mut faults).is_empty());
            faults
        };
        assert!(faults("").is_empty() && faults("None.").is_empty() && faults("- n/a").is_empty());
        let told = faults("The deleted test was a copy.\nSo it may go.");
        assert_eq!(told.len(), 1, "{told:?}");
        assert!(told[0].contains("write `- NAME: why`"), "{told:?}");
    }
}
