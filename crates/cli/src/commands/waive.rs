//! `windlass waive`: a person's word that findings about the gate are as they should be.

use super::inbox::waiting_run;
use super::outcome;
use crate::output::{LiveView, Output, Story};
use clap::Args;
use windlass_control_api::inbox::WaiveRun;
use windlass_control_api::{Control, Fault};

/// Let findings about the gate be, each by its name, and say why
///
/// For a run that waits with findings (`--on-gate-findings ask`). Once none is open the run goes on where it stood.
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  windlass waive bcdfghjk test-deleted --reason \"the feature is gone, and its tests with it\"
  windlass waive bcdfghjk fewer-tests test-deleted --reason \"as asked\"")]
pub(crate) struct WaiveArgs {
    /// The run
    #[arg(value_name = "RUN")]
    run: String,
    /// Names of the findings, as `windlass inbox` shows them
    #[arg(value_name = "FINDING", required = true)]
    findings: Vec<String>,
    /// Why they are as they should be
    #[arg(long, value_name = "TEXT")]
    reason: String,
    /// Wait for the repository when another run holds it
    #[arg(long)]
    wait: bool,
}

pub(crate) async fn run(args: WaiveArgs, control: &dyn Control, output: &mut Output) -> Result<u8, Fault> {
    let run = waiting_run(Some(args.run), control).await?;
    let view = LiveView::new(output, Story::Talk);
    let command = WaiveRun { run, findings: args.findings, reason: args.reason, wait: args.wait };
    let ended = control.waive(command, &view).await;
    drop(view);
    Ok(outcome::show(&ended?, output))
}
