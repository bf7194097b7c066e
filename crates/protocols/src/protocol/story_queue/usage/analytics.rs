//! Questions about cost, answered from the daily sums. Shares are in thousandths, averages in whole millicents.

use super::budgets::used_pct;
use super::state::{Cell, Day, Sums};
use super::vocabulary::{Budget, BudgetScope, Phase};
use crate::protocol::story_queue::ledger::Ledger;
use crate::protocol::story_queue::vocabulary::{AgentId, EpicId, ProjectId, StoryId};
use crate::protocol::story_queue::words::words;
use alloc::collections::{BTreeMap, BTreeSet};
use alloc::string::String;
use alloc::vec::Vec;
use core::cmp::Reverse;

/// Which days and project; both ends belong to it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Period {
    pub project: Option<ProjectId>,
    pub since: Option<Day>,
    pub until: Option<Day>,
}

impl Period {
    fn cells<'a>(&'a self, ledger: &'a Ledger) -> impl Iterator<Item = (&'a Cell, &'a Sums)> {
        let in_days = |day: Day| {
            self.since.is_none_or(|since| since <= day) && self.until.is_none_or(|until| day <= until)
        };
        ledger.usage.daily.iter().filter(move |(cell, _)| {
            in_days(cell.day) && self.project.is_none_or(|project| project == cell.project)
        })
    }
}

/// Sums with the stories they fell on.
#[derive(Clone, Debug, Default)]
struct Group {
    sums: Sums,
    stories: BTreeSet<StoryId>,
}

impl Group {
    fn take(&mut self, cell: &Cell, sums: &Sums) {
        self.sums.add(sums);
        self.stories.insert(cell.story);
    }

    fn average(&self) -> i64 {
        let stories = i64::try_from(self.stories.len()).unwrap_or(i64::MAX);
        self.sums.cost_millicents.checked_div(stories).unwrap_or(0)
    }
}

fn grouped<'a, K: Ord>(
    cells: impl Iterator<Item = (&'a Cell, &'a Sums)>,
    key: impl Fn(&Cell) -> K,
) -> BTreeMap<K, Group> {
    let mut groups: BTreeMap<K, Group> = BTreeMap::new();
    for (cell, sums) in cells {
        groups.entry(key(cell)).or_default().take(cell, sums);
    }
    groups
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AgentCost {
    pub agent: AgentId,
    pub sums: Sums,
    pub stories: usize,
    pub average_per_story: i64,
    /// 1 is the cheapest by average cost per story.
    pub rank: usize,
    pub primary_model: Option<String>,
}

pub fn agents(ledger: &Ledger, period: &Period) -> Vec<AgentCost> {
    let models = grouped(period.cells(ledger), |cell| (cell.agent, cell.model.clone()));
    let primary = |agent: AgentId| {
        let own = models.iter().filter(|((other, _), _)| *other == agent);
        own.max_by_key(|(_, group)| group.sums.total_tokens()).map(|((_, model), _)| model.clone())
    };
    let mut rows: Vec<AgentCost> = grouped(period.cells(ledger), |cell| cell.agent)
        .into_iter()
        .map(|(agent, group)| AgentCost {
            agent,
            sums: group.sums,
            stories: group.stories.len(),
            average_per_story: group.average(),
            rank: 0,
            primary_model: primary(agent),
        })
        .collect();
    rows.sort_by_key(|row| (row.average_per_story, row.agent));
    for (place, row) in rows.iter_mut().enumerate() {
        row.rank = place + 1;
    }
    rows
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EpicCost {
    pub epic: EpicId,
    pub project: ProjectId,
    pub sums: Sums,
    pub stories: usize,
    pub average_per_story: i64,
    pub budget: Option<Budget>,
    /// Of the whole time's spending, whatever days were asked for.
    pub budget_used_pct: Option<u64>,
}

pub fn epics(ledger: &Ledger, period: &Period) -> Vec<EpicCost> {
    grouped(period.cells(ledger), |cell| (cell.epic, cell.project))
        .into_iter()
        .map(|((epic, project), group)| {
            let budget = ledger.usage.budget_for(BudgetScope::Epic(epic)).cloned();
            let spent = ledger.usage.total(BudgetScope::Epic(epic));
            EpicCost {
                epic,
                project,
                sums: group.sums,
                stories: group.stories.len(),
                average_per_story: group.average(),
                budget_used_pct: budget.as_ref().map(|budget| used_pct(budget, &spent)),
                budget,
            }
        })
        .collect()
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProjectCost {
    pub sums: Sums,
    pub stories: usize,
    pub average_per_story: i64,
    pub by_phase: Vec<(Phase, Sums)>,
    pub by_model: Vec<(String, Sums)>,
    pub budget: Option<Budget>,
    pub budget_used_pct: Option<u64>,
}

pub fn project(ledger: &Ledger, id: ProjectId, since: Option<Day>, until: Option<Day>) -> ProjectCost {
    let period = Period { project: Some(id), since, until };
    let whole = grouped(period.cells(ledger), |_| ()).remove(&()).unwrap_or_default();
    let by_phase = grouped(period.cells(ledger), |cell| cell.phase);
    let by_model = grouped(period.cells(ledger), |cell| cell.model.clone());
    let budget = ledger.usage.budget_for(BudgetScope::Project(id)).cloned();
    let spent = ledger.usage.total(BudgetScope::Project(id));
    ProjectCost {
        sums: whole.sums,
        stories: whole.stories.len(),
        average_per_story: whole.average(),
        by_phase: by_phase.into_iter().map(|(phase, group)| (phase, group.sums)).collect(),
        by_model: by_model.into_iter().map(|(model, group)| (model, group.sums)).collect(),
        budget_used_pct: budget.as_ref().map(|budget| used_pct(budget, &spent)),
        budget,
    }
}

/// What became of a story, for the question which models end in verified work.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Judged {
    Open,
    Verified,
    Rejected,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ModelCost {
    pub model: String,
    pub sums: Sums,
    pub stories: usize,
    pub average_per_story: i64,
    pub verified: usize,
    pub rejected: usize,
}

impl ModelCost {
    fn of(model: String, group: &Group, judged: &impl Fn(StoryId) -> Judged) -> Self {
        let count = |what| group.stories.iter().filter(|story| judged(**story) == what).count();
        Self {
            model,
            sums: group.sums,
            stories: group.stories.len(),
            average_per_story: group.average(),
            verified: count(Judged::Verified),
            rejected: count(Judged::Rejected),
        }
    }
}

pub fn models(ledger: &Ledger, period: &Period, judged: impl Fn(StoryId) -> Judged) -> Vec<ModelCost> {
    let groups = grouped(period.cells(ledger), |cell| cell.model.clone());
    let mut rows: Vec<ModelCost> =
        groups.into_iter().map(|(model, group)| ModelCost::of(model, &group, &judged)).collect();
    rows.sort_by_key(|row| Reverse(row.sums.cost_millicents));
    rows
}

/// The models one agent used.
pub fn model_profile(
    ledger: &Ledger,
    agent: AgentId,
    period: &Period,
    judged: impl Fn(StoryId) -> Judged,
) -> Vec<ModelCost> {
    let own = period.cells(ledger).filter(|(cell, _)| cell.agent == agent);
    let groups = grouped(own, |cell| cell.model.clone());
    groups.into_iter().map(|(model, group)| ModelCost::of(model, &group, &judged)).collect()
}

words! {
    pub enum Granularity {
        Daily = "daily",
        Weekly = "weekly",
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Trend {
    pub from: Day,
    pub sums: Sums,
    pub stories: usize,
}

/// Days or weeks without a report are left out.
pub fn trends(ledger: &Ledger, period: &Period, granularity: Granularity) -> Vec<Trend> {
    let groups = grouped(period.cells(ledger), |cell| match granularity {
        Granularity::Daily => cell.day,
        Granularity::Weekly => cell.day.monday(),
    });
    groups
        .into_iter()
        .map(|(from, group)| Trend { from, sums: group.sums, stories: group.stories.len() })
        .collect()
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ModelShare {
    pub model: String,
    pub phase: Phase,
    pub sums: Sums,
    pub cost_per_mille: u64,
    pub tokens_per_mille: u64,
}

pub fn model_mix(ledger: &Ledger, period: &Period) -> Vec<ModelShare> {
    let mut whole = Sums::default();
    period.cells(ledger).for_each(|(_, sums)| whole.add(sums));
    let share = |part: i64, of: i64| {
        let parts = (i128::from(part) * 1000).checked_div(i128::from(of)).unwrap_or(0);
        u64::try_from(parts).unwrap_or(0)
    };
    grouped(period.cells(ledger), |cell| (cell.model.clone(), cell.phase))
        .into_iter()
        .map(|((model, phase), group)| ModelShare {
            model,
            phase,
            sums: group.sums,
            cost_per_mille: share(group.sums.cost_millicents, whole.cost_millicents),
            tokens_per_mille: share(group.sums.total_tokens(), whole.total_tokens()),
        })
        .collect()
}
