//! When a key was last used. Kept in memory only: to journal it would be to write for every reading.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};
use windlass_protocols::protocol::story_queue::vocabulary::{AgentId, KeyId, Micros};

#[derive(Debug, Default)]
pub struct Seen(Mutex<Moments>);

#[derive(Debug, Default)]
struct Moments {
    keys: HashMap<KeyId, Micros>,
    agents: HashMap<AgentId, Micros>,
}

impl Seen {
    pub fn note(&self, key: KeyId, agent: Option<AgentId>, at: Micros) {
        let mut moments = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        moments.keys.insert(key, at);
        if let Some(agent) = agent {
            moments.agents.insert(agent, at);
        }
    }

    pub fn key(&self, key: KeyId) -> Option<Micros> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).keys.get(&key).copied()
    }

    pub fn agent(&self, agent: AgentId) -> Option<Micros> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).agents.get(&agent).copied()
    }
}
