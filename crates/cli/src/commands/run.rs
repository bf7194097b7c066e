//! `windlass run`: a task, worked on until it is accepted or its limits are reached.

use super::work_flags::{WorkFlags, number};
use super::{absolute, outcome, task_text};
use crate::output::{LiveView, Output, Story};
use clap::Args;
use std::path::{Path, PathBuf};
use windlass_control_api::commands::StartRun;
use windlass_control_api::{Control, Fault};

/// Work on a task until it is accepted
///
/// Each round an agent makes the change, the checks are run by Windlass on exactly that change, a second agent judges
/// it and a third one gates it. Your checkout is not touched: the work happens in worktrees of its own, and an accepted
/// change becomes one commit on the branch `windlass/<task-id>`.
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  windlass run \"Make the parser accept empty files\" --agent codex --check \"cargo test\"
  windlass run --task-file task.md --doer codex --judge claude --auditor gemini --distinct-vendors --max-cost 2.50
  windlass run --task-file task.md --agent claude:opus --doer-fallback codex --rounds 5 --max-tokens 2000000
  windlass run \"…\" --doer command:./maker --judge command:./critic
  git log -1 --format=%B issue-7 | windlass run - --id TASK-7 --base main --land none
  windlass run \"…\" --agent scripted:play.toml --dry-run")]
pub(crate) struct RunArgs {
    /// What to do, in words; `-` reads it from standard input
    #[arg(value_name = "TASK", required_unless_present = "task_file", conflicts_with = "task_file")]
    task: Option<String>,
    /// A file with the task; `-` reads it from standard input
    #[arg(long, value_name = "FILE")]
    task_file: Option<PathBuf>,
    /// The task's id; derived from its words if not given
    #[arg(long, value_name = "ID")]
    id: Option<String>,
    /// The repository, or any directory inside it
    #[arg(long, value_name = "DIR", default_value = ".")]
    repo: PathBuf,
    /// The revision the work starts from
    #[arg(long, value_name = "REV")]
    base: Option<String>,
    /// How many rounds at the most; 3 if no settings file says otherwise
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    rounds: Option<u64>,
    /// How long the run may work in all
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    max_minutes: Option<u64>,
    #[command(flatten)]
    work: WorkFlags,
    /// Where the run's directory is made; `.orchestrator/runs` in the repository if not given
    #[arg(long, value_name = "DIR")]
    run_root: Option<PathBuf>,
    /// Write the prompts and print the agents' commands, start nothing
    #[arg(long)]
    dry_run: bool,
    /// Trust the commands in this repository's own settings file
    #[arg(long)]
    yes: bool,
    /// Wait for the repository when another run holds it
    #[arg(long)]
    wait: bool,
}

pub(crate) async fn run(args: RunArgs, control: &dyn Control, output: &mut Output) -> Result<u8, Fault> {
    let command = meant(args)?;
    let view = LiveView::new(output, Story::Talk);
    let ended = control.start(command, &view).await;
    drop(view);
    Ok(outcome::show(&ended?, output))
}

fn meant(args: RunArgs) -> Result<StartRun, Fault> {
    let mut settings = args.work.given();
    number(&mut settings, "rounds", args.rounds);
    number(&mut settings, "max-minutes", args.max_minutes);
    Ok(StartRun {
        repository: absolute(&args.repo)?,
        directory: absolute(Path::new("."))?,
        task: match (&args.task, &args.task_file) {
            (_, Some(file)) => task_text::from_file(file)?,
            (words, None) => task_text::from_words(words.as_deref().unwrap_or_default())?,
        },
        task_id: args.id,
        base: args.base,
        run_root: args.run_root.as_deref().map(absolute).transpose()?,
        criteria: Vec::new(),
        settings,
        dry_run: args.dry_run,
        yes: args.yes,
        wait: args.wait,
    })
}
