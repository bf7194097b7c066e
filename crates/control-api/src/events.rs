//! What a run tells while it goes on. A stored run is shown through the same events as a live one.

use crate::money::Spent;
use serde::Serialize;

/// Hears of a run as it happens. Called from the thread that drives the run; must not block.
pub trait Watcher {
    fn hear(&self, event: &Event);
}

#[derive(Clone, Debug, Serialize)]
#[serde(tag = "event", rename_all = "kebab-case")]
pub enum Event {
    /// The run exists; everything else can be found under this name.
    Started {
        run: String,
        task: String,
        run_dir: String,
    },
    Fact(LogEntry),
    /// A step is under way: at most a few of these per second.
    Progress(Progress),
    /// Something a person should know that is no fact of the run.
    Notice {
        text: String,
    },
    /// How work goes on that is more than one run.
    News {
        text: String,
        tone: Tone,
    },
}

/// One fact in words.
#[derive(Clone, Debug, Serialize)]
pub struct LogEntry {
    pub version: u64,
    /// Milliseconds since 1970.
    pub at_ms: u64,
    pub kind: String,
    pub round: u32,
    /// A sentence for people; empty for facts only the engine needs.
    pub text: String,
    pub tone: Tone,
    /// The fact as it is stored.
    pub fact: serde_json::Value,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Tone {
    Plain,
    Good,
    Bad,
    Attention,
    /// Machinery: shown only when asked for everything.
    Quiet,
}

#[derive(Clone, Debug, Serialize)]
pub struct Progress {
    pub round: u32,
    pub rounds: u32,
    /// The label of a control loop's iteration, such as `2.1`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub iteration: Option<String>,
    /// Who or what is at work: `doer`, `checks`, `judge`, `sensors`, `controller`, …
    pub actor: String,
    pub elapsed_ms: u64,
    pub last_line: Option<String>,
    /// What this step used so far, by its agent's own word.
    pub step: Spent,
    /// What the run used so far, this step included.
    pub run: Spent,
}
