//! The published JSON Schemas as validators, compiled once, and their findings in our words.
//! It resolves no outside reference and knows no artifact beyond its schema text.

use std::sync::LazyLock;

use serde_json::Value;

use crate::fault::{ArtifactFault, FaultKind, pointer_to};
use crate::schema_rules::{Rules, Violation, What};

/// A schema file and its rules.
pub(crate) struct Schema {
    pub(crate) text: &'static str,
    rules: LazyLock<Rules, fn() -> Rules>,
}

impl Schema {
    pub(crate) const fn new(text: &'static str, compile: fn() -> Rules) -> Self {
        Self { text, rules: LazyLock::new(compile) }
    }

    pub(crate) fn faults(&self, value: &Value) -> Vec<ArtifactFault> {
        self.rules.violations(value).into_iter().map(in_our_words).collect()
    }
}

pub(crate) fn compile(text: &str) -> Rules {
    Rules::read(text).expect("the schema files use only words that are known, which the tests read")
}

fn in_our_words(violation: Violation<'_>) -> ArtifactFault {
    let words = violation.in_words();
    let Violation { path, found, what } = violation;
    match what {
        What::Missing { key } => ArtifactFault::missing_key(pointer_to(&path, key)),
        What::Type { expected } => {
            ArtifactFault::wrong_type(path, expected.as_str().unwrap_or("another type"), type_name(found))
        }
        What::Enum { options } => match found.as_str() {
            Some(word) => {
                let allowed = options.iter().filter_map(Value::as_str).collect::<Vec<_>>();
                ArtifactFault::unknown_value(path, &allowed, word)
            }
            None => ArtifactFault::wrong_type(path, "text", type_name(found)),
        },
        What::Pattern { pattern } => pattern_fault(path, pattern, found),
        What::Minimum { .. } | What::Maximum { .. } => {
            ArtifactFault::new(FaultKind::NumberOutOfRange, path, words)
        }
        What::Constant { .. } => ArtifactFault::new(FaultKind::UnsupportedVersion, path, words),
    }
}

/// Our schemas use three kinds of pattern: requirement ids, hashes, and "not blank".
fn pattern_fault(path: String, pattern: &str, found: &Value) -> ArtifactFault {
    let found = found.as_str().unwrap_or_default();
    if pattern.contains("RQ|NFR") {
        ArtifactFault::malformed_id(path, found)
    } else if pattern.contains("0-9a-f") {
        ArtifactFault::malformed_hash(path, "a lower-case hexadecimal hash", found)
    } else {
        ArtifactFault::empty_text(path)
    }
}

fn type_name(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "a boolean",
        Value::Number(_) => "a number",
        Value::String(_) => "text",
        Value::Array(_) => "a list",
        Value::Object(_) => "an object",
    }
}
