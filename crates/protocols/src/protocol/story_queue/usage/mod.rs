//! Tokens and money: reports, corrections, budgets, summaries, anomalies. Nothing here moves a story.
//! Reading order: `vocabulary`, this file, `reporting`, `budgets`, `anomalies`, `analytics`, `effort`, `display`.

mod analytics;
mod anomalies;
mod budgets;
mod display;
mod effort;
mod reporting;
mod state;
mod vocabulary;

pub use analytics::{
    AgentCost, EpicCost, Granularity, Judged, ModelCost, ModelShare, Period, ProjectCost, Trend, agents,
    epics, model_mix, model_profile, models, project, trends,
};
pub use anomalies::{archive_anomalies, resolve_anomaly, scan_anomalies};
pub use budgets::{
    ChangeBudget, Effective, EffectiveFrom, SetBudget, change_budget, effective_budget, remove_budget,
    set_budget,
};
pub use display::{dollars, token_count};
pub use effort::{Effort, LazyFactor, LazyScore, lazy_score, lazy_score_of};
pub use reporting::{
    CorrectUsage, Place, Reported, UsageNumbers, correct_usage, delete_usage, keep_usage_for, report_inline,
    report_usage,
};
pub use state::{Cell, Day, State, Sums};
pub use vocabulary::{Alert, Anomaly, AnomalyKind, Budget, BudgetScope, Gone, Phase, Report, Scope, Stored};

use super::facts::Entry;
use super::vocabulary::{AnomalyId, BudgetId, JsonText, UsageId};
use alloc::boxed::Box;
use alloc::vec::Vec;
use serde::{Deserialize, Serialize};

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "what", rename_all = "kebab-case")]
pub enum Change {
    Reported(Box<Report>),
    /// Soft: the row stays, and says why it no longer counts.
    Deleted {
        report: UsageId,
    },
    /// Past the tenant's retention. What it cost stays in the sums: history is not cheaper for being old.
    Aged {
        reports: Vec<UsageId>,
    },
    /// The rows themselves are gone.
    Purged {
        reports: Vec<UsageId>,
    },
    BudgetSet(Box<Budget>),
    BudgetChanged {
        budget: BudgetId,
        budget_millicents: u64,
        budget_input_tokens: Option<u64>,
        budget_output_tokens: Option<u64>,
        alert_threshold_pct: u8,
        metadata: JsonText,
    },
    BudgetRemoved {
        budget: BudgetId,
    },
    AlertFired {
        budget: BudgetId,
        alert: Alert,
        spent_millicents: i64,
    },
    /// Spending fell below, or the limits moved: the alert may fire once more.
    AlertReset {
        budget: BudgetId,
        alert: Alert,
    },
    AnomalyFound(Box<Anomaly>),
    AnomalyResolved {
        anomaly: AnomalyId,
    },
    AnomaliesArchived {
        anomalies: Vec<AnomalyId>,
    },
}

impl State {
    pub fn evolve(&mut self, entry: &Entry, change: &Change) {
        match change {
            Change::Reported(report) => self.add(entry.at, report),
            Change::Deleted { report } => self.delete(entry.at, *report),
            Change::Aged { reports } => self.age(entry.at, reports),
            Change::Purged { reports } => reports.iter().for_each(|report| self.purge(*report)),
            Change::BudgetSet(budget) => self.add_budget(budget),
            Change::BudgetChanged {
                budget,
                budget_millicents,
                budget_input_tokens,
                budget_output_tokens,
                alert_threshold_pct,
                metadata,
            } => {
                if let Some(kept) = self.budgets.get_mut(budget) {
                    kept.budget_millicents = *budget_millicents;
                    kept.budget_input_tokens = *budget_input_tokens;
                    kept.budget_output_tokens = *budget_output_tokens;
                    kept.alert_threshold_pct = *alert_threshold_pct;
                    kept.metadata = metadata.clone();
                }
            }
            Change::BudgetRemoved { budget } => self.remove_budget(*budget),
            Change::AlertFired { budget, alert, .. } => self.mark_alert(*budget, *alert, true),
            Change::AlertReset { budget, alert } => self.mark_alert(*budget, *alert, false),
            Change::AnomalyFound(anomaly) => self.add_anomaly(entry.at, anomaly),
            Change::AnomalyResolved { anomaly } => self.resolve(*anomaly),
            Change::AnomaliesArchived { anomalies } => {
                for anomaly in anomalies {
                    if let Some((_, kept)) = self.anomalies.get_mut(anomaly) {
                        kept.archived = true;
                    }
                }
            }
        }
    }
}
