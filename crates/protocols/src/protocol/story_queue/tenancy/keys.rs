//! API keys: made, rotated and revoked by people. A role never changes, and nobody makes a key above their own.

use super::Change;
use super::entities::{Key, NewKey};
use crate::protocol::story_queue::decide::{Decided, Draft};
use crate::protocol::story_queue::facts;
use crate::protocol::story_queue::refusal::{Kind, Refusal};
use crate::protocol::story_queue::refusal_code::RefusalCode;
use crate::protocol::story_queue::vocabulary::{AgentId, KeyId, KeyRole, Micros};
use alloc::boxed::Box;
use alloc::format;
use alloc::string::String;

const GRACE_HOURS: u64 = 24;

#[derive(Clone, Debug)]
pub struct MakeKey {
    pub name: String,
    pub role: KeyRole,
    pub agent: Option<AgentId>,
    pub expires: Option<Micros>,
    pub key: NewKey,
}

#[derive(Clone, Debug)]
pub struct RotateKey {
    pub key: KeyId,
    pub grace_period_hours: Option<u64>,
    pub with: NewKey,
}

#[derive(Clone, Debug)]
pub struct Rotated {
    pub key: Key,
    pub old: KeyId,
    pub old_expires: Micros,
}

pub fn make_key(draft: &mut Draft, ask: MakeKey) -> Decided<Key> {
    draft.caller().require_at_least(KeyRole::User)?;
    require_person(draft)?;
    if ask.role == KeyRole::Superadmin {
        let why = "superadmin keys belong to no tenant and are made by the operator";
        return Err(Refusal::field("role", why));
    }
    named(&ask.name)?;
    let tenancy = &draft.ledger().tenancy;
    if ask.agent.is_some_and(|agent| tenancy.agent(agent).is_none()) {
        return Err(Refusal::not_found("agent"));
    }
    if ask.expires.is_some_and(|expires| expires <= draft.at()) {
        return Err(Refusal::field("expires_at", "must be in the future"));
    }
    let at = draft.at();
    let people = tenancy.keys().filter(|key| key.dispatch.is_none() && key.is_active(at));
    if u64::try_from(people.count()).unwrap_or(u64::MAX) >= tenancy.settings.max_api_keys {
        let why = format!("the tenant has its {} keys (max_api_keys)", tenancy.settings.max_api_keys);
        return Err(Refusal::new(Kind::Invalid, why).with_code(RefusalCode::LimitReached));
    }
    let same = |key: &&Key| key.dispatch.is_none() && key.agent == ask.agent && key.role == ask.role;
    let bound = ask.agent.is_some() && ask.role != KeyRole::User;
    if bound && tenancy.keys().filter(same).any(|key| key.is_active(at)) {
        let why = "the agent already has an active key of this role; rotate or revoke it";
        return Err(Refusal::new(Kind::Conflict, why).with_code(RefusalCode::KeyExists));
    }
    Ok(keep(draft, ask))
}

/// Whoever makes a key sees it, and could act as whoever it is for. An agent that is given a user's key would make itself
/// everybody whom custody keeps apart.
fn require_person(draft: &Draft) -> Decided<()> {
    left_to_people(draft, "keys are made by people, and this key is an agent's")
}

pub(in crate::protocol::story_queue) fn left_to_people(draft: &Draft, why: &str) -> Decided<()> {
    if draft.caller().is_person() {
        return Ok(());
    }
    Err(Refusal::new(Kind::NotAllowed, why).with_code(RefusalCode::PersonRequired))
}

/// The first key of a new tenant, made by the operator with the tenant; there is nobody yet to ask.
pub fn first_key(draft: &mut Draft, name: String, key: NewKey) -> Decided<Key> {
    if draft.ledger().tenancy.keys().next().is_some() {
        return Err(Refusal::new(Kind::Conflict, "the tenant has keys; a user makes further ones"));
    }
    Ok(keep(draft, MakeKey { name, role: KeyRole::User, agent: None, expires: None, key }))
}

fn keep(draft: &mut Draft, ask: MakeKey) -> Key {
    let key = Key {
        id: KeyId(draft.ids().fresh()),
        name: ask.name,
        hash: ask.key.hash,
        prefix: ask.key.prefix,
        role: ask.role,
        agent: ask.agent,
        dispatch: None,
        created: draft.at(),
        expires: ask.expires,
        revoked: None,
    };
    draft.record(None, facts::Change::Tenancy(Change::KeyMade { key: Box::new(key.clone()) }));
    key
}

/// The same name, role and agent under a new secret; the old one goes on working for the grace period.
pub fn rotate_key(draft: &mut Draft, ask: RotateKey) -> Decided<Rotated> {
    draft.caller().require_at_least(KeyRole::User)?;
    let Some(old) = draft.ledger().tenancy.key(ask.key).cloned() else {
        return Err(Refusal::not_found("api key"));
    };
    // One's own may be replaced; another's would be handed to whoever asks.
    if ask.key != draft.caller().key {
        require_person(draft)?;
    }
    if !old.is_active(draft.at()) {
        return Err(Refusal::new(Kind::Conflict, "the key has expired or was revoked; make a new one"));
    }
    if old.dispatch.is_some() {
        return Err(Refusal::new(Kind::Conflict, "the key belongs to a dispatch and ends with it"));
    }
    let hours = ask.grace_period_hours.unwrap_or(GRACE_HOURS);
    if hours > 24 * 365 {
        return Err(Refusal::field("grace_period_hours", "must be a year or less"));
    }
    let grace = draft.at().plus(Micros::seconds(hours.saturating_mul(3600)));
    let until = old.expires.map_or(grace, |expires| expires.min(grace));
    let key = Key {
        id: KeyId(draft.ids().fresh()),
        hash: ask.with.hash,
        prefix: ask.with.prefix,
        created: draft.at(),
        expires: old.expires,
        ..old
    };
    let rotated = Change::KeyRotated { old: ask.key, until, key: Box::new(key.clone()) };
    draft.record(None, facts::Change::Tenancy(rotated));
    Ok(Rotated { key, old: ask.key, old_expires: until })
}

pub fn revoke_key(draft: &mut Draft, id: KeyId) -> Decided<Key> {
    draft.caller().require_at_least(KeyRole::User)?;
    let Some(key) = draft.ledger().tenancy.key(id).cloned() else {
        return Err(Refusal::not_found("api key"));
    };
    if key.revoked.is_none() {
        draft.record(None, facts::Change::Tenancy(Change::KeyRevoked { key: id }));
    }
    Ok(draft.ledger().tenancy.key(id).cloned().unwrap_or(key))
}

fn named(name: &str) -> Decided<()> {
    match name.trim().chars().count() {
        1..=255 => Ok(()),
        _ => Err(Refusal::field("name", "must be 1 to 255 characters")),
    }
}
