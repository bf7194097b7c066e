//! `windlass goal …`: the loop that builds a queue of items within a contract.

mod add;
mod ask;
mod check;
mod flags;
mod init;
mod next;
pub(super) mod report;
mod run;
mod status;

use crate::output::Output;
use clap::{Args, Subcommand};
use windlass_control_api::{Control, Fault};

/// Build a queue of features within a contract, one at a time
///
/// Reads `docs/FEATURES.json` (what is to be built) and `docs/LOOP.md` (what may be touched and how freely). One item at a
/// time is built by one agent, tested by Windlass itself, graded by another agent and becomes one commit. At level L1,
/// the default, nothing is committed before you approved exactly that tree. The loop stops at its caps, at the second
/// failure for one cause, at edits outside the item, and says which commits to read.
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  windlass goal init --feature \"Greeting: says hello; has a test\"
  windlass goal check
  windlass goal next
  windlass goal run --agent claude
  windlass goal status")]
pub(crate) struct GoalArgs {
    #[command(subcommand)]
    command: GoalCommand,
}

#[derive(Debug, Subcommand)]
enum GoalCommand {
    Init(init::InitArgs),
    Add(add::AddArgs),
    Check(check::CheckArgs),
    Next(next::NextArgs),
    Run(Box<run::GoalRunArgs>),
    Status(status::StatusArgs),
}

impl GoalArgs {
    /// Whether nothing is recorded, so that a state directory that cannot be written is good enough.
    pub(crate) fn only_looks(&self) -> bool {
        matches!(self.command, GoalCommand::Check(_) | GoalCommand::Next(_) | GoalCommand::Status(_))
    }
}

pub(crate) async fn run(args: GoalArgs, control: &dyn Control, output: &mut Output) -> Result<u8, Fault> {
    match args.command {
        GoalCommand::Init(args) => init::run(args, control, output).await,
        GoalCommand::Add(args) => add::run(args, control, output).await,
        GoalCommand::Check(args) => check::run(args, control, output).await,
        GoalCommand::Next(args) => next::run(args, control, output).await,
        GoalCommand::Run(args) => run::run(*args, control, output).await,
        GoalCommand::Status(args) => status::run(args, control, output).await,
    }
}
