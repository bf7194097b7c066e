//! The agent programs of this machine as a person wants to see them: there or not, fit or not, how they are held back.

use crate::money::Spent;
use crate::views::Status;
use serde::Serialize;

#[derive(Clone, Debug, Serialize)]
pub struct AgentView {
    /// As `--agent` takes it.
    pub name: String,
    /// As people know it.
    pub title: String,
    /// Where it was found; absent when it is not installed.
    pub path: Option<String>,
    /// Why it does not even start; empty where it does.
    pub fails: String,
    /// In its own words; absent when it did not tell.
    pub version: Option<String>,
    pub version_state: VersionState,
    /// What to do about its version; empty when nothing.
    pub advice: String,
    pub install: String,
    /// What keeps a maker inside its workspace.
    pub as_maker: String,
    /// What keeps a checker from writing.
    pub as_checker: String,
    /// Whether shell commands of a maker run in a sandbox of the program's own.
    pub fences_commands: bool,
    /// Whether the program has a read-only mode of its own.
    pub read_only_mode: bool,
    pub login: LoginView,
    /// Settings that name it, such as `doer` or `judge-fallback`.
    pub used_by: Vec<String>,
}

impl AgentView {
    /// Whether it can be asked at all, as maker and as checker alike.
    pub fn is_usable(&self) -> bool {
        self.path.is_some() && self.fails.is_empty()
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum VersionState {
    /// Its streams were recorded and are read in the tests.
    Known,
    Older,
    Newer,
    /// Not installed, or it would not say.
    Untold,
}

/// What speaks for a login. Nothing is opened: files by their existence, variables by their names.
#[derive(Clone, Debug, Serialize)]
pub struct LoginView {
    pub variables: Vec<String>,
    pub file: Option<String>,
    /// The command that logs in.
    pub command: String,
}

impl LoginView {
    pub fn seems_there(&self) -> bool {
        !self.variables.is_empty() || self.file.is_some()
    }
}

/// What came of a trial: one agent, a tiny task, a repository of its own.
#[derive(Clone, Debug, Serialize)]
pub struct TrialView {
    pub agent: String,
    pub status: Status,
    /// It changed files as it was asked to.
    pub edited: bool,
    /// Its answer as the maker could be read at once.
    pub handed_over: bool,
    /// Its answer as a checker could be read at once.
    pub judged: bool,
    /// As a checker it left the tree alone; absent when it never came to that.
    pub read_only_held: Option<bool>,
    pub spent: Spent,
    pub milliseconds: u64,
    /// Everything it left, where that was kept.
    pub directory: Option<String>,
}
