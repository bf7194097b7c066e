//! `windlass roadmap …`: the loop that works through a roadmap in rounds of plan, implementation and review.

mod ask;
mod closeout;
mod init;
mod inspect;
mod migrate;
pub(super) mod report;
mod run;
mod status;

use crate::output::Output;
use clap::{Args, Subcommand};
use windlass_control_api::{Control, Fault};

/// Work through a roadmap in rounds: plan, implement, review, merge
///
/// Reads and writes the control plane under `orchestrator/`: a roadmap of milestones, the state of the controller, and the
/// artifacts of every round. Planner, implementer and reviewer are separate agents in a worktree of their round; the
/// controller only decides what the files allow, merges what a reviewer approved, and notes it in the roadmap.
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  windlass roadmap init
  windlass roadmap inspect
  windlass roadmap run --agent claude
  windlass roadmap status
  windlass roadmap migrate --dry-run")]
pub(crate) struct RoadmapArgs {
    #[command(subcommand)]
    command: RoadmapCommand,
}

#[derive(Debug, Subcommand)]
enum RoadmapCommand {
    Init(init::InitArgs),
    Inspect(inspect::InspectArgs),
    Migrate(migrate::MigrateArgs),
    Run(Box<run::RoadmapRunArgs>),
    Status(status::StatusArgs),
    Closeout(closeout::CloseoutArgs),
}

impl RoadmapArgs {
    /// Whether it leaves nothing behind, not even a state directory where nothing was ever run.
    pub(crate) fn leaves_no_trace(&self) -> bool {
        matches!(self.command, RoadmapCommand::Inspect(_))
    }

    /// Whether nothing is recorded, so that a state directory that cannot be written is good enough.
    pub(crate) fn only_looks(&self) -> bool {
        matches!(self.command, RoadmapCommand::Inspect(_) | RoadmapCommand::Status(_))
    }
}

pub(crate) async fn run(args: RoadmapArgs, control: &dyn Control, output: &mut Output) -> Result<u8, Fault> {
    match args.command {
        RoadmapCommand::Init(args) => init::run(args, control, output).await,
        RoadmapCommand::Inspect(args) => inspect::run(args, control, output).await,
        RoadmapCommand::Migrate(args) => migrate::run(args, control, output).await,
        RoadmapCommand::Run(args) => run::run(*args, control, output).await,
        RoadmapCommand::Status(args) => status::run(args, control, output).await,
        RoadmapCommand::Closeout(args) => closeout::run(args, control, output).await,
    }
}
