//! Brings objects from the control directory into the user's object store. Runs under our configuration with only
//! the object directory being the user's. Must not move references.

use crate::error::GitError;
use crate::git_command::GitCall;
use crate::ids::{Commit, TreeId};
use crate::repository::{ReadFrom, Repository};

impl Repository {
    /// Makes a commit and everything its tree needs beyond `base` available in the user's repository, which must
    /// have its parents and `base` (the tree of an imported commit) already. What exists is kept; then all of it is
    /// read back and compared, because an agent may have put something else under the same name.
    /// Repeating it is harmless.
    pub fn publish(&self, commit: &Commit, base: &TreeId) -> Result<(), GitError> {
        let mut wanted = vec![commit.id.as_str().to_owned()];
        wanted.extend(self.objects_of(&commit.tree, &[base.to_string()], ReadFrom::ControlOnly)?);
        let list = (wanted.join("\n") + "\n").into_bytes();
        let pack = self
            .internal_call()
            .args(["pack-objects", "-q", "--stdout", "--window=0"])
            .stdin(list.clone())
            .run()?;
        let users = self.checkout.objects_dir();
        self.internal_call().objects_in(&users).args(["unpack-objects", "-q"]).stdin(pack).run()?;
        self.compare_with_published(commit, list)
    }

    /// Reads the objects from both stores. Git takes a stored object at its word, so only its bytes tell.
    fn compare_with_published(&self, commit: &Commit, list: Vec<u8>) -> Result<(), GitError> {
        let read = |call: GitCall| call.args(["cat-file", "--batch"]).stdin(list.clone()).run_any();
        let ours = read(self.internal_call())?;
        let theirs = read(self.internal_call().objects_in(&self.checkout.objects_dir()))?;
        if ours.status.success() && theirs.status.success() && ours.stdout == theirs.stdout {
            return Ok(());
        }
        let detail = String::from_utf8_lossy(&theirs.stderr).trim().to_owned();
        Err(GitError::ForgedObject { commit: commit.id.to_string(), detail })
    }
}
