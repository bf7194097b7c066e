//! Makes what an agent left in its worktree a commit of its branch. Only what its role may write is taken; the rest is put
//! back in the worktree and named. Doing it twice makes the same commit.

use super::hidden::Hidden;
use super::site::{Site, Step, Stop, Strangers, is_there};
use super::written_by::{About, WriteSet, says_simple};
use crate::context::git_tree;
use serde::{Deserialize, Serialize};
use windlass_artifact_formats::roadmap_loop::round::{RoundForm, RoundPlan, files};
use windlass_git_workspaces::{Commit, Part, Snapshot, SnapshotLimits, TreeId};
use windlass_protocols::outcome::{Finding, FindingKind};
use windlass_protocols::protocol::roadmap_rounds::plane::{Generation, Plane};
use windlass_protocols::protocol::roadmap_rounds::steps::{
    CaptureWork, Kept, PlaneOutcome, WorkCaptured, WorkKind,
};
use windlass_protocols::{CommitId, Millis};

const NOTE: &str = "captured.json";
/// More of these say nothing new.
const MAX_NAMED: usize = 20;

/// What was found and what becomes of it, written down before anything is put back: afterwards nobody could tell.
#[derive(Serialize, Deserialize)]
struct Noted {
    captured: WorkCaptured,
    /// The content of the worktree as the agent left it.
    found: windlass_protocols::TreeId,
}

pub(super) fn run(site: &Site<'_>, asked: &CaptureWork, plane: &Plane) -> Step<PlaneOutcome> {
    let parent = site.commit(&asked.parent)?;
    if let Some(noted) = site.noted::<Noted>(NOTE) {
        return settle(site, asked, &parent, noted);
    }
    if !is_there(&site.place(&asked.worktree)) {
        // Somebody took it away, and what was done in it is gone; the next look at the plane finds it missing.
        return Ok(captured(untouched(asked, &parent)));
    }
    let mut left = look(site, &asked.worktree, &parent.tree)?;
    if !left.hazards.is_empty() {
        let hazards = left.hazards.iter().take(MAX_NAMED).map(ToString::to_string).collect();
        let files_changed = left.changes.len() as u64;
        return Ok(captured(WorkCaptured { hazards, files_changed, ..untouched(asked, &parent) }));
    }
    let hidden = Hidden::reveal(site, asked, (plane, &parent), &mut left.tree)?;
    let set = write_set(site, asked, plane, &parent, &left.tree)?;
    let taken = site.repository.select(&parent.tree, &left.tree, |path| set.takes(path.as_bytes()))?;
    let changed = site.repository.differing_paths(&parent.tree, &taken.tree, Part::Everything)?;
    let commit = if changed.is_empty() {
        parent.clone()
    } else {
        site.make(&taken.tree, &[&parent], (&message(site, asked), asked.decided_at))?
    };
    let kept = if taken.left.is_empty() {
        None
    } else {
        Some(site.keep_found(&asked.branch, &parent, (&left.tree, asked.decided_at))?)
    };
    let tip = site.tip(&asked.branch)?;
    let committed = tip.is_some_and(|tip| tip != parent.id && tip != commit.id);
    let finding = Finding { kind: FindingKind::Committed, about: Vec::new() };
    let noted = Noted {
        captured: WorkCaptured {
            commit: CommitId::new(commit.id.as_str()),
            tree: windlass_protocols::TreeId::new(commit.tree.as_str()),
            files_changed: changed.len() as u64,
            put_back: named(taken.left.iter().map(ToString::to_string).collect()),
            kept,
            ignored: if set.takes_code() { hidden.all_but(site, &asked.worktree)? } else { Vec::new() },
            findings: committed.then_some(finding).into_iter().collect(),
            ..untouched(asked, &parent)
        },
        found: windlass_protocols::TreeId::new(left.tree.as_str()),
    };
    site.note(NOTE, &noted)?;
    settle(site, asked, &parent, noted)
}

/// Branch first, then the worktree: one that is behind its branch is brought up to it by the next attempt.
fn settle(site: &Site<'_>, asked: &CaptureWork, parent: &Commit, mut noted: Noted) -> Step<PlaneOutcome> {
    let commit = site.commit(&noted.captured.commit)?;
    // Told by the finding; a branch that somebody moved only now is moved back and kept as well.
    let (Strangers::None | Strangers::Kept) = site.set_branch(&asked.branch, parent, &commit)?;
    let known = [git_tree(&noted.found)?];
    let kept = show(site, (&asked.worktree, &asked.branch), &commit, (&known, asked.decided_at))?;
    noted.captured.kept = noted.captured.kept.or(kept);
    Ok(captured(noted.captured))
}

fn captured(captured: WorkCaptured) -> PlaneOutcome {
    PlaneOutcome::WorkCaptured(Box::new(captured))
}

fn untouched(asked: &CaptureWork, parent: &Commit) -> WorkCaptured {
    WorkCaptured {
        work: asked.work.clone(),
        commit: CommitId::new(parent.id.as_str()),
        tree: windlass_protocols::TreeId::new(parent.tree.as_str()),
        files_changed: 0,
        put_back: Vec::new(),
        kept: None,
        ignored: Vec::new(),
        findings: Vec::new(),
        hazards: Vec::new(),
    }
}

pub(super) fn named(mut paths: Vec<String>) -> Vec<String> {
    let more = paths.len().saturating_sub(MAX_NAMED);
    paths.truncate(MAX_NAMED);
    if more > 0 {
        paths.push(format!("and {more} more"));
    }
    paths
}

/// What lies there and is in no tree, for git is told to ignore it.
pub(super) fn ignored(site: &Site<'_>, worktree: &str) -> Step<Vec<String>> {
    Hidden::default().all_but(site, worktree)
}

/// What a worktree holds, durable once it is committed. What the agent left can make this fail, and would again: then a
/// person has to look.
pub(super) fn look(site: &Site<'_>, worktree: &str, base: &TreeId) -> Step<Snapshot> {
    look_within(site, worktree, base, SnapshotLimits::default())
}

fn look_within(site: &Site<'_>, worktree: &str, base: &TreeId, limits: SnapshotLimits) -> Step<Snapshot> {
    let path = site.place(worktree);
    let taken = site.repository.snapshot_to_build_on(&path, &Site::key(worktree), base, limits);
    taken.map_err(|error| {
        if super::super::capture::comes_of_the_content(&error, &path) {
            Stop::Refused(error.to_string())
        } else {
            error.into()
        }
    })
}

/// Makes a worktree hold a commit, with git inside it on its branch. A content that is none of the known ones is kept
/// before it goes: somebody was at work there. What git ignores stays.
pub(super) fn show(
    site: &Site<'_>,
    (worktree, branch): (&str, &str),
    commit: &Commit,
    (known, at): (&[TreeId], Millis),
) -> Step<Option<Kept>> {
    let (path, key) = (site.place(worktree), Site::key(worktree));
    if !is_there(&path) {
        return Ok(None);
    }
    // What goes is kept however much it is: what was not recorded would stay and be taken for nothing.
    let found = look_within(site, worktree, &commit.tree, SnapshotLimits::NONE)?;
    let mut kept = None;
    if found.tree != commit.tree {
        if !known.contains(&found.tree) {
            kept = Some(site.keep_found(branch, commit, (&found.tree, at))?);
        }
        site.repository.turn(&path, &key, &found.tree, &commit.tree)?;
    }
    let linked = site.repository.linked_worktree(&path)?;
    site.repository.settle_on_branch(&linked, &key, branch)?;
    Ok(kept)
}

pub(super) fn write_set(
    site: &Site<'_>,
    asked: &CaptureWork,
    plane: &Plane,
    parent: &Commit,
    left: &TreeId,
) -> Step<WriteSet> {
    let round = asked.work.round.as_str();
    let form = form(plane.generation);
    let in_round = |name| files::in_round(round, name);
    let simple = match (&asked.work.kind, form) {
        (WorkKind::Plan, RoundForm::StructuredMarkdown) => {
            let plan = site.text_at(left, &in_round(files::PLAN))?;
            plan.is_some_and(|plan| says_simple(round, &plan))
        }
        _ => false,
    };
    // As it was handed out: whoever has a share cannot widen it.
    let plan = plan_at(site, &parent.tree, round, plane)?;
    let about = About {
        round,
        form,
        plan: plan.as_ref(),
        simple,
        roadmap_id: &plane.roadmap_id,
        proposed_revision: plane.update.as_ref().map(|update| update.proposed_revision.as_str()),
    };
    Ok(WriteSet::of(&asked.work.kind, &about))
}

pub(super) fn plan_at(site: &Site<'_>, tree: &TreeId, round: &str, plane: &Plane) -> Step<Option<RoundPlan>> {
    let in_round = |name| files::in_round(round, name);
    Ok(match form(plane.generation) {
        RoundForm::Records => site
            .text_at(tree, &in_round(files::PLAN_RECORD))?
            .and_then(|text| RoundPlan::from_record(round, &text).ok()),
        RoundForm::StructuredMarkdown => site
            .text_at(tree, &in_round(files::PLAN))?
            .and_then(|text| RoundPlan::from_plan(round, &text).ok()),
    })
}

pub(super) const fn form(generation: Generation) -> RoundForm {
    match generation {
        Generation::Records => RoundForm::Records,
        Generation::StructuredMarkdown => RoundForm::StructuredMarkdown,
    }
}

fn message(site: &Site<'_>, asked: &CaptureWork) -> String {
    let (round, words) = (&asked.work.round, asked.work.kind.words());
    let worker = match &asked.work.kind {
        WorkKind::Worker { worker } => format!("Windlass-Worker: {worker}\n"),
        _ => String::new(),
    };
    format!("{round}: {words}\n\nWindlass-Run: {}\n{worker}", site.run)
}
