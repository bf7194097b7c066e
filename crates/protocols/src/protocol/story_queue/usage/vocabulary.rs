//! What is kept about tokens and money. Money is in thousandths of a cent; 100,000 are a dollar.

use crate::protocol::story_queue::plan;
use crate::protocol::story_queue::vocabulary::{
    AgentId, AnomalyId, BudgetId, EpicId, JsonText, Micros, ProjectId, SkillVersionId, StoryId, UsageId,
};
use crate::protocol::story_queue::words::words;
use alloc::string::String;
use serde::{Deserialize, Serialize};

words! {
    pub enum Phase {
        Planning = "planning",
        Implementing = "implementing",
        Reviewing = "reviewing",
        Other = "other",
    }
}

/// One use of a model. Only a correction has negative numbers.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Report {
    pub id: UsageId,
    pub story: StoryId,
    pub epic: EpicId,
    pub project: ProjectId,
    pub agent: AgentId,
    pub input_tokens: i64,
    pub output_tokens: i64,
    pub model_name: String,
    pub cost_millicents: i64,
    pub phase: Phase,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session_id: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub skill_version: Option<SkillVersionId>,
    #[serde(default)]
    pub metadata: JsonText,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tool_call_count: Option<u32>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cot_length_tokens: Option<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tests_run_count: Option<u32>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub corrects: Option<UsageId>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stored {
    pub report: Report,
    pub at: Micros,
    pub gone: Option<Gone>,
}

/// Why a row is no longer shown among the living.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Gone {
    /// By a user: it never counted.
    Deleted(Micros),
    /// By retention: it counted, and still does.
    Aged(Micros),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(tag = "scope_type", content = "scope_id", rename_all = "snake_case")]
pub enum BudgetScope {
    Project(ProjectId),
    Epic(EpicId),
    Story(StoryId),
}

impl BudgetScope {
    pub const fn name(self) -> &'static str {
        match self {
            Self::Project(_) => "project",
            Self::Epic(_) => "epic",
            Self::Story(_) => "story",
        }
    }

    /// The project the scope lies in, if there is such a thing.
    pub fn project(self, plan: &plan::State) -> Option<ProjectId> {
        match self {
            Self::Project(id) => plan.project(id).map(|project| project.id),
            Self::Epic(id) => plan.epic(id).map(|epic| epic.project),
            Self::Story(id) => plan.story(id).map(|story| story.project),
        }
    }
}

/// Whose sums are kept for all time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Scope {
    Agent(AgentId),
    Epic(EpicId),
    Project(ProjectId),
    Story(StoryId),
    SkillVersion(SkillVersionId),
}

impl From<BudgetScope> for Scope {
    fn from(scope: BudgetScope) -> Self {
        match scope {
            BudgetScope::Project(id) => Self::Project(id),
            BudgetScope::Epic(id) => Self::Epic(id),
            BudgetScope::Story(id) => Self::Story(id),
        }
    }
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Budget {
    pub id: BudgetId,
    pub scope: BudgetScope,
    pub project: ProjectId,
    pub budget_millicents: u64,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub budget_input_tokens: Option<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub budget_output_tokens: Option<u64>,
    pub alert_threshold_pct: u8,
    #[serde(default)]
    pub warning_fired: bool,
    #[serde(default)]
    pub exceeded_fired: bool,
    #[serde(default)]
    pub metadata: JsonText,
}

words! {
    pub enum Alert {
        Warning = "warning",
        Exceeded = "exceeded",
    }
}

words! {
    pub enum AnomalyKind {
        HighCost = "high_cost",
        SuspiciouslyLow = "suspiciously_low",
        BudgetExceeded = "budget_exceeded",
    }
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Anomaly {
    pub id: AnomalyId,
    pub story: StoryId,
    pub project: ProjectId,
    pub kind: AnomalyKind,
    pub story_cost_millicents: i64,
    /// The epic's average per story, or the budget.
    pub reference_millicents: i64,
    /// The story's cost as thousandths of the reference.
    pub deviation_per_mille: u64,
    #[serde(default)]
    pub resolved: bool,
    #[serde(default)]
    pub archived: bool,
}
