//! Makes the places a control loop works in: its run directory, its branch, and the worktree of the actuator. The
//! readers' and the sensors' ones are made when they are first shown something.

use crate::context::{RunContext, git_commit};
use crate::fault::git_fault;
use windlass_control_api::Fault;
use windlass_git_workspaces::{GitError, Overlay, ReferenceUpdate};
use windlass_protocols::protocol::feedback_control::spec::Workplace;
use windlass_protocols::{CommitId, Outcome, Role, TreeId};

pub(in super::super) fn run(context: &RunContext) -> Result<Outcome, Fault> {
    let spec = context.control_loop()?;
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
    if let Some(refusal) =
        super::super::prepare::worktrees(context, &[(Role::Actuator, &spec.place.doer_branch)], &base)?
    {
        return Ok(refusal);
    }
    let worktree = repository.worktree_at(&context.worktree(Role::Actuator)).map_err(git_fault)?;
    // On no branch: the user may want to check the loop's branch out while the run goes on.
    repository
        .restore_worktree(&worktree, &context.index_key(Role::Actuator), &base.id)
        .map_err(git_fault)?;
    if spec.workplace == Workplace::InPlace {
        let branch = format!("refs/heads/{}", spec.place.doer_branch);
        match repository.switch_checkout(&branch, &base.id) {
            Ok(ReferenceUpdate::Updated) => {}
            Ok(ReferenceUpdate::Conflict { .. }) => {
                let reason = "your checkout no longer stands where the loop begins".to_owned();
                return Ok(Outcome::Refused { reason });
            }
            Err(error) => return Ok(refused(&error)),
        }
    }
    let directory = super::shown::loop_directory();
    let parts = Overlay { content: &base.tree, replaced: &[(&directory, None)], removed: &[], files: &[] };
    let plant = repository.overlay(&parts).map_err(git_fault)?;
    Ok(Outcome::Prepared { base: CommitId::new(base.id.as_str()), base_tree: TreeId::new(plant.as_str()) })
}
