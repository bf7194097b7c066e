//! Brings other commits into a round's branch as a merge: the base that moved, or what workers made. Places that do not fit
//! together are marked in the files and named, for the implementer. Doing it twice makes the same commit.

use super::capture::show;
use super::site::{Site, Step, refused};
use windlass_artifact_formats::roadmap_loop::plane::names::PLANE_DIR;
use windlass_artifact_formats::roadmap_loop::round::files;
use windlass_git_workspaces::{Commit, RepoPath, Side, TreeId};
use windlass_protocols::CommitId;
use windlass_protocols::protocol::roadmap_rounds::steps::{CombineWork, PlaneOutcome};

/// A merge in the making.
struct Combined {
    tree: TreeId,
    conflicts: Vec<String>,
}

pub(super) fn run(site: &Site<'_>, asked: &CombineWork) -> Step<PlaneOutcome> {
    let head = site.commit(&asked.head)?;
    let mut others = Vec::new();
    for with in &asked.with {
        let other = site.commit(with)?;
        if !site.repository.is_ancestor(&other.id, &head.id)? {
            others.push(other);
        }
    }
    let mut combined = Combined { tree: head.tree.clone(), conflicts: Vec::new() };
    for other in &others {
        bring_in(site, asked, (&head, other), &mut combined)?;
    }
    let commit = if others.is_empty() {
        head.clone()
    } else {
        let parents: Vec<&Commit> = std::iter::once(&head).chain(&others).collect();
        site.make(&combined.tree, &parents, (&message(site, asked, &combined), asked.decided_at))?
    };
    let found = site.tip(&asked.branch)?;
    if found.as_ref().is_none_or(|found| *found != head.id && *found != commit.id) {
        return refused(format!("{} does not stand at {} any more", asked.branch, head.id));
    }
    site.set_branch(&asked.branch, &head, &commit)?;
    let known = std::slice::from_ref(&head.tree);
    let kept = show(site, (&asked.worktree, &asked.branch), &commit, (known, asked.decided_at))?;
    combined.conflicts.sort();
    combined.conflicts.dedup();
    let (head, conflicts) = (CommitId::new(commit.id.as_str()), combined.conflicts);
    Ok(PlaneOutcome::WorkCombined { head, conflicts, kept })
}

fn bring_in(
    site: &Site<'_>,
    asked: &CombineWork,
    (head, other): (&Commit, &Commit),
    combined: &mut Combined,
) -> Step<()> {
    let Some(fork) = site.repository.merge_base(&head.id, &other.id)? else {
        return refused(format!("{} and {} have no history in common", asked.branch, other.id));
    };
    let fork = site.known(&fork.id)?;
    let short = other.id.as_str().get(..12).unwrap_or(other.id.as_str());
    let ours = Side { tree: &combined.tree, name: &asked.round };
    let merged = site.repository.merge_trees(&fork.tree, ours, Side { tree: &other.tree, name: short })?;
    let (plane, code): (Vec<RepoPath>, Vec<RepoPath>) =
        merged.conflicts.into_iter().partition(|path| is_of_others(path, &asked.round));
    combined.tree = if plane.is_empty() {
        merged.tree
    } else {
        // No role of the round may write there, so nobody could take marks away again: theirs counts.
        site.repository.select(&merged.tree, &other.tree, |path| plane.contains(path))?.tree
    };
    combined.conflicts.extend(code.iter().map(ToString::to_string));
    Ok(())
}

/// In the control plane, outside the round's own folder.
fn is_of_others(path: &RepoPath, round: &str) -> bool {
    let inside = |folder: &str| {
        path.as_bytes().strip_prefix(folder.as_bytes()).is_some_and(|rest| rest.starts_with(b"/"))
    };
    inside(PLANE_DIR) && !inside(&files::round_dir(round))
}

fn message(site: &Site<'_>, asked: &CombineWork, combined: &Combined) -> String {
    let with: Vec<&str> = asked.with.iter().map(|id| id.as_str().get(..12).unwrap_or(id.as_str())).collect();
    let open = match combined.conflicts.as_slice() {
        [] => String::new(),
        conflicts => format!("Left to be resolved:\n  {}\n\n", conflicts.join("\n  ")),
    };
    format!("{}: bring in {}\n\n{open}Windlass-Run: {}\n", asked.round, with.join(", "), site.run)
}
