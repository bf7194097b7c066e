//! `windlass control init`: set a repository up, without writing over anything a person wrote.

use crate::commands::absolute;
use crate::output::{Output, Paint, Table, printable};
use clap::Args;
use std::path::PathBuf;
use windlass_control_api::control_loop::{InitControl, InitLevels, InitReport};
use windlass_control_api::events::Tone;
use windlass_control_api::{Control, Fault, exit_codes};

/// Write the files that set this repository up for a control loop
///
/// Finds out from the repository how it is built, tested and checked, and writes one agent file for each sensor, one for
/// the actuator and one for each controller, and `.ai-loop/flow.yaml`. A file that somebody has edited stays; ours then
/// goes beside it as `FILE.new`. Running it again changes nothing.
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  windlass control init --dry-run
  windlass control init
  windlass control init --sensor test=\"make test\" --sensor size=\"./measure-size.sh\"
  windlass control init --levels 2")]
pub(super) struct InitArgs {
    /// The repository, or any directory inside it
    #[arg(long, value_name = "DIR", default_value = ".")]
    repo: PathBuf,
    /// A sensor and its command, instead of those that would be found or beside those that are set up; may be repeated
    #[arg(long, value_name = "NAME=COMMAND", value_parser = sensor)]
    sensor: Vec<(String, String)>,
    /// One loop inside the other, or only one; as it is set up already, else 1, if not given
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u8).range(1..=2), conflicts_with = "flat")]
    levels: Option<u8>,
    /// Agent files only, without `.ai-loop/flow.yaml`
    #[arg(long)]
    flat: bool,
    /// Say what would be written, write nothing
    #[arg(long)]
    dry_run: bool,
}

pub(super) async fn run(args: InitArgs, control: &dyn Control, output: &mut Output) -> Result<u8, Fault> {
    let command = InitControl {
        repository: absolute(&args.repo)?,
        sensors: args.sensor,
        levels: match (args.flat, args.levels) {
            (true, _) => Some(InitLevels::Flat),
            (false, Some(1)) => Some(InitLevels::One),
            (false, Some(_)) => Some(InitLevels::Two),
            (false, None) => None,
        },
        dry_run: args.dry_run,
    };
    let report = control.init_control(command).await?;
    if output.is_json() {
        output.document(&report);
    } else {
        show(&report, output);
    }
    Ok(exit_codes::ACCEPTED)
}

fn show(report: &InitReport, output: &mut Output) {
    let look = output.look();
    let mut table = Table::new(look, &["SENSOR", "FROM", "COMMAND"]);
    for (name, command, why) in &report.sensors {
        table.row(vec![look.paint(Paint::Name, &printable(name)), printable(why), printable(command)]);
    }
    for line in table.lines() {
        output.line(line);
    }
    let verb = if report.dry_run { "would write" } else { "wrote" };
    for file in &report.written {
        output.line(format!("{} {verb} {}", look.mark(Tone::Good), printable(file)));
    }
    for (file, beside) in &report.kept {
        let kept = format!(
            "{} was edited by hand and stays; ours is beside it: {}",
            printable(file),
            printable(beside)
        );
        output.line(format!("{} {kept}", look.mark(Tone::Attention)));
    }
    match report.unchanged.len() {
        0 => {}
        1 => output.line(format!("{} 1 file is as it should be", look.mark(Tone::Plain))),
        more => output.line(format!("{} {more} files are as they should be", look.mark(Tone::Plain))),
    }
    for warning in &report.warnings {
        output.line(format!("{} {}", look.mark(Tone::Attention), printable(warning)));
    }
    if !report.dry_run {
        for step in &report.next_steps {
            output.line(format!("  {} {}", look.paint(Paint::Faint, "next:"), look.paint(Paint::Name, step)));
        }
    }
}

fn sensor(words: &str) -> Result<(String, String), String> {
    match words.split_once('=') {
        Some((name, command)) if !name.is_empty() && !command.trim().is_empty() => {
            Ok((name.to_owned(), command.to_owned()))
        }
        _ => Err(String::from("expected a name, `=` and a command, such as test=\"make test\"")),
    }
}
