//! `windlass approve` and `windlass reject`: a person's yes or no to exactly what a run waits with.

use super::inbox::waiting_run;
use super::outcome;
use crate::output::{LiveView, Output, Story};
use clap::Args;
use windlass_control_api::commands::LandingPlace;
use windlass_control_api::inbox::{ApproveRun, RejectRun};
use windlass_control_api::{Control, Fault};

/// Say yes to the content a run waits with, and land it
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  windlass approve
  windlass approve bcdfghjk --tree 4b825dc
  windlass approve bcdfghjk --current")]
pub(crate) struct ApproveArgs {
    /// The run; may be left out when exactly one waits in this repository
    #[arg(value_name = "RUN")]
    run: Option<String>,
    /// The tree that you looked at, or its first 7 digits or more; refused if another one waits by now
    #[arg(long, value_name = "ID")]
    tree: Option<String>,
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

/// Say no to the content a run waits with, and why
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  windlass reject bcdfghjk --reason \"the old name must keep working\"")]
pub(crate) struct RejectArgs {
    /// The run; may be left out when exactly one waits in this repository
    #[arg(value_name = "RUN")]
    run: Option<String>,
    /// Why: the maker is told
    #[arg(long, value_name = "TEXT")]
    reason: String,
    /// Wait for the repository when another run holds it
    #[arg(long)]
    wait: bool,
}

pub(crate) async fn approve(
    args: ApproveArgs,
    control: &dyn Control,
    output: &mut Output,
) -> Result<u8, Fault> {
    let run = waiting_run(args.run, control).await?;
    let place = if args.current { LandingPlace::Current } else { LandingPlace::Branch(args.branch) };
    let view = LiveView::new(output, Story::Talk);
    let command = ApproveRun { run, tree: args.tree, place, wait: args.wait };
    let landed = control.approve(command, &view).await;
    drop(view);
    Ok(outcome::show(&landed?, output))
}

pub(crate) async fn reject(
    args: RejectArgs,
    control: &dyn Control,
    output: &mut Output,
) -> Result<u8, Fault> {
    let run = waiting_run(args.run, control).await?;
    let view = LiveView::new(output, Story::Talk);
    let command = RejectRun { run, reason: args.reason, wait: args.wait };
    let ended = control.reject(command, &view).await;
    drop(view);
    Ok(outcome::show(&ended?, output))
}
