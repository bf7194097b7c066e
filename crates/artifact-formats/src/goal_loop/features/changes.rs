//! What differs between two states of the queue, item by item and field by field, and whose field it is: so that an
//! agent that edits another item or marks its own as complete is caught by name.

use serde_json::Value;

use super::{FeatureList, Placed};
use crate::goal_loop::item_id::ItemId;

/// Keys that only the engine writes.
const ENGINE_OWNED: [&str; 4] = ["status", "designed", "design_doc", "design_status"];

/// Empty where nothing differs but layout.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct DefinitionChanges {
    pub items: Vec<ItemChange>,
    /// Items that are in both stand in another order; order breaks ties of priority.
    pub reordered: bool,
    /// Keys beside `features` that differ.
    pub other_keys: Vec<String>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ItemChange {
    Added(ItemId),
    Removed(ItemId),
    Changed { id: ItemId, fields: Vec<FieldChange> },
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FieldChange {
    pub key: String,
    pub owner: FieldOwner,
    /// The value's own spelling; nothing where the key was absent.
    pub before: Option<String>,
    pub after: Option<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum FieldOwner {
    /// Status and design fields.
    Engine,
    /// Definitions.
    Person,
}

impl FieldOwner {
    pub fn of(key: &str) -> Self {
        if ENGINE_OWNED.contains(&key) { Self::Engine } else { Self::Person }
    }
}

impl ItemChange {
    pub fn id(&self) -> &ItemId {
        match self {
            Self::Added(id) | Self::Removed(id) | Self::Changed { id, .. } => id,
        }
    }

    /// One sentence, such as `F002: status changed from "not-started" to "complete"`.
    pub fn sentence(&self) -> String {
        match self {
            Self::Added(id) => format!("{id}: was added"),
            Self::Removed(id) => format!("{id}: was removed"),
            Self::Changed { id, fields } => {
                let parts: Vec<String> = fields.iter().map(FieldChange::phrase).collect();
                format!("{id}: {}", parts.join("; "))
            }
        }
    }
}

impl FieldChange {
    fn phrase(&self) -> String {
        let shown = |value: &Option<String>| match value {
            Some(value) => crate::one_line::one_line(value, 60),
            None => "nothing".to_owned(),
        };
        format!("{} changed from {} to {}", self.key, shown(&self.before), shown(&self.after))
    }
}

impl DefinitionChanges {
    /// From one state of the file to a later one. Respelled numbers of equal value, escapes and layout do not count.
    pub fn between(before: &FeatureList, after: &FeatureList) -> Self {
        let mut items = Vec::new();
        for old in &before.items {
            match find(after, &old.feature.id) {
                None => items.push(ItemChange::Removed(old.feature.id.clone())),
                Some(new) => {
                    let fields = fields(before, old, after, new);
                    if !fields.is_empty() {
                        items.push(ItemChange::Changed { id: old.feature.id.clone(), fields });
                    }
                }
            }
        }
        for new in &after.items {
            if find(before, &new.feature.id).is_none() {
                items.push(ItemChange::Added(new.feature.id.clone()));
            }
        }
        Self { items, reordered: reordered(before, after), other_keys: other_keys(before, after) }
    }

    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// Changes of items other than the one being worked on.
    pub fn outside(&self, active: &ItemId) -> Vec<&ItemChange> {
        self.items.iter().filter(|change| change.id() != active).collect()
    }

    /// Items whose field of this owner changed, with that field.
    pub fn fields_of(&self, owner: FieldOwner) -> impl Iterator<Item = (&ItemId, &FieldChange)> {
        self.items.iter().flat_map(move |change| match change {
            ItemChange::Changed { id, fields } => {
                fields.iter().filter(|field| field.owner == owner).map(|field| (id, field)).collect()
            }
            _ => Vec::new(),
        })
    }
}

fn find<'l>(list: &'l FeatureList, id: &ItemId) -> Option<&'l Placed> {
    list.items.iter().find(|placed| placed.feature.id == *id)
}

fn fields(before: &FeatureList, old: &Placed, after: &FeatureList, new: &Placed) -> Vec<FieldChange> {
    let raw = |list: &FeatureList, placed: &Placed, key: &str| {
        let field = placed.fields.iter().find(|(name, _)| name == key);
        field.map(|(_, span)| list.source[span.clone()].to_owned())
    };
    let new_keys = new.fields.iter().filter(|(key, _)| !old.fields.iter().any(|(known, _)| known == key));
    old.fields
        .iter()
        .chain(new_keys)
        .filter_map(|(key, _)| {
            let (old, new) = (raw(before, old, key), raw(after, new, key));
            let differs = meaning(old.as_deref()) != meaning(new.as_deref());
            differs.then(|| FieldChange {
                key: key.clone(),
                owner: FieldOwner::of(key),
                before: old,
                after: new,
            })
        })
        .collect()
}

fn meaning(raw: Option<&str>) -> Option<Value> {
    raw.and_then(|raw| serde_json::from_str(raw).ok())
}

fn reordered(before: &FeatureList, after: &FeatureList) -> bool {
    let kept = |list: &FeatureList, other: &FeatureList| -> Vec<ItemId> {
        list.items().map(|item| item.id.clone()).filter(|id| other.get(id).is_some()).collect()
    };
    kept(before, after) != kept(after, before)
}

fn other_keys(before: &FeatureList, after: &FeatureList) -> Vec<String> {
    let keys = |list: &FeatureList| {
        let body = list.source.trim_start_matches('\u{feff}');
        match serde_json::from_str(body) {
            Ok(Value::Object(mut keys)) => {
                keys.shift_remove("features");
                keys
            }
            _ => serde_json::Map::new(),
        }
    };
    let (old, new) = (keys(before), keys(after));
    let mut differing: Vec<String> =
        old.iter().filter(|(key, value)| new.get(*key) != Some(value)).map(|(key, _)| key.clone()).collect();
    differing.extend(new.keys().filter(|key| !old.contains_key(*key)).cloned());
    differing
}
