//! `eval-results.json`: the judge-side commands as they were executed.
//! It knows the record only.

use serde::Serialize;

use super::command_result::{CommandResult, command_result, count};
use crate::artifact::{Format, Reading, artifact};
use crate::extra_keys::ExtraKeys;
use crate::fields::Fields;
use crate::schema::Schema;

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct EvalResults {
    pub repo: String,
    pub results: Vec<CommandResult>,
    pub summary: EvalSummary,
    #[serde(flatten)]
    pub extra: ExtraKeys,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct EvalSummary {
    pub commands: u32,
    pub passed: u32,
    pub failed: u32,
    #[serde(flatten)]
    pub extra: ExtraKeys,
}

impl EvalResults {
    /// A record whose summary is counted from its results.
    pub fn new(repo: impl Into<String>, results: Vec<CommandResult>) -> Self {
        let commands = count(results.len());
        let failed = count(results.iter().filter(|result| result.failed()).count());
        let summary =
            EvalSummary { commands, passed: commands - failed, failed, extra: ExtraKeys::default() };
        Self { repo: repo.into(), results, summary, extra: ExtraKeys::default() }
    }

    pub fn failures(&self) -> impl Iterator<Item = &CommandResult> {
        self.results.iter().filter(|result| result.failed())
    }
}

artifact!(EvalResults);

impl Format for EvalResults {
    const NAME: &'static str = "eval-results.json";

    fn schema() -> &'static Schema {
        &super::schemas::EVAL_RESULTS
    }

    fn from_fields(fields: &mut Fields<'_, '_>, _reading: &Reading<'_>) -> Option<Self> {
        let repo = fields.text("repo");
        let results = fields.list("results", command_result);
        let summary = fields.object("summary").map(|mut summary| EvalSummary {
            commands: summary.count("commands"),
            passed: summary.count("passed"),
            failed: summary.count("failed"),
            extra: summary.extra(),
        });
        Some(Self { repo, results, summary: summary?, extra: fields.extra() })
    }
}
