//! Whether a run can stand on the checkout as it lies there. `goal run` and `goal check` ask here, so that what one calls
//! good the other does not refuse.

use crate::control::task_spec::no_commit_yet;
use crate::fault::git_fault;
use windlass_artifact_formats::goal_loop::is_loop_file;
use windlass_control_api::{Code, Fault};
use windlass_git_workspaces::{Commit, GitError, Repository, SnapshotLimits};
use windlass_protocols::protocol::goal_contract::spec::Home;

/// Where worktrees of runs are; never a part of what a run looks at.
pub(super) const RUNS: &str = ".orchestrator/";
/// So many of the changed files are named; the rest is counted.
const NAMED_CHANGES: usize = 5;

pub(super) struct Ground {
    /// Where the loop begins.
    pub(super) base: Commit,
    /// Which of the loop's own files are not committed.
    own_changes: Vec<String>,
}

impl Ground {
    /// Refuses a checkout with changes that belong to no commit.
    pub(super) fn of(repository: &Repository, home: Home) -> Result<Self, Fault> {
        let base = repository.head().map_err(|error| match error {
            GitError::UnknownRevision { .. } => no_commit_yet(),
            error => git_fault(error),
        })?;
        repository.import(&base).map_err(git_fault)?;
        let checkout = repository.checkout();
        let key = format!("checkout-{}", checkout.repository_key());
        let limits = SnapshotLimits::NONE;
        let found = repository.snapshot(checkout.work_tree(), &key, &base.tree, limits);
        let found = found.map_err(git_fault)?;
        let changed = found.changes.iter().map(|change| change.path.to_string());
        let changed = changed.filter(|path| !path.starts_with(RUNS));
        let (own, others): (Vec<String>, Vec<String>) = changed.partition(|path| is_loop_file(path));
        if !others.is_empty() {
            return Err(dirty(&others));
        }
        if home == Home::InPlace && !own.is_empty() {
            return Err(dirty(&own).hint("with `--in-place` the loop's own files have to be committed too"));
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

fn dirty(changed: &[String]) -> Fault {
    let shown: Vec<&str> = changed.iter().take(NAMED_CHANGES).map(String::as_str).collect();
    let more = if changed.len() > shown.len() { ", …" } else { "" };
    let count = match changed.len() {
        1 => "1 uncommitted change".to_owned(),
        more => format!("{more} uncommitted changes"),
    };
    Fault::new(Code::NotAllowedNow, format!("your checkout has {count}: {}{more}", shown.join(", ")))
        .kept("nothing was begun")
        .hint("commit or stash them: what is built stands on a commit")
}
