//! The port: a few functions over the closed set of agent programs. Each arm hands over to the file of its program.

use crate::acp;
use crate::answer::{answer_from_message, final_message};
use crate::choice::AgentChoice;
use crate::conclusion::{ClosingWord, Conclusion, EndReading, HowItEnded, conclude as conclude_by};
use crate::invocation::{Access, AnswerBy, BuildError, CommandLine, Commands, Invocation};
use crate::plain;
use crate::program::AgentProgram;
use crate::programs::{ModelWish, claude, codex, copilot, gemini, opencode};
use crate::reckoning::{Figures, Reckoning, reckon as reckon_by};
use crate::signal::{Signal, Stream};

/// What a program can do by itself, so that the engine asks for no more.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Capabilities {
    pub read_only: ReadOnlyMode,
    /// Can be held to a schema for its final answer. Nothing here fails when it misses the schema: validate.
    pub structured_answer: bool,
    /// Can go on with an earlier conversation.
    pub resume: bool,
    pub session_ids: SessionIds,
    /// Always tells its usage, so a token budget can rely on it.
    pub reports_usage: bool,
    /// Tells its usage while it works, so that a cap can end it between two replies.
    pub reports_usage_live: bool,
    pub closing_word: ClosingWord,
}

/// Whether the program has a mode that keeps it from writing. The sandbox is there in any case.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ReadOnlyMode {
    Own,
    None,
}

/// Who chooses the id of a new conversation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SessionIds {
    /// We may, with a UUID; see [`crate::Session::Fresh`].
    Ours,
    /// The program does, and tells it in its output.
    Theirs,
    /// There is no conversation to name.
    None,
}

pub fn capabilities(choice: &AgentChoice) -> Capabilities {
    match choice {
        AgentChoice::Command { .. } | AgentChoice::Shell { .. } | AgentChoice::Scripted { .. } => {
            plain::CAPABILITIES
        }
        AgentChoice::Acp { .. } => acp::CAPABILITIES,
        AgentChoice::Known { program, .. } => match program {
            AgentProgram::Codex => codex::CAPABILITIES,
            AgentProgram::Claude => claude::CAPABILITIES,
            AgentProgram::Gemini => gemini::CAPABILITIES,
            AgentProgram::OpenCode => opencode::CAPABILITIES,
            AgentProgram::Copilot => copilot::CAPABILITIES,
        },
    }
}

/// How this agent hands over its answer. Whoever may write leaves files; whoever may not, speaks.
pub fn answer_by(choice: &AgentChoice, access: Access) -> AnswerBy {
    match (choice, access) {
        (AgentChoice::Known { program: AgentProgram::Claude, .. }, Access::ReadOnly) => AnswerBy::ClosingWord,
        (AgentChoice::Known { .. } | AgentChoice::Acp { .. }, Access::ReadOnly) => AnswerBy::FinalMessage,
        _ => AnswerBy::Outbox,
    }
}

/// Whether the program, asked for these commands, leaves its model no tool to run one.
///
/// It is about the tools of the model: what the user's own settings hook into the program still runs.
pub fn commands_off(choice: &AgentChoice, commands: Commands) -> bool {
    let can_be_told = match choice {
        AgentChoice::Command { .. }
        | AgentChoice::Shell { .. }
        | AgentChoice::Scripted { .. }
        | AgentChoice::Acp { .. } => false,
        AgentChoice::Known { program, .. } => match program {
            // It has a switch, `--disable shell_tool`. But for most models the shell is also all it edits with, and
            // which ones those are changes with every release; its sandbox fences what it runs.
            AgentProgram::Codex => false,
            AgentProgram::Claude | AgentProgram::Gemini | AgentProgram::OpenCode | AgentProgram::Copilot => {
                true
            }
        },
    };
    can_be_told && commands == Commands::Off
}

/// The command that does this step.
pub fn build(choice: &AgentChoice, invocation: &Invocation) -> Result<CommandLine, BuildError> {
    match choice {
        AgentChoice::Command { program, arguments } => plain::command(program, arguments, invocation),
        AgentChoice::Shell { text } => plain::shell(text, invocation),
        AgentChoice::Scripted { file } => plain::scripted(file, invocation),
        AgentChoice::Acp { program, arguments } => acp::build(program, arguments, invocation),
        AgentChoice::Known { program, model, effort } => {
            let wish = ModelWish { model: model.as_deref(), effort: effort.as_deref() };
            match program {
                AgentProgram::Codex => codex::build(wish, invocation),
                AgentProgram::Claude => claude::build(wish, invocation),
                AgentProgram::Gemini => gemini::build(wish, invocation),
                AgentProgram::OpenCode => opencode::build(wish, invocation),
                AgentProgram::Copilot => copilot::build(wish, invocation),
            }
        }
    }
}

/// What one line of output means; without the line's end.
pub fn read_line(choice: &AgentChoice, stream: Stream, line: &str) -> Vec<Signal> {
    match choice {
        AgentChoice::Command { .. }
        | AgentChoice::Shell { .. }
        | AgentChoice::Scripted { .. }
        | AgentChoice::Acp { .. } => plain::read_line(stream, line),
        AgentChoice::Known { program, .. } => match program {
            AgentProgram::Codex => codex::read_line(stream, line),
            AgentProgram::Claude => claude::read_line(stream, line),
            AgentProgram::Gemini => gemini::read_line(stream, line),
            AgentProgram::OpenCode => opencode::read_line(stream, line),
            AgentProgram::Copilot => copilot::read_line(stream, line),
        },
    }
}

/// What the content of [`Invocation::usage_file`] says, for programs that tell their usage only there.
pub fn read_usage_file(choice: &AgentChoice, content: &str) -> Vec<Signal> {
    match choice {
        AgentChoice::Known { program: AgentProgram::Copilot, .. } => copilot::read_usage_file(content),
        _ => Vec::new(),
    }
}

/// The answer that was spoken rather than written, as JSON text that nobody has validated yet.
///
/// `None` where the answer is in the outbox, or nothing like one was said.
pub fn spoken_answer(choice: &AgentChoice, access: Access, signals: &[Signal]) -> Option<String> {
    let in_closing_word = || {
        signals.iter().rev().find_map(|signal| match signal {
            Signal::End { answer, .. } => answer.clone(),
            _ => None,
        })
    };
    let in_message = || answer_from_message(&final_message(signals)?).map(str::to_owned);
    match answer_by(choice, access) {
        AnswerBy::Outbox => None,
        // Held to a schema it has both; when it missed the schema, what it said may still be right.
        AnswerBy::ClosingWord => in_closing_word().or_else(in_message),
        AnswerBy::FinalMessage => in_message(),
    }
}

/// What the end of the process means, given everything it said on both streams.
pub fn conclude(choice: &AgentChoice, ended: &HowItEnded, signals: &[Signal]) -> Conclusion {
    let reading = match choice {
        AgentChoice::Command { .. } | AgentChoice::Shell { .. } | AgentChoice::Scripted { .. } => {
            plain::END_READING
        }
        AgentChoice::Acp { .. } => acp::END_READING,
        AgentChoice::Known { program, .. } => end_reading(*program),
    };
    conclude_by(ended, signals, &reading)
}

/// Whether what the agent told of its tokens is all it used. `signals` is everything it said and left in its usage file.
pub fn reckon(choice: &AgentChoice, ended: &HowItEnded, signals: &[Signal]) -> Reckoning {
    let figures = match choice {
        // Whether they tell anything is theirs to decide, and nobody knows what is missing.
        AgentChoice::Command { .. } | AgentChoice::Shell { .. } | AgentChoice::Scripted { .. } => {
            return Reckoning::All;
        }
        AgentChoice::Known { program: AgentProgram::OpenCode, .. } => Figures::WithEachReply,
        AgentChoice::Known { .. } | AgentChoice::Acp { .. } => Figures::AtTheEnd,
    };
    reckon_by(ended, signals, figures)
}

const fn end_reading(program: AgentProgram) -> EndReading {
    match program {
        AgentProgram::Codex => codex::END_READING,
        AgentProgram::Claude => claude::END_READING,
        AgentProgram::Gemini => gemini::END_READING,
        AgentProgram::OpenCode => opencode::END_READING,
        AgentProgram::Copilot => copilot::END_READING,
    }
}
