//! Brings objects from the control directory into the user's object store. Runs under our configuration with only
//! the object directory being the user's. Must not move references.

use crate::commit::CommitRequest;
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
        let needed = self.needed_beyond(base, &commit.tree)?;
        self.publish_objects(commit, &needed)
    }

    /// Writes a commit and publishes it. What its tree needs is looked up meanwhile.
    pub fn publish_new(&self, request: &CommitRequest<'_>, base: &TreeId) -> Result<Commit, GitError> {
        let (id, needed) = side_by_side(|| self.commit(request), || self.needed_beyond(base, request.tree));
        let commit = Commit { id: id?, tree: request.tree.clone() };
        self.publish_objects(&commit, &needed?)?;
        Ok(commit)
    }

    fn needed_beyond(&self, base: &TreeId, tree: &TreeId) -> Result<Vec<String>, GitError> {
        self.objects_of(tree, &[base.to_string()], ReadFrom::ControlOnly)
    }

    fn publish_objects(&self, commit: &Commit, needed: &[String]) -> Result<(), GitError> {
        let ids = std::iter::once(commit.id.as_str()).chain(needed.iter().map(String::as_str));
        let list: Vec<u8> = ids.flat_map(|id| [id, "\n"]).collect::<String>().into_bytes();
        let read = |call: GitCall| call.args(["cat-file", "--batch"]).stdin(list.clone()).run_any();
        // Ours are out of everybody's reach, so it does not matter when they are read; theirs are read last.
        let (copied, ours) = side_by_side(|| self.copy_to_user(list.clone()), || read(self.internal_call()));
        copied?;
        let ours = ours?;
        let theirs = read(self.internal_call().objects_in(&self.checkout.objects_dir()))?;
        // Git takes a stored object at its word, so only its bytes tell.
        if ours.status.success() && theirs.status.success() && ours.stdout == theirs.stdout {
            return Ok(());
        }
        let detail = String::from_utf8_lossy(&theirs.stderr).trim().to_owned();
        Err(GitError::ForgedObject { commit: commit.id.to_string(), detail })
    }

    fn copy_to_user(&self, list: Vec<u8>) -> Result<(), GitError> {
        let pack =
            self.internal_call().args(["pack-objects", "-q", "--stdout", "--window=0"]).stdin(list).run()?;
        let users = self.checkout.objects_dir();
        self.internal_call().objects_in(&users).args(["unpack-objects", "-q"]).stdin(pack).run().map(drop)
    }
}

/// Two calls of git that do not wait for each other's answer.
fn side_by_side<A, B: Send>(here: impl FnOnce() -> A, beside: impl FnOnce() -> B + Send) -> (A, B) {
    std::thread::scope(|scope| {
        let beside = scope.spawn(beside);
        let here = here();
        (here, beside.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)))
    })
}
