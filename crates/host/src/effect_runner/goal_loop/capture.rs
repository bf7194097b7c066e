//! Takes down what a builder left, or what a person handed back in its place. The loop's own files are put back; what else
//! does not belong to the item is a finding.

use super::super::gate::touched::Looked;
use super::super::loop_branch;
use super::files;
use super::scope;
use super::shown;
use crate::context::{RunContext, git_tree};
use crate::fault::{bug, git_fault};
use crate::foreign::{ForeignShelf, is_real_directory};
use std::path::Path;
use windlass_artifact_formats::goal_loop::is_loop_file;
use windlass_control_api::Fault;
use windlass_git_workspaces::{Change, TreeId};
use windlass_protocols::outcome::CapturedChange;
use windlass_protocols::protocol::goal_contract::end::{End, Proposed};
use windlass_protocols::protocol::goal_contract::iteration::Iteration;
use windlass_protocols::protocol::goal_contract::state::State;
use windlass_protocols::{Outcome, Role, Run};

/// More of these say nothing new.
const MAX_LEFT_OUT: usize = 20;

pub(in super::super) fn run(context: &RunContext, round: u32, run: &Run) -> Result<Outcome, Fault> {
    let state = files::state(run)?;
    let open = state.open.as_ref().ok_or_else(|| bug("a snapshot outside of an iteration"))?;
    let head_plant = match &state.head {
        Some((_, tree)) => git_tree(tree)?,
        None => return Err(bug("a snapshot before the base is known")),
    };
    // Compared with the head as a builder was shown it: what an earlier try of the item did belongs to the change.
    let before = shown::tree(
        context,
        state,
        &windlass_protocols::TreeId::new(head_plant.as_str()),
        &files::before_building(context, state)?,
    )?;
    let taken = match taken(context, state, open, &before)? {
        Ok(taken) => taken,
        Err(reason) => return Ok(Outcome::Refused { reason }),
    };
    let head = shown::looked_at(context, state)?;
    if taken.hazards.is_empty() && taken.tree != before {
        let named = (format!("iteration-{}", open.number), format!("What iteration {} built", open.number));
        loop_branch::keep(context, &head, &taken.tree, (&named.0, &named.1))?;
    }
    let plant = files::plant(context, &taken.tree)?;
    let (patch, too_large) = super::super::capture::patch(context, &head_plant, &plant)?;
    let changes =
        scope::Changes { before: &before, after: &taken.tree, differing: &taken.changes, patch: &patch };
    let mut findings = scope::findings(context, state, open, &changes)?;
    if taken.committed {
        findings.push(scope::committed());
    }
    let hazards: Vec<String> = taken.hazards.into_iter().chain(too_large).collect();
    let looked = if hazards.is_empty() {
        super::super::capture::look_at_gate(context, (&head_plant, &plant))?
    } else {
        Looked::default()
    };
    let (owned, edited): (Vec<String>, Vec<String>) =
        taken.changes.iter().map(|change| change.path.to_string()).partition(|path| is_loop_file(path));
    Ok(Outcome::ChangeCaptured(CapturedChange {
        round,
        tree: windlass_protocols::TreeId::new(plant.as_str()),
        files_changed: edited.len() as u64,
        fingerprint: None,
        hazards,
        patch,
        reverted: owned,
        findings,
        left_out: taken.left_out,
        protected: looked.touched,
        gate: looked.findings,
    }))
}

/// The change a person is asked about and what the builder's worktree holds now, where both can be told.
pub(crate) fn proposed_and_found(
    context: &RunContext,
    run: &Run,
) -> Result<Option<(windlass_protocols::TreeId, windlass_protocols::TreeId)>, Fault> {
    let state = files::state(run)?;
    let Some(End::AwaitsApproval { proposed: Proposed::Change { tree }, .. }) = &state.end else {
        return Ok(None);
    };
    if !is_real_directory(&context.worktree(Role::Builder)) {
        // Taken away, not changed: what is committed is the tree that was verified.
        return Ok(None);
    }
    let head = shown::looked_at(context, state)?;
    let Ok(taken) = super::super::capture::take(context, Role::Builder, &head.tree)? else { return Ok(None) };
    let plant = files::plant(context, &taken.snapshot.tree)?;
    Ok(Some((tree.clone(), windlass_protocols::TreeId::new(plant.as_str()))))
}

struct Taken {
    tree: TreeId,
    changes: Vec<Change>,
    hazards: Vec<String>,
    /// It made commits of its own.
    committed: bool,
    /// What no snapshot can hold.
    left_out: Vec<String>,
}

fn taken(
    context: &RunContext,
    state: &State,
    open: &Iteration,
    before: &TreeId,
) -> Result<Result<Taken, String>, Fault> {
    let (place, key) = (context.worktree(Role::Builder), context.index_key(Role::Builder));
    if let Some(handed_back) = &open.handed_back {
        // A person's work takes the builder's place, so that the next builder goes on with it.
        shown::show(context, state, (&place, &key), &git_tree(handed_back)?)?;
    } else if !is_real_directory(&place) {
        // Somebody took it away, and what was done in it is gone: the loop goes on from where the iteration began.
        if place.symlink_metadata().is_ok() {
            ForeignShelf::of(context).take(&place, Path::new("worktrees/builder"))?;
        }
        let start = shown::tree(context, state, &open.start, &files::before_building(context, state)?)?;
        shown::show(context, state, (&place, &key), &start)?;
    }
    let head = shown::looked_at(context, state)?;
    let worktree = context.repository.worktree_at(&place).map_err(git_fault)?;
    let committed = open.handed_back.is_none() && !context.repository.stands_at(&worktree, &head.id);
    let taken = super::super::capture::take(context, Role::Builder, before)?;
    let left_out = context.repository.passed_over(&place, &key).map_err(git_fault)?;
    let left_out = left_out.iter().take(MAX_LEFT_OUT).map(ToString::to_string).collect();
    Ok(taken.map(|taken| Taken {
        tree: taken.snapshot.tree,
        changes: taken.snapshot.changes,
        hazards: taken.hazards,
        committed,
        left_out,
    }))
}
