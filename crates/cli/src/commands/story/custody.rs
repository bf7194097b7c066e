//! Verbs of the chain of custody: dispatches, capability tokens, artifacts, and the proof that the log is whole.

use super::account::agent_id;
use super::shown::{Columns, Shown};
use super::{InProject, OneStory, PageArgs, json_object};
use crate::stories::{Desk, story_path};
use clap::{Args, Subcommand, ValueEnum};
use serde_json::json;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use windlass_control_api::stories::{Method, escaped};
use windlass_control_api::{Code, Fault};
use windlass_custody_proofs::export::{Known, verify_export};
use windlass_custody_proofs::keys::PublicKey;

const ARTIFACTS: Columns =
    &[("TYPE", "artifact_type"), ("EXISTS", "exists"), ("BY", "reported_by"), ("PATH", "path")];

const VIOLATIONS: Columns = &[
    ("ID", "id"),
    ("KIND", "violation_type"),
    ("STATUS", "status"),
    ("WHEN", "inserted_at"),
    ("DETAIL", "detail"),
];

#[derive(Debug, Subcommand)]
#[command(defer = true)]
pub(crate) enum Custody {
    Dispatch(DispatchArgs),
    RecoverCap(RecoverArgs),
    Artifacts(ArtifactsArgs),
    Verifications(VerificationsArgs),
    Violations(ViolationsArgs),
    Settle(SettleArgs),
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
    #[command(flatten)]
    page: PageArgs,
}

/// List every verdict on a story
#[derive(Args, Debug)]
pub(crate) struct VerificationsArgs {
    #[command(flatten)]
    story: OneStory,
    #[command(flatten)]
    page: PageArgs,
}

/// List what was tried against custody
#[derive(Args, Debug)]
pub(crate) struct ViolationsArgs {
    /// Only these
    #[arg(long, value_name = "STATUS")]
    status: Option<ViolationStatus>,
    #[command(flatten)]
    page: PageArgs,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum ViolationStatus {
    Pending,
    Resolved,
    Ignored,
}

/// Settle a violation; never by who caused it
#[derive(Args, Debug)]
pub(crate) struct SettleArgs {
    /// The violation's id, as `story violations` lists it
    violation: String,
    /// Let it be, instead of calling it resolved
    #[arg(long)]
    ignore: bool,
    /// What was found
    #[arg(long, value_name = "TEXT")]
    note: Option<String>,
}

/// Check the tenant's whole chain here, not by asking: every entry, the tree heads, their signatures
#[derive(Args, Debug)]
pub(crate) struct AuditVerifyArgs {
    /// A chain that somebody exported; the tenant's own as it is now if not given
    file: Option<PathBuf>,
    /// The public key it must be signed with, PEM; the one in the chain if not given
    #[arg(long, value_name = "FILE")]
    public_key: Option<PathBuf>,
}

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
                    None => Ok(Shown::rows(desk.get(&path, &args.page.with(query)).await?, ARTIFACTS)),
                }
            }
            Self::Verifications(args) => {
                const VERDICTS: Columns = &[
                    ("ITERATION", "iteration"),
                    ("RESULT", "result"),
                    ("WHEN", "inserted_at"),
                    ("SUMMARY", "summary"),
                ];
                let query = args.page.with(desk.in_project(args.story.place.named()).await?);
                Ok(Shown::rows(
                    desk.get(&story_path(&args.story.story, "/verifications"), &query).await?,
                    VERDICTS,
                ))
            }
            Self::Violations(args) => {
                let status = args.status.map(|status| format!("{status:?}").to_lowercase());
                let query = args.page.with([("status", status)]);
                Ok(Shown::rows(desk.get("/violations", &query).await?, VIOLATIONS))
            }
            Self::Settle(args) => {
                let verb = if args.ignore { "ignore" } else { "resolve" };
                let path = format!("/violations/{}/{verb}", escaped(&args.violation));
                desk.post(&path, json!({ "note": args.note })).await.map(Shown::thing)
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

impl AuditVerifyArgs {
    /// A file is checked by whoever has it, without any queue.
    pub(super) fn needs_no_queue(&self) -> bool {
        self.file.is_some()
    }

    pub(super) fn of_file(&self) -> Result<Shown, Fault> {
        let file = self.file.as_deref().unwrap_or_else(|| Path::new("-"));
        check(&std::fs::read(file).map_err(|error| cannot_read(file, &error))?, self.public_key.as_deref())
    }
}

pub(super) async fn audit_verify(args: AuditVerifyArgs, desk: &Desk) -> Result<Shown, Fault> {
    check(exported(desk).await?.as_bytes(), args.public_key.as_deref())
}

async fn exported(desk: &Desk) -> Result<String, Fault> {
    let answer = desk.get("/audit/export", &[]).await?;
    Ok(answer.as_str().map_or_else(|| answer.to_string(), str::to_owned))
}

fn check(chain: &[u8], public_key: Option<&Path>) -> Result<Shown, Fault> {
    let key = match public_key {
        Some(file) => {
            let text = std::fs::read_to_string(file).map_err(|error| cannot_read(file, &error))?;
            let key = PublicKey::from_pem(&text).map_err(|_| {
                Fault::new(Code::BadArgument, format!("{} holds no public key", file.display()))
            })?;
            Some(key)
        }
        None => None,
    };
    match verify_export(chain, Known { key, heads: &[] }) {
        Ok(whole) => {
            let covered = whole.last.map_or(0, |last| last.position);
            let uncovered = whole.entries.saturating_sub(covered);
            let mut sentence =
                format!("the chain holds: {} entries, {} signed heads", whole.entries, whole.heads);
            if uncovered > 0 {
                let _ = write!(
                    sentence,
                    "\nno signed head covers the last {uncovered}: either they are of the last minute, or a process died \
                     before it signed, or heads were taken away"
                );
            }
            let value = json!({
                "holds": true, "tenant_id": whole.tenant, "entries": whole.entries, "heads": whole.heads,
                "uncovered_entries": uncovered,
                "key_fingerprint": whole.key.fingerprint(),
            });
            Ok(Shown::said(value, sentence))
        }
        Err(flawed) => {
            let place = flawed.row.map(|row| format!(" at entry {row}")).unwrap_or_default();
            Err(Fault::new(Code::NotVerified, format!("the chain does not hold{place}: {}", flawed.flaw))
                .hint("keep the file, and a copy of the server's data directory, before anything else"))
        }
    }
}

fn cannot_read(file: &Path, error: &std::io::Error) -> Fault {
    Fault::new(Code::BadArgument, format!("cannot read {}: {error}", file.display()))
}

pub(super) async fn audit_export(args: AuditExportArgs, desk: &Desk) -> Result<Shown, Fault> {
    let text = exported(desk).await?;
    std::fs::write(&args.file, text).map_err(|error| {
        Fault::new(Code::FileSystem, format!("cannot write {}: {error}", args.file.display()))
    })?;
    let sentence = format!("written to {}", args.file.display());
    Ok(Shown::said(json!({ "file": args.file }), sentence))
}
