//! Brings objects from the control directory into the user's object store. Runs under our configuration with only
//! the object directory being the user's. Must not move references.

use windlass_process_supervisor::QuickOutput;

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
        // Ours can be read while theirs is being written.
        let (ours, theirs) = std::thread::scope(|scope| {
            let ours = scope.spawn(|| Self::read_whole(self.internal_call(), &list));
            let theirs = self.copy_to_user(&list).and_then(|()| {
                Self::read_whole(self.internal_call().objects_in(&self.checkout.objects_dir()), &list)
            });
            (ours.join().expect("reading objects does not panic"), theirs)
        });
        let (ours, theirs) = (ours?, theirs?);
        if ours.status.success() && theirs.status.success() && ours.stdout == theirs.stdout {
            return Ok(());
        }
        let detail = String::from_utf8_lossy(&theirs.stderr).trim().to_owned();
        Err(GitError::ForgedObject { commit: commit.id.to_string(), detail })
    }

    fn copy_to_user(&self, list: &[u8]) -> Result<(), GitError> {
        let packing = self.internal_call().args(["pack-objects", "-q", "--stdout", "--window=0"]);
        let pack = packing.stdin(list).run()?;
        let unpacking = self.internal_call().objects_in(&self.checkout.objects_dir());
        unpacking.args(["unpack-objects", "-q"]).stdin(pack).run().map(drop)
    }

    /// Git takes a stored object at its word, so only its bytes tell.
    fn read_whole(call: GitCall, list: &[u8]) -> Result<QuickOutput, GitError> {
        call.args(["cat-file", "--batch"]).stdin(list).run_any()
    }
}
