//! The task as it was given: what to do, how far to go, where everything lives. Complete before the first fact; nothing
//! is looked up later.

use crate::kernel::availability::Patience;
use crate::kernel::budget::Caps;
pub use crate::kernel::place::Place;
use crate::observation::Rejection;
use crate::outcome::{Audit, Handoff, Verdict, VerdictWord};
use crate::vocabulary::{TaskId, TreeId};
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use serde::{Deserialize, Serialize};

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TaskSpec {
    pub task: TaskId,
    pub text: String,
    pub caps: Caps,
    /// Commands the engine runs on the judged tree; a red one is a rejection.
    pub checks: Vec<String>,
    /// Commands the engine runs before the auditor is asked.
    pub audit_checks: Vec<String>,
    pub audit: AuditPolicy,
    pub on_needs_human: OnNeedsHuman,
    pub landing: Landing,
    /// How agents are waited for that cannot be asked now.
    #[serde(default, skip_serializing_if = "Patience::is_usual")]
    pub patience: Patience,
    pub place: Place,
    /// What a verdict must speak of one by one; nothing for a task without criteria of its own.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub criteria: Vec<CriterionToJudge>,
    /// Where a run begun by another program stood when it is taken over.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub adopted: Option<Adopted>,
}

/// One criterion by the name everybody calls it by.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CriterionToJudge {
    pub id: String,
    /// Files that its words seem to name: where one is missing, whoever judges must say why the criterion holds all the same.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub seems_to_name: Vec<String>,
}

/// What a cut-off run directory of the original already holds for its highest round.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Adopted {
    pub round: u32,
    /// The tree that the directory's own patch makes of the base. A pass that was brought along counts for this tree only.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tree: Option<TreeId>,
    pub handoff: Option<Handoff>,
    pub verdict: Option<Verdict>,
    pub audit: Option<Audit>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum AuditPolicy {
    Required,
    Skipped,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum OnNeedsHuman {
    Stop,
    Continue,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Landing {
    None,
    Branch(String),
    Current,
}

impl Adopted {
    /// A verdict counts for the hand-off it came with, and not when it contradicts itself.
    pub(super) fn verdict_on(&self, tree: &TreeId) -> Option<&Verdict> {
        let counts =
            |verdict: &&Verdict| verdict.word != VerdictWord::Pass || self.tree.as_ref() == Some(tree);
        self.sound_verdict().filter(counts)
    }

    pub(super) fn audit_on(&self, tree: &TreeId) -> Option<&Audit> {
        self.verdict_on(tree)?;
        let counts = |audit: &&Audit| audit.word != VerdictWord::Pass || self.tree.as_ref() == Some(tree);
        self.sound_audit().filter(counts)
    }

    /// Not when it contradicts itself.
    fn sound_verdict(&self) -> Option<&Verdict> {
        let handoff = self.handoff.as_ref()?;
        self.verdict.as_ref().filter(|verdict| {
            let named = |id: &String| verdict.requirements_checked.contains(id);
            verdict.word != VerdictWord::Pass
                || (verdict.requirements_missing.is_empty() && handoff.requirements_touched.iter().all(named))
        })
    }

    /// A gate counts for the verdict it came with, and not when it contradicts itself.
    fn sound_audit(&self) -> Option<&Audit> {
        self.sound_verdict()?;
        self.audit.as_ref().filter(|audit| audit.word != VerdictWord::Pass || audit.contradictions.is_empty())
    }
}

impl TaskSpec {
    pub(crate) fn validate(&self) -> Result<(), Rejection> {
        let refuse = |why: &str| Err(Rejection::InvalidSpec { why: why.to_string() });
        if self.text.trim().is_empty() {
            return refuse("the task text is empty");
        }
        if self.caps.rounds == 0 {
            return refuse("at least one round is needed");
        }
        if self.caps.time.is_some_and(|time| time.0 == 0) || self.caps.step_time.0 == 0 {
            return refuse("a time limit of nothing leaves no time to work");
        }
        if self.checks.iter().chain(&self.audit_checks).any(|command| command.trim().is_empty()) {
            return refuse("a check command is empty");
        }
        if self.adopted.as_ref().is_some_and(|adopted| adopted.round == 0) {
            return refuse("rounds are counted from 1; the run to take over stands in round 0");
        }
        Ok(())
    }
}
