//! Who the orchestrator is at the queue: four parts, played by agents with keys of their own, so that nobody can close their
//! own work. Their keys are in no file, for the agents that are started here could read it: each process makes its own, and
//! only who they are is kept. What each of them may do is decided by the queue.

use super::queue::{Queue, Refused, inner, text_of};
use crate::fault::{bug, file_fault};
use crate::state_dir::make_private;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::io::Write as _;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use windlass_control_api::stories::{Method, escaped};
use windlass_control_api::{Code, Fault};

const FILE: &str = "identities.json";
/// Before the slot of somebody whose part is over. They stay known: what they did was done here.
const RETIRED: &str = "retired ";
const IMPLEMENTER: &str = "implementer ";

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Part {
    /// A fresh one for each attempt at a story.
    Implementer {
        story: String,
        attempt: u32,
    },
    Reporter,
    Reviewer,
    Verifier,
}

impl Part {
    fn slot(&self) -> String {
        match self {
            Self::Implementer { story, attempt } => format!("{IMPLEMENTER}{story} {attempt}"),
            Self::Reporter => "reporter".to_owned(),
            Self::Reviewer => "reviewer".to_owned(),
            Self::Verifier => "verifier".to_owned(),
        }
    }

    const fn word(&self) -> &'static str {
        match self {
            Self::Implementer { .. } => "implementer",
            Self::Reporter => "reporter",
            Self::Reviewer => "reviewer",
            Self::Verifier => "verifier",
        }
    }

    /// Reviews and verdicts are an orchestrator's; claims and reports an agent's.
    const fn orchestrates(&self) -> bool {
        matches!(self, Self::Reviewer | Self::Verifier)
    }
}

#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Identity {
    pub(super) name: String,
    /// The agent's id at the queue.
    pub(super) agent: String,
    key_id: String,
    /// What an implementer was made for; nothing for the other parts.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) claim: Option<Claim>,
    #[serde(skip)]
    pub(super) key: String,
}

/// What one attempt is about: these words, from this commit on. What comes of it counts for nothing else.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Claim {
    pub(super) base: String,
    pub(super) wording: String,
}

/// Who implemented a story in which attempt.
pub(super) struct Implemented {
    pub(super) story: String,
    pub(super) attempt: u32,
    pub(super) identity: Identity,
}

pub(super) struct Identities<'a> {
    queue: &'a Queue<'a>,
    user_key: String,
    file: PathBuf,
    kept: RefCell<BTreeMap<String, Identity>>,
    /// Attempts go on side by side; two that need the same part must not make two agents for it.
    making: tokio::sync::Mutex<()>,
}

impl<'a> Identities<'a> {
    /// In a directory of the project: two orchestrations of one tenant would take each other's keys away. Older versions kept them
    /// beside it, for all projects.
    pub(super) fn open(queue: &'a Queue<'a>, user_key: String, directory: &Path) -> Result<Self, Fault> {
        let file = directory.join(FILE);
        let kept = match kept_in(&file)? {
            Some(kept) => kept,
            None => kept_in(&directory.with_file_name(FILE))?.unwrap_or_default(),
        };
        Ok(Self { queue, user_key, file, kept: RefCell::new(kept), making: tokio::sync::Mutex::new(()) })
    }

    pub(super) fn user_key(&self) -> &str {
        &self.user_key
    }

    /// The agent that played this part, if anybody did.
    pub(super) fn known(&self, part: &Part) -> Option<Identity> {
        self.kept.borrow().get(&part.slot()).cloned()
    }

    /// The agents that ever played this part, also those that are retired.
    pub(super) fn ever(&self, part: &Part) -> Vec<String> {
        let slot = part.slot();
        let kept = self.kept.borrow();
        let plays = |name: &str| {
            let name = name.strip_prefix(RETIRED).unwrap_or(name);
            name.strip_prefix(&slot).is_some_and(|rest| rest.is_empty() || rest.starts_with(" was "))
        };
        kept.iter().filter(|(name, _)| plays(name)).map(|(_, one)| one.agent.clone()).collect()
    }

    /// Everybody who implemented something here, also those that are retired.
    pub(super) fn implementers(&self) -> Vec<Implemented> {
        let kept = self.kept.borrow();
        let read = |(slot, identity): (&String, &Identity)| {
            let slot = slot.strip_prefix(RETIRED).unwrap_or(slot);
            let (story, attempt) = slot.strip_prefix(IMPLEMENTER)?.split_once(' ')?;
            let attempt = attempt.split(' ').next()?.parse().ok()?;
            Some(Implemented { story: story.to_owned(), attempt, identity: identity.clone() })
        };
        kept.iter().filter_map(read).collect()
    }

    /// Whoever implements in this attempt, made for this very claim.
    pub(super) async fn of_claim(&self, part: &Part, claim: Claim) -> Result<Identity, Fault> {
        self.played(part, Some(claim)).await
    }

    /// Whoever plays this part, made where nobody does yet or where the queue no longer knows the agent.
    pub(super) async fn of(&self, part: &Part) -> Result<Identity, Fault> {
        self.played(part, None).await
    }

    async fn played(&self, part: &Part, claim: Option<Claim>) -> Result<Identity, Fault> {
        let _one_at_a_time = self.making.lock().await;
        let renewed = match self.known(part) {
            Some(known) if !known.key.is_empty() => return Ok(known),
            Some(known) => self.renewed(known, part).await?,
            None => None,
        };
        let made = if let Some(renewed) = renewed {
            renewed
        } else {
            if let Some(gone) = self.known(part) {
                let slot = format!("{RETIRED}{} was {}", part.slot(), gone.agent);
                self.kept.borrow_mut().insert(slot, gone);
            }
            Identity { claim, ..self.make(part).await? }
        };
        self.kept.borrow_mut().insert(part.slot(), made.clone());
        self.save()?;
        Ok(made)
    }

    /// An attempt is over: its key opens nothing any more.
    pub(super) async fn retire(&self, part: &Part) -> Result<(), Fault> {
        let Some(known) = self.known(part) else { return Ok(()) };
        self.revoke(&known.key_id).await?;
        let slot = part.slot();
        let mut kept = self.kept.borrow_mut();
        kept.remove(&slot);
        kept.insert(format!("{RETIRED}{slot}"), known);
        drop(kept);
        self.save()
    }

    /// The same agent with another key; the one of the process before opens nothing any more.
    async fn renewed(&self, known: Identity, part: &Part) -> Result<Option<Identity>, Fault> {
        let role = if part.orchestrates() { "orchestrator" } else { "agent" };
        self.revoke(&known.key_id).await?;
        let mut made = self.new_key(&known.name, role, Some(&known.agent)).await?;
        if made.as_ref().is_err_and(|refused| refused.status == 409) {
            // A process before this one died between making a key and noting it.
            self.revoke_all_of(&known.agent).await?;
            made = self.new_key(&known.name, role, Some(&known.agent)).await?;
        }
        Ok(made.ok().map(|(key_id, key)| Identity { key_id, key, ..known }))
    }

    async fn revoke(&self, key_id: &str) -> Result<(), Fault> {
        let path = format!("/api_keys/{}", escaped(key_id));
        let _already_gone = self.ask(Method::Delete, &path, &self.user_key, &json!({})).await?;
        Ok(())
    }

    async fn revoke_all_of(&self, agent: &str) -> Result<(), Fault> {
        for page in 1_u32.. {
            let page = page.to_string();
            let query = [("page", page.as_str()), ("page_size", "100")];
            let answer = self.queue.get(&self.user_key, "/api_keys", &query).await?;
            let keys = answer["data"].as_array().cloned().unwrap_or_default();
            if keys.is_empty() {
                break;
            }
            for key in keys.iter().filter(|key| key["agent_id"] == agent) {
                self.revoke(&text_of(key, "id")).await?;
            }
        }
        Ok(())
    }

    async fn make(&self, part: &Part) -> Result<Identity, Fault> {
        let name = format!("windlass-{}-{}", part.word(), crate::control::start::new_run_id()?);
        let doing = format!("make the identity {name}");
        let refused = |refused: Refused| {
            refused.fault(&doing).hint("a key of role user is needed: `windlass story login --key KEY`")
        };
        let (first, raw) = self.new_key(&name, "agent", None).await?.map_err(refused)?;
        let kind = if part.orchestrates() { "orchestrator" } else { "implementer" };
        let body =
            json!({ "name": name, "agent_type": kind, "metadata": { "made_by": "windlass orchestrate" } });
        let registered = self.ask(Method::Post, "/agents/register", &raw, &body).await?.map_err(refused)?;
        let agent = text_of(inner(&registered, "agent"), "id");
        let (key_id, key) = if part.orchestrates() {
            let second = self.new_key(&name, "orchestrator", Some(&agent)).await?.map_err(refused)?;
            // Served its purpose: the agent is registered, and one key for one part is enough.
            self.revoke(&first).await?;
            second
        } else {
            (first, raw)
        };
        Ok(Identity { name, agent, key_id, claim: None, key })
    }

    async fn new_key(
        &self,
        name: &str,
        role: &str,
        agent: Option<&str>,
    ) -> Result<Result<(String, String), Refused>, Fault> {
        let mut body = json!({ "name": name, "role": role });
        if let Some(agent) = agent {
            body["agent_id"] = json!(agent);
        }
        let said = self.ask(Method::Post, "/api_keys", &self.user_key, &body).await?;
        Ok(said.map(|answer| {
            let raw = answer["raw_key"].as_str().or_else(|| inner(&answer, "api_key")["raw_key"].as_str());
            (text_of(inner(&answer, "api_key"), "id"), raw.unwrap_or_default().to_owned())
        }))
    }

    async fn ask(
        &self,
        method: Method,
        path: &str,
        key: &str,
        body: &Value,
    ) -> Result<super::queue::Said, Fault> {
        self.queue.send((method, path), key, None, body).await
    }

    fn save(&self) -> Result<(), Fault> {
        let text = serde_json::to_vec_pretty(&*self.kept.borrow()).map_err(|error| bug(error.to_string()))?;
        write_private(&self.file, &text)
    }
}

fn kept_in(file: &Path) -> Result<Option<BTreeMap<String, Identity>>, Fault> {
    match std::fs::read(file) {
        Ok(bytes) => serde_json::from_slice(&bytes).map(Some).map_err(|error| {
            Fault::new(Code::BadSettings, format!("{} cannot be read: {error}", file.display()))
                .hint("remove the file; new identities are made then")
        }),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(file_fault("read", file, &error)),
    }
}

/// Whole or not at all, and for its owner alone.
fn write_private(file: &Path, content: &[u8]) -> Result<(), Fault> {
    if let Some(folder) = file.parent() {
        make_private(folder)?;
    }
    let fresh = file.with_extension("new");
    let _ = std::fs::remove_file(&fresh);
    let written = std::fs::OpenOptions::new()
        .write(true)
        .create_new(true)
        .mode(0o600)
        .open(&fresh)
        .and_then(|mut out| {
            out.write_all(content)?;
            out.sync_all()
        })
        .and_then(|()| std::fs::rename(&fresh, file));
    written.map_err(|error| file_fault("write", file, &error))
}
