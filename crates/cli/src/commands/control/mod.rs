//! `windlass control …`: the sensor, controller and actuator loop.

mod run;

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
pub(crate) struct ControlArgs {
    #[command(subcommand)]
    command: ControlCommand,
}

#[derive(Debug, Subcommand)]
enum ControlCommand {
    Run(Box<run::ControlRunArgs>),
}

pub(crate) async fn run(args: ControlArgs, control: &dyn Control, output: &mut Output) -> Result<u8, Fault> {
    match args.command {
        ControlCommand::Run(args) => run::run(*args, control, output).await,
    }
}
