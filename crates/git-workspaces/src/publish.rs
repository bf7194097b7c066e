//! Brings objects from the control directory into the user's object store. Git runs under our configuration with only
//! the object directory being the user's. Must not move references.

use crate::commit::CommitRequest;
use crate::error::GitError;
use crate::git_command::GitCall;
use crate::ids::{Commit, TreeId};
use crate::loose_objects::{self, Copied};
use crate::repository::{ReadFrom, Repository};
use windlass_process_supervisor::side_by_side;

impl Repository {
    /// Makes a commit and everything its tree needs beyond `base` available in the user's repository, which must
    /// have its parents and `base` (the tree of an imported commit) already. What exists is kept; then all of it is
    /// read back and compared, because an agent may have put something else under the same name.
    /// Repeating it is harmless.
    pub fn publish(&self, commit: &Commit, base: &TreeId) -> Result<(), GitError> {
        let needed = self.needed_beyond(base, &commit.tree)?;
        self.publish_objects(commit, &needed)?;
        self.note_whole(&commit.tree, base);
        Ok(())
    }

    /// Writes a commit and publishes it.
    pub fn publish_new(&self, request: &CommitRequest<'_>, base: &TreeId) -> Result<Commit, GitError> {
        let commit = Commit { id: self.commit(request)?, tree: request.tree.clone() };
        self.publish(&commit, base)?;
        Ok(commit)
    }

    /// From the two listings where git noted all their trees; else git walks both.
    fn needed_beyond(&self, base: &TreeId, tree: &TreeId) -> Result<Vec<String>, GitError> {
        if let (Some(known), Some(wanted)) = (self.memory.listing(base), self.memory.listing(tree))
            && let (Some(known), Some(wanted)) =
                (known.objects(self.format.id_bytes()), wanted.objects(self.format.id_bytes()))
        {
            return Ok(wanted.difference(&known).map(|id| format!("{id:?}")).collect());
        }
        self.objects_of(tree, &[base.to_string()], ReadFrom::ControlOnly)
    }

    fn publish_objects(&self, commit: &Commit, needed: &[String]) -> Result<(), GitError> {
        let ids: Vec<_> =
            std::iter::once(commit.id.as_str()).chain(needed.iter().map(String::as_str)).collect();
        let list: Vec<u8> = ids.iter().flat_map(|id| [id, "\n"]).collect::<String>().into_bytes();
        self.copy_to_user(&ids, &list)?;
        let read = |call: GitCall| call.args(["cat-file", "--batch"]).stdin(list.clone()).run_any();
        let ours = || match self.as_git_prints(&ids) {
            Some(printed) => Ok(Some(printed)),
            None => read(self.internal_call()).map(|ours| ours.status.success().then_some(ours.stdout)),
        };
        // Git reads theirs: it may find a name in a pack first, and whoever uses the repository finds what git finds.
        let (ours, theirs) =
            side_by_side(ours, || read(self.internal_call().objects_in(&self.checkout.objects_dir())));
        let (ours, theirs) = (ours?, theirs?);
        // Git takes a stored object at its word, so only its bytes tell.
        if theirs.status.success() && ours.is_some_and(|ours| ours == theirs.stdout) {
            return Ok(());
        }
        let detail = String::from_utf8_lossy(&theirs.stderr).trim().to_owned();
        Err(GitError::ForgedObject { commit: commit.id.to_string(), detail })
    }

    /// Our own objects in the form of `cat-file --batch`; `None` where one of them has no file of its own.
    fn as_git_prints(&self, ids: &[&str]) -> Option<Vec<u8>> {
        let mut printed = Vec::new();
        for id in ids {
            let (kind, content) = self.objects.read(id)?;
            printed.extend(format!("{id} {kind} {}\n", content.len()).into_bytes());
            printed.extend(content);
            printed.push(b'\n');
        }
        Some(printed)
    }

    /// As files where they are few, as most changes are: two processes are saved.
    fn copy_to_user(&self, ids: &[&str], list: &[u8]) -> Result<(), GitError> {
        let users = self.checkout.objects_dir();
        let ours = self.control.objects();
        if loose_objects::copy(&ours, &users, ids).map_err(GitError::io("write to", &users))? == Copied::All {
            return Ok(());
        }
        let packing = self.internal_call().args(["pack-objects", "-q", "--stdout", "--window=0"]);
        let pack = packing.stdin(list).run()?;
        self.internal_call().objects_in(&users).args(["unpack-objects", "-q"]).stdin(pack).run().map(drop)
    }
}
