//! Edits that change the bytes of one field and no others: indentation, key order, number spelling, line ends, byte
//! order mark and unknown keys stay as they are, because people and other tools keep this file under review.

use serde_json::{Map, Value, json};

use super::{FeatureList, ItemContract, ItemStatus};
use crate::faults::Faults;
use crate::goal_loop::item_id::ItemId;
use crate::json_edit;

/// Why an edit was not made.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum EditFault {
    #[error("there is no item {0}")]
    NoSuchItem(ItemId),
    #[error("the key \"{0}\" names the item and never changes")]
    FrozenKey(String),
    #[error("the edit would leave a file that cannot be used: {0}")]
    WouldBreak(Faults),
}

/// An item to be added; keys that are empty are left out, except those every item has.
#[derive(Debug, Clone, PartialEq)]
pub struct NewItem {
    pub id: ItemId,
    pub name: String,
    pub priority: i64,
    pub status: ItemStatus,
    pub description: String,
    pub acceptance_criteria: Vec<String>,
    pub contract: ItemContract,
    pub dependencies: Vec<ItemId>,
    pub kind: Option<String>,
    pub affected_files: Vec<String>,
    pub risk: Option<String>,
    pub rollback_plan: Option<String>,
}

impl FeatureList {
    pub fn set_status(&self, id: &ItemId, status: ItemStatus) -> Result<Self, EditFault> {
        self.set_value(id, "status", &json!(status.as_str()))
    }

    /// Replaces the text of a key, or adds the key at the end of its item.
    pub fn set_text(&self, id: &ItemId, key: &str, value: &str) -> Result<Self, EditFault> {
        self.set_value(id, key, &json!(value))
    }

    pub fn set_true(&self, id: &ItemId, key: &str) -> Result<Self, EditFault> {
        self.set_value(id, key, &json!(true))
    }

    /// Adds an item at the end of the list, laid out like the last one there.
    pub fn append(&self, item: &NewItem) -> Result<Self, EditFault> {
        self.edited(json_edit::push(&self.source, &["features"], &item.to_value()))
    }

    /// Writes what a design made of an item's contract. Other keys of that object stay, and so do values that are the same.
    pub fn set_contract(&self, id: &ItemId, contract: &ItemContract) -> Result<Self, EditFault> {
        let ItemContract { deliverable, verification } = contract;
        let (index, place) = (self.position(id)?.to_string(), "contract");
        let parts = [("deliverable", json!(deliverable)), ("verification", json!(verification))];
        let mut source = self.source.clone();
        for (key, value) in &parts {
            let Some(edited) = json_edit::set(&source, &["features", &index, place, key], value) else {
                // There is no object yet to hold them.
                let whole = json!({ "deliverable": deliverable, "verification": verification });
                return self.set_value(id, place, &whole);
            };
            source = edited;
        }
        self.edited(Some(source))
    }

    fn position(&self, id: &ItemId) -> Result<usize, EditFault> {
        let index = self.items.iter().position(|placed| placed.feature.id == *id);
        index.ok_or_else(|| EditFault::NoSuchItem(id.clone()))
    }

    fn set_value(&self, id: &ItemId, key: &str, value: &Value) -> Result<Self, EditFault> {
        if key == "id" {
            return Err(EditFault::FrozenKey(key.to_owned()));
        }
        let index = self.position(id)?;
        self.edited(json_edit::set(&self.source, &["features", &index.to_string(), key], value))
    }

    fn edited(&self, text: Option<String>) -> Result<Self, EditFault> {
        // The list was read from this text, so there is a place for every edit; a text without one stays as it is.
        text.map_or_else(|| Ok(self.clone()), |text| Self::parse(&text).map_err(EditFault::WouldBreak))
    }
}

impl NewItem {
    fn to_value(&self) -> Value {
        let mut object = Map::new();
        let mut put = |key: &str, value: Value| {
            object.insert(key.to_owned(), value);
        };
        put("id", json!(self.id.as_str()));
        put("name", json!(self.name));
        put("priority", json!(self.priority));
        put("status", json!(self.status.as_str()));
        put("description", json!(self.description));
        put("acceptance_criteria", json!(self.acceptance_criteria));
        put(
            "contract",
            json!({"deliverable": self.contract.deliverable, "verification": self.contract.verification}),
        );
        put("dependencies", json!(self.dependencies.iter().map(ItemId::as_str).collect::<Vec<_>>()));
        if let Some(kind) = &self.kind {
            put("type", json!(kind));
        }
        if !self.affected_files.is_empty() {
            put("affected_files", json!(self.affected_files));
        }
        if let Some(risk) = &self.risk {
            put("risk", json!(risk));
        }
        if let Some(plan) = &self.rollback_plan {
            put("rollback_plan", json!(plan));
        }
        Value::Object(object)
    }
}
