//! Why a turn came to no answer, and how that is told. None of these is a reason to panic.

use std::io;
use std::os::unix::process::ExitStatusExt;
use std::process::ExitStatus;

use serde_json::Value;
use windlass_agent_drivers::{ErrorKind, Signal, acp_error, acp_failure};
use windlass_process_supervisor::SupervisorError;

#[derive(Debug, thiserror::Error)]
pub(crate) enum Failure {
    #[error("cannot read the prompt: {source}")]
    Prompt { source: io::Error },
    #[error("{}", with_causes(.0))]
    Supervisor(#[from] SupervisorError),
    #[error("cannot start a thread: {source}")]
    Thread { source: io::Error },
    #[error("the workspace's path is not valid UTF-8, which the protocol cannot express")]
    UnnameableWorkspace,
    #[error("the agent speaks version {theirs} of the protocol; this client speaks version {ours}")]
    Version { ours: u64, theirs: Value },
    #[error("the agent opened a session without an id")]
    NoSession,
    #[error("{}", .error.get("message").and_then(Value::as_str).unwrap_or("the agent refused"))]
    Refused { error: Value },
    #[error("{}", gone(while_asked, *.status))]
    AgentGone { while_asked: &'static str, status: Option<ExitStatus> },
    #[error("the agent wrote a line of more than {limit} bytes")]
    LineTooLong { limit: usize },
    #[error("the turn was cancelled because this program was told to end")]
    Interrupted,
    #[error("nobody takes what is reported: {source}")]
    Unheard { source: io::Error },
}

impl Failure {
    /// The last signals of the step.
    pub(crate) fn signals(&self) -> Vec<Signal> {
        match self {
            Self::Refused { error } => acp_error(error),
            other => acp_failure(other.kind(), &other.to_string()),
        }
    }

    fn kind(&self) -> ErrorKind {
        match self {
            Self::Supervisor(_) | Self::UnnameableWorkspace | Self::Version { .. } => ErrorKind::Setup,
            // Killed from outside, or gone as if all were well: nobody knows how far it came.
            Self::AgentGone { status: Some(status), .. } if status.success() || status.signal().is_some() => {
                ErrorKind::Interrupted
            }
            Self::Interrupted => ErrorKind::Interrupted,
            Self::Prompt { .. }
            | Self::Thread { .. }
            | Self::NoSession
            | Self::Refused { .. }
            | Self::AgentGone { .. }
            | Self::LineTooLong { .. }
            | Self::Unheard { .. } => ErrorKind::Other,
        }
    }
}

fn gone(while_asked: &str, status: Option<ExitStatus>) -> String {
    let how = match status.map(|status| (status.code(), status.signal())) {
        Some((Some(code), _)) => format!("exited with {code}"),
        Some((None, Some(signal))) => format!("was ended by signal {signal}"),
        Some((None, None)) | None => "closed its output".to_owned(),
    };
    format!("the agent {how} before it answered {while_asked}")
}

/// The errors of the supervisor keep their causes to themselves; one line must carry them all.
fn with_causes(error: &dyn std::error::Error) -> String {
    let causes = std::iter::successors(error.source(), |cause| cause.source());
    causes.fold(error.to_string(), |text, cause| format!("{text}: {cause}"))
}
