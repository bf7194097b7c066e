//! Puts back what was taken away: a kept worktree at its place with every byte it had, a kept branch where it stood.
//! Killed at any place and asked again, it completes what it began. Never writes over something that stands there.

use std::fs;
use std::path::PathBuf;

use rustix::fs::{AtFlags, Mode, OFlags};

use crate::confined_dir::{ConfinedDir, remove_tree};
use crate::durable_file::{ensure, read_plain};
use crate::error::GitError;
use crate::ids::{Commit, CommitId, TreeId};
use crate::index_file::{Index, path_for_key};
use crate::kept_list::{KeptThing, KeptWhat};
use crate::kept_state::{About, INDEX, STATE, usual_mode};
use crate::references::ReferenceUpdate;
use crate::repo_path::RepoPath;
use crate::repository::Repository;
use crate::scan::FileStat;
use crate::worktree::{Worktree, time_of};
use crate::worktree_removal::doomed_path;

/// How giving something back ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum GivenBack {
    Done,
    /// It stands there already, as it was or as somebody left it since.
    Stands,
    /// Something else stands in its place; nothing was changed.
    Taken(String),
}

impl Repository {
    pub fn give_back(&self, kept: &KeptThing) -> Result<GivenBack, GitError> {
        match &kept.what {
            KeptWhat::Branch { name, tip } => {
                self.reads_back(&kept.commit)?;
                self.give_back_branch(&format!("refs/heads/{name}"), tip)
            }
            KeptWhat::Worktree { path } => {
                let worktree = self.worktree_at(path)?;
                if self.giving_back(&worktree).is_none() {
                    if self.stands(&worktree) {
                        return Ok(GivenBack::Stands);
                    }
                    if let Err(error @ GitError::NotOurs { .. }) = worktree.refuse_what_is_not_ours() {
                        return Ok(GivenBack::Taken(error.to_string()));
                    }
                }
                self.give_back_worktree(&worktree, &kept.commit).map(|()| GivenBack::Done)
            }
        }
    }

    fn give_back_branch(&self, reference: &str, tip: &CommitId) -> Result<GivenBack, GitError> {
        if self.read_reference(reference)?.as_ref() == Some(tip) {
            return Ok(GivenBack::Stands);
        }
        match self.update_reference(reference, tip, None)? {
            ReferenceUpdate::Updated => Ok(GivenBack::Done),
            ReferenceUpdate::Conflict { found } => {
                let found = found.map_or_else(|| "no commit".to_owned(), |found| found.to_string());
                Ok(GivenBack::Taken(format!("{reference} stands at {found} now")))
            }
        }
    }

    /// The mark comes first: whoever finds a half-made worktree knows by it that nobody worked there, and of what to
    /// complete it.
    fn give_back_worktree(&self, worktree: &Worktree, kept: &CommitId) -> Result<(), GitError> {
        let commit = self.take_in_kept(kept)?;
        let missing = || GitError::NotReadBack {
            commit: kept.to_string(),
            detail: "it does not say where it stood".to_owned(),
        };
        let state = self.trailer(kept, STATE)?.and_then(|id| TreeId::parse(&id).ok()).ok_or_else(missing)?;
        let about = self.about(&state)?.ok_or_else(missing)?;
        let mark = self.giving_back_mark(worktree);
        ensure(&mark, format!("{kept}\n").as_bytes())?;
        // What a removal that was cut off moved aside is in the kept state.
        remove_tree(&doomed_path(worktree.path()))?;
        let head = CommitId::parse(&about.at)?;
        worktree.link(&self.head_for(&about, &head)?)?;
        self.materialise(worktree.path(), &about.key, &commit.tree)?;
        self.put_beside_the_files(worktree, &about, &commit)?;
        self.put_kept_index(worktree, (&about, &state), &head)?;
        worktree.make_durable()?;
        self.mark_complete(std::iter::once(worktree))?;
        fs::remove_file(&mark).map_err(GitError::io("remove", &mark))
    }

    /// Completes what an [`Self::give_back`] that was killed began here.
    pub(crate) fn finish_giving_back(&self, worktree: &Worktree) -> Result<(), GitError> {
        match self.giving_back(worktree) {
            Some(kept) => self.give_back_worktree(worktree, &kept),
            None => Ok(()),
        }
    }

    fn giving_back(&self, worktree: &Worktree) -> Option<CommitId> {
        let mark = read_plain(&self.giving_back_mark(worktree)).ok()?;
        CommitId::parse(String::from_utf8(mark).ok()?.trim_end()).ok()
    }

    fn giving_back_mark(&self, worktree: &Worktree) -> PathBuf {
        let mut name = worktree.admin_dir().file_name().unwrap_or_default().to_owned();
        name.push(".giving-back");
        self.control.worktrees().join(name)
    }

    /// On its branch where that still is, or can be, what it was; else at the commit.
    fn head_for(&self, about: &About, head: &CommitId) -> Result<String, GitError> {
        let detached = format!("{head}\n");
        let Some(branch) = about.head.strip_prefix("ref: ") else { return Ok(detached) };
        if !branch.starts_with("refs/heads/") {
            return Ok(detached);
        }
        Ok(match self.give_back_branch(branch, head)? {
            GivenBack::Done | GivenBack::Stands => format!("ref: {branch}\n"),
            GivenBack::Taken(_) => detached,
        })
    }

    fn put_beside_the_files(
        &self,
        worktree: &Worktree,
        about: &About,
        kept: &Commit,
    ) -> Result<(), GitError> {
        let root = ConfinedDir::open(worktree.path())?;
        for path in &about.empty {
            let bytes = path.as_bytes();
            let above = bytes.iter().enumerate().filter(|(_, byte)| **byte == b'/').map(|(end, _)| end);
            for end in above.chain([bytes.len()]) {
                root.ensure_directory(&RepoPath::new(&bytes[..end]))?;
            }
        }
        let noted = |path: &RepoPath| about.modes.binary_search_by(|(_, found)| found.cmp(path)).is_ok();
        let files = self.listing(&kept.tree)?;
        let usual = files.entries.iter().filter(|entry| !entry.is_symlink() && !entry.is_gitlink());
        for entry in usual.filter(|entry| !noted(&entry.path)) {
            set_mode(&root, &entry.path, usual_mode(entry.mode))?;
        }
        // From the innermost outwards: a directory that may not be searched hides what is in it.
        for (mode, path) in about.modes.iter().rev() {
            set_mode(&root, path, *mode)?;
        }
        Ok(())
    }

    /// As the file it was; git finds out by itself that it was seen on another disk.
    fn put_kept_index(
        &self,
        worktree: &Worktree,
        (about, state): (&About, &TreeId),
        head: &CommitId,
    ) -> Result<(), GitError> {
        let own = path_for_key(&self.control.indexes(), &about.key);
        let content = if let Some(content) = self.state_file(state, INDEX)? {
            content
        } else {
            let head = self.take_in(head)?;
            let index = Index::clone(&*self.listing(&head.tree)?).with_stats_of(&Index::read(&own)?);
            index.to_bytes(self.format.id_bytes())
        };
        worktree.put_index(&content, time_of(&own)?)
    }
}

/// The place was made just now from a tree, in which no path leads through a link.
fn set_mode(root: &ConfinedDir, path: &RepoPath, mode: u32) -> Result<(), GitError> {
    let complain = || GitError::errno("set the permissions of", root.path().join(path.as_path()));
    let found = match rustix::fs::statat(root.descriptor(), path.as_bytes(), AtFlags::SYMLINK_NOFOLLOW) {
        Ok(found) => found,
        // Left out, such as a cache.
        Err(rustix::io::Errno::NOENT | rustix::io::Errno::NOTDIR) => return Ok(()),
        Err(errno) => return Err(complain()(errno)),
    };
    if FileStat::new(&found, None).mode & 0o7777 == mode {
        return Ok(());
    }
    let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
    let opened = rustix::fs::openat(root.descriptor(), path.as_bytes(), flags, Mode::empty());
    let opened = opened.map_err(complain())?;
    rustix::fs::fchmod(&opened, Mode::from_raw_mode(mode)).map_err(complain())
}
