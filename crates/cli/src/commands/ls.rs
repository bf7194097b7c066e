//! `windlass ls`: every run in one table.

use super::absolute;
use crate::output::{Output, Paint, Table, ago, printable};
use clap::Args;
use jiff::Timestamp;
use std::path::PathBuf;
use windlass_control_api::views::{LoopKind, RunLine};
use windlass_control_api::{Control, Fault, exit_codes};

/// List the runs, the newest first
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  windlass ls
  windlass ls --repo .
  windlass ls --json | jq -r '.[] | select(.status == \"needs-human\") | .run'")]
pub(crate) struct LsArgs {
    /// Only runs of this repository
    #[arg(long, value_name = "DIR")]
    repo: Option<PathBuf>,
}

pub(crate) async fn run(args: LsArgs, control: &dyn Control, output: &mut Output) -> Result<u8, Fault> {
    let repository = args.repo.as_deref().map(absolute).transpose()?;
    let runs = control.list(repository.as_deref()).await?;
    if output.is_json() {
        output.document(&runs);
    } else if runs.is_empty() {
        output.talk("no runs yet; `windlass run \"TASK\"` starts one, `windlass demo` shows how it goes");
    } else {
        show(&runs, output, Timestamp::now());
    }
    Ok(exit_codes::ACCEPTED)
}

fn show(runs: &[RunLine], output: &mut Output, now: Timestamp) {
    let look = output.look();
    let mut table = Table::new(look, &["RUN", "STATUS", "ROUND", "UPDATED", "NOW"]);
    for run in runs {
        table.row(vec![
            look.paint(Paint::Name, &run.run),
            look.status(run.status),
            passes(run),
            ago(run.updated_at_ms, now),
            printable(&run.now),
        ]);
    }
    for line in table.lines() {
        output.line(line);
    }
    match runs.iter().filter(|run| run.waits).count() {
        0 => {}
        1 => output.talk("1 run waits for you: `windlass inbox`"),
        several => output.talk(format!("{several} runs wait for you: `windlass inbox`")),
    }
}

/// Rounds are what the column is called; other loops say what they count.
fn passes(run: &RunLine) -> String {
    match run.kind {
        LoopKind::Task => match run.rounds {
            Some(rounds) => format!("{}/{rounds}", run.round),
            None => run.round.to_string(),
        },
        LoopKind::Control | LoopKind::Goal | LoopKind::Roadmap | LoopKind::Stories => {
            format!("{} {}", run.kind.pass_word(), run.round)
        }
    }
}
