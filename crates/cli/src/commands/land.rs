//! `windlass land`: an accepted change becomes a commit.

use super::outcome;
use crate::output::{LiveView, Output, Story};
use clap::Args;
use windlass_control_api::commands::{LandRun, LandingPlace};
use windlass_control_api::{Control, Fault};

/// Turn an accepted change into a commit whose tree is exactly the judged tree
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  windlass land TASK-7-20260102-030405
  windlass land TASK-7-20260102-030405 --branch topic/parser
  windlass land TASK-7-20260102-030405 --current")]
pub(crate) struct LandArgs {
    /// The run, as `windlass ls` names it
    #[arg(value_name = "RUN")]
    run: String,
    /// The branch it goes to; `windlass/<task-id>` if not given
    #[arg(long, value_name = "NAME", conflicts_with = "current")]
    branch: Option<String>,
    /// Move the current branch forward instead
    #[arg(long)]
    current: bool,
    /// Wait for the repository when another run holds it
    #[arg(long)]
    wait: bool,
}

pub(crate) async fn run(args: LandArgs, control: &dyn Control, output: &mut Output) -> Result<u8, Fault> {
    let place = if args.current { LandingPlace::Current } else { LandingPlace::Branch(args.branch) };
    let view = LiveView::new(output, Story::Talk);
    let landed = control.land(LandRun { run: args.run, place, wait: args.wait }, &view).await;
    drop(view);
    Ok(outcome::show(&landed?, output))
}
