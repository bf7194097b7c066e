//! What a line of an agent's output means, in words that fit every agent program.
//! A signal is a claim of the agent: it may be shown and counted, it never proves that work was done.

use serde::{Deserialize, Serialize};

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Stream {
    Stdout,
    Stderr,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum Signal {
    /// The program's own id of this conversation, by which it can be resumed.
    Session {
        id: String,
    },
    /// The model that answers, where the program says so itself.
    Model {
        name: String,
    },
    Message {
        text: String,
        /// A piece of a message that goes on in the next signal; see [`crate::final_message`].
        #[serde(default)]
        partial: bool,
    },
    ToolCall {
        name: String,
        #[serde(default)]
        detail: String,
        #[serde(default)]
        id: Option<String>,
    },
    ToolResult {
        #[serde(default)]
        id: Option<String>,
        ok: bool,
        #[serde(default)]
        detail: String,
    },
    FileChange {
        path: String,
    },
    Usage {
        #[serde(default)]
        scope: UsageScope,
        /// The reply this belongs to, where one reply is reported more than once: its reports are one.
        #[serde(default)]
        reply: Option<String>,
        /// All input tokens, cached ones included.
        #[serde(default)]
        input: u64,
        #[serde(default)]
        cached: u64,
        /// All output tokens, reasoning included.
        #[serde(default)]
        output: u64,
        #[serde(default)]
        reasoning: u64,
        /// Millionths of the currency; `None` where the program tells no price.
        #[serde(default)]
        cost_micros: Option<u64>,
    },
    RateLimit {
        #[serde(default)]
        wait: RateLimitWait,
    },
    /// A request to its model failed; the program asks again by itself, unless it says that it gave up.
    Retry {
        attempt: u32,
        /// The HTTP status that made it necessary; `None` when the connection failed.
        #[serde(default)]
        status: Option<u16>,
        #[serde(default)]
        wait_ms: Option<u64>,
    },
    Error {
        severity: Severity,
        #[serde(default, rename = "error")]
        kind: ErrorKind,
        message: String,
    },
    /// The program's closing word. Without it a structured program that exits with 0 has not finished.
    End {
        claim: EndClaim,
        /// The structured answer, where the program was asked for one.
        #[serde(default)]
        answer: Option<String>,
    },
    /// A line the driver has no name for. Kept so that a newer program is noticed rather than misread.
    Unknown {
        line: String,
    },
}

/// How usage figures of one program add up; some report each reply, some the total, some the whole conversation.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum UsageScope {
    /// Since the last report: add up.
    #[default]
    Step,
    /// Since the program was started: the last report counts.
    Process,
    /// Since the conversation began, earlier invocations included: subtract what was known before.
    Session,
}

/// When to try again. The driver has no clock, so a delay stays a delay.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum RateLimitWait {
    #[default]
    Untold,
    ForMs(u64),
    /// Milliseconds since the Unix epoch.
    UntilMs(u64),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Severity {
    /// The program goes on by itself: a retry, a hint.
    Passing,
    Fatal,
}

/// Whose fault an error is, which says what can be done about it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ErrorKind {
    /// The key or the login was refused.
    Authentication,
    /// No credit left, or a plan's allowance used up.
    Quota,
    RateLimit,
    /// The model's service failed.
    Server,
    /// The connection was refused, cut or never made.
    Network,
    /// The service refused the request as such.
    BadRequest,
    /// The model declined to answer.
    Refused,
    /// A reply ended at the token limit.
    TokenLimit,
    /// The program refused how it was started: a flag, a session, a directory, a model.
    Setup,
    /// Somebody told it to end.
    Interrupted,
    #[default]
    Other,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum EndClaim {
    Finished,
    Failed {
        reason: String,
        #[serde(default)]
        kind: ErrorKind,
    },
}
