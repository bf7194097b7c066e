//! Runs what the engine once ran on the tree that counts once more, in a clean place, and compares: how each command ended,
//! and how many tests it told of. The commands are those of the record, which were agreed to when the run began.

use super::find;
use super::verify::{failed, judged, passed};
use crate::context::{RunContext, git_commit, git_tree};
use crate::effect_runner::{checks_on, printed_by};
use crate::fault::{file_fault, git_fault, journal_fault, supervisor_fault};
use crate::host::Host;
use crate::state_dir::make_private;
use std::collections::BTreeMap;
use std::fs::TryLockError;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use windlass_artifact_formats::goal_loop::{TestsExit, TestsRun};
use windlass_control_api::commands::CleanMode;
use windlass_control_api::views::VerificationCheck;
use windlass_control_api::{Code, Fault};
use windlass_engine::Stored;
use windlass_process_supervisor::{Found, sweep};
use windlass_protocols::effect::{InspectGate, Purpose, RunChecks, StepLimits, SuitePurpose};
use windlass_protocols::kernel::gate::GateReport;
use windlass_protocols::outcome::{ReadingStatus, StepEnd};
use windlass_protocols::protocol::judged_task::spec::{AuditPolicy, Landing, OnNeedsHuman, TaskSpec};
use windlass_protocols::protocol::roadmap_rounds::facts::Fact as RoadmapFact;
use windlass_protocols::protocol::{Protocol, Spec};
use windlass_protocols::{ArtifactRef, Effect, EffectId, Fact, Millis, Outcome, Role, RunId, TaskId, TreeId};

/// In the private directory of the clean place; the one file that stays there.
const LOCK: &str = "lock";

/// Commands that the engine ran on one tree, with what came of each.
struct Recorded {
    tree: TreeId,
    limits: StepLimits,
    commands: Vec<Command>,
}

struct Command {
    text: String,
    ended: Ended,
    /// Passed and all, where that was recorded or is still told by the sealed log.
    tests: Option<(u32, u32)>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Ended {
    As(StepEnd),
    /// Of a sensor, and of a check on a round, only this is recorded.
    Green(bool),
}

impl Ended {
    fn is(&self, now: &StepEnd) -> bool {
        match self {
            Self::As(end) => end == now,
            Self::Green(green) => *green == (*now == StepEnd::Exited { code: 0 }),
        }
    }

    fn in_words(&self) -> String {
        match self {
            Self::As(end) => in_words(end),
            Self::Green(true) => "exit code 0".to_owned(),
            Self::Green(false) => "another exit code than 0".to_owned(),
        }
    }
}

fn in_words(end: &StepEnd) -> String {
    match end {
        StepEnd::Exited { code } => format!("exit code {code}"),
        StepEnd::Signaled { signal } => format!("signal {signal}"),
        StepEnd::TotalLimit
        | StepEnd::IdleLimit
        | StepEnd::OutputLimit
        | StepEnd::MemoryLimit
        | StepEnd::ProcessLimit => "a limit".to_owned(),
        StepEnd::NotStarted { reason } => format!("not started: {reason}"),
    }
}

/// One line for each command that was run again.
pub(crate) async fn rerun(host: &Host, name: &str) -> Result<Vec<VerificationCheck>, Fault> {
    let (head, stored, run) = find::run(host, name).await?;
    let protocol = find::protocol(&run)?;
    let recorded = recorded(host, &head.run, &stored, protocol)?;
    if recorded.is_empty() {
        let what = "no command was run on what the run came to, so there is nothing to run again";
        return Ok(vec![VerificationCheck {
            attention: true,
            ..passed("checks that were run again", what.to_owned())
        }]);
    }
    let context = Arc::new(clean_place(host, &head.run, protocol)?);
    let _alone = alone(host, &context)?;
    clear(host, &context).await?;
    let mut checks = Vec::new();
    let mut number = 0;
    let mut done = Ok(());
    for record in recorded {
        number += 1;
        done = run_again(host, &context, EffectId(number), record, &mut checks).await;
        if done.is_err() {
            break;
        }
    }
    remove(host, &context).await?;
    done.map(|()| checks)
}

/// Takes away what one that was killed left, and comes back with where that is. One that is at work is let be.
pub(crate) async fn clean(
    host: &Host,
    id: &RunId,
    protocol: &Protocol,
    mode: CleanMode,
) -> Result<Option<PathBuf>, Fault> {
    let directory = host.state.run(&own_name(id));
    if !directory.is_dir() {
        return Ok(None);
    }
    let context = clean_place(host, id, protocol)?;
    let _alone = match alone(host, &context) {
        Err(fault) if fault.code == Code::NotAllowedNow => return Ok(None),
        locked => locked?,
    };
    if mode == CleanMode::Remove {
        remove(host, &context).await?;
    }
    Ok(Some(directory))
}

async fn remove(host: &Host, context: &RunContext) -> Result<(), Fault> {
    clear(host, context).await?;
    let directory = host.state.run(&context.run);
    std::fs::remove_dir_all(&directory).map_err(|error| file_fault("remove", &directory, &error))
}

/// Two at once would work in one place. The lock goes with its process, however that ends.
fn alone(host: &Host, context: &RunContext) -> Result<std::fs::File, Fault> {
    let directory = host.state.run(&context.run);
    make_private(&directory)?;
    let path = directory.join(LOCK);
    let opened = std::fs::File::create(&path).map_err(|error| file_fault("open", &path, &error))?;
    // One who ends takes the file away: whoever opened it before has a lock on nothing.
    let is_there = |opened: &std::fs::File| {
        let (here, there) = (opened.metadata(), path.metadata());
        here.is_ok_and(|here| there.is_ok_and(|there| here.ino() == there.ino()))
    };
    match opened.try_lock() {
        Ok(()) if is_there(&opened) => Ok(opened),
        Ok(()) | Err(TryLockError::WouldBlock) => {
            let message = "another process runs the checks of this run again just now".to_owned();
            Err(Fault::new(Code::NotAllowedNow, message)
                .kept("nothing was started")
                .hint("ask again when it has ended"))
        }
        Err(TryLockError::Error(error)) => Err(file_fault("lock", &path, &error)),
    }
}

/// The place with all that was made in it, also by one who was killed: what it recorded must not be taken for an answer.
async fn clear(host: &Host, context: &RunContext) -> Result<(), Fault> {
    end_what_still_runs(&host.state.run(&context.run).join("effects")).await?;
    let worktree = context.repository.worktree_at(&context.worktree(Role::Judge)).map_err(git_fault)?;
    context.repository.drop_copy(&worktree).map_err(git_fault)?;
    let directory = host.state.run(&context.run);
    let entries = std::fs::read_dir(&directory).map_err(|error| file_fault("list", &directory, &error))?;
    for path in entries.flatten().map(|entry| entry.path()).filter(|path| !path.ends_with(LOCK)) {
        let removed =
            if path.is_dir() { std::fs::remove_dir_all(&path) } else { std::fs::remove_file(&path) };
        removed.map_err(|error| file_fault("remove", &path, &error))?;
    }
    Ok(())
}

/// The checks of one that was killed outlive it, and would go on in a place that is gone.
async fn end_what_still_runs(effects: &Path) -> Result<(), Fault> {
    let below = |directory: &Path| -> Vec<PathBuf> {
        let entries = std::fs::read_dir(directory).into_iter().flatten().flatten();
        entries.map(|entry| entry.path()).filter(|path| path.is_dir()).collect()
    };
    for effect in below(effects) {
        for directory in below(&effect).into_iter().chain([effect]) {
            match windlass_process_supervisor::find(&directory).map_err(supervisor_fault)? {
                Found::Running(mut child) => {
                    child.kill().map_err(supervisor_fault)?;
                    child.wait().await.map_err(supervisor_fault)?;
                }
                Found::Orphaned => drop(sweep(&directory).map_err(supervisor_fault)?),
                Found::NotStarted | Found::Ended(_) => {}
            }
        }
    }
    Ok(())
}

async fn run_again(
    host: &Host,
    context: &Arc<RunContext>,
    effect: EffectId,
    recorded: Recorded,
    checks: &mut Vec<VerificationCheck>,
) -> Result<(), Fault> {
    let Recorded { tree, limits, commands } = recorded;
    let base = git_commit(&context.spec.place().base)?;
    let place = (context.worktree(Role::Judge), context.index_key(Role::Judge));
    let (path, key) = (place.0.as_path(), place.1.as_str());
    context.repository.show_worktree((path, key), &git_tree(&tree)?, &base).map_err(git_fault)?;
    let asked = RunChecks {
        purpose: Purpose::Baseline,
        round: 1,
        tree: tree.clone(),
        commands: commands.iter().map(|command| command.text.clone()).collect(),
        limits,
    };
    let Some(results) = checks_on(host, Arc::clone(context), effect, asked).await? else {
        checks.push(failed("checks that were run again", "somebody stopped them".to_owned()));
        return Ok(());
    };
    for (part, (command, result)) in commands.iter().zip(&results).enumerate() {
        let mut wrong = Vec::new();
        if !command.ended.is(&result.end) {
            let (before, now) = (command.ended.in_words(), in_words(&result.end));
            wrong.push(format!("it ended with {now} now, and with {before} when it was recorded"));
        }
        let now = tests_in(&printed_by(context, effect, part), &result.end);
        match (command.tests, now) {
            (Some(before), Some(now)) if before != now => {
                wrong
                    .push(format!("{} of {} tests pass now, {} of {} did", now.0, now.1, before.0, before.1));
            }
            (Some(before), None) => {
                wrong.push(format!("it tells of no tests now, and {} of {} passed", before.0, before.1));
            }
            _ => {}
        }
        let counted = now.map(|(green, all)| format!(", {green} of {all} tests")).unwrap_or_default();
        let short = crate::narrate::short(tree.as_str()).to_owned();
        let good = format!("{}{counted}, as recorded, on tree {short}", in_words(&result.end));
        checks.push(judged(&format!("`{}` once more", command.text), &wrong, good));
    }
    Ok(())
}

fn tests_in(printed: &[u8], end: &StepEnd) -> Option<(u32, u32)> {
    let exit = if *end == (StepEnd::Exited { code: 0 }) { TestsExit::Success } else { TestsExit::Failure };
    TestsRun::read(&String::from_utf8_lossy(printed), exit).tally()
}

/// The last of each kind, of what was run on the tree that counts: what was said of another one proves nothing.
fn recorded(host: &Host, id: &RunId, stored: &[Stored], protocol: &Protocol) -> Result<Vec<Recorded>, Fault> {
    let counts = match protocol {
        Protocol::JudgedTask(state) => state.change.as_ref().map(|change| change.tree.clone()),
        Protocol::FeedbackControl(state) => state.plant.clone(),
        // The newest commit's, whatever was tried after it.
        Protocol::GoalContract(state) => state.head.as_ref().map(|(_, tree)| tree.clone()),
        Protocol::RoadmapRounds(_) => return of_merged_rounds(host, id, stored),
    };
    let mut asked: BTreeMap<EffectId, Effect> = BTreeMap::new();
    let mut found: BTreeMap<String, Recorded> = BTreeMap::new();
    for row in stored {
        match row.fact(id).map_err(journal_fault)? {
            Fact::EffectRequested { effect, request } => {
                asked.insert(effect, request);
            }
            Fact::EffectSettled { effect, outcome } => {
                let Some(request) = asked.remove(&effect) else { continue };
                let Some((kind, record)) = of_pair(host, request, outcome) else { continue };
                if counts.as_ref().is_none_or(|tree| *tree == record.tree) {
                    found.insert(kind, record);
                }
            }
            _ => {}
        }
    }
    Ok(found.into_values().collect())
}

/// What was run on the content of each round that was merged, in their order: it is looked at where a round changes what measures
/// it, and where its planner did it alone. What was run on an earlier state of a round says nothing of what was merged.
fn of_merged_rounds(host: &Host, id: &RunId, stored: &[Stored]) -> Result<Vec<Recorded>, Fault> {
    let mut asked: BTreeMap<EffectId, InspectGate> = BTreeMap::new();
    let mut ran: BTreeMap<TreeId, (InspectGate, Box<GateReport>)> = BTreeMap::new();
    let mut content: BTreeMap<String, TreeId> = BTreeMap::new();
    let mut merged = Vec::new();
    for row in stored {
        match row.fact(id).map_err(journal_fault)? {
            Fact::EffectRequested { effect, request: Effect::InspectGate(request) } => {
                asked.insert(effect, request);
            }
            Fact::EffectSettled { effect, outcome: Outcome::GateInspected(report) } => {
                // Only such a request says of every command how it ended on the content as it is.
                if let Some(request) = asked.remove(&effect).filter(|request| request.unmeasured) {
                    ran.insert(request.tree.clone(), (request, report));
                }
            }
            Fact::RoadmapRounds(RoadmapFact::GateLooked { looked }) => {
                content.insert(looked.round, looked.tree);
            }
            Fact::RoadmapRounds(RoadmapFact::RoundMerged { round, .. }) => merged.push(round),
            _ => {}
        }
    }
    let trees = merged.iter().filter_map(|round| content.get(round));
    Ok(trees
        .filter_map(|tree| ran.get(tree))
        .map(|(request, report)| inspected(host, request, report))
        .collect())
}

fn inspected(host: &Host, asked: &InspectGate, report: &GateReport) -> Recorded {
    let command = |(part, text): (usize, &String)| {
        let green = !report.red.contains(text);
        let name = format!("logs/gate-{}.log", part + 1);
        let log = report.evidence.iter().find(|log| log.name == name);
        let printed = log.and_then(|log| host.evidence.read(log).ok()).unwrap_or_default();
        let end = StepEnd::Exited { code: i32::from(!green) };
        Command { text: text.clone(), ended: Ended::Green(green), tests: tests_in(&printed, &end) }
    };
    let commands = asked.commands.iter().enumerate().map(command).collect();
    Recorded { tree: asked.tree.clone(), limits: asked.limits, commands }
}

fn of_pair(host: &Host, request: Effect, outcome: Outcome) -> Option<(String, Recorded)> {
    let told =
        |log: Option<&ArtifactRef>| log.and_then(|log| host.evidence.read(log).ok()).unwrap_or_default();
    match (request, outcome) {
        // What the base was like says nothing of what was made of it.
        (Effect::RunChecks(asked), Outcome::ChecksRan(report)) if asked.purpose != Purpose::Baseline => {
            let logs = |part: usize| {
                let both = report.evidence.iter().skip(1 + 2 * part).take(2);
                both.flat_map(|log| told(Some(log))).collect::<Vec<u8>>()
            };
            let command = |(part, result): (usize, &windlass_protocols::outcome::CheckResult)| Command {
                text: result.command.clone(),
                ended: Ended::As(result.end.clone()),
                tests: tests_in(&logs(part), &result.end),
            };
            let commands: Vec<Command> = report.results.iter().enumerate().map(command).collect();
            let recorded = Recorded { tree: asked.tree, limits: asked.limits, commands };
            (!recorded.commands.is_empty()).then(|| (format!("checks {:?}", asked.purpose), recorded))
        }
        (Effect::RunSuite(asked), Outcome::SuiteRan(report))
            if !matches!(asked.purpose, SuitePurpose::Baseline | SuitePurpose::BaselineAgain) =>
        {
            let tests = (report.total > 0).then_some((report.passed, report.total));
            let command = Command { text: asked.command, ended: Ended::As(report.end), tests };
            Some((
                "suite".to_owned(),
                Recorded { tree: asked.tree, limits: asked.limits, commands: vec![command] },
            ))
        }
        (Effect::Measure(asked), Outcome::Measured(report)) => {
            let commands: Vec<Command> = asked
                .sensors
                .into_iter()
                .zip(&report.readings)
                .filter(|(sensor, reading)| {
                    !sensor.command.is_empty() && reading.status != ReadingStatus::Pending
                })
                .map(|(sensor, reading)| {
                    let green = reading.status == ReadingStatus::Pass;
                    let end = StepEnd::Exited { code: i32::from(!green) };
                    let tests = tests_in(&told(reading.log.as_ref()), &end);
                    Command { text: sensor.command, ended: Ended::Green(green), tests }
                })
                .collect();
            let recorded = Recorded { tree: asked.tree, limits: asked.limits, commands };
            (!recorded.commands.is_empty()).then(|| (format!("sensors {}", asked.depth), recorded))
        }
        _ => None,
    }
}

/// Under which it has a private directory, and no journal.
fn own_name(id: &RunId) -> RunId {
    RunId::new(format!("rerun-of-{id}"))
}

/// As for a task that nobody works on, in a worktree of its own.
fn clean_place(host: &Host, id: &RunId, protocol: &Protocol) -> Result<RunContext, Fault> {
    let mut context = find::context(host, id, protocol)?;
    let mut place = protocol.place().clone();
    let own = own_name(id);
    place.run_dir = host.state.run(&own).join("place").to_string_lossy().into_owned();
    let spec = TaskSpec {
        task: TaskId::new("rerun"),
        text: String::new(),
        caps: windlass_protocols::kernel::budget::Caps {
            rounds: 1,
            time: None,
            tokens: None,
            cost_micros: None,
            output_bytes: None,
            step_time: Millis::minutes(60),
            step_idle: None,
            step: windlass_protocols::kernel::budget::Spend::default(),
            day: windlass_protocols::kernel::budget::Spend::default(),
            repository: windlass_protocols::kernel::budget::Spend::default(),
        },
        checks: Vec::new(),
        audit_checks: Vec::new(),
        audit: AuditPolicy::Skipped,
        on_needs_human: OnNeedsHuman::Stop,
        landing: Landing::None,
        patience: windlass_protocols::kernel::availability::Patience::default(),
        place,
        criteria: Vec::new(),
        adopted: None,
    };
    context.run = own;
    context.spec = Spec::JudgedTask(Box::new(spec));
    Ok(context)
}
