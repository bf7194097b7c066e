//! Renders the difference of two trees as a patch that plain `git apply` takes. A rendering for people and other
//! programs: the change itself is the tree id.

use windlass_process_supervisor::QuickError;

use crate::error::GitError;
use crate::ids::TreeId;
use crate::repository::Repository;

/// A patch, unless it would be longer than the caller allowed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Patch {
    Complete(Vec<u8>),
    TooLarge { limit: usize },
}

impl Repository {
    /// The patch from `base` to `tree`, at most `limit` bytes long.
    pub fn patch(&self, base: &TreeId, tree: &TreeId, limit: usize) -> Result<Patch, GitError> {
        let call = self.internal_call().args([
            "diff-tree",
            "-r",
            "-p",
            "--binary",
            "--full-index",
            "--no-color",
            "--no-renames",
            "--no-ext-diff",
            "--no-textconv",
            "--ignore-submodules=none",
            "--submodule=short",
            "--src-prefix=a/",
            "--dst-prefix=b/",
            "--diff-algorithm=myers",
            "--end-of-options",
            base.as_str(),
            tree.as_str(),
        ]);
        match call.output_limit(limit).run() {
            Ok(patch) => Ok(Patch::Complete(patch)),
            Err(GitError::Run(QuickError::OutputLimit { .. })) => Ok(Patch::TooLarge { limit }),
            Err(error) => Err(error),
        }
    }
}
