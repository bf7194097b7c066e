//! Verbs of the chain of custody: dispatches, capability tokens, artifacts, and the proof that the log is whole.

use super::account::agent_id;
use super::shown::{Columns, Shown};
use super::{InProject, OneStory, json_object};
use crate::stories::{Desk, story_path};
use clap::{Args, Subcommand, ValueEnum};
use serde_json::{Value, json};
use std::path::PathBuf;
use windlass_control_api::stories::Method;
use windlass_control_api::{Code, Fault};

const ARTIFACTS: Columns =
    &[("TYPE", "artifact_type"), ("EXISTS", "exists"), ("BY", "reported_by"), ("PATH", "path")];

#[derive(Debug, Subcommand)]
pub(crate) enum Custody {
    Dispatch(DispatchArgs),
    RecoverCap(RecoverArgs),
    Artifacts(ArtifactsArgs),
    Verifications(VerificationsArgs),
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum DispatchRole {
    Agent,
    Orchestrator,
}

/// Make a key for a sub-agent, below whoever asks; it is shown once
#[derive(Args, Debug)]
pub(crate) struct DispatchArgs {
    /// What the sub-agent may be
    #[arg(long, default_value = "agent")]
    role: DispatchRole,
    /// Which agent it is: name or id
    #[arg(long, value_name = "AGENT")]
    agent: String,
    /// The story it is for: number or id
    #[arg(long, value_name = "STORY")]
    story: Option<String>,
    /// The dispatch above it
    #[arg(long, value_name = "ID")]
    parent: Option<String>,
    /// For how long, 60 to 14400
    #[arg(long, value_name = "SECONDS")]
    expires_in: Option<u32>,
    #[command(flatten)]
    place: InProject,
}

/// Get a new capability token for one that was lost
#[derive(Args, Debug)]
pub(crate) struct RecoverArgs {
    #[command(flatten)]
    story: OneStory,
    /// start_cap, report_cap, verify_cap or review_complete_cap
    #[arg(long = "type", value_name = "TYPE")]
    kind: Option<String>,
}

/// List what a story is said to have produced, or add to it
#[derive(Args, Debug)]
pub(crate) struct ArtifactsArgs {
    #[command(flatten)]
    story: OneStory,
    /// Add this, as JSON: artifact_type, path, exists, details
    #[arg(long, value_name = "JSON")]
    add: Option<String>,
}

/// List every verdict on a story
#[derive(Args, Debug)]
pub(crate) struct VerificationsArgs {
    #[command(flatten)]
    story: OneStory,
}

/// Check the tenant's whole chain: every entry, the tree heads, their signatures
#[derive(Args, Debug)]
pub(crate) struct AuditVerifyArgs {}

/// Write the chain to a file that anybody can check
#[derive(Args, Debug)]
pub(crate) struct AuditExportArgs {
    /// Where to
    file: PathBuf,
}

impl Custody {
    pub(super) async fn play(self, desk: &Desk) -> Result<Shown, Fault> {
        match self {
            Self::Dispatch(args) => dispatch(args, desk).await,
            Self::RecoverCap(args) => {
                let query = desk.in_project(args.story.place.named()).await?;
                let path = story_path(&args.story.story, "/recover-cap");
                let body = json!({ "cap_type": args.kind });
                desk.send(Method::Post, &path, &query, body).await.map(Shown::thing)
            }
            Self::Artifacts(args) => {
                let query = desk.in_project(args.story.place.named()).await?;
                let path = story_path(&args.story.story, "/artifacts");
                match &args.add {
                    Some(text) => {
                        let body = json_object("--add", text)?;
                        desk.send(Method::Post, &path, &query, body).await.map(Shown::thing)
                    }
                    None => Ok(Shown::rows(desk.get(&path, &query).await?, ARTIFACTS)),
                }
            }
            Self::Verifications(args) => {
                const VERDICTS: Columns = &[
                    ("ITERATION", "iteration"),
                    ("RESULT", "result"),
                    ("WHEN", "inserted_at"),
                    ("SUMMARY", "summary"),
                ];
                let query = desk.in_project(args.story.place.named()).await?;
                Ok(Shown::rows(
                    desk.get(&story_path(&args.story.story, "/verifications"), &query).await?,
                    VERDICTS,
                ))
            }
        }
    }
}

async fn dispatch(args: DispatchArgs, desk: &Desk) -> Result<Shown, Fault> {
    let story = match &args.story {
        Some(story) => Some(desk.story(story, args.place.named()).await?),
        None => None,
    };
    let body = json!({
        "role": format!("{:?}", args.role).to_lowercase(), "agent_id": agent_id(&args.agent, desk).await?,
        "story_id": story, "parent_dispatch_id": args.parent, "expires_in_seconds": args.expires_in,
    });
    desk.post("/dispatches", body).await.map(Shown::thing)
}

pub(super) async fn audit_verify(_: AuditVerifyArgs, desk: &Desk) -> Result<Shown, Fault> {
    let answer = desk.get("/audit/verify", &[]).await?;
    let whole = ["valid", "verified", "ok"]
        .iter()
        .find_map(|field| answer.get(field).or_else(|| answer["data"].get(field)));
    if whole.is_some_and(|value| value == &Value::Bool(true)) {
        let entries =
            answer.pointer("/data/entries").or_else(|| answer.get("entries")).cloned().unwrap_or_default();
        return Ok(Shown::said(answer, format!("the chain is whole: {entries} entries")));
    }
    let message = format!("the audit chain does not hold: {answer}");
    Err(Fault::new(Code::NotVerified, message).hint("keep a copy of the data directory before anything else"))
}

pub(super) async fn audit_export(args: AuditExportArgs, desk: &Desk) -> Result<Shown, Fault> {
    let answer = desk.get("/audit/export", &[]).await?;
    let text = answer.as_str().map_or_else(|| answer.to_string(), str::to_owned);
    std::fs::write(&args.file, text).map_err(|error| {
        Fault::new(Code::FileSystem, format!("cannot write {}: {error}", args.file.display()))
    })?;
    let sentence = format!("written to {}", args.file.display());
    Ok(Shown::said(json!({ "file": args.file }), sentence))
}
