//! Agents behind the Agent Client Protocol. It is a conversation in both directions, so this program starts itself as
//! the client under a hidden command; the client starts the agent and reports in the lines of the plain dialect.

use std::collections::BTreeMap;

use crate::conclusion::{ClosingWord, EndReading};
use crate::driver::{Capabilities, ReadOnlyMode, SessionIds};
use crate::invocation::{Access, BuildError, CommandLine, Invocation, Session, Stdin, text_of};

/// The hidden command of the windlass program that is the client:
/// `windlass __acp (--read-only|--read-write) [--resume ID] -- PROGRAM ARGUMENT…`, with the prompt on stdin.
pub const ACP_COMMAND: &str = "__acp";

pub(crate) const CAPABILITIES: Capabilities = Capabilities {
    read_only: ReadOnlyMode::None,
    structured_answer: false,
    resume: true,
    session_ids: SessionIds::Theirs,
    reports_usage: false,
    reports_usage_live: false,
    closing_word: ClosingWord::Required,
};

pub(crate) const END_READING: EndReading = EndReading {
    closing_word: ClosingWord::Required,
    exit_code: |_| None,
    login_hint: "log in with the agent's own program, or set its key in the environment",
};

pub(crate) fn build(
    program: &str,
    arguments: &[String],
    invocation: &Invocation,
) -> Result<CommandLine, BuildError> {
    let access = match invocation.access {
        Access::ReadOnly => "--read-only",
        Access::ReadWrite => "--read-write",
    };
    let mut words = vec![ACP_COMMAND.to_owned(), access.to_owned()];
    if let Session::Resume { id } = &invocation.session {
        words.extend(["--resume".to_owned(), id.clone()]);
    }
    words.extend(["--".to_owned(), program.to_owned()]);
    words.extend_from_slice(arguments);
    let mut environment = invocation.environment()?;
    // For gemini, whose parent process would swallow every signal that asks it to end; nobody else knows the name.
    environment.insert("GEMINI_CLI_NO_RELAUNCH".to_owned(), "true".to_owned());
    Ok(CommandLine {
        program: text_of("windlass program", &invocation.windlass_program)?,
        arguments: words,
        environment,
        stdin: Stdin::Prompt,
        files: BTreeMap::new(),
    })
}
