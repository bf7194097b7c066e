//! The ways back into a run: go on where it stopped, take an ended one up again, stop it, land what it made.

use super::start::{drive, hold_repository, hold_run, released};
use super::task_spec::free_branch;
use super::{find, legacy};
use crate::clock::SystemClock;
use crate::drive::{Driver, StopMessage};
use crate::fault::{bug, journal_fault};
use crate::holder::Owner;
use crate::host::Host;
use std::path::Path;
use std::sync::Arc;
use windlass_control_api::commands::{LandRun, LandingPlace, ResumeRun, StopRun};
use windlass_control_api::events::{Event, Watcher};
use windlass_control_api::views::{RunLine, RunOutcome};
use windlass_control_api::{Code, Fault};
use windlass_engine::{Clock, Journal};
use windlass_protocols::kernel::budget::CapChange;
use windlass_protocols::protocol::judged_task::spec::Landing;
use windlass_protocols::{Actor, Millis, Observation};

pub(crate) async fn resume(
    host: &Host,
    command: ResumeRun,
    watcher: &dyn Watcher,
) -> Result<RunOutcome, Fault> {
    let known = find::run(host, &command.run).await;
    let (head, _, run) = match known {
        Err(fault) if fault.code == Code::UnknownRun && legacy::looks_like_one(Path::new(&command.run)) => {
            return legacy::take_over(host, command, watcher).await;
        }
        known => known?,
    };
    let state = find::task(&run)?;
    let context = find::context(host, &head.run, state)?;
    let first = reopening(host, &command, run.ended)?;
    let owner = Owner::this_process(head.run.as_str(), &format!("windlass resume {}", state.spec.task))?;
    let lease = hold_repository(host, &state.spec, &owner, false, watcher).await?;
    watcher.hear(&Event::Started {
        run: head.run.to_string(),
        task: state.spec.task.to_string(),
        run_dir: state.spec.place.run_dir.clone(),
    });
    let outcome = drive(host, context, &owner, watcher, first).await;
    released(host, &lease, outcome).await
}

/// An ended run is taken up again; an unfinished one just goes on, and has no use for more room yet.
fn reopening(host: &Host, command: &ResumeRun, ended: bool) -> Result<Option<(Actor, Observation)>, Fault> {
    let caps = CapChange {
        more_rounds: command.more_rounds,
        more_time: Millis::minutes(command.more_minutes),
        more_tokens: command.more_tokens,
        more_cost_micros: command.more_cost_micros,
        more_output_bytes: command.more_output_bytes,
    };
    let asks_for_more = caps != CapChange::default() || command.note.is_some();
    match (ended, asks_for_more) {
        (true, _) => {
            let observation = Observation::Reopened { caps, note: command.note.clone() };
            Ok(Some((Actor::Human(host.person()), observation)))
        }
        (false, false) => Ok(None),
        (false, true) => Err(Fault::new(
            Code::NotAllowedNow,
            "the run has not ended; more room and notes are given to an ended run",
        )
        .hint("resume it without them")),
    }
}

pub(crate) async fn stop(host: &Host, command: StopRun) -> Result<RunLine, Fault> {
    let (head, _, run) = find::run(host, &command.run).await?;
    if run.ended {
        return Err(Fault::new(Code::NotAllowedNow, format!("run {} has ended already", head.run)));
    }
    let by = host.person();
    if find::driver_of(host, &head.run).await?.is_some() {
        let message = StopMessage { stop: command.reason, by };
        let body = serde_json::to_string(&message).map_err(|error| bug(error.to_string()))?;
        host.journal.post(&head.run, &body, SystemClock.now()).await.map_err(journal_fault)?;
        return find::line(host, &head).await;
    }
    let state = find::task(&run)?;
    let context = find::context(host, &head.run, state)?;
    let owner = Owner::this_process(head.run.as_str(), "windlass stop")?;
    let silence = Silence;
    let lease = hold_run(host, &head.run, &owner).await?;
    let stopped = async {
        let context = Arc::new(context);
        let mut driver = Driver::open_to_stop(context, host.journal.clone(), lease.clone(), &silence).await?;
        driver.stop(Actor::Human(by), command.reason).await?;
        driver.go_to_the_end().await
    };
    released(host, &lease, stopped.await).await?;
    find::line(host, &find::head(host, head.run.as_str()).await?).await
}

pub(crate) async fn land(host: &Host, command: LandRun, watcher: &dyn Watcher) -> Result<RunOutcome, Fault> {
    let (head, _, run) = find::run(host, &command.run).await?;
    let state = find::task(&run)?;
    let context = find::context(host, &head.run, state)?;
    let owner = Owner::this_process(head.run.as_str(), &format!("windlass land {}", state.spec.task))?;
    let lease = hold_repository(host, &state.spec, &owner, false, watcher).await?;
    let landing = match &command.place {
        LandingPlace::Current => Landing::Current,
        LandingPlace::Branch(Some(name)) => Landing::Branch(name.clone()),
        LandingPlace::Branch(None) => {
            Landing::Branch(free_branch(&context.repository, state.spec.task.as_str())?)
        }
    };
    let first = (Actor::Human(host.person()), Observation::LandingRequested { landing });
    let outcome = drive(host, context, &owner, watcher, Some(first)).await;
    released(host, &lease, outcome).await
}

struct Silence;

impl Watcher for Silence {
    fn hear(&self, _event: &Event) {}
}
