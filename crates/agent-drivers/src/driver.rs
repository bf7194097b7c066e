//! The port: four functions over the closed set of agent programs. Each arm hands over to the file of its program.

use crate::choice::AgentChoice;
use crate::conclusion::{ClosingWord, Conclusion, HowItEnded, conclude as conclude_by};
use crate::invocation::{BuildError, CommandLine, Invocation};
use crate::plain;
use crate::signal::{Signal, Stream};

/// What a program can do by itself, so that the engine asks for no more.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Capabilities {
    pub read_only: ReadOnlyMode,
    /// Can be held to a schema for its final answer; otherwise its artifacts come from the outbox.
    pub structured_answer: bool,
    /// Can go on with an earlier conversation.
    pub resume: bool,
    /// Always tells its usage, so a token budget can rely on it.
    pub reports_usage: bool,
    pub closing_word: ClosingWord,
}

/// Whether the program has a mode that keeps it from writing. The sandbox is there in any case.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ReadOnlyMode {
    Own,
    None,
}

pub fn capabilities(choice: &AgentChoice) -> Capabilities {
    match choice {
        AgentChoice::Command { .. } | AgentChoice::Shell { .. } | AgentChoice::Scripted { .. } => {
            plain::CAPABILITIES
        }
    }
}

/// The command that does this step.
pub fn build(choice: &AgentChoice, invocation: &Invocation) -> Result<CommandLine, BuildError> {
    match choice {
        AgentChoice::Command { program, arguments } => plain::command(program, arguments, invocation),
        AgentChoice::Shell { text } => plain::shell(text, invocation),
        AgentChoice::Scripted { file } => plain::scripted(file, invocation),
    }
}

/// What one line of output means; without the line's end.
pub fn read_line(choice: &AgentChoice, stream: Stream, line: &str) -> Vec<Signal> {
    match choice {
        AgentChoice::Command { .. } | AgentChoice::Shell { .. } | AgentChoice::Scripted { .. } => {
            plain::read_line(stream, line)
        }
    }
}

/// What the end of the process means, given everything it said.
pub fn conclude(choice: &AgentChoice, ended: &HowItEnded, signals: &[Signal]) -> Conclusion {
    conclude_by(ended, signals, capabilities(choice).closing_word)
}
