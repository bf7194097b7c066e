//! Runs the user's commands on an exact tree, one after the other, and keeps what they said.

use super::gate::tools;
use super::step::{self, Counted, Told};
use crate::context::{RunContext, git_tree};
use crate::fault::{bug, file_fault, git_fault, supervisor_fault};
use crate::fence::{self, Step, Who};
use crate::foreign::{ForeignShelf, is_real_directory};
use crate::host::Host;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use windlass_artifact_formats::Reading;
use windlass_artifact_formats::goal_loop::{TestsExit, TestsRun};
use windlass_artifact_formats::task_loop::{
    ArtifactState, AuditResults, CommandResult, EvalResults, Handoff, LogNames, VerdictReport,
    collect_audit_checks,
};
use windlass_control_api::Fault;
use windlass_git_workspaces::Fingerprint;
use windlass_process_supervisor::{ChildSpec, Found, Secrets};
use windlass_protocols::effect::{Purpose, RunChecks, StepLimits};
use windlass_protocols::outcome::{CheckResult, ChecksReport, StepEnd, Usage};
use windlass_protocols::protocol::Spec;
use windlass_protocols::{ArtifactRef, EffectId, Millis, Outcome, Role, Run};

/// What a shell says of a command that a signal ended; the files have no other form for it.
const SIGNAL_BASE: i32 = 128;

pub(super) async fn run(
    context: Arc<RunContext>,
    effect: EffectId,
    asked: RunChecks,
    run: Arc<Run>,
    told: Told,
) -> Result<Outcome, Fault> {
    let batch = Batch {
        first: 0,
        tree: asked.tree.clone(),
        commands: asked.commands.clone(),
        limits: asked.limits,
        share: Share::Together,
    };
    if asked.purpose == Purpose::Baseline {
        let (context, asked) = (Arc::clone(&context), asked.clone());
        step::blocking(move || tools::remember(&context, &asked.tree)).await?;
    }
    match run_all(&context, effect, &batch, &run, &told).await? {
        Ran::All(results, used) => {
            step::blocking(move || report(&context, effect, &asked, results, used)).await
        }
        Ran::CutOff(outcome) => Ok(outcome),
    }
}

/// Commands for one tree, as the parts of an effect from a number on.
pub(super) struct Batch {
    pub(super) first: usize,
    pub(super) tree: windlass_protocols::TreeId,
    pub(super) commands: Vec<String>,
    pub(super) limits: StepLimits,
    pub(super) share: Share,
}

/// Whose the limits of a batch are.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Share {
    /// The step's: what earlier commands used up is gone.
    Together,
    Each,
}

pub(super) enum Ran {
    All(Vec<CheckResult>, Usage),
    CutOff(Outcome),
}

/// Each command in its turn, and each on exactly that tree: what the code under test did in the one before must not count.
pub(super) async fn run_all(
    context: &Arc<RunContext>,
    effect: EffectId,
    batch: &Batch,
    run: &Arc<Run>,
    told: &Told,
) -> Result<Ran, Fault> {
    let mut used = Usage::default();
    let mut results = Vec::new();
    let mut seen = Seen::AfterRestart;
    for (number, command) in batch.commands.iter().enumerate() {
        let part = batch.first + number;
        let directory = context.state.effect_part(&context.run, effect, part);
        let spent = if batch.share == Share::Each { Usage::default() } else { used };
        let limits = match left(batch.limits, spent) {
            Ok(limits) => limits,
            Err(end) => {
                results.push(CheckResult {
                    command: command.clone(),
                    end,
                    tail: "it was not started: nothing was left of the run's limits".to_owned(),
                    duration: Millis::default(),
                    tests: None,
                });
                continue;
            }
        };
        seen = look(context, effect, part, &directory, seen)?;
        let mut spec = command_spec(context, effect, limits, command);
        let (shown, run, tree) = (Arc::clone(context), Arc::clone(run), batch.tree.clone());
        let records = directory.clone();
        let prepare = move || {
            show(&shown, &run, &tree)?;
            let worktree = spec.directory.clone();
            let step = Step { directory: &records, worktree: &worktree, who: Who::Command };
            fence::put_around(&shown, &mut spec, &step)?;
            Ok((spec, Secrets::new()))
        };
        let end = step::command_in(context, directory.clone(), told.clone(), prepare).await?;
        let Some(end) = end else { return Ok(Ran::CutOff(Outcome::Interrupted { usage: used })) };
        let usage = step::usage(&end, limits);
        used.duration = Millis(used.duration.0 + usage.duration.0);
        used.output_bytes += usage.output_bytes;
        used.held_by = usage.held_by;
        match step::count(&end, &directory) {
            Counted::Lost(reason) => return Ok(Ran::CutOff(Outcome::Lost { reason, usage: used })),
            Counted::Interrupted => return Ok(Ran::CutOff(Outcome::Interrupted { usage: used })),
            Counted::Ended(end) => results.push(CheckResult {
                command: command.clone(),
                tests: tests(context, &end, &step::printed(&directory)),
                end,
                tail: step::tail(&directory),
                duration: usage.duration,
            }),
        }
    }
    Ok(Ran::All(results, used))
}

/// How many tests it says it ran. Only looked for where that is compared with something.
pub(super) fn tests(context: &RunContext, end: &StepEnd, printed: &[u8]) -> Option<u32> {
    if context.spec.place().gate.is_off() {
        return None;
    }
    let exit = if *end == (StepEnd::Exited { code: 0 }) { TestsExit::Success } else { TestsExit::Failure };
    TestsRun::read(&String::from_utf8_lossy(printed), exit).tally().map(|(_, total)| total)
}

/// Runs commands on a tree that no run asks about. A child that an earlier engine left there is taken over; a result it left is
/// not believed for ever, for what was red then may be green now. `None` when somebody wants everything to end.
pub(crate) async fn on(
    host: &Host,
    context: Arc<RunContext>,
    effect: EffectId,
    asked: RunChecks,
) -> Result<Option<Vec<CheckResult>>, Fault> {
    let directory = context.state.effect(&context.run, effect);
    let parts = (0..asked.commands.len()).map(|part| context.state.effect_part(&context.run, effect, part));
    let mut lives = false;
    for part in parts.filter(|part| part.exists()) {
        lives |=
            !matches!(windlass_process_supervisor::find(&part).map_err(supervisor_fault)?, Found::Ended(_));
    }
    if !lives && directory.exists() {
        std::fs::remove_dir_all(&directory).map_err(|error| file_fault("remove", &directory, &error))?;
    }
    let (telling, told) = tokio::sync::watch::channel(None);
    let mut listening = host.shutdown.borrow()?;
    let mut running = Box::pin(run(context, effect, asked, Arc::new(Run::default()), told));
    let outcome = tokio::select! {
        outcome = &mut running => outcome?,
        _ = listening.next() => {
            // Nobody hears it where the last of them ended in this moment.
            let _ = telling.send(Some(super::Telling::Stop));
            running.await?
        }
    };
    match outcome {
        Outcome::ChecksRan(report) => Ok(Some(report.results)),
        Outcome::Interrupted { .. } => Ok(None),
        Outcome::Lost { reason, .. } => Err(bug(format!("a check was lost: {reason}"))),
        _ => Err(bug("checks ended as something else")),
    }
}

/// Everything that one of them printed.
pub(crate) fn printed_by(context: &RunContext, effect: EffectId, part: usize) -> Vec<u8> {
    step::printed(&context.state.effect_part(&context.run, effect, part))
}

fn show(context: &RunContext, run: &Run, tree: &windlass_protocols::TreeId) -> Result<(), Fault> {
    match &context.spec {
        Spec::GoalContract(_) => super::goal_loop::shown::to_checks(context, run, tree).map(drop),
        Spec::FeedbackControl(_) => super::control_loop::shown::to_checks(context, run, tree).map(drop),
        Spec::RoadmapRounds(_) => super::roadmap_loop::shown::to_checks(context, tree).map(drop),
        Spec::JudgedTask(_) => super::agent::show_tree(context, tree).map(drop),
    }
}

/// What is known about the parts of this effect that come next.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Seen {
    /// An earlier engine may have run them.
    AfterRestart,
    /// This engine saw the part before it end, so nobody can have begun them.
    Ours,
}

/// Moves away what stands where a check that cannot have begun will be: a result that the one before it forged.
fn look(
    context: &RunContext,
    effect: EffectId,
    part: usize,
    directory: &Path,
    seen: Seen,
) -> Result<Seen, Fault> {
    if seen == Seen::Ours {
        if directory.symlink_metadata().is_ok() {
            let name = Path::new("effects").join(effect.to_string()).join(format!("part-{part}"));
            ForeignShelf::of(context).take(directory, &name)?;
        }
        return Ok(Seen::Ours);
    }
    let found = windlass_process_supervisor::find(directory).map_err(supervisor_fault)?;
    Ok(match found {
        // One that is run again was the last that was begun.
        Found::Ended(end) if step::lost_output(&end, directory).is_none() => Seen::AfterRestart,
        _ => Seen::Ours,
    })
}

/// The limits are the step's, not each command's: what earlier ones used up is gone.
fn left(limits: StepLimits, used: Usage) -> Result<StepLimits, StepEnd> {
    let total = Millis(limits.total.0.saturating_sub(used.duration.0));
    let output_bytes = limits.output_bytes.map(|bytes| bytes.saturating_sub(used.output_bytes));
    if total.0 == 0 {
        Err(StepEnd::TotalLimit)
    } else if output_bytes == Some(0) {
        Err(StepEnd::OutputLimit)
    } else {
        Ok(StepLimits { total, output_bytes, ..limits })
    }
}

fn command_spec(context: &RunContext, effect: EffectId, limits: StepLimits, command: &str) -> ChildSpec {
    let mut spec = context.check(effect, limits);
    spec.program = PathBuf::from("/bin/sh");
    spec.args = shell_arguments(&context.spec, command);
    spec.directory = context.worktree(Role::Judge);
    spec
}

/// A sensor of several lines fails at the first one that does: its last line alone says nothing about the others.
pub(super) fn shell_arguments(spec: &Spec, command: &str) -> Vec<std::ffi::OsString> {
    let stops = matches!(spec, Spec::FeedbackControl(_)) && command.trim().contains('\n');
    let options = if stops { ["-e", "-c"].as_slice() } else { &["-c"] };
    options.iter().copied().chain([command]).map(Into::into).collect()
}

fn report(
    context: &RunContext,
    effect: EffectId,
    asked: &RunChecks,
    results: Vec<CheckResult>,
    usage: Usage,
) -> Result<Outcome, Fault> {
    let mut evidence = vec![seal_results(context, asked.purpose, &results)?];
    let logs = seal_logs(context, effect, asked, &results, &mut evidence)?;
    let text = |path: &Path| path.to_string_lossy().into_owned();
    let repo = text(&context.worktree(Role::Judge));
    match asked.purpose {
        Purpose::Baseline => {}
        Purpose::Acceptance => {
            let file = EvalResults::new(repo, logs).render();
            evidence.push(context.evidence.seal(EvalResults::FILE_NAME, file.as_bytes())?);
        }
        // Files of the task loop; a goal loop keeps the results alone.
        Purpose::Audit if !matches!(context.spec, Spec::JudgedTask(_)) => {}
        Purpose::Audit => {
            let round = context.round_dir(asked.round);
            let handoff = stored(&round.join(Handoff::FILE_NAME), Handoff::parse);
            let verdict = stored(&round.join(VerdictReport::FILE_NAME), VerdictReport::parse);
            let file = AuditResults::new(
                repo,
                text(&round.join(Handoff::FILE_NAME)),
                text(&round.join(VerdictReport::FILE_NAME)),
                collect_audit_checks(&handoff, &verdict),
                logs,
            )
            .render();
            evidence.push(context.evidence.seal(AuditResults::FILE_NAME, file.as_bytes())?);
        }
    }
    Ok(Outcome::ChecksRan(ChecksReport {
        purpose: asked.purpose,
        tree: asked.tree.clone(),
        results,
        evidence,
        usage,
        gate: tools::replaced(context).into_iter().collect(),
    }))
}

/// The results in the journal's own words, for prompts that quote them.
fn seal_results(
    context: &RunContext,
    purpose: Purpose,
    results: &[CheckResult],
) -> Result<ArtifactRef, Fault> {
    let text = serde_json::to_vec(results).map_err(|error| bug(error.to_string()))?;
    context.evidence.seal(results_name(purpose), &text)
}

pub(super) const fn results_name(purpose: Purpose) -> &'static str {
    match purpose {
        Purpose::Baseline => "baseline.json",
        Purpose::Acceptance => "checks.json",
        Purpose::Audit => "audit-checks.json",
    }
}

/// Logs are numbered over the checks and the audit checks of a round, so that neither overwrites the other's.
fn seal_logs(
    context: &RunContext,
    effect: EffectId,
    asked: &RunChecks,
    results: &[CheckResult],
    evidence: &mut Vec<ArtifactRef>,
) -> Result<Vec<CommandResult>, Fault> {
    let before = match &context.spec {
        Spec::JudgedTask(spec) if asked.purpose == Purpose::Audit => spec.checks.len(),
        _ => 0,
    };
    let folder = if asked.purpose == Purpose::Baseline { "baseline" } else { "logs" };
    let shown = context.round_dir(asked.round).join("logs").to_string_lossy().into_owned();
    let mut commands = Vec::new();
    for (part, result) in results.iter().enumerate() {
        let directory = context.state.effect_part(&context.run, effect, part);
        let number = before + part + 1;
        let names = LogNames::in_directory(folder, number);
        for (stream, name) in [("stdout.log", &names.stdout), ("stderr.log", &names.stderr)] {
            evidence.push(context.evidence.seal(name, &step::log(&directory, stream))?);
        }
        let code = exit_code(&result.end);
        let logs = LogNames::in_directory(&shown, number);
        commands.push(CommandResult::from_exit_code(result.command.clone(), code, &logs));
    }
    Ok(commands)
}

const fn exit_code(end: &StepEnd) -> i32 {
    match end {
        StepEnd::Exited { code } => *code,
        StepEnd::Signaled { signal } => SIGNAL_BASE + *signal,
        StepEnd::TotalLimit
        | StepEnd::IdleLimit
        | StepEnd::OutputLimit
        | StepEnd::MemoryLimit
        | StepEnd::ProcessLimit => 124,
        StepEnd::NotStarted { .. } => 127,
    }
}

fn stored<T>(
    path: &Path,
    parse: impl Fn(&[u8], &Reading<'_>) -> Result<T, windlass_artifact_formats::ArtifactFaults>,
) -> ArtifactState<T> {
    match std::fs::read(path) {
        Err(_) => ArtifactState::Missing,
        Ok(bytes) => match parse(&bytes, &Reading::legacy()) {
            Ok(value) => ArtifactState::Valid(value),
            Err(faults) => ArtifactState::Invalid(faults),
        },
    }
}

/// Lets a caller outside turn a bad tree id into a fault without knowing git.
pub(super) fn materialise(
    context: &RunContext,
    tree: &windlass_protocols::TreeId,
) -> Result<Fingerprint, Fault> {
    let tree = git_tree(tree)?;
    let place = context.worktree(Role::Judge);
    if !is_real_directory(&place) {
        // Somebody took it away, or put a link or a file there: what is judged is made anew, not looked for elsewhere.
        if place.symlink_metadata().is_ok() {
            ForeignShelf::of(context).take(&place, Path::new("worktrees/judge"))?;
        }
        std::fs::create_dir_all(&place).map_err(|error| file_fault("make the directory", &place, &error))?;
    }
    context
        .repository
        .materialise(&context.worktree(Role::Judge), &context.index_key(Role::Judge), &tree)
        .map_err(git_fault)
}
