//! What can be wrong with an artifact, worded so that an agent can repair it from the message alone.
//! It knows no artifact in particular.

use std::fmt;

/// Longest piece of foreign text quoted in a message; more would let one bad file flood the repair request.
const EXCERPT_CHARS: usize = 60;

/// One thing wrong with an artifact.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ArtifactFault {
    pub kind: FaultKind,
    /// JSON pointer to the offending value; empty for the whole file.
    pub path: String,
    pub message: String,
}

/// Everything found wrong with one artifact; never empty.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub struct ArtifactFaults {
    artifact: &'static str,
    faults: Vec<ArtifactFault>,
}

/// The stable code of a fault, for statistics and for tests.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum FaultKind {
    TooLarge,
    Empty,
    NotUtf8,
    ByteOrderMark,
    RawNul,
    NotJson,
    NotAnObject,
    TooDeep,
    DuplicateKey,
    NulInText,
    InvalidText,
    NumberOutOfRange,
    MissingKey,
    WrongType,
    UnknownValue,
    EmptyText,
    MalformedId,
    MalformedHash,
    WrongTaskId,
    ReasonMissing,
    UnsupportedVersion,
    SchemaViolation,
}

impl FaultKind {
    pub const fn code(self) -> &'static str {
        match self {
            Self::TooLarge => "too-large",
            Self::Empty => "empty",
            Self::NotUtf8 => "not-utf8",
            Self::ByteOrderMark => "byte-order-mark",
            Self::RawNul => "raw-nul",
            Self::NotJson => "not-json",
            Self::NotAnObject => "not-an-object",
            Self::TooDeep => "too-deep",
            Self::DuplicateKey => "duplicate-key",
            Self::NulInText => "nul-in-text",
            Self::InvalidText => "invalid-text",
            Self::NumberOutOfRange => "number-out-of-range",
            Self::MissingKey => "missing-key",
            Self::WrongType => "wrong-type",
            Self::UnknownValue => "unknown-value",
            Self::EmptyText => "empty-text",
            Self::MalformedId => "malformed-id",
            Self::MalformedHash => "malformed-hash",
            Self::WrongTaskId => "wrong-task-id",
            Self::ReasonMissing => "reason-missing",
            Self::UnsupportedVersion => "unsupported-version",
            Self::SchemaViolation => "schema-violation",
        }
    }
}

/// Words as they stand in a file.
pub(crate) fn quoted(words: &[&str]) -> String {
    words.iter().map(|word| format!("\"{word}\"")).collect::<Vec<_>>().join(", ")
}

impl fmt::Display for FaultKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.code())
    }
}

impl ArtifactFault {
    pub fn new(kind: FaultKind, path: impl Into<String>, message: impl Into<String>) -> Self {
        Self { kind, path: path.into(), message: message.into() }
    }

    pub(crate) fn missing_key(path: String) -> Self {
        Self::new(FaultKind::MissingKey, path, "this key is required and absent")
    }

    pub(crate) fn missing_choice(path: String, allowed: &[&str]) -> Self {
        let message = format!("this key is required and absent; it must be one of {}", quoted(allowed));
        Self::new(FaultKind::MissingKey, path, message)
    }

    pub(crate) fn wrong_type(path: String, expected: &str, found: &str) -> Self {
        Self::new(FaultKind::WrongType, path, format!("expected {expected}, found {found}"))
    }

    pub(crate) fn unknown_value(path: String, allowed: &[&str], found: &str) -> Self {
        let message = format!("must be exactly one of {}; found {}", quoted(allowed), excerpt(found));
        Self::new(FaultKind::UnknownValue, path, message)
    }

    pub(crate) fn empty_text(path: String) -> Self {
        Self::new(FaultKind::EmptyText, path, "must be text that is not empty or blank")
    }

    pub(crate) fn malformed_id(path: String, found: &str) -> Self {
        let message = format!(
            "must be a requirement id such as \"RQ-001\" (RQ, NFR, ASMP or ADR, a dash, three or four digits); found {}",
            excerpt(found)
        );
        Self::new(FaultKind::MalformedId, path, message)
    }

    pub(crate) fn malformed_hash(path: String, expected: &str, found: &str) -> Self {
        Self::new(FaultKind::MalformedHash, path, format!("must be {expected}; found {}", excerpt(found)))
    }

    pub(crate) fn number_out_of_range(path: String, minimum: i64, maximum: i64) -> Self {
        let message = format!("must be a whole number from {minimum} to {maximum}");
        Self::new(FaultKind::NumberOutOfRange, path, message)
    }
}

impl fmt::Display for ArtifactFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let place = if self.path.is_empty() { "whole file" } else { &self.path };
        write!(f, "{place}: {} ({})", self.message, self.kind)
    }
}

impl ArtifactFaults {
    /// Keeps the first fault per place and kind: the schema and the typed reader usually see the same one.
    pub(crate) fn collect(
        artifact: &'static str,
        faults: Vec<ArtifactFault>,
        most: usize,
    ) -> Result<(), Self> {
        let mut kept: Vec<ArtifactFault> = Vec::new();
        for fault in faults {
            // At least one is kept whatever the limit says: a file with a fault must never count as sound.
            if kept.len() >= most.max(1) {
                break;
            }
            if !kept.iter().any(|seen| seen.kind == fault.kind && seen.path == fault.path) {
                kept.push(fault);
            }
        }
        if kept.is_empty() { Ok(()) } else { Err(Self { artifact, faults: kept }) }
    }

    pub(crate) fn one(artifact: &'static str, fault: ArtifactFault) -> Self {
        Self { artifact, faults: vec![fault] }
    }

    /// File name of the artifact the faults belong to.
    pub fn artifact(&self) -> &'static str {
        self.artifact
    }

    pub fn faults(&self) -> &[ArtifactFault] {
        &self.faults
    }

    pub fn has(&self, kind: FaultKind) -> bool {
        self.faults.iter().any(|fault| fault.kind == kind)
    }
}

impl fmt::Display for ArtifactFaults {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} is not usable:", self.artifact)?;
        for fault in &self.faults {
            write!(f, "\n- {fault}")?;
        }
        Ok(())
    }
}

/// Foreign text as a short JSON string: control characters become visible and nothing can break the line.
pub(crate) fn excerpt(text: &str) -> String {
    let mut shown: String = text.chars().take(EXCERPT_CHARS).collect();
    if shown.len() < text.len() {
        shown.push('…');
    }
    serde_json::to_string(&shown).unwrap_or_else(|_| String::from("\"…\""))
}

/// Appends one step to a JSON pointer, escaping as RFC 6901 asks.
pub(crate) fn pointer_to(parent: &str, key: &str) -> String {
    format!("{parent}/{}", key.replace('~', "~0").replace('/', "~1"))
}
