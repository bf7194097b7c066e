//! Who is who, with bookkeeping of its own: from the entries that make keys, agents and dispatches, and from nothing else.

use crate::protocol::story_queue::caller::{Actor, ActorKind};
use crate::protocol::story_queue::custody::{self, Dispatch};
use crate::protocol::story_queue::facts::{Change, Entry};
use crate::protocol::story_queue::tenancy::{self, Key};
use crate::protocol::story_queue::vocabulary::{AgentId, DispatchId, KeyId, KeyRole, Uuid};
use alloc::collections::{BTreeMap, BTreeSet};

/// The ids of agents, keys and roots whose hand a deed went through; ids of different kinds never collide.
#[derive(Clone, Debug, Default)]
pub(super) struct Hands(BTreeSet<Uuid>);

impl Hands {
    pub(super) fn touch(&self, other: &Self) -> bool {
        self.0.iter().any(|hand| other.0.contains(hand))
    }

    pub(super) fn touch_any<'a>(&self, others: impl IntoIterator<Item = &'a Self>) -> bool {
        others.into_iter().any(|other| self.touch(other))
    }
}

#[derive(Default)]
pub(super) struct Actors {
    /// Keys of people: whose dispatches these open does not make them anybody's hand.
    people: BTreeSet<KeyId>,
    agent_of: BTreeMap<KeyId, AgentId>,
    sent: BTreeMap<DispatchId, Hands>,
}

impl Actors {
    pub(super) fn learn(&mut self, entry: &Entry) {
        match &entry.change {
            Change::Tenancy(tenancy::Change::KeyMade { key } | tenancy::Change::KeyRotated { key, .. }) => {
                self.learn_key(key);
            }
            Change::Tenancy(tenancy::Change::AgentRegistered { agent, key }) => {
                self.agent_of.insert(*key, agent.id);
            }
            Change::Custody(custody::Change::DispatchOpened { dispatch }) => {
                let hands = self.hands_below(&entry.by, dispatch);
                self.sent.insert(dispatch.id, hands);
            }
            _ => {}
        }
    }

    fn learn_key(&mut self, key: &Key) {
        match key.agent {
            Some(agent) => {
                self.agent_of.insert(key.id, agent);
            }
            None if key.role >= KeyRole::User => {
                self.people.insert(key.id);
            }
            None => {}
        }
    }

    /// All of the dispatch above, whoever opened this one, and whoever it is for.
    fn hands_below(&self, opener: &Actor, dispatch: &Dispatch) -> Hands {
        let mut hands =
            dispatch.parent.and_then(|parent| self.sent.get(&parent)).cloned().unwrap_or_default();
        let person = opener.kind != ActorKind::ApiKey
            || (opener.agent.is_none() && opener.key.is_some_and(|key| self.people.contains(&key)));
        if !person {
            hands.0.extend(self.of(opener).0);
        }
        hands.0.extend(dispatch.agent.map(|agent| agent.0));
        hands.0.extend([dispatch.key.0, dispatch.root().0]);
        hands
    }

    pub(super) fn of(&self, actor: &Actor) -> Hands {
        let mut hands = actor.lineage.last().and_then(|id| self.sent.get(id)).cloned().unwrap_or_default();
        hands.0.extend(actor.agent.map(|agent| agent.0));
        if let Some(key) = actor.key {
            hands.0.insert(key.0);
            hands.0.extend(self.agent_of.get(&key).map(|agent| agent.0));
        }
        hands
    }

    pub(super) fn of_dispatch(&self, id: DispatchId) -> Hands {
        self.sent.get(&id).cloned().unwrap_or_default()
    }
}
