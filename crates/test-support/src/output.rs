//! What the program said and how it ended.

use std::os::unix::process::ExitStatusExt;
use windlass_process_supervisor::QuickOutput;

#[derive(Debug, Clone, PartialEq, Eq)]
#[must_use]
pub struct Output {
    /// What was run, for messages.
    pub command: String,
    pub stdout: String,
    pub stderr: String,
    /// `None` when a signal ended it.
    pub code: Option<i32>,
    pub signal: Option<i32>,
}

impl Output {
    pub(crate) fn of(args: &[&str], output: QuickOutput) -> Self {
        Self {
            command: args.join(" "),
            stdout: String::from_utf8_lossy(&output.stdout).into_owned(),
            stderr: String::from_utf8_lossy(&output.stderr).into_owned(),
            code: output.status.code(),
            signal: output.status.signal(),
        }
    }

    /// Fails the test, with everything that was said, unless the exit code is this one.
    #[track_caller]
    pub fn exits_with(self, code: u8) -> Self {
        assert_eq!(
            self.code,
            Some(i32::from(code)),
            "windlass {}\n{}\n{}",
            self.command,
            self.stdout,
            self.stderr
        );
        self
    }

    /// The answer as one JSON document.
    #[track_caller]
    pub fn json(&self) -> serde_json::Value {
        match serde_json::from_str(&self.stdout) {
            Ok(value) => value,
            Err(error) => panic!("windlass {}: {error}\n{}\n{}", self.command, self.stdout, self.stderr),
        }
    }

    /// The answer as one JSON value per line: the events, and the outcome last.
    #[track_caller]
    pub fn json_lines(&self) -> Vec<serde_json::Value> {
        let line = |line: &str| match serde_json::from_str(line) {
            Ok(value) => value,
            Err(error) => panic!("windlass {}: {error} in {line}\n{}", self.command, self.stderr),
        };
        self.stdout.lines().map(line).collect()
    }
}
