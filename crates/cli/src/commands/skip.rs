//! `windlass skip`: let a run that waits for a person be.

use super::inbox::waiting_run;
use crate::output::{Output, Paint, printable};
use clap::Args;
use windlass_control_api::inbox::SkipRun;
use windlass_control_api::views::Status;
use windlass_control_api::{Control, Fault, exit_codes};

/// Let a run be that waits for a person, or the item a goal loop waits with
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  windlass skip bcdfghjk
  windlass skip bcdfghjk --reason \"done by hand\"")]
pub(crate) struct SkipArgs {
    /// The run; may be left out when exactly one waits in this repository
    #[arg(value_name = "RUN")]
    run: Option<String>,
    /// Why, for the record
    #[arg(long, value_name = "TEXT", default_value = "")]
    reason: String,
}

pub(crate) async fn run(args: SkipArgs, control: &dyn Control, output: &mut Output) -> Result<u8, Fault> {
    let run = waiting_run(args.run, control).await?;
    let line = control.skip(SkipRun { run, reason: args.reason }).await?;
    if output.is_json() {
        output.document(&line);
    } else {
        let look = output.look();
        let name = look.paint(Paint::Name, &line.run);
        output.line(format!("{} {name}: {}", look.status(line.status), printable(&line.now)));
        // Of a goal loop only the item at hand is let be, and the run has others.
        if line.status == Status::Interrupted {
            output.line(format!("  next: windlass resume {}", line.run));
        }
    }
    Ok(exit_codes::ACCEPTED)
}
