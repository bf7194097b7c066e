//! `windlass stop`: end a run that may be driven by another process.

use crate::output::{Output, Paint, printable};
use clap::Args;
use windlass_control_api::commands::StopRun;
use windlass_control_api::views::Status;
use windlass_control_api::{Control, Fault, exit_codes};

/// Stop a run; `windlass resume` goes on with it later
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  windlass stop TASK-7-20260102-030405
  windlass stop TASK-7-20260102-030405 --reason \"the task was wrong\"")]
pub(crate) struct StopArgs {
    /// The run, as `windlass ls` names it
    #[arg(value_name = "RUN")]
    run: String,
    /// Why, for the record
    #[arg(long, value_name = "TEXT", default_value = "asked for on the command line")]
    reason: String,
}

pub(crate) async fn run(args: StopArgs, control: &dyn Control, output: &mut Output) -> Result<u8, Fault> {
    let line = control.stop(StopRun { run: args.run, reason: args.reason }).await?;
    if output.is_json() {
        output.document(&line);
    } else {
        let look = output.look();
        let name = look.paint(Paint::Name, &line.run);
        // Whoever drives it ends the agent first, so it is still on its way.
        let asked = if line.status == Status::Running { "asked to stop; " } else { "" };
        output.line(format!("{} {name}: {asked}{}", look.status(line.status), printable(&line.now)));
    }
    Ok(exit_codes::ACCEPTED)
}
