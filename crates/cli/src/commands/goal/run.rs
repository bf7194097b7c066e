//! `windlass goal run`: items built, tested, graded and committed one at a time until the contract says stop.

use super::ask;
use super::flags::GoalFlags;
use crate::commands::fence_flags::FenceFlags;
use crate::commands::gate_flags::GateFlags;
use crate::commands::work_flags::{Given, list, texts};
use crate::commands::{absolute, outcome};
use crate::output::{LiveView, Output, Story};
use clap::Args;
use std::path::{Path, PathBuf};
use windlass_control_api::commands::SettingValue;
use windlass_control_api::goal_setup::StartGoal;
use windlass_control_api::{Control, Fault};

/// Run the loop on the contract of this repository
///
/// The work happens in a worktree of its own and is committed to `goal/<items>-<n>`; your checkout is not touched. Flags
/// and settings can only take away from the contract. A contract nobody agreed to is shown first, and nothing is built
/// before you said yes. At L1 the run rests after one iteration, with the change waiting for `windlass approve`.
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  windlass goal run --agent claude
  windlass goal run --builder codex --evaluator claude --scope F002 --once
  windlass goal run --agent claude --budget iterations=5,minutes=30,cost=2.00 --pre-commit \"make lint\"
  windlass goal run --agent claude --autonomy L1 --dry-run")]
pub(super) struct GoalRunArgs {
    /// The repository, or any directory inside it
    #[arg(long, value_name = "DIR", default_value = ".")]
    repo: PathBuf,
    /// One iteration and no more
    #[arg(long)]
    once: bool,
    /// Commit to the branch that is checked out, which follows commit by commit
    #[arg(long)]
    in_place: bool,
    /// Begin although another goal loop of this repository waits for a person or has accepted items that are not merged
    #[arg(long)]
    another: bool,
    /// Say what would be done, start and write nothing
    #[arg(long)]
    dry_run: bool,
    /// Agree to the contract as it stands and trust the commands of this repository
    #[arg(long)]
    yes: bool,
    /// Wait for the repository when another run holds it
    #[arg(long)]
    wait: bool,
    #[command(flatten)]
    flags: GoalFlags,

    /// The agent for every role
    #[arg(long, value_name = "AGENT", help_heading = "Agents")]
    agent: Option<String>,
    /// The agent that builds
    #[arg(long, value_name = "AGENT", help_heading = "Agents")]
    builder: Option<String>,
    /// The agent that grades
    #[arg(long, value_name = "AGENT", help_heading = "Agents")]
    evaluator: Option<String>,
    /// The agent that designs; the builder's if neither it nor `--agent` is given
    #[arg(long, value_name = "AGENT", help_heading = "Agents")]
    planner: Option<String>,
    /// An agent that is asked while the builder's own is limited or out of order; may be repeated
    #[arg(long, value_name = "AGENT", help_heading = "Agents")]
    builder_fallback: Vec<String>,
    /// The same for the evaluator
    #[arg(long, value_name = "AGENT", help_heading = "Agents")]
    evaluator_fallback: Vec<String>,
    /// Refuse an evaluator whose model is of the same vendor as the builder's
    #[arg(long, help_heading = "Agents")]
    distinct_vendors: bool,
    /// How long one agent or command may take: `90s`, `5m`, `2h`
    #[arg(long, value_name = "TIME", help_heading = "Agents")]
    step_limit: Option<String>,
    /// How long one agent or command may be silent
    #[arg(long, value_name = "TIME", help_heading = "Agents")]
    idle_limit: Option<String>,

    #[command(flatten)]
    fence: FenceFlags,
    #[command(flatten)]
    gate: GateFlags,
}

pub(super) async fn run(args: GoalRunArgs, control: &dyn Control, output: &mut Output) -> Result<u8, Fault> {
    let mut command = StartGoal {
        repository: absolute(&args.repo)?,
        directory: absolute(Path::new("."))?,
        settings: given(&args),
        once: args.once,
        in_place: args.in_place,
        another: args.another,
        confirmed: None,
        dry_run: args.dry_run,
        yes: args.yes,
        wait: args.wait,
    };
    if !command.yes && !command.dry_run && ask::can_ask(output) {
        let setup = control.goal_setup(&command.repository, command.settings.clone()).await?;
        command.confirmed = ask::contract(&setup, output)?;
    }
    let view = LiveView::new(output, Story::Talk);
    let ended = control.start_goal(command, &view).await;
    drop(view);
    Ok(outcome::show(&ended?, output))
}

fn given(args: &GoalRunArgs) -> Given {
    let mut given = args.flags.given();
    let named = [
        ("agent", &args.agent),
        ("builder", &args.builder),
        ("evaluator", &args.evaluator),
        ("planner", &args.planner),
        ("step-limit", &args.step_limit),
        ("idle-limit", &args.idle_limit),
    ];
    texts(&mut given, &named);
    list(&mut given, "builder-fallback", &args.builder_fallback);
    list(&mut given, "evaluator-fallback", &args.evaluator_fallback);
    if args.distinct_vendors {
        given.push(("distinct-vendors".into(), SettingValue::Switch(true)));
    }
    args.fence.give(&mut given);
    args.gate.give(&mut given);
    given
}
