//! Finished shares of workers, held against what their round holds: shares that are not in it, and files of theirs that
//! whoever integrated them dropped. Looks at commits only; what follows from it is decided elsewhere.

use super::{Reading, names};
use crate::fault::git_fault;
use std::collections::{BTreeMap, BTreeSet};
use windlass_control_api::Fault;
use windlass_git_workspaces::{Commit, CommitId, Part, RepoPath};
use windlass_protocols::protocol::roadmap_rounds::plane::{Evidence, WorkerState};

/// More of these say nothing new.
const MAX_NAMED: usize = 20;

pub(super) fn look(
    reading: &Reading<'_>,
    head: Option<&Commit>,
    evidence: &mut Evidence,
) -> Result<(), Fault> {
    let Some(head) = head else { return Ok(()) };
    let finished = |state: &WorkerState| matches!(state, WorkerState::Complete | WorkerState::Integrated);
    let workers = evidence.plan.iter_mut().flat_map(|plan| &mut plan.workers);
    for worker in workers.filter(|worker| finished(&worker.state)) {
        let tip = reading.repository.read_reference(&format!("refs/heads/{}", worker.branch));
        let Some(tip) = tip.unwrap_or_default() else { continue };
        if reading.repository.is_ancestor(&tip, &head.id).map_err(git_fault)? {
            worker.lost = named(dropped(reading, head, &tip)?);
        } else {
            worker.outside = !is_copied(reading, head, &tip)?;
        }
    }
    Ok(())
}

/// Whoever integrates may copy files instead of merging.
fn is_copied(reading: &Reading<'_>, head: &Commit, tip: &CommitId) -> Result<bool, Fault> {
    let repository = reading.repository;
    let Some(fork) = repository.merge_base(&head.id, tip).map_err(git_fault)? else { return Ok(false) };
    let share = repository.commit_of(tip).map_err(git_fault)?;
    for commit in [&fork, head, &share] {
        repository.import(commit).map_err(git_fault)?;
    }
    let differing = |one: &Commit, other: &Commit| {
        repository.differing_paths(&one.tree, &other.tree, Part::Everything).map_err(git_fault)
    };
    let other = differing(head, &share)?;
    Ok(differing(&fork, &share)?.iter().all(|made| !other.contains(made)))
}

/// What the share changed outside of the control plane and the round has as it was when the worker began, or not at all.
fn dropped(reading: &Reading<'_>, head: &Commit, tip: &CommitId) -> Result<Vec<String>, Fault> {
    let repository = reading.repository;
    let Some(fork) = fork(reading, head, tip)? else { return Ok(Vec::new()) };
    let share = repository.commit_of(tip).map_err(git_fault)?;
    for commit in [&fork, head, &share] {
        repository.import(commit).map_err(git_fault)?;
    }
    let round = repository.differences(&fork.tree, &head.tree).map_err(git_fault)?;
    let stands: BTreeMap<&RepoPath, bool> =
        round.iter().map(|found| (&found.path, found.after.is_some())).collect();
    let made = repository.differences(&fork.tree, &share.tree).map_err(git_fault)?;
    let lost = made.iter().filter(|made| {
        let as_before = !stands.contains_key(&made.path);
        let missing = made.after.is_some() && stands.get(&made.path) == Some(&false);
        (as_before || missing) && !is_of_plane(&made.path)
    });
    Ok(lost.map(|lost| lost.path.to_string()).collect())
}

/// Where a worker left its round: the newest commit of its own line that is on the round's. The newest that both have says
/// nothing, for the round has all of the share's.
fn fork(reading: &Reading<'_>, head: &Commit, tip: &CommitId) -> Result<Option<Commit>, Fault> {
    let (repository, base) = (reading.repository, &reading.base.id);
    let line = |last: &CommitId| repository.first_parents(last.as_str(), base.as_str()).map_err(git_fault);
    let of_round: BTreeSet<String> = line(&head.id)?.into_iter().collect();
    match line(tip)?.into_iter().find(|id| of_round.contains(id)) {
        Some(id) => {
            let id = CommitId::parse(&id).map_err(git_fault)?;
            Ok(Some(repository.commit_of(&id).map_err(git_fault)?))
        }
        None => repository.merge_base(base, tip).map_err(git_fault),
    }
}

fn is_of_plane(path: &RepoPath) -> bool {
    path.as_bytes().strip_prefix(names::PLANE_DIR.as_bytes()).is_some_and(|rest| rest.starts_with(b"/"))
}

fn named(mut paths: Vec<String>) -> Vec<String> {
    let more = paths.len().saturating_sub(MAX_NAMED);
    paths.truncate(MAX_NAMED);
    if more > 0 {
        paths.push(format!("and {more} more"));
    }
    paths
}
