//! Holds what a roadmap loop says it merged against the repository: one squash commit for each round, with the recorded tree,
//! under the round's name, and part of the base branch.

use crate::context::{RunContext, git_commit};
use crate::control::verify::{failed, judged};
use crate::control_plane::ROUND_TRAILER;
use crate::fault::git_fault;
use std::collections::BTreeSet;
use windlass_control_api::Fault;
use windlass_control_api::views::VerificationCheck;
use windlass_protocols::protocol::roadmap_rounds::facts::Fact as RoadmapFact;
use windlass_protocols::{CommitId, Fact, TreeId};

const WHAT: &str = "the merged rounds";

pub(crate) fn check(context: Result<&RunContext, &Fault>, facts: &[Fact]) -> Option<VerificationCheck> {
    let merged: Vec<(&str, &CommitId, &TreeId)> = facts
        .iter()
        .filter_map(|fact| match fact {
            Fact::RoadmapRounds(RoadmapFact::RoundMerged { round, commit, tree, .. }) => {
                Some((round.as_str(), commit, tree))
            }
            _ => None,
        })
        .collect();
    if merged.is_empty() {
        return None;
    }
    let context = match context {
        Ok(context) => context,
        Err(fault) => return Some(failed(WHAT, format!("they cannot be looked at: {}", fault.message))),
    };
    let mut seen = BTreeSet::new();
    let mut wrong = Vec::new();
    for (round, commit, tree) in &merged {
        if !seen.insert(*round) {
            wrong.push(format!("{round} was merged twice"));
        }
        match one(context, round, commit, tree) {
            Ok(None) => {}
            Ok(Some(why)) => wrong.push(format!("{commit} of {round} {why}")),
            Err(fault) => wrong.push(format!("{commit} of {round} cannot be looked at: {}", fault.message)),
        }
    }
    let branch = &context.spec.place().doer_branch;
    let good = format!("{} are one commit each of {branch}, with the recorded trees", merged.len());
    Some(judged(WHAT, &wrong, good))
}

/// What is wrong with one of them.
fn one(context: &RunContext, round: &str, commit: &CommitId, tree: &TreeId) -> Result<Option<String>, Fault> {
    let repository = &context.repository;
    let id = git_commit(commit)?;
    let found = repository.resolve_commit(id.as_str()).map_err(git_fault)?;
    if found.tree.as_str() != tree.as_str() {
        return Ok(Some(format!("holds tree {}, the merged one is {tree}", found.tree)));
    }
    let parent = repository.resolve_commit(&format!("{id}^")).map_err(git_fault)?;
    let named = repository.trailers(ROUND_TRAILER, &id, &parent.id).map_err(git_fault)?;
    if !named.iter().any(|(at, value)| *at == id && value == round) {
        return Ok(Some(format!("does not name the round in its trailer {ROUND_TRAILER}")));
    }
    let reference = format!("refs/heads/{}", context.spec.place().doer_branch);
    let held = match repository.read_reference(&reference).map_err(git_fault)? {
        Some(head) => repository.is_ancestor(&id, &head).map_err(git_fault)?,
        None => false,
    };
    Ok((!held).then(|| format!("is not in the history of {}", context.spec.place().doer_branch)))
}
