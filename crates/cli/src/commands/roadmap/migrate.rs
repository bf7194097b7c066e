//! `windlass roadmap migrate`: from a plane of an older contract to one that can be run.

use crate::commands::absolute;
use crate::output::{Output, Paint, printable};
use clap::Args;
use std::path::PathBuf;
use windlass_control_api::events::Tone;
use windlass_control_api::roadmap_setup::{MigrateRoadmap, RoadmapMigration};
use windlass_control_api::{Control, Fault, exit_codes};

/// Bring a control plane of the older contract into a form that can be run
///
/// Publishes the roadmap as its next revision with a machine view, writes the state with its eleven keys and the contract
/// files that are missing, in one commit. Old revisions, families and rounds stay as history. No status is guessed: what the
/// old roadmap does not state, you are asked to state in it. Refused while rounds of the older contract live.
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  windlass roadmap migrate --dry-run
  windlass roadmap migrate")]
pub(super) struct MigrateArgs {
    /// The repository, or any directory inside it
    #[arg(long, value_name = "DIR", default_value = ".")]
    repo: PathBuf,
    /// Print the state and the view that would be written, write nothing
    #[arg(long)]
    dry_run: bool,
}

pub(super) async fn run(args: MigrateArgs, control: &dyn Control, output: &mut Output) -> Result<u8, Fault> {
    let command = MigrateRoadmap { repository: absolute(&args.repo)?, dry_run: args.dry_run };
    let migration = control.migrate_roadmap(command).await?;
    if output.is_json() {
        output.document(&migration);
    } else {
        show(&migration, output);
    }
    Ok(match (migration.open.is_empty(), migration.edits.is_empty()) {
        (false, _) => exit_codes::USAGE,
        (true, false) => exit_codes::REFUSED,
        (true, true) => exit_codes::ACCEPTED,
    })
}

fn show(migration: &RoadmapMigration, output: &mut Output) {
    let look = output.look();
    for why in &migration.why {
        output.line(format!("{} {}", look.mark(Tone::Plain), printable(why)));
    }
    if migration.dry_run {
        let texts = [
            ("orchestrator/state.json", Some(&migration.state)),
            ("roadmap-view.json", migration.view.as_ref()),
        ];
        for (name, text) in texts.into_iter().filter_map(|(name, text)| Some((name, text?))) {
            output.line(look.paint(Paint::Name, name));
            for line in text.lines() {
                output.line(format!("  {}", printable(line)));
            }
        }
    }
    let verb = if migration.dry_run { "would write" } else { "wrote" };
    for file in &migration.written {
        output.line(format!("{} {verb} {}", look.mark(Tone::Good), printable(file)));
    }
    for file in &migration.unchanged {
        output.line(format!("{} {} is there and stays", look.mark(Tone::Quiet), printable(file)));
    }
    for words in &migration.not_carried_over {
        output.line(format!("{} {}", look.mark(Tone::Attention), printable(words)));
    }
    for words in migration.open.iter().chain(&migration.edits) {
        output.line(format!("{} to be settled first: {}", look.mark(Tone::Bad), printable(words)));
    }
    if let Some(commit) = &migration.commit {
        let short = commit.get(..10).unwrap_or(commit);
        output.line(format!("{} committed as {short}", look.mark(Tone::Good)));
    }
    for step in &migration.next_steps {
        output.line(format!("  {} {}", look.paint(Paint::Faint, "next:"), look.paint(Paint::Name, step)));
    }
}
