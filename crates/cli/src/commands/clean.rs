//! `windlass clean`: remove what ended runs left behind, after it was kept elsewhere.

use super::absolute;
use crate::output::{Output, Paint, printable};
use clap::Args;
use std::path::{Path, PathBuf};
use windlass_control_api::commands::{Clean, CleanMode, OldKept};
use windlass_control_api::events::Tone;
use windlass_control_api::views::CleanItem;
use windlass_control_api::{Control, Fault, exit_codes};

/// Remove the worktrees and branches of ended runs
///
/// Nothing is lost: before something goes, its whole state, untracked and ignored files included, is kept under
/// `refs/windlass/kept/` and read back. `windlass undo` gives it back for 30 days. The record and the evidence stay.
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  windlass clean --dry-run
  windlass clean
  windlass clean TASK-7-20260102-030405")]
pub(crate) struct CleanArgs {
    /// One run; every ended run of the repository if not given
    #[arg(value_name = "RUN")]
    run: Option<String>,
    /// The repository, or any directory inside it; the current directory if not given
    #[arg(long, value_name = "DIR", conflicts_with = "run")]
    repo: Option<PathBuf>,
    /// Say what would go and why, remove nothing
    #[arg(long)]
    dry_run: bool,
    /// Also let go of what was kept longer than the setting `keep-days` says; it cannot be given back then
    #[arg(long, conflicts_with = "run")]
    expire_kept: bool,
}

pub(crate) async fn run(args: CleanArgs, control: &dyn Control, output: &mut Output) -> Result<u8, Fault> {
    let repository = match &args.run {
        Some(_) => None,
        None => Some(absolute(args.repo.as_deref().unwrap_or(Path::new(".")))?),
    };
    let mode = if args.dry_run { CleanMode::DryRun } else { CleanMode::Remove };
    let old_kept = if args.expire_kept { OldKept::Expire } else { OldKept::Stay };
    let report = control.clean(Clean { run: args.run, repository, mode, old_kept }).await?;
    if output.is_json() {
        output.document(&report);
        return Ok(exit_codes::ACCEPTED);
    }
    let look = output.look();
    let (gone, stays) = if report.removed { ("removed", "kept") } else { ("would remove", "would keep") };
    for (items, word, tone) in [(&report.items, gone, Tone::Good), (&report.kept, stays, Tone::Attention)] {
        for item in items {
            let what = look.paint(Paint::Name, &printable(&item.what));
            output.line(format!("{} {word} {} {what}: {}", look.mark(tone), item.kind, printable(&item.why)));
        }
    }
    if report.items.is_empty() {
        output.talk("nothing to clean");
    } else if report.removed {
        output.talk(way_back(&report.items));
    }
    Ok(exit_codes::ACCEPTED)
}

/// `undo` by itself is about one run: of several each is named.
fn way_back(items: &[CleanItem]) -> String {
    let kept = items.iter().filter(|item| matches!(item.kind.as_str(), "worktree" | "branch"));
    let mut runs: Vec<&str> = kept.map(|item| item.run.as_str()).collect();
    runs.sort_unstable();
    runs.dedup();
    match runs.as_slice() {
        [] | [_] => "`windlass undo` gives it back".to_owned(),
        several => {
            let named: Vec<String> = several.iter().map(|run| format!("`windlass undo {run}`")).collect();
            format!("{} give it back", named.join(", "))
        }
    }
}
