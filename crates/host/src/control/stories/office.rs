//! What every attempt of one orchestration shares: the queue, who asks it, the repository, and how the work is done.

use super::checkpoint::Notes;
use super::identities::{Identities, Identity, Part};
use super::plan::Story;
use super::queue::{Queue, Said, inner, story_path};
use crate::host::Host;
use crate::settings::Settings;
use serde_json::{Value, json};
use std::path::PathBuf;
use windlass_control_api::Fault;
use windlass_control_api::events::{Event, Tone, Watcher};
use windlass_control_api::orchestration::{StartOrchestration, VerifiedStory};
use windlass_control_api::stories::Method;
use windlass_git_workspaces::{Checkout, Repository};

/// The queue's word for a capability that the story, as it stands, does not need.
const NOT_NOW: &str = "cap_not_recoverable";

pub(super) struct Office<'a> {
    pub(super) host: &'a Host,
    pub(super) command: &'a StartOrchestration,
    pub(super) watcher: &'a dyn Watcher,
    pub(super) queue: &'a Queue<'a>,
    pub(super) identities: &'a Identities<'a>,
    pub(super) notes: Notes<'a>,
    pub(super) project: Project,
    pub(super) checkout: Checkout,
    pub(super) repository: Repository,
    pub(super) settings: Settings,
    pub(super) place: Place,
    /// Copies of the repository, what the checks ran on, and prompts.
    pub(super) directory: PathBuf,
    /// One story lands at a time.
    pub(super) landing: tokio::sync::Mutex<()>,
    pub(super) verified: std::cell::RefCell<Vec<VerifiedStory>>,
    /// Stories that others move; they are left alone until the next orchestration.
    pub(super) let_go: std::cell::RefCell<std::collections::BTreeSet<String>>,
    /// Whether the tenant wants a capability with every step.
    pub(super) capabilities: bool,
    /// When the minutes are used up.
    pub(super) until: Option<crate::clock::Deadline>,
}

pub(super) struct Project {
    pub(super) id: String,
    pub(super) slug: String,
    pub(super) mission: String,
}

/// Where accepted stories go.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Place {
    Branch(String),
    /// The branch that is checked out, and the files with it.
    Current,
}

impl std::fmt::Display for Place {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Branch(branch) => f.write_str(branch),
            Self::Current => f.write_str("the branch that is checked out"),
        }
    }
}

impl Office<'_> {
    pub(super) fn say(&self, tone: Tone, text: impl Into<String>) {
        self.watcher.hear(&Event::News { text: text.into(), tone });
    }

    /// Copies of the repository, one for each attempt.
    pub(super) fn copies(&self) -> PathBuf {
        self.directory.join("copies")
    }

    /// What a person types to go on here.
    pub(super) fn again(&self) -> String {
        let usual = || format!("windlass orchestrate --project {}", self.project.slug);
        self.command.again.clone().unwrap_or_else(usual)
    }

    pub(super) async fn story(&self, id: &str) -> Result<Story, Fault> {
        let answer = self.queue.get(self.identities.user_key(), &story_path(id, ""), &[]).await?;
        Ok(Story::read(inner(&answer, "story")))
    }

    /// One step of a story, by whoever plays this part, under a name that is never used for another deed.
    pub(super) async fn step(
        &self,
        who: &Identity,
        (story, of): (&str, &str),
        step: &str,
        body: Value,
    ) -> Result<Said, Fault> {
        let mut body = body;
        if let Some(kind) = capability(step).filter(|_| self.capabilities) {
            let recovered = self
                .post(who, &story_path(story, "/recover-cap"), None, &json!({ "cap_type": kind }))
                .await?;
            match recovered {
                Ok(answer) => body["cap"] = json!(token(&answer)),
                // The story stands elsewhere, as after the step itself: what was done is answered again, and the queue says of
                // anything else why it cannot be.
                Err(refused) if refused.code == NOT_NOW => {}
                Err(refused) => return Ok(Err(refused)),
            }
        }
        let once = format!("windlass {} {story} {of} {step}", self.project.id);
        self.post(who, &story_path(story, &format!("/{step}")), Some(&once), &body).await
    }

    async fn post(
        &self,
        who: &Identity,
        path: &str,
        once: Option<&str>,
        body: &Value,
    ) -> Result<Said, Fault> {
        self.queue.send((Method::Post, path), &who.key, once, body).await
    }

    /// Why earlier attempts were sent back, the oldest first.
    pub(super) async fn sent_back(&self, story: &str) -> Result<Vec<String>, Fault> {
        let verifier = self.identities.of(&Part::Verifier).await?;
        let answer = self
            .queue
            .get(&verifier.key, &story_path(story, "/verifications"), &[("page_size", "100")])
            .await?;
        let all = inner(&answer, "verifications").as_array().into_iter().flatten();
        let failed = all.filter(|one| one["result"] != "pass");
        let mut said: Vec<(u64, String)> = failed
            .map(|one| {
                (
                    one["iteration"].as_u64().unwrap_or(0),
                    one["summary"].as_str().unwrap_or_default().to_owned(),
                )
            })
            .collect();
        said.sort();
        Ok(said.into_iter().map(|(_, summary)| summary).filter(|text| !text.is_empty()).collect())
    }
}

fn capability(step: &str) -> Option<&'static str> {
    match step {
        "start" => Some("start_cap"),
        "report" => Some("report_cap"),
        "review-complete" => Some("review_complete_cap"),
        "verify" => Some("verify_cap"),
        _ => None,
    }
}

/// Wherever the answer keeps the token's text.
fn token(answer: &Value) -> String {
    let places = ["cap", "capability", "capability_token", "data"];
    let found = places.iter().find_map(|place| answer.get(place)).unwrap_or(answer);
    let text = found.as_str().or_else(|| {
        ["token", "cap", "text", "id"].iter().find_map(|name| found.get(name).and_then(Value::as_str))
    });
    text.unwrap_or_default().to_owned()
}
