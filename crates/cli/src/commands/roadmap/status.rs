//! `windlass roadmap status`: where a roadmap loop stands, milestone by milestone and round by round.

use super::report;
use crate::commands::absolute;
use crate::commands::outcome::explanation;
use crate::output::{Fields, Output, Paint, printable};
use clap::Args;
use std::path::PathBuf;
use windlass_control_api::events::Tone;
use windlass_control_api::{Control, Fault, exit_codes};

/// Show where a roadmap loop stands: milestones, live rounds, commits to read
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  windlass roadmap status
  windlass roadmap status hdjqpvkz
  windlass roadmap status --json | jq '.report.rounds[] | {id, stage}'")]
pub(super) struct StatusArgs {
    /// The run, as `windlass ls` names it; the newest roadmap loop of the repository if not given
    #[arg(value_name = "RUN")]
    run: Option<String>,
    /// The repository whose newest roadmap loop is meant
    #[arg(long, value_name = "DIR", default_value = ".", conflicts_with = "run")]
    repo: PathBuf,
}

pub(super) async fn run(args: StatusArgs, control: &dyn Control, output: &mut Output) -> Result<u8, Fault> {
    let status = control.roadmap_status(args.run.as_deref(), &absolute(&args.repo)?).await?;
    if output.is_json() {
        output.document(&status);
        return Ok(exit_codes::ACCEPTED);
    }
    let look = output.look();
    let mut fields = Fields::new(look);
    fields.add("run", look.paint(Paint::Name, &status.run));
    fields.add("status", look.status(status.status));
    fields.add("goal", printable(&status.goal.split_whitespace().collect::<Vec<_>>().join(" ")));
    report::add(&status.report, &mut fields);
    for line in fields.lines() {
        output.line(line);
    }
    for notice in &status.report.notices {
        output.line(format!("{} {}", look.mark(Tone::Quiet), printable(notice)));
    }
    explanation(&status.explanation, output);
    Ok(exit_codes::ACCEPTED)
}
