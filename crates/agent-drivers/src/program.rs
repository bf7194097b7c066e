//! The five agent programs that have a dialect of their own, by name: what to start, how to install, whose it is.
//! What they are asked and what they say lives in the file of each.

use std::fmt;

use crate::vendor::Vendor;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum AgentProgram {
    Codex,
    Claude,
    Gemini,
    OpenCode,
    Copilot,
}

/// Whether a program lets its user say how hard the model should think, and in which words.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Efforts {
    None,
    /// Only these words are known to the program.
    Words(&'static [&'static str]),
    /// The words depend on the model's provider, so only the provider can refuse one.
    ByProvider,
}

impl AgentProgram {
    pub const ALL: [Self; 5] = [Self::Codex, Self::Claude, Self::Gemini, Self::OpenCode, Self::Copilot];

    /// The kind in an agent's text form, and the name of the program on PATH.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Codex => "codex",
            Self::Claude => "claude",
            Self::Gemini => "gemini",
            Self::OpenCode => "opencode",
            Self::Copilot => "copilot",
        }
    }

    /// The name people know it by.
    pub const fn title(self) -> &'static str {
        match self {
            Self::Codex => "OpenAI Codex",
            Self::Claude => "Claude Code",
            Self::Gemini => "Gemini CLI",
            Self::OpenCode => "OpenCode",
            Self::Copilot => "GitHub Copilot CLI",
        }
    }

    pub const fn npm_package(self) -> &'static str {
        match self {
            Self::Codex => "@openai/codex",
            Self::Claude => "@anthropic-ai/claude-code",
            Self::Gemini => "@google/gemini-cli",
            Self::OpenCode => "opencode-ai",
            Self::Copilot => "@github/copilot",
        }
    }

    /// The line that installs it.
    pub fn install_command(self) -> String {
        format!("npm install --global {}", self.npm_package())
    }

    /// Whose models it runs when nothing else is said.
    pub(crate) const fn home_vendor(self) -> Vendor {
        match self {
            Self::Codex => Vendor::OpenAi,
            Self::Claude => Vendor::Anthropic,
            Self::Gemini => Vendor::Google,
            Self::OpenCode => Vendor::OpenCode,
            Self::Copilot => Vendor::GitHub,
        }
    }

    pub(crate) const fn efforts(self) -> Efforts {
        match self {
            Self::Codex => Efforts::Words(&["none", "minimal", "low", "medium", "high", "xhigh"]),
            Self::Claude => Efforts::Words(&["low", "medium", "high", "xhigh", "max"]),
            Self::Gemini => Efforts::None,
            Self::OpenCode => Efforts::ByProvider,
            Self::Copilot => Efforts::Words(&["none", "minimal", "low", "medium", "high", "xhigh", "max"]),
        }
    }
}

impl fmt::Display for AgentProgram {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.as_str())
    }
}
