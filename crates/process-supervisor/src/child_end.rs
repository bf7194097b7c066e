//! How a kept child ended, as stored in `exit.json`. Plain data: additive changes only, because an older engine may
//! read what a newer keeper wrote and the other way round.

use serde::{Deserialize, Serialize};

use crate::sandbox::SandboxKind;

/// The end of one kept child. Once it is stored, the effect is over.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ChildEnd {
    pub how: HowEnded,
    /// What made the supervisor end it; `None` when it ended by itself.
    #[serde(default)]
    pub ended_by: Option<EndedBy>,
    /// Wall clock at the start, for the record.
    #[serde(default)]
    pub started_ms: u64,
    /// Start to exit on the monotonic clock; 0 when the child was lost.
    #[serde(default)]
    pub duration_ms: u64,
    /// What the child wrote, not what was kept of it.
    #[serde(default)]
    pub stdout_bytes: u64,
    #[serde(default)]
    pub stderr_bytes: u64,
    /// Descendants that were still there after the child had exited, and were killed.
    #[serde(default)]
    pub leaked_processes: u32,
    /// Descendants that could not be killed (another user's, or stuck in the kernel); 0 unless something is very odd.
    #[serde(default)]
    pub surviving_processes: u32,
    /// What held it to its places; `None` where nothing did, and where nobody knows any more.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sandbox: Option<SandboxKind>,
    /// Why the logs do not hold what the child wrote; `None` where they do, up to what was asked to be left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub output_lost: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum HowEnded {
    Exited {
        code: i32,
    },
    Signaled {
        signal: i32,
    },
    /// Not one instruction of the program ran.
    NotStarted {
        reason: String,
        why: NotStartedKind,
    },
    /// It may have run, and nobody saw how it ended. Never to be read as success.
    Lost {
        reason: String,
    },
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum NotStartedKind {
    NotFound,
    NotExecutable,
    /// The machine had no room for a further process or thread. It says nothing of the program, which may be started later.
    NoRoom,
    Other,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum EndedBy {
    TotalLimit,
    IdleLimit,
    OutputLimit,
    MemoryLimit,
    ProcessLimit,
    StopRequest,
}

impl ChildEnd {
    /// An end without a life: nothing is known but how.
    pub(crate) fn without_run(how: HowEnded) -> Self {
        Self {
            how,
            ended_by: None,
            started_ms: 0,
            duration_ms: 0,
            stdout_bytes: 0,
            stderr_bytes: 0,
            leaked_processes: 0,
            surviving_processes: 0,
            sandbox: None,
            output_lost: None,
        }
    }

    /// True for exit code 0 of a child that nobody had to end.
    pub fn is_success(&self) -> bool {
        self.how == HowEnded::Exited { code: 0 } && self.ended_by.is_none()
    }
}
