//! Whose file it is that bears one of our names. The names are common ones, so the shape decides, and what is not ours
//! is never written to.

use crate::faults::Faults;

#[derive(Debug, Clone, PartialEq)]
pub enum Recognised<T> {
    Ours(T),
    /// Another tool's file of the same name. Says what is different.
    Foreign(String),
    /// Meant to be ours, and unusable. The sentences name lines.
    Invalid(Faults),
}

impl<T> Recognised<T> {
    pub(crate) fn invalid(file: &str, sentence: impl Into<String>) -> Self {
        Self::Invalid(Faults::one(file, sentence))
    }

    /// For callers that need one of ours: a foreign file is a fault here.
    pub(crate) fn or_faults(self, file: &str) -> Result<T, Faults> {
        match self {
            Self::Ours(value) => Ok(value),
            Self::Foreign(why) => Err(Faults::one(file, format!("it belongs to another tool: {why}"))),
            Self::Invalid(faults) => Err(faults),
        }
    }
}
