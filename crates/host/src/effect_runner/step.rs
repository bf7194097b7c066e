//! What agent steps and checks have in common: one child under a keeper, found again after a restart, and the words a
//! decision uses for its end.

use super::Telling;
use super::listen::Watch;
use crate::clock::SystemClock;
use crate::context::RunContext;
use crate::durable_file::ensure;
use crate::fault::{bug, no_room, no_thread, supervisor_fault};
use std::path::{Path, PathBuf};
use std::time::Duration;
use tokio::sync::watch;
use windlass_control_api::{Code, Fault};
use windlass_engine::Clock;
use windlass_process_supervisor::{
    ChildEnd, ChildSpec, EndedBy, Found, HowEnded, KeptChild, NotStartedKind, Secrets, aside, forget, start,
    sweep,
};
use windlass_protocols::effect::StepLimits;
use windlass_protocols::outcome::{StepEnd, Trouble, Usage};
use windlass_protocols::{EffectId, Millis};

/// What everything under way is told, from the moment it is told.
pub(super) type Told = watch::Receiver<Option<Telling>>;

/// Left in a step's directory before its child is told to end.
const STOP_MARK: &str = "stop-asked";
/// Left there before a child is ended because of what it said.
const ENDED_FOR: &str = "ended-for";
/// How often an agent at work is listened to.
const LOOK: Duration = Duration::from_millis(100);
const TERM: i32 = 15;

/// Sealed logs are bounded by the supervisor already; this is what may be quoted of them.
const TAIL_LINES: usize = 20;
const TAIL_BYTES: usize = 4096;
const LAST_WORDS_LINES: usize = 10;
const LAST_WORDS_BYTES: usize = 2048;

pub(super) async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, Fault> + Send + 'static,
) -> Result<T, Fault> {
    aside(work).map_err(|error| no_thread("a step", &error))?.done().await
}

/// Runs a child to its end under the keeper of this directory, whoever started it.
///
/// `prepare` is called only when no keeper ever came to the point of starting it. `None` when it was never started
/// because everything is told to end. One for which the machine had no room is a fault, and started when it is asked for
/// again.
pub(super) async fn child_in(
    context: &RunContext,
    directory: PathBuf,
    telling: (Told, Option<Watch>),
    prepare: impl FnOnce() -> Result<(ChildSpec, Secrets), Fault> + Send + 'static,
) -> Result<Option<ChildEnd>, Fault> {
    let end = end_of_child(context, directory.clone(), telling, prepare).await?;
    if let Some(ChildEnd { how: HowEnded::NotStarted { reason, why: NotStartedKind::NoRoom }, .. }) = &end {
        forget(&directory).map_err(supervisor_fault)?;
        return Err(no_room(reason.clone()));
    }
    Ok(end)
}

async fn end_of_child(
    context: &RunContext,
    directory: PathBuf,
    (mut told, watch): (Told, Option<Watch>),
    prepare: impl FnOnce() -> Result<(ChildSpec, Secrets), Fault> + Send + 'static,
) -> Result<Option<ChildEnd>, Fault> {
    let found = windlass_process_supervisor::find(&directory).map_err(supervisor_fault)?;
    let mut child = match found {
        Found::Ended(end) => return Ok(Some(end)),
        Found::Orphaned => {
            return blocking(move || sweep(&directory).map(Some).map_err(supervisor_fault)).await;
        }
        Found::Running(child) => child,
        Found::NotStarted => {
            let mut keeper = context.keeper();
            let told = told.clone();
            let started = blocking(move || {
                if told.borrow().is_some() {
                    return Ok(None);
                }
                let (spec, secrets) = prepare()?;
                keeper.environment.extend(secrets);
                // Preparing takes its time with git, and the user may have changed their mind meanwhile.
                if told.borrow().is_some() {
                    return Ok(None);
                }
                windlass_crash_points::reach("spawn.before");
                let child = start(&keeper, &directory, &spec).map_err(supervisor_fault)?;
                windlass_crash_points::reach("spawn.after");
                Ok(Some(child))
            });
            match started.await? {
                Some(child) => child,
                None => return Ok(None),
            }
        }
    };
    until_the_end(&mut child, &mut told, watch).await.map(Some)
}

/// As [`child_in`], for a command. What it prints is what its tests are counted by, so that one whose output could not be
/// kept has not been run: it is a fault, and the next one who asks runs it again.
pub(super) async fn command_in(
    context: &RunContext,
    directory: PathBuf,
    told: Told,
    prepare: impl FnOnce() -> Result<(ChildSpec, Secrets), Fault> + Send + 'static,
) -> Result<Option<ChildEnd>, Fault> {
    let found = windlass_process_supervisor::find(&directory).map_err(supervisor_fault)?;
    if let Found::Ended(end) = found
        && lost_output(&end, &directory).is_some()
    {
        forget(&directory).map_err(supervisor_fault)?;
    }
    let end = child_in(context, directory.clone(), (told, None), prepare).await?;
    match end.as_ref().and_then(|end| lost_output(end, &directory)) {
        None => Ok(end),
        Some(why) => Err(Fault::new(
            Code::FileSystem,
            format!("cannot keep what a command printed in {}: {why}", directory.display()),
        )
        .kept("everything recorded so far; what the command said counts for nothing")
        .hint("mend what the message names, then `windlass resume RUN` runs the command again")),
    }
}

/// Why what a command printed is not all there, where that matters.
pub(super) fn lost_output<'a>(end: &'a ChildEnd, directory: &Path) -> Option<&'a str> {
    let counts = matches!(count(end, directory), Counted::Ended(_));
    end.output_lost.as_deref().filter(|_| counts)
}

/// Why we ended a child, left where whoever concludes finds it.
fn end_for(child: &KeptChild, trouble: &Trouble) -> Result<(), Fault> {
    let text = serde_json::to_vec(trouble).map_err(|error| bug(format!("a reason to end: {error}")))?;
    ensure(&child.effect_dir().join(ENDED_FOR), &text)?;
    child.stop().map_err(supervisor_fault)
}

/// Why we ended this child, if we did.
pub(super) fn ended_for(end: &ChildEnd, directory: &Path) -> Option<Trouble> {
    end.ended_by.filter(|by| *by == EndedBy::StopRequest)?;
    serde_json::from_slice(&std::fs::read(directory.join(ENDED_FOR)).ok()?).ok()
}

/// Waits, and passes on to the child what the run is told meanwhile, or was told while the child was being started.
async fn until_the_end(
    child: &mut KeptChild,
    told: &mut Told,
    mut watch: Option<Watch>,
) -> Result<ChildEnd, Fault> {
    told.mark_changed();
    let mut look = tokio::time::interval(LOOK);
    look.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Skip);
    loop {
        tokio::select! {
            _ = look.tick(), if watch.is_some() => {
                if let Some(trouble) = watch.as_mut().and_then(Watch::look) {
                    end_for(child, &trouble)?;
                    watch = None;
                }
            }
            end = child.wait() => return end.map_err(supervisor_fault),
            changed = told.changed() => {
                let how = *told.borrow_and_update();
                if how.is_some() {
                    // Without this mark a stop was not ours: an agent can signal its keeper too.
                    ensure(&child.effect_dir().join(STOP_MARK), b"")?;
                }
                match how {
                    Some(Telling::Stop) => child.stop().map_err(supervisor_fault)?,
                    Some(Telling::Kill) => child.kill().map_err(supervisor_fault)?,
                    None => {}
                }
                if changed.is_err() {
                    // Whoever could tell us something is gone; what is left is the child's own limits.
                    return child.wait().await.map_err(supervisor_fault);
                }
            }
        }
    }
}

/// How a child's end counts: for the decision, as an interruption by a person, or as nobody-knows.
pub(super) enum Counted {
    Ended(StepEnd),
    Interrupted,
    Lost(String),
}

pub(super) fn count(end: &ChildEnd, directory: &Path) -> Counted {
    match (&end.how, end.ended_by) {
        (HowEnded::Lost { reason }, _) => Counted::Lost(reason.clone()),
        (HowEnded::NotStarted { reason, .. }, _) => {
            Counted::Ended(StepEnd::NotStarted { reason: reason.clone() })
        }
        (_, Some(EndedBy::StopRequest)) if directory.join(STOP_MARK).is_file() => Counted::Interrupted,
        (_, Some(EndedBy::StopRequest)) => Counted::Ended(StepEnd::Signaled { signal: TERM }),
        (_, Some(EndedBy::TotalLimit)) => Counted::Ended(StepEnd::TotalLimit),
        (_, Some(EndedBy::IdleLimit)) => Counted::Ended(StepEnd::IdleLimit),
        (_, Some(EndedBy::OutputLimit)) => Counted::Ended(StepEnd::OutputLimit),
        (_, Some(EndedBy::MemoryLimit)) => Counted::Ended(StepEnd::MemoryLimit),
        (_, Some(EndedBy::ProcessLimit)) => Counted::Ended(StepEnd::ProcessLimit),
        (HowEnded::Exited { code }, None) => Counted::Ended(StepEnd::Exited { code: *code }),
        (HowEnded::Signaled { signal }, None) => Counted::Ended(StepEnd::Signaled { signal: *signal }),
    }
}

pub(super) fn usage(end: &ChildEnd, limits: StepLimits) -> Usage {
    let duration = match end.how {
        // Nobody saw it end, so it is charged for as long as it can have run: a cap must hold for lost steps too.
        HowEnded::Lost { .. } if end.started_ms > 0 => {
            SystemClock.now().0.saturating_sub(end.started_ms).min(limits.total.0)
        }
        _ => end.duration_ms,
    };
    Usage {
        duration: Millis(duration),
        output_bytes: end.stdout_bytes.saturating_add(end.stderr_bytes),
        held_by: match end.how {
            HowEnded::NotStarted { .. } => None,
            HowEnded::Exited { .. } | HowEnded::Signaled { .. } | HowEnded::Lost { .. } => {
                Some(crate::fence::held_by(end.sandbox))
            }
        },
        ..Usage::default()
    }
}

/// The directories in which children of this effect live or lived.
pub(super) fn directories(context: &RunContext, effect: EffectId) -> Vec<PathBuf> {
    let own = context.state.effect(&context.run, effect);
    let parts = (0..).map(|part| context.state.effect_part(&context.run, effect, part));
    let mut directories: Vec<PathBuf> = parts.take_while(|part| part.is_dir()).collect();
    directories.insert(0, own);
    directories
}

/// Both streams, one after the other, as whole lines.
pub(super) fn printed(directory: &Path) -> Vec<u8> {
    let mut printed = log(directory, "stdout.log");
    let errors = log(directory, "stderr.log");
    if !errors.is_empty() && !printed.is_empty() && !printed.ends_with(b"\n") {
        printed.push(b'\n');
    }
    printed.extend(errors);
    printed
}

/// What was kept of a stream; an absent log is an empty one.
pub(super) fn log(directory: &Path, name: &str) -> Vec<u8> {
    std::fs::read(directory.join(name)).unwrap_or_default()
}

/// The last words of both streams, for feedback.
pub(super) fn tail(directory: &Path) -> String {
    let mut text = String::from_utf8_lossy(&log(directory, "stdout.log")).into_owned();
    let errors = log(directory, "stderr.log");
    if !errors.is_empty() {
        if !text.is_empty() && !text.ends_with('\n') {
            text.push('\n');
        }
        text.push_str(&String::from_utf8_lossy(&errors));
    }
    shown(&text, TAIL_LINES, TAIL_BYTES)
}

/// What a failed agent said last: its errors, or what else it printed where there are none.
pub(super) fn last_words(directory: &Path) -> String {
    let errors = log(directory, "stderr.log");
    let said = if errors.trim_ascii().is_empty() { log(directory, "stdout.log") } else { errors };
    shown(&String::from_utf8_lossy(&said), LAST_WORDS_LINES, LAST_WORDS_BYTES)
}

fn shown(text: &str, lines: usize, bytes: usize) -> String {
    let printable: String = text.chars().filter(|c| !c.is_control() || *c == '\n' || *c == '\t').collect();
    windlass_artifact_formats::task_loop::last_lines(&printable, lines, bytes)
}
