//! Holds the worktrees of all runs to their budget. What can be made again goes, from runs that are over, least recently
//! used first, and as little as is needed. Whatever a run may still need, and whatever is not kept, stays.

use super::keeping::worktree_of;
use super::{caches, item, must_stay, shared};
use crate::control::disk_use::{self, Used};
use crate::control::find;
use crate::control::resume::Silence;
use crate::fault::{file_fault, git_fault};
use crate::headline;
use crate::holder::{IfHeld, Owner, hold_repository};
use crate::host::Host;
use std::collections::BTreeSet;
use std::path::Path;
use windlass_control_api::commands::CleanMode;
use windlass_control_api::views::{CleanItem, Status};
use windlass_control_api::{Code, Fault};
use windlass_engine::RunHead;
use windlass_git_workspaces::Checkout;
use windlass_protocols::Run;
use windlass_protocols::inbox::waiting;
use windlass_protocols::protocol::Protocol;

/// What was done to come back to the budget.
#[derive(Debug, Default)]
pub(crate) struct Held {
    pub(crate) items: Vec<CleanItem>,
    /// What they took.
    pub(crate) bytes: u64,
    /// What is used now.
    pub(crate) used: u64,
    /// The repository whose worktrees take the most, where it is still too much.
    pub(crate) largest: Option<String>,
}

/// Nothing is looked at further where everything is within `budget` bytes.
pub(crate) async fn hold_to(host: &Host, budget: u64, mode: CleanMode) -> Result<Held, Fault> {
    let (mut used, _) = disk_use::all(host).await?;
    let mut left = disk_use::MOST_FILES;
    let shared = shared::all(host, &mut left);
    let bytes: u64 = used.iter().map(|one| one.bytes).chain(shared.iter().map(|one| one.bytes)).sum();
    let mut held = Held { used: bytes, ..Held::default() };
    if held.used <= budget {
        return Ok(held);
    }
    used.sort_by_key(|one| one.head.updated_at);
    let mut seen = BTreeSet::new();
    for one in &used {
        let cache = one.kind == disk_use::CHECKERS || one.kind == disk_use::SENSORS;
        if held.used <= budget || !cache || !seen.insert(one.head.run.clone()) {
            continue;
        }
        // What stands in the way in one run does not keep the others from giving what they can.
        match take_from(host, &one.head, (&used, budget), mode, &mut held).await {
            Err(fault) if fault.code == Code::JournalUnavailable => return Err(fault),
            Ok(()) | Err(_) => {}
        }
    }
    if held.used > budget {
        for (item, bytes) in shared::take(host, &shared, held.used - budget, mode).await? {
            held.items.push(item);
            held.bytes += bytes;
            held.used = held.used.saturating_sub(bytes);
        }
    }
    if held.used > budget {
        held.largest = largest(&used, &held.items);
    }
    Ok(held)
}

async fn take_from(
    host: &Host,
    head: &RunHead,
    (used, budget): (&[Used], u64),
    mode: CleanMode,
    so_far: &mut Held,
) -> Result<(), Fault> {
    let (head, _, run) = find::run(host, head.run.as_str()).await?;
    if !is_over(&run) || must_stay(host, &head, &run).await?.is_some() {
        return Ok(());
    }
    let protocol = find::protocol(&run)?;
    if Checkout::discover(Path::new(&protocol.place().repository)).is_err() {
        return Ok(());
    }
    let owner = Owner::this_process(head.run.as_str(), "windlass: room for worktrees")?;
    let common_dir = &protocol.place().common_dir;
    let repository = hold_repository(host, common_dir, &owner, IfHeld::GiveUp, &Silence).await?;
    let done = take(host, (&head, protocol), (used, budget), mode, so_far);
    repository.release(host, done).await
}

fn take(
    host: &Host,
    (head, protocol): (&RunHead, &Protocol),
    (used, budget): (&[Used], u64),
    mode: CleanMode,
    so_far: &mut Held,
) -> Result<(), Fault> {
    let context = find::context(host, &head.run, protocol)?;
    for (corner, base) in caches::of(&context, protocol)? {
        if so_far.used <= budget {
            return Ok(());
        }
        let shown = corner.path.display().to_string();
        // One that cannot be kept stays; `windlass clean` says why.
        let Ok(why) = worktree_of(&context, &corner, &base, mode)? else { continue };
        let bytes = used.iter().find(|one| one.path == corner.path).map_or(0, |one| one.bytes);
        so_far.items.push(item(head, "worktree", &shown, format!("it can be made again; {why}")));
        so_far.bytes += bytes;
        so_far.used = so_far.used.saturating_sub(bytes);
        if mode == CleanMode::Remove {
            forget_private_git(host, head, &corner.path)?;
        }
    }
    Ok(())
}

/// What git inside a worktree had to itself goes with it, unless something was left in it.
fn forget_private_git(host: &Host, head: &RunHead, worktree: &Path) -> Result<(), Fault> {
    let name = worktree.file_name().unwrap_or_default();
    let folder = host.state.run(&head.run).join("git").join(name);
    if !folder.is_dir() || !windlass_git_workspaces::nothing_was_left_apart(&folder).map_err(git_fault)? {
        return Ok(());
    }
    std::fs::remove_dir_all(&folder).map_err(|error| file_fault("remove", &folder, &error))
}

/// Nobody is asked about it, and nobody can go on with it as it is; or a person said to let it be.
fn is_over(run: &Run) -> bool {
    let ended =
        matches!(headline::status_of(run), Some(Status::Accepted | Status::Failed | Status::RedBaseline));
    run.ended && waiting(run).is_none() && (ended || run.dismissed)
}

fn largest(used: &[Used], gone: &[CleanItem]) -> Option<String> {
    let stays = |one: &&Used| !gone.iter().any(|item| Path::new(&item.what) == one.path);
    let mut repositories = std::collections::BTreeMap::<&str, u64>::new();
    for one in used.iter().filter(stays) {
        *repositories.entry(&one.repository).or_default() += one.bytes;
    }
    let most = repositories.into_iter().max_by_key(|(_, bytes)| *bytes);
    most.map(|(repository, _)| repository.to_owned())
}
