//! Serde forms for operating system strings. Paths and arguments need not be UTF-8: text is stored as text, anything
//! else as its bytes, so that every child can be recorded and none is altered by being recorded.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Deserializer, Serialize, Serializer};

#[derive(Serialize, Deserialize)]
#[serde(untagged)]
enum OsText {
    Text(String),
    Bytes(Vec<u8>),
}

impl From<&OsStr> for OsText {
    fn from(value: &OsStr) -> Self {
        match value.to_str() {
            Some(text) => Self::Text(text.to_owned()),
            None => Self::Bytes(value.as_bytes().to_vec()),
        }
    }
}

impl From<OsText> for OsString {
    fn from(value: OsText) -> Self {
        match value {
            OsText::Text(text) => text.into(),
            OsText::Bytes(bytes) => Self::from_vec(bytes),
        }
    }
}

pub(crate) mod path {
    use super::{Deserialize, Deserializer, OsString, OsText, Path, PathBuf, Serialize, Serializer};

    pub(crate) fn serialize<S: Serializer>(value: &Path, serializer: S) -> Result<S::Ok, S::Error> {
        OsText::from(value.as_os_str()).serialize(serializer)
    }

    pub(crate) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<PathBuf, D::Error> {
        Ok(PathBuf::from(OsString::from(OsText::deserialize(deserializer)?)))
    }
}

pub(crate) mod list {
    use super::{Deserialize, Deserializer, OsString, OsText, Serializer};

    pub(crate) fn serialize<S: Serializer>(value: &[OsString], serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(value.iter().map(|entry| OsText::from(entry.as_os_str())))
    }

    pub(crate) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<OsString>, D::Error> {
        Ok(Vec::<OsText>::deserialize(deserializer)?.into_iter().map(OsString::from).collect())
    }
}

pub(crate) mod paths {
    use super::{Deserialize, Deserializer, OsString, OsText, PathBuf, Serializer};

    pub(crate) fn serialize<S: Serializer>(value: &[PathBuf], serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(value.iter().map(|entry| OsText::from(entry.as_os_str())))
    }

    pub(crate) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<PathBuf>, D::Error> {
        let entries = Vec::<OsText>::deserialize(deserializer)?;
        Ok(entries.into_iter().map(|entry| PathBuf::from(OsString::from(entry))).collect())
    }
}

/// Stored as a list of pairs, because a JSON key can only be text.
pub(crate) mod map {
    use super::{BTreeMap, Deserialize, Deserializer, OsString, OsText, Serializer};

    pub(crate) fn serialize<S: Serializer>(
        value: &BTreeMap<OsString, OsString>,
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        let pairs =
            value.iter().map(|(name, text)| (OsText::from(name.as_os_str()), OsText::from(text.as_os_str())));
        serializer.collect_seq(pairs)
    }

    pub(crate) fn deserialize<'de, D: Deserializer<'de>>(
        deserializer: D,
    ) -> Result<BTreeMap<OsString, OsString>, D::Error> {
        let pairs = Vec::<(OsText, OsText)>::deserialize(deserializer)?;
        Ok(pairs.into_iter().map(|(name, text)| (name.into(), text.into())).collect())
    }
}
