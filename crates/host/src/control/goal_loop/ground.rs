//! Whether a run can stand on the checkout as it lies there. `goal run` and `goal check` ask here, so that what one calls
//! good the other does not refuse.

pub(super) use crate::control::own_checkout::RUNS;
use crate::control::own_checkout::{OwnCheckout, dirty, hold_to_the_bytes};
use crate::control::task_spec::no_commit_yet;
use crate::fault::git_fault;
use crate::settings::Environment;
use windlass_artifact_formats::goal_loop::is_loop_file;
use windlass_control_api::Fault;
use windlass_git_workspaces::{Commit, GitError, Repository};
use windlass_protocols::protocol::goal_contract::spec::Home;

const ON_A_COMMIT: &str = "commit or stash them: what is built stands on a commit";

pub(super) struct Ground {
    /// Where the loop begins.
    pub(super) base: Commit,
    /// Which of the loop's own files are not committed.
    own_changes: Vec<String>,
}

impl Ground {
    /// Refuses a checkout with changes that belong to no commit.
    pub(super) fn of(repository: &Repository, environment: &Environment, home: Home) -> Result<Self, Fault> {
        let base = repository.head().map_err(|error| match error {
            GitError::UnknownRevision { .. } => no_commit_yet(),
            error => git_fault(error),
        })?;
        repository.import(&base).map_err(git_fault)?;
        let changed = OwnCheckout::look(repository, environment)?.changed();
        let (own, others): (Vec<String>, Vec<String>) =
            changed.into_iter().partition(|path| is_loop_file(path));
        if !others.is_empty() {
            return Err(dirty(&others).hint(ON_A_COMMIT));
        }
        if home == Home::InPlace && !own.is_empty() {
            return Err(dirty(&own)
                .hint(ON_A_COMMIT)
                .hint("with `--in-place` the loop's own files have to be committed too"));
        }
        if home == Home::InPlace {
            hold_to_the_bytes(repository, &base)?;
        }
        Ok(Self { base, own_changes: own })
    }

    /// The loop's own files may lie there uncommitted; a person should know what that means.
    pub(super) fn notice(&self) -> Option<String> {
        (!self.own_changes.is_empty()).then(|| {
            format!(
                "{} count as they lie in your checkout, but are no part of the base until committed",
                self.own_changes.join(", ")
            )
        })
    }
}
