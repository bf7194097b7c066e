//! `windlass verify`: does the record of a run hold?

use super::absolute;
use crate::output::{Output, printable};
use clap::Args;
use std::path::{Path, PathBuf};
use windlass_control_api::events::Tone;
use windlass_control_api::{Code, Control, Fault, exit_codes};

/// Check a run's record: the chain of facts, the sealed artifacts, the landed tree
///
/// A file that `windlass export` wrote is checked by itself, on any machine and without the repository.
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  windlass verify TASK-7-20260102-030405
  windlass verify TASK-7-20260102-030405 --quiet && git merge windlass/TASK-7
  windlass verify TASK-7-20260102-030405 --rerun
  windlass verify TASK-7-20260102-030405.windlass.tar.gz")]
pub(crate) struct VerifyArgs {
    /// The run, as `windlass ls` names it, or a file that `windlass export` wrote
    #[arg(value_name = "RUN|FILE")]
    run: String,
    /// Where the repository is now, if it was moved since
    #[arg(long, value_name = "DIR")]
    repo: Option<PathBuf>,
    /// Run the recorded checks once more on the tree that counts, in a clean place, and compare
    #[arg(long, conflicts_with = "repo")]
    rerun: bool,
}

impl VerifyArgs {
    /// Whether nothing is started or written.
    pub(crate) fn only_looks(&self) -> bool {
        !self.rerun
    }
}

pub(crate) async fn run(args: VerifyArgs, control: &dyn Control, output: &mut Output) -> Result<u8, Fault> {
    let moved_to = args.repo.as_deref().map(absolute).transpose()?;
    let file = absolute(Path::new(&args.run))?;
    let mut verification = if file.is_file() {
        control.verify_archive(&file).await?
    } else {
        control.verify(&args.run, moved_to.as_deref()).await?
    };
    if args.rerun {
        if file.is_file() {
            return Err(Fault::new(Code::BadArgument, "an archive has no tree to run checks on")
                .hint("`windlass verify RUN --rerun` does, where the repository is"));
        }
        // A record that does not hold says nothing of what to run.
        if verification.holds {
            verification.checks.extend(control.rerun(&args.run).await?);
            verification.holds = verification.checks.iter().all(|check| check.holds);
        }
    }
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
