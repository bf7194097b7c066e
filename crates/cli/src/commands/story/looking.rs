//! Verbs that only look: where things stand, what is next, what happened.

use super::shown::{Columns, STORIES, Shown};
use super::{InProject, OneStory, PageArgs};
use crate::stories::{Desk, found, story_path};
use clap::{Args, Subcommand};
use serde_json::{Value, json};
use windlass_control_api::Fault;

const BLOCKED: Columns = &[
    ("STORY", "number"),
    ("WORK", "agent_status"),
    ("WAITS FOR", "blocking_dependencies"),
    ("TITLE", "title"),
];
const CHANGES: Columns = &[
    ("SEQUENCE", "sequence"),
    ("WHEN", "inserted_at"),
    ("WHAT", "entity_type"),
    ("ACTION", "action"),
    ("BY", "actor_label"),
    ("ID", "entity_id"),
];

#[derive(Debug, Subcommand)]
#[command(defer = true)]
pub(crate) enum Looking {
    Status(StatusArgs),
    Next(NextArgs),
    Blocked(BlockedArgs),
    Pending(PendingArgs),
    List(ListArgs),
    Show(ShowArgs),
    Criteria(CriteriaArgs),
    History(HistoryArgs),
    Changes(ChangesArgs),
    Audit(AuditArgs),
}

/// Show where a project, an epic or a story stands
#[derive(Args, Debug)]
pub(crate) struct StatusArgs {
    /// A story: number (US-3.1 or 3.1) or id
    #[arg(value_name = "STORY", conflicts_with = "epic")]
    story: Option<String>,
    #[command(flatten)]
    place: InProject,
    /// An epic: number or id
    #[arg(long, value_name = "EPIC")]
    epic: Option<String>,
}

/// List the stories that can be begun now, the first first
#[derive(Args, Debug)]
pub(crate) struct NextArgs {
    #[command(flatten)]
    place: InProject,
    /// Only stories of this epic: number or id
    #[arg(long, value_name = "EPIC")]
    epic: Option<String>,
    #[command(flatten)]
    page: PageArgs<500>,
}

/// List the stories that wait for others, and for which
#[derive(Args, Debug)]
pub(crate) struct BlockedArgs {
    #[command(flatten)]
    place: InProject,
    #[command(flatten)]
    page: PageArgs<500>,
}

/// List the stories that were reported done and wait for their verification
#[derive(Args, Debug)]
pub(crate) struct PendingArgs {
    #[command(flatten)]
    place: InProject,
}

/// List the stories of a project
#[derive(Args, Debug)]
pub(crate) struct ListArgs {
    #[command(flatten)]
    place: InProject,
    /// Only those with this status of work
    #[arg(long, value_name = "STATUS")]
    work: Option<String>,
    /// Only those with this status of proof
    #[arg(long, value_name = "STATUS")]
    proof: Option<String>,
    /// Only stories of this epic: number or id
    #[arg(long, value_name = "EPIC")]
    epic: Option<String>,
    /// Rows at most
    #[arg(long, visible_alias = "page-size", value_name = "N", default_value_t = 500, value_parser = clap::value_parser!(u32).range(1..=500))]
    limit: u32,
    /// Which page of the list
    #[arg(long, value_name = "N", conflicts_with = "offset", value_parser = clap::value_parser!(u32).range(1..))]
    page: Option<u32>,
    /// Rows to pass over
    #[arg(long, value_name = "N", default_value_t = 0)]
    offset: u32,
}

/// Show one story
#[derive(Args, Debug)]
pub(crate) struct ShowArgs {
    #[command(flatten)]
    story: OneStory,
}

/// List what a story must fulfil
#[derive(Args, Debug)]
pub(crate) struct CriteriaArgs {
    #[command(flatten)]
    story: OneStory,
}

/// List everything that happened to a story
#[derive(Args, Debug)]
pub(crate) struct HistoryArgs {
    #[command(flatten)]
    story: OneStory,
    #[command(flatten)]
    page: PageArgs<500>,
}

/// List what changed since a moment, or since the last change seen
#[derive(Args, Debug)]
pub(crate) struct ChangesArgs {
    #[command(flatten)]
    place: InProject,
    /// A moment (2026-01-31T12:00:00Z), or the sequence number of the last change seen; from the beginning if not given
    #[arg(long, value_name = "SINCE", default_value = "0")]
    since: String,
    /// Changes at most
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1000))]
    limit: Option<u32>,
}

/// List the audit log, or check its chain with `audit verify`
#[derive(Args, Debug)]
#[command(args_conflicts_with_subcommands = true)]
pub(crate) struct AuditArgs {
    #[command(subcommand)]
    command: Option<AuditCommand>,
    #[command(flatten)]
    place: InProject,
    /// Only about things of this kind, such as story
    #[arg(long, value_name = "TYPE")]
    entity_type: Option<String>,
    /// Only this action, such as status_changed
    #[arg(long, value_name = "ACTION")]
    action: Option<String>,
    /// Only from this moment on
    #[arg(long, value_name = "WHEN")]
    since: Option<String>,
    #[command(flatten)]
    page: PageArgs,
}

#[derive(Debug, Subcommand)]
enum AuditCommand {
    Verify(super::custody::AuditVerifyArgs),
    Export(super::custody::AuditExportArgs),
}

impl Looking {
    /// What can be answered without any queue.
    pub(super) fn alone(&self) -> Option<Result<Shown, Fault>> {
        match self {
            Self::Audit(AuditArgs { command: Some(AuditCommand::Verify(verify)), .. })
                if verify.needs_no_queue() =>
            {
                Some(verify.of_file())
            }
            _ => None,
        }
    }

    pub(super) async fn play(self, desk: &Desk) -> Result<Shown, Fault> {
        match self {
            Self::Status(args) => status(args, desk).await,
            Self::Next(args) => {
                let project = desk.project(args.place.named()).await?;
                let epic = match &args.epic {
                    Some(epic) => Some(desk.epic(epic, Some(&project)).await?),
                    None => None,
                };
                let mut query = vec![("project_id", Some(project)), ("epic_id", epic)];
                query.extend(args.page.query());
                Ok(Shown::rows(desk.get("/stories/ready", &query).await?, STORIES))
            }
            Self::Blocked(args) => {
                let mut query = vec![("project_id", Some(desk.project(args.place.named()).await?))];
                query.extend(args.page.query());
                Ok(Shown::rows(desk.get("/stories/blocked", &query).await?, BLOCKED))
            }
            Self::Pending(args) => pending(args, desk).await,
            Self::List(args) => list(args, desk).await,
            Self::Show(args) => one(args.story, "", desk).await.map(Shown::thing),
            Self::Criteria(args) => {
                const CRITERIA: Columns = &[("ID", "id"), ("STATUS", "status"), ("CRITERION", "criterion")];
                Ok(Shown::rows(one(args.story, "/acceptance_criteria", desk).await?, CRITERIA))
            }
            Self::History(args) => {
                let mut query = desk.in_project(args.story.place.named()).await?.to_vec();
                query.extend(args.page.query());
                let answer = desk.get(&story_path(&args.story.story, "/history"), &query).await?;
                Ok(Shown::rows(answer, CHANGES))
            }
            Self::Changes(args) => {
                let project = match args.place.named() {
                    Some(named) => Some(desk.project(Some(named)).await?),
                    None => None,
                };
                let query = [
                    ("project_id", project),
                    ("since", Some(args.since)),
                    ("limit", args.limit.map(|n| n.to_string())),
                ];
                Ok(Shown::rows(desk.get("/changes", &query).await?, CHANGES))
            }
            Self::Audit(args) => audit(args, desk).await,
        }
    }
}

async fn one(story: OneStory, part: &str, desk: &Desk) -> Result<Value, Fault> {
    desk.get(&story_path(&story.story, part), &desk.in_project(story.place.named()).await?).await
}

async fn status(args: StatusArgs, desk: &Desk) -> Result<Shown, Fault> {
    if let Some(story) = args.story {
        return one(OneStory { story, place: args.place }, "", desk).await.map(Shown::thing);
    }
    if let Some(epic) = args.epic {
        let epic = desk.epic(&epic, args.place.named()).await?;
        return desk.get(&format!("/epics/{epic}/progress"), &[]).await.map(Shown::thing);
    }
    let project = desk.project(args.place.named()).await?;
    let query = [("include_cost", Some("true".to_owned()))];
    desk.get(&format!("/projects/{project}/progress"), &query).await.map(Shown::thing)
}

/// The queue filters by one status at a time and by page; this wants all with both.
async fn pending(args: PendingArgs, desk: &Desk) -> Result<Shown, Fault> {
    let project = desk.project(args.place.named()).await?;
    let mut rows = Vec::new();
    loop {
        let query = [
            ("project_id", Some(project.clone())),
            ("agent_status", Some("reported_done".to_owned())),
            ("limit", Some("500".to_owned())),
            ("offset", Some(rows.len().to_string())),
        ];
        let answer = desk.get("/stories", &query).await?;
        let page = answer["data"].as_array().cloned().unwrap_or_default();
        let last = page.len() < 500;
        rows.extend(page);
        if last {
            break;
        }
    }
    rows.retain(|row| row["verified_status"] != "verified");
    Ok(Shown::rows(json!({ "data": rows }), STORIES))
}

async fn list(args: ListArgs, desk: &Desk) -> Result<Shown, Fault> {
    let project = desk.project(args.place.named()).await?;
    let epic = match &args.epic {
        Some(epic) => Some(desk.epic(epic, Some(&project)).await?),
        None => None,
    };
    let passed_over = match args.page {
        Some(page) => u64::from(page - 1) * u64::from(args.limit),
        None => args.offset.into(),
    };
    let query = [
        ("project_id", Some(project)),
        ("agent_status", args.work),
        ("verified_status", args.proof),
        ("epic_id", epic),
        ("limit", Some(args.limit.to_string())),
        ("offset", Some(passed_over.to_string())),
    ];
    Ok(Shown::rows(desk.get("/stories", &query).await?, STORIES))
}

async fn audit(args: AuditArgs, desk: &Desk) -> Result<Shown, Fault> {
    match args.command {
        Some(AuditCommand::Verify(verify)) => return super::custody::audit_verify(verify, desk).await,
        Some(AuditCommand::Export(export)) => return super::custody::audit_export(export, desk).await,
        None => {}
    }
    let project = match args.place.named() {
        Some(named) => Some(desk.project(Some(named)).await?),
        None => None,
    };
    let mut query = vec![
        ("project_id", project),
        ("entity_type", args.entity_type),
        ("action", args.action),
        ("from", args.since),
    ];
    query.extend(args.page.query());
    Ok(Shown::rows(desk.get("/audit", &query).await?, CHANGES))
}

/// What a person calls it: `US-3.1`.
pub(super) fn number_of(answer: &Value, fallback: &str) -> String {
    found(answer)["number"].as_str().map_or_else(|| fallback.to_owned(), |number| format!("US-{number}"))
}
