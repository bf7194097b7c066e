//! Takes the files of an earlier review out of a worktree by a commit of its branch, before the next reviewer is asked. They
//! stay in the branch's history; what nobody took down is kept under a name of its own. Doing it twice comes to the same.

use super::capture::{form, show};
use super::site::{Site, Step};
use windlass_artifact_formats::roadmap_loop::plane::names;
use windlass_artifact_formats::roadmap_loop::round::{RoundForm, files};
use windlass_git_workspaces::Overlay;
use windlass_protocols::CommitId;
use windlass_protocols::protocol::roadmap_rounds::plane::Plane;
use windlass_protocols::protocol::roadmap_rounds::steps::{PlaneOutcome, RoundWork, SetAside};

pub(super) fn run(site: &Site<'_>, asked: &SetAside, plane: &Plane) -> Step<PlaneOutcome> {
    let parent = site.commit(&asked.parent)?;
    let paths = written_by_reviewer(&asked.work, form(plane.generation));
    let removed: Vec<&str> = paths.iter().map(String::as_str).collect();
    let parts = Overlay { content: &parent.tree, replaced: &[], removed: &removed, files: &[] };
    let tree = site.repository.overlay_to_show(&parts)?;
    let commit = if tree == parent.tree {
        parent.clone()
    } else {
        let message =
            format!("{}: set an earlier review aside\n\nWindlass-Run: {}\n", asked.work.round, site.run);
        site.make(&tree, &[&parent], (&message, asked.decided_at))?
    };
    site.set_branch(&asked.branch, &parent, &commit)?;
    let known = std::slice::from_ref(&parent.tree);
    let kept = show(site, (&asked.worktree, &asked.branch), &commit, (known, asked.decided_at))?;
    Ok(PlaneOutcome::SetAside { head: CommitId::new(commit.id.as_str()), kept })
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
