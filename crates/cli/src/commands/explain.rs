//! `windlass explain`: why a run stands where it stands.

use super::outcome::explanation;
use crate::output::Output;
use clap::Args;
use windlass_control_api::{Control, Fault, exit_codes};

/// Say why a run waits or how it ended, from which evidence, and what to type next
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  windlass explain TASK-7-20260102-030405")]
pub(crate) struct ExplainArgs {
    /// The run, as `windlass ls` names it
    #[arg(value_name = "RUN")]
    run: String,
}

pub(crate) async fn run(args: ExplainArgs, control: &dyn Control, output: &mut Output) -> Result<u8, Fault> {
    let view = control.explain(&args.run).await?;
    if output.is_json() {
        output.document(&view);
    } else {
        explanation(&view, output);
    }
    Ok(exit_codes::ACCEPTED)
}
