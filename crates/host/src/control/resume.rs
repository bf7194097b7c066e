//! The ways back into a run: go on where it stopped, take an ended one up again, stop it, land what it made.

use super::roadmap_loop::{overtake, superseded};
use super::start::{drive, hold_run, may_wait, released};
use super::task_spec::free_branch;
use super::{control_loop, find, legacy};
use crate::clock::SystemClock;
use crate::context::RunContext;
use crate::drive::{Aim, Driver, Hands, StopMessage};
use crate::effect_runner::restore_worktrees;
use crate::fault::{bug, engine_fault, git_fault, journal_fault};
use crate::holder::{HeldRepository, IfHeld, Owner, hold_repository};
use crate::host::Host;
use crate::past::Past;
use std::path::Path;
use std::sync::Arc;
use windlass_control_api::commands::{LandRun, LandingPlace, ResumeRun, StopRun};
use windlass_control_api::events::{Event, Watcher};
use windlass_control_api::views::{RunLine, RunOutcome};
use windlass_control_api::{Code, Fault};
use windlass_engine::{Clock, EngineError, Journal};
use windlass_protocols::kernel::budget::CapChange;
use windlass_protocols::protocol::Protocol;
use windlass_protocols::protocol::feedback_control::facts::NewLimits;
use windlass_protocols::protocol::judged_task::spec::Landing;
use windlass_protocols::{Actor, Effect, Millis, Observation, Run, Stamped, decide};

pub(crate) async fn resume(
    host: &Host,
    command: ResumeRun,
    watcher: &dyn Watcher,
) -> Result<RunOutcome, Fault> {
    let known = find::past(host, &command.run).await;
    let (head, past) = match known {
        Err(fault) if fault.code == Code::UnknownRun && legacy::looks_like_one(Path::new(&command.run)) => {
            return legacy::take_over(host, command, watcher).await;
        }
        known => known?,
    };
    let protocol = find::protocol(&past.run)?;
    superseded::refuse(host, &head).await?;
    let context = find::context(host, &head.run, protocol)?;
    let first = reopening(host, &command, &past.run)?;
    refuse_early(&past.run, first.as_ref())?;
    let owner = Owner::this_process(head.run.as_str(), &format!("windlass resume {}", protocol.task()))?;
    let if_held = IfHeld::waiting(command.wait);
    let repository = hold_repository(host, &protocol.place().common_dir, &owner, if_held, watcher);
    let repository = repository.await.map_err(may_wait)?;
    watcher.hear(&Event::Started {
        run: head.run.to_string(),
        task: protocol.task().to_string(),
        run_dir: protocol.place().run_dir.clone(),
    });
    let ready = match protocol {
        Protocol::RoadmapRounds(_) => {
            let place = (protocol.place().repository.as_str(), &head.run);
            overtake::stop_the_others(host, place, &repository, watcher).await
        }
        Protocol::FeedbackControl(state) => control_loop::ground::still_there(&context, state),
        Protocol::JudgedTask(_) | Protocol::GoalContract(_) => Ok(()),
    };
    let outcome = match ready.and_then(|()| restore_worktrees(&context, protocol)) {
        Ok(()) => drive(host, context, &repository, watcher, (past, first)).await,
        Err(fault) => Err(fault),
    };
    repository.release(host, outcome).await
}

/// A run that may not be taken up again is left alone before anything is held or written for it.
pub(super) fn refuse_early(run: &Run, first: Option<&(Actor, Observation)>) -> Result<(), Fault> {
    let Some((by, observation)) = first else { return Ok(()) };
    let asked = Stamped { at: SystemClock.now(), by: by.clone(), body: observation.clone() };
    decide(run, &asked).map(|_| ()).map_err(|rejection| engine_fault(EngineError::Rejected(rejection)))
}

/// An ended run is taken up again; an unfinished one just goes on, and has no use for more room yet.
pub(super) fn reopening(
    host: &Host,
    command: &ResumeRun,
    run: &Run,
) -> Result<Option<(Actor, Observation)>, Fault> {
    if command.note.as_ref().is_some_and(|note| note.trim().is_empty()) {
        return Err(Fault::new(
            Code::BadArgument,
            "the answer is empty, and nobody would learn anything from it",
        )
        .kept("nothing was changed")
        .hint("say what the agents shall know, or let it try again without an answer: `windlass retry`"));
    }
    let (more_iterations, limits) = control_loop::limits::new_limits(command, run)?;
    let caps = CapChange {
        more_rounds: command.more_rounds.saturating_add(more_iterations),
        more_time: Millis::minutes(command.more_minutes),
        more_tokens: command.more_tokens,
        more_cost_micros: command.more_cost_micros,
        more_output_bytes: command.more_output_bytes,
    };
    let asks_for_more =
        caps != CapChange::default() || limits != NewLimits::default() || command.note.is_some();
    match (run.ended, asks_for_more) {
        (true, _) => {
            let observation = Observation::Reopened { caps, note: command.note.clone(), limits };
            Ok(Some((Actor::Human(host.person()), observation)))
        }
        (false, false) => Ok(None),
        (false, true) => Err(Fault::new(
            Code::NotAllowedNow,
            "the run has not ended; more room, other limits and notes are given to an ended run",
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
    let protocol = find::protocol(&run)?;
    let context = find::context(host, &head.run, protocol)?;
    let owner = Owner::this_process(head.run.as_str(), "windlass stop")?;
    let common_dir = &protocol.place().common_dir;
    let wish = (Actor::Human(by), command.reason);
    match hold_repository(host, common_dir, &owner, IfHeld::GiveUp, &Silence).await {
        Ok(repository) => {
            let stopped = Box::pin(stop_undriven(host, context, (&owner, Some(&repository)), wish)).await;
            repository.release(host, stopped).await?;
        }
        // Only a landing writes to the repository, which must not be in another run's hands then. An orphaned agent
        // is told to end all the same.
        Err(fault) if fault.code == Code::RepositoryHeld && !is_landing(&run) => {
            Box::pin(stop_undriven(host, context, (&owner, None), wish)).await?;
        }
        Err(fault) => return Err(fault),
    }
    find::line(host, &find::head(host, head.run.as_str()).await?).await
}

fn is_landing(run: &Run) -> bool {
    run.unsettled.values().any(|request| matches!(request, Effect::LandChange(_)))
}

pub(super) async fn stop_undriven(
    host: &Host,
    context: RunContext,
    (owner, repository): (&Owner, Option<&HeldRepository>),
    (by, reason): (Actor, String),
) -> Result<(), Fault> {
    let lease = hold_run(host, &context.run, owner).await?;
    let stopped = async {
        let aim = (Past::unread(&context.run), Aim::Stop);
        let hands = Hands { lease: lease.clone(), repository };
        let mut driver = Driver::open(host, Arc::new(context), hands, &Silence, aim).await?;
        driver.stop(by, reason).await?;
        driver.go_to_the_end().await.map(drop)
    };
    released(host, &lease, Box::pin(stopped).await).await
}

pub(crate) async fn land(host: &Host, command: LandRun, watcher: &dyn Watcher) -> Result<RunOutcome, Fault> {
    let (head, _, run) = find::run(host, &command.run).await?;
    let protocol = find::protocol(&run)?;
    let asked = |landing| (Actor::Human(host.person()), Observation::LandingRequested { landing });
    // Whether anything can land does not depend on where.
    refuse_early(&run, Some(&asked(Landing::Current)))?;
    let context = find::context(host, &head.run, protocol)?;
    if let LandingPlace::Branch(Some(name)) = &command.place {
        // A name that git does not take is refused before anything is held or recorded.
        context.repository.is_taken(&format!("refs/heads/{name}")).map_err(git_fault)?;
    }
    let owner = Owner::this_process(head.run.as_str(), &format!("windlass land {}", protocol.task()))?;
    let if_held = IfHeld::waiting(command.wait);
    let repository = hold_repository(host, &protocol.place().common_dir, &owner, if_held, watcher);
    let repository = repository.await.map_err(may_wait)?;
    let outcome = match chosen_place(&command.place, &context, protocol.task().as_str()) {
        Ok(landing) => {
            let past = Past::unread(&context.run);
            drive(host, context, &repository, watcher, (past, Some(asked(landing)))).await
        }
        Err(fault) => Err(fault),
    };
    repository.release(host, outcome).await
}

fn chosen_place(place: &LandingPlace, context: &RunContext, task: &str) -> Result<Landing, Fault> {
    Ok(match place {
        LandingPlace::Current => Landing::Current,
        LandingPlace::Branch(Some(name)) => Landing::Branch(name.clone()),
        LandingPlace::Branch(None) => Landing::Branch(free_branch(&context.repository, task)?),
    })
}

/// For what nobody watches.
pub(super) struct Silence;

impl Watcher for Silence {
    fn hear(&self, _event: &Event) {}
}
