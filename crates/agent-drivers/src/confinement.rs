//! What each agent program does by itself to keep a maker in its workspace and a checker from writing, in few words for
//! people. That the tree is unchanged after a checker is compared in any case, by somebody else.

use crate::program::AgentProgram;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Confinement {
    pub as_maker: &'static str,
    pub as_checker: &'static str,
    /// Whether shell commands of a maker run in a sandbox of the program's own.
    pub fences_commands: bool,
}

impl AgentProgram {
    pub const fn confinement(self) -> Confinement {
        match self {
            Self::Codex => Confinement {
                as_maker: "own sandbox: workspace only, no network",
                as_checker: "own sandbox: read-only",
                fences_commands: true,
            },
            Self::Claude | Self::Copilot => Confinement {
                as_maker: "edits in workspace only, commands not fenced",
                as_checker: "reading tools only",
                fences_commands: false,
            },
            Self::Gemini => Confinement {
                as_maker: "edits in workspace only, commands not fenced",
                as_checker: "own plan mode",
                fences_commands: false,
            },
            Self::OpenCode => Confinement {
                as_maker: "nothing is fenced",
                as_checker: "edits and commands denied",
                fences_commands: false,
            },
        }
    }
}
