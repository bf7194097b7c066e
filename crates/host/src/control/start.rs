//! Starts a run: everything is checked before the first fact, so that a refusal leaves nothing behind.

use super::control_loop::report::Branch;
use super::task_spec::{Wanted, free_branch};
use super::{agents, disk_budget, find, trust};
use crate::context::RunContext;
use crate::drive::{Aim, Driven, Driver, Hands};
use crate::fault::{bug, git_fault, journal_fault};
use crate::holder::{self, HeldRepository, IfHeld, Owner, hold_repository};
use crate::host::Host;
use crate::past::Past;
use std::sync::Arc;
use windlass_agent_drivers::AgentChoice;
use windlass_control_api::commands::StartRun;
use windlass_control_api::events::{Event, Watcher};
use windlass_control_api::money::Spent;
use windlass_control_api::views::{ExplanationView, LandedView, RunOutcome, SaidBy, Status};
use windlass_control_api::{Code, Fault};
use windlass_engine::{Journal, Lease};
use windlass_git_workspaces::{Checkout, Repository};
use windlass_protocols::explain::explain;
use windlass_protocols::outcome::VerdictWord;
use windlass_protocols::protocol::judged_task::spec::{AuditPolicy, Landing, Place};
use windlass_protocols::protocol::{Protocol, Spec};
use windlass_protocols::{Actor, Observation, Role, Run, RunId};

pub(crate) async fn start(
    host: &Host,
    command: StartRun,
    watcher: &dyn Watcher,
) -> Result<RunOutcome, Fault> {
    start_for(host, command, None, watcher).await
}

/// The same where the work is done in a copy: the settings that count, and whose commands are trusted, are those of the
/// repository it was copied from.
pub(super) async fn start_for(
    host: &Host,
    command: StartRun,
    original: Option<&Checkout>,
    watcher: &dyn Watcher,
) -> Result<RunOutcome, Fault> {
    if command.task.trim().is_empty() {
        return Err(Fault::new(Code::BadArgument, "the task text is empty").hint("say what is to be done"));
    }
    let checkout = Checkout::discover(&command.repository).map_err(git_fault)?;
    let original = original.unwrap_or(&checkout);
    let settings = host.settings_for(Some(original.work_tree()), &command.settings)?;
    for warning in &settings.warnings {
        watcher.hear(&Event::Notice { text: warning.clone() });
    }
    trust::require(host, original, &settings, command.yes)?;
    let repository = host.repository(checkout.clone())?;
    let wanted =
        Wanted { command: &command, settings: &settings, checkout: &checkout, repository: &repository };
    let spec = wanted.spec()?;
    if !command.dry_run {
        for text in agents::require(host, chosen(&spec.place)).await? {
            watcher.hear(&Event::Notice { text });
        }
        disk_budget::hold_before_a_run(host, &settings, watcher).await;
    }
    let run = new_run_id()?;
    let owner = Owner::this_process(run.as_str(), &format!("windlass run {}", spec.task))?;
    let if_held = IfHeld::waiting(command.wait);
    let held = hold_repository(host, &spec.place.common_dir, &owner, if_held, watcher);
    let held = held.await.map_err(may_wait)?;
    let outcome = match placed(host, &command, (&checkout, original, &repository), run) {
        Ok(context) if command.dry_run => dry_run(&context),
        Ok(context) => begin(host, context, &held, watcher).await,
        Err(fault) => Err(fault),
    };
    held.release(host, outcome).await
}

/// Every agent that may be asked, with its role.
pub(super) fn chosen(place: &Place) -> impl Iterator<Item = (String, AgentChoice)> {
    let first = place.agents.iter().map(|(role, text)| (role.to_string(), text));
    let others = place
        .fallbacks
        .iter()
        .flat_map(|(role, chain)| chain.iter().map(move |text| (format!("{role}'s fallback"), text)));
    first.chain(others).filter_map(|(role, text)| Some((role, AgentChoice::parse(text).ok()?)))
}

/// Resolves everything once more, now that no other run of this repository can move a branch or choose a name: what was
/// found before is only good for a refusal.
fn placed(
    host: &Host,
    command: &StartRun,
    (checkout, original, repository): (&Checkout, &Checkout, &Repository),
    run: RunId,
) -> Result<RunContext, Fault> {
    let settings = host.settings_for(Some(original.work_tree()), &command.settings)?;
    trust::require(host, original, &settings, command.yes)?;
    let wanted = Wanted { command, settings: &settings, checkout, repository };
    let mut spec = wanted.spec()?;
    let (run_dir, stamp) = wanted.run_dir(spec.task.as_str())?;
    spec.place.run_dir = run_dir.to_str().map(str::to_owned).ok_or_else(|| {
        Fault::new(Code::BadArgument, format!("the path {} is not valid UTF-8", run_dir.display()))
    })?;
    spec.place.fence.workspaces = crate::workspaces::choose(host, &settings, checkout)?;
    spec.place.doer_branch = format!("codex/loop-{stamp}-doer");
    spec.place.judge_branch = format!("codex/loop-{stamp}-judge");
    if let Landing::Branch(branch) = &mut spec.landing {
        *branch = free_branch(repository, spec.task.as_str())?;
    }
    host.run_context(run, Spec::JudgedTask(Box::new(spec)), repository.clone(), &settings)
}

/// For commands that can wait.
pub(crate) fn may_wait(fault: Fault) -> Fault {
    if fault.code == Code::RepositoryHeld { fault.hint("`--wait` waits for it") } else { fault }
}

/// Gives a lease back whatever came out; the first thing that went wrong is what is told.
pub(super) async fn released<T>(host: &Host, lease: &Lease, outcome: Result<T, Fault>) -> Result<T, Fault> {
    let given_back = host.journal.release(lease).await.map_err(journal_fault);
    let outcome = outcome?;
    given_back.map(|()| outcome)
}

pub(super) async fn begin(
    host: &Host,
    context: RunContext,
    held: &HeldRepository,
    watcher: &dyn Watcher,
) -> Result<RunOutcome, Fault> {
    let run = context.run.clone();
    watcher.hear(&Event::Started {
        run: run.to_string(),
        task: context.spec.task().to_string(),
        run_dir: context.spec.place().run_dir.clone(),
    });
    let from = context.repository.head().map_err(git_fault)?;
    if let Some(text) = crate::submodules::in_words(&context.repository, &from.tree) {
        watcher.hear(&Event::Notice { text });
    }
    let spec = context.spec.clone();
    let by = Actor::Human(host.person());
    let first = Some((by, Observation::Start { run, spec }));
    let past = Past::unread(&context.run);
    drive(host, context, held, watcher, (past, first)).await
}

/// Takes the run's lease, brings in one observation, and drives to the end.
pub(crate) async fn drive(
    host: &Host,
    context: RunContext,
    held: &HeldRepository,
    watcher: &dyn Watcher,
    known: (Past, Option<(Actor, Observation)>),
) -> Result<RunOutcome, Fault> {
    crate::fence::require(&context)?;
    let run = context.run.clone();
    let lease = hold_run(host, &run, &held.owner).await?;
    // Boxed, because everything that drives a run would carry its whole state around otherwise.
    let outcome = Box::pin(drive_held(host, context, (held, &lease), watcher, known)).await;
    released(host, &lease, outcome).await.map_err(|fault| fault.about(run.as_str()))
}

async fn drive_held(
    host: &Host,
    context: RunContext,
    (held, lease): (&HeldRepository, &Lease),
    watcher: &dyn Watcher,
    (past, first): (Past, Option<(Actor, Observation)>),
) -> Result<RunOutcome, Fault> {
    let context = Arc::new(context);
    let hands = Hands { lease: lease.clone(), repository: Some(held) };
    let mut driver = Driver::open(host, context, hands, watcher, (past, Aim::GoOn)).await?;
    if let Some((by, observation)) = first {
        driver.observe(by, observation).await?;
    }
    let how = driver.go_to_the_end().await?;
    outcome(host, driver.run(), how, driver.spent())
}

/// A dead holder of the run held its repository too, and that was said when the repository was taken.
pub(crate) async fn hold_run(host: &Host, run: &RunId, owner: &Owner) -> Result<Lease, Fault> {
    match holder::hold(&host.journal, run.as_str(), owner).await? {
        Ok((lease, _)) => Ok(lease),
        Err(held) => Err(holder::held_fault("the run", &held)),
    }
}

/// Prompts and commands, as the original's dry run leaves them; nothing is started and nothing is journaled.
fn dry_run(context: &RunContext) -> Result<RunOutcome, Fault> {
    use crate::durable_file::ensure;
    use windlass_artifact_formats::task_loop::{Summary, render_task_text};
    use windlass_protocols::effect::CloseRun;
    let spec = context.task_loop()?;
    let run_dir = context.run_dir();
    let round = context.round_dir(1);
    std::fs::create_dir_all(&round)
        .map_err(|error| crate::fault::file_fault("make the directory", &round, &error))?;
    ensure(&run_dir.join("task.txt"), render_task_text(context.spec.text()).as_bytes())?;
    let mut roles = vec![Role::Doer, Role::Judge];
    if spec.audit == AuditPolicy::Required {
        roles.push(Role::Auditor);
    }
    for (name, text) in crate::effect_runner::dry_run_prompts(context, spec, &roles) {
        ensure(&round.join(name), text.as_bytes())?;
    }
    let gate = if spec.audit == AuditPolicy::Required { "dry-run" } else { "not-run" };
    let closing = CloseRun {
        final_verdict: "dry-run".to_owned(),
        judge_verdict: "dry-run".to_owned(),
        audit_gate: gate.to_owned(),
        rounds_completed: 1,
    };
    let summary = crate::projection::summary(context, spec.audit, &closing).render();
    ensure(&run_dir.join(Summary::FILE_NAME), summary.as_bytes())?;
    let would_run = roles
        .iter()
        .map(|role| format!("{role}: {}", context.spec.place().agents.get(role).map_or("", String::as_str)))
        .collect();
    Ok(RunOutcome {
        run_dir: context.spec.place().run_dir.clone(),
        judge_verdict: closing.judge_verdict,
        audit_gate: closing.audit_gate,
        rounds_completed: closing.rounds_completed,
        ..RunOutcome::dry_run(vec![format!("the prompts are in {}", round.display())], would_run)
    })
}

pub(crate) fn outcome(host: &Host, run: &Run, driven: Driven, spent: Spent) -> Result<RunOutcome, Fault> {
    let protocol = find::protocol(run)?;
    let status = match driven {
        Driven::Interrupted => Status::Interrupted,
        Driven::Ended => {
            crate::headline::status_of(run).ok_or_else(|| bug("the run ended without an end"))?
        }
    };
    let explanation = explain(run);
    let mut outcome = RunOutcome {
        run: run.started.as_ref().map(|started| started.id.to_string()).unwrap_or_default(),
        status,
        run_dir: protocol.place().run_dir.clone(),
        // The original knows no word for an interrupted task; the other loops say what happened.
        final_verdict: match protocol {
            Protocol::JudgedTask(_) => "needs-human".to_owned(),
            Protocol::FeedbackControl(_) | Protocol::GoalContract(_) | Protocol::RoadmapRounds(_) => {
                status.word().to_owned()
            }
        },
        judge_verdict: "not-run".to_owned(),
        audit_gate: "not-run".to_owned(),
        said_by: SaidBy::default(),
        rounds_completed: 0,
        landed: None,
        spent,
        explanation: ExplanationView {
            now: explanation.now,
            because: explanation.because,
            commands: explanation.commands,
            driver: None,
        },
        would_run: Vec::new(),
        control: None,
        goal: None,
        roadmap: None,
    };
    match protocol {
        Protocol::JudgedTask(state) => {
            if let Some(end) = &state.end {
                end.legacy_word().clone_into(&mut outcome.final_verdict);
            }
            if let Some((word, _)) = &state.verdict {
                VerdictWord::word(*word).clone_into(&mut outcome.judge_verdict);
            }
            if let Some((word, _)) = &state.gate {
                word.gate_word().clone_into(&mut outcome.audit_gate);
            }
            outcome.said_by = super::queries::said_by(state);
            outcome.rounds_completed = state.rounds_completed;
            outcome.landed = state.landed.as_ref().map(|(commit, reference)| LandedView {
                commit: commit.to_string(),
                reference: reference.clone(),
            });
        }
        Protocol::FeedbackControl(state) => {
            if let Some(end) = &state.end {
                end.word().clone_into(&mut outcome.final_verdict);
            }
            outcome.rounds_completed = state.stack.first().map_or(0, |frame| frame.actuations);
            let now = Branch::now(host, state);
            outcome.control = Some(super::control_loop::report::of(host, run, state, now));
            let commands = std::mem::take(&mut outcome.explanation.commands);
            outcome.explanation.commands = now.possible(state, commands);
        }
        Protocol::GoalContract(state) => {
            if let Some(end) = &state.end {
                outcome.final_verdict = end.outcome().unwrap_or_else(|| end.word().to_owned());
            }
            outcome.rounds_completed = u32::try_from(state.past.len()).unwrap_or(u32::MAX);
            outcome.goal = Some(super::goal_loop::report::of(run, state));
        }
        Protocol::RoadmapRounds(state) => {
            if let Some(end) = &state.end {
                end.word().clone_into(&mut outcome.final_verdict);
            }
            outcome.rounds_completed = u32::try_from(state.merged.len()).unwrap_or(u32::MAX);
            outcome.roadmap = Some(super::roadmap_loop::report::of(run, state));
        }
    }
    Ok(outcome)
}

/// Short, unique and easy to type: no vowels, so that no word comes out, and no letters that look alike.
pub(crate) fn new_run_id() -> Result<RunId, Fault> {
    const LETTERS: &[u8; 20] = b"bcdfghjkmnpqrstvwxz2";
    let mut random = [0_u8; 8];
    getrandom::fill(&mut random).map_err(|error| bug(format!("there is no randomness: {error}")))?;
    let text: String =
        random.iter().map(|byte| char::from(LETTERS[usize::from(*byte) % LETTERS.len()])).collect();
    Ok(RunId::new(text))
}
