//! The tenant, its settings, keys and agents: who can ask at all.

mod agents;
mod entities;
mod keys;
mod tenant;

use super::facts::Entry;
use super::vocabulary::{AgentId, KeyId, Micros, TenantId};
use alloc::boxed::Box;
use alloc::collections::BTreeMap;
use alloc::string::String;
use serde::{Deserialize, Serialize};

pub use agents::{RegisterAgent, register_agent};
pub use entities::{Agent, AgentKind, AgentState, Key, NewKey, SettingValue, Settings, TenantStatus};
pub(super) use keys::left_to_people;
pub use keys::{MakeKey, RotateKey, Rotated, first_key, make_key, revoke_key, rotate_key};
pub use tenant::{FoundTenant, TenantEdit, audit_key_rotated, found, set_status, update};

#[derive(Clone, Debug, Default)]
pub struct State {
    pub id: Option<TenantId>,
    pub name: String,
    pub slug: String,
    pub email: Option<String>,
    pub status: TenantStatus,
    pub settings: Settings,
    pub default_story_budget_millicents: Option<u64>,
    pub token_data_retention_days: Option<u32>,
    pub created: Micros,
    pub updated: Micros,
    keys: BTreeMap<KeyId, Key>,
    keys_by_hash: BTreeMap<String, KeyId>,
    agents: BTreeMap<AgentId, Agent>,
    agents_by_name: BTreeMap<String, AgentId>,
    /// Without case; who came first keeps the name.
    agents_by_folded_name: BTreeMap<String, AgentId>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "what", rename_all = "kebab-case")]
pub enum Change {
    Founded {
        id: TenantId,
        name: String,
        slug: String,
        email: Option<String>,
    },
    Updated {
        was: TenantEdit,
        now: TenantEdit,
    },
    StatusSet {
        was: TenantStatus,
        now: TenantStatus,
    },
    KeyMade {
        key: Box<Key>,
    },
    /// The new key is as the old one was; the old one works until `until`.
    KeyRotated {
        old: KeyId,
        until: Micros,
        key: Box<Key>,
    },
    KeyRevoked {
        key: KeyId,
    },
    /// From here on tree heads and tokens are signed with another key.
    AuditKeyRotated {
        was: String,
        now: String,
    },
    /// The key that registered an agent is that agent's from then on.
    AgentRegistered {
        agent: Box<Agent>,
        key: KeyId,
    },
}

impl State {
    pub fn key(&self, id: KeyId) -> Option<&Key> {
        self.keys.get(&id)
    }

    pub fn key_by_hash(&self, hash: &str) -> Option<&Key> {
        self.keys_by_hash.get(hash).and_then(|id| self.keys.get(id))
    }

    /// In order of creation.
    pub fn keys(&self) -> impl DoubleEndedIterator<Item = &Key> {
        self.keys.values()
    }

    pub fn agent(&self, id: AgentId) -> Option<&Agent> {
        self.agents.get(&id)
    }

    /// As it is written; else by what it comes to without blanks around it and without case.
    pub fn agent_by_name(&self, name: &str) -> Option<&Agent> {
        let exact = self.agents_by_name.get(name);
        let id = exact.or_else(|| self.agents_by_folded_name.get(&folded(name)))?;
        self.agents.get(id)
    }

    pub fn agents(&self) -> impl DoubleEndedIterator<Item = &Agent> {
        self.agents.values()
    }

    pub fn evolve(&mut self, entry: &Entry, change: &Change) {
        match change {
            Change::Founded { id, name, slug, email } => {
                self.id = Some(*id);
                self.name.clone_from(name);
                self.slug.clone_from(slug);
                self.email.clone_from(email);
                self.created = entry.at;
                self.updated = entry.at;
            }
            Change::Updated { now, .. } => {
                self.apply(now);
                self.updated = entry.at;
            }
            Change::StatusSet { now, .. } => {
                self.status = *now;
                self.updated = entry.at;
            }
            Change::KeyMade { key } => self.keep_key(key),
            Change::KeyRotated { old, until, key } => {
                if let Some(old) = self.keys.get_mut(old) {
                    old.expires = Some(old.expires.map_or(*until, |expires| expires.min(*until)));
                }
                self.keep_key(key);
            }
            Change::KeyRevoked { key } => {
                if let Some(key) = self.keys.get_mut(key) {
                    key.revoked.get_or_insert(entry.at);
                }
            }
            Change::AuditKeyRotated { .. } => self.updated = entry.at,
            Change::AgentRegistered { agent, key } => {
                if let Some(key) = self.keys.get_mut(key) {
                    key.agent = Some(agent.id);
                }
                self.agents_by_name.insert(agent.name.clone(), agent.id);
                self.agents_by_folded_name.entry(folded(&agent.name)).or_insert(agent.id);
                self.agents.insert(agent.id, (**agent).clone());
            }
        }
    }

    fn keep_key(&mut self, key: &Key) {
        self.keys_by_hash.insert(key.hash.clone(), key.id);
        self.keys.insert(key.id, key.clone());
    }
}

fn folded(name: &str) -> String {
    name.trim().to_lowercase()
}
