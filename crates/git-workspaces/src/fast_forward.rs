//! Moves the user's own checkout forward to a landed commit, or refuses without having touched anything. Local
//! changes and untracked files are never overwritten. Can be repeated after a crash at any point.

use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use crate::blockers::blockers;
use crate::confined_dir::ConfinedDir;
use crate::durable_file::{read_plain, rename, replace};
use crate::error::GitError;
use crate::ids::{Commit, Oid};
use crate::references::ReferenceUpdate;
use crate::repo_path::quoted;
use crate::repository::{Repository, fresh_index_path};

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FastForward {
    Done,
    Refused(NotFastForwarded),
}

/// Why the user's checkout was left alone.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum NotFastForwarded {
    HeadIsDetached,
    /// The branch no longer stands where the work began.
    HeadMoved {
        found: Commit,
    },
    /// Local changes or untracked files are in the way, in git's words.
    InTheWay {
        detail: String,
    },
    /// Another git holds, or changed, the user's index.
    IndexBusy,
    /// The branch moved in the last moment. The files are forward already; the user's index is as it was.
    BranchMoved,
}

impl Repository {
    /// Moves the user's checkout and its branch from `from` to `to`. Both must be imported or made here, and `to`
    /// must be published.
    pub fn fast_forward_current(&self, from: &Commit, to: &Commit) -> Result<FastForward, GitError> {
        let refuse = |reason| Ok(FastForward::Refused(reason));
        let Some(branch) = self.current_branch()? else {
            return refuse(NotFastForwarded::HeadIsDetached);
        };
        let head = self.head()?;
        if head != *from && head != *to {
            return refuse(NotFastForwarded::HeadMoved { found: head });
        }
        let users_index = self.checkout.git_dir().join("index");
        let Ok(seen) = read_plain(&users_index) else {
            return refuse(NotFastForwarded::IndexBusy);
        };
        let temporary = fresh_index_path(&self.control.indexes().join("users.index"));
        copy_with_time(&users_index, &temporary)?;
        let moved = self.move_files(&temporary, from, to);
        let content = read_plain(&temporary);
        // The private copy has served; a leftover would be harmless.
        let _ = fs::remove_file(&temporary);
        if let Err(detail) = moved? {
            return refuse(NotFastForwarded::InTheWay { detail });
        }
        if head != *to && self.update_reference(&branch, &to.id, Some(&from.id))? != ReferenceUpdate::Updated
        {
            return refuse(NotFastForwarded::BranchMoved);
        }
        let content = content.map_err(GitError::io("read", &temporary))?;
        if install_users_index(&users_index, &seen, &content)? {
            Ok(FastForward::Done)
        } else {
            refuse(NotFastForwarded::IndexBusy)
        }
    }

    /// Git's two-way merge: checks every path first and changes files only if all may change.
    fn move_files(&self, index: &Path, from: &Commit, to: &Commit) -> Result<Result<(), String>, GitError> {
        let work_tree = self.checkout.work_tree();
        if let Some(path) = blockers(&ConfinedDir::open(work_tree)?)?.first() {
            return Ok(Err(format!("{path} is no plain file, and git would wait for it")));
        }
        if let Err(detail) = self.refuse_staged_changes(index, from, to)? {
            return Ok(Err(detail));
        }
        let merge = || {
            self.call_in(work_tree, index)
                .args(["read-tree", "-m", "-u", from.tree.as_str(), to.tree.as_str()])
                .run_accepting(&[0, 128])
        };
        let first = merge()?;
        if first.status.success() {
            return Ok(Ok(()));
        }
        // An earlier attempt may have written files before it was killed: those count as moved.
        self.accept_files_already_moved(index, from, to)?;
        let second = merge()?;
        if second.status.success() {
            return Ok(Ok(()));
        }
        Ok(Err(String::from_utf8_lossy(&second.stderr).trim().to_owned()))
    }

    /// A checkout is clean only if its index says what the branch says, before or after the move.
    fn refuse_staged_changes(
        &self,
        index: &Path,
        from: &Commit,
        to: &Commit,
    ) -> Result<Result<(), String>, GitError> {
        let staged = |tree: &Commit| {
            self.call_in(self.checkout.work_tree(), index)
                .args([
                    "diff-index",
                    "--cached",
                    "--name-only",
                    "--ignore-submodules=all",
                    tree.tree.as_str(),
                ])
                .run()
        };
        let against_from = staged(from)?;
        if against_from.is_empty() || staged(to)?.is_empty() {
            return Ok(Ok(()));
        }
        let names = String::from_utf8_lossy(&against_from).trim_end().replace('\n', ", ");
        Ok(Err(format!("staged changes: {names}")))
    }

    /// Enters the new version into the private index for every changed path whose file already has it.
    fn accept_files_already_moved(&self, index: &Path, from: &Commit, to: &Commit) -> Result<(), GitError> {
        let listed = self
            .internal_call()
            .args(["diff-tree", "-r", "-z", "--raw", "--no-renames", from.tree.as_str(), to.tree.as_str()])
            .run()?;
        let mut fields = listed.split(|byte| *byte == 0);
        let mut instructions = Vec::new();
        while let (Some(meta), Some(path)) = (fields.next(), fields.next()) {
            let words: Vec<&[u8]> = meta.split(|byte| *byte == b' ').collect();
            let [_, new_mode, _, new_id, _] = words[..] else { continue };
            if self.file_has(path, new_mode, new_id)? {
                instructions.extend([new_mode, b" ", new_id, b"\t", path, b"\0"].concat());
            }
        }
        let call = self.call_in(self.checkout.work_tree(), index);
        call.args(["update-index", "-z", "--index-info"]).stdin(instructions).run().map(drop)
    }

    fn file_has(&self, path: &[u8], mode: &[u8], id: &[u8]) -> Result<bool, GitError> {
        let work_tree = self.checkout.work_tree();
        let path = crate::repo_path::RepoPath::new(path);
        let root = ConfinedDir::open(work_tree)?;
        let Some((kind, _)) = root.kind_of(&path)? else { return Ok(mode == b"000000") };
        let call = self.internal_call().args(["hash-object", "--no-filters"]);
        let printed = match (kind, mode) {
            (rustix::fs::FileType::RegularFile, b"100644" | b"100755") => {
                let full = work_tree.join(path.as_path());
                call.arg("--stdin-paths")
                    .stdin([quoted(full.as_os_str().as_encoded_bytes()), b"\n".to_vec()].concat())
            }
            (rustix::fs::FileType::Symlink, b"120000") => {
                call.arg("--stdin").stdin(root.link_target(&path)?.unwrap_or_default())
            }
            _ => return Ok(false),
        }
        .run()?;
        Ok(Oid::from_hex(printed.trim_ascii_end())
            .is_ok_and(|found| Oid::from_hex(id).is_ok_and(|id| id == found)))
    }
}

/// Keeps the time of the original: by it git tells which entries it must not believe.
fn copy_with_time(from: &Path, to: &Path) -> Result<(), GitError> {
    let copied = fs::copy(from, to).and_then(|_| {
        let written = fs::metadata(from)?.modified()?;
        fs::File::options().write(true).open(to)?.set_modified(written)
    });
    copied.map_err(GitError::io("copy", from))
}

/// Installs the index by git's own locking protocol; `false` if somebody else holds the lock or changed the index.
///
/// The lock is a second name of a file whose first name is ours, so that a lock left by a killed call of ours can
/// be told from everybody else's and is always complete.
fn install_users_index(path: &Path, seen: &[u8], content: &[u8]) -> Result<bool, GitError> {
    let lock = path.with_file_name("index.lock");
    let ours = path.with_file_name("windlass-index");
    let inode = |path: &Path| fs::symlink_metadata(path).map(|found| found.ino()).ok();
    if inode(&lock).is_some() && inode(&lock) == inode(&ours) {
        fs::remove_file(&lock).map_err(GitError::io("remove", &lock))?;
    }
    if seen == content {
        // A killed call may have come as far as the new index and not to the removal of its own name for it.
        let _ = fs::remove_file(&ours);
        return Ok(true);
    }
    replace(&ours, content)?;
    if fs::hard_link(&ours, &lock).is_err() {
        return Ok(false);
    }
    let unchanged = read_plain(path).ok().as_deref() == Some(seen);
    let released = if unchanged { rename(&lock, path) } else { fs::remove_file(&lock) };
    released.and_then(|()| fs::remove_file(&ours)).map_err(GitError::io("write", path))?;
    Ok(unchanged)
}
