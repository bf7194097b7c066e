//! Keys of an object that we do not know, kept in order and byte for byte.
//! It knows nothing about the keys we do know.

use serde::Serialize;
use serde::ser::{SerializeMap, Serializer};
use serde_json::value::RawValue;

/// Unknown keys with the exact text of their values.
#[derive(Debug, Clone, Default)]
pub struct ExtraKeys(Vec<(String, Box<RawValue>)>);

impl ExtraKeys {
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Keys with the text their values were written with, in the order of the file.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &str)> {
        self.0.iter().map(|(key, value)| (key.as_str(), value.get()))
    }

    /// Takes over a value that was already read as JSON; text that is none is left out.
    pub(crate) fn keep(&mut self, key: &str, raw: &str) {
        if let Ok(value) = RawValue::from_string(raw.to_owned()) {
            self.0.push((key.to_owned(), value));
        }
    }
}

impl PartialEq for ExtraKeys {
    fn eq(&self, other: &Self) -> bool {
        self.iter().eq(other.iter())
    }
}

impl Eq for ExtraKeys {}

impl Serialize for ExtraKeys {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(self.0.len()))?;
        for (key, value) in &self.0 {
            map.serialize_entry(key, value)?;
        }
        map.end()
    }
}
