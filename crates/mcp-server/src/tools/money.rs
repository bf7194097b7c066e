//! Tools of tokens and money.

use super::plan::{IN_PROJECT, PROJECT, STORY};
use super::row::{Kind, Tool, Way, maybe, needed};
use crate::keys::Wanted::{Agent, Orchestrator};

pub(super) const TOOLS: &[Tool] = &[
    Tool::post("report_token_usage", "/token-usage", "Records what a step of work used.").key(Agent).with(&[
        STORY,
        IN_PROJECT,
        needed("input_tokens", Kind::Integer, "read by the model"),
        needed("output_tokens", Kind::Integer, "written by the model"),
        needed("model_name", Kind::Text, "which model"),
        needed("cost_millicents", Kind::Integer, "thousandths of a cent; 100000 is one dollar"),
        maybe("phase", Kind::OneOf(&["planning", "implementing", "reviewing", "other"]), "what it was for"),
        maybe("skill_version_id", Kind::Text, "the prompt that was used"),
        maybe("session_id", Kind::Text, "of the agent program"),
    ]),
    Tool::get("get_story_token_usage", "/stories/{story_id}/token-usage", "What a story used.")
        .with(&[STORY, IN_PROJECT]),
    Tool::get("get_cost_summary", "/analytics/projects/{project_id}", "What a project cost.")
        .with(&[PROJECT, maybe("breakdown", Kind::OneOf(&["agent", "epic", "model"]), "added up by these")]),
    Tool::get(
        "get_cost_anomalies",
        "/cost-anomalies",
        "Stories that cost far more or less than their neighbours.",
    )
    .key(Orchestrator)
    .way(Way::Rows)
    .with(&[IN_PROJECT]),
    Tool::post("set_token_budget", "/token-budgets", "Sets what a project, epic or story may cost.")
        .key(Orchestrator)
        .with(&[
            needed("scope_type", Kind::OneOf(&["project", "epic", "story"]), "what it is for"),
            needed("scope_id", Kind::Text, "which one: id, slug or number"),
            IN_PROJECT,
            needed("budget_millicents", Kind::Integer, "above zero; 100000 is one dollar"),
            maybe("alert_threshold_pct", Kind::Integer, "1 to 100 (80)"),
        ]),
];
