//! Agents: registered by themselves, with a key that is theirs from then on.

use super::Change;
use super::entities::{Agent, AgentKind, AgentState};
use crate::protocol::story_queue::decide::{Decided, Draft};
use crate::protocol::story_queue::facts;
use crate::protocol::story_queue::refusal::{Kind, Refusal};
use crate::protocol::story_queue::vocabulary::{AgentId, JsonText, KeyRole};
use alloc::boxed::Box;
use alloc::string::String;

#[derive(Clone, Debug)]
pub struct RegisterAgent {
    pub name: String,
    pub kind: AgentKind,
    pub metadata: JsonText,
}

pub fn register_agent(draft: &mut Draft, ask: RegisterAgent) -> Decided<Agent> {
    let caller = draft.caller();
    caller.require_exactly(&[KeyRole::Agent])?;
    let Some(key) = draft.ledger().tenancy.key(caller.key) else {
        return Err(Refusal::new(Kind::NotAllowed, "an agent registers itself with a key of this tenant"));
    };
    if key.agent.is_some() {
        let why = "this key already belongs to an agent: one key, one agent";
        return Err(Refusal::new(Kind::Conflict, why).with_code("agent_already_registered"));
    }
    if !(1..=255).contains(&ask.name.trim().chars().count()) {
        return Err(Refusal::field("name", "must be 1 to 255 characters"));
    }
    if draft.ledger().tenancy.agent_by_name(&ask.name).is_some() {
        let why = "another agent of the tenant has this name";
        return Err(Refusal::new(Kind::Conflict, why).with_detail("name", "has already been taken"));
    }
    let agent = Agent {
        id: AgentId(draft.ids().fresh()),
        name: ask.name,
        kind: ask.kind,
        status: AgentState::Active,
        metadata: ask.metadata,
        registered: draft.at(),
    };
    let change = Change::AgentRegistered { agent: Box::new(agent.clone()), key: caller.key };
    draft.record(None, facts::Change::Tenancy(change));
    Ok(agent)
}
