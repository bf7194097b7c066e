//! The tenant, its keys and agents.

use crate::asked::{Asked, Look, Reply, parse_moment};
use crate::keys;
use crate::resolve;
use crate::route::Kind::{Boolean, Integer, Object, Text};
use crate::route::{PAGE, Route, Who, needs, takes};
use crate::seen::Seen;
use crate::views;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use windlass_control_api::stories::Method::{Delete, Patch, Post};
use windlass_protocols::protocol::story_queue::decide::{Decided, Draft};
use windlass_protocols::protocol::story_queue::refusal::Refusal;
use windlass_protocols::protocol::story_queue::tenancy::{
    self, AgentKind, MakeKey, RegisterAgent, RotateKey, SettingValue, TenantEdit,
};
use windlass_protocols::protocol::story_queue::vocabulary::{JsonText, KeyId, KeyRole};

pub(crate) const ROUTES: &[Route] = &[
    Route::read("/tenants/me", Who::AnyKey, "The tenant of this key, and whose key it is", me),
    Route::write(
        Patch,
        "/tenants/me",
        Who::AtLeast(KeyRole::User),
        "Change the tenant; settings are merged",
        update,
    )
    .body(&[
        takes("name", Text),
        takes("email", Text),
        takes("settings", Object),
        takes("default_story_budget_millicents", Integer),
        takes("token_data_retention_days", Integer),
    ]),
    Route::write(Post, "/api_keys", Who::AtLeast(KeyRole::User), "Make a key; it is shown once", make_key)
        .body(&[
            needs("name", Text),
            needs("role", Text),
            takes("agent_id", Text),
            takes("expires_at", Text),
        ]),
    Route::read("/api_keys", Who::AtLeast(KeyRole::User), "The tenant's keys", list_keys).query(&[
        PAGE[0],
        PAGE[1],
        takes("include_revoked", Boolean),
    ]),
    Route::write(Delete, "/api_keys/:id", Who::AtLeast(KeyRole::User), "Revoke a key", revoke_key),
    Route::write(
        Post,
        "/api_keys/:id/rotate",
        Who::AtLeast(KeyRole::User),
        "Replace a key; the old one works for a while",
        rotate_key,
    )
    .body(&[takes("grace_period_hours", Integer)]),
    Route::write(
        Post,
        "/agents/register",
        Who::Exactly(&[KeyRole::Agent]),
        "Register the agent this key belongs to from then on",
        register,
    )
    .body(&[needs("name", Text), takes("agent_type", Text), takes("metadata", Object)]),
    Route::read("/agents", Who::AtLeast(KeyRole::Orchestrator), "The tenant's agents", list_agents)
        .query(&PAGE),
    Route::read("/agents/:id", Who::AtLeast(KeyRole::Orchestrator), "One agent, by id or name", show_agent),
];

fn me(look: &Look<'_>, _: &Asked) -> Decided<Reply> {
    let mut tenant = views::tenancy::tenant(look.ledger);
    let caller = look.caller;
    let agent = caller.agent.and_then(|id| look.ledger.tenancy.agent(id));
    if let Value::Object(fields) = &mut tenant {
        let key = json!({
            "id": caller.key,
            "role": caller.role.name(),
            "agent_id": caller.agent,
            "agent_name": agent.map(|agent| &agent.name),
            "lineage_path": views::tenancy::lineage(&caller.lineage),
            "label": caller.label,
        });
        fields.insert("api_key".into(), key);
    }
    Ok(Reply::ok(json!({ "tenant": tenant })))
}

fn update(draft: &mut Draft<'_>, asked: &Asked) -> Decided<Reply> {
    let mut settings = BTreeMap::new();
    for (name, value) in asked.value("settings").and_then(Value::as_object).into_iter().flatten() {
        settings.insert(name.clone(), setting(value));
    }
    let days = asked.number("token_data_retention_days")?;
    let edit = TenantEdit {
        name: asked.owned("name"),
        email: asked.owned("email"),
        settings,
        default_story_budget_millicents: asked.number("default_story_budget_millicents")?,
        token_data_retention_days: days.map(|days| u32::try_from(days).unwrap_or(u32::MAX)),
    };
    tenancy::update(draft, edit)?;
    Ok(Reply::ok(json!({ "tenant": views::tenancy::tenant(draft.ledger()) })))
}

fn setting(value: &Value) -> SettingValue {
    match (value.as_bool(), value.as_u64()) {
        (Some(flag), _) => SettingValue::Flag(flag),
        (_, Some(number)) => SettingValue::Number(number),
        _ => SettingValue::Json(JsonText(value.to_string())),
    }
}

pub(crate) fn role(name: &str) -> Decided<KeyRole> {
    [KeyRole::Agent, KeyRole::Orchestrator, KeyRole::User, KeyRole::Superadmin]
        .into_iter()
        .find(|role| role.name() == name)
        .ok_or_else(|| Refusal::field("role", "must be agent, orchestrator or user"))
}

fn make_key(draft: &mut Draft<'_>, asked: &Asked) -> Decided<Reply> {
    let (raw, key) = keys::make(asked.random);
    let agent = asked.text("agent_id").map(|word| resolve::agent(draft.ledger(), word)).transpose()?;
    let expires = asked.text("expires_at").map(|text| parse_moment("expires_at", text)).transpose()?;
    let ask = MakeKey { name: asked.needed("name"), role: role(&asked.needed("role"))?, agent, expires, key };
    let made = tenancy::make_key(draft, ask)?;
    Ok(shown_once(&views::tenancy::key(&made, &Seen::default()), &raw))
}

/// The raw key is in this answer and nowhere else.
fn shown_once(key: &Value, raw: &str) -> Reply {
    Reply::created(json!({ "api_key": key, "raw_key": raw })).with_secret("/raw_key")
}

fn list_keys(look: &Look<'_>, asked: &Asked) -> Decided<Reply> {
    let all = asked.query_flag("include_revoked")?;
    let keys: Vec<_> = look.ledger.tenancy.keys().filter(|key| all || key.revoked.is_none()).collect();
    let page = asked.page(20, 100)?;
    Ok(Reply::ok(page.of(&keys, |key| views::tenancy::key(key, look.seen))))
}

fn revoke_key(draft: &mut Draft<'_>, asked: &Asked) -> Decided<Reply> {
    let key = tenancy::revoke_key(draft, asked.id::<KeyId>("id", "api key")?)?;
    Ok(Reply::ok(json!({ "api_key": views::tenancy::key(&key, &Seen::default()) })))
}

fn rotate_key(draft: &mut Draft<'_>, asked: &Asked) -> Decided<Reply> {
    let (raw, with) = keys::make(asked.random);
    let key = asked.id::<KeyId>("id", "api key")?;
    let ask = RotateKey { key, grace_period_hours: asked.number("grace_period_hours")?, with };
    let rotated = tenancy::rotate_key(draft, ask)?;
    let mut reply = shown_once(&views::tenancy::key(&rotated.key, &Seen::default()), &raw);
    reply.body["old_key"] =
        json!({ "id": rotated.old, "expires_at": crate::asked::moment(rotated.old_expires) });
    Ok(reply)
}

fn register(draft: &mut Draft<'_>, asked: &Asked) -> Decided<Reply> {
    let kind = match asked.text("agent_type") {
        None | Some("implementer") => AgentKind::Implementer,
        Some("orchestrator") => AgentKind::Orchestrator,
        Some(_) => return Err(Refusal::field("agent_type", "must be orchestrator or implementer")),
    };
    let metadata = asked.json("metadata").unwrap_or_default();
    let agent = tenancy::register_agent(draft, RegisterAgent { name: asked.needed("name"), kind, metadata })?;
    Ok(Reply::created(json!({ "agent": views::tenancy::agent(&agent, &Seen::default()) })))
}

fn list_agents(look: &Look<'_>, asked: &Asked) -> Decided<Reply> {
    let agents: Vec<_> = look.ledger.tenancy.agents().collect();
    Ok(Reply::ok(asked.page(20, 100)?.of(&agents, |agent| views::tenancy::agent(agent, look.seen))))
}

fn show_agent(look: &Look<'_>, asked: &Asked) -> Decided<Reply> {
    let id = resolve::agent(look.ledger, asked.parameter("id"))?;
    let agent = look.ledger.tenancy.agent(id).ok_or_else(|| Refusal::not_found("agent"))?;
    Ok(Reply::ok(json!({ "agent": views::tenancy::agent(agent, look.seen) })))
}
