//! Merges an approved roadmap update: its documents, the next revision and the state that names it become one commit of the
//! base branch. Revisions that were used stay as they are. Doing it twice makes the same commit.

use super::bundle::{Bundle, revision};
use super::committed_state;
use super::landing::{bring_home, earlier, fork_of};
use super::site::{Site, Step, held, refused, stale};
use super::written_by::{About, WriteSet};
use windlass_artifact_formats::roadmap_loop::plane::{Roadmap, names, states_not_carried_over};
use windlass_artifact_formats::roadmap_loop::round::{
    ExpectedUpdate, RoadmapUpdate, RoundForm, StatedDecision, UpdateReview, UpdateTrigger, files, sha256_hex,
};
use windlass_git_workspaces::{Commit, Overlay, Part, Side, TreeId};
use windlass_protocols::protocol::roadmap_rounds::plane::{self, Plane, UpdateSeen};
use windlass_protocols::protocol::roadmap_rounds::steps::{Held, PlaneOutcome, PublishUpdate, WorkKind};

const TRAILER: &str = "Windlass-Revision";
const SUBJECT_CHARS: usize = 72;

pub(super) fn run(site: &Site<'_>, asked: &PublishUpdate, plane: &Plane) -> Step<PlaneOutcome> {
    let (head, base) = (site.commit(&asked.head)?, site.commit(&asked.base)?);
    let fork = fork_of(site, &asked.branch, &head, &base)?;
    let name = format!("{}/{}", plane.roadmap_id, asked.revision);
    let earlier = earlier(site, &plane.base_branch, (TRAILER, &name), &fork.id)?;
    let made = squash(site, asked, plane, (&head, &base, &fork)).map(|commit| (base, commit));
    bring_home(site, &plane.base_branch, earlier, made)
}

fn squash(
    site: &Site<'_>,
    asked: &PublishUpdate,
    plane: &Plane,
    (head, base, fork): (&Commit, &Commit, &Commit),
) -> Step<Commit> {
    let recorded = plane.update.as_ref().filter(|update| update.proposed_revision == asked.revision);
    let Some(recorded) = recorded else {
        return refused(format!("no update to {} is recorded", asked.revision));
    };
    if site.tip(&asked.branch)?.is_some_and(|tip| tip != head.id) {
        return stale("its branch moved since it was approved");
    }
    let update = approved(site, asked, plane, (recorded, head))?;
    let content = own_paths(site, asked, plane, (fork, head))?;
    let bundle = Bundle::of(site, &content, plane.generation, revision(plane, &asked.revision))?;
    match bundle.texts().roadmap() {
        Ok(proposed) => carries_over(site, plane, (recorded, base), &proposed)?,
        Err(problems) => return stale(problems.to_string()),
    }
    let verification = format!("{}/verification.md", bundle.active.dir);
    if site.text_at(&content, &verification)?.is_none() {
        return stale(format!("{verification} is missing"));
    }
    if !site.repository.paths_of(&base.tree, Part::Within(&bundle.active.dir))?.is_empty() {
        return stale(format!(
            "{} is on the base branch already, and used revisions stay",
            bundle.active.dir
        ));
    }
    let named = |tree, name| Side { tree, name };
    let (ours, theirs) =
        (named(&base.tree, plane.base_branch.as_str()), named(&content, asked.revision.as_str()));
    let merged = site.repository.merge_trees(&fork.tree, ours, theirs)?;
    if !merged.conflicts.is_empty() {
        return held(Held::Conflicts { paths: merged.conflicts.iter().map(ToString::to_string).collect() });
    }
    let state: Vec<_> = committed_state::moved_to(site, &merged.tree, &bundle.active)?.into_iter().collect();
    let parts = Overlay { content: &merged.tree, replaced: &[], removed: &[], files: &state };
    let tree = site.repository.overlay_to_show(&parts)?;
    let message = message(site, asked, plane, &update);
    site.make(&tree, &[base], (&message, asked.decided_at))
}

/// States are the rounds' to change, so those that the base has stand in the next revision too.
fn carries_over(
    site: &Site<'_>,
    plane: &Plane,
    (recorded, base): (&UpdateSeen, &Commit),
    proposed: &Roadmap,
) -> Step<()> {
    let prior = Bundle::of(site, &base.tree, plane.generation, revision(plane, &recorded.prior_revision))?;
    let lost = match prior.texts().roadmap() {
        Ok(prior) => states_not_carried_over(&prior, proposed),
        Err(problems) => vec![problems.to_string()],
    };
    if lost.is_empty() { Ok(()) } else { stale(lost.join("; ")) }
}

/// The update as it was approved, held against what is recorded about it.
fn approved(
    site: &Site<'_>,
    asked: &PublishUpdate,
    plane: &Plane,
    (recorded, head): (&UpdateSeen, &Commit),
) -> Step<RoadmapUpdate> {
    let (document, review) =
        (names::update_artifact(&asked.source_round), names::update_review_artifact(&asked.source_round));
    let Some(review) = site.repository.file_at(&head.tree, &review)? else {
        return stale("its review is not there any more");
    };
    if sha256_hex(&review) != asked.approval.as_str() {
        return stale("its review is not the one that was agreed on");
    }
    let review = match UpdateReview::parse(&String::from_utf8_lossy(&review)) {
        Ok(review) => review,
        Err(faults) => return stale(faults.to_string()),
    };
    if let StatedDecision::Rejected(why) = &review.decision {
        return stale(format!("its review rejects it: {why}"));
    }
    if let Some(family) = &review.family_migration {
        return stale(format!(
            "it moves on to the family {family}, which takes a new roadmap and not an update"
        ));
    }
    let Some(document) = site.text_at(&head.tree, &document)? else {
        return stale("its document is not there any more");
    };
    let expected = ExpectedUpdate {
        source_round_id: &asked.source_round,
        trigger: match recorded.trigger {
            plane::UpdateTrigger::MergedRound => UpdateTrigger::MergedRound,
            plane::UpdateTrigger::PlannerRequest => UpdateTrigger::PlannerRequest,
        },
        roadmap_id: &plane.roadmap_id,
        prior_revision: &recorded.prior_revision,
        proposed_revision: &asked.revision,
    };
    match RoadmapUpdate::parse(&document, &expected) {
        Ok(update) => Ok(update),
        Err(faults) => stale(faults.to_string()),
    }
}

/// What the update changed since it left the base, which must be its author's, its reviewer's and the request alone.
fn own_paths(
    site: &Site<'_>,
    asked: &PublishUpdate,
    plane: &Plane,
    (fork, head): (&Commit, &Commit),
) -> Step<TreeId> {
    let about = About {
        round: &asked.source_round,
        form: RoundForm::StructuredMarkdown,
        plan: None,
        simple: false,
        roadmap_id: &plane.roadmap_id,
        proposed_revision: Some(&asked.revision),
    };
    let sets = [WorkKind::AuthorUpdate, WorkKind::ReviewUpdate].map(|kind| WriteSet::of(&kind, &about));
    let request = files::in_round(&asked.source_round, files::UPDATE_REQUEST);
    let taken = site.repository.select(&fork.tree, &head.tree, |path| {
        let path = path.as_bytes();
        path == request.as_bytes() || sets.iter().any(|set| set.takes(path))
    })?;
    match taken.left.first() {
        Some(path) => stale(format!("it changes {path}, which is not part of the next revision")),
        None => Ok(taken.tree),
    }
}

fn message(site: &Site<'_>, asked: &PublishUpdate, plane: &Plane, update: &RoadmapUpdate) -> String {
    let words = update.rationale.split_whitespace().collect::<Vec<_>>().join(" ");
    let whole = format!("Revise the roadmap to {}: {words}", asked.revision);
    let mut subject: String = whole.chars().take(SUBJECT_CHARS).collect();
    let mut body = String::new();
    if whole.chars().count() > SUBJECT_CHARS {
        subject.pop();
        subject.push('…');
        body = format!("{words}\n\n");
    }
    format!(
        "{subject}\n\n{body}Windlass-Run: {}\n{TRAILER}: {}/{}\nWindlass-Source: {}\nWindlass-Review: sha256:{}\n\
         Windlass-Head: {}\n",
        site.run, plane.roadmap_id, asked.revision, asked.source_round, asked.approval, asked.head,
    )
}
