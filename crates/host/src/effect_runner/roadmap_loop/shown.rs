//! What an agent of a roadmap loop finds in its worktree: what is there. A round's worktree is never made anew, so that
//! what an interrupted agent left is kept for the next one.

use super::capture::look;
use super::site::{Site, Stop};
use super::worktree_path;
use crate::context::{RunContext, git_commit, git_tree};
use crate::fault::{bug, git_fault};
use windlass_control_api::Fault;
use windlass_git_workspaces::{Drift, Fingerprint};
use windlass_protocols::effect::RunAgent;
use windlass_protocols::outcome::WorkspaceAfter;
use windlass_protocols::{EffectId, Role};

/// Whoever only reads is held to what is there now, work of others that is not taken down yet included.
pub(in super::super) fn to_agent(
    context: &RunContext,
    effect: EffectId,
    asked: &RunAgent,
) -> Result<Option<Fingerprint>, Fault> {
    let work = asked.work.as_deref().ok_or_else(|| bug("an agent of a roadmap loop without its work"))?;
    if asked.role != Role::Investigator {
        return Ok(None);
    }
    let site = Site::of(context, effect);
    let seen = site.commit(&work.head).and_then(|head| look(&site, &work.worktree, &head.tree));
    match seen {
        Ok(_) => {}
        Err(Stop::Fault(fault)) => return Err(fault),
        // What cannot be recorded cannot be compared; the capture after the next work refuses it in words.
        Err(Stop::Refused(_) | Stop::Held(_)) => return Ok(None),
    }
    let path = worktree_path(context, &work.worktree);
    context.repository.fingerprint(&path, &Site::key(&work.worktree)).map(Some).map_err(git_fault)
}

/// What a reader changed. An engine that did not see it begin cannot tell its edits from those it found, and takes down
/// neither: whoever works there next is told by the capture what is not theirs.
pub(in super::super) fn after(
    context: &RunContext,
    before: Option<&Fingerprint>,
    changed: impl Fn(&Drift) -> Vec<String>,
) -> WorkspaceAfter {
    let Some(before) = before else { return WorkspaceAfter::Unchanged };
    let paths = match context.repository.drift_since(before) {
        Ok(drift) => changed(&drift),
        Err(error) => vec![format!("the worktree itself: {error}")],
    };
    if paths.is_empty() { WorkspaceAfter::Unchanged } else { WorkspaceAfter::Changed { paths } }
}

/// For the engine's own checks: a place of the run, for the rounds' worktrees are their agents'.
pub(in super::super) fn to_checks(
    context: &RunContext,
    tree: &windlass_protocols::TreeId,
) -> Result<Fingerprint, Fault> {
    let (path, key) = (context.worktree(Role::Judge), context.index_key(Role::Judge));
    let base = git_commit(&context.spec.place().base)?;
    context.repository.show_worktree((&path, &key), &git_tree(tree)?, &base).map_err(git_fault)
}
