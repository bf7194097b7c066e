//! One agent plays one role once: shown its tree, given its prompt, watched, its answer read and sealed, and, where it
//! may only read, held to that.

use super::LiveSpend;
use super::agent_end;
use super::answer;
use super::control_loop;
use super::goal_loop;
use super::listen::{Guard, SpendLimits, Watch};
use super::prompt;
use super::roadmap_loop;
use super::step::{self, Counted, Told};
use crate::clock::SystemClock;
use crate::context::{RunContext, git_commit, git_tree};
use crate::durable_file::ensure;
use crate::fault::{bug, file_fault, git_fault, supervisor_fault};
use crate::fence::{self, Step, Who};
use crate::foreign::ForeignShelf;
use crate::spending;
use crate::state_dir::make_private;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use windlass_agent_drivers::{
    Access, AgentChoice, AnswerBy, AnswerSchema, Commands, Invocation, Session, Stdin, driver,
};
use windlass_artifact_formats::task_loop::{AuditReport, VerdictReport};
use windlass_control_api::{Code, Fault};
use windlass_engine::Clock;
use windlass_git_workspaces::{Drift, Fingerprint, SnapshotLimits};
use windlass_process_supervisor::{ChildEnd, ChildSpec, ChildStdin, Found, Redaction, Secrets};
use windlass_protocols::effect::RunAgent;
use windlass_protocols::kernel::budget::Dimension;
use windlass_protocols::outcome::{AgentReport, Answer, StepEnd, Trouble, Usage, WorkspaceAfter};
use windlass_protocols::protocol::Spec;
use windlass_protocols::{ArtifactRef, EffectId, Millis, Outcome, Role, Run, TreeId};

/// How much of what an agent said is shown as its last message.
const LAST_MESSAGE_BYTES: usize = 64 * 1024;
/// Of an event stream every line counts; what is larger than this is no longer one.
const EVENT_LOG_BYTES: u64 = 64 * 1024 * 1024;

pub(super) async fn run(
    context: Arc<RunContext>,
    effect: EffectId,
    asked: RunAgent,
    run: Arc<Run>,
    (told, live): (Told, LiveSpend),
) -> Result<Outcome, Fault> {
    let directory = context.state.effect(&context.run, effect);
    let choice = choice(&context, &asked)?;
    let limits = spend_limits(&context, &asked).await?;
    // One that is at work already is ended by its watch: nobody else would look after it.
    let found = windlass_process_supervisor::find(&directory).map_err(supervisor_fault)?;
    if let (Found::NotStarted, Some(dimension)) = (found, limits.nothing_left()) {
        return Ok(not_begun(&asked, Trouble::CapPassed { dimension }));
    }
    let so_far = asked.session.as_ref().map(|session| agent_end::totals_of(&session.so_far));
    let listening = (context.prices.clone(), context.most_repeats);
    let watch = Watch::new(choice, &directory, limits, listening, so_far)
        .telling(live)
        .guarded(Guard::of(&context.spec));
    let before: Arc<Mutex<Option<Fingerprint>>> = Arc::default();
    let end = {
        let (begin_context, begin_asked, begin_run) = (Arc::clone(&context), asked.clone(), Arc::clone(&run));
        let before = Arc::clone(&before);
        let begin = move || {
            let (spec, fingerprint) = begin(&begin_context, effect, &begin_asked, &begin_run)?;
            if let Ok(mut slot) = before.lock() {
                *slot = fingerprint;
            }
            Ok(spec)
        };
        step::child_in(&context, directory, (told, Some(watch)), begin).await?
    };
    let Some(end) = end else { return Ok(Outcome::Interrupted { usage: Usage::default() }) };
    step::blocking(move || {
        let before = before.lock().ok().and_then(|mut slot| slot.take());
        conclude(&context, effect, &asked, (&end, &run), before)
    })
    .await
}

/// Makes the checkers' worktree show exactly this tree, with git inside it showing the change against the base. Comes
/// back with the fingerprint by which changes are told from now on; in layers they tell of themselves.
pub(super) fn show_tree(context: &RunContext, tree: &TreeId) -> Result<Option<Fingerprint>, Fault> {
    if let Some(layered) = context.layered(Role::Judge)? {
        return layered.show(context, tree).map(|()| None);
    }
    let shown = super::checks::materialise(context, tree)?;
    if context.adopted().is_some() {
        return Ok(Some(shown));
    }
    let repository = &context.repository;
    let worktree = repository.worktree_at(&context.worktree(Role::Judge)).map_err(git_fault)?;
    let base = git_commit(&context.spec.place().base)?;
    repository.restore_worktree(&worktree, &context.index_key(Role::Judge), &base).map_err(git_fault)?;
    Ok(Some(shown))
}

fn begin(
    context: &RunContext,
    effect: EffectId,
    asked: &RunAgent,
    run: &Run,
) -> Result<((ChildSpec, Secrets), Option<Fingerprint>), Fault> {
    let directory = context.state.effect(&context.run, effect);
    let outbox = outbox(&directory);
    // Nobody was started yet who could rightly have left something here.
    if !is_empty_or_absent(&outbox) {
        ForeignShelf::of(context).take(&outbox, &Path::new("outboxes").join(effect.to_string()))?;
    }
    make_private(&outbox)?;
    if let Some(told) = agent_end::usage_file(&directory).parent() {
        make_private(told)?;
    }
    let worktree = place(context, asked);
    let before = match (&context.spec, &asked.tree) {
        (Spec::FeedbackControl(_), _) => control_loop::shown::to_agent(context, asked, run)?,
        (Spec::GoalContract(_), _) => goal_loop::shown::to_agent(context, asked, run)?,
        (Spec::RoadmapRounds(_), _) => roadmap_loop::shown::to_agent(context, effect, asked)?,
        (Spec::JudgedTask(_), tree) => match tree {
            Some(tree) => show_tree(context, tree)?,
            None => None,
        },
    };
    let choice = choice(context, asked)?;
    let access = access(asked);
    let answer_by = driver::answer_by(&choice, access);
    let text = match &context.spec {
        Spec::JudgedTask(_) => prompt::render(context, asked, run, (&outbox, answer_by))?,
        Spec::FeedbackControl(_) => control_loop::prompt::render(context, asked, run, (&outbox, answer_by))?,
        Spec::GoalContract(_) => goal_loop::prompt::render(context, asked, run, (&outbox, answer_by))?,
        Spec::RoadmapRounds(_) => roadmap_loop::prompt::render(context, asked, run, (&outbox, answer_by))?,
    };
    let prompt_file = directory.join("prompt.md");
    context.evidence.seal_at(&prompt::file_name(asked.role), text.as_bytes(), &prompt_file)?;
    let round = told_in(context, asked);
    std::fs::create_dir_all(&round).map_err(|error| file_fault("make the directory", &round, &error))?;
    ensure(&round.join(prompt::file_name(asked.role)), text.as_bytes())?;
    let invocation = Invocation {
        run_id: context.run.to_string(),
        task_id: context.spec.task().to_string(),
        role: driver_role(asked.role),
        round: asked.round,
        attempt: asked.attempt,
        label: label(asked),
        workspace: worktree.clone(),
        outbox,
        prompt_file: prompt_file.clone(),
        access,
        commands: commands(asked.role),
        readable: vec![round],
        session: session(context, &choice, (effect, asked)),
        answer_schema: answer_schema(asked.role, answer_by, &directory)?,
        usage_file: agent_end::usage_file(&directory),
        windlass_program: context.program.clone(),
    };
    let command = driver::build(&choice, &invocation)
        .map_err(|error| Fault::new(Code::UnknownAgent, error.to_string()))?;
    for (file, text) in &command.files {
        if let Some(folder) = file.parent() {
            make_private(folder)?;
        }
        ensure(file, text.as_bytes())?;
    }
    let mut spec = context.child(effect, asked.limits);
    spec.limits.head_bytes = EVENT_LOG_BYTES;
    spec.outlasts_power_cuts = true;
    spec.environment = context.agent_environment(&choice);
    let secrets = context.secrets(&choice);
    spec.secret_names = secrets.keys().cloned().collect();
    spec.program = PathBuf::from(command.program);
    spec.args = command.arguments.into_iter().map(Into::into).collect();
    spec.directory = worktree;
    spec.environment.extend(command.environment.into_iter().map(|(name, value)| (name.into(), value.into())));
    spec.stdin = match command.stdin {
        Stdin::Prompt => ChildStdin::File { path: prompt_file },
        Stdin::None => ChildStdin::Nothing,
    };
    let who = match access {
        Access::ReadWrite => Who::Maker(&choice),
        Access::ReadOnly => Who::Reader(&choice),
    };
    let worktree = spec.directory.clone();
    fence::put_around(context, &mut spec, &Step { directory: &directory, worktree: &worktree, who })?;
    Ok(((spec, secrets), before))
}

/// Which of several steps with the same role and round it is.
fn label(asked: &RunAgent) -> Option<String> {
    let of_work = || asked.work.as_ref().map(|place| place.work.kind.label().to_owned());
    asked.node.as_ref().map(|node| node.label.clone()).or_else(of_work)
}

fn choice(context: &RunContext, asked: &RunAgent) -> Result<AgentChoice, Fault> {
    let own = || context.spec.place().agents.get(&asked.role);
    let text = asked.agent.as_ref().or_else(own);
    let text = text.ok_or_else(|| bug(format!("the run has no agent for the {}", asked.role)))?;
    let choice =
        AgentChoice::parse(text).map_err(|error| Fault::new(Code::UnknownAgent, error.to_string()))?;
    Ok(match &context.spec {
        Spec::JudgedTask(_) | Spec::GoalContract(_) | Spec::RoadmapRounds(_) => choice,
        Spec::FeedbackControl(spec) => control_loop::own_model::given(spec, asked, choice),
    })
}

/// Where its prompt is laid out for people; rounds of a roadmap go by their names.
fn told_in(context: &RunContext, asked: &RunAgent) -> PathBuf {
    match &asked.work {
        Some(asked) => context.run_dir().join("rounds").join(roadmap_loop::folder_name(&asked.work.round)),
        None => context.round_dir(asked.round),
    }
}

/// Where it works: a round of a roadmap has a worktree of its own.
fn place(context: &RunContext, asked: &RunAgent) -> PathBuf {
    match &asked.work {
        Some(asked) => roadmap_loop::worktree_path(context, &asked.worktree),
        None => context.worktree(asked.role),
    }
}

/// Planners and reviewers of a roadmap write documents beside the code; what else they touch is put back.
fn access(asked: &RunAgent) -> Access {
    let documents = asked.work.is_some() && asked.role != Role::Investigator;
    if asked.role.may_write() || documents { Access::ReadWrite } else { Access::ReadOnly }
}

/// The sensors measure after an actuator; it is only to edit.
const fn commands(role: Role) -> Commands {
    if matches!(role, Role::Actuator) { Commands::Off } else { Commands::Allowed }
}

fn session(context: &RunContext, choice: &AgentChoice, (effect, asked): (EffectId, &RunAgent)) -> Session {
    match &asked.session {
        Some(session) => Session::Resume { id: session.id.clone() },
        None => Session::Fresh { id: agent_end::own_session_id(context, choice, effect) },
    }
}

/// Holds a program to the form of its answer where that is how it answers.
fn answer_schema(role: Role, by: AnswerBy, directory: &Path) -> Result<Option<AnswerSchema>, Fault> {
    let text = match (by, role) {
        // Reports of a control loop are Markdown, which no schema describes.
        (AnswerBy::Outbox, _)
        | (
            _,
            Role::Doer
            | Role::Sensor
            | Role::Controller
            | Role::Actuator
            | Role::Builder
            | Role::Implementer
            | Role::Reviewer,
        ) => {
            return Ok(None);
        }
        (_, Role::Investigator) => roadmap_loop::answer::schema(),
        (_, Role::Planner | Role::Evaluator) => goal_loop::answer::schema(role),
        (_, Role::Judge) => VerdictReport::answer_schema(),
        (_, Role::Auditor) => AuditReport::answer_schema(),
    };
    let file = directory.join("answer.schema.json");
    ensure(&file, text.as_bytes())?;
    Ok(Some(AnswerSchema { text, file }))
}

/// What is left for this step of every cap there is on tokens and money.
async fn spend_limits(context: &RunContext, asked: &RunAgent) -> Result<SpendLimits, Fault> {
    let caps = context.spec.caps();
    let mut limits = SpendLimits::default();
    limits.tokens(Dimension::Tokens, asked.limits.tokens);
    limits.money(Dimension::Money, asked.limits.cost_micros);
    limits.tokens(Dimension::StepTokens, caps.step.tokens);
    limits.money(Dimension::StepMoney, caps.step.cost_micros);
    if !caps.day.is_uncapped() {
        let midnight = spending::start_of_day(SystemClock.now());
        let runs = spending::since(&context.journal, midnight).await?;
        let today = runs.iter().flat_map(|run| &run.steps).filter(|step| step.at >= midnight);
        let (tokens, money) = spending::total(today);
        limits.tokens(Dimension::DayTokens, left(caps.day.tokens, tokens));
        limits.money(Dimension::DayMoney, left(caps.day.cost_micros, money));
    }
    if !caps.repository.is_uncapped() {
        let runs = spending::since(&context.journal, Millis(0)).await?;
        let here = runs.iter().filter(|run| run.common_dir == context.spec.place().common_dir);
        let (tokens, money) = spending::total(here.flat_map(|run| &run.steps));
        limits.tokens(Dimension::RepositoryTokens, left(caps.repository.tokens, tokens));
        limits.money(Dimension::RepositoryMoney, left(caps.repository.cost_micros, money));
    }
    Ok(limits)
}

fn left(cap: Option<u64>, used: u64) -> Option<u64> {
    cap.map(|cap| cap.saturating_sub(used))
}

fn not_begun(asked: &RunAgent, trouble: Trouble) -> Outcome {
    Outcome::from(AgentReport {
        role: asked.role,
        end: StepEnd::NotStarted { reason: "nothing is left to spend".to_owned() },
        answer: Answer::Missing,
        workspace: match access(asked) {
            Access::ReadWrite => WorkspaceAfter::MayDiffer,
            Access::ReadOnly => WorkspaceAfter::Unchanged,
        },
        evidence: Vec::new(),
        usage: Usage::default(),
        trouble: Some(trouble),
        session: None,
        model: None,
        last_words: String::new(),
        commands_off: false,
    })
}

pub(super) const fn driver_role(role: Role) -> windlass_agent_drivers::Role {
    match role {
        Role::Doer => windlass_agent_drivers::Role::Doer,
        Role::Judge => windlass_agent_drivers::Role::Judge,
        Role::Auditor => windlass_agent_drivers::Role::Auditor,
        Role::Sensor => windlass_agent_drivers::Role::Sensor,
        Role::Controller => windlass_agent_drivers::Role::Controller,
        Role::Actuator => windlass_agent_drivers::Role::Actuator,
        Role::Planner => windlass_agent_drivers::Role::Planner,
        Role::Builder => windlass_agent_drivers::Role::Builder,
        Role::Evaluator => windlass_agent_drivers::Role::Evaluator,
        Role::Implementer => windlass_agent_drivers::Role::Implementer,
        Role::Reviewer => windlass_agent_drivers::Role::Reviewer,
        Role::Investigator => windlass_agent_drivers::Role::Investigator,
    }
}

fn outbox(directory: &Path) -> PathBuf {
    directory.join("outbox")
}

fn is_empty_or_absent(directory: &Path) -> bool {
    match directory.symlink_metadata() {
        Err(_) => true,
        Ok(found) if !found.is_dir() => false,
        Ok(_) => std::fs::read_dir(directory).is_ok_and(|mut entries| entries.next().is_none()),
    }
}

fn conclude(
    context: &RunContext,
    effect: EffectId,
    asked: &RunAgent,
    (end, run): (&ChildEnd, &Run),
    before: Option<Fingerprint>,
) -> Result<Outcome, Fault> {
    let directory = context.state.effect(&context.run, effect);
    let choice = choice(context, asked)?;
    let ended = agent_end::read(context, &choice, (effect, asked), end, &directory);
    let usage = ended.usage;
    let step_end = match step::count(end, &directory) {
        Counted::Lost(reason) => return Ok(Outcome::Lost { reason, usage }),
        Counted::Interrupted => return Ok(Outcome::Interrupted { usage }),
        Counted::Ended(step_end) => step_end,
    };
    let last_words =
        if step_end == (StepEnd::Exited { code: 0 }) { String::new() } else { step::last_words(&directory) };
    let mut evidence = seal_story(context, &directory, asked.role, ended.last_message.as_deref())?;
    let redaction = context.redaction(&choice);
    let left = (outbox(&directory), redaction);
    let answer = match control_loop::answer::out_of_time(context, asked, &step_end)? {
        Some(reading) if ended.trouble.is_none() => reading,
        _ => answer_of(context, asked, &choice, (&ended, &left), &mut evidence)?,
    };
    let workspace = if access(asked) == Access::ReadWrite {
        WorkspaceAfter::MayDiffer
    } else if asked.work.is_some() {
        roadmap_loop::shown::after(context, before.as_ref(), changed_paths)
    } else {
        let (tree, at) = shown(context, asked, run)?;
        held_to_reading(context, asked, (&tree, &at), before)?
    };
    Ok(Outcome::from(AgentReport {
        role: asked.role,
        end: step_end,
        answer,
        workspace,
        evidence,
        usage,
        trouble: ended.trouble,
        session: ended.session,
        model: ended.model,
        last_words,
        commands_off: driver::commands_off(&choice, commands(asked.role)),
    }))
}

/// What it left in its outbox or said, read and sealed.
fn answer_of(
    context: &RunContext,
    asked: &RunAgent,
    choice: &AgentChoice,
    (ended, (outbox, redaction)): (&agent_end::Ended, &(PathBuf, Redaction)),
    evidence: &mut Vec<ArtifactRef>,
) -> Result<Answer, Fault> {
    let answer_by = driver::answer_by(choice, access(asked));
    if matches!(context.spec, Spec::FeedbackControl(_)) {
        let said = ended.last_message.as_deref().filter(|_| answer_by != AnswerBy::Outbox);
        let commands_off = driver::commands_off(choice, commands(asked.role));
        return control_loop::answer::read(
            context,
            (outbox, redaction),
            asked,
            (said, commands_off),
            evidence,
        );
    }
    if matches!(context.spec, Spec::GoalContract(_)) {
        let said = ended.spoken.as_deref().or(ended.last_message.as_deref());
        let said = said.filter(|_| answer_by != AnswerBy::Outbox);
        return goal_loop::answer::read(context, (outbox, redaction), asked, said, evidence);
    }
    if matches!(context.spec, Spec::RoadmapRounds(_)) {
        let said = ended.spoken.as_deref().or(ended.last_message.as_deref());
        let said = said.filter(|_| answer_by != AnswerBy::Outbox);
        return roadmap_loop::answer::read(context, (outbox, redaction), asked, said, evidence);
    }
    let answer = match &ended.spoken {
        Some(spoken) => answer::spoken(context, asked, spoken, evidence)?,
        None => answer::read(context, (outbox, redaction), asked, evidence)?,
    };
    Ok(match (answer, answer_by) {
        // Whoever cannot write is not to be told of a file that it did not leave.
        (Answer::Missing, AnswerBy::FinalMessage | AnswerBy::ClosingWord) => {
            Answer::Malformed { faults: vec!["the final message holds no JSON object".to_owned()] }
        }
        (answer, _) => answer,
    })
}

/// The tree that a reader was shown, and the commit at which git inside it stood.
fn shown(
    context: &RunContext,
    asked: &RunAgent,
    run: &Run,
) -> Result<(windlass_git_workspaces::TreeId, windlass_git_workspaces::CommitId), Fault> {
    match (&context.spec, &asked.tree) {
        (Spec::FeedbackControl(_), _) => {
            let head = control_loop::shown::head(context, run)?;
            Ok((control_loop::shown::tree_for(context, asked.role, run)?, head.id))
        }
        (Spec::GoalContract(_), _) => {
            let head = goal_loop::shown::head(context, run)?;
            Ok((goal_loop::shown::tree_for(context, asked, run)?, head.id))
        }
        (Spec::RoadmapRounds(_), _) => Err(bug("what a round shows is compared by its fingerprint")),
        (Spec::JudgedTask(_), Some(tree)) => Ok((git_tree(tree)?, git_commit(&context.spec.place().base)?)),
        (Spec::JudgedTask(_), None) => Err(bug("a reader was shown no tree")),
    }
}

/// Prompt, last message and everything that was printed.
fn seal_story(
    context: &RunContext,
    directory: &Path,
    role: Role,
    last_message: Option<&str>,
) -> Result<Vec<ArtifactRef>, Fault> {
    let name = prompt::legacy_role(role);
    let stdout = step::log(directory, "stdout.log");
    let stderr = step::log(directory, "stderr.log");
    let from = stdout.len().saturating_sub(LAST_MESSAGE_BYTES);
    let last = match last_message {
        Some(message) => message.to_owned(),
        None => String::from_utf8_lossy(&stdout[from..]).into_owned(),
    };
    let mut evidence = vec![
        context.evidence.seal(&prompt::file_name(role), &step::log(directory, "prompt.md"))?,
        context.evidence.seal(&format!("{name}.last.md"), last.as_bytes())?,
    ];
    if stdout.len() > LAST_MESSAGE_BYTES || last_message.is_some() {
        evidence.push(context.evidence.seal(&format!("{name}.stdout.log"), &stdout)?);
    }
    if !stderr.is_empty() {
        evidence.push(context.evidence.seal(&format!("{name}.stderr.log"), &stderr)?);
    }
    Ok(evidence)
}

/// Compares the tree and the sealed files of the round with what they were before a reader had them.
fn held_to_reading(
    context: &RunContext,
    asked: &RunAgent,
    (tree, at): (&windlass_git_workspaces::TreeId, &windlass_git_workspaces::CommitId),
    before: Option<Fingerprint>,
) -> Result<WorkspaceAfter, Fault> {
    let repository = &context.repository;
    let layered = context.layered(asked.role)?;
    let mut paths = if let Some(layered) = &layered {
        match layered.changes(context, (asked.role, tree), SnapshotLimits::NONE) {
            Ok(snapshot) => snapshot.changes.iter().map(|change| change.path.to_string()).collect(),
            Err(error) => vec![format!("the worktree itself: {error}")],
        }
    } else if let Some(fingerprint) = before {
        match repository.drift_since(&fingerprint) {
            Ok(drift) => changed_paths(&drift),
            Err(error) => vec![format!("the worktree itself: {error}")],
        }
    } else {
        // The engine that took the fingerprint is gone: look at all of the content instead.
        let key = format!("{}-after", context.index_key(asked.role));
        let limits = SnapshotLimits::NONE;
        let found = repository.snapshot(&place(context, asked), &key, tree, limits);
        repository.forget_index(&key);
        match found {
            Ok(snapshot) => snapshot.changes.iter().map(|change| change.path.to_string()).collect(),
            Err(error) => vec![format!("the worktree itself: {error}")],
        }
    };
    // A commit or another branch leaves the files as they were, and is writing all the same.
    if let Some(layered) = &layered {
        if !layered.stands_at(context, at) {
            paths.push("HEAD".to_owned());
        }
    } else if context.adopted().is_none() {
        let worktree = repository.worktree_at(&place(context, asked)).map_err(git_fault)?;
        if !repository.stands_at(&worktree, at) {
            paths.push("HEAD".to_owned());
        }
    }
    paths.extend(changed_artifacts(context, asked));
    paths.truncate(50);
    Ok(if paths.is_empty() { WorkspaceAfter::Unchanged } else { WorkspaceAfter::Changed { paths } })
}

/// New ignored files are build output and allowed; everything else a reader leaves behind is not.
fn changed_paths(drift: &Drift) -> Vec<String> {
    drift.changed.iter().chain(&drift.deleted).chain(&drift.added).map(ToString::to_string).collect()
}

fn changed_artifacts(context: &RunContext, asked: &RunAgent) -> Vec<String> {
    // Only a task loop lays its artifacts out in the round's folder; what is not there was changed by nobody.
    if context.task_loop().is_err() {
        return Vec::new();
    }
    let round = context.round_dir(asked.round);
    asked
        .inputs
        .iter()
        .filter(|input| crate::projection::is_round_file(&input.name))
        .filter(|input| {
            let found = crate::evidence::file_digest(&round.join(&input.name));
            !found.is_ok_and(|digest| digest == input.digest)
        })
        .map(|input| input.name.clone())
        .collect()
}
