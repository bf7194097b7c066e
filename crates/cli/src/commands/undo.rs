//! `windlass undo`: give back what `windlass clean` took.

use super::absolute;
use crate::output::{Output, Paint, printable};
use clap::Args;
use std::path::{Path, PathBuf};
use windlass_control_api::events::Tone;
use windlass_control_api::keeping::{KeptView, Undo, Undone};
use windlass_control_api::{Control, Fault, exit_codes};

/// Give back what `clean` took: worktrees with every byte, branches where they stood
///
/// Nothing that stands in its place is written over. What is given back stays kept as well.
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  windlass undo --list
  windlass undo
  windlass undo TASK-7-20260102-030405
  windlass undo TASK-7-20260102-030405/doer")]
pub(crate) struct UndoArgs {
    /// A run, or one kept thing as `--list` names it; the run that was cleaned last if not given
    #[arg(value_name = "RUN|ID")]
    what: Option<String>,
    /// Say what is kept and until when, give nothing back
    #[arg(long, conflicts_with = "what")]
    list: bool,
    /// The repository, or any directory inside it; the current directory if not given
    #[arg(long, value_name = "DIR")]
    repo: Option<PathBuf>,
}

pub(crate) async fn run(args: UndoArgs, control: &dyn Control, output: &mut Output) -> Result<u8, Fault> {
    let repository = absolute(args.repo.as_deref().unwrap_or(Path::new(".")))?;
    if args.list {
        let kept = control.kept(&repository).await?;
        if output.is_json() {
            output.document(&kept);
        } else {
            show_list(&kept, output);
        }
        return Ok(exit_codes::ACCEPTED);
    }
    let report = control.undo(Undo { what: args.what, repository: Some(repository) }).await?;
    let failed = report.items.iter().any(|item| item.outcome == Undone::NotGivenBack);
    if output.is_json() {
        output.document(&report);
    } else {
        let look = output.look();
        for item in &report.items {
            let (tone, word) = match item.outcome {
                Undone::GivenBack => (Tone::Good, "gave back"),
                Undone::Stands => (Tone::Good, "left"),
                Undone::NotGivenBack => (Tone::Bad, "could not give back"),
            };
            let what = look.paint(Paint::Name, &printable(&item.what));
            output.line(format!("{} {word} {} {what}: {}", look.mark(tone), item.kind, printable(&item.why)));
        }
    }
    Ok(if failed { exit_codes::REFUSED } else { exit_codes::ACCEPTED })
}

fn show_list(kept: &[KeptView], output: &mut Output) {
    let look = output.look();
    for thing in kept {
        let id = look.paint(Paint::Name, &printable(&thing.id));
        let stands = if thing.stands { ", stands again" } else { "" };
        output.line(format!(
            "{id}  {} {}  {}{stands}",
            thing.kind,
            printable(&thing.what),
            look.paint(Paint::Faint, &format!("kept {}", thing.kept))
        ));
    }
    if kept.is_empty() {
        output.talk("nothing is kept in this repository");
    }
}
