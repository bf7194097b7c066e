//! Makes the places a roadmap loop works in: its run directory. Branches and worktrees are made round by round.

use crate::context::{RunContext, git_commit};
use crate::fault::git_fault;
use windlass_control_api::Fault;
use windlass_git_workspaces::GitError;
use windlass_protocols::{CommitId, Outcome, TreeId};

pub(in super::super) fn run(context: &RunContext) -> Result<Outcome, Fault> {
    let spec = context.roadmap_loop()?;
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
    // Before anybody works: what is put before a program is seen by comparing with this.
    let base_tree = TreeId::new(base.tree.as_str());
    super::super::gate::tools::remember(context, &base_tree)?;
    Ok(Outcome::Prepared { base: CommitId::new(base.id.as_str()), base_tree })
}
