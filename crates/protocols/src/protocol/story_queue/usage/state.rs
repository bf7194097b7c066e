//! Sums kept as reports come, so that nothing is added up when somebody asks or a budget is checked.

use super::vocabulary::{
    Alert, Anomaly, AnomalyKind, Budget, BudgetScope, Gone, Phase, Report, Scope, Stored,
};
use crate::protocol::story_queue::vocabulary::{
    AgentId, AnomalyId, BudgetId, EpicId, Micros, ProjectId, StoryId, UsageId,
};
use alloc::collections::{BTreeMap, BTreeSet};
use alloc::string::String;
use serde::{Deserialize, Serialize};

#[derive(Clone, Debug, Default)]
pub struct State {
    pub reports: BTreeMap<UsageId, Stored>,
    pub budgets: BTreeMap<BudgetId, Budget>,
    /// With the moment it was found.
    pub anomalies: BTreeMap<AnomalyId, (Micros, Anomaly)>,
    /// What each day, story, agent, model and phase cost: what cost summaries and analytics are made of.
    pub daily: BTreeMap<Cell, Sums>,
    totals: BTreeMap<Scope, Sums>,
    by_story: BTreeMap<StoryId, BTreeSet<UsageId>>,
    by_epic: BTreeMap<EpicId, BTreeSet<StoryId>>,
    budget_of: BTreeMap<BudgetScope, BudgetId>,
    unresolved: BTreeMap<(StoryId, AnomalyKind), AnomalyId>,
    /// Rows that count and are not yet aged, oldest first.
    living: BTreeSet<(Micros, UsageId)>,
    /// Rows that are gone but not purged, by the moment they went.
    fading: BTreeSet<(Micros, UsageId)>,
}

/// Days since 1970, UTC.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Day(pub u64);

impl Day {
    const LENGTH: u64 = 86_400_000_000;

    pub const fn of(at: Micros) -> Self {
        Self(at.0 / Self::LENGTH)
    }

    pub const fn start(self) -> Micros {
        Micros(self.0.saturating_mul(Self::LENGTH))
    }

    /// Weeks begin on Monday; 1970 began on a Thursday.
    #[must_use]
    pub const fn monday(self) -> Self {
        Self(self.0.saturating_sub((self.0 + 3) % 7))
    }
}

#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Cell {
    pub day: Day,
    pub project: ProjectId,
    pub epic: EpicId,
    pub story: StoryId,
    pub agent: AgentId,
    pub model: String,
    pub phase: Phase,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Sums {
    pub input_tokens: i64,
    pub output_tokens: i64,
    pub cost_millicents: i64,
    /// Corrections are no calls.
    pub report_count: i64,
}

impl Sums {
    pub(super) fn of(report: &Report) -> Self {
        Self {
            input_tokens: report.input_tokens,
            output_tokens: report.output_tokens,
            cost_millicents: report.cost_millicents,
            report_count: i64::from(report.corrects.is_none()),
        }
    }

    pub const fn total_tokens(&self) -> i64 {
        self.input_tokens.saturating_add(self.output_tokens)
    }

    pub(super) fn add(&mut self, other: &Self) {
        self.input_tokens = self.input_tokens.saturating_add(other.input_tokens);
        self.output_tokens = self.output_tokens.saturating_add(other.output_tokens);
        self.cost_millicents = self.cost_millicents.saturating_add(other.cost_millicents);
        self.report_count = self.report_count.saturating_add(other.report_count);
    }

    fn negated(self) -> Self {
        Self {
            input_tokens: self.input_tokens.saturating_neg(),
            output_tokens: self.output_tokens.saturating_neg(),
            cost_millicents: self.cost_millicents.saturating_neg(),
            report_count: self.report_count.saturating_neg(),
        }
    }
}

impl State {
    pub fn total(&self, scope: impl Into<Scope>) -> Sums {
        self.totals.get(&scope.into()).copied().unwrap_or_default()
    }

    pub fn budget_for(&self, scope: BudgetScope) -> Option<&Budget> {
        self.budget_of.get(&scope).and_then(|id| self.budgets.get(id))
    }

    /// In the order they came; deleted ones are not among them.
    pub fn reports_of(&self, story: StoryId) -> impl Iterator<Item = &Stored> {
        self.by_story
            .get(&story)
            .into_iter()
            .flatten()
            .filter_map(|id| self.reports.get(id))
            .filter(|stored| stored.gone.is_none())
    }

    /// Stories of the epic that cost anything, with what they cost.
    pub fn costs_in(&self, epic: EpicId) -> impl Iterator<Item = (StoryId, i64)> {
        let stories = self.by_epic.get(&epic).into_iter().flatten();
        stories.map(|story| (*story, self.total(Scope::Story(*story)).cost_millicents))
    }

    pub fn epics_with_costs(&self) -> impl Iterator<Item = EpicId> {
        self.by_epic.keys().copied()
    }

    pub fn unresolved(&self, story: StoryId, kind: AnomalyKind) -> Option<AnomalyId> {
        self.unresolved.get(&(story, kind)).copied()
    }

    pub(super) fn living_before(&self, before: Micros) -> impl Iterator<Item = UsageId> {
        self.living.range(..(before, UsageId::default())).map(|(_, id)| *id)
    }

    pub(super) fn faded_before(&self, before: Micros) -> impl Iterator<Item = UsageId> {
        self.fading.range(..(before, UsageId::default())).map(|(_, id)| *id)
    }

    pub(super) fn add(&mut self, at: Micros, report: &Report) {
        self.count(at, report, Sums::of(report));
        self.by_story.entry(report.story).or_default().insert(report.id);
        self.by_epic.entry(report.epic).or_default().insert(report.story);
        self.living.insert((at, report.id));
        self.reports.insert(report.id, Stored { report: report.clone(), at, gone: None });
    }

    fn count(&mut self, at: Micros, report: &Report, sums: Sums) {
        let scopes = [
            Some(Scope::Agent(report.agent)),
            Some(Scope::Epic(report.epic)),
            Some(Scope::Project(report.project)),
            Some(Scope::Story(report.story)),
            report.skill_version.map(Scope::SkillVersion),
        ];
        for scope in scopes.into_iter().flatten() {
            self.totals.entry(scope).or_default().add(&sums);
        }
        let cell = Cell {
            day: Day::of(at),
            project: report.project,
            epic: report.epic,
            story: report.story,
            agent: report.agent,
            model: report.model_name.clone(),
            phase: report.phase,
        };
        let kept = self.daily.entry(cell.clone()).or_default();
        kept.add(&sums);
        if *kept == Sums::default() {
            self.daily.remove(&cell);
        }
    }

    pub(super) fn delete(&mut self, at: Micros, id: UsageId) {
        let Some(stored) = self.reports.get_mut(&id) else { return };
        if stored.gone.is_some() {
            return;
        }
        stored.gone = Some(Gone::Deleted(at));
        let (since, report) = (stored.at, stored.report.clone());
        self.living.remove(&(since, id));
        self.fading.insert((at, id));
        self.count(since, &report, Sums::of(&report).negated());
    }

    pub(super) fn age(&mut self, at: Micros, reports: &[UsageId]) {
        for id in reports {
            let Some(stored) = self.reports.get_mut(id).filter(|stored| stored.gone.is_none()) else {
                continue;
            };
            stored.gone = Some(Gone::Aged(at));
            self.living.remove(&(stored.at, *id));
            self.fading.insert((at, *id));
        }
    }

    pub(super) fn purge(&mut self, id: UsageId) {
        let Some(stored) = self.reports.remove(&id) else { return };
        if let Some(ids) = self.by_story.get_mut(&stored.report.story) {
            ids.remove(&id);
        }
        self.living.remove(&(stored.at, id));
        if let Some(Gone::Deleted(at) | Gone::Aged(at)) = stored.gone {
            self.fading.remove(&(at, id));
        }
    }

    pub(super) fn add_budget(&mut self, budget: &Budget) {
        self.budget_of.insert(budget.scope, budget.id);
        self.budgets.insert(budget.id, budget.clone());
    }

    pub(super) fn remove_budget(&mut self, id: BudgetId) {
        if let Some(budget) = self.budgets.remove(&id) {
            self.budget_of.remove(&budget.scope);
        }
    }

    pub(super) fn mark_alert(&mut self, id: BudgetId, alert: Alert, fired: bool) {
        let Some(budget) = self.budgets.get_mut(&id) else { return };
        match alert {
            Alert::Warning => budget.warning_fired = fired,
            Alert::Exceeded => budget.exceeded_fired = fired,
        }
    }

    pub(super) fn add_anomaly(&mut self, at: Micros, anomaly: &Anomaly) {
        self.unresolved.insert((anomaly.story, anomaly.kind), anomaly.id);
        self.anomalies.insert(anomaly.id, (at, anomaly.clone()));
    }

    pub(super) fn resolve(&mut self, id: AnomalyId) {
        if let Some((_, anomaly)) = self.anomalies.get_mut(&id) {
            anomaly.resolved = true;
            self.unresolved.remove(&(anomaly.story, anomaly.kind));
        }
    }
}
