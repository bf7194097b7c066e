//! Makes the places a goal loop works in: its run directory, its branch, and the builder's worktree. The checkers' one is
//! made when they are first shown something.

use super::super::gate::tools;
use super::files;
use crate::context::{RunContext, git_commit};
use crate::fault::git_fault;
use windlass_control_api::Fault;
use windlass_git_workspaces::GitError;
use windlass_protocols::protocol::goal_contract::spec::Home;
use windlass_protocols::{CommitId, Outcome, Role, TreeId};

pub(in super::super) fn run(context: &RunContext) -> Result<Outcome, Fault> {
    let spec = context.goal_loop()?;
    let repository = &context.repository;
    let refused = |error: &GitError| Outcome::Refused { reason: error.to_string() };
    let base = match repository.resolve_commit(git_commit(&spec.place.base)?.as_str()) {
        Ok(base) => base,
        Err(error) => return Ok(refused(&error)),
    };
    if let Some(refusal) = super::super::prepare::claim_run_dir(context, base.tree.as_str())? {
        return Ok(refusal);
    }
    match repository.import(&base) {
        Ok(()) => {}
        Err(error @ GitError::MissingObjects { .. }) => return Ok(refused(&error)),
        Err(error) => return Err(git_fault(error)),
    }
    super::super::prepare::exclude(context)?;
    // In place the user's own branch is committed to; the builder's worktree stands on none.
    let own = (spec.home == Home::OwnBranch).then_some(spec.place.doer_branch.as_str());
    if let Some(branch) = own
        && let Some(refusal) = super::super::prepare::worktrees(context, &[(Role::Builder, branch)], &base)?
    {
        return Ok(refusal);
    }
    let plant = files::plant(context, &base.tree)?;
    // Before any builder works: what it puts before a program is seen by comparing with this.
    let base_tree = TreeId::new(plant.as_str());
    tools::remember(context, &base_tree)?;
    repository
        .show_worktree(
            (&context.worktree(Role::Builder), &context.index_key(Role::Builder)),
            &base.tree,
            &base.id,
        )
        .map_err(git_fault)?;
    Ok(Outcome::Prepared { base: CommitId::new(base.id.as_str()), base_tree })
}
