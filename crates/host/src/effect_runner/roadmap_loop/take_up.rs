//! Commits what somebody else left in the worktrees of a round, of its workers or of the roadmap update, before anything of
//! it counts. What belongs to nobody who works there is kept and put back. Doing it twice makes the same commits.

use super::capture::{form, ignored, look, named, plan_at, show};
use super::set_aside::written_by_reviewer;
use super::site::{Site, Step, Strangers, is_there, refused};
use super::written_by::{About, WriteSet};
use crate::context::git_tree;
use serde::{Deserialize, Serialize};
use windlass_artifact_formats::roadmap_loop::plane::names::PLANE_DIR;
use windlass_artifact_formats::roadmap_loop::round::files;
use windlass_git_workspaces::{Commit, Part};
use windlass_protocols::CommitId;
use windlass_protocols::protocol::roadmap_rounds::plane::Plane;
use windlass_protocols::protocol::roadmap_rounds::steps::{
    PlaceLeft, PlaceTaken, PlaneOutcome, RoundWork, TakeUp, WorkKind,
};

/// What was found and what becomes of it, written down before anything is put back.
#[derive(Serialize, Deserialize)]
struct Noted {
    taken: PlaceTaken,
    found: windlass_protocols::TreeId,
}

pub(super) fn run(site: &Site<'_>, asked: &TakeUp, plane: &Plane) -> Step<PlaneOutcome> {
    let mut places: Vec<PlaceTaken> = Vec::new();
    for (number, left) in asked.places.iter().enumerate() {
        // Shares are held to the plan as it is committed by now.
        let round = places.first().map(|own| own.commit.clone());
        places.push(take(site, (asked, plane), (number, left), round.as_ref())?);
    }
    Ok(PlaneOutcome::TakenUp { places })
}

fn take(
    site: &Site<'_>,
    (asked, plane): (&TakeUp, &Plane),
    (number, left): (usize, &PlaceLeft),
    round: Option<&CommitId>,
) -> Step<PlaceTaken> {
    let name = format!("taken-up-{number}.json");
    let parent = site.commit(&left.head)?;
    if let Some(noted) = site.noted::<Noted>(&name) {
        return settle(site, (asked, left), &parent, noted);
    }
    if !is_there(&site.place(&left.worktree)) {
        return Ok(PlaceTaken::untouched(left));
    }
    let found = look(site, &left.worktree, &parent.tree)?;
    if let Some(hazard) = found.hazards.first() {
        return refused(format!("{}: {hazard}", left.worktree));
    }
    let is_theirs = belongs(site, (asked, plane), left, round)?;
    let taken = site.repository.select(&parent.tree, &found.tree, |path| is_theirs(path.as_bytes()))?;
    let changed = site.repository.differing_paths(&parent.tree, &taken.tree, Part::Everything)?;
    let commit = if changed.is_empty() {
        parent.clone()
    } else {
        let message =
            format!("{}: take up what lay uncommitted\n\nWindlass-Run: {}\n", asked.round, site.run);
        site.make(&taken.tree, &[&parent], (&message, asked.decided_at))?
    };
    let kept = if taken.left.is_empty() {
        None
    } else {
        Some(site.keep_found(&left.branch, &parent, (&found.tree, asked.decided_at))?)
    };
    let own = written_by_reviewer(&review_of(asked), form(plane.generation));
    let noted = Noted {
        taken: PlaceTaken {
            commit: CommitId::new(commit.id.as_str()),
            files_changed: changed.len() as u64,
            only_review: !changed.is_empty()
                && changed.iter().all(|path| own.iter().any(|wanted| wanted.as_bytes() == path.as_bytes())),
            put_back: named(taken.left.iter().map(ToString::to_string).collect()),
            kept,
            ignored: ignored(site, &left.worktree)?,
            ..PlaceTaken::untouched(left)
        },
        found: windlass_protocols::TreeId::new(found.tree.as_str()),
    };
    site.note(&name, &noted)?;
    settle(site, (asked, left), &parent, noted)
}

fn settle(
    site: &Site<'_>,
    (asked, left): (&TakeUp, &PlaceLeft),
    parent: &Commit,
    mut noted: Noted,
) -> Step<PlaceTaken> {
    let commit = site.commit(&noted.taken.commit)?;
    let (Strangers::None | Strangers::Kept) = site.set_branch(&left.branch, parent, &commit)?;
    let known = [git_tree(&noted.found)?];
    let kept = show(site, (&left.worktree, &left.branch), &commit, (&known, asked.decided_at))?;
    noted.taken.kept = noted.taken.kept.or(kept);
    Ok(noted.taken)
}

fn review_of(asked: &TakeUp) -> RoundWork {
    let kind = if asked.update { WorkKind::ReviewUpdate } else { WorkKind::Review };
    RoundWork { round: asked.round.clone(), kind }
}

/// Which paths are those of somebody who works there: nobody can tell any more who of them wrote what.
fn belongs(
    site: &Site<'_>,
    (asked, plane): (&TakeUp, &Plane),
    left: &PlaceLeft,
    round: Option<&CommitId>,
) -> Step<impl Fn(&[u8]) -> bool> {
    let planned = match (&left.worker, round) {
        (Some(_), Some(round)) => plan_at(site, &site.commit(round)?.tree, &asked.round, plane)?,
        _ => None,
    };
    let about = About {
        round: &asked.round,
        form: form(plane.generation),
        plan: planned.as_ref(),
        simple: true,
        roadmap_id: &plane.roadmap_id,
        proposed_revision: plane.update.as_ref().map(|update| update.proposed_revision.as_str()),
    };
    let folder = files::round_dir(&asked.round);
    let kinds = match &left.worker {
        Some(worker) => vec![WorkKind::Worker { worker: worker.clone() }],
        None if asked.update => vec![WorkKind::AuthorUpdate, WorkKind::ReviewUpdate],
        None => Vec::new(),
    };
    let whole_round = kinds.is_empty();
    let request = asked.update.then(|| files::in_round(&asked.round, files::UPDATE_REQUEST));
    let sets: Vec<WriteSet> = kinds.iter().map(|kind| WriteSet::of(kind, &about)).collect();
    Ok(move |path: &[u8]| {
        let inside =
            |folder: &str| path.strip_prefix(folder.as_bytes()).is_some_and(|rest| rest.starts_with(b"/"));
        (whole_round && (!inside(PLANE_DIR) || inside(&folder)))
            || request.as_ref().is_some_and(|wanted| wanted.as_bytes() == path)
            || sets.iter().any(|set| set.takes(path))
    })
}
