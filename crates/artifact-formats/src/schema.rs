//! The published JSON Schemas as validators, compiled once, and their findings in our words.
//! It resolves no outside reference and knows no artifact beyond its schema text.

use std::sync::LazyLock;

use jsonschema::error::{TypeKind, ValidationErrorKind};
use jsonschema::{Draft, ValidationError, Validator};
use serde_json::Value;

use crate::fault::{ArtifactFault, FaultKind, pointer_to};

/// A schema file and its validator.
pub(crate) struct Schema {
    pub(crate) text: &'static str,
    validator: LazyLock<Validator, fn() -> Validator>,
}

impl Schema {
    pub(crate) const fn new(text: &'static str, compile: fn() -> Validator) -> Self {
        Self { text, validator: LazyLock::new(compile) }
    }

    pub(crate) fn faults(&self, value: &Value) -> Vec<ArtifactFault> {
        self.validator.iter_errors(value).map(|error| in_our_words(&error)).collect()
    }
}

pub(crate) fn compile(text: &str) -> Validator {
    let schema: Value = serde_json::from_str(text).expect("the schema files are JSON, which the tests read");
    jsonschema::options()
        .with_draft(Draft::Draft202012)
        .build(&schema)
        .expect("the schema files are valid draft 2020-12, which the tests compile")
}

fn in_our_words(error: &ValidationError<'_>) -> ArtifactFault {
    let path = error.instance_path().as_str().to_owned();
    let found = error.instance();
    match error.kind() {
        ValidationErrorKind::Required { property } => {
            ArtifactFault::missing_key(pointer_to(&path, property.as_str().unwrap_or_default()))
        }
        ValidationErrorKind::Type { kind } => {
            ArtifactFault::wrong_type(path, &expected_type(kind), type_name(found))
        }
        ValidationErrorKind::Enum { options } => match found.as_str() {
            Some(word) => {
                let allowed = options.as_array().map(Vec::as_slice).unwrap_or_default();
                let allowed = allowed.iter().filter_map(Value::as_str).collect::<Vec<_>>();
                ArtifactFault::unknown_value(path, &allowed, word)
            }
            None => ArtifactFault::wrong_type(path, "text", type_name(found)),
        },
        ValidationErrorKind::Pattern { pattern } => pattern_fault(path, pattern, found),
        ValidationErrorKind::Minimum { .. } | ValidationErrorKind::Maximum { .. } => {
            ArtifactFault::new(FaultKind::NumberOutOfRange, path, format!("{error}"))
        }
        ValidationErrorKind::Constant { .. } => {
            ArtifactFault::new(FaultKind::UnsupportedVersion, path, format!("{error}"))
        }
        _ => ArtifactFault::new(FaultKind::SchemaViolation, path, format!("{error}")),
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

fn expected_type(kind: &TypeKind) -> String {
    match kind {
        TypeKind::Single(one) => format!("{one}"),
        TypeKind::Multiple(_) => "another type".to_owned(),
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
