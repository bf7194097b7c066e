//! Moves the user's own checkout forward to a landed commit, or refuses without having touched anything. Local
//! changes and untracked files are never overwritten. Can be repeated after a crash at any point.

use std::fs;
use std::path::Path;

use windlass_process_supervisor::QuickOutput;

use crate::blockers::blockers_outside;
use crate::confined_dir::ConfinedDir;
use crate::durable_file::{flush_disk_of, read_plain, replace};
use crate::error::GitError;
use crate::ids::{Commit, Oid, TreeId};
use crate::index_file::Index;
use crate::index_lock::IndexLock;
use crate::references::ReferenceUpdate;
use crate::repo_path::{RepoPath, quoted};
use crate::repository::{Repository, fresh_index_path};
use crate::selection::Part;
use crate::write_tree::differing;

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
    /// Another git holds the user's index.
    IndexBusy,
    /// The branch moved in the last moment. Files and index are as they were.
    BranchMoved,
}

impl Repository {
    /// Moves the user's checkout and its branch from `from` to `to`. Both must be imported or made here, and `to`
    /// must be published. Refused means that the branch does not hold `to`.
    pub fn fast_forward_current(&self, from: &Commit, to: &Commit) -> Result<FastForward, GitError> {
        self.fast_forward_keeping(from, to, &[])
    }

    /// As [`Self::fast_forward_current`], but the files at these paths stay as they lie in the checkout, whatever they hold:
    /// branch and index move past them.
    pub fn fast_forward_keeping(
        &self,
        from: &Commit,
        to: &Commit,
        kept: &[&str],
    ) -> Result<FastForward, GitError> {
        let Some(branch) = self.current_branch()? else {
            return Ok(FastForward::Refused(NotFastForwarded::HeadIsDetached));
        };
        let head = self.head()?;
        if head != *from && head != *to {
            // An earlier attempt came as far as the branch, and the user has gone on from there.
            let landed = self.is_ancestor(&to.id, &head.id)?;
            let moved = FastForward::Refused(NotFastForwarded::HeadMoved { found: head });
            return Ok(if landed { FastForward::Done } else { moved });
        }
        // Held before anything is touched: nobody else's git comes between files, branch and index.
        let lock = IndexLock::take(&self.checkout.git_dir().join("index"))?;
        let moved = match &lock {
            Some(lock) => self.move_checkout(lock, (&branch, kept), &head, from, to),
            None => Ok(FastForward::Refused(NotFastForwarded::IndexBusy)),
        };
        // The branch holds it: what is left to do for files and index is done as far as the user's own doings allow.
        if head == *to { Ok(FastForward::Done) } else { moved }
    }

    fn move_checkout(
        &self,
        lock: &IndexLock,
        (branch, kept): (&str, &[&str]),
        head: &Commit,
        from: &Commit,
        to: &Commit,
    ) -> Result<FastForward, GitError> {
        let Ok(seen) = read_plain(lock.index()) else {
            return Ok(FastForward::Refused(NotFastForwarded::IndexBusy));
        };
        let temporary = fresh_index_path(&self.control.indexes().join("users.index"));
        copy_with_time(lock.index(), &temporary)?;
        let moved = self.move_files_and_branch(&temporary, (branch, kept), head, from, to);
        let content = read_plain(&temporary);
        // The private copy has served; a leftover would be harmless.
        let _ = fs::remove_file(&temporary);
        if let (Ok(FastForward::Done), Ok(content)) = (&moved, content)
            && content != seen
        {
            // The branch has moved by now, so nothing that fails here can be a refusal.
            let _ = replace(lock.index(), &content);
        }
        moved
    }

    fn move_files_and_branch(
        &self,
        index: &Path,
        (branch, kept): (&str, &[&str]),
        head: &Commit,
        from: &Commit,
        to: &Commit,
    ) -> Result<FastForward, GitError> {
        if let Err(detail) = self.move_files(index, (from, to), kept)? {
            return Ok(FastForward::Refused(NotFastForwarded::InTheWay { detail }));
        }
        // The branch must not say what the files could still lose.
        flush_disk_of(self.checkout.work_tree())?;
        if head == to {
            return Ok(FastForward::Done);
        }
        let updated = self.update_reference(branch, &to.id, Some(&from.id));
        if let Ok(ReferenceUpdate::Updated) = updated {
            return Ok(FastForward::Done);
        }
        // Back to what the branch says. A file that changed within this moment is left as it is.
        let _ = self.pass_by(index, (to, from), kept).and_then(|()| self.two_way_merge(index, to, from));
        updated.map(|_| FastForward::Refused(NotFastForwarded::BranchMoved))
    }

    pub(crate) fn move_files(
        &self,
        index: &Path,
        (from, to): (&Commit, &Commit),
        kept: &[&str],
    ) -> Result<Result<(), String>, GitError> {
        let work_tree = self.checkout.work_tree();
        // Git moves tracked files and looks at what stands in their way. Worktrees of ours are neither, and there may be many.
        let passed = self.own_worktrees_in(work_tree);
        if let Some(path) = blockers_outside(&ConfinedDir::open(work_tree)?, &passed)?.first() {
            return Ok(Err(format!("{path} is no plain file, and git would wait for it")));
        }
        if let Err(detail) = self.refuse_staged_changes(index, from, to)? {
            return Ok(Err(detail));
        }
        let ignored = self.ignored_in_the_way(index, (from, to), kept)?;
        if !ignored.is_empty() {
            let paths = ignored.join(", ");
            return Ok(Err(format!(
                "git ignores {paths}, and what comes would overwrite it: move yours away"
            )));
        }
        self.pass_by(index, (from, to), kept)?;
        let first = self.two_way_merge(index, from, to)?;
        if first.status.success() {
            return Ok(Ok(()));
        }
        // An earlier attempt may have written files before it was killed: those count as moved.
        let moved = |path: &[u8], mode: &[u8], id: &[u8]| self.file_has(path, mode, id);
        self.enter_changes(index, (from, to), moved)?;
        self.look_at_files_again(index)?;
        let second = self.two_way_merge(index, from, to)?;
        if second.status.success() {
            return Ok(Ok(()));
        }
        Ok(Err(String::from_utf8_lossy(&second.stderr).trim().to_owned()))
    }

    /// Git believes times and sizes before it looks at content. A file that was only touched, or that a killed attempt moved,
    /// holds what the index says and is in nobody's way.
    fn look_at_files_again(&self, index: &Path) -> Result<(), GitError> {
        let call = self.call_in(self.checkout.work_tree(), index).args(["update-index", "-q", "--refresh"]);
        call.run_accepting(&[0, 1]).map(drop)
    }

    /// Checks every path first and changes files only if all may change.
    fn two_way_merge(&self, index: &Path, from: &Commit, to: &Commit) -> Result<QuickOutput, GitError> {
        self.call_in(self.checkout.work_tree(), index)
            .args(["read-tree", "-m", "-u", from.tree.as_str(), to.tree.as_str()])
            .run_accepting(&[0, 128])
    }

    /// A checkout is clean only if its index says what the branch says, before or after the move.
    fn refuse_staged_changes(
        &self,
        index: &Path,
        from: &Commit,
        to: &Commit,
    ) -> Result<Result<(), String>, GitError> {
        if self.says_exactly(index, from)? {
            return Ok(Ok(()));
        }
        let against_from = self.staged(index, &from.tree)?;
        if against_from.is_empty() || self.staged(index, &to.tree)?.is_empty() {
            return Ok(Ok(()));
        }
        Ok(Err(format!("staged changes: {}", against_from.join(", "))))
    }

    /// Paths that are staged in the user's checkout with other content than this tree has. The tree must be here.
    pub fn staged_changes(&self, tree: &TreeId) -> Result<Vec<String>, GitError> {
        let index = self.checkout.git_dir().join("index");
        if index.exists() { self.staged(&index, tree) } else { Ok(Vec::new()) }
    }

    fn staged(&self, index: &Path, tree: &TreeId) -> Result<Vec<String>, GitError> {
        let words = ["diff-index", "--cached", "--name-only", "--ignore-submodules=all", tree.as_str()];
        let printed = self.call_in(self.checkout.work_tree(), index).args(words).run()?;
        Ok(String::from_utf8_lossy(&printed).lines().map(str::to_owned).collect())
    }

    /// Whether the index has exactly the entries of that commit. "No" may also mean that only git can tell: entries with
    /// marks of their own, parts kept elsewhere, versions that are not read here.
    fn says_exactly(&self, index: &Path, commit: &Commit) -> Result<bool, GitError> {
        let Ok(staged) = Index::read(index) else { return Ok(false) };
        Ok(staged.is_plain() && differing(&*self.listing(&commit.tree)?, &staged).next().is_none())
    }

    /// Git leaves a file alone whose entry in the index says what is to come already.
    fn pass_by(&self, index: &Path, moved: (&Commit, &Commit), kept: &[&str]) -> Result<(), GitError> {
        let changed = || self.differing_paths(&moved.0.tree, &moved.1.tree, Part::Everything);
        let is_kept = |path: &RepoPath| kept.iter().any(|wanted| wanted.as_bytes() == path.as_bytes());
        if kept.is_empty() || !changed()?.iter().any(is_kept) {
            return Ok(());
        }
        self.enter_changes(index, moved, |path, _, _| Ok(kept.iter().any(|wanted| wanted.as_bytes() == path)))
    }

    /// Enters the new version into the private index for every changed path that is wanted, by its new mode and id.
    fn enter_changes(
        &self,
        index: &Path,
        (from, to): (&Commit, &Commit),
        is_wanted: impl Fn(&[u8], &[u8], &[u8]) -> Result<bool, GitError>,
    ) -> Result<(), GitError> {
        let listed = self
            .internal_call()
            .args(["diff-tree", "-r", "-z", "--raw", "--no-renames", from.tree.as_str(), to.tree.as_str()])
            .run()?;
        let mut fields = listed.split(|byte| *byte == 0);
        let mut instructions = Vec::new();
        while let (Some(meta), Some(path)) = (fields.next(), fields.next()) {
            let words: Vec<&[u8]> = meta.split(|byte| *byte == b' ').collect();
            let [_, new_mode, _, new_id, _] = words[..] else { continue };
            if is_wanted(path, new_mode, new_id)? {
                instructions.extend([new_mode, b" ", new_id, b"\t", path, b"\0"].concat());
            }
        }
        let call = self.call_in(self.checkout.work_tree(), index);
        call.args(["update-index", "-z", "--index-info"]).stdin(instructions).run().map(drop)
    }

    pub(crate) fn file_has(&self, path: &[u8], mode: &[u8], id: &[u8]) -> Result<bool, GitError> {
        let work_tree = self.checkout.work_tree();
        let path = RepoPath::new(path);
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
pub(crate) fn copy_with_time(from: &Path, to: &Path) -> Result<(), GitError> {
    let copied = fs::copy(from, to).and_then(|_| {
        let written = fs::metadata(from)?.modified()?;
        fs::File::options().write(true).open(to)?.set_modified(written)
    });
    copied.map_err(GitError::io("copy", from))
}
