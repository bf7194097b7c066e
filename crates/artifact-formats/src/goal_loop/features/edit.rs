//! Edits that change the bytes of one field and no others: indentation, key order, number spelling, line ends, byte
//! order mark and unknown keys stay as they are, because people and other tools keep this file under review.

use std::ops::Range;

use serde::Serialize;
use serde_json::ser::{PrettyFormatter, Serializer};
use serde_json::{Map, Value, json};

use super::{FeatureList, ItemContract, ItemStatus, Placed};
use crate::faults::Faults;
use crate::goal_loop::item_id::ItemId;

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
        let value = item.to_value();
        match self.items.last() {
            Some(last) => {
                let layout = Layout::of(&self.source, last);
                let separator = match self.items.len() {
                    0 | 1 => format!(",{}", &self.source[self.list.start + 1..last.span.start]),
                    many => self.source[self.items[many - 2].span.end..last.span.start].to_owned(),
                };
                let text = format!("{separator}{}", layout.spelled(&value));
                self.spliced(last.span.end..last.span.end, &text)
            }
            None => self.spliced(self.list.clone(), &self.first_item(&value)),
        }
    }

    /// The whole list with its first item, indented like the line the list stands on.
    fn first_item(&self, value: &Value) -> String {
        let line = self.source[..self.list.start].rsplit('\n').next().unwrap_or_default();
        let line = line.trim_start_matches('\u{feff}');
        let base = &line[..line.len() - line.trim_start().len()];
        if !self.source.trim().contains('\n') {
            return format!("[{value}]");
        }
        let newline = if self.source.contains("\r\n") { "\r\n" } else { "\n" };
        let unit = if base.is_empty() { "  " } else { base };
        let layout = Layout { unit: Some(unit.to_owned()), line_start: format!("{newline}{base}{unit}") };
        format!("[{newline}{base}{unit}{}{newline}{base}]", layout.spelled(value))
    }

    /// Writes what a design made of an item's contract. Other keys of that object stay, and so do values that are the same.
    pub fn set_contract(&self, id: &ItemId, contract: &ItemContract) -> Result<Self, EditFault> {
        let ItemContract { deliverable, verification } = contract;
        if self.placed(id)?.contract.is_empty() {
            let whole = json!({"deliverable": deliverable, "verification": verification});
            return self.set_value(id, "contract", &whole);
        }
        let list =
            self.put(&self.placed(id)?.contract, "deliverable", &json!(deliverable), Value::to_string)?;
        list.put(&list.placed(id)?.contract, "verification", &json!(verification), Value::to_string)
    }

    fn placed(&self, id: &ItemId) -> Result<&Placed, EditFault> {
        let placed = self.items.iter().find(|placed| placed.feature.id == *id);
        placed.ok_or_else(|| EditFault::NoSuchItem(id.clone()))
    }

    fn set_value(&self, id: &ItemId, key: &str, value: &Value) -> Result<Self, EditFault> {
        if key == "id" {
            return Err(EditFault::FrozenKey(key.to_owned()));
        }
        let placed = self.placed(id)?;
        let layout = Layout::of(&self.source, placed).inside();
        self.put(&placed.fields, key, value, |value| layout.spelled(value))
    }

    /// Among these fields of an object, which has at least one: replaced where it stands, or added at the end.
    fn put(
        &self,
        fields: &[(String, Range<usize>)],
        key: &str,
        value: &Value,
        spelled: impl FnOnce(&Value) -> String,
    ) -> Result<Self, EditFault> {
        if let Some((_, span)) = fields.iter().find(|(name, _)| name == key) {
            let as_it_stands = serde_json::from_str::<Value>(&self.source[span.clone()]).ok();
            if as_it_stands.as_ref() == Some(value) {
                // The same value may be spelled with escapes of its own; it is not ours to respell.
                return Ok(self.clone());
            }
            return self.spliced(span.clone(), &spelled(value));
        }
        let end = fields.last().map_or(self.source.len(), |(_, span)| span.end);
        let (before_key, before_value) = separators(&self.source, fields);
        self.spliced(end..end, &format!("{before_key}{}{before_value}{}", json!(key), spelled(value)))
    }

    fn spliced(&self, span: Range<usize>, text: &str) -> Result<Self, EditFault> {
        let mut source = self.source.clone();
        source.replace_range(span, text);
        Self::parse(&source).map_err(EditFault::WouldBreak)
    }
}

/// What stands between a value and the next key, and between a key and its value, in this object.
fn separators<'t>(source: &'t str, fields: &[(String, Range<usize>)]) -> (&'t str, &'t str) {
    let key_after = |end: usize| source[end..].find('"').map(|quote| end + quote);
    let before_key = match fields {
        [.., (_, before), _] => key_after(before.end).map(|key| &source[before.end..key]),
        _ => None,
    };
    let before_value = fields.last().and_then(|(_, span)| {
        let key_end = source[..span.start].rfind('"')? + 1;
        Some(&source[key_end..span.start])
    });
    (before_key.unwrap_or(", "), before_value.unwrap_or(": "))
}

/// How items of this file are laid out.
struct Layout {
    /// Nothing where items stand on one line.
    unit: Option<String>,
    /// Line break and indentation of an item's closing brace.
    line_start: String,
}

impl Layout {
    fn of(source: &str, placed: &Placed) -> Self {
        let first_key =
            source[placed.span.start..].find('"').map_or(placed.span.start, |at| placed.span.start + at);
        let opening = &source[placed.span.start + 1..first_key.max(placed.span.start + 1)];
        let closing_start = placed.fields.last().map_or(placed.span.end, |(_, span)| span.end);
        let closing = &source[closing_start..placed.span.end.saturating_sub(1).max(closing_start)];
        let newline = if opening.contains("\r\n") { "\r\n" } else { "\n" };
        let unit = opening.contains('\n').then(|| {
            let inner = opening.rsplit('\n').next().unwrap_or_default();
            let outer =
                if closing.contains('\n') { closing.rsplit('\n').next().unwrap_or_default() } else { "" };
            inner.strip_prefix(outer).unwrap_or(inner).to_owned()
        });
        let outer = if closing.contains('\n') { closing.rsplit('\n').next().unwrap_or_default() } else { "" };
        Self { unit, line_start: format!("{newline}{outer}") }
    }

    /// For a value of one of the item's keys, which stands one step deeper than the item.
    fn inside(self) -> Self {
        let deeper = self.unit.as_deref().unwrap_or_default();
        Self { line_start: format!("{}{deeper}", self.line_start), unit: self.unit }
    }

    fn spelled(&self, value: &Value) -> String {
        let Some(unit) = &self.unit else { return value.to_string() };
        let mut bytes = Vec::new();
        let formatter = PrettyFormatter::with_indent(unit.as_bytes());
        let mut serializer = Serializer::with_formatter(&mut bytes, formatter);
        let text = match value.serialize(&mut serializer) {
            Ok(()) => String::from_utf8(bytes).unwrap_or_else(|_| value.to_string()),
            Err(_) => value.to_string(),
        };
        // Line breaks inside texts are escaped, so each one here belongs to the layout.
        text.replace('\n', &self.line_start)
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
