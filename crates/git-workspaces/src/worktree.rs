//! Linked worktrees of the user's repository, made from plain files so that no git reads the user's configuration,
//! and filled through the control directory so that no filter or hook runs.

use std::collections::HashSet;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use crate::checkout::{path_from_line, short_hash};
use crate::durable_file::{ensure, ensure_for_now, flush, flush_disk_of, read_plain, replace_for_now};
use crate::error::GitError;
use crate::fingerprint::Fingerprint;
use crate::ids::{Commit, CommitId, TreeId};
use crate::index_file::{Index, path_for_key};
use crate::references::{ReferenceUpdate, check_name};
use crate::repo_path::RepoPath;
use crate::repository::Repository;
use windlass_process_supervisor::each_side_by_side;

const COMPLETE: &str = "windlass-complete";
/// Names the git directory that git inside the worktree has instead of the registered one, while it is set apart.
pub(crate) const APART: &str = "windlass-apart";

/// A linked worktree of ours. All of it follows from the repository and the path, so it can be named again after a
/// crash with [`Repository::worktree_at`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Worktree {
    path: PathBuf,
    admin_dir: PathBuf,
}

/// A worktree to be made: where, on which branch (short name), and under which key its private index is kept.
#[derive(Debug, Clone, Copy)]
pub struct NewWorktree<'a> {
    pub path: &'a Path,
    pub branch: &'a str,
    pub key: &'a str,
}

/// What a worktree's HEAD says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Head {
    /// Full name of a reference.
    Branch(String),
    Detached(CommitId),
    /// Missing or overwritten with something else.
    Unreadable,
}

impl Worktree {
    pub fn path(&self) -> &Path {
        &self.path
    }

    pub(crate) fn admin_dir(&self) -> &Path {
        &self.admin_dir
    }

    /// The same place under the name that git knows it by.
    pub(crate) fn registered_as(&self, admin_dir: PathBuf) -> Self {
        Self { path: self.path.clone(), admin_dir }
    }

    /// Where git inside the worktree keeps its HEAD and index: as it is registered, or set apart.
    pub(crate) fn git_dir(&self) -> PathBuf {
        let apart = read_plain(&self.admin_dir.join(APART));
        apart.map_or_else(|_| self.admin_dir.clone(), |content| path_from_line(&content))
    }

    /// Git inside the worktree has this directory from now on. What the user's git finds registered stays as it is, at
    /// commits and contents of the user's own.
    pub(crate) fn turn_to(&self, git_dir: &Path) -> Result<(), GitError> {
        let line = [git_dir.as_os_str().as_bytes(), b"\n"].concat();
        ensure_for_now(&self.admin_dir.join(APART), &line)?;
        ensure_for_now(&self.path.join(".git"), &[b"gitdir: ".as_slice(), &line].concat())
    }

    /// Whatever the agent left there; only a hint.
    pub fn head(&self) -> Head {
        head_in(&self.git_dir())
    }

    /// Whether the administrative directory is the one of this worktree.
    pub(crate) fn belongs_to_us(&self) -> bool {
        read_plain(&self.admin_dir.join("gitdir"))
            .is_ok_and(|content| path_from_line(&content) == self.path.join(".git"))
    }

    /// Whether a power cut took the end of what says whose it is. Its name is one that we give to this path alone.
    fn is_torn(&self) -> bool {
        let whole = [self.path.join(".git").as_os_str().as_bytes(), b"\n"].concat();
        let found = read_plain(&self.admin_dir.join("gitdir"));
        found.is_ok_and(|found| found.len() < whole.len() && whole.starts_with(&found))
    }

    /// What whoever made it left beside it, which an agent can have written.
    pub(crate) fn is_marked_complete(&self) -> bool {
        self.admin_dir.join(COMPLETE).is_file()
    }

    fn dot_git(&self) -> Vec<u8> {
        [b"gitdir: ", self.admin_dir.as_os_str().as_bytes(), b"\n"].concat()
    }

    /// Writes both halves, each pointing at the other, and HEAD. Not durable before [`Self::make_durable`].
    pub(crate) fn link(&self, head: &str) -> Result<(), GitError> {
        let admin = &self.admin_dir;
        fs::create_dir_all(admin).map_err(GitError::io("create directory", admin))?;
        let gitdir = [self.path.join(".git").as_os_str().as_bytes(), b"\n"].concat();
        let halves = [("gitdir", gitdir.as_slice()), ("commondir", b"../..\n"), ("HEAD", head.as_bytes())];
        let says = |(name, content): &(&str, &[u8])| {
            read_plain(&admin.join(name)).is_ok_and(|found| found == *content)
        };
        let stood = halves.iter().all(says);
        halves.iter().try_for_each(|(name, content)| ensure_for_now(&admin.join(name), content))?;
        if !stood {
            // The user's own git looks at these: an empty HEAD would be a fault of their repository.
            flush_disk_of(admin)?;
        }
        if admin.join(APART).symlink_metadata().is_ok() {
            let apart = admin.join(APART);
            fs::remove_file(&apart).map_err(GitError::io("remove", &apart))?;
        }
        let path = &self.path;
        fs::create_dir_all(path).map_err(GitError::io("create directory", path))?;
        let root = crate::confined_dir::ConfinedDir::open(path)?;
        let dot_git = RepoPath::new(".git");
        if !matches!(root.kind_of(&dot_git)?, None | Some((rustix::fs::FileType::RegularFile, _))) {
            root.remove(&dot_git)?;
        }
        ensure_for_now(&path.join(".git"), &self.dot_git())
    }

    /// Both halves and all content at once when they are complete, instead of file by file.
    pub(crate) fn make_durable(&self) -> Result<(), GitError> {
        flush_disk_of(&self.path)?;
        let disk = |path: &Path| fs::metadata(path).map(|about| about.dev()).ok();
        if disk(&self.path) == disk(&self.admin_dir) { Ok(()) } else { flush_disk_of(&self.admin_dir) }
    }

    pub(crate) fn put_index(&self, content: &[u8], written: SystemTime) -> Result<(), GitError> {
        put_index(&self.admin_dir, content, written)
    }

    pub(crate) fn refuse_what_is_not_ours(&self) -> Result<(), GitError> {
        let taken =
            |path: &Path, what: &str| GitError::NotOurs { path: path.to_owned(), what: what.to_owned() };
        if self.admin_dir.join("gitdir").exists() && !self.belongs_to_us() && !self.is_torn() {
            return Err(taken(&self.admin_dir, "it is registered for another path"));
        }
        if !self.belongs_to_us() && !self.is_torn() && fs::symlink_metadata(&self.path).is_ok() {
            let is_empty = fs::read_dir(&self.path).is_ok_and(|mut entries| entries.next().is_none());
            if !is_empty || self.path.is_symlink() {
                return Err(taken(&self.path, "something that no run of ours made stands there"));
            }
        }
        if self.is_marked_complete() && fs::symlink_metadata(&self.path).is_ok() {
            return Err(taken(&self.path, "it holds work of a run whose control directory is gone"));
        }
        Ok(())
    }
}

impl Repository {
    /// The worktree of ours that stands, or would stand, at `path`.
    pub fn worktree_at(&self, path: &Path) -> Result<Worktree, GitError> {
        let unusable = |what| GitError::UnusableWorkspace { path: path.to_owned(), what };
        let name = path.file_name().ok_or_else(|| unusable("it has no name"))?;
        let parent = path.parent().filter(|parent| !parent.as_os_str().is_empty());
        let parent = parent.ok_or_else(|| unusable("it is not an absolute path"))?;
        fs::create_dir_all(parent).map_err(GitError::io("create directory", parent))?;
        let path = parent.canonicalize().map_err(GitError::io("find", parent))?.join(name);
        let admin_dir = self.checkout.common_dir().join("worktrees").join(admin_name(&path));
        Ok(Worktree { path, admin_dir })
    }

    /// Worktrees below this directory that were made here, by their paths from there. By our own marks: what somebody else
    /// registered under such a name is not among them.
    pub(crate) fn own_worktrees_in(&self, directory: &Path) -> HashSet<RepoPath> {
        let marks = fs::read_dir(self.control.worktrees()).into_iter().flatten().flatten();
        let registered = self.checkout.common_dir().join("worktrees");
        let found = marks.filter_map(|mark| {
            let name = mark.file_name();
            let path = path_from_line(&read_plain(&registered.join(&name).join("gitdir")).ok()?);
            let path = path.parent()?;
            let inside = path.strip_prefix(directory).ok().filter(|_| name == admin_name(path).as_str())?;
            Some(RepoPath::new(inside.as_os_str().as_bytes()))
        });
        found.collect()
    }

    /// Makes one linked worktree; see [`Self::add_worktrees`].
    pub fn add_worktree(
        &self,
        path: &Path,
        branch: &str,
        key: &str,
        base: &Commit,
    ) -> Result<Worktree, GitError> {
        let worktree = self.worktree_at(path)?;
        self.add_worktrees(&[NewWorktree { path, branch, key }], base).map(|()| worktree)
    }

    /// Makes linked worktrees, each on its new branch, with the content of `base`, which must be imported. A half-made
    /// one is completed; a complete one is left as it is, work and all, even if its `.git` is gone
    /// ([`Self::restore_worktree`] brings that back).
    ///
    /// Side by side, because most of the time is spent waiting for git, for the disk and for the clock to tick.
    pub fn add_worktrees(&self, wanted: &[NewWorktree<'_>], base: &Commit) -> Result<(), GitError> {
        let mut missing = Vec::new();
        for wanted in wanted {
            let worktree = self.worktree_at(wanted.path)?;
            let reference = format!("refs/heads/{}", wanted.branch);
            check_name(&reference)?;
            if !self.stands(&worktree) {
                worktree.refuse_what_is_not_ours()?;
                missing.push((worktree, reference, wanted.key));
            } else if worktree.belongs_to_us() {
                // A crash may have come between the two marks.
                ensure(&worktree.admin_dir.join(COMPLETE), b"")?;
            }
        }
        let references: Vec<&str> = missing.iter().map(|(_, reference, _)| reference.as_str()).collect();
        self.branch_off(&references, base)?;
        each_side_by_side(&missing, &|(worktree, reference, key): &(Worktree, String, &str)| {
            self.fill_worktree(worktree, reference, key, base)
        })?;
        self.mark_complete(missing.iter().map(|(worktree, ..)| worktree))
    }

    /// All in one transaction; where that fails, one by one to say which name is taken and by what.
    pub fn branch_off(&self, references: &[&str], base: &Commit) -> Result<(), GitError> {
        if references.len() > 1 && self.create_references(references, &base.id).is_ok() {
            return Ok(());
        }
        for reference in references {
            match self.update_reference(reference, &base.id, None)? {
                ReferenceUpdate::Updated => {}
                ReferenceUpdate::Conflict { found } if found.as_ref() == Some(&base.id) => {}
                ReferenceUpdate::Conflict { found } => {
                    let found = found
                        .map_or_else(|| String::from("something that is no commit"), |id| id.to_string());
                    let branch = reference.strip_prefix("refs/heads/").unwrap_or(reference);
                    return Err(GitError::BranchTaken { branch: branch.to_owned(), found });
                }
            }
        }
        Ok(())
    }

    /// Makes it on that branch unless it stands there in full.
    pub(crate) fn complete_worktree(
        &self,
        worktree: &Worktree,
        reference: &str,
        key: &str,
        base: &Commit,
    ) -> Result<(), GitError> {
        check_name(reference)?;
        if self.stands(worktree) {
            // A crash may have come between the two marks.
            return if worktree.belongs_to_us() {
                ensure(&worktree.admin_dir.join(COMPLETE), b"")
            } else {
                Ok(())
            };
        }
        worktree.refuse_what_is_not_ours()?;
        self.branch_off(&[reference], base)?;
        self.fill_worktree(worktree, reference, key, base)?;
        self.mark_complete(std::iter::once(worktree))
    }

    fn fill_worktree(
        &self,
        worktree: &Worktree,
        reference: &str,
        key: &str,
        base: &Commit,
    ) -> Result<(), GitError> {
        // The administrative half first: it is what says that a directory at the path is ours.
        worktree.link(&format!("ref: {reference}\n"))?;
        self.materialise(&worktree.path, key, &base.tree)?;
        self.install_worktree_index(worktree, key)?;
        worktree.make_durable()
    }

    /// In this order: a mark in the worktree alone means that the control directory was lost. An empty file is as
    /// durable as its name, so each directory is flushed once.
    pub(crate) fn mark_complete<'a>(
        &self,
        made: impl Iterator<Item = &'a Worktree> + Clone,
    ) -> Result<(), GitError> {
        for worktree in made.clone() {
            ensure_for_now(&self.completion_mark(worktree), b"")?;
        }
        if made.clone().next().is_some() {
            flush(&self.control.worktrees())?;
        }
        for worktree in made {
            ensure_for_now(&worktree.admin_dir.join(COMPLETE), b"")?;
            flush(&worktree.admin_dir)?;
        }
        Ok(())
    }

    /// Whether it stands there in full; one that was removed, or whose making was cut off, does not. Whatever an agent
    /// put in its place stands there too, and is left to whoever looks at the content.
    pub fn stands(&self, worktree: &Worktree) -> bool {
        self.was_completed(worktree) && worktree.path.symlink_metadata().is_ok()
    }

    /// Whether agents may have worked there; nothing that follows may overwrite it.
    pub(crate) fn was_completed(&self, worktree: &Worktree) -> bool {
        self.completion_mark(worktree).is_file()
    }

    pub(crate) fn completion_mark(&self, worktree: &Worktree) -> PathBuf {
        self.control.worktrees().join(worktree.admin_dir.file_name().unwrap_or_default())
    }

    /// Makes a linked worktree hold exactly `tree`, with git inside it standing, on no branch, at `commit`. It is made if
    /// it is not there. Nothing is flushed: what is shown can be shown again.
    pub fn show_worktree(
        &self,
        (path, key): (&Path, &str),
        tree: &TreeId,
        commit: &CommitId,
    ) -> Result<Fingerprint, GitError> {
        let worktree = self.worktree_at(path)?;
        if !self.was_completed(&worktree) {
            worktree.refuse_what_is_not_ours()?;
        }
        // The administrative half first: it is what says that a directory at the path is ours.
        worktree.link(&format!("{commit}\n"))?;
        let shown = self.materialise(&worktree.path, key, tree)?;
        // Of the commit, not of the tree: the user's repository has every object of the one and need not have the
        // other's, and its `git gc` looks at the indexes of all worktrees.
        let own = path_for_key(&self.control.indexes(), key);
        let commit = self.resolve_commit(commit.as_str())?;
        let index = Index::clone(&*self.listing(&commit.tree)?).with_stats_of(&Index::read(&own)?);
        worktree.put_index(&index.to_bytes(self.format.id_bytes()), time_of(&own)?)?;
        Ok(shown)
    }

    /// Puts a worktree's link, HEAD (detached, at `commit`) and index back in order after an agent had it, so that
    /// git inside shows the directory, as last materialised or recorded under `key`, against `commit`.
    pub fn restore_worktree(
        &self,
        worktree: &Worktree,
        key: &str,
        commit: &CommitId,
    ) -> Result<(), GitError> {
        if !self.was_completed(worktree) {
            worktree.refuse_what_is_not_ours()?;
        }
        worktree.link(&format!("{commit}\n"))?;
        // Not made durable: whoever is shown this worktree after a power cut has it restored again first.
        self.install_worktree_index(worktree, key)
    }

    /// As [`Self::restore_worktree`], with git inside standing on a branch (short name), which must be at what the
    /// directory was last recorded as.
    pub fn settle_on_branch(&self, worktree: &Worktree, key: &str, branch: &str) -> Result<(), GitError> {
        let reference = format!("refs/heads/{branch}");
        check_name(&reference)?;
        if !self.was_completed(worktree) {
            worktree.refuse_what_is_not_ours()?;
        }
        worktree.link(&format!("ref: {reference}\n"))?;
        self.install_worktree_index(worktree, key)
    }

    /// Whether git inside the worktree still has this commit checked out, on no branch, as [`Self::restore_worktree`]
    /// left it.
    pub fn stands_at(&self, worktree: &Worktree, commit: &CommitId) -> bool {
        let head = worktree.git_dir().join("HEAD");
        // Whatever else somebody put there is not opened: a pipe would be waited for.
        let plain = head.symlink_metadata().is_ok_and(|found| found.is_file());
        plain && fs::read(&head).is_ok_and(|text| text.trim_ascii_end() == commit.as_str().as_bytes())
    }

    /// Gives git inside the worktree the index of the control directory. The copy keeps the time of the original,
    /// by which git tells which of its entries it must not believe.
    pub(crate) fn install_worktree_index(&self, worktree: &Worktree, key: &str) -> Result<(), GitError> {
        let source = path_for_key(&self.control.indexes(), key);
        let content = fs::read(&source).map_err(GitError::io("read", &source))?;
        worktree.put_index(&content, time_of(&source)?)
    }
}

pub(crate) fn head_in(git_dir: &Path) -> Head {
    let content = read_plain(&git_dir.join("HEAD")).unwrap_or_default();
    let text = String::from_utf8_lossy(&content);
    match text.trim_end().strip_prefix("ref: ") {
        Some(name) if check_name(name).is_ok() => Head::Branch(name.to_owned()),
        Some(_) => Head::Unreadable,
        None => CommitId::parse(text.trim_end()).map_or(Head::Unreadable, Head::Detached),
    }
}

/// The index of a git directory, with the time by which git tells which of its entries it must not believe.
pub(crate) fn put_index(git_dir: &Path, content: &[u8], written: SystemTime) -> Result<(), GitError> {
    let target = git_dir.join("index");
    // A lock left by a killed agent would stop the next one; the worktree is ours and nobody works in it now.
    let _ = fs::remove_file(git_dir.join("index.lock"));
    replace_for_now(&target, content)?;
    fs::File::options()
        .write(true)
        .open(&target)
        .and_then(|file| file.set_modified(written))
        .map_err(GitError::io("write", &target))
}

/// The name under which git knows the worktree of ours at this path.
fn admin_name(path: &Path) -> String {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let readable: String = name.chars().filter(|c| c.is_ascii_alphanumeric() || *c == '-').take(40).collect();
    format!("windlass-{readable}-{}", short_hash(path))
}

pub(crate) fn time_of(index: &Path) -> Result<SystemTime, GitError> {
    fs::metadata(index).and_then(|found| found.modified()).map_err(GitError::io("read", index))
}
