//! `windlass verify`: does the record of a run hold?

use super::absolute;
use crate::output::{Output, printable};
use clap::Args;
use std::path::PathBuf;
use windlass_control_api::events::Tone;
use windlass_control_api::{Control, Fault, exit_codes};

/// Check a run's record: the chain of facts, the sealed artifacts, the landed tree
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  windlass verify TASK-7-20260102-030405
  windlass verify TASK-7-20260102-030405 --quiet && git merge windlass/TASK-7")]
pub(crate) struct VerifyArgs {
    /// The run, as `windlass ls` names it
    #[arg(value_name = "RUN")]
    run: String,
    /// Where the repository is now, if it was moved since
    #[arg(long, value_name = "DIR")]
    repo: Option<PathBuf>,
}

pub(crate) async fn run(args: VerifyArgs, control: &dyn Control, output: &mut Output) -> Result<u8, Fault> {
    let moved_to = args.repo.as_deref().map(absolute).transpose()?;
    let verification = control.verify(&args.run, moved_to.as_deref()).await?;
    if output.is_json() {
        output.document(&verification);
    } else {
        let look = output.look();
        for check in &verification.checks {
            let tone = match (check.holds, check.attention) {
                (true, false) => Tone::Good,
                (true, true) => Tone::Attention,
                (false, _) => Tone::Bad,
            };
            output.line(format!(
                "{} {}: {}",
                look.mark(tone),
                printable(&check.what),
                printable(&check.details)
            ));
        }
        let (tone, words) = if verification.holds {
            (Tone::Good, "the record holds")
        } else {
            (Tone::Bad, "the record does NOT hold")
        };
        output.line(format!("{} {}", look.mark(tone), look.tone(tone, words)));
    }
    Ok(if verification.holds { exit_codes::ACCEPTED } else { exit_codes::NOT_VERIFIED })
}
