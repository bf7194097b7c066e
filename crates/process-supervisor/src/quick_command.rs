//! Short helper programs such as git, run to their end by the calling thread: both outputs drained at once, a deadline,
//! a bound on the output, nothing left behind. Not for agents and checks, which must outlive the engine.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::io;
use std::path::PathBuf;
use std::process::ExitStatus;
use std::time::Duration;

/// One helper program: no shell, a complete environment, a deadline.
#[derive(Debug, Clone)]
pub struct QuickCommand {
    program: PathBuf,
    args: Vec<OsString>,
    directory: PathBuf,
    environment: BTreeMap<OsString, OsString>,
    stdin: Vec<u8>,
    deadline: Duration,
    output_limit: usize,
}

/// What a helper program said and how it ended; a non-zero status is for the caller to judge.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct QuickOutput {
    pub status: ExitStatus,
    pub stdout: Vec<u8>,
    pub stderr: Vec<u8>,
}

/// Why a helper program gave no output to judge.
#[derive(Debug, thiserror::Error)]
pub enum QuickError {
    #[error("program {} was not found", program.display())]
    NotFound { program: PathBuf },
    #[error("{command} took longer than {} ms and was killed", deadline.as_millis())]
    Deadline { command: String, deadline: Duration },
    #[error("{command} wrote more than {limit} bytes and was killed")]
    OutputLimit { command: String, limit: usize },
    #[error("cannot run {command}")]
    Io { command: String, source: io::Error },
}

impl QuickCommand {
    /// Starts from an empty environment, empty input, one minute and 64 MiB of output on each stream.
    pub fn new(program: impl Into<PathBuf>, directory: impl Into<PathBuf>) -> Self {
        Self {
            program: program.into(),
            args: Vec::new(),
            directory: directory.into(),
            environment: BTreeMap::new(),
            stdin: Vec::new(),
            deadline: Duration::from_mins(1),
            output_limit: 64 * 1024 * 1024,
        }
    }

    #[must_use]
    pub fn arg(mut self, arg: impl Into<OsString>) -> Self {
        self.args.push(arg.into());
        self
    }

    #[must_use]
    pub fn args<A: Into<OsString>>(mut self, args: impl IntoIterator<Item = A>) -> Self {
        self.args.extend(args.into_iter().map(Into::into));
        self
    }

    #[must_use]
    pub fn env(mut self, name: impl Into<OsString>, value: impl Into<OsString>) -> Self {
        self.environment.insert(name.into(), value.into());
        self
    }

    #[must_use]
    pub fn envs<N: Into<OsString>, V: Into<OsString>>(
        mut self,
        pairs: impl IntoIterator<Item = (N, V)>,
    ) -> Self {
        self.environment.extend(pairs.into_iter().map(|(name, value)| (name.into(), value.into())));
        self
    }

    /// Written to the program's input, which is then closed.
    #[must_use]
    pub fn stdin(mut self, bytes: impl Into<Vec<u8>>) -> Self {
        self.stdin = bytes.into();
        self
    }

    #[must_use]
    pub fn deadline(mut self, deadline: Duration) -> Self {
        self.deadline = deadline;
        self
    }

    /// Bound for each of the two streams.
    #[must_use]
    pub fn output_limit(mut self, bytes: usize) -> Self {
        self.output_limit = bytes;
        self
    }

    /// Runs the program to its end. Blocks the calling thread, at most for the deadline and a moment.
    pub fn run(&self) -> Result<QuickOutput, QuickError> {
        exchange::run(self)
    }

    /// The command as a person would write it, for messages.
    fn shown(&self) -> String {
        let words =
            std::iter::once(self.program.as_os_str()).chain(self.args.iter().map(OsString::as_os_str));
        words.map(OsStr::to_string_lossy).collect::<Vec<_>>().join(" ")
    }
}

#[path = "quick_exchange.rs"]
mod exchange;
