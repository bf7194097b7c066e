//! `windlass notify`: try the channels for notifications, and look after what did not arrive.

use super::repository_here;
use crate::output::{Output, Paint, printable};
use clap::{Args, Subcommand};
use std::path::PathBuf;
use windlass_control_api::events::Tone;
use windlass_control_api::notify::{DeliveryState, NotifyReport};
use windlass_control_api::{Control, Fault, exit_codes};

/// Try the channels for notifications, send again what did not arrive
///
/// Whom a run tells that it waits for a person, has ended or has used 80 % of a budget is set under `[notify]`: the
/// desktop, a command of your own, a webhook. No run ever waits for a notification.
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  windlass notify test
  windlass notify test --json | jq '.deliveries[] | select(.state != \"sent\")'
  windlass notify retry")]
pub(crate) struct NotifyArgs {
    #[command(subcommand)]
    command: NotifyCommand,
}

#[derive(Debug, Subcommand)]
enum NotifyCommand {
    /// Send a test message through every channel that is set, and say how each took it
    Test {
        /// The repository, or any directory inside it; the one the current directory is in if not given
        #[arg(long, value_name = "DIR")]
        repo: Option<PathBuf>,
    },
    /// Send what was given up once more, and wait up to 15 seconds for it
    Retry,
    /// Let be what was given up
    Forget,
}

pub(crate) async fn run(args: NotifyArgs, control: &dyn Control, output: &mut Output) -> Result<u8, Fault> {
    let report = match args.command {
        NotifyCommand::Test { repo } => {
            let repository = repository_here(repo.as_deref())?;
            control.notify_test(repository.as_deref()).await?
        }
        NotifyCommand::Retry => control.notify_retry().await?,
        NotifyCommand::Forget => control.notify_forget().await?,
    };
    Ok(show(&report, output))
}

fn show(report: &NotifyReport, output: &mut Output) -> u8 {
    let missed = |state| matches!(state, DeliveryState::Failed | DeliveryState::Pending);
    if output.is_json() {
        output.document(report);
    } else if report.deliveries.is_empty() {
        output.line("nothing was given up");
    }
    let look = output.look();
    for delivery in report.deliveries.iter().filter(|_| !output.is_json()).collect::<Vec<_>>() {
        let tone = match delivery.state {
            DeliveryState::Sent | DeliveryState::Forgotten => Tone::Good,
            DeliveryState::Pending | DeliveryState::Unavailable => Tone::Attention,
            DeliveryState::Failed => Tone::Bad,
        };
        let why =
            if delivery.why.is_empty() { String::new() } else { format!(": {}", printable(&delivery.why)) };
        output.line(format!(
            "{} {} {} {}{why}",
            look.mark(tone),
            look.paint(Paint::Name, &delivery.channel),
            printable(&delivery.to),
            look.tone(tone, delivery.state.word()),
        ));
    }
    if report.deliveries.iter().any(|delivery| missed(delivery.state)) {
        exit_codes::FAULT
    } else {
        exit_codes::ACCEPTED
    }
}
