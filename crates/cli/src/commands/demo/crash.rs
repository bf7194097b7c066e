//! `windlass demo --crash`: a second engine is killed while an agent works; the agent goes on, this engine takes over,
//! and no step is done twice. Synchronised by files the agent writes and waits for, never by time.

use super::narration::{landed, say, step};
use super::{Stage, must_be_landed, scripts};
use crate::commands::scratch_repository::file_fault;
use crate::output::{LiveView, Output, Story};
use rustix::process::{Pid, Signal, kill_process};
use std::collections::BTreeSet;
use std::time::Duration;
use windlass_control_api::commands::ResumeRun;
use windlass_control_api::events::{Event, Watcher};
use windlass_control_api::views::{RunLine, RunOutcome};
use windlass_control_api::{Code, Control, Fault};
use windlass_process_supervisor::{
    DetachedCommand, DetachedGroup, DetachedStdio, ProcessIdentity, spawn_detached,
};

const ENGINE_LOG: &str = "first-engine.log";
const PATIENCE: Duration = Duration::from_secs(30);
const BETWEEN_LOOKS: Duration = Duration::from_millis(10);

pub(super) async fn play(
    stage: &Stage,
    control: &dyn Control,
    output: &mut Output,
) -> Result<RunOutcome, Fault> {
    step(output, "The run begins in an engine of its own");
    let engine = start_engine(stage)?;
    let agent = agent_at_work(stage, &engine).await?;
    kill(&engine)?;
    until(stage, "the killed engine to be gone", || (!engine.is_alive()).then_some(())).await?;
    let run = interrupted_run(stage, control).await?;
    show_facts(&run.run, control, output).await?;

    step(output, "SIGKILL, in the middle of the doer's second step");
    say(output, &format!("The engine (process {}) is dead. It could clean up nothing.", engine.pid));
    if !agent.is_alive() {
        return Err(Fault::new(Code::Bug, format!("the agent (process {}) died with the engine", agent.pid)));
    }
    say(
        output,
        &format!("The agent (process {}) is still at work; its keeper will note how it ends.", agent.pid),
    );
    say(output, &format!("The run is now `{}`: {}", run.status.word(), run.now));
    let go_on = stage.shared(scripts::GO_ON_FILE);
    std::fs::write(&go_on, "").map_err(|error| file_fault("write", &go_on, &error))?;

    step(output, "Resume: a new engine takes over from the journal");
    let view = LiveView::new(output, Story::Data);
    let ended = control.resume(ResumeRun { run: run.run, ..ResumeRun::default() }, &view).await;
    drop(view);
    let outcome = ended?;
    must_be_landed(&outcome, stage)?;
    step(output, "What happened");
    show_steps(stage, output)?;
    landed(&outcome, output);
    Ok(outcome)
}

/// `windlass run …`, exactly as a user would type it.
fn start_engine(stage: &Stage) -> Result<ProcessIdentity, Fault> {
    let rounds = scripts::ROUNDS.to_string();
    let repository = stage.repository();
    let agent = stage.agent();
    let words = ["run", scripts::TASK, "--id", scripts::TASK_ID, "--rounds", &rounds, "--agent", &agent];
    let checks = ["--check", scripts::CHECK, "--audit-check", scripts::AUDIT_CHECK, "--land", "branch"];
    let command = DetachedCommand {
        program: stage.program().to_owned(),
        args: words.iter().chain(&checks).map(Into::into).collect(),
        directory: repository,
        environment: stage.environment().clone(),
        stdin: DetachedStdio::Null,
        stdout: DetachedStdio::File(stage.root().join(ENGINE_LOG)),
        stderr: DetachedStdio::File(stage.root().join(ENGINE_LOG)),
        group: DetachedGroup::Own,
    };
    spawn_detached(&command)
        .map_err(|error| Fault::new(Code::Supervisor, format!("cannot start a second engine: {error}")))
}

/// Waits until the doer of the second round has said who it is.
async fn agent_at_work(stage: &Stage, engine: &ProcessIdentity) -> Result<ProcessIdentity, Fault> {
    let file = stage.shared(scripts::AGENT_PID_FILE);
    let said = || {
        // Without its line end the number may be half-written.
        let pid = std::fs::read_to_string(&file).ok()?.strip_suffix('\n')?.parse().ok()?;
        Some(ProcessIdentity::of(pid).ok())
    };
    let found =
        until(stage, "the doer's second step", || said().or_else(|| (!engine.is_alive()).then_some(None)))
            .await?;
    found.ok_or_else(|| {
        let log = std::fs::read_to_string(stage.root().join(ENGINE_LOG)).unwrap_or_default();
        Fault::new(Code::Bug, format!("the engine ended before it could be killed: {}", log.trim()))
    })
}

fn kill(engine: &ProcessIdentity) -> Result<(), Fault> {
    let pid = i32::try_from(engine.pid).ok().and_then(Pid::from_raw);
    let failed =
        |why: String| Fault::new(Code::Supervisor, format!("cannot kill process {}: {why}", engine.pid));
    let pid = pid.ok_or_else(|| failed(String::from("that is no process id")))?;
    kill_process(pid, Signal::KILL).map_err(|error| failed(error.to_string()))
}

async fn interrupted_run(stage: &Stage, control: &dyn Control) -> Result<RunLine, Fault> {
    control.interrupted().await?.into_iter().next().ok_or_else(|| {
        Fault::new(Code::Bug, "the killed engine's run is not among the interrupted ones")
            .kept(format!("everything it did is in {}", stage.root().display()))
    })
}

/// What the journal knows is shown as if it were happening.
async fn show_facts(run: &str, control: &dyn Control, output: &mut Output) -> Result<(), Fault> {
    let log = control.log(run, 0).await?;
    let view = LiveView::new(output, Story::Data);
    for entry in log.entries {
        view.hear(&Event::Fact(entry));
    }
    Ok(())
}

fn show_steps(stage: &Stage, output: &mut Output) -> Result<(), Fault> {
    let file = stage.shared(scripts::STEPS_FILE);
    let text = std::fs::read_to_string(&file).map_err(|error| file_fault("read", &file, &error))?;
    let steps: Vec<&str> = text.lines().collect();
    let distinct: BTreeSet<&str> = steps.iter().copied().collect();
    if distinct.len() != steps.len() {
        return Err(Fault::new(Code::Bug, format!("an agent step was done twice: {}", steps.join(", "))));
    }
    say(output, "Every agent notes its role, round and attempt when it starts:");
    for step in &steps {
        say(output, &format!("  {step}"));
    }
    say(
        output,
        &format!(
            "{} steps, each of them once. Nothing was lost and nothing was paid for twice.",
            steps.len()
        ),
    );
    Ok(())
}

/// Looks again and again until there is an answer; a demo that hangs would tell nothing.
async fn until<T>(stage: &Stage, what: &str, mut look: impl FnMut() -> Option<T>) -> Result<T, Fault> {
    let looking = async {
        loop {
            if let Some(found) = look() {
                return found;
            }
            tokio::time::sleep(BETWEEN_LOOKS).await;
        }
    };
    tokio::time::timeout(PATIENCE, looking).await.map_err(|_| {
        Fault::new(Code::Bug, format!("waited {} seconds in vain for {what}", PATIENCE.as_secs()))
            .kept(format!("everything is in {}", stage.root().display()))
    })
}
