//! `windlass settings`: every setting, its value, and with `--origin` where the value comes from.

use super::repository_here;
use crate::output::{Output, Paint, Table, printable};
use clap::Args;
use std::path::PathBuf;
use windlass_control_api::{Control, Fault, exit_codes};

/// Print every setting and its value
///
/// The later the stronger: built-in value, user file, `windlass.toml` at the top of the repository, environment
/// (`WINDLASS_ROUNDS` for `rounds`), arguments.
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  windlass settings
  windlass settings --origin
  WINDLASS_ROUNDS=5 windlass settings --origin --json")]
pub(crate) struct SettingsArgs {
    /// The repository, or any directory inside it; the one the current directory is in if not given
    #[arg(long, value_name = "DIR")]
    repo: Option<PathBuf>,
    /// Also say where each value comes from
    #[arg(long)]
    origin: bool,
}

pub(crate) async fn run(args: SettingsArgs, control: &dyn Control, output: &mut Output) -> Result<u8, Fault> {
    let repository = repository_here(args.repo.as_deref())?;
    let view = control.settings(repository.as_deref(), Vec::new()).await?;
    if output.is_json() {
        output.document(&view);
        return Ok(exit_codes::ACCEPTED);
    }
    for warning in &view.warnings {
        output.warn(printable(warning));
    }
    let look = output.look();
    let headings: &[&str] =
        if args.origin { &["KEY", "VALUE", "FROM"] } else { &["KEY", "VALUE", "MEANING"] };
    let mut table = Table::new(look, headings);
    for setting in &view.settings {
        let value =
            if setting.value.is_empty() { look.paint(Paint::Faint, "-") } else { printable(&setting.value) };
        let last = if args.origin { printable(&setting.origin) } else { setting.help.clone() };
        table.row(vec![look.paint(Paint::Name, &setting.key), value, last]);
    }
    for line in table.lines() {
        output.line(line);
    }
    Ok(exit_codes::ACCEPTED)
}
