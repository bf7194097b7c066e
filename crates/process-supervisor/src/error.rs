//! Faults of ours while starting, watching or ending children. How a child itself ended is no error: see `ChildEnd`.

use std::io;
use std::path::PathBuf;

/// Why the supervisor could not do its work.
#[derive(Debug, thiserror::Error)]
pub enum SupervisorError {
    #[error("cannot {action} {}", path.display())]
    File { action: &'static str, path: PathBuf, source: io::Error },
    #[error("{} is not what it should be", path.display())]
    Malformed { path: PathBuf, source: serde_json::Error },
    #[error("program {} was not found", program.display())]
    ProgramNotFound { program: PathBuf },
    #[error("cannot start {}", program.display())]
    Start { program: PathBuf, source: io::Error },
    #[error("cannot {action} process {pid}")]
    Process { action: &'static str, pid: u32, source: io::Error },
    #[error("a keeper is still at work in {}", path.display())]
    KeeperAlive { path: PathBuf },
    #[error("cannot start a thread to {purpose}")]
    Thread { purpose: &'static str, source: io::Error },
    #[error("cannot listen for signals")]
    Signals { source: io::Error },
}

impl SupervisorError {
    pub(crate) fn file(action: &'static str, path: impl Into<PathBuf>, source: impl Into<io::Error>) -> Self {
        Self::File { action, path: path.into(), source: source.into() }
    }
}
