//! Makes the branch and the worktree of a round, of a worker or of a roadmap update, and brings back one that is gone. What
//! stands in a worktree is never touched here.

use super::site::{Site, Step, refused};
use std::path::Path;
use windlass_artifact_formats::roadmap_loop::round::files;
use windlass_git_workspaces::{Commit, NewWorktree, Overlay};
use windlass_protocols::CommitId;
use windlass_protocols::protocol::roadmap_rounds::plane::{Plane, UpdateTrigger};
use windlass_protocols::protocol::roadmap_rounds::steps::{
    OpenWorktree, PlaneOutcome, UpdateOpened, WorktreePurpose,
};

pub(super) fn open(site: &Site<'_>, asked: &OpenWorktree, plane: &Plane) -> Step<PlaneOutcome> {
    if matches!(asked.purpose, WorktreePurpose::Round { .. }) {
        stays_out(site, asked)?;
    }
    let at = match &asked.purpose {
        WorktreePurpose::Round { .. } | WorktreePurpose::Worker { .. } => site.commit(&asked.from)?,
        WorktreePurpose::Update(opened) => first_of_update(site, asked, opened, plane)?,
        WorktreePurpose::Reopen { .. } => match site.tip(&asked.branch)? {
            Some(tip) => site.known(&tip)?,
            None => return refused(format!("the branch {} is gone", asked.branch)),
        },
    };
    let (path, key) = (site.place(&asked.worktree), Site::key(&asked.worktree));
    has_room(site, asked)?;
    let wanted = NewWorktree { path: &path, branch: &asked.branch, key: &key };
    site.repository.open_worktree(&wanted, &at)?;
    match site.tip(&asked.branch)? {
        Some(head) => Ok(PlaneOutcome::WorktreeOpened { head: CommitId::new(head.as_str()) }),
        None => refused(format!("the branch {} was deleted while its worktree was made", asked.branch)),
    }
}

/// Whatever people keep where a folder has to be made is theirs: it is named and left as it is.
fn has_room(site: &Site<'_>, asked: &OpenWorktree) -> Step<()> {
    let (top, path) = (site.repository.checkout().work_tree(), site.place(&asked.worktree));
    let inside = path.strip_prefix(top).unwrap_or(&path);
    let around = inside.ancestors().skip(1).filter(|part| !part.as_os_str().is_empty()).collect::<Vec<_>>();
    let around = around.into_iter().rev().map(|part| top.join(part));
    let is_file = |place: &Path| place.symlink_metadata().is_ok() && !place.is_dir();
    let filled = |place: &Path| {
        let holds = std::fs::read_dir(place).is_ok_and(|mut entries| entries.next().is_some());
        holds && !site.repository.knows_worktree(place)
    };
    let (found, what) = match around.into_iter().find(|place| is_file(place)) {
        Some(place) => (place, "it is no folder"),
        None if is_file(&path) || path.is_symlink() => (path.clone(), "it is no folder"),
        None if filled(&path) => (path.clone(), "it holds files and is no worktree that git knows"),
        None => return Ok(()),
    };
    let found = found.strip_prefix(top).unwrap_or(&found).display().to_string();
    refused(format!(
        "{found} is in the way of the worktree {}: {what}; it is left as it is, move it somewhere else and go on",
        asked.worktree
    ))
}

/// A worktree inside the checkout that nothing keeps out would be committed by whoever adds everything.
fn stays_out(site: &Site<'_>, asked: &OpenWorktree) -> Step<()> {
    let rule = site.repository.ignoring_file(&format!("{}/", asked.worktree))?;
    let base = site.commit(&asked.from)?;
    if let Some(file) = rule
        && site.repository.file_at(&base.tree, &file)?.is_some()
    {
        return Ok(());
    }
    let line = "/orchestrator/worktrees/";
    refused(format!(
        "no committed rule keeps {} out: add the line {line} to .gitignore and commit it",
        asked.worktree
    ))
}

/// Where the branch of an update begins: at the base, or, of a planner's request, at a commit that brings the request along
/// byte for byte. The planning round's branch is never merged.
fn first_of_update(
    site: &Site<'_>,
    asked: &OpenWorktree,
    opened: &UpdateOpened,
    plane: &Plane,
) -> Step<Commit> {
    let from = site.commit(&asked.from)?;
    if opened.trigger == UpdateTrigger::MergedRound {
        return Ok(from);
    }
    let round = &opened.source_round;
    let path = files::in_round(round, files::UPDATE_REQUEST);
    let Some(request) = request(site, round, &path, plane)? else {
        return refused(format!("{round} has left no {}", files::UPDATE_REQUEST));
    };
    let parts = Overlay { content: &from.tree, replaced: &[], removed: &[], files: &[(path, request)] };
    let tree = site.repository.overlay_to_show(&parts)?;
    let message = format!(
        "Keep the request of {round} for a roadmap update\n\nWindlass-Run: {}\nWindlass-Update: {}\n",
        site.run, opened.proposed_revision
    );
    site.make(&tree, &[&from], (&message, asked.decided_at))
}

/// As it was taken down on the round's branch; a round that somebody else runs may have it in its worktree only.
fn request(site: &Site<'_>, round: &str, path: &str, plane: &Plane) -> Step<Option<Vec<u8>>> {
    let Some(seen) = plane.round(round) else { return Ok(None) };
    if let Some(head) = &seen.head {
        let head = site.commit(head)?;
        if let Some(found) = site.repository.file_at(&head.tree, path)? {
            return Ok(Some(found));
        }
    }
    let left = site.place(&seen.worktree).join(path);
    let plain = left.symlink_metadata().is_ok_and(|found| found.is_file());
    Ok(plain.then(|| std::fs::read(&left).ok()).flatten())
}
