//! Verbs about tokens and money.

use super::shown::{Columns, Shown};
use super::{InProject, PageArgs};
use crate::stories::{Desk, story_path};
use clap::{Args, Subcommand, ValueEnum};
use serde_json::json;
use windlass_control_api::stories::{Method, escaped};
use windlass_control_api::{Code, Fault};

#[derive(Debug, Subcommand)]
#[command(defer = true)]
pub(crate) enum Money {
    CostSummary(SummaryArgs),
    /// Show what a story used
    TokenReport(TokenReportArgs),
    TokenUsage(UsageArgs),
    #[command(visible_alias = "cost-anomalies")]
    Anomalies(AnomaliesArgs),
    /// Set or list budgets
    #[command(subcommand)]
    Budget(Budget),
}

/// Show what a project cost
#[derive(Args, Debug)]
pub(crate) struct SummaryArgs {
    #[command(flatten)]
    place: InProject,
    /// Added up by epic
    #[arg(long, conflicts_with = "by_agent")]
    by_epic: bool,
    /// Added up by agent
    #[arg(long)]
    by_agent: bool,
    #[command(flatten)]
    page: PageArgs,
}

#[derive(Args, Debug)]
pub(crate) struct TokenReportArgs {
    /// The story: number or id
    #[arg(long, value_name = "STORY")]
    story: String,
    #[command(flatten)]
    place: InProject,
}

/// Record what a step of work used; without numbers, show what the story used
#[derive(Args, Debug)]
pub(crate) struct UsageArgs {
    /// The story: number or id
    #[arg(long, value_name = "STORY")]
    story: String,
    #[command(flatten)]
    place: InProject,
    /// Tokens read by the model
    #[arg(long, value_name = "N", requires_all = ["output", "model", "cost"])]
    input: Option<u64>,
    /// Tokens written by the model
    #[arg(long, value_name = "N", requires = "input")]
    output: Option<u64>,
    /// Which model
    #[arg(long, value_name = "NAME", requires = "input")]
    model: Option<String>,
    /// What it cost, in thousandths of a cent
    #[arg(long, value_name = "MILLICENTS", requires = "input")]
    cost: Option<u64>,
    /// planning, implementing, reviewing or other
    #[arg(long, value_name = "PHASE", requires = "input")]
    phase: Option<String>,
}

/// List stories that cost far more or less than their neighbours
#[derive(Args, Debug)]
pub(crate) struct AnomaliesArgs {
    #[command(flatten)]
    place: InProject,
    /// Those that were settled too
    #[arg(long)]
    include_resolved: bool,
    /// Settle this one, by its id; it is found again when the story costs something else
    #[arg(long, value_name = "ID", conflicts_with = "include_resolved")]
    settle: Option<String>,
    #[command(flatten)]
    page: PageArgs,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Budget {
    Set(BudgetArgs),
    /// List the budgets
    List(PageArgs),
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum Scope {
    Project,
    Epic,
    Story,
}

/// Say what a project, epic or story may cost
#[derive(Args, Debug)]
pub(crate) struct BudgetArgs {
    /// What it is for
    scope: Scope,
    /// Which one: number, slug or id
    which: String,
    /// How much, in thousandths of a cent; 100000 is one dollar
    #[arg(long, value_name = "N", conflicts_with = "dollars", required_unless_present = "dollars")]
    millicents: Option<u64>,
    /// How much, in dollars
    #[arg(long, value_name = "AMOUNT")]
    dollars: Option<String>,
    /// Warn at so many percent
    #[arg(long, value_name = "PERCENT")]
    alert: Option<u8>,
    #[command(flatten)]
    place: InProject,
}

impl Money {
    pub(super) fn needs_a_look_at_costs(&self) -> bool {
        matches!(self, Self::Anomalies(_))
    }

    pub(super) async fn play(self, desk: &Desk) -> Result<Shown, Fault> {
        match self {
            Self::CostSummary(args) => summary(args, desk).await,
            Self::TokenReport(args) => used(&args.story, &args.place, desk).await,
            Self::TokenUsage(args) if args.input.is_none() => used(&args.story, &args.place, desk).await,
            Self::TokenUsage(args) => {
                let body = json!({
                    "story_id": desk.story(&args.story, args.place.named()).await?, "input_tokens": args.input,
                    "output_tokens": args.output, "model_name": args.model, "cost_millicents": args.cost,
                    "phase": args.phase,
                });
                desk.post("/token-usage", body).await.map(Shown::thing)
            }
            Self::Anomalies(args) => {
                const ANOMALIES: Columns = &[
                    ("STORY", "story_number"),
                    ("WHAT", "anomaly_type"),
                    ("MILLICENTS", "story_cost_millicents"),
                    ("FACTOR", "deviation_factor"),
                    ("ID", "id"),
                ];
                if let Some(id) = &args.settle {
                    let path = format!("/cost-anomalies/{}", escaped(id));
                    let answer = desk.send(Method::Patch, &path, &[], json!({ "resolved": true })).await?;
                    return Ok(Shown::said(answer, format!("{id} is settled")));
                }
                let project = desk.project(args.place.named()).await?;
                let resolved = (!args.include_resolved).then(|| "false".to_owned());
                let query = args.page.with([("project_id", Some(project)), ("resolved", resolved)]);
                Ok(Shown::rows(desk.get("/cost-anomalies", &query).await?, ANOMALIES))
            }
            Self::Budget(Budget::List(page)) => {
                const BUDGETS: Columns = &[
                    ("FOR", "scope_type"),
                    ("WHICH", "scope_name"),
                    ("MILLICENTS", "budget_millicents"),
                    ("SPENT", "spent.cost_millicents"),
                ];
                Ok(Shown::rows(desk.get("/token-budgets", &page.query()).await?, BUDGETS))
            }
            Self::Budget(Budget::Set(args)) => set_budget(args, desk).await,
        }
    }
}

async fn used(story: &str, place: &InProject, desk: &Desk) -> Result<Shown, Fault> {
    const USAGE: Columns = &[
        ("PHASE", "phase"),
        ("MODEL", "model_name"),
        ("IN", "input_tokens"),
        ("OUT", "output_tokens"),
        ("MILLICENTS", "cost_millicents"),
    ];
    let query = desk.in_project(place.named()).await?;
    Ok(Shown::rows(desk.get(&story_path(story, "/token-usage"), &query).await?, USAGE))
}

async fn summary(args: SummaryArgs, desk: &Desk) -> Result<Shown, Fault> {
    let project = desk.project(args.place.named()).await?;
    let query = args.page.with([("project_id", Some(project.clone()))]);
    let query = &query;
    let by = |path: &'static str| async move { desk.get(path, query).await };
    if args.by_epic {
        const EPICS: Columns =
            &[("EPIC", "epic_number"), ("MILLICENTS", "cost_millicents"), ("TITLE", "epic_title")];
        return Ok(Shown::rows(by("/analytics/epics").await?, EPICS));
    }
    if args.by_agent {
        const AGENTS: Columns =
            &[("AGENT", "agent_name"), ("MILLICENTS", "cost_millicents"), ("ID", "agent_id")];
        return Ok(Shown::rows(by("/analytics/agents").await?, AGENTS));
    }
    desk.get(&format!("/analytics/projects/{project}"), &[]).await.map(Shown::thing)
}

async fn set_budget(args: BudgetArgs, desk: &Desk) -> Result<Shown, Fault> {
    let place = args.place.named();
    let (scope, id) = match args.scope {
        Scope::Project => ("project", desk.project(Some(&args.which)).await?),
        Scope::Epic => ("epic", desk.epic(&args.which, place).await?),
        Scope::Story => ("story", desk.story(&args.which, place).await?),
    };
    let millicents = match (args.millicents, &args.dollars) {
        (Some(millicents), _) => millicents,
        (None, Some(dollars)) => millicents_of(dollars).ok_or_else(|| {
            Fault::new(Code::BadArgument, format!("`{dollars}` is no amount of dollars such as 2.50"))
        })?,
        (None, None) => 0,
    };
    let body = json!({
        "scope_type": scope, "scope_id": id, "budget_millicents": millicents, "alert_threshold_pct": args.alert,
    });
    desk.post("/token-budgets", body).await.map(Shown::thing)
}

/// Money is never a fraction: at most five places after the point, which is one thousandth of a cent.
fn millicents_of(dollars: &str) -> Option<u64> {
    let (whole, part) =
        dollars.trim_start_matches('$').split_once('.').unwrap_or((dollars.trim_start_matches('$'), ""));
    let digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    if part.len() > 5 || !digits(part) || !digits(whole) || whole.is_empty() {
        return None;
    }
    let part: u64 = format!("{part:0<5}").parse().ok()?;
    whole.parse::<u64>().ok()?.checked_mul(100_000)?.checked_add(part)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dollars_become_thousandths_of_a_cent_without_rounding() {
        assert_eq!(millicents_of("2.50"), Some(250_000));
        assert_eq!(millicents_of("$1"), Some(100_000));
        assert_eq!(millicents_of("0.00001"), Some(1));
        for wrong in ["", "1.000001", "-1", "1e3", "a"] {
            assert_eq!(millicents_of(wrong), None, "{wrong}");
        }
    }
}
