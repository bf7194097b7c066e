//! `windlass roadmap closeout`: apply one approved closeout to a work tree.

use crate::commands::absolute;
use crate::output::{Output, printable};
use clap::Args;
use std::path::PathBuf;
use windlass_control_api::events::Tone;
use windlass_control_api::roadmap_setup::CloseoutRoadmap;
use windlass_control_api::{Control, Fault, exit_codes};

/// Apply an approved status-only closeout to a work tree
///
/// Plumbing: `roadmap run` does this by itself when a round is merged. Makes exactly the approved edits in the roadmap, its
/// view and its history, or none. Prints what it changed as JSON. Commits nothing. Exits with 14 where the edits no longer fit.
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  windlass roadmap closeout --review-record orchestrator/rounds/round-007/review-record.json --dry-run
  windlass roadmap closeout --review-record orchestrator/rounds/round-007/review.md | jq .files")]
pub(super) struct CloseoutArgs {
    /// The review that approves: review-record.json, or review.md of a plane without records
    #[arg(long, value_name = "FILE")]
    review_record: PathBuf,
    /// The work tree to edit; the one that holds the review if not given
    #[arg(long, value_name = "DIR")]
    repo: Option<PathBuf>,
    /// Say what would be edited, write nothing
    #[arg(long)]
    dry_run: bool,
}

pub(super) async fn run(args: CloseoutArgs, control: &dyn Control, output: &mut Output) -> Result<u8, Fault> {
    let command = CloseoutRoadmap {
        repository: args.repo.as_deref().map(absolute).transpose()?,
        review: absolute(&args.review_record)?,
        dry_run: args.dry_run,
    };
    let applied = control.closeout_roadmap(command).await?;
    // What was changed is for the program that called this; a person reads the rest.
    output.document(&applied);
    let look = output.look();
    let verb = if applied.dry_run { "would edit" } else { "edited" };
    for file in &applied.files {
        output.talk(format!("{} {verb} {}", look.mark(Tone::Good), printable(file)));
    }
    for line in &applied.applied_edit_summary {
        output.talk(format!("  {}", printable(line)));
    }
    Ok(exit_codes::ACCEPTED)
}
