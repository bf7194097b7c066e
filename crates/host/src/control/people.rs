//! What a person says to a run that waits: recorded by the engine like everything else, and driven on where it goes on.

use super::find;
use super::resume::{self, refuse_early, reopening};
use super::roadmap_loop::superseded;
use super::start::{drive, hold_run, may_wait, released};
use crate::clock::SystemClock;
use crate::context::RunContext;
use crate::effect_runner::{goal_contents, restore_worktrees};
use crate::fault::{engine_fault, other_tree};
use crate::headline;
use crate::holder::{IfHeld, Owner, hold_repository};
use crate::host::Host;
use crate::past::Past;
use windlass_control_api::commands::{LandRun, ResumeRun};
use windlass_control_api::events::{Event, Watcher};
use windlass_control_api::inbox::{ApproveRun, RejectRun, SkipRun, WaiveRun};
use windlass_control_api::views::{RunLine, RunOutcome};
use windlass_control_api::{Code, Fault};
use windlass_engine::{EffectRunner, Engine};
use windlass_protocols::inbox::waiting;
use windlass_protocols::kernel::gate::{FindingName, Waiver};
use windlass_protocols::kernel::person::Word;
use windlass_protocols::protocol::Protocol;
use windlass_protocols::protocol::goal_contract::end::End;
use windlass_protocols::protocol::judged_task::spec::Landing;
use windlass_protocols::{Actor, Effect, EffectId, Observation, Run, RunId, TreeId};

/// A shorter beginning of a tree id could be met by accident.
const LEAST_DIGITS: usize = 7;

/// Carries nothing out: what is asked for stays unsettled, and whoever resumes the run does it.
struct ForLater;

impl EffectRunner for ForLater {
    fn start(&mut self, _run: &Run, _effect: EffectId, _request: &Effect) {}
}

/// One observation for the record. Needs neither the repository nor anything else of the run's surroundings.
pub(super) async fn record(
    host: &Host,
    run: &RunId,
    doing: &str,
    (past, by, observation): (Past, Actor, Observation),
) -> Result<Run, Fault> {
    refuse_early(&past.run, Some(&(by.clone(), observation.clone())))?;
    let owner = Owner::this_process(run.as_str(), doing)?;
    let lease = hold_run(host, run, &owner).await?;
    let recorded = async {
        let mut past = past;
        past.catch_up(&host.journal).await?;
        let ports = (host.journal.clone(), ForLater, SystemClock);
        let mut engine = Engine::over(ports, run.clone(), lease.clone(), past.run, headline::of);
        engine.observe(by, observation).await.map_err(engine_fault)?;
        Ok(engine.run().clone())
    };
    released(host, &lease, Box::pin(recorded).await).await
}

pub(super) fn person(host: &Host) -> Actor {
    Actor::Human(host.person())
}

pub(crate) async fn line_of(host: &Host, run: &RunId) -> Result<RunLine, Fault> {
    find::line(host, &find::head(host, run.as_str()).await?).await
}

pub(crate) async fn skip(host: &Host, command: SkipRun) -> Result<RunLine, Fault> {
    let (head, past) = find::past(host, &command.run).await?;
    let said = Observation::PersonSaid { word: Word::Skip { reason: command.reason } };
    record(host, &head.run, "windlass skip", (past, person(host), said)).await?;
    line_of(host, &head.run).await
}

/// As `resume`, but nobody drives: the word is kept for whoever does.
pub(crate) async fn leave_answer(host: &Host, command: ResumeRun) -> Result<RunLine, Fault> {
    let (head, past) = find::past(host, &command.run).await?;
    superseded::refuse(host, &head).await?;
    let Some((by, reopened)) = reopening(host, &command, &past.run)? else {
        return Err(Fault::new(Code::NotAllowedNow, "the run has not ended, so it waits for no answer")
            .kept("nothing was changed")
            .hint("`windlass explain RUN` says where it stands and what can be done"));
    };
    record(host, &head.run, "windlass answer --no-run", (past, by, reopened)).await?;
    line_of(host, &head.run).await
}

pub(crate) async fn approve(
    host: &Host,
    command: ApproveRun,
    watcher: &dyn Watcher,
) -> Result<RunOutcome, Fault> {
    let (head, past) = find::past(host, &command.run).await?;
    let tree = approved_tree(&past.run, command.tree.as_deref())?;
    let said = Observation::PersonSaid { word: Word::Approve { tree } };
    match find::protocol(&past.run)? {
        Protocol::JudgedTask(_) => {
            // Whether it can land is known before the approval stands in the record.
            let landing = Observation::LandingRequested { landing: Landing::Current };
            refuse_early(&past.run, Some(&(person(host), landing)))?;
            record(host, &head.run, "windlass approve", (past, person(host), said)).await?;
            let land = LandRun { run: head.run.to_string(), place: command.place, wait: command.wait };
            resume::land(host, land, watcher).await
        }
        Protocol::GoalContract(_) => {
            let context = find::context(host, &head.run, find::protocol(&past.run)?)?;
            still_proposed(&context, &past.run)?;
            go_on(host, (&head.run, past, said), command.wait, watcher).await
        }
        Protocol::FeedbackControl(_) | Protocol::RoadmapRounds(_) => {
            go_on(host, (&head.run, past, said), command.wait, watcher).await
        }
    }
}

pub(crate) async fn reject(
    host: &Host,
    command: RejectRun,
    watcher: &dyn Watcher,
) -> Result<RunOutcome, Fault> {
    let (head, past) = find::past(host, &command.run).await?;
    let said = Observation::PersonSaid { word: Word::Reject { reason: command.reason } };
    go_on(host, (&head.run, past, said), command.wait, watcher).await
}

/// All names are known to be open before the first stands in the record; the last one drives the run on.
pub(crate) async fn waive(
    host: &Host,
    command: WaiveRun,
    watcher: &dyn Watcher,
) -> Result<RunOutcome, Fault> {
    let (head, mut past) = find::past(host, &command.run).await?;
    let mut words = Vec::new();
    for name in &command.findings {
        let Some(finding) = FindingName::from_name(name) else {
            let known: Vec<&str> = FindingName::ALL.iter().map(|finding| finding.name()).collect();
            return Err(Fault::new(Code::BadArgument, format!("there is no finding named `{name}`"))
                .kept("nothing was changed")
                .hint(format!("findings are: {}", known.join(", "))));
        };
        let word = Word::Waive(Waiver { finding, reason: command.reason.clone() });
        let said = Observation::PersonSaid { word };
        refuse_early(&past.run, Some(&(person(host), said.clone())))?;
        if !words.contains(&said) {
            words.push(said);
        }
    }
    let last = words.pop().ok_or_else(|| Fault::new(Code::BadArgument, "no finding is named"))?;
    for said in words {
        record(host, &head.run, "windlass waive", (past, person(host), said)).await?;
        past = find::past(host, &command.run).await?.1;
    }
    go_on(host, (&head.run, past, last), command.wait, watcher).await
}

/// Says it and drives whatever comes of it.
pub(super) async fn go_on(
    host: &Host,
    (run, past, said): (&RunId, Past, Observation),
    wait: bool,
    watcher: &dyn Watcher,
) -> Result<RunOutcome, Fault> {
    let first = (person(host), said);
    refuse_early(&past.run, Some(&first))?;
    let protocol = find::protocol(&past.run)?;
    let context = find::context(host, run, protocol)?;
    let owner = Owner::this_process(run.as_str(), &format!("windlass resume {}", protocol.task()))?;
    let common_dir = protocol.place().common_dir.clone();
    let repository = hold_repository(host, &common_dir, &owner, IfHeld::waiting(wait), watcher);
    let repository = repository.await.map_err(may_wait)?;
    watcher.hear(&Event::Started {
        run: run.to_string(),
        task: protocol.task().to_string(),
        run_dir: protocol.place().run_dir.clone(),
    });
    let outcome = match restore_worktrees(&context, protocol) {
        Ok(()) => drive(host, context, &repository, watcher, (past, Some(first))).await,
        Err(fault) => Err(fault),
    };
    repository.release(host, outcome).await
}

/// Refuses a yes to a change that the builder's worktree no longer holds: whoever looked there saw something else.
fn still_proposed(context: &RunContext, run: &Run) -> Result<(), Fault> {
    match goal_contents(context, run)? {
        Some((proposed, found)) if proposed != found => Err(other_tree(format!(
            "tree {proposed} was verified, and the builder's worktree holds tree {found} now"
        ))),
        Some(_) | None => Ok(()),
    }
}

/// The tree somebody means by what they typed, which must be the one the run waits with.
fn approved_tree(run: &Run, named: Option<&str>) -> Result<TreeId, Fault> {
    let waits = match &find::protocol(run)? {
        Protocol::JudgedTask(state) => state.change.as_ref().map(|change| change.tree.clone()),
        Protocol::FeedbackControl(_) | Protocol::RoadmapRounds(_) => {
            waiting(run).and_then(|waiting| waiting.tree)
        }
        Protocol::GoalContract(state) => match &state.end {
            Some(End::AwaitsApproval { proposed, .. }) => Some(TreeId::new(proposed.name())),
            _ => None,
        },
    };
    let Some(waits) = waits else {
        return Err(Fault::new(Code::NotAllowedNow, "the run waits with no content that could be approved")
            .kept("nothing was changed")
            .hint("`windlass explain RUN` says where it stands and what can be done"));
    };
    match named {
        None => Ok(waits),
        Some(named) if named.len() < LEAST_DIGITS => Err(Fault::new(
            Code::BadArgument,
            format!("`{named}` is too short for a tree: give {LEAST_DIGITS} digits or more"),
        )),
        Some(named) if waits.as_str().starts_with(&named.to_ascii_lowercase()) => Ok(waits),
        Some(named) => Err(other_tree(format!("the run waits with tree {waits}, not with tree {named}"))),
    }
}

/// Gives a run back as it was taken over.
pub(crate) async fn let_go(host: &Host, run: &str) -> Result<RunLine, Fault> {
    let (head, past) = find::past(host, run).await?;
    let said = Observation::PersonSaid { word: Word::LetGo };
    record(host, &head.run, "windlass hand-back --discard", (past, person(host), said)).await?;
    line_of(host, &head.run).await
}
