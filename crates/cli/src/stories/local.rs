//! The queue on this machine: one tenant, made at first use, and the keys of everybody who has spoken here, in a file that
//! only its owner can read. Who speaks is what the user says: this keeps roles apart, not people.

use super::config::write_private;
use super::desk::{Desk, found};
use crate::commands::story::Usual;
use serde_json::{Map, Value, json};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;
use windlass_control_api::stories::{Answering, Call, StoryApi, escaped};
use windlass_control_api::{Code, Fault};
use windlass_story_service::{DataDir, DataDirError, OpenQueue, OperatorError, OperatorName, WebhookReach};

const TENANT: &str = "local";
/// 30 seconds, of which the first tenth of one passes in silence: a command of a few milliseconds is not worth a word.
const PATIENCE: Patience = Patience { between: Duration::from_millis(20), silent: 5, looks: 1500 };
/// A receiver that does not answer makes a command longer by this much, a few times.
const WEBHOOK_PATIENCE: Duration = Duration::from_secs(3);

/// How long a command waits for one that has the queue open.
#[derive(Clone, Copy)]
struct Patience {
    between: Duration,
    /// Looks before it is said for whom.
    silent: u32,
    looks: u32,
}

impl Patience {
    fn seconds(self) -> u64 {
        (self.between * self.looks).as_secs()
    }
}

pub(crate) struct Local {
    queue: Arc<Queue>,
    keys: PathBuf,
    /// The raw key of the user, who makes everybody else's.
    user: String,
}

/// The service with the hold on its directory, which must last as long.
struct Queue {
    service: OpenQueue,
    _held: DataDir,
}

impl StoryApi for Queue {
    fn call(&self, call: Call) -> Answering<'_> {
        self.service.call(call)
    }
}

/// Who speaks at the local queue.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Speaker {
    role: &'static str,
    agent: Option<String>,
}

impl Speaker {
    pub(crate) fn user() -> Self {
        Self { role: "user", agent: None }
    }

    /// `user`, `agent:NAME`, `orchestrator:NAME`, or a role alone where the queue need not know who it is.
    pub(crate) fn chosen(said: Option<&str>, usual: Usual) -> Result<Self, Fault> {
        let Some(said) = said else {
            return match usual {
                Usual::User => Ok(Self::user()),
                Usual::Orchestrator => Ok(Self { role: "orchestrator", agent: None }),
                Usual::MustSay => Err(Fault::new(Code::StoryKey, "who takes this step?")
                    .hint("say it with `--as agent:NAME` or `--as orchestrator:NAME`")),
            };
        };
        let (role, agent) = match said.split_once(':') {
            Some((role, agent)) => (role, Some(agent.trim().to_owned())),
            None => (said, None),
        };
        let known = ["agent", "orchestrator", "user"].into_iter().find(|known| *known == role);
        match (known, agent) {
            (Some(role), agent) if agent.as_ref().is_none_or(|name| !name.is_empty()) => {
                Ok(Self { role, agent })
            }
            _ => Err(Fault::new(Code::BadArgument, format!("`{said}` is nobody who could speak"))
                .hint("`--as user`, `--as agent:NAME` or `--as orchestrator:NAME`")),
        }
    }

    fn name(&self) -> String {
        match &self.agent {
            Some(agent) => format!("{}:{agent}", self.role),
            None => self.role.to_owned(),
        }
    }
}

impl Local {
    /// Waits while another command has the queue open, which is a moment; who it is, is told to `waiting` at once. `who` is
    /// what others are told meanwhile. The tenant is made where there is none; one that was made and whose key was not kept
    /// gets another.
    pub(crate) async fn open(directory: &Path, who: &str, waiting: impl FnMut(&str)) -> Result<Self, Fault> {
        let held = hold(directory, who, PATIENCE, waiting).await?;
        let service = held.open().map_err(|error| unusable(&error, PATIENCE))?;
        // Whoever speaks here could call any address themselves.
        let service = service.with_webhook_reach(WebhookReach::Anywhere);
        service.require_keys().await.map_err(|error| not_set_up(&error))?;
        let file = directory.join("keys.json");
        let mut keys = read_keys(&file)?;
        let user = if let Some(key) = text(&keys, "user") {
            key
        } else {
            let tenants = service.tenants().await.map_err(|error| not_set_up(&error))?;
            let made = if let Some(tenant) = tenants.first() {
                service.make_named_key(tenant.id, "local user", "user").await
            } else {
                let by = OperatorName("windlass story".to_owned());
                service.found("Local", TENANT, None, by).await.map(|founded| founded.raw_key)
            };
            let key = made.map_err(|error| not_set_up(&error))?;
            keep(&file, &mut keys, "user", &key)?;
            key
        };
        let queue = Arc::new(Queue { service, _held: held });
        Ok(Self { queue, keys: file, user })
    }

    /// What a command does last: nobody stays behind to tell those who listen and to sign what was added.
    pub(crate) async fn leave(&self) {
        // What could not be settled stays due, for the next command.
        let _ = self.queue.service.deliver_due(WEBHOOK_PATIENCE).await;
        let _ = self.queue.service.sign_heads().await;
    }

    /// What costs far more or less than its neighbours is found now: here nobody stays to look every hour.
    pub(crate) async fn look_after_costs(&self) -> Result<(), Fault> {
        let looked = self.queue.service.look_after_costs().await;
        looked
            .map_err(|error| Fault::new(Code::StoryServer, format!("the costs cannot be looked at: {error}")))
    }

    pub(crate) fn api(&self) -> Arc<dyn StoryApi> {
        Arc::clone(&self.queue) as Arc<dyn StoryApi>
    }

    /// The raw key of a speaker, made and kept when they speak for the first time.
    pub(crate) async fn key_of(&self, speaker: &Speaker) -> Result<String, Fault> {
        let name = speaker.name();
        if name == "user" {
            return Ok(self.user.clone());
        }
        let mut keys = read_keys(&self.keys)?;
        // To the queue upper and lower case are one name, so they are one here.
        let known = keys.keys().find(|known| known.to_lowercase() == name.to_lowercase()).cloned();
        if let Some(key) = known.and_then(|known| text(&keys, &known)) {
            return Ok(key);
        }
        let key = self.new_key(&Desk::new(self.api(), Some(self.user.clone())), speaker).await?;
        keep(&self.keys, &mut keys, &name, &key)?;
        Ok(key)
    }

    async fn new_key(&self, user: &Desk, speaker: &Speaker) -> Result<String, Fault> {
        let key_for = async |role: &str, agent: Option<&str>| {
            let body = json!({ "name": speaker.name(), "role": role, "agent_id": agent });
            user.post("/api_keys", body).await
        };
        let raw = |made: &Value| made["raw_key"].as_str().unwrap_or_default().to_owned();
        let Some(agent) = &speaker.agent else {
            return key_for(speaker.role, None).await.map(|made| raw(&made));
        };
        match user.get(&format!("/agents/{}", escaped(agent)), &[]).await {
            Ok(known) => key_for(speaker.role, found(&known)["id"].as_str()).await.map(|made| raw(&made)),
            Err(fault) if fault.code == Code::StoryUnknown => {
                // An agent registers itself, with a key of its own; an orchestrator's other key is made after that.
                let made = key_for("agent", None).await?;
                let own = Desk::new(self.api(), Some(raw(&made)));
                let kind = if speaker.role == "orchestrator" { "orchestrator" } else { "implementer" };
                let agent =
                    own.post("/agents/register", json!({ "name": agent, "agent_type": kind })).await?;
                if speaker.role == "agent" {
                    return Ok(raw(&made));
                }
                // Nobody keeps a key for a role they do not play.
                let key = found(&made)["id"].as_str().unwrap_or_default();
                user.delete(&format!("/api_keys/{key}")).await?;
                key_for(speaker.role, found(&agent)["id"].as_str()).await.map(|made| raw(&made))
            }
            Err(fault) => Err(fault),
        }
    }
}

async fn hold(
    directory: &Path,
    name: &str,
    patience: Patience,
    mut waiting: impl FnMut(&str),
) -> Result<DataDir, Fault> {
    for look in 0..patience.looks {
        match DataDir::hold(directory, name) {
            Err(DataDirError::Held { who, .. }) if look == patience.silent => {
                let most = patience.seconds();
                waiting(&format!("{who} has the queue on this machine open; waiting for up to {most} s"));
            }
            Err(DataDirError::Held { .. }) => {}
            held => return held.map_err(|error| unusable(&error, patience)),
        }
        tokio::time::sleep(patience.between).await;
    }
    DataDir::hold(directory, name).map_err(|error| unusable(&error, patience))
}

fn unusable(error: &DataDirError, patience: Patience) -> Fault {
    if let DataDirError::Held { who, .. } = error {
        let message = format!("{who} has had the queue on this machine open for {} s", patience.seconds());
        return Fault::new(Code::JournalFenced, message)
            .kept("nothing was done")
            .hint("let it end, or share the queue with `windlass serve`");
    }
    let code = match error {
        DataDirError::Journal(_) => Code::JournalUnavailable,
        _ => Code::FileSystem,
    };
    Fault::new(code, format!("the queue on this machine cannot be opened: {error}"))
        .kept("its files as they were found")
        .hint("`--server URL` asks a server instead")
}

fn not_set_up(error: &OperatorError) -> Fault {
    let code = match error {
        OperatorError::KeyMissing { .. } => Code::StorySigningKey,
        _ => Code::StoryServer,
    };
    Fault::new(code, format!("the queue on this machine cannot be set up: {error}"))
}

fn read_keys(file: &Path) -> Result<Map<String, Value>, Fault> {
    let fault =
        |why: String| Fault::new(Code::FileSystem, format!("{} cannot be read: {why}", file.display()));
    match std::fs::read_to_string(file) {
        Ok(text) => serde_json::from_str(&text).map_err(|error| fault(error.to_string())),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(Map::new()),
        Err(error) => Err(fault(error.to_string())),
    }
}

fn keep(file: &Path, keys: &mut Map<String, Value>, name: &str, key: &str) -> Result<(), Fault> {
    keys.insert(name.to_owned(), Value::from(key));
    let text = serde_json::to_string_pretty(&keys).unwrap_or_default();
    write_private(file, text.as_bytes())
        .map_err(|error| Fault::new(Code::FileSystem, format!("cannot write {}: {error}", file.display())))
}

fn text(keys: &Map<String, Value>, name: &str) -> Option<String> {
    keys.get(name).and_then(Value::as_str).map(str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_step_needs_somebody_who_takes_it() {
        assert_eq!(Speaker::chosen(None, Usual::MustSay).unwrap_err().code, Code::StoryKey);
        assert_eq!(Speaker::chosen(None, Usual::User).unwrap(), Speaker::user());
        assert_eq!(Speaker::chosen(Some("agent:alice"), Usual::User).unwrap().name(), "agent:alice");
        for wrong in ["boss", "agent:", "superadmin", ""] {
            assert_eq!(
                Speaker::chosen(Some(wrong), Usual::User).unwrap_err().code,
                Code::BadArgument,
                "{wrong}"
            );
        }
    }

    #[tokio::test]
    async fn keys_are_made_once_and_belong_to_their_agents() {
        let directory = tempfile::tempdir().unwrap();
        let alice = Speaker::chosen(Some("agent:alice"), Usual::User).unwrap();
        let olga = Speaker::chosen(Some("orchestrator:olga"), Usual::User).unwrap();
        let (first, boss) = {
            let local = Local::open(directory.path(), "a test", |_| {}).await.unwrap();
            (local.key_of(&alice).await.unwrap(), local.key_of(&olga).await.unwrap())
        };
        let local = Local::open(directory.path(), "a test", |_| {}).await.unwrap();
        assert_eq!(local.key_of(&alice).await.unwrap(), first);
        let me = Desk::new(local.api(), Some(boss)).get("/tenants/me", &[]).await.unwrap();
        assert_eq!(me["tenant"]["api_key"]["role"], "orchestrator");
        assert_eq!(me["tenant"]["api_key"]["agent_name"], "olga");
    }

    /// A look follows the other without a pause, and the first is told of.
    const HASTE: Patience = Patience { between: Duration::ZERO, silent: 0, looks: 50 };

    #[tokio::test]
    async fn whoever_waits_is_told_at_once_for_whom_and_goes_on_when_it_is_free() {
        let directory = tempfile::tempdir().unwrap();
        let mut holder = Some(DataDir::hold(directory.path(), "windlass orchestrate").unwrap());
        let mut told = Vec::new();
        let held = hold(directory.path(), "windlass story", HASTE, |text| {
            told.push(text.to_owned());
            holder = None;
        });
        assert!(held.await.is_ok());
        let who = format!("windlass orchestrate (process {})", std::process::id());
        assert_eq!(told.len(), 1, "{told:?}");
        assert!(told[0].starts_with(&who), "{told:?}");
        let silence = PATIENCE.between * PATIENCE.silent;
        assert!(silence <= Duration::from_millis(100), "nothing is said for {silence:?}");
    }

    #[tokio::test]
    async fn waiting_has_an_end_that_names_who_is_in_the_way() {
        let directory = tempfile::tempdir().unwrap();
        let _holder = DataDir::hold(directory.path(), "windlass serve").unwrap();
        let fault = hold(directory.path(), "windlass story", HASTE, |_| {}).await.unwrap_err();
        assert_eq!(fault.code, Code::JournalFenced);
        assert!(fault.message.starts_with("windlass serve (process"), "{fault}");
        assert!(fault.hints.iter().any(|hint| hint.contains("let it end")), "{fault:?}");
        assert_eq!(PATIENCE.seconds(), 30);
    }

    #[tokio::test]
    async fn a_lost_file_of_keys_is_made_again() {
        let directory = tempfile::tempdir().unwrap();
        let old = Local::open(directory.path(), "a test", |_| {})
            .await
            .unwrap()
            .key_of(&Speaker::user())
            .await
            .unwrap();
        std::fs::remove_file(directory.path().join("keys.json")).unwrap();
        let local = Local::open(directory.path(), "a test", |_| {}).await.unwrap();
        let new = local.key_of(&Speaker::user()).await.unwrap();
        assert_ne!(old, new);
        assert!(Desk::new(local.api(), Some(new)).get("/projects", &[]).await.is_ok());
    }
}
