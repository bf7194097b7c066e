//! Dispatches with lineage, capability tokens, violations and halts: the proof of who may move a story.

mod dispatches;
mod entities;
mod hands;
mod tokens;
mod violations;

use super::caller::Actor;
use super::facts::Entry;
use super::vocabulary::{DispatchId, Micros, StoryId, TokenId, ViolationId};
use alloc::boxed::Box;
use alloc::collections::{BTreeMap, BTreeSet};
use alloc::string::String;
use alloc::vec::Vec;
use serde::{Deserialize, Serialize};

pub use dispatches::{OpenDispatch, Opened, open, revoke, revoke_expired};
pub(super) use dispatches::{choose_verifier, could_verify};
pub use entities::{
    Dispatch, Halt, Holder, Holds, Presented, Signature, Token, TokenKind, Violation, ViolationKind,
    ViolationStatus,
};
pub use hands::{Hand, Hands};
pub use tokens::{TOKEN_LIFE, recover};
pub(super) use tokens::{mint, spend};
pub use violations::{clear_halt, halt, release, resolve_violation};
pub(super) use violations::{refuse_as_violation, require_going, require_untainted};

#[derive(Clone, Debug, Default)]
pub struct State {
    dispatches: BTreeMap<DispatchId, Dispatch>,
    /// By whose key each was opened.
    openers: BTreeMap<DispatchId, Actor>,
    /// Those neither revoked nor known to have expired, in order of creation (ids are ordered by time).
    open: BTreeSet<DispatchId>,
    children: BTreeMap<DispatchId, Vec<DispatchId>>,
    tokens: BTreeMap<TokenId, Token>,
    violations: BTreeMap<ViolationId, Violation>,
    /// Those that nobody settled yet.
    unsettled: BTreeMap<StoryId, BTreeSet<ViolationId>>,
    halted: Option<Halt>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "what", rename_all = "kebab-case")]
pub enum Change {
    /// Its key is made in the same breath, in the tenancy area.
    DispatchOpened {
        dispatch: Box<Dispatch>,
    },
    /// With its descendants, and the keys of all of them.
    DispatchRevoked {
        dispatch: DispatchId,
        with: Vec<DispatchId>,
    },
    TokenMinted {
        token: Box<Token>,
    },
    TokenConsumed {
        token: TokenId,
        story: StoryId,
    },
    ViolationSeen {
        violation: Box<Violation>,
    },
    ViolationClosed {
        violation: ViolationId,
        story: StoryId,
        status: ViolationStatus,
        note: String,
    },
    /// Only after the audit chain was proven to diverge.
    Halted {
        reason: String,
    },
    HaltCleared {
        reason: String,
    },
}

impl State {
    pub fn dispatch(&self, id: DispatchId) -> Option<&Dispatch> {
        self.dispatches.get(&id)
    }

    pub fn opener(&self, id: DispatchId) -> Option<&Actor> {
        self.openers.get(&id)
    }

    /// In order of creation.
    pub fn dispatches(&self) -> impl DoubleEndedIterator<Item = &Dispatch> {
        self.dispatches.values()
    }

    pub fn token(&self, id: TokenId) -> Option<&Token> {
        self.tokens.get(&id)
    }

    pub fn violation(&self, id: ViolationId) -> Option<&Violation> {
        self.violations.get(&id)
    }

    pub fn violations(&self) -> impl DoubleEndedIterator<Item = &Violation> {
        self.violations.values()
    }

    /// What was seen at this story and not settled yet.
    pub fn unsettled(&self, story: StoryId) -> impl Iterator<Item = &Violation> {
        self.unsettled.get(&story).into_iter().flatten().filter_map(|id| self.violations.get(id))
    }

    /// For whoever read the stream and found that it does not hold: nothing is closed on it until somebody looked. It is no
    /// entry, for it is found again each time the stream is read.
    pub fn suspend(&mut self, at: Micros, reason: String) {
        self.halted = Some(Halt { at, reason });
    }

    pub fn halted(&self) -> Option<&Halt> {
        self.halted.as_ref()
    }

    pub fn evolve(&mut self, entry: &Entry, change: &Change) {
        match change {
            Change::DispatchOpened { dispatch } => {
                if let Some(parent) = dispatch.parent {
                    self.children.entry(parent).or_default().push(dispatch.id);
                }
                self.open.insert(dispatch.id);
                self.openers.insert(dispatch.id, entry.by.clone());
                self.dispatches.insert(dispatch.id, (**dispatch).clone());
            }
            Change::DispatchRevoked { dispatch, with } => {
                for id in core::iter::once(dispatch).chain(with) {
                    self.open.remove(id);
                    if let Some(dispatch) = self.dispatches.get_mut(id) {
                        dispatch.revoked.get_or_insert(entry.at);
                    }
                }
            }
            Change::TokenMinted { token } => {
                self.tokens.insert(token.id, (**token).clone());
            }
            Change::TokenConsumed { token, .. } => {
                if let Some(token) = self.tokens.get_mut(token) {
                    token.consumed = Some(entry.at);
                }
            }
            Change::ViolationSeen { violation } => {
                self.unsettled.entry(violation.story).or_default().insert(violation.id);
                self.violations.insert(violation.id, (**violation).clone());
            }
            Change::ViolationClosed { violation, story, status, note } => {
                if let Some(unsettled) = self.unsettled.get_mut(story) {
                    unsettled.remove(violation);
                }
                if let Some(violation) = self.violations.get_mut(violation) {
                    violation.status = *status;
                    violation.note = Some(note.clone());
                }
            }
            Change::Halted { reason } => self.halted = Some(Halt { at: entry.at, reason: reason.clone() }),
            Change::HaltCleared { .. } => self.halted = None,
        }
    }
}
