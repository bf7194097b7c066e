//! Budgets warn, once each; they never stop anybody. Nothing is blocked by money here, and the documents say so.

use super::anomalies::found;
use super::state::Sums;
use super::vocabulary::{Alert, AnomalyKind, Budget, BudgetScope};
use super::{Change, Place};
use crate::protocol::story_queue::decide::{Decided, Draft};
use crate::protocol::story_queue::facts;
use crate::protocol::story_queue::ledger::Ledger;
use crate::protocol::story_queue::refusal::{Kind, Refusal};
use crate::protocol::story_queue::vocabulary::{BudgetId, JsonText, KeyRole, ProjectId};
use crate::protocol::story_queue::webhooks::{self, Event, Payload};
use alloc::boxed::Box;
use alloc::format;
use alloc::vec::Vec;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SetBudget {
    pub scope: BudgetScope,
    /// The project the scope lies in.
    pub project: ProjectId,
    pub budget_millicents: u64,
    pub budget_input_tokens: Option<u64>,
    pub budget_output_tokens: Option<u64>,
    pub alert_threshold_pct: u8,
    pub metadata: JsonText,
}

pub fn set_budget(draft: &mut Draft<'_>, ask: SetBudget) -> Decided<BudgetId> {
    draft.caller().require_at_least(KeyRole::Orchestrator)?;
    check_limits(ask.budget_millicents, ask.alert_threshold_pct)?;
    if let Some(budget) = draft.ledger().usage.budget_for(ask.scope) {
        let message = format!("this {} has a budget already", ask.scope.name());
        return Err(Refusal::new(Kind::Conflict, message)
            .with_context("budget_id", format!("{}", budget.id))
            .with_remedy(format!("change it: PATCH /token-budgets/{}", budget.id)));
    }
    let id = BudgetId(draft.ids().fresh());
    let budget = Budget {
        id,
        scope: ask.scope,
        project: ask.project,
        budget_millicents: ask.budget_millicents,
        budget_input_tokens: ask.budget_input_tokens,
        budget_output_tokens: ask.budget_output_tokens,
        alert_threshold_pct: ask.alert_threshold_pct,
        warning_fired: false,
        exceeded_fired: false,
        metadata: ask.metadata,
    };
    draft.record(Some(ask.project), facts::Change::Usage(Change::BudgetSet(Box::new(budget))));
    check_scope(draft, ask.scope);
    Ok(id)
}

fn check_limits(millicents: u64, threshold: u8) -> Decided<()> {
    if millicents == 0 || i64::try_from(millicents).is_err() {
        let why = format!("must be between 1 and {}", i64::MAX);
        return Err(Refusal::field("budget_millicents", &why));
    }
    if !(1..=100).contains(&threshold) {
        return Err(Refusal::field("alert_threshold_pct", "must be between 1 and 100"));
    }
    Ok(())
}

/// What is absent stays as it is.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ChangeBudget {
    pub budget_millicents: Option<u64>,
    pub budget_input_tokens: Option<Option<u64>>,
    pub budget_output_tokens: Option<Option<u64>>,
    pub alert_threshold_pct: Option<u8>,
    pub metadata: Option<JsonText>,
}

pub fn change_budget(draft: &mut Draft<'_>, id: BudgetId, ask: ChangeBudget) -> Decided<()> {
    draft.caller().require_at_least(KeyRole::Orchestrator)?;
    let Some(now) = draft.ledger().usage.budgets.get(&id).cloned() else {
        return Err(Refusal::not_found("token budget"));
    };
    let budget_millicents = ask.budget_millicents.unwrap_or(now.budget_millicents);
    let alert_threshold_pct = ask.alert_threshold_pct.unwrap_or(now.alert_threshold_pct);
    check_limits(budget_millicents, alert_threshold_pct)?;
    let budget_input_tokens = ask.budget_input_tokens.unwrap_or(now.budget_input_tokens);
    let budget_output_tokens = ask.budget_output_tokens.unwrap_or(now.budget_output_tokens);
    let moved = budget_millicents != now.budget_millicents
        || alert_threshold_pct != now.alert_threshold_pct
        || budget_input_tokens != now.budget_input_tokens
        || budget_output_tokens != now.budget_output_tokens;
    let change = Change::BudgetChanged {
        budget: id,
        budget_millicents,
        budget_input_tokens,
        budget_output_tokens,
        alert_threshold_pct,
        metadata: ask.metadata.unwrap_or(now.metadata),
    };
    draft.record(Some(now.project), facts::Change::Usage(change));
    if moved {
        let fired = [(Alert::Warning, now.warning_fired), (Alert::Exceeded, now.exceeded_fired)];
        for (alert, _) in fired.into_iter().filter(|(_, fired)| *fired) {
            let change = Change::AlertReset { budget: id, alert };
            draft.record(Some(now.project), facts::Change::Usage(change));
        }
        check_scope(draft, now.scope);
    }
    Ok(())
}

pub fn remove_budget(draft: &mut Draft<'_>, id: BudgetId) -> Decided<()> {
    draft.caller().require_at_least(KeyRole::User)?;
    let Some(budget) = draft.ledger().usage.budgets.get(&id) else {
        return Err(Refusal::not_found("token budget"));
    };
    let project = budget.project;
    draft.record(Some(project), facts::Change::Usage(Change::BudgetRemoved { budget: id }));
    Ok(())
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EffectiveFrom {
    Story,
    Epic,
    Project,
    TenantDefault,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Effective {
    pub millicents: u64,
    pub from: EffectiveFrom,
}

/// The nearest budget: the story's own, its epic's, its project's, else the tenant's default for a story.
pub fn effective_budget(ledger: &Ledger, place: Place, tenant_default: Option<u64>) -> Option<Effective> {
    let nearest = [
        (BudgetScope::Story(place.story), EffectiveFrom::Story),
        (BudgetScope::Epic(place.epic), EffectiveFrom::Epic),
        (BudgetScope::Project(place.project), EffectiveFrom::Project),
    ];
    let set = nearest.into_iter().find_map(|(scope, from)| {
        ledger.usage.budget_for(scope).map(|budget| Effective { millicents: budget.budget_millicents, from })
    });
    set.or_else(|| {
        tenant_default.map(|millicents| Effective { millicents, from: EffectiveFrom::TenantDefault })
    })
}

/// After every report, correction and deletion.
pub(super) fn check_spending(draft: &mut Draft<'_>, place: Place) {
    for scope in
        [BudgetScope::Story(place.story), BudgetScope::Epic(place.epic), BudgetScope::Project(place.project)]
    {
        check_scope(draft, scope);
    }
}

/// How much of the nearest limit is used, in per cent; of several limits the one that is used up most.
pub(super) fn used_pct(budget: &Budget, spent: &Sums) -> u64 {
    let limits = [
        (Some(budget.budget_millicents), spent.cost_millicents),
        (budget.budget_input_tokens, spent.input_tokens),
        (budget.budget_output_tokens, spent.output_tokens),
    ];
    let share = |(limit, spent): (Option<u64>, i64)| {
        let limit = u128::from(limit.filter(|limit| *limit > 0)?);
        let spent = u128::try_from(spent).unwrap_or(0);
        u64::try_from(spent * 100 / limit).ok()
    };
    limits.into_iter().filter_map(share).max().unwrap_or(0)
}

fn check_scope(draft: &mut Draft<'_>, scope: BudgetScope) {
    let usage = &draft.ledger().usage;
    let Some(budget) = usage.budget_for(scope).cloned() else { return };
    let spent = usage.total(scope);
    let used = used_pct(&budget, &spent);
    let alerts: Vec<(Alert, bool, bool)> = [
        (Alert::Warning, used >= u64::from(budget.alert_threshold_pct), budget.warning_fired),
        (Alert::Exceeded, used >= 100, budget.exceeded_fired),
    ]
    .into();
    for (alert, reached, fired) in alerts {
        match (reached, fired) {
            (true, false) => fire(draft, &budget, alert, &spent),
            (false, true) => {
                let change = Change::AlertReset { budget: budget.id, alert };
                draft.record(Some(budget.project), facts::Change::Usage(change));
            }
            _ => {}
        }
    }
}

fn fire(draft: &mut Draft<'_>, budget: &Budget, alert: Alert, spent: &Sums) {
    let change = Change::AlertFired { budget: budget.id, alert, spent_millicents: spent.cost_millicents };
    draft.record(Some(budget.project), facts::Change::Usage(change));
    let scope_id = match budget.scope {
        BudgetScope::Project(id) => id.0,
        BudgetScope::Epic(id) => id.0,
        BudgetScope::Story(id) => id.0,
    };
    let payload = Payload::new()
        .text("budget_id", &format!("{}", budget.id))
        .text("scope_type", budget.scope.name())
        .text("scope_id", &format!("{scope_id}"))
        .number("budget_millicents", i64::try_from(budget.budget_millicents).unwrap_or(i64::MAX))
        .number("spent_millicents", spent.cost_millicents)
        .number("alert_threshold_pct", i64::from(budget.alert_threshold_pct));
    let event = match alert {
        Alert::Warning => Event::TokenBudgetWarning,
        Alert::Exceeded => Event::TokenBudgetExceeded,
    };
    webhooks::announce(draft, event, Some(budget.project), payload);
    if let (Alert::Exceeded, BudgetScope::Story(story)) = (alert, budget.scope) {
        let reference = i64::try_from(budget.budget_millicents).unwrap_or(i64::MAX);
        let costs = (spent.cost_millicents, reference);
        found(draft, story, budget.project, AnomalyKind::BudgetExceeded, costs);
    }
}
