//! `windlass doctor`: what is missing on this machine, and how to fix it.

use super::repository_here;
use crate::output::{Output, Paint, printable};
use clap::Args;
use std::path::{Path, PathBuf};
use windlass_control_api::events::Tone;
use windlass_control_api::views::{Diagnosis, Health};
use windlass_control_api::{Control, Fault, exit_codes};

/// Check this machine: git, agents, disk, journal; each line says how to fix it
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  windlass doctor
  windlass doctor --json | jq '.lines[] | select(.state == \"broken\")'")]
pub(crate) struct DoctorArgs {
    /// The repository, or any directory inside it; the one the current directory is in if not given
    #[arg(long, value_name = "DIR")]
    repo: Option<PathBuf>,
}

pub(crate) async fn run(args: DoctorArgs, control: &dyn Control, output: &mut Output) -> Result<u8, Fault> {
    let repository = repository_here(args.repo.as_deref())?;
    Ok(show(&control.diagnose(repository.as_deref()).await?, output))
}

/// For a machine on which nothing can be recorded, which is the first thing to mend.
pub(crate) async fn without_control(
    args: &DoctorArgs,
    diagnose: impl AsyncFnOnce(Option<&Path>) -> Diagnosis,
    output: &mut Output,
) -> Result<u8, Fault> {
    let repository = repository_here(args.repo.as_deref())?;
    Ok(show(&diagnose(repository.as_deref()).await, output))
}

fn show(diagnosis: &Diagnosis, output: &mut Output) -> u8 {
    let broken = diagnosis.lines.iter().any(|line| line.state == Health::Broken);
    if output.is_json() {
        output.document(diagnosis);
    } else {
        let look = output.look();
        for line in &diagnosis.lines {
            let tone = match line.state {
                Health::Good => Tone::Good,
                Health::Warning => Tone::Attention,
                Health::Broken => Tone::Bad,
            };
            output.line(format!(
                "{} {}: {}",
                look.mark(tone),
                printable(&line.what),
                printable(&line.details)
            ));
            if !line.fix.is_empty() {
                output.line(format!("    {} {}", look.paint(Paint::Attention, "fix:"), printable(&line.fix)));
            }
        }
    }
    if broken { exit_codes::FAULT } else { exit_codes::ACCEPTED }
}
