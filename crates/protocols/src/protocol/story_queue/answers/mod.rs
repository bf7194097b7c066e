//! Requests under an idempotency key: the same key and the same request are answered the same, and nothing happens twice.

use super::caller::{Actor, Caller};
use super::decide::{Decided, Draft};
use super::facts::{self, Entry};
use super::refusal::{Kind, Refusal};
use super::refusal_code::RefusalCode;
use super::vocabulary::{AgentId, KeyId, Micros};
use alloc::collections::{BTreeMap, VecDeque};
use alloc::string::{String, ToString};
use serde::{Deserialize, Serialize};

/// How long an answer is remembered.
pub const KEPT: Micros = Micros::seconds(24 * 3600);

#[derive(Clone, Debug, Default)]
pub struct State {
    /// By who asked: two clients may choose the same words.
    answers: BTreeMap<(Asker, String), Stored>,
    oldest: VecDeque<(Micros, Asker, String)>,
}

/// An agent stays the same under another key: what it asked before its key was changed is still answered.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Asker {
    Agent(AgentId),
    Key(KeyId),
}

impl Asker {
    fn of(by: &Actor) -> Option<Self> {
        by.agent.map(Self::Agent).or(by.key.map(Self::Key))
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stored {
    pub request: String,
    pub status: u16,
    pub body: String,
    pub at: Micros,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "what", rename_all = "kebab-case")]
pub enum Change {
    /// `request` is a digest of method, path and body, without the capability that opened the call.
    Answered { key: String, request: String, status: u16, body: String },
}

impl State {
    /// What this request was answered before, if it was; a different request under the same key is refused. A request has
    /// several digests where versions before this one took it otherwise.
    pub fn recall(&self, by: &Caller, key: &str, requests: &[&str], at: Micros) -> Decided<Option<&Stored>> {
        let asker = by.agent.map_or(Asker::Key(by.key), Asker::Agent);
        let known = self.answers.get(&(asker, key.to_string())).filter(|stored| at < stored.at.plus(KEPT));
        match known {
            Some(stored) if !requests.contains(&stored.request.as_str()) => {
                let why = "this idempotency key was used for a different request";
                Err(Refusal::new(Kind::Conflict, why).with_code(RefusalCode::IdempotencyConflict))
            }
            known => Ok(known),
        }
    }

    pub fn evolve(&mut self, entry: &Entry, change: &Change) {
        while let Some((at, by, key)) = self.oldest.front() {
            if entry.at < at.plus(KEPT) {
                break;
            }
            let name = (*by, key.clone());
            if self.answers.get(&name).is_some_and(|stored| stored.at == *at) {
                self.answers.remove(&name);
            }
            self.oldest.pop_front();
        }
        let Change::Answered { key, request, status, body } = change;
        let Some(by) = Asker::of(&entry.by) else { return };
        let stored = Stored { request: request.clone(), status: *status, body: body.clone(), at: entry.at };
        self.answers.insert((by, key.clone()), stored);
        self.oldest.push_back((entry.at, by, key.clone()));
    }
}

/// Recorded in the draft of the request itself, so that effect and answer become durable together.
pub fn keep(draft: &mut Draft, key: String, request: String, status: u16, body: String) {
    draft.record(None, facts::Change::Answers(Change::Answered { key, request, status, body }));
}
