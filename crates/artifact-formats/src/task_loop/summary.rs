//! `summary.json` and the four closing lines: how a run ended.
//! It knows the record only; the protocol decides what goes into it.

use std::fmt;

use serde::{Serialize, Serializer};

use super::audit::Gate;
use super::verdict::Verdict;
use crate::artifact::{Format, Reading, artifact, belonging_id};
use crate::extra_keys::ExtraKeys;
use crate::fields::Fields;
use crate::schema::Schema;

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Summary {
    pub task_id: String,
    pub final_verdict: FinalVerdict,
    pub rounds_completed: u32,
    pub run_dir: String,
    /// Last verdict, `not-run` or `dry-run`.
    pub judge_verdict: String,
    /// Last gate, `not-run` or `dry-run`.
    pub audit_gate: String,
    pub audit_enabled: bool,
    #[serde(flatten)]
    pub extra: ExtraKeys,
}

/// How a run ended; old runs may hold any word their judge wrote.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FinalVerdict {
    Pass,
    Reject,
    NeedsHuman,
    DryRun,
    /// A stray word in a run made elsewhere; never written by us.
    Other(String),
}

impl FinalVerdict {
    pub fn as_str(&self) -> &str {
        match self {
            Self::Pass => "pass",
            Self::Reject => "reject",
            Self::NeedsHuman => "needs-human",
            Self::DryRun => "dry-run",
            Self::Other(word) => word,
        }
    }

    pub fn from_word(word: &str) -> Self {
        match word {
            "pass" => Self::Pass,
            "reject" => Self::Reject,
            "needs-human" => Self::NeedsHuman,
            "dry-run" => Self::DryRun,
            other => Self::Other(other.to_owned()),
        }
    }
}

impl From<Verdict> for FinalVerdict {
    fn from(verdict: Verdict) -> Self {
        match verdict {
            Verdict::Pass => Self::Pass,
            Verdict::Reject => Self::Reject,
            Verdict::NeedsHuman => Self::NeedsHuman,
        }
    }
}

impl From<Gate> for FinalVerdict {
    fn from(gate: Gate) -> Self {
        match gate {
            Gate::Pass => Self::Pass,
            Gate::Fail => Self::Reject,
            Gate::NeedsHuman => Self::NeedsHuman,
        }
    }
}

impl fmt::Display for FinalVerdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl Serialize for FinalVerdict {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.as_str())
    }
}

impl Summary {
    /// The word both `judge_verdict` and `audit_gate` hold when the role never ran.
    pub const NOT_RUN: &'static str = "not-run";
    /// The word both hold after a dry run.
    pub const DRY_RUN: &'static str = "dry-run";

    /// The four lines that close a run on standard output, newline at the end.
    pub fn closing_lines(&self) -> String {
        format!(
            "run_dir={}\nfinal_verdict={}\njudge_verdict={}\naudit_gate={}\n",
            self.run_dir, self.final_verdict, self.judge_verdict, self.audit_gate
        )
    }
}

artifact!(Summary);

impl Format for Summary {
    const NAME: &'static str = "summary.json";

    fn schema() -> &'static Schema {
        &super::schemas::SUMMARY
    }

    fn from_fields(fields: &mut Fields<'_, '_>, reading: &Reading<'_>) -> Option<Self> {
        Some(Self {
            task_id: belonging_id(fields, "task_id", reading),
            final_verdict: FinalVerdict::from_word(&fields.text("final_verdict")),
            rounds_completed: fields.count("rounds_completed"),
            run_dir: fields.text("run_dir"),
            judge_verdict: fields.text("judge_verdict"),
            audit_gate: fields.text("audit_gate"),
            audit_enabled: fields.flag("audit_enabled"),
            extra: fields.extra(),
        })
    }
}
