//! "Not allowed now", as data: what kind of refusal, a stable code where clients tell cases apart, words for a person, and
//! what to do instead. A refusal changes nothing but, where custody was tried, the record of the attempt.

use alloc::string::{String, ToString};
use alloc::vec::Vec;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Something needed was not said, or the key lacks what the request needs to make sense.
    Malformed,
    NotAllowed,
    /// Also what belongs to another tenant: whoever asks must not learn that it exists.
    NotFound,
    Conflict,
    /// Well-formed and wrong; `details` names the fields.
    Invalid,
    /// Custody of this tenant is suspended after its audit chain was proven to diverge.
    Halted,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refusal {
    pub kind: Kind,
    /// Stable, snake_case; for clients that tell cases apart.
    pub code: Option<&'static str>,
    pub message: String,
    /// By field, in the order found.
    pub details: Vec<(String, String)>,
    /// Facts about the thing that refused, such as its status.
    pub context: Vec<(&'static str, String)>,
    /// What to do now, as a sentence or command.
    pub remedy: Option<String>,
}

impl Refusal {
    pub fn new(kind: Kind, message: impl Into<String>) -> Self {
        let message = message.into();
        Self { kind, code: None, message, details: Vec::new(), context: Vec::new(), remedy: None }
    }

    pub fn not_found(what: &str) -> Self {
        Self::new(Kind::NotFound, alloc::format!("{what} not found"))
    }

    /// One field is wrong.
    pub fn field(field: &str, why: &str) -> Self {
        Self::new(Kind::Invalid, alloc::format!("{field} {why}")).with_detail(field, why)
    }

    #[must_use]
    pub fn with_code(mut self, code: &'static str) -> Self {
        self.code = Some(code);
        self
    }

    #[must_use]
    pub fn with_detail(mut self, field: &str, why: &str) -> Self {
        self.details.push((field.to_string(), why.to_string()));
        self
    }

    #[must_use]
    pub fn with_context(mut self, name: &'static str, value: impl Into<String>) -> Self {
        self.context.push((name, value.into()));
        self
    }

    #[must_use]
    pub fn with_remedy(mut self, remedy: impl Into<String>) -> Self {
        self.remedy = Some(remedy.into());
        self
    }
}
