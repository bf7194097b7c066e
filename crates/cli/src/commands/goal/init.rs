//! `windlass goal init`: set a repository up, without writing over anything.

use crate::commands::absolute;
use crate::output::{Output, Paint, printable};
use clap::Args;
use std::path::PathBuf;
use windlass_control_api::events::Tone;
use windlass_control_api::goal_setup::{GoalInitReport, InitGoal};
use windlass_control_api::{Control, Fault, exit_codes};

/// Write the files a goal loop needs: contract, budget, run log
///
/// The contract is the template with every item of the queue in scope, level L1 and the test command that was found
/// pinned in it. A file that is there stays as it is, also one of another tool with the same name. A repository without
/// `docs/FEATURES.json` gets one only with `--feature`.
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  windlass goal init --dry-run
  windlass goal init
  windlass goal init --feature \"Greeting: hello.txt says hello; has a test\" --test-cmd \"make test\"")]
pub(super) struct InitArgs {
    /// The repository, or any directory inside it
    #[arg(long, value_name = "DIR", default_value = ".")]
    repo: PathBuf,
    /// Begin a queue with this item, its criteria separated by semicolons; may be repeated
    #[arg(long, value_name = "NAME: CRITERION; …", value_parser = feature)]
    feature: Vec<(String, Vec<String>)>,
    /// The command that runs the full test suite, instead of one that would be found
    #[arg(long, value_name = "COMMAND")]
    test_cmd: Option<String>,
    /// Say what would be written, write nothing
    #[arg(long)]
    dry_run: bool,
}

pub(super) async fn run(args: InitArgs, control: &dyn Control, output: &mut Output) -> Result<u8, Fault> {
    let command = InitGoal {
        repository: absolute(&args.repo)?,
        features: args.feature,
        test_command: args.test_cmd,
        dry_run: args.dry_run,
    };
    let report = control.init_goal(command).await?;
    if output.is_json() {
        output.document(&report);
    } else {
        show(&report, output);
    }
    Ok(if report.foreign.is_empty() { exit_codes::ACCEPTED } else { exit_codes::USAGE })
}

fn show(report: &GoalInitReport, output: &mut Output) {
    let look = output.look();
    let verb = if report.dry_run { "would write" } else { "wrote" };
    for file in &report.written {
        output.line(format!("{} {verb} {}", look.mark(Tone::Good), printable(file)));
    }
    for file in &report.unchanged {
        output.line(format!("{} {} is there and stays", look.mark(Tone::Quiet), printable(file)));
    }
    for (file, why) in &report.foreign {
        let words = format!("{} belongs to another tool and stays: {}", printable(file), printable(why));
        output.line(format!("{} {words}", look.mark(Tone::Bad)));
    }
    if let Some(test) = &report.test_command {
        let words = format!("tests: {} (from {})", printable(&test.command), printable(&test.from));
        output.line(format!("{} {words}", look.mark(Tone::Plain)));
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

fn feature(words: &str) -> Result<(String, Vec<String>), String> {
    let (name, criteria) = words.split_once(':').unwrap_or((words, ""));
    let criteria: Vec<String> =
        criteria.split(';').map(str::trim).filter(|one| !one.is_empty()).map(str::to_owned).collect();
    if name.trim().is_empty() || criteria.is_empty() {
        return Err(
            "expected a name, a colon and criteria, such as \"Greeting: says hello; has a test\"".to_owned()
        );
    }
    Ok((name.trim().to_owned(), criteria))
}

#[cfg(test)]
mod tests {
    use super::feature;

    #[test]
    fn a_feature_has_a_name_and_criteria() {
        let expected = ("Greeting".to_owned(), vec!["says: hello".to_owned(), "has a test".to_owned()]);
        assert_eq!(feature("Greeting: says: hello; has a test;").unwrap(), expected);
        for wrong in ["", "Greeting", "Greeting:", ": a", "Greeting: ;"] {
            assert!(feature(wrong).is_err(), "{wrong}");
        }
    }
}
