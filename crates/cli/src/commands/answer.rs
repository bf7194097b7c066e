//! `windlass answer` and `windlass retry`: a run that waits goes on, with a person's word or without one.

use super::inbox::waiting_run;
use super::outcome;
use super::resume::{MEGABYTE, more, more_money};
use crate::output::{LiveView, Output, Paint, Story, printable};
use clap::Args;
use windlass_control_api::commands::ResumeRun;
use windlass_control_api::{Control, Fault, exit_codes};

/// Answer a run that waits for a person; it goes on with your words
#[derive(Args, Debug)]
#[command(
    allow_missing_positional = true,
    after_help = "\
Examples:
  windlass answer \"the polite greeting\"
  windlass answer bcdfghjk \"the API may change\" --rounds +1
  windlass answer bcdfghjk \"go on tomorrow\" --no-run"
)]
pub(crate) struct AnswerArgs {
    /// The run; may be left out when exactly one waits in this repository
    #[arg(value_name = "RUN")]
    run: Option<String>,
    /// What the agents shall know
    #[arg(value_name = "TEXT")]
    text: String,
    #[command(flatten)]
    more: RoomFlags,
    /// Only record it; `windlass resume` goes on later
    #[arg(long)]
    no_run: bool,
}

/// Let a run that waits for a person try again
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  windlass retry
  windlass retry bcdfghjk --rounds +1")]
pub(crate) struct RetryArgs {
    /// The run; may be left out when exactly one waits in this repository
    #[arg(value_name = "RUN")]
    run: Option<String>,
    #[command(flatten)]
    more: RoomFlags,
}

#[derive(Args, Debug)]
struct RoomFlags {
    /// So many rounds or iterations more
    #[arg(long, value_name = "[+]N", value_parser = more)]
    rounds: Option<u64>,
    /// So many minutes more
    #[arg(long, value_name = "[+]N", value_parser = more)]
    minutes: Option<u64>,
    /// So many tokens more
    #[arg(long, value_name = "[+]N", value_parser = more)]
    tokens: Option<u64>,
    /// So much money more, such as 1.50
    #[arg(long, value_name = "[+]AMOUNT", value_parser = more_money)]
    money: Option<u64>,
    /// So many megabytes of output more
    #[arg(long, value_name = "[+]N", value_parser = more)]
    output_mb: Option<u64>,
    /// Wait for the repository when another run holds it
    #[arg(long)]
    wait: bool,
}

impl RoomFlags {
    fn command(&self, run: String, note: Option<String>) -> ResumeRun {
        ResumeRun {
            run,
            more_rounds: self.rounds.map_or(0, |rounds| u32::try_from(rounds).unwrap_or(u32::MAX)),
            more_minutes: self.minutes.unwrap_or(0),
            more_tokens: self.tokens.unwrap_or(0),
            more_cost_micros: self.money.unwrap_or(0),
            more_output_bytes: self.output_mb.unwrap_or(0).saturating_mul(MEGABYTE),
            note,
            wait: self.wait,
            ..ResumeRun::default()
        }
    }
}

pub(crate) async fn answer(
    args: AnswerArgs,
    control: &dyn Control,
    output: &mut Output,
) -> Result<u8, Fault> {
    let run = waiting_run(args.run, control).await?;
    let command = args.more.command(run, Some(args.text));
    if !args.no_run {
        return go_on(command, control, output).await;
    }
    let line = control.leave_answer(command).await?;
    if output.is_json() {
        output.document(&line);
    } else {
        let look = output.look();
        let name = look.paint(Paint::Name, &line.run);
        output.line(format!("{} {name}: {}", look.status(line.status), printable(&line.now)));
        let resume = look.paint(Paint::Name, &format!("windlass resume {}", line.run));
        output.line(format!("  {} {resume}", look.paint(Paint::Faint, "next:")));
    }
    Ok(exit_codes::ACCEPTED)
}

pub(crate) async fn retry(args: RetryArgs, control: &dyn Control, output: &mut Output) -> Result<u8, Fault> {
    let run = waiting_run(args.run, control).await?;
    go_on(args.more.command(run, None), control, output).await
}

async fn go_on(command: ResumeRun, control: &dyn Control, output: &mut Output) -> Result<u8, Fault> {
    let view = LiveView::new(output, Story::Talk);
    let ended = control.resume(command, &view).await;
    drop(view);
    Ok(outcome::show(&ended?, output))
}
