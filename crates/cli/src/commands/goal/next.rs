//! `windlass goal next`: how many items stand how, and the one that comes next in full.

use super::check::counts;
use super::flags::GoalFlags;
use crate::commands::absolute;
use crate::output::{Fields, Output, Paint, printable};
use clap::Args;
use std::path::PathBuf;
use windlass_control_api::goal_setup::{GoalSetup, NextItem};
use windlass_control_api::{Code, Control, Fault, exit_codes};

/// Show the item that a run would work on next
///
/// The choice is the run's own: what is called complete and was never graded first, then rework, then new work, each by
/// priority; items whose dependencies are not accepted wait.
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  windlass goal next
  windlass goal next --json | jq -r .next.id")]
pub(super) struct NextArgs {
    /// The repository, or any directory inside it
    #[arg(long, value_name = "DIR", default_value = ".")]
    repo: PathBuf,
    #[command(flatten)]
    flags: GoalFlags,
}

pub(super) async fn run(args: NextArgs, control: &dyn Control, output: &mut Output) -> Result<u8, Fault> {
    let setup = control.goal_setup(&absolute(&args.repo)?, args.flags.given()).await?;
    if !setup.problems.is_empty() {
        return Err(Fault::new(Code::GoalFiles, setup.problems.join("\n"))
            .hint("`windlass goal check` looks at everything"));
    }
    if output.is_json() {
        output.document(&serde_json::json!({ "counts": setup.counts, "next": setup.next }));
    } else {
        show(&setup, output);
    }
    Ok(exit_codes::ACCEPTED)
}

fn show(setup: &GoalSetup, output: &mut Output) {
    output.line(counts(setup));
    match &setup.next {
        Some(item) => show_item(item, output),
        None => output.line("nothing in scope can be worked on now; `windlass goal check` says why"),
    }
}

fn show_item(item: &NextItem, output: &mut Output) {
    let look = output.look();
    let mut fields = Fields::new(look);
    fields.add("next", format!("{} {}", look.paint(Paint::Name, &item.id), printable(&item.name)));
    fields.add("status", format!("{}, to be {}", printable(&item.status), done(&item.work)));
    fields.add("priority", item.priority.clone().unwrap_or_default());
    fields.add_all("about", item.description.lines().map(printable));
    fields.add_all("criteria", item.acceptance_criteria.iter().map(|one| printable(one)));
    fields.add("deliverable", printable(&item.deliverable));
    fields.add("verified by", printable(&item.verification));
    fields.add_all("needs", item.dependencies.iter().map(|(id, status)| format!("{id} ({status})")));
    fields.add("design", item.design_doc.as_deref().map(printable).unwrap_or_default());
    fields.add_all("files", item.affected_files.iter().map(|file| printable(file)));
    for line in fields.lines() {
        output.line(line);
    }
}

fn done(work: &str) -> &'static str {
    match work {
        "recheck" => "checked again",
        "rework" => "reworked",
        _ => "built",
    }
}
