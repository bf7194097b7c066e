//! `windlass goal check`: what a run would work on here, and what keeps it from starting.

use super::flags::GoalFlags;
use crate::commands::absolute;
use crate::output::{Fields, Output, Paint, Table, printable};
use clap::Args;
use std::path::PathBuf;
use windlass_control_api::events::Tone;
use windlass_control_api::goal_setup::{FoundCommand, GoalSetup, ItemStanding};
use windlass_control_api::{Control, Fault, exit_codes};

/// Say what the contract comes to, and what keeps a run from starting
///
/// Exits with 0 when a run could start, with 2 when something is wrong with the files or the flags, with 14 when it would be
/// refused as things stand: your yes is missing, to the contract or to the repository's commands, your checkout has changes
/// that are not committed, another goal loop is open or has accepted items that are not merged. Takes the flags of `goal run` that take away from the contract.
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  windlass goal check
  windlass goal check --scope F002 --json | jq -r '.items[] | .id + \" \" + .standing'")]
pub(super) struct CheckArgs {
    /// The repository, or any directory inside it
    #[arg(long, value_name = "DIR", default_value = ".")]
    repo: PathBuf,
    #[command(flatten)]
    flags: GoalFlags,
}

pub(super) async fn run(args: CheckArgs, control: &dyn Control, output: &mut Output) -> Result<u8, Fault> {
    let setup = control.goal_setup(&absolute(&args.repo)?, args.flags.given()).await?;
    if output.is_json() {
        output.document(&setup);
    } else {
        show(&setup, output);
    }
    let confirmed = setup.contract.as_ref().is_some_and(|contract| contract.confirmed);
    let free = setup.in_the_way.is_empty() && setup.open_run.is_none();
    Ok(match (setup.problems.is_empty(), confirmed && setup.trusted && free) {
        (false, _) => exit_codes::USAGE,
        (true, false) => exit_codes::REFUSED,
        (true, true) => exit_codes::ACCEPTED,
    })
}

pub(super) fn show(setup: &GoalSetup, output: &mut Output) {
    let look = output.look();
    let name = look.paint(Paint::Name, &printable(&setup.repository));
    let (tone, words) = match (setup.problems.as_slice(), setup.in_the_way.as_slice()) {
        ([], []) => (Tone::Good, "is set up for a goal loop"),
        _ => (Tone::Bad, "cannot run a goal loop yet"),
    };
    output.line(format!("{} {name} {words}", look.mark(tone)));
    let wrong = setup.problems.iter().chain(&setup.in_the_way);
    for problem in wrong.flat_map(|problem| problem.lines()) {
        output.line(format!("  {} {}", look.mark(Tone::Bad), printable(problem)));
    }
    show_fields(setup, output);
    show_items(setup, output);
    for sentence in &setup.not_enforced {
        let words = format!("no machine holds to: {}", printable(sentence));
        output.line(format!("{} {words}", look.mark(Tone::Attention)));
    }
    for notice in &setup.notices {
        output.line(format!("{} {}", look.mark(Tone::Quiet), printable(notice)));
    }
    show_consent(setup, output);
}

fn show_fields(setup: &GoalSetup, output: &mut Output) {
    let mut fields = Fields::new(output.look());
    fields.add("goal", printable(&setup.goal.split_whitespace().collect::<Vec<_>>().join(" ")));
    fields.add("autonomy", setup.autonomy.clone().unwrap_or_default());
    let caps: Vec<String> = setup.caps.iter().map(|(name, cap)| format!("{name} {cap}")).collect();
    fields.add("caps", caps.join(", "));
    fields.add("queue", counts(setup));
    fields.add("tests", setup.test_command.as_ref().map_or("no command is known".to_owned(), command));
    fields.add_all("pre-commit", setup.pre_commit.iter().map(command));
    for line in fields.lines() {
        output.line(line);
    }
}

pub(super) fn counts(setup: &GoalSetup) -> String {
    let counts: Vec<String> =
        setup.counts.iter().map(|count| format!("{} {}", count.items, count.status)).collect();
    counts.join(", ")
}

fn command(found: &FoundCommand) -> String {
    format!("{} (from {})", printable(&found.command), printable(&found.from))
}

fn show_items(setup: &GoalSetup, output: &mut Output) {
    if setup.items.is_empty() {
        return;
    }
    let look = output.look();
    let mut table = Table::new(look, &["ITEM", "STATUS", "STANDING", "NAME"]);
    for item in &setup.items {
        let next = setup.next.as_ref().is_some_and(|next| next.id == item.id);
        let mut words = printable(&item.name);
        if !item.why.is_empty() {
            words = format!("{words}: {}", printable(&item.why));
        }
        if next {
            words = format!("{words} (next)");
        }
        let standing = match item.standing {
            ItemStanding::Ready | ItemStanding::Accepted => item.standing.word().to_owned(),
            ItemStanding::Waiting | ItemStanding::Claimed | ItemStanding::Aside => {
                look.paint(Paint::Attention, item.standing.word())
            }
        };
        table.row(vec![
            look.paint(Paint::Name, &printable(&item.id)),
            printable(&item.status),
            standing,
            words,
        ]);
    }
    for line in table.lines() {
        output.line(line);
    }
}

/// What is missing is only a person's yes.
fn show_consent(setup: &GoalSetup, output: &mut Output) {
    let look = output.look();
    match &setup.contract {
        Some(contract) if contract.confirmed => {
            output.line(format!("{} the contract is confirmed", look.mark(Tone::Good)));
        }
        Some(_) => output.line(format!(
            "{} the contract is not confirmed yet: `windlass goal run` asks, `--yes` says so",
            look.mark(Tone::Attention)
        )),
        None => {}
    }
    if !setup.trusted {
        let words = "its commands are not trusted yet: `windlass trust` says that you agree to them";
        output.line(format!("{} {words}", look.mark(Tone::Attention)));
    }
    if let Some(run) = &setup.open_run {
        let words = format!("the goal loop {run} is open: `windlass explain {run}`");
        output.line(format!("{} {words}", look.mark(Tone::Attention)));
    }
}
