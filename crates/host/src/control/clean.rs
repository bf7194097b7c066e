//! Takes away what ended runs left behind, and nothing that is not kept elsewhere first. One function decides; a dry run
//! only stops before the last step.

mod rounds;

use super::find;
use super::resume::Silence;
use super::scratch::Scratch;
use crate::clock::SystemClock;
use crate::context::RunContext;
use crate::effect_runner::by_hand::Place;
use crate::fault::{git_fault, journal_fault};
use crate::headline;
use crate::holder::{IfHeld, Owner, hold_repository};
use crate::host::Host;
use std::path::{Path, PathBuf};
use windlass_control_api::commands::{Clean, CleanMode};
use windlass_control_api::views::{CleanItem, CleanReport};
use windlass_control_api::{Code, Fault};
use windlass_engine::{Clock, Journal, RunHead, Stored};
use windlass_git_workspaces::{
    Checkout, Commit, GitError, Hazard, IgnoredFiles, Keeping, Moment, Obstacle, ReferenceUpdate, Removal,
    SnapshotLimits,
};
use windlass_protocols::kernel::person::Word;
use windlass_protocols::protocol::Protocol;
use windlass_protocols::protocol::feedback_control::state::State as ControlState;
use windlass_protocols::{CommitId, Fact, Role, Run};

/// A maker's ignored files are work too (notes, databases, settings), but not gigabytes of build output.
pub(crate) const KEPT_IGNORED_FILES: IgnoredFiles =
    IgnoredFiles::Recorded(SnapshotLimits { paths: 20_000, bytes: 256 * 1024 * 1024 });

pub(crate) async fn clean(host: &Host, command: Clean) -> Result<CleanReport, Fault> {
    let mut report =
        CleanReport { removed: command.mode == CleanMode::Remove, items: Vec::new(), kept: Vec::new() };
    for head in chosen(host, &command).await? {
        let (head, stored, run) = find::run(host, head.run.as_str()).await?;
        let protocol = find::protocol(&run)?;
        if let Some(why) = must_stay(host, &head, &run).await? {
            report.kept.push(item(&head, "run", &protocol.place().run_dir, why));
            continue;
        }
        // A repository that is gone took its worktrees along; what is left is ours alone.
        if Checkout::discover(Path::new(&protocol.place().repository)).is_err() {
            scratch(host, &head, &stored, command.mode, &mut report)?;
            continue;
        }
        let context = match find::context(host, &head.run, protocol) {
            Ok(context) => context,
            // What is named must be answered; one of many does not keep the others from being cleaned.
            Err(fault) if command.run.is_some() => return Err(fault),
            Err(fault) => {
                report.kept.push(item(&head, "run", &protocol.place().run_dir, fault.message));
                continue;
            }
        };
        let owner = Owner::this_process(head.run.as_str(), "windlass clean")?;
        let common_dir = &protocol.place().common_dir;
        match hold_repository(host, common_dir, &owner, IfHeld::GiveUp, &Silence).await {
            Ok(repository) => {
                let rows = (&head, stored.as_slice());
                let done = sweep(&context, rows, protocol, command.mode, &mut report).and_then(|()| {
                    sweep_by_hand(&context, (&head, &stored), protocol, command.mode, &mut report)
                });
                repository.release(host, done).await?;
                scratch(host, &head, &stored, command.mode, &mut report)?;
            }
            Err(fault) if fault.code == Code::RepositoryHeld => {
                report.kept.push(item(&head, "run", &protocol.place().run_dir, fault.message));
            }
            Err(fault) => return Err(fault),
        }
    }
    Ok(report)
}

async fn chosen(host: &Host, command: &Clean) -> Result<Vec<RunHead>, Fault> {
    if let Some(name) = &command.run {
        return Ok(vec![find::head(host, name).await?]);
    }
    let Some(repository) = &command.repository else {
        return Err(Fault::new(Code::BadArgument, "neither a run nor a repository is named"));
    };
    let checkout = Checkout::discover(repository).map_err(git_fault)?;
    let common_dir = checkout.common_dir().to_string_lossy().into_owned();
    let heads = host.journal.runs().await.map_err(journal_fault)?;
    Ok(heads.into_iter().filter(|head| headline::common_dir(head).as_ref() == Some(&common_dir)).collect())
}

async fn must_stay(host: &Host, head: &RunHead, run: &Run) -> Result<Option<String>, Fault> {
    if !run.ended {
        return Ok(Some(format!("it has not ended; `windlass resume {0}` or `windlass stop {0}`", head.run)));
    }
    if let Some(taken) = &run.taken_over {
        let why = format!("{} works on it by hand; `windlass hand-back {}` ends that", taken.by, head.run);
        return Ok(Some(why));
    }
    Ok(find::driver_of(host, &head.run)
        .await?
        .map(|driving| format!("process {} uses it", driving.owner.process.pid)))
}

fn item(head: &RunHead, kind: &str, what: &str, why: String) -> CleanItem {
    CleanItem { run: head.run.to_string(), kind: kind.to_owned(), what: what.to_owned(), why }
}

fn sweep(
    context: &RunContext,
    (head, stored): (&RunHead, &[Stored]),
    protocol: &Protocol,
    mode: CleanMode,
    report: &mut CleanReport,
) -> Result<(), Fault> {
    let state = match protocol {
        Protocol::JudgedTask(state) => state,
        Protocol::FeedbackControl(state) => return sweep_control(context, head, state, mode, report),
        Protocol::GoalContract(state) => {
            let commit = state.head.as_ref().map(|(commit, _)| commit);
            return sweep_places(context, head, commit, [Role::Builder, Role::Evaluator], mode, report);
        }
        Protocol::RoadmapRounds(state) => {
            return rounds::sweep(context, (head, stored), state, mode, report);
        }
    };
    let Some((_, base_tree)) = &state.base else { return Ok(()) };
    let base = context.base(base_tree)?;
    let place = protocol.place();
    for (role, branch) in [(Role::Doer, &place.doer_branch), (Role::Judge, &place.judge_branch)] {
        let path = context.worktree(role);
        let shown = path.display().to_string();
        if state.spec.adopted.is_some() {
            let why = "the original made it; remove it with `git worktree remove`".to_owned();
            report.kept.push(item(head, "worktree", &shown, why));
            continue;
        }
        if path.symlink_metadata().is_ok() {
            match worktree_of(context, &Corner::of(context, role), &base, mode)? {
                Ok(why) => report.items.push(item(head, "worktree", &shown, why)),
                Err(why) => {
                    report.kept.push(item(head, "worktree", &shown, why));
                    continue;
                }
            }
        }
        branch_of(context, head, branch, &base, mode, report)?;
    }
    Ok(())
}

/// The worktrees go; the branch is what the loop was run for and stays.
fn sweep_control(
    context: &RunContext,
    head: &RunHead,
    state: &ControlState,
    mode: CleanMode,
    report: &mut CleanReport,
) -> Result<(), Fault> {
    if state.head.is_none() {
        return Ok(());
    }
    sweep_places(context, head, state.head.as_ref(), [Role::Actuator, Role::Controller], mode, report)?;
    for (depth, node) in state.spec.root.chain().enumerate() {
        let depth = u32::try_from(depth).unwrap_or(u32::MAX);
        for number in 0..node.sensors.len() {
            let path = context.sensor_worktree(depth, number);
            if path.symlink_metadata().is_err() {
                continue;
            }
            let why = "a copy that a sensor measured; the commits have all of it".to_owned();
            if mode == CleanMode::Remove {
                let worktree = context.repository.worktree_at(&path).map_err(git_fault)?;
                context.repository.drop_copy(&worktree).map_err(git_fault)?;
            }
            report.items.push(item(head, "worktree", &path.display().to_string(), why));
        }
    }
    Ok(())
}

/// The worktrees of a loop whose work is in commits of a branch of its own.
fn sweep_places(
    context: &RunContext,
    head: &RunHead,
    newest: Option<&CommitId>,
    roles: [Role; 2],
    mode: CleanMode,
    report: &mut CleanReport,
) -> Result<(), Fault> {
    let Some(commit) = newest else { return Ok(()) };
    let base = context.repository.resolve_commit(commit.as_str()).map_err(git_fault)?;
    for role in roles {
        let path = context.worktree(role);
        if path.symlink_metadata().is_err() {
            continue;
        }
        let shown = path.display().to_string();
        match worktree_of(context, &Corner::of(context, role), &base, mode)? {
            Ok(why) => report.items.push(item(head, "worktree", &shown, why)),
            Err(why) => report.kept.push(item(head, "worktree", &shown, why)),
        }
    }
    let branch = &context.spec.place().doer_branch;
    report.kept.push(item(head, "branch", branch, "it is what the loop made".to_owned()));
    Ok(())
}

/// A worktree of a run, and how its content is kept.
struct Corner {
    path: PathBuf,
    key: String,
    kept_name: String,
    ignored: IgnoredFiles,
}

impl Corner {
    fn of(context: &RunContext, role: Role) -> Self {
        let ignored = match role {
            Role::Doer | Role::Actuator | Role::Builder | Role::Implementer => KEPT_IGNORED_FILES,
            // Made again for every check from the change itself: what is ignored there is output of checks.
            Role::Judge
            | Role::Auditor
            | Role::Sensor
            | Role::Controller
            | Role::Planner
            | Role::Evaluator
            | Role::Reviewer
            | Role::Investigator => IgnoredFiles::LeftOut,
        };
        Self {
            path: context.worktree(role),
            key: context.index_key(role),
            kept_name: context.kept_name(role),
            ignored,
        }
    }
}

/// What people who took the run over left: their worktrees as any maker's, their branches once they are kept.
fn sweep_by_hand(
    context: &RunContext,
    (head, stored): (&RunHead, &[Stored]),
    protocol: &Protocol,
    mode: CleanMode,
    report: &mut CleanReport,
) -> Result<(), Fault> {
    let base = match protocol {
        Protocol::JudgedTask(state) => {
            let Some((_, base_tree)) = &state.base else { return Ok(()) };
            context.base(base_tree)?
        }
        Protocol::GoalContract(state) => {
            let Some((commit, _)) = &state.head else { return Ok(()) };
            context.repository.resolve_commit(commit.as_str()).map_err(git_fault)?
        }
        Protocol::FeedbackControl(_) | Protocol::RoadmapRounds(_) => return Ok(()),
    };
    for row in stored {
        let fact = row.fact(&head.run).map_err(journal_fault)?;
        let Fact::PersonSaid { word: Word::TakeOver { branch }, .. } = fact else { continue };
        let place = Place::of(context, &branch);
        let shown = place.path.display().to_string();
        if place.path.symlink_metadata().is_ok() {
            let corner = Corner {
                path: place.path,
                key: place.key,
                kept_name: place.kept_name.clone(),
                ignored: KEPT_IGNORED_FILES,
            };
            match worktree_of(context, &corner, &base, mode)? {
                Ok(why) => report.items.push(item(head, "worktree", &shown, why)),
                Err(why) => {
                    report.kept.push(item(head, "worktree", &shown, why));
                    continue;
                }
            }
        }
        person_s_branch(context, head, (&branch, &place.kept_name), mode, report)?;
    }
    Ok(())
}

/// What was committed on it may be nowhere else, so the branch goes only after a reference of ours holds its tip.
fn person_s_branch(
    context: &RunContext,
    head: &RunHead,
    (branch, kept_name): (&str, &str),
    mode: CleanMode,
    report: &mut CleanReport,
) -> Result<(), Fault> {
    let repository = &context.repository;
    let Some(tip) = repository.read_reference(&format!("refs/heads/{branch}")).map_err(git_fault)? else {
        return Ok(());
    };
    let kept = format!("refs/windlass/kept/{kept_name}-branch");
    if mode == CleanMode::Remove {
        let earlier = repository.read_reference(&kept).map_err(git_fault)?;
        let keeps = earlier.as_ref() == Some(&tip)
            || repository.update_reference(&kept, &tip, earlier.as_ref()).map_err(git_fault)?
                == ReferenceUpdate::Updated;
        let gone = keeps
            && repository.delete_branch_if(branch, &tip).map_err(git_fault)? == ReferenceUpdate::Updated;
        if !gone {
            report.kept.push(item(head, "branch", branch, "it moved just now".to_owned()));
            return Ok(());
        }
    }
    let verb = if mode == CleanMode::DryRun { "would be" } else { "is" };
    report.items.push(item(head, "branch", branch, format!("what it stood at {verb} kept as {kept}")));
    Ok(())
}

/// Why it goes and where its content is kept, or why it stays.
fn worktree_of(
    context: &RunContext,
    corner: &Corner,
    base: &Commit,
    mode: CleanMode,
) -> Result<Result<String, String>, Fault> {
    let repository = &context.repository;
    let Corner { path, key, kept_name: name, ignored } = corner;
    let ignored = *ignored;
    let worktree = repository.worktree_at(path).map_err(git_fault)?;
    let but = match ignored {
        IgnoredFiles::Recorded(_) => "",
        IgnoredFiles::LeftOut => ", but for the ignored output of checks",
    };
    let locked = || "it is locked".to_owned();
    let obstacle = repository.obstacle_to_removal(&worktree, key, base, ignored);
    match obstacle {
        Ok(None) => {}
        Ok(Some(Obstacle::Locked)) => return Ok(Err(locked())),
        Ok(Some(Obstacle::CannotBeKept(hazards))) => return Ok(Err(unkept(&hazards))),
        Err(error @ (GitError::NotOurs { .. } | GitError::UnusableWorkspace { .. })) => {
            return Ok(Err(error.to_string()));
        }
        Err(error) => return Err(git_fault(error)),
    }
    if mode == CleanMode::DryRun {
        return Ok(Ok(format!("its content{but} would be kept as refs/windlass/kept/{name}")));
    }
    let time = Moment { seconds: seconds(), offset_minutes: 0 };
    let keeping = Keeping { name, time, ignored };
    match repository.remove_worktree(&worktree, key, base, &keeping).map_err(git_fault)? {
        Removal::Removed { kept: Some(kept) } => {
            Ok(Ok(format!("its content{but} is kept as {}", kept.reference)))
        }
        Removal::Removed { kept: None } => Ok(Ok("nothing in it was not kept already".to_owned())),
        // Somebody was faster between the look and the removal.
        Removal::NotEverythingCouldBeKept { kept } => Ok(Err(unkept(&kept.hazards))),
        Removal::Locked => Ok(Err(locked())),
    }
}

fn branch_of(
    context: &RunContext,
    head: &RunHead,
    branch: &str,
    base: &Commit,
    mode: CleanMode,
    report: &mut CleanReport,
) -> Result<(), Fault> {
    let repository = &context.repository;
    let found = repository.read_reference(&format!("refs/heads/{branch}")).map_err(git_fault)?;
    match found {
        None => {}
        Some(found) if found != base.id => {
            report.kept.push(item(head, "branch", branch, "somebody committed to it".to_owned()));
        }
        Some(_) => {
            let why = "it stands at the base and holds nothing of its own".to_owned();
            if mode == CleanMode::Remove {
                let stays = match repository.delete_branch_if(branch, &base.id) {
                    Ok(ReferenceUpdate::Updated) => None,
                    Ok(ReferenceUpdate::Conflict { .. }) => Some("it moved just now".to_owned()),
                    Err(error @ GitError::ReferenceLocked { .. }) => Some(error.to_string()),
                    Err(error) => return Err(git_fault(error)),
                };
                if let Some(why) = stays {
                    report.kept.push(item(head, "branch", branch, why));
                    return Ok(());
                }
            }
            report.items.push(item(head, "branch", branch, why));
        }
    }
    Ok(())
}

/// What the steps left in the private directory. What is sealed evidence already goes.
fn scratch(
    host: &Host,
    head: &RunHead,
    stored: &[Stored],
    mode: CleanMode,
    report: &mut CleanReport,
) -> Result<(), Fault> {
    let directory = host.state.run(&head.run);
    if !directory.is_dir() {
        return Ok(());
    }
    let scratch = Scratch::of(&directory, &head.run, stored, &host.evidence)?;
    if mode == CleanMode::Remove {
        scratch.remove_what_is_sealed(&directory)?;
    }
    let shown = |path: &Path| path.display().to_string();
    for (path, why) in &scratch.kept_nowhere_else {
        report.kept.push(item(head, "files", &shown(path), (*why).to_owned()));
    }
    let why = "prompts, answers and logs in it are sealed evidence already".to_owned();
    if scratch.kept_nowhere_else.is_empty() {
        report.items.push(item(head, "scratch files", &shown(&directory), why));
    } else if !scratch.sealed.is_empty() {
        report.items.push(item(head, "scratch files", &shown(&directory.join("effects")), why));
    }
    Ok(())
}

/// What git cannot keep, told by the first few.
fn unkept(hazards: &[Hazard]) -> String {
    let first: Vec<String> = hazards.iter().take(3).map(ToString::to_string).collect();
    let more = if hazards.len() > first.len() { ", …" } else { "" };
    format!("{} things in it cannot be kept by git: {}{more}", hazards.len(), first.join(", "))
}

fn seconds() -> i64 {
    i64::try_from(SystemClock.now().0 / 1000).unwrap_or(i64::MAX)
}
