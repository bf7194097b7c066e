//! `windlass trust`: allow the commands that a repository's own settings name.

use super::absolute;
use crate::output::{Output, Paint, printable};
use clap::Args;
use std::path::PathBuf;
use windlass_control_api::events::Tone;
use windlass_control_api::views::TrustView;
use windlass_control_api::{Control, Fault, exit_codes};

/// Trust the commands that a repository's settings and sensors would run
///
/// Trust is remembered for exactly these commands: when a file names others, it is asked for again. Commands given
/// on the command line need no trust.
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  windlass trust --show
  windlass trust
  windlass trust --revoke --repo ../other")]
pub(crate) struct TrustArgs {
    /// The repository, or any directory inside it
    #[arg(long, value_name = "DIR", default_value = ".")]
    repo: PathBuf,
    /// Only show the commands and whether they are trusted
    #[arg(long, conflicts_with = "revoke")]
    show: bool,
    /// Trust them no longer
    #[arg(long)]
    revoke: bool,
}

pub(crate) async fn run(args: TrustArgs, control: &dyn Control, output: &mut Output) -> Result<u8, Fault> {
    let repository = absolute(&args.repo)?;
    let view = if args.show {
        control.trust_state(&repository).await?
    } else if args.revoke {
        control.distrust(&repository).await?
    } else {
        control.trust(&repository).await?
    };
    if output.is_json() {
        output.document(&view);
    } else {
        show(&view, output);
    }
    Ok(exit_codes::ACCEPTED)
}

fn show(view: &TrustView, output: &mut Output) {
    let look = output.look();
    let name = look.paint(Paint::Name, &view.repository);
    if view.commands.is_empty() {
        output.line(format!("{} {name} names no commands of its own", look.mark(Tone::Good)));
        return;
    }
    let (tone, word) = if view.trusted { (Tone::Good, "trusted") } else { (Tone::Attention, "not trusted") };
    output.line(format!("{} {name}: {}", look.mark(tone), look.tone(tone, word)));
    for command in &view.commands {
        for (number, line) in command.lines().enumerate() {
            let lead = if number == 0 { look.bullet() } else { " " };
            output.line(format!("  {lead} {}", printable(line)));
        }
    }
}
