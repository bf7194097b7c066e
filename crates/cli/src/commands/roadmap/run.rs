//! `windlass roadmap run`: rounds opened, worked on, reviewed and merged until every milestone is done.

use crate::commands::fence_flags::FenceFlags;
use crate::commands::gate_flags::GateFlags;
use crate::commands::work_flags::{Given, amount, list, number, texts};
use crate::commands::{absolute, outcome};
use crate::output::{LiveView, Output, Story};
use clap::Args;
use std::path::{Path, PathBuf};
use windlass_control_api::commands::SettingValue;
use windlass_control_api::roadmap_loop::StartRoadmap;
use windlass_control_api::{Control, Fault};

/// Run the control plane of this repository until its roadmap is complete
///
/// Your checkout must be on the base branch of the control plane: merged rounds appear there as one commit each. Live rounds
/// of an earlier run, or of another controller, are taken up where they stand.
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  windlass roadmap run --agent claude
  windlass roadmap run --planner claude --implementer codex --reviewer claude --rounds 3
  windlass roadmap run --agent claude --parallel 2 --max-minutes 120 --max-cost 10.00
  windlass roadmap run --agent claude --dry-run")]
pub(super) struct RoadmapRunArgs {
    /// The repository, or any directory inside it
    #[arg(long, value_name = "DIR", default_value = ".")]
    repo: PathBuf,
    /// One round and no more
    #[arg(long, conflicts_with = "rounds")]
    once: bool,
    /// How many rounds the run may open; as many as it takes if not given
    #[arg(long, value_name = "N", value_parser = at_least_one())]
    rounds: Option<u64>,
    /// Fewer live rounds at once than the control plane allows
    #[arg(long, value_name = "N", value_parser = at_least_one())]
    parallel: Option<u64>,
    /// Say what would be done, start and write nothing
    #[arg(long)]
    dry_run: bool,
    /// Trust the commands of this repository
    #[arg(long)]
    yes: bool,
    /// Wait for the repository when another run holds it
    #[arg(long)]
    wait: bool,

    /// The agent for every role
    #[arg(long, value_name = "AGENT", help_heading = "Agents")]
    agent: Option<String>,
    /// The agent that chooses and plans rounds and revises the roadmap
    #[arg(long, value_name = "AGENT", help_heading = "Agents")]
    planner: Option<String>,
    /// The agent that implements
    #[arg(long, value_name = "AGENT", help_heading = "Agents")]
    implementer: Option<String>,
    /// The agent that reviews
    #[arg(long, value_name = "AGENT", help_heading = "Agents")]
    reviewer: Option<String>,
    /// The agent that looks into rounds that do not get on; the reviewer's if neither it nor `--agent` is given
    #[arg(long, value_name = "AGENT", help_heading = "Agents")]
    investigator: Option<String>,
    /// An agent that is asked while the planner's own is limited, out of order or does not get on; may be repeated
    #[arg(long, value_name = "AGENT", help_heading = "Agents")]
    planner_fallback: Vec<String>,
    /// The same for the implementer
    #[arg(long, value_name = "AGENT", help_heading = "Agents")]
    implementer_fallback: Vec<String>,
    /// The same for the reviewer
    #[arg(long, value_name = "AGENT", help_heading = "Agents")]
    reviewer_fallback: Vec<String>,
    /// Refuse a reviewer whose model is of the same vendor as the implementer's
    #[arg(long, help_heading = "Agents")]
    distinct_vendors: bool,
    /// How long one agent may take: `90s`, `5m`, `2h`
    #[arg(long, value_name = "TIME", help_heading = "Agents")]
    step_limit: Option<String>,
    /// How long one agent may be silent
    #[arg(long, value_name = "TIME", help_heading = "Agents")]
    idle_limit: Option<String>,

    /// How long the run may work
    #[arg(long, value_name = "N", help_heading = "Caps", value_parser = at_least_one())]
    max_minutes: Option<u64>,
    /// How many tokens it may use
    #[arg(long, value_name = "N", help_heading = "Caps", value_parser = at_least_one())]
    max_tokens: Option<u64>,
    /// How much it may cost, such as 1.50
    #[arg(long, value_name = "AMOUNT", help_heading = "Caps", value_parser = amount)]
    max_cost: Option<String>,

    /// A command that the engine runs on a round that changes what measures it; may be repeated
    #[arg(long = "check", value_name = "COMMAND", help_heading = "Gate")]
    checks: Vec<String>,

    #[command(flatten)]
    fence: FenceFlags,
    #[command(flatten)]
    gate: GateFlags,
}

fn at_least_one() -> clap::builder::RangedU64ValueParser<u64> {
    clap::value_parser!(u64).range(1..=u64::from(u32::MAX))
}

pub(super) async fn run(
    args: RoadmapRunArgs,
    control: &dyn Control,
    output: &mut Output,
) -> Result<u8, Fault> {
    let command = StartRoadmap {
        repository: absolute(&args.repo)?,
        directory: absolute(Path::new("."))?,
        settings: given(&args),
        once: args.once,
        dry_run: args.dry_run,
        yes: args.yes,
        wait: args.wait,
    };
    let view = LiveView::new(output, Story::Talk);
    let ended = control.start_roadmap(command, &view).await;
    drop(view);
    Ok(outcome::show(&ended?, output))
}

fn given(args: &RoadmapRunArgs) -> Given {
    let mut given = Given::new();
    let named = [
        ("agent", &args.agent),
        ("planner", &args.planner),
        ("implementer", &args.implementer),
        ("reviewer", &args.reviewer),
        ("recovery-investigator", &args.investigator),
        ("step-limit", &args.step_limit),
        ("idle-limit", &args.idle_limit),
        ("max-cost", &args.max_cost),
    ];
    texts(&mut given, &named);
    list(&mut given, "planner-fallback", &args.planner_fallback);
    list(&mut given, "implementer-fallback", &args.implementer_fallback);
    list(&mut given, "reviewer-fallback", &args.reviewer_fallback);
    number(&mut given, "roadmap.rounds", args.rounds);
    number(&mut given, "roadmap.parallel", args.parallel);
    number(&mut given, "max-minutes", args.max_minutes);
    number(&mut given, "max-tokens", args.max_tokens);
    if args.distinct_vendors {
        given.push(("distinct-vendors".into(), SettingValue::Switch(true)));
    }
    list(&mut given, "checks", &args.checks);
    args.fence.give(&mut given);
    args.gate.give(&mut given);
    given
}
