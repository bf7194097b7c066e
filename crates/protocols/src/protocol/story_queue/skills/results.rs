//! What came of a version: verdicts of the stories it was used on, and what its use cost.

use super::commands::existing;
use super::{Change, Skill, Verdict};
use crate::protocol::story_queue::decide::{Decided, Draft};
use crate::protocol::story_queue::facts;
use crate::protocol::story_queue::ledger::Ledger;
use crate::protocol::story_queue::refusal::Refusal;
use crate::protocol::story_queue::usage::{Scope, Sums};
use crate::protocol::story_queue::vocabulary::{
    JsonText, KeyRole, Micros, ProjectId, SkillId, SkillResultId, SkillVersionId, StoryId, VerificationId,
};
use alloc::boxed::Box;
use alloc::vec::Vec;
use serde::{Deserialize, Serialize};

/// The numbers that statistics are made of, and the whole object as it was sent.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Metrics {
    #[serde(default)]
    pub findings_count: u32,
    #[serde(default)]
    pub false_positive_count: u32,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub iterations: Option<u32>,
    #[serde(default)]
    pub all: JsonText,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SkillResult {
    pub id: SkillResultId,
    pub version: u32,
    pub verification: Option<VerificationId>,
    pub story: StoryId,
    pub verdict: Verdict,
    pub metrics: Metrics,
    pub at: Micros,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RecordResult {
    pub version: SkillVersionId,
    pub verification: Option<VerificationId>,
    pub story: StoryId,
    /// The story's project.
    pub project: ProjectId,
    pub verdict: Verdict,
    pub metrics: Metrics,
}

pub fn record_result(draft: &mut Draft<'_>, ask: RecordResult) -> Decided<SkillResultId> {
    draft.caller().require_exactly(&[KeyRole::Orchestrator, KeyRole::Superadmin])?;
    let Some((skill, version)) = draft.ledger().skills.version(ask.version) else {
        return Err(Refusal::not_found("skill version"));
    };
    let (skill, version) = (skill.id, version.number);
    if ask.metrics.false_positive_count > ask.metrics.findings_count {
        return Err(Refusal::field("metrics", "has more false positives than findings"));
    }
    let result = SkillResultId(draft.ids().fresh());
    let change = Change::ResultRecorded {
        result,
        skill,
        version,
        verification: ask.verification,
        story: ask.story,
        verdict: ask.verdict,
        metrics: Box::new(ask.metrics),
    };
    draft.record(Some(ask.project), facts::Change::Skills(change));
    Ok(result)
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct VersionStats {
    pub version: u32,
    pub results: u32,
    pub pass: u32,
    pub fail: u32,
    pub partial: u32,
    pub findings: u64,
    pub false_positives: u64,
    pub iterations: u64,
    /// How many results told their iterations.
    pub iterated: u32,
}

impl VersionStats {
    pub fn pass_per_mille(&self) -> Option<u64> {
        (u64::from(self.pass) * 1000).checked_div(self.results.into())
    }

    pub fn false_positive_per_mille(&self) -> Option<u64> {
        self.false_positives.saturating_mul(1000).checked_div(self.findings)
    }

    /// In thousandths.
    pub fn average_iterations(&self) -> Option<u64> {
        self.iterations.saturating_mul(1000).checked_div(self.iterated.into())
    }
}

pub fn stats(skill: &Skill) -> Vec<VersionStats> {
    let of_version = |number: u32| {
        let mut stats = VersionStats { version: number, ..VersionStats::default() };
        for result in skill.results_of(number) {
            stats.results += 1;
            match result.verdict {
                Verdict::Pass => stats.pass += 1,
                Verdict::Fail => stats.fail += 1,
                Verdict::Partial => stats.partial += 1,
            }
            stats.findings += u64::from(result.metrics.findings_count);
            stats.false_positives += u64::from(result.metrics.false_positive_count);
            if let Some(iterations) = result.metrics.iterations {
                stats.iterations += u64::from(iterations);
                stats.iterated += 1;
            }
        }
        stats
    };
    skill.versions.iter().map(|version| of_version(version.number)).collect()
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CostPerformance {
    pub version: u32,
    pub sums: Sums,
    pub average_cost_millicents: Option<i64>,
    /// More than twice the version before it, with at least three calls.
    pub regressed: bool,
}

/// A user's question: what each version costs per call.
pub fn cost_performance(draft: &Draft<'_>, id: SkillId) -> Decided<Vec<CostPerformance>> {
    draft.caller().require_at_least(KeyRole::User)?;
    Ok(costs(draft.ledger(), existing(draft, id)?))
}

fn costs(ledger: &Ledger, skill: &Skill) -> Vec<CostPerformance> {
    let mut before: Option<i64> = None;
    let of_version = |version: &super::Version| {
        let sums = ledger.usage.total(Scope::SkillVersion(version.id));
        let average = sums.cost_millicents.checked_div(sums.report_count);
        let doubled =
            matches!((average, before), (Some(now), Some(before)) if now > before.saturating_mul(2));
        before = average.or(before);
        CostPerformance {
            version: version.number,
            sums,
            average_cost_millicents: average,
            regressed: doubled && sums.report_count >= 3,
        }
    };
    skill.versions.iter().map(of_version).collect()
}
