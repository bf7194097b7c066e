//! What whoever judges is told about the gate: findings that have to be waived by name, and what new tests say of the base.

use crate::data_block::data_block;

/// Lines made by the engine; names and paths in them are foreign.
#[derive(Debug, Clone, Copy, Default)]
pub struct GateEvidence<'a> {
    pub findings: &'a [String],
    pub new_tests: &'a [String],
}

/// Where a reviewer of a round waives: each generation of the files has its own form.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WaivedIn {
    Record,
    Markdown,
}

impl GateEvidence<'_> {
    /// Said only to whom it concerns: nothing was found for most changes.
    pub fn text(&self) -> String {
        self.told("put `{\"finding\": \"NAME\", \"reason\": \"WHY\"}` into the list `waivers` of your answer")
    }

    /// For whoever answers in Markdown; empty where there is nothing to say.
    pub fn section(&self) -> String {
        if self.findings.is_empty() && self.new_tests.is_empty() {
            return String::new();
        }
        let how = "add a section `## Waivers` to your report with one line `- NAME: WHY` for each";
        format!("### What measures the change\n\n{}", self.told(how))
    }

    /// For whoever reviews a round. `red` are the checks that are red on it as it is.
    pub fn of_round(&self, form: WaivedIn, red: &[String]) -> String {
        let how = match form {
            WaivedIn::Record => {
                "put `{\"finding\": \"NAME\", \"reason\": \"WHY\"}` into a list `waivers` of `review-record.json`"
            }
            WaivedIn::Markdown => {
                "add a section `### Waivers` to `review.md` with one line `- NAME: WHY` for each"
            }
        };
        let mut text = self.told(how);
        if !red.is_empty() {
            let block = data_block("checks that are red on this round, run by the engine", &red.join("\n"));
            text = if text == "none" { block } else { format!("{text}\n\n{block}") };
        }
        text
    }

    fn told(&self, how_to_waive: &str) -> String {
        let mut parts = Vec::new();
        if !self.findings.is_empty() {
            parts.push(format!(
                "The change touches what measures it. Each finding below, by its name in front of the colon, keeps a pass from \
                counting. Where a finding is as it should be, for what was asked cannot be done without it, waive it: \
                {how_to_waive}. Waive nothing that you did not look at. What you do not waive goes back to the maker.\n\n{}",
                data_block("findings about the gate, made by the engine", &self.findings.join("\n"))
            ));
        }
        if !self.new_tests.is_empty() {
            parts.push(format!(
                "New and changed tests, run on the code as it was before the change. A test that passes without the change proves \
                nothing about it.\n\n{}",
                data_block("new tests on the base, run by the engine", &self.new_tests.join("\n"))
            ));
        }
        if parts.is_empty() { "none".to_owned() } else { parts.join("\n\n") }
    }
}
