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
    Message {
        text: String,
    },
    ToolCall {
        name: String,
        #[serde(default)]
        detail: String,
    },
    FileChange {
        path: String,
    },
    Usage {
        #[serde(default)]
        scope: UsageScope,
        /// All input tokens, cached ones included.
        #[serde(default)]
        input: u64,
        #[serde(default)]
        cached: u64,
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
    Error {
        severity: Severity,
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

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum EndClaim {
    Finished,
    Failed { reason: String },
}
