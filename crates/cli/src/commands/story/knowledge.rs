//! Articles: what was learned, for the next agent.

use super::shown::{Columns, Shown};
use super::{InProject, PageArgs};
use crate::stories::Desk;
use clap::{Args, Subcommand};
use serde_json::json;
use std::path::PathBuf;
use windlass_control_api::stories::escaped;
use windlass_control_api::{Code, Fault};

const ARTICLES: Columns = &[("ID", "id"), ("STATUS", "status"), ("CATEGORY", "category"), ("TITLE", "title")];

#[derive(Debug, Subcommand)]
pub(crate) enum Knowledge {
    /// List what is known
    Index {
        #[command(flatten)]
        place: InProject,
        #[command(flatten)]
        page: PageArgs<500>,
    },
    Search(SearchArgs),
    /// Print an article
    Get {
        /// Its id
        id: String,
    },
    Create(CreateArgs),
    /// Publish a draft
    Publish {
        /// Its id
        id: String,
    },
    /// Put an article away
    Archive {
        /// Its id
        id: String,
    },
    /// List the drafts that wait
    Drafts {
        #[command(flatten)]
        place: InProject,
        #[command(flatten)]
        page: PageArgs,
    },
    /// Find what is stale, orphaned or contradicting
    Lint {
        #[command(flatten)]
        place: InProject,
    },
}

/// Find articles by words
#[derive(Args, Debug)]
pub(crate) struct SearchArgs {
    /// The words
    words: String,
    #[command(flatten)]
    place: InProject,
    /// Only of this category
    #[arg(long)]
    category: Option<String>,
    #[command(flatten)]
    page: PageArgs,
}

/// Write a draft from a file
#[derive(Args, Debug)]
pub(crate) struct CreateArgs {
    /// Its title
    title: String,
    /// Its text, in Markdown
    #[arg(long)]
    file: PathBuf,
    /// pattern, convention, decision, finding or reference
    #[arg(long)]
    category: String,
    /// Tags, with commas between them
    #[arg(long, value_delimiter = ',')]
    tags: Vec<String>,
    #[command(flatten)]
    place: InProject,
}

impl Knowledge {
    pub(super) async fn play(self, desk: &Desk) -> Result<Shown, Fault> {
        match self {
            Self::Index { place, page } => list("/knowledge/index", &place, &page.query(), desk).await,
            Self::Search(args) => {
                let more = args.page.with([("q", Some(args.words)), ("category", args.category)]);
                list("/knowledge/search", &args.place, &more, desk).await
            }
            Self::Get { id } => {
                Ok(Shown::text(desk.get(&format!("/articles/{}", escaped(&id)), &[]).await?, "body"))
            }
            Self::Create(args) => {
                let body = std::fs::read_to_string(&args.file).map_err(|error| {
                    Fault::new(Code::BadArgument, format!("cannot read {}: {error}", args.file.display()))
                })?;
                let project = project(&args.place, desk).await?;
                let body = json!({
                    "title": args.title, "body": body, "category": args.category, "tags": args.tags,
                    "project_id": project,
                });
                desk.post("/articles", body).await.map(Shown::thing)
            }
            Self::Publish { id } => {
                let answer = desk.post(&format!("/articles/{}/publish", escaped(&id)), json!({})).await?;
                Ok(Shown::said(answer, format!("{id} is published")))
            }
            Self::Archive { id } => {
                let answer = desk.post(&format!("/articles/{}/archive", escaped(&id)), json!({})).await?;
                Ok(Shown::said(answer, format!("{id} is archived")))
            }
            Self::Drafts { place, page } => list("/knowledge/drafts", &place, &page.query(), desk).await,
            Self::Lint { place } => {
                let query = [("project_id", project(&place, desk).await?)];
                desk.get("/knowledge/lint", &query).await.map(Shown::thing)
            }
        }
    }
}

async fn project(place: &InProject, desk: &Desk) -> Result<Option<String>, Fault> {
    match place.named() {
        Some(named) => desk.project(Some(named)).await.map(Some),
        None => Ok(None),
    }
}

async fn list(
    path: &str,
    place: &InProject,
    more: &[(&'static str, Option<String>)],
    desk: &Desk,
) -> Result<Shown, Fault> {
    let mut query = vec![("project_id", project(place, desk).await?)];
    query.extend_from_slice(more);
    Ok(Shown::rows(desk.get(path, &query).await?, ARTICLES))
}
