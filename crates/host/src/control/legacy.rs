//! Takes over a run directory of the original that was cut off. Its flags are not recorded there, so they must be given
//! again; everything else is read from its files, and the engine goes on at the place the files show.

use super::start::{drive, may_wait, new_run_id};
use super::task_spec::{Wanted, free_branch};
use super::trust;
use crate::context::RunContext;
use crate::effect_runner::answer as adopt;
use crate::fault::{file_fault, git_fault};
use crate::holder::{IfHeld, Owner, hold_repository};
use crate::host::Host;
use crate::past::Past;
use std::path::Path;
use windlass_artifact_formats::Reading;
use windlass_artifact_formats::task_loop::{
    AuditReport, Handoff, VerdictReport, WorktreesEnv, parse_task_text,
};
use windlass_control_api::commands::ResumeRun;
use windlass_control_api::events::{Event, Watcher};
use windlass_control_api::views::RunOutcome;
use windlass_control_api::{Code, Fault};
use windlass_git_workspaces::{Checkout, Commit, Patch, SnapshotLimits};
use windlass_protocols::protocol::Spec;
use windlass_protocols::protocol::judged_task::spec::{Adopted, Landing};
use windlass_protocols::{Actor, CommitId, Observation, Role, TreeId};

pub(crate) fn looks_like_one(path: &Path) -> bool {
    path.join("task.txt").is_file() && path.join("rounds").is_dir()
}

pub(crate) async fn take_over(
    host: &Host,
    command: ResumeRun,
    watcher: &dyn Watcher,
) -> Result<RunOutcome, Fault> {
    let directory = Path::new(&command.run);
    let run_dir = directory.canonicalize().map_err(|error| file_fault("find", directory, &error))?;
    if run_dir.join("summary.json").is_file() {
        return Err(refuse("the run has ended: it has a summary.json").hint("start a new run for the task"));
    }
    let Some(mut start) = command.legacy else {
        return Err(refuse("the original does not record its flags").hint(
            "give them again: --rounds, --agent, and --check, --audit-check, --no-audit as in the first call",
        ));
    };
    let env = worktrees_env(&run_dir)?;
    start.repository = env.repo.clone().into();
    start.task = task_text(&run_dir)?;
    start.task_id.get_or_insert(task_id(&run_dir)?);
    let checkout = Checkout::discover(&start.repository).map_err(git_fault)?;
    let settings = host.settings_for(Some(checkout.work_tree()), &start.settings)?;
    trust::require(host, &checkout, &settings, command.yes)?;
    let repository = host.repository(checkout.clone())?;
    // The judge's branch is never committed to, so it still stands at the base the run began with.
    let base = repository.resolve_commit(&format!("refs/heads/{}", env.judge_branch)).map_err(git_fault)?;
    start.base = Some(base.id.to_string());
    let wanted =
        Wanted { command: &start, settings: &settings, checkout: &checkout, repository: &repository };
    let mut spec = wanted.spec()?;
    let place = &mut spec.place;
    place.run_dir = run_dir.to_string_lossy().into_owned();
    place.base_ref = env.base_ref;
    place.base = CommitId::new(base.id.as_str());
    place.doer_branch = env.doer_branch;
    place.judge_branch = env.judge_branch;
    if let Landing::Branch(branch) = &mut spec.landing {
        *branch = free_branch(&repository, spec.task.as_str())?;
    }
    let run = new_run_id()?;
    let whole = Spec::JudgedTask(Box::new(spec.clone()));
    let mut context = host.run_context(run.clone(), whole, repository, &settings)?;
    let mut adopted = position(&context, &run_dir)?;
    adopted.tree = handed_over(&context, &base, adopted.round)?;
    spec.adopted = Some(adopted);
    context.spec = Spec::JudgedTask(Box::new(spec));
    let owner = Owner::this_process(run.as_str(), &format!("windlass resume {}", context.spec.task()))?;
    let if_held = IfHeld::waiting(command.wait);
    let repository = hold_repository(host, &context.spec.place().common_dir, &owner, if_held, watcher);
    let repository = repository.await.map_err(may_wait)?;
    watcher.hear(&Event::Started {
        run: run.to_string(),
        task: context.spec.task().to_string(),
        run_dir: context.spec.place().run_dir.clone(),
    });
    let spec = context.spec.clone();
    let first = (Actor::Human(host.person()), Observation::Start { run, spec });
    let past = Past::unread(&context.run);
    let outcome = drive(host, context, &repository, watcher, (past, Some(first))).await;
    repository.release(host, outcome).await
}

fn refuse(why: &str) -> Fault {
    Fault::new(Code::LegacyRun, why).kept("the directory is as it was")
}

fn worktrees_env(run_dir: &Path) -> Result<WorktreesEnv, Fault> {
    let path = run_dir.join("worktrees.env");
    let bytes = std::fs::read(&path).map_err(|_| {
        refuse("it has no worktrees.env: the original stopped before it had made its worktrees")
            .hint("nothing was done yet; start a new run for the task")
    })?;
    WorktreesEnv::parse(&bytes).map_err(|error| refuse(&error.to_string()))
}

fn task_text(run_dir: &Path) -> Result<String, Fault> {
    let path = run_dir.join("task.txt");
    let bytes = std::fs::read(&path).map_err(|error| file_fault("read", &path, &error))?;
    parse_task_text(&bytes).map_err(|error| refuse(&error.to_string()))
}

/// The task's id stands in the directory's name: `<id>-<8 digits>-<6 digits>`.
fn task_id(run_dir: &Path) -> Result<String, Fault> {
    let name = run_dir.file_name().and_then(|name| name.to_str()).unwrap_or_default();
    let id = windlass_artifact_formats::task_loop::RunDirectoryName::parse(name);
    id.map(|name| name.task_id).ok_or_else(|| {
        refuse("the directory's name does not say which task it is for").hint("give it with --id")
    })
}

/// What the highest round already holds. A file that cannot be read counts as absent, and so does everything that
/// should rest on it: its role has to speak again.
fn position(context: &RunContext, run_dir: &Path) -> Result<Adopted, Fault> {
    let rounds = run_dir.join("rounds");
    let entries = std::fs::read_dir(&rounds).map_err(|error| file_fault("list", &rounds, &error))?;
    let round = entries
        .flatten()
        .filter_map(|entry| entry.file_name().to_str()?.strip_prefix("round-")?.parse::<u32>().ok())
        .max()
        .unwrap_or(1);
    let directory = context.round_dir(round);
    let bytes = |name: &str| std::fs::read(directory.join(name)).ok();
    let reading = Reading::legacy();
    let mut adopted = Adopted { round, tree: None, handoff: None, verdict: None, audit: None };
    let delivered = directory.join("patch.diff").is_file();
    let handoff = bytes(Handoff::FILE_NAME).filter(|_| delivered);
    if let Some(Ok(file)) = handoff.map(|bytes| Handoff::parse(&bytes, &reading)) {
        adopted.handoff = Some(adopt::handoff(context, &file)?);
        if let Some(Ok(file)) =
            bytes(VerdictReport::FILE_NAME).map(|bytes| VerdictReport::parse(&bytes, &reading))
        {
            adopted.verdict = Some(adopt::verdict(context, &file)?);
            if let Some(Ok(file)) =
                bytes(AuditReport::FILE_NAME).map(|bytes| AuditReport::parse(&bytes, &reading))
            {
                adopted.audit = Some(adopt::audit(context, &file)?);
            }
        }
    }
    Ok(adopted)
}

/// The tree the verdicts in the directory speak of: the doer's, if the patch that was judged still says the same. Who
/// changed something since must be judged anew.
fn handed_over(context: &RunContext, base: &Commit, round: u32) -> Result<Option<TreeId>, Fault> {
    let worktree = context.worktree(Role::Doer);
    let Ok(judged) = std::fs::read(context.round_dir(round).join("patch.diff")) else { return Ok(None) };
    if !worktree.is_dir() {
        return Ok(None);
    }
    let repository = &context.repository;
    repository.import(base).map_err(git_fault)?;
    let key = context.index_key(Role::Doer);
    let limits = SnapshotLimits::default();
    let snapshot = repository.snapshot(&worktree, &key, &base.tree, limits).map_err(git_fault)?;
    let patch = repository.patch(&base.tree, &snapshot.tree, judged.len() * 2 + 4096).map_err(git_fault)?;
    Ok(match patch {
        Patch::Complete(ours) if said(&ours) == said(&judged) => Some(TreeId::new(snapshot.tree.as_str())),
        Patch::Complete(_) | Patch::TooLarge { .. } => None,
    })
}

/// A patch without its `index` lines, which name objects at a length of the writer's choosing.
fn said(patch: &[u8]) -> Vec<&[u8]> {
    patch.split(|byte| *byte == b'\n').filter(|line| !line.starts_with(b"index ")).collect()
}
