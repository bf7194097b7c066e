//! Reports of what was used, their corrections and their end. Every report, also one that rides on another request, is
//! checked against the budgets.

use super::vocabulary::{Phase, Report, Scope, Stored};
use super::{Change, budgets};
use crate::protocol::story_queue::decide::{Decided, Draft};
use crate::protocol::story_queue::facts;
use crate::protocol::story_queue::ledger::Ledger;
use crate::protocol::story_queue::refusal::{Kind, Refusal};
use crate::protocol::story_queue::vocabulary::{
    AgentId, EpicId, JsonText, KeyRole, Micros, ProjectId, SkillVersionId, StoryId, UsageId,
};
use crate::protocol::story_queue::words::{check_length, check_text};
use alloc::boxed::Box;
use alloc::string::String;
use alloc::vec::Vec;

/// No single number of a report is larger; sums of millions of them still fit.
const MOST: i64 = 1_000_000_000_000;
const METADATA_BYTES: usize = 64 * 1024;
/// One round of retention touches this many rows, so that no entry grows without bound.
const ROWS_AT_ONCE: usize = 1000;
const DAY: u64 = 86_400;

/// Where a story belongs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Place {
    pub story: StoryId,
    pub epic: EpicId,
    pub project: ProjectId,
}

impl Place {
    pub fn of(ledger: &Ledger, story: StoryId) -> Decided<Self> {
        let found = ledger.plan.story(story).ok_or_else(|| Refusal::not_found("story"))?;
        Ok(Self { story, epic: found.epic, project: found.project })
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UsageNumbers {
    pub input_tokens: i64,
    pub output_tokens: i64,
    pub model_name: String,
    pub cost_millicents: i64,
    pub phase: Phase,
    pub session_id: Option<String>,
    pub skill_version: Option<SkillVersionId>,
    pub metadata: JsonText,
    pub tool_call_count: Option<u32>,
    pub cot_length_tokens: Option<u64>,
    pub tests_run_count: Option<u32>,
}

impl UsageNumbers {
    pub fn new(model_name: &str, input_tokens: i64, output_tokens: i64, cost_millicents: i64) -> Self {
        Self {
            input_tokens,
            output_tokens,
            model_name: model_name.into(),
            cost_millicents,
            phase: Phase::Other,
            session_id: None,
            skill_version: None,
            metadata: JsonText::default(),
            tool_call_count: None,
            cot_length_tokens: None,
            tests_run_count: None,
        }
    }

    /// Everything that can be wrong with the numbers alone; for whoever must check before recording anything.
    pub fn check(&self) -> Decided<()> {
        for (field, number) in self.amounts() {
            if number < 0 {
                return Err(Refusal::field(field, "must be greater than or equal to 0"));
            }
        }
        self.check_shape()
    }

    fn amounts(&self) -> [(&'static str, i64); 3] {
        [
            ("input_tokens", self.input_tokens),
            ("output_tokens", self.output_tokens),
            ("cost_millicents", self.cost_millicents),
        ]
    }

    fn check_shape(&self) -> Decided<()> {
        for (field, number) in self.amounts() {
            if !(-MOST..=MOST).contains(&number) {
                return Err(Refusal::field(field, "is larger than any single report can be"));
            }
        }
        check_text("model_name", &self.model_name, 255)?;
        if let Some(session) = &self.session_id {
            check_length("session_id", session, 255)?;
        }
        if self.metadata.as_str().len() > METADATA_BYTES {
            return Err(Refusal::field("metadata", "must be at most 64 KB"));
        }
        Ok(())
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reported {
    pub id: UsageId,
}

/// A report of its own: from a key with an agent, whatever its role.
pub fn report_usage(draft: &mut Draft<'_>, place: Place, numbers: UsageNumbers) -> Decided<Reported> {
    draft.caller().require_at_least(KeyRole::Agent)?;
    let agent = draft.caller().require_agent()?;
    numbers.check()?;
    check_skill_version(draft, &numbers)?;
    Ok(record(draft, place, agent, numbers, None))
}

/// A report inside another request, which has proven the agent. Checked against budgets as any other.
pub fn report_inline(
    draft: &mut Draft<'_>,
    place: Place,
    agent: AgentId,
    numbers: UsageNumbers,
) -> Decided<Reported> {
    numbers.check()?;
    check_skill_version(draft, &numbers)?;
    Ok(record(draft, place, agent, numbers, None))
}

fn check_skill_version(draft: &Draft<'_>, numbers: &UsageNumbers) -> Decided<()> {
    match numbers.skill_version {
        Some(version) if draft.ledger().skills.version(version).is_none() => {
            Err(Refusal::field("skill_version_id", "does not exist"))
        }
        _ => Ok(()),
    }
}

fn record(
    draft: &mut Draft<'_>,
    place: Place,
    agent: AgentId,
    numbers: UsageNumbers,
    corrects: Option<UsageId>,
) -> Reported {
    let id = UsageId(draft.ids().fresh());
    let report = Report {
        id,
        story: place.story,
        epic: place.epic,
        project: place.project,
        agent,
        input_tokens: numbers.input_tokens,
        output_tokens: numbers.output_tokens,
        model_name: numbers.model_name,
        cost_millicents: numbers.cost_millicents,
        phase: numbers.phase,
        session_id: numbers.session_id,
        skill_version: numbers.skill_version,
        metadata: numbers.metadata,
        tool_call_count: numbers.tool_call_count,
        cot_length_tokens: numbers.cot_length_tokens,
        tests_run_count: numbers.tests_run_count,
        corrects,
    };
    draft.record(Some(place.project), facts::Change::Usage(Change::Reported(Box::new(report))));
    budgets::check_spending(draft, place);
    Reported { id }
}

/// What is added to the report that was wrong; it may be less than nothing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CorrectUsage {
    pub report: UsageId,
    pub input_tokens: i64,
    pub output_tokens: i64,
    pub cost_millicents: i64,
    pub metadata: JsonText,
}

pub fn correct_usage(draft: &mut Draft<'_>, ask: CorrectUsage) -> Decided<Reported> {
    draft.caller().require_at_least(KeyRole::User)?;
    let wrong = living(draft, ask.report)?.report.clone();
    if wrong.corrects.is_some() {
        return Err(Refusal::new(
            Kind::Invalid,
            "a correction is not corrected; correct the report it belongs to",
        ));
    }
    let numbers = UsageNumbers {
        metadata: ask.metadata,
        phase: wrong.phase,
        session_id: wrong.session_id.clone(),
        skill_version: wrong.skill_version,
        ..UsageNumbers::new(&wrong.model_name, ask.input_tokens, ask.output_tokens, ask.cost_millicents)
    };
    numbers.check_shape()?;
    check_totals_stay_positive(draft, &wrong, &numbers)?;
    let place = Place { story: wrong.story, epic: wrong.epic, project: wrong.project };
    Ok(record(draft, place, wrong.agent, numbers, Some(wrong.id)))
}

fn check_totals_stay_positive(draft: &Draft<'_>, wrong: &Report, numbers: &UsageNumbers) -> Decided<()> {
    let total = draft.ledger().usage.total(Scope::Story(wrong.story));
    let sums = [total.input_tokens, total.output_tokens, total.cost_millicents];
    for ((field, change), sum) in numbers.amounts().into_iter().zip(sums) {
        if sum.saturating_add(change) < 0 {
            return Err(Refusal::field(field, "would take the story's total below zero"));
        }
    }
    Ok(())
}

fn living<'a>(draft: &'a Draft<'_>, id: UsageId) -> Decided<&'a Stored> {
    let stored = draft.ledger().usage.reports.get(&id).filter(|stored| stored.gone.is_none());
    stored.ok_or_else(|| Refusal::not_found("token usage report"))
}

/// Soft: its corrections go with it, for what they corrected no longer counts.
pub fn delete_usage(draft: &mut Draft<'_>, id: UsageId) -> Decided<()> {
    draft.caller().require_at_least(KeyRole::User)?;
    let report = living(draft, id)?.report.clone();
    let place = Place { story: report.story, epic: report.epic, project: report.project };
    let usage = &draft.ledger().usage;
    let corrections = usage.reports_of(report.story).filter(|other| other.report.corrects == Some(id));
    let gone: Vec<UsageId> = corrections.map(|other| other.report.id).chain([id]).collect();
    if report.corrects.is_some() {
        let total = usage.total(Scope::Story(report.story));
        let left = [
            total.input_tokens - report.input_tokens,
            total.output_tokens - report.output_tokens,
            total.cost_millicents - report.cost_millicents,
        ];
        if left.iter().any(|sum| *sum < 0) {
            return Err(Refusal::new(Kind::Invalid, "without it the story's total would fall below zero"));
        }
    }
    for report in gone {
        draft.record(Some(place.project), facts::Change::Usage(Change::Deleted { report }));
    }
    budgets::check_spending(draft, place);
    Ok(())
}

/// The weekly round of the server: rows older than the retention go, 30 days later for good. Answers how many rows
/// were touched; ask again until it is none.
pub fn keep_usage_for(draft: &mut Draft<'_>, retention_days: u64) -> usize {
    let now = draft.at().0;
    let before = |days: u64| Micros(now.saturating_sub(Micros::seconds(days.saturating_mul(DAY)).0));
    let usage = &draft.ledger().usage;
    let aged: Vec<UsageId> = usage.living_before(before(retention_days.max(30))).take(ROWS_AT_ONCE).collect();
    let purged: Vec<UsageId> = usage.faded_before(before(30)).take(ROWS_AT_ONCE).collect();
    let touched = aged.len() + purged.len();
    if !aged.is_empty() {
        draft.record(None, facts::Change::Usage(Change::Aged { reports: aged }));
    }
    if !purged.is_empty() {
        draft.record(None, facts::Change::Usage(Change::Purged { reports: purged }));
    }
    touched
}
