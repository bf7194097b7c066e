//! `windlass checkout`: an ordinary worktree of any round's tree.

use super::absolute;
use super::outcome::short;
use crate::output::{Fields, Output, Paint, printable};
use clap::Args;
use std::path::PathBuf;
use windlass_control_api::keeping::CheckoutRun;
use windlass_control_api::{Control, Fault, exit_codes};

/// Stand in any tree of a run: an ordinary worktree, which the run knows nothing of
///
/// `RUN` alone is the last thing the run made. `RUN:ROUND` is one round of a task or story, one iteration of a control loop
/// (`2`, `2.1`), one iteration or item of a goal loop, one round of a roadmap; `RUN:base` is what the run began with.
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  windlass checkout TASK-7-20260102-030405
  windlass checkout TASK-7-20260102-030405:1 ../first-try
  windlass checkout TASK-7-20260102-030405:2 --branch look-at-this
  cd \"$(windlass checkout TASK-7-20260102-030405 --json | jq -r .worktree)\"")]
pub(crate) struct CheckoutArgs {
    /// The run, as `windlass ls` names it, and which of its trees
    #[arg(value_name = "RUN[:ROUND]")]
    run: String,
    /// Where to make it; `worktrees/checkout-ROUND` in the run's directory if not given
    #[arg(value_name = "DIR")]
    directory: Option<PathBuf>,
    /// Stand on a new branch of this name instead of on none
    #[arg(long, value_name = "NAME")]
    branch: Option<String>,
}

pub(crate) async fn run(args: CheckoutArgs, control: &dyn Control, output: &mut Output) -> Result<u8, Fault> {
    let directory = args.directory.as_deref().map(absolute).transpose()?;
    let command = CheckoutRun { run: args.run, directory, branch: args.branch };
    let made = control.checkout(command).await?;
    if output.is_json() {
        output.document(&made);
        return Ok(exit_codes::ACCEPTED);
    }
    let look = output.look();
    let mut fields = Fields::new(look);
    fields.add("run", look.paint(Paint::Name, &made.run));
    // Only iterations of inner loops have labels with dots.
    let what = if made.round.contains('.') { "iteration" } else { "round" };
    fields.add(what, printable(&made.round));
    fields.add("worktree", printable(&made.worktree));
    if let Some(branch) = &made.branch {
        fields.add("branch", printable(branch));
    }
    fields.add("commit", short(&made.commit));
    fields.add("tree", short(&made.tree));
    for line in fields.lines() {
        output.line(line);
    }
    Ok(exit_codes::ACCEPTED)
}
