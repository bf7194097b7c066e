//! "Not allowed now", as data: what kind of refusal, a stable code where clients tell cases apart, words for a person, and
//! what to do instead. A refusal changes nothing but, where custody was tried, the record of the attempt.

use super::refusal_code::RefusalCode;
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
        Self::new(Kind::NotFound, alloc::format!("{what} not found")).with_remedy(where_listed(what))
    }

    /// One field is wrong.
    pub fn field(field: &str, why: &str) -> Self {
        Self::new(Kind::Invalid, alloc::format!("{field} {why}")).with_detail(field, why)
    }

    /// What the code says to do holds unless something closer was said or will be.
    #[must_use]
    pub fn with_code(mut self, code: RefusalCode) -> Self {
        self.code = Some(code.name());
        self.remedy.get_or_insert_with(|| code.remedy().to_string());
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

/// Where somebody who named what is not there finds what is.
fn where_listed(what: &str) -> &'static str {
    match what {
        "story" => {
            "`windlass story list` shows the stories of a project; a number is looked for in the project that is named"
        }
        "project" => "`windlass story project list` shows the projects of this tenant",
        "epic" => "`windlass story epic list` shows the epics of a project",
        "agent" => "`windlass story agent list` shows the agents that have registered",
        "skill" => "`windlass story skill list` shows the skills",
        "webhook" => "`windlass story webhook list` shows the webhooks",
        "violation" => "`windlass story violations` shows what was tried",
        "article" => "`windlass story knowledge index` shows the articles",
        "state" => "`windlass story state save --data JSON` makes the first",
        "api key" => "`windlass story keys list` shows the keys",
        "criterion" => "`windlass story criteria STORY` shows what the story must fulfil",
        "dependency" => "`windlass story blocked` shows who waits for whom",
        "skill version" => "`windlass story skill history NAME` shows the versions",
        "cost anomaly" => "`windlass story anomalies` shows them",
        "token budget" => "`windlass story budget list` shows the budgets",
        "token usage report" => "`windlass story token-report --story STORY` shows the reports",
        _ => "is the id right, and is it of this tenant? `windlass story whoami` says whose key this is",
    }
}
