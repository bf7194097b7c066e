//! The tenant, its keys, agents and dispatches as clients see them. A key's hash is never shown.

use crate::asked::{free_json, id_or_null, maybe_moment, moment};
use crate::seen::Seen;
use serde_json::{Map, Value, json};
use windlass_protocols::protocol::story_queue::custody::{Dispatch, Holds, Token, Violation};
use windlass_protocols::protocol::story_queue::ledger::Ledger;
use windlass_protocols::protocol::story_queue::tenancy::{Agent, Key, SettingValue};
use windlass_protocols::protocol::story_queue::vocabulary::DispatchId;

pub(crate) fn tenant(ledger: &Ledger) -> Value {
    let tenancy = &ledger.tenancy;
    let settings: Map<String, Value> =
        tenancy.settings.listed().into_iter().map(|(name, value)| (name, setting(&value))).collect();
    json!({
        "id": id_or_null(tenancy.id),
        "name": tenancy.name,
        "slug": tenancy.slug,
        "email": tenancy.email,
        "status": tenancy.status.name(),
        "settings": settings,
        "default_story_budget_millicents": tenancy.default_story_budget_millicents,
        "token_data_retention_days": tenancy.token_data_retention_days,
        "custody_halted_at": maybe_moment(ledger.custody.halted().map(|halt| halt.at)),
        "inserted_at": moment(tenancy.created),
        "updated_at": moment(tenancy.updated),
    })
}

fn setting(value: &SettingValue) -> Value {
    match value {
        SettingValue::Flag(flag) => json!(flag),
        SettingValue::Number(number) => json!(number),
        SettingValue::Json(text) => free_json(text),
    }
}

pub(crate) fn key(key: &Key, seen: &Seen) -> Value {
    json!({
        "id": key.id,
        "name": key.name,
        "key_prefix": key.prefix,
        "role": key.role.name(),
        "agent_id": id_or_null(key.agent),
        "dispatch_id": id_or_null(key.dispatch),
        "last_used_at": maybe_moment(seen.key(key.id)),
        "expires_at": maybe_moment(key.expires),
        "revoked_at": maybe_moment(key.revoked),
        "inserted_at": moment(key.created),
    })
}

pub(crate) fn agent(agent: &Agent, seen: &Seen) -> Value {
    json!({
        "id": agent.id,
        "name": agent.name,
        "agent_type": agent.kind.name(),
        "status": agent.status.name(),
        "last_seen_at": maybe_moment(seen.agent(agent.id)),
        "metadata": free_json(&agent.metadata),
        "inserted_at": moment(agent.registered),
    })
}

pub(crate) fn dispatch(dispatch: &Dispatch) -> Value {
    json!({
        "id": dispatch.id,
        "parent_dispatch_id": id_or_null(dispatch.parent),
        "api_key_id": dispatch.key,
        "agent_id": id_or_null(dispatch.agent),
        "story_id": id_or_null(dispatch.story),
        "role": dispatch.role.name(),
        "lineage_path": lineage(&dispatch.lineage),
        "expires_at": moment(dispatch.expires),
        "revoked_at": maybe_moment(dispatch.revoked),
        "created_at": moment(dispatch.created),
    })
}

pub(crate) fn lineage(lineage: &[DispatchId]) -> Value {
    lineage.iter().map(ToString::to_string).collect::<Vec<_>>().into()
}

/// `text` is what the holder sends back.
pub(crate) fn token(token: &Token, text: &str) -> Value {
    json!({
        "token": text,
        "typ": token.kind.name(),
        "story_id": token.story,
        "issued_to_lineage": token.holder.as_ref().map(|holder| lineage(&holder.lineage)),
        "issued_at": moment(token.issued),
        "expires_at": moment(token.expires),
    })
}

pub(crate) fn violation(violation: &Violation) -> Value {
    json!({
        "id": violation.id,
        "violation_type": violation.kind.name(),
        "entity_type": "story",
        "entity_id": violation.story,
        "detail": violation.detail,
        "actor_label": violation.by.label,
        "agent_id": id_or_null(violation.by.agent),
        "status": violation.status.name(),
        "holds_story": violation.holds == Holds::Story,
        "note": violation.note,
        "inserted_at": moment(violation.at),
    })
}
