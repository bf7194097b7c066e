//! Agents: registered by themselves, with a key that is theirs from then on.

use super::Change;
use super::entities::{Agent, AgentKind, AgentState};
use crate::protocol::story_queue::decide::{Decided, Draft};
use crate::protocol::story_queue::facts;
use crate::protocol::story_queue::refusal::{Kind, Refusal};
use crate::protocol::story_queue::refusal_code::RefusalCode;
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
        return Err(Refusal::new(Kind::Conflict, why).with_code(RefusalCode::AgentAlreadyRegistered));
    }
    let name = sound_name(&ask.name)?;
    if let Some(known) = draft.ledger().tenancy.agent_by_name(&name) {
        let why = alloc::format!("another agent of the tenant has this name: {}", known.name);
        return Err(Refusal::new(Kind::Conflict, why)
            .with_detail("name", "has already been taken")
            .with_remedy("`windlass story agent list` shows the names; upper and lower case are one name"));
    }
    let agent = Agent {
        id: AgentId(draft.ids().fresh()),
        name,
        kind: ask.kind,
        status: AgentState::Active,
        metadata: ask.metadata,
        registered: draft.at(),
    };
    let change = Change::AgentRegistered { agent: Box::new(agent.clone()), key: caller.key };
    draft.record(None, facts::Change::Tenancy(change));
    Ok(agent)
}

/// Whoever reads the log must be able to tell two agents apart: without blanks around it, without what cannot be seen, and
/// not spelled like an id.
fn sound_name(name: &str) -> Decided<String> {
    let name = name.trim();
    let count = name.chars().count();
    if !(1..=255).contains(&count) {
        return Err(Refusal::field("name", "must be 1 to 255 characters"));
    }
    if name.chars().any(is_unseen) {
        return Err(Refusal::field(
            "name",
            "must hold no characters that cannot be seen, and no blanks but spaces",
        ));
    }
    if name.parse::<AgentId>().is_ok() {
        return Err(Refusal::field("name", "must not be spelled like an id"));
    }
    Ok(name.into())
}

/// Control characters, blanks other than a space, and what has no width or turns the direction of writing.
fn is_unseen(sign: char) -> bool {
    let formats = matches!(sign,
        '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{115f}' | '\u{1160}' | '\u{17b4}' | '\u{17b5}' | '\u{180b}'..='\u{180f}'
        | '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{3164}' | '\u{fe00}'..='\u{fe0f}'
        | '\u{feff}' | '\u{ffa0}' | '\u{e0000}'..='\u{e0fff}');
    formats || sign.is_control() || (sign.is_whitespace() && sign != ' ')
}
