//! Dispatches: a key for one piece of work, with a lineage that tells whose hand it comes from, and an end.

use super::entities::Dispatch;
use super::{Change, State};
use crate::protocol::story_queue::decide::{Decided, Draft};
use crate::protocol::story_queue::facts;
use crate::protocol::story_queue::ledger::Ledger;
use crate::protocol::story_queue::refusal::{Kind, Refusal};
use crate::protocol::story_queue::refusal_code::RefusalCode;
use crate::protocol::story_queue::tenancy::{self, Key, NewKey};
use crate::protocol::story_queue::vocabulary::{
    AgentId, DispatchId, KeyId, KeyRole, Micros, ProjectId, StoryId,
};
use crate::protocol::story_queue::work::{self, Principal, Track};
use alloc::boxed::Box;
use alloc::format;
use alloc::vec::Vec;

const SHORTEST: u64 = 60;
const LONGEST: u64 = 14_400;
const USUAL: u64 = 3600;

#[derive(Clone, Debug)]
pub struct OpenDispatch {
    pub role: KeyRole,
    pub agent: AgentId,
    pub parent: Option<DispatchId>,
    pub story: Option<StoryId>,
    pub expires_in_seconds: Option<u64>,
    /// Made by the shell: the core sees only what is stored of a key.
    pub key: NewKey,
}

#[derive(Clone, Debug)]
pub struct Opened {
    pub dispatch: Dispatch,
    pub key: Key,
}

pub fn open(draft: &mut Draft, ask: OpenDispatch) -> Decided<Opened> {
    let caller = draft.caller();
    caller.require_at_least(KeyRole::Orchestrator)?;
    // Whose hands a dispatch comes from must be known: it counts in everything that is done under it.
    if caller.role == KeyRole::Orchestrator {
        caller.require_agent()?;
    }
    super::require_going(draft)?;
    let seconds = ask.expires_in_seconds.unwrap_or(USUAL);
    if !(SHORTEST..=LONGEST).contains(&seconds) {
        return Err(Refusal::field("expires_in_seconds", &format!("must be {SHORTEST} to {LONGEST}")));
    }
    if ask.role > KeyRole::Orchestrator {
        let why = "a dispatch is for an agent or an orchestrator; keys of people are made by people";
        return Err(Refusal::new(Kind::NotAllowed, why).with_code(RefusalCode::RoleEscalation));
    }
    if draft.ledger().tenancy.agent(ask.agent).is_none() {
        return Err(Refusal::not_found("agent"));
    }
    let project = project_of(draft.ledger(), ask.story)?;
    let parent = parent_for(draft, ask.parent)?;
    let id = DispatchId(draft.ids().fresh());
    let mut lineage = parent.as_ref().map(|parent| parent.lineage.clone()).unwrap_or_default();
    lineage.push(id);
    let mut expires = draft.at().plus(Micros::seconds(seconds));
    if let Some(parent) = &parent {
        expires = expires.min(parent.expires);
    }
    let key = Key {
        id: KeyId(draft.ids().fresh()),
        name: format!("dispatch {id}"),
        hash: ask.key.hash,
        prefix: ask.key.prefix,
        role: ask.role,
        agent: Some(ask.agent),
        dispatch: Some(id),
        created: draft.at(),
        expires: Some(expires),
        revoked: None,
    };
    let dispatch = Dispatch {
        id,
        parent: parent.map(|parent| parent.id),
        key: key.id,
        agent: Some(ask.agent),
        story: ask.story,
        role: ask.role,
        lineage,
        created: draft.at(),
        expires,
        revoked: None,
    };
    let made = tenancy::Change::KeyMade { key: Box::new(key.clone()) };
    draft.record(project, facts::Change::Tenancy(made));
    let opened = Change::DispatchOpened { dispatch: Box::new(dispatch.clone()) };
    draft.record(project, facts::Change::Custody(opened));
    Ok(Opened { dispatch, key })
}

fn project_of(ledger: &Ledger, story: Option<StoryId>) -> Decided<Option<ProjectId>> {
    match story {
        None => Ok(None),
        Some(id) => match ledger.plan.story(id) {
            Some(story) => Ok(Some(story.project)),
            None => Err(Refusal::not_found("story")),
        },
    }
}

/// An orchestrator dispatches below itself. A fresh root is a new identity, so only people (or a tenant that says so) make one.
fn parent_for(draft: &Draft, named: Option<DispatchId>) -> Decided<Option<Dispatch>> {
    let caller = draft.caller();
    let free = caller.role >= KeyRole::User
        || (caller.lineage.is_empty() && draft.ledger().tenancy.settings.orchestrator_root_dispatches);
    let Some(id) = named.or_else(|| if free { None } else { caller.lineage.last().copied() }) else {
        if free {
            return Ok(None);
        }
        let why = "only a user's key opens a root dispatch; an orchestrator dispatches below its own";
        return Err(Refusal::new(Kind::NotAllowed, why).with_code(RefusalCode::RootDispatchForbidden));
    };
    let Some(parent) = draft.ledger().custody.dispatch(id) else {
        return Err(Refusal::not_found("parent dispatch"));
    };
    let own = caller.lineage.last().is_some_and(|own| parent.lineage.contains(own));
    if !free && !own {
        let why = "the parent dispatch is neither yours nor below yours";
        return Err(Refusal::new(Kind::NotAllowed, why).with_code(RefusalCode::WrongLineage));
    }
    let alive =
        |id: &DispatchId| draft.ledger().custody.dispatch(*id).is_some_and(|d| d.is_active(draft.at()));
    if !parent.lineage.iter().all(alive) {
        let why = "the parent dispatch has expired or was revoked";
        return Err(Refusal::new(Kind::NotAllowed, why).with_code(RefusalCode::ParentDispatchExpired));
    }
    Ok(Some(parent.clone()))
}

/// Ends a dispatch, everything below it, and their keys.
pub fn revoke(draft: &mut Draft, id: DispatchId) -> Decided<Vec<DispatchId>> {
    let caller = draft.caller();
    caller.require_at_least(KeyRole::Orchestrator)?;
    let Some(dispatch) = draft.ledger().custody.dispatch(id) else {
        return Err(Refusal::not_found("dispatch"));
    };
    let own = caller.lineage.last().is_some_and(|own| dispatch.lineage.contains(own));
    if caller.role < KeyRole::User && !caller.lineage.is_empty() && !own {
        let why = "the dispatch is neither yours nor below yours";
        return Err(Refusal::new(Kind::NotAllowed, why).with_code(RefusalCode::WrongLineage));
    }
    if dispatch.revoked.is_some() {
        return Ok(Vec::new());
    }
    Ok(end(draft, id))
}

/// For the server's timer: dispatches whose time is over, with their keys.
pub fn revoke_expired(draft: &mut Draft) -> Decided<Vec<DispatchId>> {
    let at = draft.at();
    let custody = &draft.ledger().custody;
    let over = |id: &DispatchId| custody.dispatch(*id).is_some_and(|dispatch| !dispatch.is_active(at));
    let expired: Vec<DispatchId> = custody.open.iter().copied().filter(over).collect();
    let mut ended = Vec::new();
    for id in expired {
        let still_open = draft.ledger().custody.open.contains(&id);
        if still_open {
            ended.extend(end(draft, id));
        }
    }
    Ok(ended)
}

fn end(draft: &mut Draft, id: DispatchId) -> Vec<DispatchId> {
    let with = draft.ledger().custody.descendants(id);
    let mut all = Vec::from([id]);
    all.extend(&with);
    for id in &all {
        let key = draft.ledger().custody.dispatch(*id).map(|dispatch| dispatch.key);
        let live =
            key.filter(|key| draft.ledger().tenancy.key(*key).is_some_and(|key| key.revoked.is_none()));
        if let Some(key) = live {
            draft.record(None, facts::Change::Tenancy(tenancy::Change::KeyRevoked { key }));
        }
    }
    draft.record(None, facts::Change::Custody(Change::DispatchRevoked { dispatch: id, with }));
    all
}

impl State {
    fn descendants(&self, id: DispatchId) -> Vec<DispatchId> {
        let mut found = Vec::new();
        let mut next = Vec::from([id]);
        while let Some(id) = next.pop() {
            for child in self.children.get(&id).into_iter().flatten() {
                if self.open.contains(child) {
                    found.push(*child);
                }
                next.push(*child);
            }
        }
        found
    }

    /// Those still running at the moment, in order of creation.
    pub fn active(&self, at: Micros) -> impl Iterator<Item = &Dispatch> {
        self.open
            .iter()
            .filter_map(|id| self.dispatches.get(id))
            .filter(move |dispatch| dispatch.is_active(at))
    }
}

/// Whoever holds its key could give a verdict at this moment.
pub(in crate::protocol::story_queue) fn could_verify(
    ledger: &Ledger,
    dispatch: &Dispatch,
    at: Micros,
) -> bool {
    let has_key = ledger.tenancy.key(dispatch.key).is_some_and(|key| key.is_active(at));
    dispatch.is_active(at) && has_key && dispatch.role == KeyRole::Orchestrator && dispatch.agent.is_some()
}

/// The verifier is the server's choice: among running dispatches that could verify, were sent to no other story, and share no
/// hand with anybody who implemented this one, the one `draw` falls on. `draw` is taken from the audit key and the story by the shell, so nobody can steer it.
pub(in crate::protocol::story_queue) fn choose_verifier(
    ledger: &Ledger,
    (story, track): (StoryId, &Track),
    at: Micros,
    draw: u64,
) -> Option<DispatchId> {
    let fits = |dispatch: &&Dispatch| {
        could_verify(ledger, dispatch, at)
            && dispatch.story.is_none_or(|sent_to| sent_to == story)
            && work::may_verify(ledger, track, &Principal::sent(dispatch))
    };
    let pool: Vec<DispatchId> = ledger.custody.active(at).filter(fits).map(|dispatch| dispatch.id).collect();
    let size = u64::try_from(pool.len()).ok().filter(|size| *size > 0)?;
    pool.get(usize::try_from(draw % size).ok()?).copied()
}
