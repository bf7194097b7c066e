//! `windlass demo`: a small real repository, scripted agents and the real engine, told as a story. Everything happens in
//! a directory of its own with a journal of its own, which stays so that the evidence can be looked at.

mod control;
mod control_scripts;
mod crash;
mod goal;
mod goal_scripts;
mod narration;
mod roadmap;
mod roadmap_scripts;
mod scripts;
mod stage;
mod stories;
mod stories_scripts;

pub(crate) use stage::Stage;

use crate::output::{LiveView, Output, Story, printable};
use clap::{Args, ValueEnum};
use narration::{say, show_commands, step};
use std::path::{Path, PathBuf};
use windlass_control_api::views::{RunOutcome, Status};
use windlass_control_api::{Code, Control, Fault, exit_codes};

/// See the whole thing in a few seconds, without any key
///
/// Makes a small repository with a failing test and plays a run with scripted agents: the first attempt is rejected by
/// the engine's own check, the second is accepted, audited and landed. `control` plays two control loops instead: one
/// converges, one goes in circles and is stopped. `goal` builds a queue of three items within a contract. `roadmap`
/// works through three milestones in four rounds. `stories` finishes an epic of five stories with one sent back. Ends with the commands to look at the evidence.
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  windlass demo
  windlass demo --crash
  windlass demo --cheat
  windlass demo control
  windlass demo goal
  windlass demo roadmap
  windlass demo stories
  windlass demo --keep /tmp/windlass-demo")]
pub(crate) struct DemoArgs {
    /// Which loop to show
    #[arg(value_name = "LOOP", default_value = "task")]
    shown: Shown,
    /// Kill the engine with SIGKILL in the middle of an agent's work, and resume
    #[arg(long, conflicts_with = "cheat")]
    crash: bool,
    /// Let the doer write its own verdict, and see it caught
    #[arg(long)]
    cheat: bool,
    /// Play in this directory, which must be empty or new; a temporary one if not given
    #[arg(long, value_name = "DIR")]
    keep: Option<PathBuf>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Shown {
    /// Doer, judge and auditor
    Task,
    /// Sensors, controller and actuator
    Control,
    /// Builder and evaluator within a contract
    Goal,
    /// Planner, implementer and reviewer over milestones
    Roadmap,
    /// Implementers and a reviewer over a queue of stories
    Stories,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Play {
    TwoRounds,
    Crash,
    Cheat,
    Control,
    Goal,
    Roadmap,
    Stories,
}

impl DemoArgs {
    /// The flags are of the task loop's demo.
    fn play(&self) -> Result<Play, Fault> {
        match (self.shown, self.crash, self.cheat) {
            (Shown::Control, false, false) => Ok(Play::Control),
            (Shown::Goal, false, false) => Ok(Play::Goal),
            (Shown::Roadmap, false, false) => Ok(Play::Roadmap),
            (Shown::Stories, false, false) => Ok(Play::Stories),
            (Shown::Control | Shown::Goal | Shown::Roadmap | Shown::Stories, ..) => {
                let fault = Fault::new(Code::BadArgument, "this demo is played in one way only");
                Err(fault.hint("leave `--crash` and `--cheat` out"))
            }
            (Shown::Task, true, _) => Ok(Play::Crash),
            (Shown::Task, false, true) => Ok(Play::Cheat),
            (Shown::Task, false, false) => Ok(Play::TwoRounds),
        }
    }
}

pub(crate) async fn run(
    args: &DemoArgs,
    stage: &Stage,
    control: &dyn Control,
    output: &mut Output,
) -> Result<u8, Fault> {
    let play = args.play()?;
    let of_task = !matches!(play, Play::Control | Play::Goal | Play::Roadmap | Play::Stories);
    if of_task {
        introduce(stage, output);
    }
    let outcome = match play {
        Play::TwoRounds => two_rounds(stage, control, output).await?,
        Play::Crash => crash::play(stage, control, output).await?,
        Play::Cheat => cheat(stage, control, output).await?,
        Play::Control => control::play(stage, control, output).await?,
        Play::Goal => goal::play(stage, control, output).await?,
        Play::Roadmap => roadmap::play(stage, control, output).await?,
        Play::Stories => return stories::play(stage, control, output).await,
    };
    if of_task {
        show_commands(stage, &outcome, output);
    }
    if output.is_json() {
        output.json_line(&outcome);
    }
    Ok(exit_codes::ACCEPTED)
}

fn introduce(stage: &Stage, output: &mut Output) {
    say(output, &format!("A small repository with a failing test, in {}", stage.repository().display()));
    say(output, &format!("  the task   {}", scripts::TASK));
    say(
        output,
        &format!(
            "  the check  {}   (run by the engine; no agent is asked whether it passed)",
            scripts::CHECK
        ),
    );
}

async fn two_rounds(stage: &Stage, control: &dyn Control, output: &mut Output) -> Result<RunOutcome, Fault> {
    step(output, "The run: a doer that claims its tests pass, a judge and an auditor that like everything");
    let view = LiveView::new(output, Story::Data);
    let ended = control.start(stage.start(scripts::ROUNDS), &view).await;
    drop(view);
    let outcome = ended?;
    must_be_landed(&outcome, stage)?;
    step(output, "What happened");
    say(
        output,
        "The first attempt claimed that all tests pass. The engine ran the check itself and saw it fail: rejected,",
    );
    say(
        output,
        "whatever anybody says. The second is green, was judged, audited, and is a commit of exactly that tree:",
    );
    narration::landed(&outcome, output);
    Ok(outcome)
}

async fn cheat(stage: &Stage, control: &dyn Control, output: &mut Output) -> Result<RunOutcome, Fault> {
    step(
        output,
        "The run: a doer that knows the test's questions and writes the verdict and the audit itself",
    );
    let view = LiveView::new(output, Story::Data);
    let ended = control.start(stage.start(1), &view).await;
    drop(view);
    let outcome = ended?;
    if outcome.status == Status::Accepted || outcome.landed.is_some() {
        return Err(not_as_told(&outcome, stage, "the forged verdict was believed"));
    }
    step(output, "What happened");
    let lines = [
        "The check is green, because the doer had read it. It also left a verdict and an audit that say `pass`,",
        "in its outbox and in the round's folder. Each role has an outbox of its own and only the engine writes",
        "the record, so the forgeries decided nothing: the judge, who works on its own, said no.",
    ];
    for line in lines {
        say(output, line);
    }
    say(output, &format!("  judge          {}", outcome.judge_verdict));
    say(output, &format!("  audit          {}", outcome.audit_gate));
    say(output, &format!("  final verdict  {}", outcome.final_verdict));
    say(output, &format!("  verdict.json   {}", recorded_verdict(&outcome)));
    Ok(outcome)
}

/// What stands in the round's folder now, where the doer had put its own.
fn recorded_verdict(outcome: &RunOutcome) -> String {
    let file = Path::new(&outcome.run_dir).join("rounds/round-1/verdict.json");
    let text = std::fs::read_to_string(&file).unwrap_or_default();
    let verdict: serde_json::Value = serde_json::from_str(&text).unwrap_or_default();
    let word = verdict["verdict"].as_str().unwrap_or("unreadable");
    format!("{} (in {})", printable(word), file.display())
}

fn must_be_landed(outcome: &RunOutcome, stage: &Stage) -> Result<(), Fault> {
    if outcome.status == Status::Accepted && outcome.landed.is_some() && outcome.rounds_completed == 2 {
        return Ok(());
    }
    Err(not_as_told(outcome, stage, "the second attempt should have been accepted and landed"))
}

fn not_as_told(outcome: &RunOutcome, stage: &Stage, expected: &str) -> Fault {
    let came = format!(
        "{}, {} rounds, {}",
        outcome.status.word(),
        outcome.rounds_completed,
        outcome.explanation.now
    );
    Fault::new(Code::Bug, format!("the demo did not go as told: {expected}, but the run came to: {came}"))
        .kept(format!("everything it did is in {}", stage.root().display()))
        .hint(format!("look at it with `{} log {} --all`", stage.windlass(), outcome.run))
}
