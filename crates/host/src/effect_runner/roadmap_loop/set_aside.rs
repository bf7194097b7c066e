//! Takes the files of an earlier review out of a worktree by a commit of its branch, before the next reviewer is asked, and
//! gives the branch of a worker the plan that its round has now, without what was handed over for an earlier one. They stay
//! in the branch's history; what nobody took down is kept under a name of its own. Doing it twice comes to the same.

use super::capture::{form, show};
use super::site::{Site, Step, refused};
use windlass_artifact_formats::roadmap_loop::plane::names;
use windlass_artifact_formats::roadmap_loop::round::{RoundForm, files};
use windlass_git_workspaces::{Commit, Overlay, Side, TreeId};
use windlass_protocols::CommitId;
use windlass_protocols::protocol::roadmap_rounds::plane::Plane;
use windlass_protocols::protocol::roadmap_rounds::steps::{PlaneOutcome, RoundWork, SetAside, WorkKind};

pub(super) fn run(site: &Site<'_>, asked: &SetAside, plane: &Plane) -> Step<PlaneOutcome> {
    let parent = site.commit(&asked.parent)?;
    let commit = match (&asked.work.kind, &asked.onto) {
        (WorkKind::Worker { worker }, Some(onto)) => {
            let round = site.commit(onto)?;
            planned_anew(site, asked, (worker, &round), &parent)?
        }
        _ => without_review(site, asked, plane, &parent)?,
    };
    site.set_branch(&asked.branch, &parent, &commit)?;
    let known = std::slice::from_ref(&parent.tree);
    let kept = show(site, (&asked.worktree, &asked.branch), &commit, (known, asked.decided_at))?;
    Ok(PlaneOutcome::SetAside { head: CommitId::new(commit.id.as_str()), kept })
}

fn without_review(site: &Site<'_>, asked: &SetAside, plane: &Plane, parent: &Commit) -> Step<Commit> {
    let paths = written_by_reviewer(&asked.work, form(plane.generation));
    let removed: Vec<&str> = paths.iter().map(String::as_str).collect();
    let parts = Overlay { content: &parent.tree, replaced: &[], removed: &removed, files: &[] };
    let tree = site.repository.overlay_to_show(&parts)?;
    if tree == parent.tree {
        return Ok(parent.clone());
    }
    let message =
        format!("{}: set an earlier review aside\n\nWindlass-Run: {}\n", asked.work.round, site.run);
    site.make(&tree, &[parent], (&message, asked.decided_at))
}

/// The worker's branch goes on from its round, with whatever it made that the round does not have. Its round comes first
/// among the parents: that is where it leaves the round from now on.
fn planned_anew(
    site: &Site<'_>,
    asked: &SetAside,
    (worker, round): (&str, &Commit),
    share: &Commit,
) -> Step<Commit> {
    let content = beside(site, asked, round, share)?;
    let folder = format!("{}/", files::round_dir(&asked.work.round));
    let handed_over = [files::HANDOFF, files::NOTES].map(|name| {
        let name = files::of_worker(worker, name);
        files::in_round(&asked.work.round, &name)
    });
    let parts = Overlay {
        content: &content,
        replaced: &[(&folder, Some(&round.tree))],
        removed: &handed_over.each_ref().map(String::as_str),
        files: &[],
    };
    let tree = site.repository.overlay_to_show(&parts)?;
    let message = format!(
        "{}: give {worker} the plan as it is now\n\nWindlass-Run: {}\nWindlass-Worker: {worker}\n",
        asked.work.round, site.run
    );
    let stood_in_it = site.repository.is_ancestor(&share.id, &round.id)?;
    let parents: &[&Commit] = if stood_in_it { &[round] } else { &[round, share] };
    site.make(&tree, parents, (&message, asked.decided_at))
}

/// Where the two do not fit together the round counts: nobody but its integrator may take marks out of it.
fn beside(site: &Site<'_>, asked: &SetAside, round: &Commit, share: &Commit) -> Step<TreeId> {
    let Some(fork) = site.repository.merge_base(&round.id, &share.id)? else {
        return refused(format!("{} has no history in common with its round", asked.branch));
    };
    let fork = site.known(&fork.id)?;
    let ours = Side { tree: &share.tree, name: &asked.branch };
    let theirs = Side { tree: &round.tree, name: &asked.work.round };
    let merged = site.repository.merge_trees(&fork.tree, ours, theirs)?;
    if merged.conflicts.is_empty() {
        return Ok(merged.tree);
    }
    Ok(site.repository.select(&merged.tree, &round.tree, |path| merged.conflicts.contains(path))?.tree)
}

pub(super) fn written_by_reviewer(work: &RoundWork, form: RoundForm) -> Vec<String> {
    let in_round = |name| files::in_round(&work.round, name);
    if work.kind.is_of_update() {
        return vec![names::update_review_artifact(&work.round)];
    }
    match form {
        RoundForm::Records => vec![in_round(files::REVIEW), in_round(files::REVIEW_RECORD)],
        RoundForm::StructuredMarkdown => vec![in_round(files::REVIEW)],
    }
}
