//! `windlass resume`: take a run up again where it stopped, also one that the original scripts began.

use super::work_flags::{WorkFlags, number};
use super::{absolute, outcome};
use crate::output::{LiveView, Output, Story};
use clap::{Arg, Args};
use std::path::Path;
use windlass_control_api::commands::{ResumeRun, Room, StartRun};
use windlass_control_api::money::micros;
use windlass_control_api::views::{LoopKind, RunOutcome, Status};
use windlass_control_api::{Code, Control, Fault, exit_codes};

pub(super) const MEGABYTE: u64 = 1024 * 1024;

/// Go on with a run where it stopped
///
/// Nothing is done twice: an agent that is still at work is taken over, its result is used. A run that reached its
/// limits goes on when it is given more room. A run directory that the original scripts left half-done is taken up as
/// well; it does not record its flags, so they must be given again.
#[derive(Args, Debug)]
#[command(
    mut_args(by_loop),
    after_help = "\
Examples:
  windlass resume TASK-7-20260102-030405
  windlass resume TASK-7-20260102-030405 --rounds +2 --note \"the API may change\"
  windlass resume raise-the-value-20260102-030405 --max-iterations +3 --max-iterations inner=12 --patience 5
  windlass resume --all
  windlass resume .orchestrator/runs/TASK-7-20260102-030405 --rounds 3 --check \"make test\" --agent command:./my-agent"
)]
pub(crate) struct ResumeArgs {
    /// The run, as `windlass ls` names it, or a run directory of the original
    #[arg(value_name = "RUN", required_unless_present = "all", conflicts_with = "all")]
    run: Option<String>,
    /// Every unfinished run that nobody drives
    #[arg(long)]
    all: bool,
    /// How many rounds, or iterations of a control loop's outermost node: `+2` adds two to what there was, `5` means five
    /// in all
    #[arg(long, value_name = "[+]N", value_parser = room)]
    rounds: Option<Room>,
    /// So many minutes more
    #[arg(long, alias = "max-minutes", value_name = "[+]N", value_parser = more)]
    minutes: Option<u64>,
    /// So many tokens more
    #[arg(long, value_name = "[+]N", value_parser = more)]
    tokens: Option<u64>,
    /// So much money more, such as 1.50
    #[arg(long, value_name = "[+]AMOUNT", value_parser = more_money)]
    money: Option<u64>,
    /// So many megabytes of output more
    #[arg(long, value_name = "[+]N", value_parser = more)]
    output_mb: Option<u64>,
    /// Something the agents shall know when they go on
    #[arg(long, value_name = "TEXT")]
    note: Option<String>,
    /// How many actuations the outermost node may have, or `NODE=N` for another one: `+2` adds two to what there was, `5`
    /// means five in all; may be repeated
    #[arg(long, value_name = "[NODE=][+]N", value_parser = iterations, conflicts_with = "all", help_heading = CONTROL)]
    max_iterations: Vec<(Option<String>, Room)>,
    /// So many iterations without progress end the loop early from now on; 0 for any number
    #[arg(long, value_name = "N", conflicts_with = "all", help_heading = CONTROL)]
    patience: Option<u32>,
    /// The task's id, for a directory of the original whose name does not tell it
    #[arg(long, value_name = "ID")]
    id: Option<String>,
    #[command(flatten)]
    work: WorkFlags,
    /// Trust the commands in this repository's own settings file
    #[arg(long)]
    yes: bool,
    /// Wait for the repository when another run holds it
    #[arg(long)]
    wait: bool,
}

const CONTROL: &str = "Control loops only";
const ORIGINAL: &str = "Run directories of the original only (task loop)";

/// What a run was started with cannot be changed, so most flags count for a directory that does not record them.
fn by_loop(flag: Arg) -> Arg {
    let anywhere = flag.get_help_heading().is_none() && flag.get_id() != "id";
    if anywhere || flag.get_help_heading() == Some(CONTROL) { flag } else { flag.help_heading(ORIGINAL) }
}

/// `+2`, or `5`.
fn room(text: &str) -> Result<Room, String> {
    let (number, kind): (&str, fn(u32) -> Room) = match text.strip_prefix('+') {
        Some(number) => (number, Room::More),
        None => (text, Room::InAll),
    };
    // The standard parser would take a second plus for a sign.
    match number.parse() {
        Ok(count) if count > 0 && !number.starts_with('+') => Ok(kind(count)),
        _ => Err(String::from("expected a number from 1 on, or `+` and a number")),
    }
}

/// `5`, `+2`, or either after `inner=`.
fn iterations(words: &str) -> Result<(Option<String>, Room), String> {
    match words.split_once('=') {
        Some(("", _)) => Err(String::from("expected a node before the `=`")),
        Some((node, number)) => Ok((Some(node.to_owned()), room(number)?)),
        None => Ok((None, room(words)?)),
    }
}

pub(super) fn more(text: &str) -> Result<u64, String> {
    let number = text.strip_prefix('+').unwrap_or(text);
    // The standard parser would take a second plus for a sign.
    let digits = if number.starts_with('+') { "" } else { number };
    digits
        .parse()
        .ok()
        .filter(|minutes| *minutes > 0)
        .ok_or_else(|| String::from("expected a number from 1 on"))
}

/// In millionths.
pub(super) fn more_money(text: &str) -> Result<u64, String> {
    let amount = text.strip_prefix('+').unwrap_or(text);
    micros(amount)
        .filter(|micros| *micros > 0)
        .ok_or_else(|| String::from("expected an amount above 0 such as 1.50"))
}

pub(crate) async fn run(args: ResumeArgs, control: &dyn Control, output: &mut Output) -> Result<u8, Fault> {
    match args.run.clone() {
        Some(run) => {
            let ended = resume(&args, run, control, output).await?;
            Ok(outcome::show(&ended, output))
        }
        None => resume_all(&args, control, output).await,
    }
}

/// One after the other; a run that cannot be resumed does not keep the others waiting, a person who interrupts one means
/// all of them.
async fn resume_all(args: &ResumeArgs, control: &dyn Control, output: &mut Output) -> Result<u8, Fault> {
    let interrupted = control.interrupted().await?;
    if interrupted.is_empty() {
        output.talk("nothing to resume");
    }
    let mut worst = exit_codes::ACCEPTED;
    let mut waiting = interrupted.into_iter();
    while let Some(line) = waiting.next() {
        let code = match resume(args, line.run, control, output).await {
            Ok(ended) => {
                if ended.status == Status::Interrupted {
                    leave(waiting.by_ref().map(|line| line.run).collect(), output);
                }
                outcome::show(&ended, output)
            }
            Err(fault) => {
                output.fault(&fault);
                fault.code.exit_code()
            }
        };
        if worst == exit_codes::ACCEPTED {
            worst = code;
        }
    }
    Ok(worst)
}

fn leave(runs: Vec<String>, output: &mut Output) {
    if !runs.is_empty() {
        output.talk(format!("not taken up: {}", runs.join(", ")));
    }
}

async fn resume(
    args: &ResumeArgs,
    run: String,
    control: &dyn Control,
    output: &mut Output,
) -> Result<RunOutcome, Fault> {
    let command = meant(args, run, control).await?;
    let view = LiveView::new(output, Story::Talk);
    let ended = control.resume(command, &view).await;
    drop(view);
    ended
}

async fn meant(args: &ResumeArgs, run: String, control: &dyn Control) -> Result<ResumeRun, Fault> {
    let directory = Path::new(&run).is_dir();
    refuse_kept(args, &run, directory, control).await?;
    let more_rounds = match args.rounds {
        Some(Room::More(more)) => more,
        Some(Room::InAll(all)) => match control.show(&run, None).await {
            Ok(view) => all.saturating_sub(view.line.rounds.unwrap_or(u32::MAX)),
            // A directory of the original is told the number in all, with its other flags.
            Err(_) if directory => 0,
            Err(fault) => return Err(fault),
        },
        None => 0,
    };
    // Without the rounds nothing was said about the flags, and what was not said must not be guessed.
    let legacy = match args.rounds {
        Some(Room::InAll(rounds)) if directory => Some(flags_given_again(args, rounds)?),
        _ => None,
    };
    Ok(ResumeRun {
        run: if directory { absolute(Path::new(&run))?.to_string_lossy().into_owned() } else { run },
        more_rounds,
        more_minutes: args.minutes.unwrap_or(0),
        more_tokens: args.tokens.unwrap_or(0),
        more_cost_micros: args.money.unwrap_or(0),
        more_output_bytes: args.output_mb.unwrap_or(0).saturating_mul(MEGABYTE),
        note: args.note.clone(),
        iterations: args.max_iterations.clone(),
        steady_limit: args.patience,
        legacy,
        yes: args.yes,
        wait: args.wait,
    })
}

/// Flags that do not belong to the run's loop, or that no run can be given later.
async fn refuse_kept(
    args: &ResumeArgs,
    run: &str,
    directory: bool,
    control: &dyn Control,
) -> Result<(), Fault> {
    let mut given = args.work.flags_given();
    given.extend(args.id.is_some().then(|| String::from("--id")));
    // Looking at a run reads all of its facts, and going on with it reads them again.
    if given.is_empty() {
        return Ok(());
    }
    let ours = control.show(run, None).await;
    let fault = match ours {
        Ok(view) if view.line.kind == LoopKind::Control && !given.is_empty() => {
            let belongs = if given.len() == 1 { "belongs" } else { "belong" };
            let message =
                format!("{} {belongs} to the task loop, and this run is a control loop", given.join(", "));
            Fault::new(Code::BadArgument, message)
                .hint(
                    "a control loop can be given `--max-iterations`, `--patience`, more room and a `--note`",
                )
                .hint("one with other agents or sensors is started anew with `windlass control run`")
        }
        ours if !args.work.given().is_empty() && (!directory || ours.is_ok()) => {
            Fault::new(Code::BadArgument, "a run keeps the agents and checks it was started with")
                .hint("leave these flags out; they count only for a run directory of the original")
                .hint("a run that was given the wrong agent is started anew with `windlass run`")
        }
        _ => return Ok(()),
    };
    Err(fault.kept("nothing was changed"))
}

/// The repository stays open: the run directory itself names it.
fn flags_given_again(args: &ResumeArgs, rounds: u32) -> Result<StartRun, Fault> {
    let mut settings = args.work.given();
    number(&mut settings, "rounds", Some(u64::from(rounds)));
    number(&mut settings, "max-minutes", args.minutes);
    Ok(StartRun {
        directory: absolute(Path::new("."))?,
        task_id: args.id.clone(),
        settings,
        yes: args.yes,
        ..StartRun::default()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_plus_adds_rounds_and_a_bare_number_sets_them() {
        assert_eq!((room("+2"), room("5")), (Ok(Room::More(2)), Ok(Room::InAll(5))));
        assert_eq!(iterations("inner=+2"), Ok((Some("inner".to_owned()), Room::More(2))));
        for wrong in ["", "+", "0", "+0", "-1", "++2", "two"] {
            assert!(room(wrong).is_err() && iterations(&format!("inner={wrong}")).is_err(), "{wrong}");
        }
        assert!(iterations("=2").is_err());
        assert_eq!(more("+30"), Ok(30));
        assert_eq!((more_money("+1.50"), more_money("2")), (Ok(1_500_000), Ok(2_000_000)));
        for wrong in ["0", "", "+", "++2", "-1", "1,5"] {
            assert!(more_money(wrong).is_err(), "{wrong}");
        }
        for wrong in ["0", "", "+", "++2", "-1"] {
            assert!(more(wrong).is_err(), "{wrong}");
        }
    }
}
