//! `windlass log`: the facts of a run in order, and with `-f` as they come.

use crate::output::{Output, Paint, clock_time, printable};
use clap::Args;
use windlass_control_api::events::{Event, LogEntry, Tone};
use windlass_control_api::views::Status;
use windlass_control_api::{Control, Fault, exit_codes};

/// Print what happened in a run, fact by fact
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  windlass log TASK-7-20260102-030405
  windlass log -f TASK-7-20260102-030405
  windlass log TASK-7-20260102-030405 --json | jq '.entries[].kind'")]
pub(crate) struct LogArgs {
    /// The run, as `windlass ls` names it
    #[arg(value_name = "RUN")]
    run: String,
    /// Go on until the run has ended or was interrupted
    #[arg(long, short)]
    follow: bool,
    /// Also facts that only the engine needs
    #[arg(long)]
    all: bool,
}

pub(crate) async fn run(args: LogArgs, control: &dyn Control, output: &mut Output) -> Result<u8, Fault> {
    if args.follow {
        return follow(&args, control, output).await;
    }
    let log = control.log(&args.run, 0).await?;
    if output.is_json() {
        output.document(&log);
    } else {
        for entry in &log.entries {
            show(entry, &args, output);
        }
    }
    Ok(exit_codes::ACCEPTED)
}

async fn follow(args: &LogArgs, control: &dyn Control, output: &mut Output) -> Result<u8, Fault> {
    let mut next = 0;
    loop {
        let log = control.log(&args.run, next).await?;
        for entry in log.entries {
            next = entry.version + 1;
            if output.is_json() {
                output.json_line(&Event::Fact(entry));
            } else {
                show(&entry, args, output);
            }
        }
        if output.is_closed() {
            return Ok(exit_codes::ACCEPTED);
        }
        if log.ended {
            break;
        }
        if log.status == Status::Interrupted {
            output.talk(format!(
                "the run was interrupted: nobody drives it now; `windlass resume {}` goes on",
                log.run
            ));
            break;
        }
        control.log_changed(&args.run, next).await?;
    }
    if output.is_json() {
        output.json_line(&control.show(&args.run, None).await?.line);
    }
    Ok(exit_codes::ACCEPTED)
}

fn show(entry: &LogEntry, args: &LogArgs, output: &mut Output) {
    let quiet = entry.tone == Tone::Quiet || entry.text.is_empty();
    if quiet && !args.all {
        return;
    }
    let look = output.look();
    let text = if entry.text.is_empty() { &entry.kind } else { &entry.text };
    let time = look.paint(Paint::Faint, &clock_time(entry.at_ms));
    let version = look.paint(Paint::Faint, &format!("{:>4}", entry.version));
    output.line(format!(
        "{time} {version}  {} {}",
        look.mark(entry.tone),
        look.tone(entry.tone, &printable(text))
    ));
}
