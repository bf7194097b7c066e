//! `windlass take-over` and `windlass hand-back`: a person goes on by hand, and brings the work back.

use super::inbox::waiting_run;
use super::outcome::{self, short};
use crate::output::{Fields, LiveView, Output, Paint, Story, printable};
use clap::Args;
use windlass_control_api::inbox::{HandBackRun, TakeOverRun, TakenOver};
use windlass_control_api::{Control, Fault, exit_codes};

/// Go on by hand: a worktree and branch of your own with what the maker last left
///
/// Nobody else goes on with the run until you hand it back. Asked again, it says where the worktree is.
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  windlass take-over bcdfghjk
  cd \"$(windlass take-over bcdfghjk --json | jq -r .worktree)\"")]
pub(crate) struct TakeOverArgs {
    /// The run; may be left out when exactly one waits in this repository
    #[arg(value_name = "RUN")]
    run: Option<String>,
    /// Wait for the repository when another run holds it
    #[arg(long)]
    wait: bool,
}

/// Bring what you took over back: it is checked and judged like anybody's work
///
/// What stands in your worktree counts, committed or not; ignored files do not.
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  windlass hand-back bcdfghjk --note \"the parser needed a second pass\"
  windlass hand-back bcdfghjk --discard")]
pub(crate) struct HandBackArgs {
    /// The run; may be left out when exactly one waits in this repository
    #[arg(value_name = "RUN")]
    run: Option<String>,
    /// What you did, for those who judge it
    #[arg(long, value_name = "TEXT", conflicts_with = "discard")]
    note: Option<String>,
    /// Give the run back as it was; the worktree and the branch stay until the run is cleaned
    #[arg(long)]
    discard: bool,
    /// Wait for the repository when another run holds it
    #[arg(long)]
    wait: bool,
}

pub(crate) async fn take_over(
    args: TakeOverArgs,
    control: &dyn Control,
    output: &mut Output,
) -> Result<u8, Fault> {
    let run = waiting_run(args.run, control).await?;
    let view = LiveView::new(output, Story::Talk);
    let taken = control.take_over(TakeOverRun { run, wait: args.wait }, &view).await;
    drop(view);
    let taken = taken?;
    if output.is_json() {
        output.json_line(&taken);
    } else {
        show(&taken, output);
    }
    Ok(exit_codes::ACCEPTED)
}

fn show(taken: &TakenOver, output: &mut Output) {
    let look = output.look();
    let mut fields = Fields::new(look);
    fields.add("run", look.paint(Paint::Name, &taken.run));
    fields.add("worktree", printable(&taken.worktree));
    fields.add("branch", printable(&taken.branch));
    fields.add("tree", short(&taken.tree));
    fields.add_all("left out", taken.left_out.iter().map(|what| printable(what)));
    for line in fields.lines() {
        output.line(line);
    }
    for command in ["", " --discard"] {
        let command = format!("windlass hand-back {}{command}", taken.run);
        output.line(format!("  {} {}", look.paint(Paint::Faint, "next:"), look.paint(Paint::Name, &command)));
    }
}

pub(crate) async fn hand_back(
    args: HandBackArgs,
    control: &dyn Control,
    output: &mut Output,
) -> Result<u8, Fault> {
    let run = waiting_run(args.run, control).await?;
    if args.discard {
        let line = control.let_go(&run).await?;
        if output.is_json() {
            output.document(&line);
        } else {
            let look = output.look();
            let name = look.paint(Paint::Name, &line.run);
            output.line(format!("{} {name}: {}", look.status(line.status), printable(&line.now)));
        }
        return Ok(exit_codes::ACCEPTED);
    }
    let view = LiveView::new(output, Story::Talk);
    let command = HandBackRun { run, note: args.note, wait: args.wait };
    let ended = control.hand_back(command, &view).await;
    drop(view);
    Ok(outcome::show(&ended?, output))
}
