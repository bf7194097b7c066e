//! Who asks. The shell proves it (a key by its hash, a capability by its signature); what they may do is decided here.

use super::refusal::{Kind, Refusal};
use super::vocabulary::{AgentId, DispatchId, KeyId, KeyRole};
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use serde::{Deserialize, Serialize};

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Caller {
    pub key: KeyId,
    pub role: KeyRole,
    /// The agent the key is bound to. Absent is "unknown", never "anybody".
    pub agent: Option<AgentId>,
    /// Root to self, of the dispatch the key was made for; empty for keys made by people.
    pub lineage: Vec<DispatchId>,
    /// How the audit log names them.
    pub label: String,
    /// A superadmin who acts inside this tenant, in the role above.
    pub impersonating: bool,
}

/// As the log keeps them.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Actor {
    pub kind: ActorKind,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub key: Option<KeyId>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent: Option<AgentId>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub lineage: Vec<DispatchId>,
    pub label: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ActorKind {
    ApiKey,
    /// The server itself: timers, expiry, delivery.
    System,
    Superadmin,
    Human,
}

impl Caller {
    pub fn actor(&self) -> Actor {
        Actor {
            kind: self.actor_kind(),
            key: Some(self.key),
            agent: self.agent,
            lineage: self.lineage.clone(),
            label: self.label.clone(),
        }
    }

    const fn actor_kind(&self) -> ActorKind {
        if self.impersonating { ActorKind::Superadmin } else { ActorKind::ApiKey }
    }

    /// The hierarchy helps: a user may what an agent may.
    pub fn require_at_least(&self, role: KeyRole) -> Result<(), Refusal> {
        if self.role >= role {
            return Ok(());
        }
        let message =
            format!("this needs a key of role {} or above, yours is {}", role.name(), self.role.name());
        Err(Refusal::new(Kind::NotAllowed, message).with_remedy(another_key(role)))
    }

    /// The hierarchy does not help: custody keeps the roles apart.
    pub fn require_exactly(&self, roles: &[KeyRole]) -> Result<(), Refusal> {
        if roles.contains(&self.role) {
            return Ok(());
        }
        let names: Vec<&str> = roles.iter().map(|role| role.name()).collect();
        let message =
            format!("this needs a key of role {}, yours is {}", names.join(" or "), self.role.name());
        let first = roles.first().copied().unwrap_or(KeyRole::User);
        Err(Refusal::new(Kind::NotAllowed, message).with_remedy(another_key(first)))
    }

    /// Acts for themselves: a user or superadmin whose key is no agent's and comes from no dispatch.
    pub fn is_person(&self) -> bool {
        self.role >= KeyRole::User && self.agent.is_none() && self.lineage.is_empty()
    }

    /// Unknown identity is refused.
    pub fn require_agent(&self) -> Result<AgentId, Refusal> {
        let remedy = if self.role == KeyRole::Agent {
            "register an agent with the key: `windlass story agent register --name NAME` (POST /agents/register)"
        } else {
            "have a user make a key of this role with an `agent_id`: `windlass story keys create --name NAME --role ROLE --agent AGENT`"
        };
        self.agent.ok_or_else(|| {
            let why = "this key is bound to no agent, so nobody could tell whose work this is";
            Refusal::new(Kind::Malformed, why).with_remedy(remedy)
        })
    }
}

/// How whoever has the wrong key gets the right one.
const fn another_key(role: KeyRole) -> &'static str {
    match role {
        KeyRole::Agent => {
            "ask with an agent's key, `windlass story keys create --name NAME --role agent`; on this machine, `--as agent:NAME`"
        }
        KeyRole::Orchestrator => {
            "ask with an orchestrator's key, `windlass story keys create --name NAME --role orchestrator --agent AGENT`; \
             on this machine, `--as orchestrator:NAME`"
        }
        KeyRole::User => {
            "have a user do it; `windlass story whoami` says whose key this is, and on this machine `--as user` is the user"
        }
        KeyRole::Superadmin => {
            "have the operator do it: `windlass serve new-key NAME --superadmin` makes such a key"
        }
    }
}
