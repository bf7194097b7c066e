//! One executed command as `eval-results.json` and `audit-results.json` record it, and the names of its logs.
//! It knows the record only; running the command is the engine's work.

use serde::Serialize;

use crate::extra_keys::ExtraKeys;
use crate::fields::{Field, choice};

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct CommandResult {
    pub command: String,
    pub status: CommandStatus,
    pub exit_code: i32,
    pub stdout_log: String,
    pub stderr_log: String,
    #[serde(flatten)]
    pub extra: ExtraKeys,
}

choice! {
    CommandStatus {
        Pass = "pass",
        Fail = "fail",
    }
}

choice! {
    /// How a check of an artifact, a policy or a trace ended.
    CheckStatus {
        Pass = "pass",
        Fail = "fail",
        Unknown = "unknown",
    }
}

impl CommandResult {
    /// A result whose status follows from its exit code.
    pub fn from_exit_code(command: impl Into<String>, exit_code: i32, logs: &LogNames) -> Self {
        let status = if exit_code == 0 { CommandStatus::Pass } else { CommandStatus::Fail };
        Self {
            command: command.into(),
            status,
            exit_code,
            stdout_log: logs.stdout.clone(),
            stderr_log: logs.stderr.clone(),
            extra: ExtraKeys::default(),
        }
    }

    pub fn failed(&self) -> bool {
        self.status == CommandStatus::Fail
    }
}

/// Names of the two log files of one command.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LogNames {
    pub stdout: String,
    pub stderr: String,
}

impl LogNames {
    /// Log paths of the command with this number, counted from one, below the given directory.
    pub fn in_directory(directory: &str, number: usize) -> Self {
        let directory = directory.trim_end_matches('/');
        Self {
            stdout: format!("{directory}/cmd-{number:02}.stdout.log"),
            stderr: format!("{directory}/cmd-{number:02}.stderr.log"),
        }
    }
}

/// Commands to run with their numbers: blank ones are skipped but counted, so that a log's number names the
/// position on the command line.
pub fn numbered_commands<'a>(commands: &[&'a str]) -> Vec<(usize, &'a str)> {
    let numbered = commands.iter().enumerate().map(|(index, command)| (index + 1, *command));
    numbered.filter(|(_, command)| !command.trim().is_empty()).collect()
}

pub(super) fn command_result(field: Field<'_, '_>) -> Option<CommandResult> {
    let mut fields = field.object()?;
    let command = fields.text("command");
    let status = fields.choice("status");
    let exit_code = fields.integer("exit_code", i64::from(i32::MIN), i64::from(i32::MAX));
    let stdout_log = fields.text("stdout_log");
    let stderr_log = fields.text("stderr_log");
    let extra = fields.extra();
    let exit_code = i32::try_from(exit_code).ok()?;
    Some(CommandResult { command, status: status?, exit_code, stdout_log, stderr_log, extra })
}

pub(super) fn count(results: usize) -> u32 {
    u32::try_from(results).unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blank_commands_are_skipped_but_counted() {
        assert_eq!(numbered_commands(&["make", "  ", "make test"]), [(1, "make"), (3, "make test")]);
    }

    #[test]
    fn log_names_have_two_digits_counted_from_one() {
        let logs = LogNames::in_directory("/r/logs/", 3);
        assert_eq!(logs.stdout, "/r/logs/cmd-03.stdout.log");
        assert_eq!(logs.stderr, "/r/logs/cmd-03.stderr.log");
        assert_eq!(LogNames::in_directory("logs", 123).stdout, "logs/cmd-123.stdout.log");
    }
}
