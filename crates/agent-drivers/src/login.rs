//! How the user of an agent program is known to its service: names of variables and files, and the command that logs in.
//! Names only; nobody here can look.

use crate::program::AgentProgram;

/// Where a login may be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Login {
    /// Each of these alone is enough.
    pub variables: &'static [&'static str],
    /// Left by the program when a person has logged in.
    pub file: LoginFile,
    /// What a person types.
    pub command: &'static str,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LoginFile {
    /// Moves the directory of the file, where the program has such a variable.
    pub directory_variable: Option<&'static str>,
    /// Where that directory is else, from the home directory on.
    pub directory: &'static str,
    pub name: &'static str,
}

const fn file(
    directory_variable: Option<&'static str>,
    directory: &'static str,
    name: &'static str,
) -> LoginFile {
    LoginFile { directory_variable, directory, name }
}

impl AgentProgram {
    pub const fn login(self) -> Login {
        match self {
            Self::Codex => Login {
                variables: &["OPENAI_API_KEY", "CODEX_API_KEY", "AZURE_OPENAI_API_KEY"],
                file: file(Some("CODEX_HOME"), ".codex", "auth.json"),
                command: "codex login",
            },
            Self::Claude => Login {
                variables: &["ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN", "CLAUDE_CODE_OAUTH_TOKEN"],
                file: file(Some("CLAUDE_CONFIG_DIR"), ".claude", ".credentials.json"),
                command: "claude",
            },
            Self::Gemini => Login {
                variables: &["GEMINI_API_KEY", "GOOGLE_API_KEY", "GOOGLE_APPLICATION_CREDENTIALS"],
                file: file(None, ".gemini", "oauth_creds.json"),
                command: "gemini",
            },
            Self::OpenCode => Login {
                variables: &[
                    "OPENAI_API_KEY",
                    "ANTHROPIC_API_KEY",
                    "GEMINI_API_KEY",
                    "OPENROUTER_API_KEY",
                    "XAI_API_KEY",
                    "MISTRAL_API_KEY",
                    "DEEPSEEK_API_KEY",
                    "GROQ_API_KEY",
                ],
                file: file(Some("XDG_DATA_HOME"), ".local/share", "opencode/auth.json"),
                command: "opencode auth login",
            },
            Self::Copilot => Login {
                variables: &["COPILOT_GITHUB_TOKEN", "GH_TOKEN", "GITHUB_TOKEN", "COPILOT_PROVIDER_API_KEY"],
                file: file(Some("COPILOT_HOME"), ".copilot", "config.json"),
                command: "copilot login",
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::choice::AgentChoice;
    use crate::environment::is_passed_to;

    #[test]
    fn whatever_counts_as_a_login_reaches_the_program() {
        for program in AgentProgram::ALL {
            let choice = AgentChoice::Known { program, model: None, effort: None };
            let login = program.login();
            for name in login.variables.iter().copied().chain(login.file.directory_variable) {
                assert!(is_passed_to(&choice, name), "{program} never sees {name}");
            }
        }
    }
}
