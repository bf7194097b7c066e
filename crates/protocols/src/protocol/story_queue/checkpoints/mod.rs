//! The orchestrator's own notes, by project and key, with a version that must match.

use super::caller::Actor;
use super::decide::{Decided, Draft};
use super::facts::{self, Entry};
use super::refusal::{Kind, Refusal};
use super::refusal_code::RefusalCode;
use super::vocabulary::{CheckpointId, JsonText, KeyRole, Micros, ProjectId};
use alloc::collections::BTreeMap;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use serde::{Deserialize, Serialize};

/// The key that is meant where none is said.
pub const MAIN: &str = "main";
/// What follows in such a key is an agent's id: the checkpoint is of the orchestration that this agent runs, and nobody else
/// saves there. Every other key is everybody's.
pub const OF_AN_ORCHESTRATION: &str = "windlass:";

#[derive(Clone, Debug, Default)]
pub struct State {
    notes: BTreeMap<(ProjectId, String), Checkpoint>,
}

#[derive(Clone, Debug)]
pub struct Checkpoint {
    pub id: CheckpointId,
    pub project: ProjectId,
    pub key: String,
    pub created: Micros,
    /// Oldest first; never empty.
    pub history: Vec<Saved>,
}

#[derive(Clone, Debug)]
pub struct Saved {
    pub version: u64,
    pub data: JsonText,
    pub by: Actor,
    pub at: Micros,
}

impl Checkpoint {
    pub fn current(&self) -> Option<&Saved> {
        self.history.last()
    }
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "what", rename_all = "kebab-case")]
pub enum Change {
    Saved { id: CheckpointId, project: ProjectId, key: String, version: u64, data: JsonText },
}

#[derive(Clone, Debug)]
pub struct Save {
    pub project: ProjectId,
    pub key: Option<String>,
    /// An object; the shell has parsed it.
    pub data: JsonText,
    pub expects: Expects,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Expects {
    /// Nothing, or 0, was said: there must be none yet.
    Nothing,
    Version(u64),
    /// Whatever is there is replaced; for one writer that has just read it under the same lock.
    Anything,
}

impl State {
    pub fn get(&self, project: ProjectId, key: &str) -> Option<&Checkpoint> {
        self.notes.get(&(project, key.to_string()))
    }

    pub fn of_project(&self, project: ProjectId) -> impl Iterator<Item = &Checkpoint> {
        self.notes
            .range((project, String::new())..)
            .map(|(_, note)| note)
            .take_while(move |n| n.project == project)
    }

    pub fn evolve(&mut self, entry: &Entry, change: &Change) {
        let Change::Saved { id, project, key, version, data } = change;
        let note = self.notes.entry((*project, key.clone())).or_insert_with(|| Checkpoint {
            id: *id,
            project: *project,
            key: key.clone(),
            created: entry.at,
            history: Vec::new(),
        });
        note.history.push(Saved {
            version: *version,
            data: data.clone(),
            by: entry.by.clone(),
            at: entry.at,
        });
    }
}

pub fn save(draft: &mut Draft, ask: Save) -> Decided<Saved> {
    draft.caller().require_exactly(&[KeyRole::Orchestrator, KeyRole::Superadmin])?;
    if draft.ledger().plan.project(ask.project).is_none() {
        return Err(Refusal::not_found("project"));
    }
    let key = ask.key.unwrap_or_else(|| MAIN.to_string());
    if !(1..=255).contains(&key.chars().count()) {
        return Err(Refusal::field("state_key", "must be 1 to 255 characters"));
    }
    if !ask.data.as_str().trim_start().starts_with('{') {
        return Err(Refusal::field("state_data", "must be an object"));
    }
    require_own(draft, &key)?;
    let known = draft.ledger().checkpoints.get(ask.project, &key);
    let id = known.map(|note| note.id);
    let current = known.and_then(Checkpoint::current).map_or(0, |saved| saved.version);
    let matches = match ask.expects {
        Expects::Nothing | Expects::Version(0) => current == 0,
        Expects::Version(version) => current == version && current > 0,
        Expects::Anything => true,
    };
    if !matches {
        let why = format!("the state is at version {current}; read it again and send that version");
        return Err(Refusal::new(Kind::Conflict, why)
            .with_code(RefusalCode::VersionConflict)
            .with_context("current_version", current.to_string()));
    }
    let id = id.unwrap_or_else(|| CheckpointId(draft.ids().fresh()));
    let (version, data) = (current + 1, ask.data);
    let saved = Saved { version, data: data.clone(), by: draft.caller().actor(), at: draft.at() };
    let change = Change::Saved { id, project: ask.project, key, version, data };
    draft.record(Some(ask.project), facts::Change::Checkpoints(change));
    Ok(saved)
}

/// What an orchestration noted decides what it begins and what waits for a person: whoever could write there could undo both.
fn require_own(draft: &Draft, key: &str) -> Decided<()> {
    let Some(owner) = key.strip_prefix(OF_AN_ORCHESTRATION) else { return Ok(()) };
    if draft.caller().agent.is_some_and(|agent| agent.to_string() == owner) {
        return Ok(());
    }
    let why = format!("`{key}` is kept for the orchestration that its agent runs; nobody else saves there");
    Err(Refusal::new(Kind::NotAllowed, why).with_code(RefusalCode::StateKeyReserved))
}
