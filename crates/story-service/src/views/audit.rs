//! Entries as rows of the audit log and the change feed. Digests of keys, sealed secrets and the ids of tokens are left out:
//! whoever reads the log must not be able to use what it speaks of.

use crate::asked::{id_or_null, moment};
use serde_json::{Map, Value, json};
use windlass_protocols::protocol::story_queue::caller::ActorKind;
use windlass_protocols::protocol::story_queue::facts::{Change, Entry};
use windlass_protocols::protocol::story_queue::webhooks;
use windlass_protocols::protocol::story_queue::work::{self, Standing};

/// Bookkeeping of the server itself is not news: a webhook that is told of something would make news of its own.
pub(crate) fn is_shown(entry: &Entry) -> bool {
    use webhooks::Change::{Attempted, Forgotten, Queued};
    !matches!(
        entry.change,
        Change::Answers(_) | Change::Webhooks(Queued { .. } | Attempted { .. } | Forgotten { .. })
    )
}

pub(crate) struct Described {
    pub entity_type: String,
    pub entity_id: Value,
    pub action: String,
    pub old_state: Value,
    pub new_state: Value,
}

pub(crate) fn row(sequence: u64, entry: &Entry) -> Value {
    let told = describe(&entry.change);
    json!({
        "id": sequence,
        "sequence": sequence,
        "project_id": id_or_null(entry.project),
        "entity_type": told.entity_type,
        "entity_id": told.entity_id,
        "action": told.action,
        "actor_type": actor_type(entry.by.kind),
        "actor_id": id_or_null(entry.by.key),
        "actor_agent_id": id_or_null(entry.by.agent),
        "actor_lineage": entry.by.lineage,
        "actor_label": entry.by.label,
        "old_state": told.old_state,
        "new_state": told.new_state,
        "inserted_at": moment(entry.at),
    })
}

pub(crate) fn actor_type(kind: ActorKind) -> &'static str {
    match kind {
        ActorKind::ApiKey => "api_key",
        ActorKind::System => "system",
        ActorKind::Superadmin => "superadmin",
        ActorKind::Human => "human",
    }
}

pub(crate) fn describe(change: &Change) -> Described {
    if let Change::Work(work::Change::Moved { story, from, to, how }) = change {
        let mut new_state = standing(*to);
        if let (Value::Object(new), Ok(Value::Object(how))) = (&mut new_state, serde_json::to_value(how)) {
            new.extend(how.into_iter().filter(|(name, _)| name != "by"));
        }
        return Described {
            entity_type: "story".to_owned(),
            entity_id: json!(story),
            action: how.action().to_owned(),
            old_state: standing(*from),
            new_state,
        };
    }
    let (area, mut fields) = match serde_json::to_value(change) {
        Ok(Value::Object(outer)) => match outer.into_iter().next() {
            Some((area, Value::Object(fields))) => (area, fields),
            _ => (String::new(), Map::new()),
        },
        _ => (String::new(), Map::new()),
    };
    let what =
        fields.shift_remove("what").and_then(|what| what.as_str().map(ToOwned::to_owned)).unwrap_or_default();
    for field in fields.values_mut() {
        hush(field);
    }
    let (entity_type, entity_id) = entity(&area, &what, &fields);
    let old_state = fields.shift_remove("was").unwrap_or(Value::Null);
    let new_state = fields.shift_remove("now").unwrap_or(Value::Object(fields));
    Described { entity_type, entity_id, action: action(&what), old_state, new_state }
}

fn standing(standing: Standing) -> Value {
    json!({ "agent_status": standing.agent.name(), "verified_status": standing.verified.name() })
}

/// `story-added` is the creation of a story; other words are told as they are.
fn action(what: &str) -> String {
    let verb = what.rsplit('-').next().unwrap_or(what);
    match (what.contains('-'), verb) {
        (true, "added" | "created" | "made" | "founded") => "created".to_owned(),
        (true, "changed" | "updated") => "updated".to_owned(),
        (true, "deleted" | "removed") => "deleted".to_owned(),
        _ => what.replace('-', "_"),
    }
}

/// The thing is named by the first word (`story-added`), or is the tenant's where the word names none.
fn entity(area: &str, what: &str, fields: &Map<String, Value>) -> (String, Value) {
    let id_in = |name: &str| match fields.get(name) {
        Some(Value::String(id)) => Some(json!(id)),
        Some(Value::Object(thing)) => Some(thing.get("id").cloned().unwrap_or(Value::Null)),
        _ => None,
    };
    let first = what.split('-').next().unwrap_or_default();
    if let Some(id) = id_in(first) {
        let name = if first == "key" { "api_key" } else { first };
        return (name.to_owned(), id);
    }
    let nested = ["review", "verification", "artifact"]
        .iter()
        .find_map(|name| fields.get(*name)?.get("story").cloned());
    if let Some(story) = nested {
        return ("story".to_owned(), story);
    }
    for name in ["story", "epic", "project", "webhook", "article", "skill", "run", "id"] {
        if let Some(id) = id_in(name) {
            return ((if name == "id" { area } else { name }).replace('-', "_"), id);
        }
    }
    (if area == "tenancy" { "tenant".to_owned() } else { area.replace('-', "_") }, Value::Null)
}

fn hush(value: &mut Value) {
    match value {
        Value::Object(fields) => {
            fields.retain(|name, _| name != "hash" && name != "sealed_secret");
            // A token: its id is what its holder shows.
            if fields.contains_key("consumed") && fields.contains_key("holder") {
                fields.shift_remove("id");
            }
            fields.values_mut().for_each(hush);
        }
        Value::Array(items) => items.iter_mut().for_each(hush),
        _ => {}
    }
}
