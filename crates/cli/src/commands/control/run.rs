//! `windlass control run`: a task, worked on until its sensors pass and the controller says so.

use crate::commands::fence_flags::FenceFlags;
use crate::commands::gate_flags::GateFlags;
use crate::commands::work_flags::{Given, amount, list, number, texts};
use crate::commands::{absolute, outcome, task_text};
use crate::output::{LiveView, Output, Story};
use clap::{Args, ValueEnum};
use std::path::{Path, PathBuf};
use windlass_control_api::control_loop::{KeepChoice, StartControl};
use windlass_control_api::{Control, Fault};

/// Run the loop on a task until the target is met
///
/// The work happens in a worktree of its own; your checkout is not touched. Every iteration becomes one commit on
/// `ai-loop/<slug of the task>`. The run ends early when the measured history shows that it leads nowhere, and names the
/// best commit. `windlass resume` goes on after anything.
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  windlass control run \"Make all tests pass\" --agent claude
  windlass control run --task-file task.md --controller claude:opus --actuator codex --max-iterations 8
  windlass control run \"…\" --agent codex --max-iterations outer=3 --max-iterations inner=10 --patience 2
  windlass control run \"…\" --agent scripted:play.toml --keep last --dry-run")]
pub(crate) struct ControlRunArgs {
    /// What is to be reached, in words; `-` reads it from standard input
    #[arg(value_name = "TASK", required_unless_present = "task_file", conflicts_with = "task_file")]
    task: Option<String>,
    /// A file with the task; `-` reads it from standard input
    #[arg(long, value_name = "FILE")]
    task_file: Option<PathBuf>,
    /// The repository, or any directory inside it
    #[arg(long, value_name = "DIR", default_value = ".")]
    repo: PathBuf,
    /// How many actuations the outermost node has at the most, or `NODE=N` for another one; may be repeated
    #[arg(long, value_name = "[NODE=]N", value_parser = iterations)]
    max_iterations: Vec<(Option<String>, u32)>,
    /// So many iterations without progress end the loop early; 0 for any number, 3 if not given
    #[arg(long, value_name = "N")]
    patience: Option<u32>,
    /// What the branch ends on when the target is not met; `best` if not given, `last` with `--strict-original`
    #[arg(long, value_name = "WHICH")]
    keep: Option<Kept>,
    /// Switch your checkout to the loop's branch and keep it there
    #[arg(long)]
    in_place: bool,
    /// Count and end exactly as the original does, with one actuation less and the last measurement unjudged
    #[arg(long)]
    strict_original: bool,
    /// Take uncommitted changes along as the first commit of the loop's branch
    #[arg(long)]
    allow_dirty: bool,
    /// Another name for the loop's branch
    #[arg(long, value_name = "NAME")]
    branch: Option<String>,
    /// Say what would be done, start nothing
    #[arg(long)]
    dry_run: bool,
    /// Trust the commands of this repository's sensors and settings
    #[arg(long)]
    yes: bool,
    /// Wait for the repository when another run holds it
    #[arg(long)]
    wait: bool,

    /// The agent for every role
    #[arg(long, value_name = "AGENT", help_heading = "Agents")]
    agent: Option<String>,
    /// The agent that plans
    #[arg(long, value_name = "AGENT", help_heading = "Agents")]
    controller: Option<String>,
    /// The agent that edits
    #[arg(long, value_name = "AGENT", help_heading = "Agents")]
    actuator: Option<String>,
    /// The agent for sensors that have no command
    #[arg(long, value_name = "AGENT", help_heading = "Agents")]
    sensor: Option<String>,
    /// An agent that is asked while the controller's own is limited or out of order; may be repeated
    #[arg(long, value_name = "AGENT", help_heading = "Agents")]
    controller_fallback: Vec<String>,
    /// The same for the actuator
    #[arg(long, value_name = "AGENT", help_heading = "Agents")]
    actuator_fallback: Vec<String>,
    /// Refuse a controller whose model is of the same vendor as the actuator's
    #[arg(long, help_heading = "Agents")]
    distinct_vendors: bool,

    /// How long the run may work in all
    #[arg(long, value_name = "N", help_heading = "Ends", value_parser = clap::value_parser!(u64).range(1..))]
    max_minutes: Option<u64>,
    /// How long one agent or sensor may take: `90s`, `5m`, `2h`
    #[arg(long, value_name = "TIME", help_heading = "Ends")]
    step_limit: Option<String>,
    /// How long one agent or sensor may be silent
    #[arg(long, value_name = "TIME", help_heading = "Ends")]
    idle_limit: Option<String>,
    /// How many tokens the run may use
    #[arg(long, value_name = "N", help_heading = "Money", value_parser = clap::value_parser!(u64).range(1..))]
    max_tokens: Option<u64>,
    /// How much the run may cost, such as 1.50
    #[arg(long, value_name = "AMOUNT", help_heading = "Money", value_parser = amount)]
    max_cost: Option<String>,

    #[command(flatten)]
    fence: FenceFlags,
    #[command(flatten)]
    gate: GateFlags,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum Kept {
    /// The content of the best iteration
    Best,
    /// Whatever came last
    Last,
}

pub(super) async fn run(
    args: ControlRunArgs,
    control: &dyn Control,
    output: &mut Output,
) -> Result<u8, Fault> {
    let command = meant(args)?;
    let view = LiveView::new(output, Story::Talk);
    let ended = control.start_control(command, &view).await;
    drop(view);
    Ok(outcome::show(&ended?, output))
}

fn meant(args: ControlRunArgs) -> Result<StartControl, Fault> {
    Ok(StartControl {
        repository: absolute(&args.repo)?,
        directory: absolute(Path::new("."))?,
        task: match (&args.task, &args.task_file) {
            (_, Some(file)) => task_text::from_file(file)?,
            (words, None) => task_text::from_words(words.as_deref().unwrap_or_default())?,
        },
        settings: given(&args),
        max_iterations: args.max_iterations,
        in_place: args.in_place,
        strict_original: args.strict_original,
        keep: args.keep.map(|kept| match kept {
            Kept::Best => KeepChoice::Best,
            Kept::Last => KeepChoice::Last,
        }),
        steady_limit: args.patience,
        allow_dirty: args.allow_dirty,
        branch: args.branch,
        dry_run: args.dry_run,
        yes: args.yes,
        wait: args.wait,
    })
}

fn given(args: &ControlRunArgs) -> Given {
    let mut given = Given::new();
    let named = [
        ("agent", &args.agent),
        ("controller", &args.controller),
        ("actuator", &args.actuator),
        ("sensor", &args.sensor),
        ("step-limit", &args.step_limit),
        ("idle-limit", &args.idle_limit),
        ("max-cost", &args.max_cost),
    ];
    texts(&mut given, &named);
    list(&mut given, "controller-fallback", &args.controller_fallback);
    list(&mut given, "actuator-fallback", &args.actuator_fallback);
    if args.distinct_vendors {
        given.push(("distinct-vendors".into(), windlass_control_api::commands::SettingValue::Switch(true)));
    }
    number(&mut given, "max-minutes", args.max_minutes);
    number(&mut given, "max-tokens", args.max_tokens);
    args.fence.give(&mut given);
    args.gate.give(&mut given);
    given
}

/// `5`, or `inner=5`.
fn iterations(words: &str) -> Result<(Option<String>, u32), String> {
    let (node, number) = match words.split_once('=') {
        Some((node, number)) if !node.is_empty() => (Some(node.to_owned()), number),
        Some(_) => return Err(String::from("expected a node before the `=`")),
        None => (None, words),
    };
    // That is for `resume`: here there is nothing yet to add to.
    let is_added = number.starts_with('+');
    match number.parse() {
        Ok(number @ 1..) if !is_added => Ok((node, number)),
        _ => Err(String::from("expected a whole number from 1 up, or NODE=NUMBER")),
    }
}
