//! Where the real agent programs are, pinned by version and installed by `cargo xtask set-up` outside the work tree.
//! It does not know what they are told to do.

use serde_json::Value;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

/// Read by xtask too, which installs what stands there.
const PINNED: &str = include_str!("../agent-programs.json");
/// Names, with commas between them, of programs that cannot be tested here. Xtask sets it and says so.
const SKIPPED_VARIABLE: &str = "WINDLASS_AGENTS_SKIPPED";

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AgentProgram {
    Codex,
    Claude,
    Gemini,
    OpenCode,
    Copilot,
    /// Speaks the Agent Client Protocol and brings a claude of its own.
    ClaudeAgentAcp,
}

impl AgentProgram {
    pub const ALL: [Self; 6] =
        [Self::Codex, Self::Claude, Self::Gemini, Self::OpenCode, Self::Copilot, Self::ClaudeAgentAcp];

    /// As it is called on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Self::Codex => "codex",
            Self::Claude => "claude",
            Self::Gemini => "gemini",
            Self::OpenCode => "opencode",
            Self::Copilot => "copilot",
            Self::ClaudeAgentAcp => "claude-agent-acp",
        }
    }

    pub fn version(self) -> String {
        pinned(self.name(), "version")
    }

    /// The program itself, not the launcher that npm puts before it: a launcher outlives or is outlived by its child.
    pub fn path(self) -> PathBuf {
        path_of(self.name())
    }

    /// What keeps tests of this program from running here.
    pub fn why_missing(self) -> Option<String> {
        why_missing(self.name())
    }

    /// Whether a test of this program can run. It is false only where xtask has said that the program is skipped: any
    /// other missing program fails the test, so that nothing passes by not having been tried.
    #[track_caller]
    pub fn can_run(self) -> bool {
        can_run_here(self.name(), why_missing(self.name()))
    }
}

/// The official client library of the Model Context Protocol, for node.
pub struct McpLibrary;

impl McpLibrary {
    const NAME: &str = "mcp-sdk";

    /// The folder of the package.
    pub fn path() -> PathBuf {
        let module = path_of(Self::NAME);
        let package = module.ancestors().find(|folder| folder.ends_with("@modelcontextprotocol/sdk"));
        package.expect("the pinned file lies in its package").to_owned()
    }

    /// As for an agent program.
    #[track_caller]
    pub fn can_run() -> bool {
        can_run_here(Self::NAME, why_missing(Self::NAME))
    }
}

fn path_of(name: &str) -> PathBuf {
    let installed = cache_directory(&variable).join(format!("{name}-{}", pinned(name, "version")));
    installed.join("node_modules").join(pinned(name, "program"))
}

fn why_missing(name: &str) -> Option<String> {
    let path = path_of(name);
    (!path.is_file())
        .then(|| format!("{name} {} is not installed at {}", pinned(name, "version"), path.display()))
}

#[track_caller]
#[expect(clippy::print_stderr, reason = "whoever reads the output of a test that did nothing must see why")]
pub(crate) fn can_run_here(name: &str, why_missing: Option<String>) -> bool {
    let skipped = variable(SKIPPED_VARIABLE).unwrap_or_default();
    match readiness(name, &skipped.to_string_lossy(), why_missing) {
        Readiness::Ready => true,
        Readiness::Skipped => {
            eprintln!("skipped: {SKIPPED_VARIABLE} names {name}");
            false
        }
        Readiness::Missing(reason) => {
            panic!("{reason}; `cargo xtask set-up` installs it or says that it is skipped")
        }
    }
}

fn pinned(name: &str, field: &str) -> String {
    let all: Value = serde_json::from_str(PINNED).expect("the list of pinned programs is JSON");
    let programs = all.as_array().expect("the list of pinned programs is a list");
    let own = programs.iter().find(|program| program["name"] == name);
    let own = own.expect("every program is in the list of pinned programs");
    own[field].as_str().expect("a pinned program has all its fields").to_owned()
}

/// Every program that is not there, with the reason.
pub fn missing_agent_programs() -> Vec<(AgentProgram, String)> {
    let missing = |program: AgentProgram| Some((program, program.why_missing()?));
    AgentProgram::ALL.into_iter().filter_map(missing).collect()
}

#[derive(Debug, PartialEq, Eq)]
enum Readiness {
    Ready,
    Skipped,
    Missing(String),
}

/// `skipped` is the list of names. A program that is skipped is not tried even where it is installed: what it needs
/// besides, such as node, may be missing.
fn readiness(name: &str, skipped: &str, why_missing: Option<String>) -> Readiness {
    if skipped.split(',').any(|entry| entry.trim() == name) {
        return Readiness::Skipped;
    }
    why_missing.map_or(Readiness::Ready, Readiness::Missing)
}

/// The same rule as in xtask, which fills it.
pub(crate) fn cache_directory(variable: &dyn Fn(&str) -> Option<OsString>) -> PathBuf {
    if let Some(directory) = variable("WINDLASS_AGENTS_DIR") {
        return directory.into();
    }
    let at_home = || Path::new(&variable("HOME").unwrap_or_else(|| ".".into())).join(".cache");
    let cache = variable("XDG_CACHE_HOME").map_or_else(at_home, PathBuf::from);
    cache.join("windlass/agents")
}

/// An empty variable counts as none.
pub(crate) fn variable(name: &str) -> Option<OsString> {
    std::env::vars_os().find(|(known, value)| known == name && !value.is_empty()).map(|(_, value)| value)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_program_is_pinned_to_one_version_and_one_file() {
        for program in AgentProgram::ALL {
            let path = program.path();
            let folder = format!("{}-{}/node_modules/", program.name(), program.version());
            assert!(path.to_string_lossy().contains(&folder), "{}", path.display());
            assert!(program.version().chars().all(|letter| letter.is_ascii_digit() || letter == '.'));
        }
        let all: Value = serde_json::from_str(PINNED).unwrap();
        let library = 1;
        assert_eq!(all.as_array().unwrap().len(), AgentProgram::ALL.len() + library);
    }

    #[test]
    fn the_cache_is_where_the_user_says_else_where_caches_are() {
        let with = |pairs: &'static [(&str, &str)]| {
            move |name: &str| pairs.iter().find(|(known, _)| *known == name).map(|(_, value)| value.into())
        };
        assert_eq!(cache_directory(&with(&[("WINDLASS_AGENTS_DIR", "/a"), ("HOME", "/h")])), Path::new("/a"));
        let xdg = with(&[("XDG_CACHE_HOME", "/c"), ("HOME", "/h")]);
        assert_eq!(cache_directory(&xdg), Path::new("/c/windlass/agents"));
        assert_eq!(cache_directory(&with(&[("HOME", "/h")])), Path::new("/h/.cache/windlass/agents"));
    }

    #[test]
    fn a_missing_program_is_a_failure_unless_its_full_name_is_among_the_skipped() {
        let missing = || Some("gone".to_owned());
        assert_eq!(readiness("claude", "", None), Readiness::Ready);
        assert_eq!(readiness("claude", "codex, claude", missing()), Readiness::Skipped);
        assert_eq!(readiness("claude", "codex,claude", None), Readiness::Skipped);
        for others in ["", "codex", "claude-agent-acp"] {
            assert_eq!(readiness("claude", others, missing()), Readiness::Missing("gone".to_owned()));
        }
    }
}
