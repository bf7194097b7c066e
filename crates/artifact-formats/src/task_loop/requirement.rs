//! Requirement ids as the task loop's files name them.
//! It knows the pattern only, not which ids exist.

use std::fmt;

use serde::Serialize;

use crate::fault::ArtifactFault;
use crate::fields::{Field, Fields};

const PREFIXES: [&str; 4] = ["RQ", "NFR", "ASMP", "ADR"];

/// An id such as `RQ-001`, trimmed.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize)]
#[serde(transparent)]
pub struct RequirementId(String);

impl RequirementId {
    /// Reads `(RQ|NFR|ASMP|ADR)-` and three or four digits, with blanks around it tolerated.
    pub fn parse(text: &str) -> Option<Self> {
        let trimmed = text.trim_matches([' ', '\t', '\n', '\r']);
        let (prefix, digits) = trimmed.split_once('-')?;
        let well_formed = PREFIXES.contains(&prefix)
            && (3..=4).contains(&digits.len())
            && digits.bytes().all(|byte| byte.is_ascii_digit());
        well_formed.then(|| Self(trimmed.to_owned()))
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for RequirementId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

pub(super) fn requirement_list(fields: &mut Fields<'_, '_>, key: &'static str) -> Vec<RequirementId> {
    fields.list(key, |field: Field<'_, '_>| {
        let text = field.text()?;
        let id = RequirementId::parse(&text);
        if id.is_none() {
            field.report(ArtifactFault::malformed_id(field.path.clone(), &text));
        }
        id
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_four_prefixes_with_three_or_four_digits_are_ids() {
        for text in ["RQ-001", "NFR-1234", "ASMP-000", "ADR-9999", "  RQ-001\n"] {
            assert_eq!(RequirementId::parse(text).unwrap().as_str(), text.trim());
        }
    }

    #[test]
    fn near_misses_are_no_ids() {
        for text in
            ["RQ-01", "RQ-00001", "rq-001", "RQ_001", "XX-001", "RQ-00a", "RQ-001 RQ-002", "", "RQ-٠٠١"]
        {
            assert_eq!(RequirementId::parse(text), None, "{text}");
        }
    }
}
