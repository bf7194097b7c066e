//! Verbs that move a story through its life. Who may take which step is decided by the queue; here the words become calls.

use super::looking::number_of;
use super::shown::Shown;
use super::{OneStory, Usual, json_object};
use crate::stories::{Desk, found, story_path};
use clap::{Args, Subcommand, ValueEnum};
use serde_json::{Value, json};
use windlass_control_api::Fault;
use windlass_control_api::stories::{Method, escaped};

#[derive(Debug, Subcommand)]
#[command(defer = true)]
pub(crate) enum Work {
    Contract(ContractArgs),
    /// Take a contracted story
    Claim(OneStoryArgs),
    /// Begin work on a claimed story
    Start(WithCapability),
    /// Say that the work is finished and others may look at it
    RequestReview(OneStoryArgs),
    Report(ReportArgs),
    ReviewComplete(ReviewArgs),
    Verify(VerifyArgs),
    Criterion(CriterionArgs),
    Reject(RejectArgs),
    /// Give a claimed story back
    Unclaim(OneStoryArgs),
    /// Take a story from whoever has it
    ForceUnclaim(OneStoryArgs),
    Backfill(BackfillArgs),
    Release(ReleaseArgs),
}

/// Read a story and agree to it: shows its criteria and answers for title and number of them
#[derive(Args, Debug)]
pub(crate) struct ContractArgs {
    #[command(flatten)]
    story: OneStory,
}

#[derive(Args, Debug)]
pub(crate) struct OneStoryArgs {
    #[command(flatten)]
    story: OneStory,
}

#[derive(Args, Debug)]
pub(crate) struct WithCapability {
    #[command(flatten)]
    story: OneStory,
    /// The capability token for this step, where the tenant asks for one
    #[arg(long, value_name = "TOKEN")]
    capability: Option<String>,
}

/// Report a story done; never by who did it
#[derive(Args, Debug)]
pub(crate) struct ReportArgs {
    #[command(flatten)]
    with: WithCapability,
    /// What was made, as JSON: artifact_type, path, exists, details
    #[arg(long, value_name = "JSON")]
    artifact: Option<String>,
    /// What it used, as JSON: input_tokens, output_tokens, model_name, cost_millicents
    #[arg(long, value_name = "JSON")]
    token_usage: Option<String>,
}

/// Record a finished review; never by who did the work
#[derive(Args, Debug)]
pub(crate) struct ReviewArgs {
    #[command(flatten)]
    with: WithCapability,
    /// What kind of review it was
    #[arg(long = "type", value_name = "TYPE", default_value = "independent")]
    kind: String,
    /// How much was found
    #[arg(long, value_name = "N", default_value_t = 0)]
    findings: u32,
    /// How much of it was mended
    #[arg(long, value_name = "N", default_value_t = 0)]
    fixes: u32,
    /// How much of it turned out to be none
    #[arg(long, value_name = "N", default_value_t = 0)]
    disproved: u32,
    /// In words
    #[arg(long, value_name = "TEXT")]
    summary: Option<String>,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum Verdict {
    Pass,
    Fail,
    Partial,
}

/// Say that a reviewed story is done, or that it is not
#[derive(Args, Debug)]
pub(crate) struct VerifyArgs {
    #[command(flatten)]
    with: WithCapability,
    /// What the verification came to; fail rejects the story, partial leaves it as it is
    #[arg(long, value_name = "RESULT", default_value = "pass")]
    result: Verdict,
    /// In words; the reason where it is not a pass
    #[arg(long, value_name = "TEXT")]
    summary: Option<String>,
    /// What kind of review it rests on
    #[arg(long, value_name = "TYPE")]
    review_type: Option<String>,
    /// The commit that was looked at
    #[arg(long, value_name = "SHA")]
    commit: Option<String>,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum CriterionStatus {
    Verified,
    Failed,
    Unverifiable,
}

/// Say of one criterion whether it holds; a failed one keeps the story from being verified
#[derive(Args, Debug)]
pub(crate) struct CriterionArgs {
    #[command(flatten)]
    story: OneStory,
    /// Which one, such as AC-1
    #[arg(value_name = "CRITERION")]
    criterion: String,
    /// What was found
    #[arg(long, value_name = "STATUS")]
    status: CriterionStatus,
    /// Where that can be seen, or why it cannot
    #[arg(long, value_name = "TEXT")]
    evidence: Option<String>,
}

/// Send a story back
#[derive(Args, Debug)]
pub(crate) struct RejectArgs {
    #[command(flatten)]
    story: OneStory,
    /// Why
    #[arg(long, value_name = "TEXT")]
    reason: String,
}

/// Mark work as verified that was done before it ever entered the queue
#[derive(Args, Debug)]
pub(crate) struct BackfillArgs {
    #[command(flatten)]
    story: OneStory,
    /// Why it counts
    #[arg(long, value_name = "TEXT")]
    reason: String,
    /// Where it can be seen; this or the pull request is needed
    #[arg(long, value_name = "URL")]
    evidence_url: Option<String>,
    /// The pull request
    #[arg(long, value_name = "N")]
    pr_number: Option<u64>,
}

/// Let a story go on that is held because somebody tried to mark their own work
#[derive(Args, Debug)]
pub(crate) struct ReleaseArgs {
    #[command(flatten)]
    story: OneStory,
    /// Why it may go on
    #[arg(long, value_name = "TEXT")]
    reason: String,
}

impl Work {
    /// A person may review, backfill and release; every other step is an agent's or orchestrator's, who must be named.
    pub(super) fn usual(&self) -> Usual {
        match self {
            Self::ReviewComplete(_) | Self::Backfill(_) | Self::Release(_) => Usual::User,
            _ => Usual::MustSay,
        }
    }

    pub(super) async fn play(self, desk: &Desk) -> Result<Shown, Fault> {
        match self {
            Self::Contract(args) => contract(args.story, desk).await,
            Self::Claim(args) => step(args.story, "claim", json!({}), desk).await,
            Self::Start(args) => step(args.story, "start", json!({ "cap": args.capability }), desk).await,
            Self::RequestReview(args) => step(args.story, "request-review", json!({}), desk).await,
            Self::Report(args) => report(args, desk).await,
            Self::ReviewComplete(args) => {
                let body = json!({
                    "review_type": args.kind, "findings_count": args.findings, "fixes_count": args.fixes,
                    "disproved_count": args.disproved, "summary": args.summary,
                    "cap": args.with.capability,
                });
                step(args.with.story, "review-complete", body, desk).await
            }
            Self::Verify(args) => {
                let result = format!("{:?}", args.result).to_lowercase();
                let body = json!({
                    "result": result, "summary": args.summary, "review_type": args.review_type,
                    "commit_sha": args.commit, "cap": args.with.capability,
                });
                step(args.with.story, "verify", body, desk).await
            }
            Self::Criterion(args) => criterion(args, desk).await,
            Self::Reject(args) => step(args.story, "reject", json!({ "reason": args.reason }), desk).await,
            Self::Unclaim(args) => step(args.story, "unclaim", json!({}), desk).await,
            Self::ForceUnclaim(args) => step(args.story, "force-unclaim", json!({}), desk).await,
            Self::Backfill(args) => {
                let body = json!({
                    "reason": args.reason, "evidence_url": args.evidence_url, "pr_number": args.pr_number,
                });
                step(args.story, "backfill", body, desk).await
            }
            Self::Release(args) => step(args.story, "release", json!({ "note": args.reason }), desk).await,
        }
    }
}

/// Reads the story first: whoever agrees must have had it before their eyes.
async fn contract(story: OneStory, desk: &Desk) -> Result<Shown, Fault> {
    let query = desk.in_project(story.place.named()).await?;
    let read = desk.get(&story_path(&story.story, ""), &query).await?;
    let read = found(&read);
    let criteria = read["acceptance_criteria"].as_array().map_or(0, Vec::len);
    let body = json!({ "story_title": read["title"], "ac_count": criteria });
    let mut answer = desk.send(Method::Post, &story_path(&story.story, "/contract"), &query, body).await?;
    // The criteria are what was agreed to, so they are shown whatever the queue answers with.
    if let Some(fields) = answer.as_object_mut()
        && found(&Value::Object(fields.clone()))["acceptance_criteria"].is_null()
    {
        fields.insert("acceptance_criteria".to_owned(), read["acceptance_criteria"].clone());
    }
    Ok(Shown::thing(answer))
}

async fn report(args: ReportArgs, desk: &Desk) -> Result<Shown, Fault> {
    let object = |flag: &str, text: &Option<String>| match text {
        Some(text) => json_object(flag, text),
        None => Ok(Value::Null),
    };
    let body = json!({
        "artifact": object("--artifact", &args.artifact)?,
        "token_usage": object("--token-usage", &args.token_usage)?,
        "cap": args.with.capability,
    });
    step(args.with.story, "report", body, desk).await
}

async fn criterion(args: CriterionArgs, desk: &Desk) -> Result<Shown, Fault> {
    let query = desk.in_project(args.story.place.named()).await?;
    let tail = format!("/acceptance_criteria/{}", escaped(&args.criterion));
    let status = format!("{:?}", args.status).to_lowercase();
    let body = json!({ "status": status, "evidence_path": args.evidence });
    let answer = desk.send(Method::Post, &story_path(&args.story.story, &tail), &query, body).await?;
    let sentence = format!("{}: {} is {status}", number_of(&answer, &args.story.story), args.criterion);
    Ok(Shown::said(answer, sentence))
}

async fn step(story: OneStory, name: &str, body: Value, desk: &Desk) -> Result<Shown, Fault> {
    let query = desk.in_project(story.place.named()).await?;
    let path = story_path(&story.story, &format!("/{name}"));
    let answer = desk.send(Method::Post, &path, &query, body).await?;
    let thing = found(&answer);
    let status = |field: &str| thing[field].as_str().unwrap_or_default().replace('_', " ");
    let now = [status("agent_status"), status("verified_status")];
    let now: Vec<&str> = now.iter().map(String::as_str).filter(|word| !word.is_empty()).collect();
    let sentence = format!("{}: {name}; now {}", number_of(&answer, &story.story), now.join(", "));
    let sentence = sentence.trim_end_matches("; now ").to_owned();
    Ok(Shown::said(answer, sentence))
}
