//! What an agent of a roadmap loop finds in its worktree: what is there. A round's worktree is never made anew, so that
//! what an interrupted agent left is kept for the next one.

use crate::context::{RunContext, git_commit};
use crate::fault::{bug, git_fault};
use windlass_control_api::Fault;
use windlass_git_workspaces::{CommitId, Fingerprint, TreeId};
use windlass_protocols::effect::{AskedWork, RunAgent};

fn work(asked: &RunAgent) -> Result<&AskedWork, Fault> {
    asked.work.as_deref().ok_or_else(|| bug("an agent of a roadmap loop without its work"))
}

/// No fingerprint is taken: whoever only reads is compared with the whole of what it was shown.
pub(in super::super) fn to_agent(
    _context: &RunContext,
    asked: &RunAgent,
) -> Result<Option<Fingerprint>, Fault> {
    work(asked).map(|_| None)
}

/// The content of the round's newest commit, and that commit.
pub(in super::super) fn of(context: &RunContext, asked: &RunAgent) -> Result<(TreeId, CommitId), Fault> {
    let head = git_commit(&work(asked)?.head)?;
    let head = context.repository.resolve_commit(head.as_str()).map_err(git_fault)?;
    Ok((head.tree, head.id))
}
