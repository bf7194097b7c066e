//! `windlass control …`: the sensor, controller and actuator loop.

mod check;
mod init;
mod plot;
pub(super) mod report;
mod run;
mod status;

pub(crate) use plot::terminal_charts;

use crate::output::Output;
use clap::{Args, Subcommand};
use windlass_control_api::{Control, Fault};

/// Measure, plan and edit until every sensor passes
///
/// Sensors measure the code, a controller compares what they say with the task and plans, an actuator edits files; one
/// commit for each iteration on a branch of its own. The target counts as met only when every required sensor passed on
/// exactly the tree the controller judged. Repositories set up with `.claude/agents/loop-*.md` or `.ai-loop/flow.yaml`
/// run as they are.
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  windlass control init
  windlass control check
  windlass control run \"Make all tests pass\" --agent claude
  windlass control status
  windlass control plot RUN --svg run.svg")]
pub(crate) struct ControlArgs {
    #[command(subcommand)]
    command: ControlCommand,
}

#[derive(Debug, Subcommand)]
enum ControlCommand {
    Init(init::InitArgs),
    Check(check::CheckArgs),
    Run(Box<run::ControlRunArgs>),
    Status(status::StatusArgs),
    Plot(plot::PlotArgs),
}

impl ControlArgs {
    /// Whether nothing is recorded, so that a state directory that cannot be written is good enough.
    pub(crate) fn only_looks(&self) -> bool {
        matches!(self.command, ControlCommand::Status(_) | ControlCommand::Plot(_))
    }
}

pub(crate) async fn run(args: ControlArgs, control: &dyn Control, output: &mut Output) -> Result<u8, Fault> {
    match args.command {
        ControlCommand::Init(args) => init::run(args, control, output).await,
        ControlCommand::Check(args) => check::run(args, control, output).await,
        ControlCommand::Run(args) => run::run(*args, control, output).await,
        ControlCommand::Status(args) => status::run(args, control, output).await,
        ControlCommand::Plot(args) => plot::run(args, control, output).await,
    }
}
