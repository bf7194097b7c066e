//! Whose hands a deed went through: everybody who could have steered it, from whoever opened the root of its dispatch down
//! to whoever asked. Two deeds that share a hand are one actor's. Found from the ledger, so that entries of any age count.

use super::entities::Dispatch;
use crate::protocol::story_queue::caller::{Actor, ActorKind};
use crate::protocol::story_queue::ledger::Ledger;
use crate::protocol::story_queue::vocabulary::{AgentId, DispatchId, KeyId, KeyRole};
use crate::protocol::story_queue::work::Principal;
use alloc::collections::BTreeSet;

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Hand {
    Agent(AgentId),
    Key(KeyId),
    /// The root of a lineage.
    Root(DispatchId),
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Hands(BTreeSet<Hand>);

impl Hands {
    pub fn of(ledger: &Ledger, who: &Principal) -> Self {
        let mut hands = Self::default();
        hands.take(ledger, who.agent, who.key);
        hands.0.extend(who.lineage.first().copied().map(Hand::Root));
        for id in &who.lineage {
            let Some(dispatch) = ledger.custody.dispatch(*id) else { continue };
            hands.take(ledger, dispatch.agent, Some(dispatch.key));
            // The raw key was shown to whoever opened it.
            let opener = ledger.custody.opener(*id).filter(|opener| !is_person(ledger, opener));
            if let Some(opener) = opener {
                hands.take(ledger, opener.agent, opener.key);
            }
        }
        hands
    }

    /// The two cannot be told apart.
    pub fn meet(&self, other: &Self) -> bool {
        !self.0.is_disjoint(&other.0)
    }

    fn take(&mut self, ledger: &Ledger, agent: Option<AgentId>, key: Option<KeyId>) {
        let bound = key.and_then(|key| ledger.tenancy.key(key)).and_then(|key| key.agent);
        self.0.extend(agent.into_iter().chain(bound).map(Hand::Agent));
        self.0.extend(key.map(Hand::Key));
    }
}

/// People open the roots of everybody who works for them. If that made them a hand, a tenant with one user would have one
/// actor. A user's key that is bound to an agent is that agent's, and no person's.
fn is_person(ledger: &Ledger, opener: &Actor) -> bool {
    if opener.kind != ActorKind::ApiKey {
        return true;
    }
    let key = opener.key.and_then(|key| ledger.tenancy.key(key));
    opener.agent.is_none() && key.is_some_and(|key| key.role >= KeyRole::User && key.agent.is_none())
}

impl Principal {
    /// Whoever holds the key of this dispatch.
    pub(in crate::protocol::story_queue) fn sent(dispatch: &Dispatch) -> Self {
        Self { agent: dispatch.agent, key: Some(dispatch.key), lineage: dispatch.lineage.clone() }
    }

    /// Whether the deeds of the two went through a common hand.
    pub fn shares_a_hand(&self, ledger: &Ledger, other: &Self) -> bool {
        Hands::of(ledger, self).meet(&Hands::of(ledger, other))
    }
}
