//! `windlass roadmap …`: the loop that works a roadmap of milestones off, round by round.

pub(super) mod report;
mod run;
mod status;

use crate::output::Output;
use clap::{Args, Subcommand};
use windlass_control_api::{Control, Fault};

/// Work a roadmap of milestones off in rounds: plan, implement, review, merge
///
/// The control plane is the tracked folder `orchestrator/`: a roadmap of milestones, the contract of the roles, and
/// `state.json`, which says which rounds live. Each round is planned, implemented and reviewed by agents in a worktree of its
/// own; Windlass merges what was approved as one commit of the base branch and notes it in the roadmap. People may edit the
/// files between two steps; they are read before every decision.
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  windlass roadmap run --agent claude
  windlass roadmap run --agent codex --reviewer claude --once
  windlass roadmap status")]
pub(crate) struct RoadmapArgs {
    #[command(subcommand)]
    command: RoadmapCommand,
}

#[derive(Debug, Subcommand)]
enum RoadmapCommand {
    Run(Box<run::RoadmapRunArgs>),
    Status(status::StatusArgs),
}

impl RoadmapArgs {
    /// Whether nothing is recorded, so that a state directory that cannot be written is good enough.
    pub(crate) fn only_looks(&self) -> bool {
        matches!(self.command, RoadmapCommand::Status(_))
    }
}

pub(crate) async fn run(args: RoadmapArgs, control: &dyn Control, output: &mut Output) -> Result<u8, Fault> {
    match args.command {
        RoadmapCommand::Run(args) => run::run(*args, control, output).await,
        RoadmapCommand::Status(args) => status::run(args, control, output).await,
    }
}
