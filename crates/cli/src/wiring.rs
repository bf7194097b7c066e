//! The one place where the program meets its surroundings: the environment, its own path, and the host behind
//! `Control`. Commands get what they need from here and look nowhere else.

use crate::commands::scratch_repository::temporary_directory;
use crate::commands::story::{Usual, WhoArgs};
use crate::stories::{ByTurns, Config, Desk, Local, Notices, Remote, Speaker};
use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use windlass_control_api::compat::Compat;
use windlass_control_api::stories::StoryApi;
use windlass_control_api::views::Diagnosis;
use windlass_control_api::{Code, Control, Fault};
use windlass_host::Access;

/// The variables this program was started with, taken once.
pub(crate) type Environment = BTreeMap<OsString, OsString>;

/// How those who wait for the queue on this machine are told who has it.
const TOOLS: &str = "windlass mcp";
const ORCHESTRATOR: &str = "windlass orchestrate";

pub(crate) trait Wired: Control + Compat {}

impl<T: Control + Compat> Wired for T {}

/// Keys come as variables, and `/proc` shows a process's variables to others of the same user. What every agent is given anyway
/// may be seen. To be called first of all.
pub(crate) fn keep_secrets() {
    let shown = |name: &OsStr| name.to_str().is_some_and(windlass_host::is_given_to_every_child);
    // A kernel that refuses leaves the process as open as it was; the sandbox holds all the same.
    let _ = windlass_process_supervisor::keep_own_secrets(shown);
}

pub(crate) fn environment() -> Environment {
    std::env::vars_os().collect()
}

/// This program, to be started again as a keeper, a scripted agent or a second engine.
pub(crate) fn program() -> Result<PathBuf, Fault> {
    std::env::current_exe().map_err(|error| {
        Fault::new(Code::Supervisor, format!("cannot find out where this program is: {error}"))
    })
}

/// The host in this process, for a command that records something.
pub(crate) fn control(environment: &Environment) -> Result<Box<dyn Wired>, Fault> {
    open(environment, Access::Change)
}

/// The host in this process, for a command that only looks.
pub(crate) fn looking(environment: &Environment) -> Result<Box<dyn Wired>, Fault> {
    open(environment, Access::Look)
}

/// The host for a look that leaves nothing behind: where nothing was ever run, its state directory is one that goes with it.
pub(crate) fn passing_by(
    environment: &Environment,
) -> Result<(Option<tempfile::TempDir>, Box<dyn Wired>), Fault> {
    let usual = text_of(environment).state_directory();
    if usual.is_some_and(|path| path.symlink_metadata().is_ok()) {
        return Ok((None, looking(environment)?));
    }
    let place = temporary_directory("windlass-look-")?;
    let mut environment = environment.clone();
    environment.insert("WINDLASS_STATE_DIR".into(), place.path().into());
    Ok((Some(place), looking(&environment)?))
}

/// A place at the story queue: of the server that was named or is configured, else of this machine. The latter is left when
/// everything was said.
pub(crate) async fn stories(
    environment: &Environment,
    config: &Config,
    who: &WhoArgs,
    usual: Usual,
    waiting: impl FnMut(&str),
) -> Result<(Desk, Option<Local>), Fault> {
    if let Some(remote) = remote(config, who)? {
        return Ok((Desk::new(Arc::new(remote), config.get("api_key").map(str::to_owned)), None));
    }
    let speaker = Speaker::chosen(who.speaker.as_deref(), usual)?;
    let local = Local::open(&local_directory(environment)?, "windlass story", waiting).await?;
    let key = local.key_of(&speaker).await?;
    Ok((Desk::new(local.api(), Some(key)), Some(local)))
}

/// The queue itself, with what there is to tell of it, and on this machine the key of who speaks.
pub(crate) async fn queue_for_tools(
    environment: &Environment,
    config: &Config,
    who: &WhoArgs,
    waiting: impl FnMut(&str),
) -> Result<(Arc<dyn StoryApi>, Notices, Option<String>), Fault> {
    if let Some(remote) = remote(config, who)? {
        return Ok((Arc::new(remote), Notices::none(), None));
    }
    let speaker = Speaker::chosen(who.speaker.as_deref(), Usual::MustSay)?;
    let directory = local_directory(environment)?;
    let key = Local::open(&directory, TOOLS, waiting).await?.key_of(&speaker).await?;
    let (queue, notices) = ByTurns::at(directory, TOOLS);
    Ok((Arc::new(queue), notices, Some(key)))
}

/// The queue for somebody who asks for hours, and a key of role user: of the server, else of this machine.
pub(crate) async fn queue_for_orchestrator(
    environment: &Environment,
    config: &Config,
    who: &WhoArgs,
    waiting: impl FnMut(&str),
) -> Result<(Box<dyn StoryApi>, Notices, String), Fault> {
    if let Some(remote) = remote(config, who)? {
        let key = config.get("api_key").ok_or_else(|| {
            Fault::new(Code::StoryKey, "the server wants a key, and none is configured")
                .hint("`windlass story login --server URL --key KEY`")
        })?;
        return Ok((Box::new(remote), Notices::none(), key.to_owned()));
    }
    let directory = local_directory(environment)?;
    let key = Local::open(&directory, ORCHESTRATOR, waiting).await?.key_of(&Speaker::user()).await?;
    let (queue, notices) = ByTurns::at(directory, ORCHESTRATOR);
    Ok((Box::new(queue), notices, key))
}

/// The queue itself, for those who bring their own keys.
pub(crate) fn queue(
    environment: &Environment,
    config: &Config,
    who: &WhoArgs,
) -> Result<(Arc<dyn StoryApi>, Notices), Fault> {
    if let Some(remote) = remote(config, who)? {
        return Ok((Arc::new(remote), Notices::none()));
    }
    let (queue, notices) = ByTurns::at(local_directory(environment)?, TOOLS);
    Ok((Arc::new(queue), notices))
}

/// The queue on this machine, beside everything else that is private to Windlass; for a demo, which has it for itself.
pub(crate) async fn local_stories(environment: &Environment) -> Result<Local, Fault> {
    Local::open(&local_directory(environment)?, "windlass demo", |_| {}).await
}

fn local_directory(environment: &Environment) -> Result<PathBuf, Fault> {
    Ok(state_directory(environment)?.join("stories"))
}

fn remote(config: &Config, who: &WhoArgs) -> Result<Option<Remote>, Fault> {
    let server = who.server.as_deref().or_else(|| config.get("server")).filter(|_| !who.local);
    let Some(server) = server else { return Ok(None) };
    if who.speaker.is_some() {
        let message = "at a server the key says who speaks; `--as` is for the queue on this machine";
        return Err(Fault::new(Code::BadArgument, message).hint("`--local` asks that one"));
    }
    Remote::at(server, config.remembered()).map(Some)
}

/// Where everything private lives.
pub(crate) fn state_directory(environment: &Environment) -> Result<PathBuf, Fault> {
    text_of(environment).state_directory().ok_or_else(|| {
        Fault::new(
            Code::FileSystem,
            "there is no place to keep anything: neither HOME nor WINDLASS_STATE_DIR is set",
        )
        .hint("set WINDLASS_STATE_DIR to a directory of your own")
    })
}

/// What can be said about a machine on which there is no host.
pub(crate) async fn diagnosis(
    environment: &Environment,
    reason: &Fault,
    repository: Option<&Path>,
) -> Diagnosis {
    windlass_host::diagnose_without_state(&text_of(environment), reason, repository).await
}

fn open(environment: &Environment, access: Access) -> Result<Box<dyn Wired>, Fault> {
    Ok(Box::new(windlass_host::Host::open(text_of(environment), program()?, access)?))
}

/// Names and values that are no text cannot be settings and are never passed on to a child.
fn text_of(environment: &Environment) -> windlass_host::Environment {
    let text = environment
        .iter()
        .filter_map(|(name, value)| Some((name.to_str()?.to_owned(), value.to_str()?.to_owned())));
    windlass_host::Environment(text.collect())
}
