//! `windlass approve` and `windlass reject`: a person's yes or no to exactly what a run waits with.

use super::inbox::waiting_run;
use super::outcome;
use crate::output::{LiveView, Output, Story};
use clap::Args;
use windlass_control_api::commands::{LandingPlace, ResumeRun};
use windlass_control_api::inbox::{ApproveRun, RejectRun};
use windlass_control_api::views::RunOutcome;
use windlass_control_api::{Control, Fault};

/// Say yes to the content a run waits with, and land it
///
/// The change of a goal loop becomes the item's commit on the loop's branch, and at L1 the loop then rests; `--go-on` lets
/// it begin the next iteration at once.
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  windlass approve
  windlass approve bcdfghjk --tree 4b825dc
  windlass approve bcdfghjk --current
  windlass approve bcdfghjk --tree 4b825dc --go-on")]
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
    /// Let a goal loop that pauses after it begin its next iteration
    #[arg(long)]
    go_on: bool,
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
    let mut approved = control.approve(command, &view).await;
    if let Some(paused) = approved.as_ref().ok().filter(|outcome| args.go_on && rests(outcome)) {
        let next = ResumeRun { run: paused.run.clone(), wait: args.wait, ..ResumeRun::default() };
        approved = control.resume(next, &view).await;
    }
    drop(view);
    Ok(outcome::show(&approved?, output))
}

/// A goal loop that only waits to be let go on.
fn rests(outcome: &RunOutcome) -> bool {
    outcome.goal.as_ref().is_some_and(|goal| goal.outcome.is_none() && goal.proposed.is_none())
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
