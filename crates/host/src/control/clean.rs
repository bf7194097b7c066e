//! Takes away what ended runs left behind, and nothing that is not kept elsewhere first. One function decides; a dry run
//! only stops before the last step.

mod budget;
mod caches;
mod checkouts;
mod expiry;
mod keeping;
mod rounds;
pub(crate) mod shared;

use super::resume::Silence;
use super::scratch::Scratch;
use super::{disk_budget, find, rerun};
use crate::context::RunContext;
use crate::effect_runner::by_hand::Place;
use crate::fault::{git_fault, journal_fault};
use crate::headline;
use crate::holder::{IfHeld, Owner, hold_repository};
use crate::host::Host;
use keeping::{Corner, branch_at_base, branch_once_kept, worktree_of};
use std::path::{Path, PathBuf};
use windlass_control_api::commands::{Clean, CleanMode};
use windlass_control_api::views::{CleanItem, CleanReport};
use windlass_control_api::{Code, Fault};
use windlass_engine::{Journal, RunHead, Stored};
use windlass_git_workspaces::{Checkout, worktree_set_apart_in};
use windlass_protocols::kernel::person::Word;
use windlass_protocols::protocol::Protocol;
use windlass_protocols::protocol::feedback_control::state::State as ControlState;
use windlass_protocols::{CommitId, Fact, Role, Run};

pub(crate) use budget::{Held, hold_to};
pub(crate) use keeping::KEPT_IGNORED_FILES;

pub(crate) async fn clean(host: &Host, command: Clean) -> Result<CleanReport, Fault> {
    let repository = command.repository.clone();
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
            scratch(
                host,
                (&head, &stored),
                Path::new(&protocol.place().common_dir),
                command.mode,
                &mut report,
            )?;
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
                let done = done.and_then(|()| checkouts::sweep(&context, &head, command.mode, &mut report));
                repository.release(host, done).await?;
                scratch(host, (&head, &stored), Path::new(common_dir), command.mode, &mut report)?;
                if let Some(place) = rerun::clean(host, &head.run, protocol, command.mode).await? {
                    let why = "checks that were run again and cut off left it".to_owned();
                    report.items.push(item(&head, "scratch files", &place.display().to_string(), why));
                }
            }
            Err(fault) if fault.code == Code::RepositoryHeld => {
                report.kept.push(item(&head, "run", &protocol.place().run_dir, fault.message));
            }
            Err(fault) => return Err(fault),
        }
    }
    if let Some(repository) = repository {
        expiry::sweep(host, &repository, (command.mode, command.old_kept), &mut report)?;
        hold_to_budget(host, &repository, command.mode, &mut report).await?;
    }
    Ok(report)
}

/// What is too much even now lies in other repositories.
async fn hold_to_budget(
    host: &Host,
    repository: &Path,
    mode: CleanMode,
    report: &mut CleanReport,
) -> Result<(), Fault> {
    let checkout = Checkout::discover(repository).map_err(git_fault)?;
    let settings = host.settings_for(Some(checkout.work_tree()), &[])?;
    let Some(budget) = disk_budget::budget(&settings) else { return Ok(()) };
    let told = |what: &str| report.items.iter().any(|item| item.what == what);
    let mut held = hold_to(host, budget, mode).await?;
    // A dry run took nothing away before.
    held.items.retain(|item| !told(&item.what));
    report.items.append(&mut held.items);
    Ok(())
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
    if context.is_layered() {
        match mode {
            // As a worktree it is kept and given back like any other.
            CleanMode::Remove => {
                if let Err(why) = crate::workspaces::unfold(context)? {
                    let shown = context.worktree(Role::Doer).display().to_string();
                    report.kept.push(item(head, "worktree", &shown, why.to_string()));
                    return Ok(());
                }
            }
            CleanMode::DryRun => return told_of_layers(context, head, report),
        }
    }
    for (role, branch) in [(Role::Doer, &place.doer_branch), (Role::Judge, &place.judge_branch)] {
        let path = context.worktree(role);
        let shown = path.display().to_string();
        if state.spec.adopted.is_some() {
            let why = "the original made it; remove it with `git worktree remove`".to_owned();
            report.kept.push(item(head, "worktree", &shown, why));
            continue;
        }
        let corner = Corner::of(context, role);
        if corner.is_there(context)? {
            match worktree_of(context, &corner, &base, mode)? {
                Ok(why) => report.items.push(item(head, "worktree", &shown, why)),
                Err(why) => {
                    report.kept.push(item(head, "worktree", &shown, why));
                    continue;
                }
            }
        }
        branch_at_base(context, head, (branch, &context.kept_name(role)), &base, mode, report)?;
    }
    Ok(())
}

/// What a dry run can say without unfolding the layers.
fn told_of_layers(context: &RunContext, head: &RunHead, report: &mut CleanReport) -> Result<(), Fault> {
    let place = context.spec.place();
    let shown = context.worktree(Role::Doer).display().to_string();
    let name = context.kept_name(Role::Doer);
    let why = format!("what was changed in it would be kept as refs/windlass/kept/{name}");
    report.items.push(item(head, "worktree", &shown, why));
    for (role, branch) in [(Role::Doer, &place.doer_branch), (Role::Judge, &place.judge_branch)] {
        branch_once_kept(context, head, (branch, &context.kept_name(role)), CleanMode::DryRun, report)?;
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
    for (corner, base) in caches::sensors(context, state)? {
        if !corner.is_there(context)? {
            continue;
        }
        let shown = corner.path.display().to_string();
        match worktree_of(context, &corner, &base, mode)? {
            Ok(why) => report.items.push(item(head, "worktree", &shown, why)),
            Err(why) => report.kept.push(item(head, "worktree", &shown, why)),
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
        let corner = Corner::of(context, role);
        if !corner.is_there(context)? {
            continue;
        }
        let shown = corner.path.display().to_string();
        match worktree_of(context, &corner, &base, mode)? {
            Ok(why) => report.items.push(item(head, "worktree", &shown, why)),
            Err(why) => report.kept.push(item(head, "worktree", &shown, why)),
        }
    }
    let branch = &context.spec.place().doer_branch;
    report.kept.push(item(head, "branch", branch, "it is what the loop made".to_owned()));
    Ok(())
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
        let corner = Corner {
            path: place.path,
            key: place.key,
            kept_name: place.kept_name.clone(),
            ignored: KEPT_IGNORED_FILES,
        };
        if corner.is_there(context)? {
            match worktree_of(context, &corner, &base, mode)? {
                Ok(why) => report.items.push(item(head, "worktree", &shown, why)),
                Err(why) => {
                    report.kept.push(item(head, "worktree", &shown, why));
                    continue;
                }
            }
        }
        branch_once_kept(context, head, (&branch, &place.kept_name), mode, report)?;
    }
    Ok(())
}

/// What the steps left in the private directory. What is sealed evidence already goes.
fn scratch(
    host: &Host,
    (head, stored): (&RunHead, &[Stored]),
    common_dir: &Path,
    mode: CleanMode,
    report: &mut CleanReport,
) -> Result<(), Fault> {
    let directory = host.state.run(&head.run);
    if !directory.is_dir() {
        return Ok(());
    }
    // A dry run decides as if the worktrees it tells of were gone.
    let real = |path: &Path| path.canonicalize().unwrap_or_else(|_| path.to_owned());
    let going = report.items.iter().filter(|item| item.kind == "worktree");
    let going: Vec<PathBuf> = going.map(|item| real(Path::new(&item.what))).collect();
    let in_use = |folder: &Path| {
        worktree_set_apart_in(common_dir, folder).is_some_and(|worktree| !going.contains(&real(&worktree)))
    };
    let scratch = Scratch::of(&directory, (&head.run, stored), &host.evidence, in_use)?;
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
