//! Verbs about several stories at once. Each is decided as if it were alone; one that is refused is told by its number, and the
//! command does not end well then, whatever became of the others.

use super::shown::Shown;
use super::{InProject, Usual};
use crate::stories::Desk;
use clap::{Args, Subcommand, ValueEnum};
use serde_json::{Value, json};
use windlass_control_api::{Code, Fault};

#[derive(Debug, Subcommand)]
#[command(defer = true)]
pub(crate) enum Several {
    /// Do one thing to up to 50 stories
    #[command(subcommand)]
    Bulk(Bulk),
    VerifyAll(VerifyAllArgs),
}

#[derive(Debug, Subcommand)]
pub(crate) enum Bulk {
    /// Take contracted stories
    Claim(Stories),
    Verify(BulkVerifyArgs),
    /// Verify stories, each on its own evidence; as `bulk verify` with a pass
    MarkComplete(CompleteArgs),
    Reject(BulkRejectArgs),
}

#[derive(Args, Debug)]
pub(crate) struct Stories {
    /// The stories: numbers (US-3.1 or 3.1) or ids
    #[arg(value_name = "STORY", required = true)]
    stories: Vec<String>,
    #[command(flatten)]
    place: InProject,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum Verdict {
    Pass,
    Fail,
    Partial,
}

/// Say that reviewed stories are done, or that they are not
#[derive(Args, Debug)]
pub(crate) struct BulkVerifyArgs {
    #[command(flatten)]
    of: Stories,
    /// What the verification came to; fail rejects, partial leaves a story as it is
    #[arg(long, value_name = "RESULT", default_value = "pass")]
    result: Verdict,
    #[command(flatten)]
    words: Words,
}

#[derive(Args, Debug)]
pub(crate) struct CompleteArgs {
    #[command(flatten)]
    of: Stories,
    #[command(flatten)]
    words: Words,
}

/// Send stories back
#[derive(Args, Debug)]
pub(crate) struct BulkRejectArgs {
    #[command(flatten)]
    of: Stories,
    /// Why
    #[arg(long, value_name = "TEXT")]
    reason: String,
}

/// Verify every story of an epic that is reported and has no verdict
#[derive(Args, Debug)]
pub(crate) struct VerifyAllArgs {
    /// The epic: number or id
    epic: String,
    #[command(flatten)]
    place: InProject,
    #[command(flatten)]
    words: Words,
}

#[derive(Args, Debug)]
struct Words {
    /// In words
    #[arg(long, value_name = "TEXT")]
    summary: Option<String>,
    /// What kind of review it rests on
    #[arg(long, value_name = "TYPE")]
    review_type: Option<String>,
}

impl Several {
    /// Every one of these steps is somebody's work.
    pub(super) const fn usual() -> Usual {
        Usual::MustSay
    }

    pub(super) async fn play(self, desk: &Desk) -> Result<Shown, Fault> {
        match self {
            Self::Bulk(Bulk::Claim(of)) => {
                let project = project_of(&of.place, desk).await?;
                let body = json!({ "story_ids": of.stories, "project_id": project });
                told("claimed", desk.results("/stories/bulk/claim", body).await?)
            }
            Self::Bulk(Bulk::Verify(args)) => {
                let result = format!("{:?}", args.result).to_lowercase();
                let mut each = args.words.fields();
                each["result"] = json!(result);
                judged(("verify", &format!("judged ({result})")), &args.of, &each, desk).await
            }
            Self::Bulk(Bulk::MarkComplete(args)) => {
                judged(("mark-complete", "verified"), &args.of, &args.words.fields(), desk).await
            }
            Self::Bulk(Bulk::Reject(args)) => {
                judged(("reject", "sent back"), &args.of, &json!({ "reason": args.reason }), desk).await
            }
            Self::VerifyAll(args) => {
                let epic = desk.epic(&args.epic, args.place.named()).await?;
                let path = format!("/epics/{epic}/verify-all");
                told("verified", desk.results(&path, args.words.fields()).await?)
            }
        }
    }
}

impl Words {
    fn fields(&self) -> Value {
        json!({ "summary": self.summary, "review_type": self.review_type })
    }
}

async fn project_of(place: &InProject, desk: &Desk) -> Result<Option<String>, Fault> {
    match place.named() {
        Some(named) => desk.project(Some(named)).await.map(Some),
        None => Ok(None),
    }
}

async fn judged((verb, deed): (&str, &str), of: &Stories, each: &Value, desk: &Desk) -> Result<Shown, Fault> {
    let one = |story: &String| {
        let mut body = each.clone();
        body["story_id"] = json!(story);
        body
    };
    let stories: Vec<Value> = of.stories.iter().map(one).collect();
    let body = json!({ "stories": stories, "project_id": project_of(&of.place, desk).await? });
    told(deed, desk.results(&format!("/stories/bulk/{verb}"), body).await?)
}

fn told(deed: &str, answer: Value) -> Result<Shown, Fault> {
    let results = answer["results"].as_array().cloned().unwrap_or_default();
    let (done, refused): (Vec<&Value>, Vec<&Value>) =
        results.iter().partition(|one| one["status"] == "success");
    let names = |some: &[&Value]| some.iter().map(|one| name(one)).collect::<Vec<_>>().join(", ");
    let Some(first) = refused.first() else {
        let sentence =
            if done.is_empty() { "nothing to do".to_owned() } else { format!("{deed}: {}", names(&done)) };
        return Ok(Shown::said(answer, sentence));
    };
    let why =
        |one: &&Value| format!("{}: {}", name(one), one["error"]["message"].as_str().unwrap_or_default());
    let whys: Vec<String> = refused.iter().map(why).collect();
    let message = format!("{} of {} stories were refused; {}", refused.len(), results.len(), whys.join("; "));
    let mut fault = Fault::new(Code::StoryRefused, message);
    fault.case = first["error"]["code"].as_str().map(str::to_owned);
    if !done.is_empty() {
        fault = fault.kept(format!("{deed}: {}", names(&done)));
    }
    let mut hints: Vec<&str> =
        refused.iter().filter_map(|one| one["error"]["remediation"]["do"].as_str()).collect();
    hints.sort_unstable();
    hints.dedup();
    Err(hints.into_iter().fold(fault, Fault::hint))
}

fn name(one: &Value) -> String {
    match one["story"]["number"].as_str() {
        Some(number) => format!("US-{number}"),
        None => one["story_id"].as_str().unwrap_or_default().to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_refusal_among_several_is_told_with_what_was_done() {
        let answer = json!({ "results": [
            { "story_id": "a", "status": "success", "story": { "number": "1.1" } },
            { "story_id": "9.9", "status": "error", "error": { "message": "story not found", "code": "gone",
              "remediation": { "do": "look again" } } },
        ] });
        let Err(fault) = told("claimed", answer) else { panic!("one of them was refused") };
        assert_eq!(fault.message, "1 of 2 stories were refused; 9.9: story not found");
        assert_eq!((fault.case.as_deref(), fault.kept.as_str()), (Some("gone"), "claimed: US-1.1"));
        assert_eq!(fault.hints, ["look again"]);
        assert_ne!(fault.code.exit_code(), 0);
    }
}
