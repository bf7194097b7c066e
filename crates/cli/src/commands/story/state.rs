//! Checkpoints of an orchestrator. A save reads the version first and says it, so that nobody else's save is overwritten.

use super::shown::Shown;
use super::{InProject, PageArgs, json_object};
use crate::stories::{Desk, found};
use clap::{Args, Subcommand};
use serde_json::json;
use windlass_control_api::stories::Method;
use windlass_control_api::{Code, Fault};

#[derive(Debug, Subcommand)]
pub(crate) enum State {
    Save(SaveArgs),
    Load(LoadArgs),
    History(HistoryArgs),
}

/// Save a checkpoint over the one that is there
#[derive(Args, Debug)]
pub(crate) struct SaveArgs {
    #[command(flatten)]
    place: InProject,
    /// What to remember, as a JSON object
    #[arg(long, value_name = "JSON")]
    data: String,
    /// Which checkpoint
    #[arg(long, value_name = "KEY", default_value = "main")]
    key: String,
    /// Only over this version; the one that is there now if not given
    #[arg(long, value_name = "N")]
    version: Option<u64>,
}

/// List all versions of a checkpoint
#[derive(Args, Debug)]
pub(crate) struct HistoryArgs {
    #[command(flatten)]
    which: LoadArgs,
    #[command(flatten)]
    page: PageArgs,
}

/// Print a checkpoint
#[derive(Args, Debug)]
pub(crate) struct LoadArgs {
    #[command(flatten)]
    place: InProject,
    /// Which checkpoint
    #[arg(long, value_name = "KEY", default_value = "main")]
    key: String,
}

impl State {
    pub(super) async fn play(self, desk: &Desk) -> Result<Shown, Fault> {
        match self {
            Self::Save(args) => save(args, desk).await,
            Self::Load(args) => {
                let path = path(&args.place, desk).await?;
                desk.get(&path, &[("state_key", Some(args.key))]).await.map(Shown::thing)
            }
            Self::History(args) => {
                let path = format!("{}/history", path(&args.which.place, desk).await?);
                let query = args.page.with([("state_key", Some(args.which.key))]);
                let answer = desk.get(&path, &query).await?;
                Ok(Shown::rows(answer, &[("VERSION", "version"), ("WHEN", "saved_at"), ("BY", "saved_by")]))
            }
        }
    }
}

async fn path(place: &InProject, desk: &Desk) -> Result<String, Fault> {
    Ok(format!("/orchestrator/state/{}", desk.project(place.named()).await?))
}

async fn save(args: SaveArgs, desk: &Desk) -> Result<Shown, Fault> {
    let data = json_object("--data", &args.data)?;
    let path = path(&args.place, desk).await?;
    let version = match args.version {
        Some(version) => version,
        None => match desk.get(&path, &[("state_key", Some(args.key.clone()))]).await {
            Ok(there) => found(&there)["version"].as_u64().unwrap_or(0),
            Err(fault) if fault.code == Code::StoryUnknown => 0,
            Err(fault) => return Err(fault),
        },
    };
    let body = json!({ "state_key": args.key, "state_data": data, "version": version });
    let answer = desk.send(Method::Put, &path, &[], body).await?;
    let version = found(&answer)["version"].as_u64().unwrap_or(version + 1);
    Ok(Shown::said(answer, format!("saved {} as version {version}", args.key)))
}
