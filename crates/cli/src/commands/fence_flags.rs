//! The flags that hold agents and checks to their own places. They are settings, the same in every loop.

use super::work_flags::{Given, list, number, text, texts};
use clap::{Args, ValueEnum};

#[derive(Args, Clone, Debug, Default)]
pub(crate) struct FenceFlags {
    /// Whether agents and checks are kept from writing outside their own places; `auto` if no settings file says otherwise
    #[arg(long, value_name = "WHEN", help_heading = "Sandbox")]
    sandbox: Option<SandboxWhen>,
    /// What agents and checks of a task loop work in; `auto` if no settings file says otherwise
    #[arg(long, value_name = "KIND", help_heading = "Sandbox")]
    workspaces: Option<WorkspaceKind>,
    /// A further place that they may write; may be repeated
    #[arg(long, value_name = "PATH", help_heading = "Sandbox")]
    sandbox_write: Vec<String>,
    /// How much memory one agent or check may have with all it starts: `512M`, `4G`
    #[arg(long, value_name = "SIZE", help_heading = "Sandbox")]
    max_memory: Option<String>,
    /// How many processes it may have at once
    #[arg(long, value_name = "N", help_heading = "Sandbox", value_parser = clap::value_parser!(u64).range(1..))]
    max_processes: Option<u64>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum SandboxWhen {
    /// Refuse to run where this machine has none
    Required,
    /// Where this machine has one
    Auto,
    Off,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum WorkspaceKind {
    /// Overlays for repositories of more than 5,000 files where this machine has them, else worktrees
    Auto,
    /// Layers over one checkout that all runs on the same base share
    Overlay,
    /// Ordinary directories
    Worktrees,
}

impl FenceFlags {
    /// What was given, by key as in `windlass.toml`.
    pub(super) fn give(&self, given: &mut Given) {
        match self.sandbox {
            Some(SandboxWhen::Required) => text(given, "sandbox", "required"),
            Some(SandboxWhen::Auto) => text(given, "sandbox", "auto"),
            Some(SandboxWhen::Off) => text(given, "sandbox", "off"),
            None => {}
        }
        match self.workspaces {
            Some(WorkspaceKind::Auto) => text(given, "workspaces", "auto"),
            Some(WorkspaceKind::Overlay) => text(given, "workspaces", "overlay"),
            Some(WorkspaceKind::Worktrees) => text(given, "workspaces", "worktrees"),
            None => {}
        }
        list(given, "sandbox-write", &self.sandbox_write);
        texts(given, &[("max-memory", &self.max_memory)]);
        number(given, "max-processes", self.max_processes);
    }
}
