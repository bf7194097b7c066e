//! `windlass export`: a run in one file.

use super::absolute;
use crate::output::{Output, Paint, printable};
use clap::Args;
use std::path::{Path, PathBuf};
use windlass_control_api::events::Tone;
use windlass_control_api::keeping::ExportRun;
use windlass_control_api::{Control, Fault, exit_codes};

/// Write a run into one file that `windlass verify FILE` accepts on any machine
///
/// It holds the facts, every sealed artifact and log, the commits the run speaks of, and a list with hashes. The same run
/// gives the same bytes. Prompts, answers and logs are in it as they were sealed: look at them before you give it away.
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  windlass export TASK-7-20260102-030405
  windlass export TASK-7-20260102-030405 evidence.tar.gz && windlass verify evidence.tar.gz")]
pub(crate) struct ExportArgs {
    /// The run, as `windlass ls` names it
    #[arg(value_name = "RUN")]
    run: String,
    /// The file to write; RUN.windlass.tar.gz in the current directory if not given
    #[arg(value_name = "FILE")]
    file: Option<PathBuf>,
}

pub(crate) async fn run(args: ExportArgs, control: &dyn Control, output: &mut Output) -> Result<u8, Fault> {
    let file = args.file.as_deref().map(absolute).transpose()?;
    let written = control.export(ExportRun { run: args.run, file }).await?;
    if output.is_json() {
        output.document(&written);
        return Ok(exit_codes::ACCEPTED);
    }
    let look = output.look();
    let name = Path::new(&written.file).display().to_string();
    output.line(format!(
        "{} {}: {} facts, {} artifacts, {} bytes, sha256 {}",
        look.mark(Tone::Good),
        look.paint(Paint::Name, &printable(&name)),
        written.facts,
        written.artifacts,
        written.bytes,
        written.sha256
    ));
    for left_out in &written.left_out {
        output.line(format!("{} left out {}", look.mark(Tone::Attention), printable(left_out)));
    }
    Ok(exit_codes::ACCEPTED)
}
