//! `windlass goal add`: one more item at the end of the queue.

use crate::commands::absolute;
use crate::output::{Output, Paint, printable};
use clap::Args;
use std::path::PathBuf;
use windlass_control_api::events::Tone;
use windlass_control_api::goal_setup::{AddItem, NewItemKind};
use windlass_control_api::{Control, Fault, exit_codes};

/// Add an item to `docs/FEATURES.json`
///
/// It gets the next free number of its kind and stands at the end, laid out like the others; no other byte changes.
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  windlass goal add \"Export as CSV\" --criterion \"the export has a header line\" --criterion \"has a test\"
  windlass goal add \"Colours\" --criterion \"--colour works\" --path src/output/ --path README.md
  windlass goal add \"Split the parser\" --refactor --criterion \"no file over 400 lines\" --depends F002")]
pub(super) struct AddArgs {
    /// What it is called
    #[arg(value_name = "NAME")]
    name: String,
    /// A condition that a test or a reader can check; may be repeated
    #[arg(long, value_name = "TEXT", required = true)]
    criterion: Vec<String>,
    /// More about it than its name
    #[arg(long, value_name = "TEXT")]
    description: Option<String>,
    /// An item that must be accepted first; may be repeated
    #[arg(long, value_name = "ID")]
    depends: Vec<String>,
    /// A file, folder or pattern that it may touch, from the top of the repository; may be repeated. Tests always may be
    #[arg(long, value_name = "PATH")]
    path: Vec<String>,
    /// Smaller comes first; after every other item if not given
    #[arg(long, value_name = "N", allow_negative_numbers = true)]
    priority: Option<i64>,
    /// It changes how code is built and not what it does
    #[arg(long, conflicts_with = "bug")]
    refactor: bool,
    /// It mends something
    #[arg(long)]
    bug: bool,
    /// The repository, or any directory inside it
    #[arg(long, value_name = "DIR", default_value = ".")]
    repo: PathBuf,
}

pub(super) async fn run(args: AddArgs, control: &dyn Control, output: &mut Output) -> Result<u8, Fault> {
    let command = AddItem {
        repository: absolute(&args.repo)?,
        name: args.name,
        description: args.description,
        criteria: args.criterion,
        dependencies: args.depends,
        paths: args.path,
        priority: args.priority,
        kind: match (args.refactor, args.bug) {
            (true, _) => NewItemKind::Refactoring,
            (false, true) => NewItemKind::Bug,
            (false, false) => NewItemKind::Feature,
        },
    };
    let added = control.add_item(command).await?;
    if output.is_json() {
        output.document(&added);
        return Ok(exit_codes::ACCEPTED);
    }
    let look = output.look();
    let id = look.paint(Paint::Name, &added.id);
    output.line(format!(
        "{} {id} {} stands in {}",
        look.mark(Tone::Good),
        printable(&added.name),
        added.file
    ));
    if !added.in_scope {
        let words = "the contract does not include it yet: edit the scope in docs/LOOP.md";
        output.line(format!("{} {words}", look.mark(Tone::Attention)));
    }
    Ok(exit_codes::ACCEPTED)
}
