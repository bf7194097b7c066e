//! A commit as the bytes that its id is the hash of, so that others can check what it holds without the repository.

use crate::control_dir::ObjectFormat;
use crate::error::GitError;
use crate::history::tree_line;
use crate::ids::{CommitId, TreeId};
use crate::own_objects::{Kind, NewObject};
use crate::repository::Repository;

impl Repository {
    /// What git hashed for this commit; `None` where the user's repository does not have it.
    pub fn commit_object(&self, id: &CommitId) -> Result<Option<Vec<u8>>, GitError> {
        let output = self.view_call()?.args(["cat-file", "commit", id.as_str()]).run_any()?;
        Ok(output.status.success().then_some(output.stdout))
    }
}

/// The tree of a commit, if these bytes are that commit.
pub fn tree_of_commit_object(content: &[u8], id: &CommitId) -> Option<TreeId> {
    let format = if id.as_str().len() == 40 { ObjectFormat::Sha1 } else { ObjectFormat::Sha256 };
    let object = NewObject::new(Kind::Commit, content, format).ok()?;
    (format!("{:?}", object.id) == id.as_str()).then(|| tree_line(content)).flatten()
}
