//! `windlass goal status`: where a goal loop stands, item by item.

use super::report;
use crate::commands::absolute;
use crate::commands::outcome::explanation;
use crate::output::{Fields, Output, Paint, printable};
use clap::Args;
use std::path::PathBuf;
use windlass_control_api::events::Tone;
use windlass_control_api::{Control, Fault, exit_codes};

/// Show where a goal loop stands: items, iterations, what waits for you, which commits to read
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  windlass goal status
  windlass goal status hdjqpvkz
  windlass goal status --json | jq '.report.items[] | {id, status}'")]
pub(super) struct StatusArgs {
    /// The run, as `windlass ls` names it; the newest goal loop of the repository if not given
    #[arg(value_name = "RUN")]
    run: Option<String>,
    /// The repository whose newest goal loop is meant
    #[arg(long, value_name = "DIR", default_value = ".", conflicts_with = "run")]
    repo: PathBuf,
}

pub(super) async fn run(args: StatusArgs, control: &dyn Control, output: &mut Output) -> Result<u8, Fault> {
    let status = control.goal_status(args.run.as_deref(), &absolute(&args.repo)?).await?;
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
    explanation(&report::with_next_steps(&status.explanation, &status.report), output);
    Ok(exit_codes::ACCEPTED)
}
