//! Names in the user's repository: revisions, branches and compare-and-swap updates, through the reference view.
//! Must not touch objects, indexes or work trees.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{MutexGuard, PoisonError};

use windlass_process_supervisor::COOKIE_VARIABLE;

use crate::checkout::path_from_line;
use crate::durable_file::{ensure, read_plain, replace};
use crate::error::GitError;
use crate::git_command::GitCall;
use crate::ids::{Commit, CommitId, TreeId};
use crate::reference_locks::{self, InHand};
use crate::repository::Repository;

/// So often a locked reference is tried, which takes a second or two.
const LOCKED_TRIES: usize = 10;

/// How a compare-and-swap ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ReferenceUpdate {
    Updated,
    /// The reference was not what the caller expected; nothing was changed.
    Conflict {
        found: Option<CommitId>,
    },
}

impl Repository {
    /// Resolves a branch, tag, `HEAD~1` or id to a commit, once; afterwards only ids are used.
    pub fn resolve_commit(&self, revision: &str) -> Result<Commit, GitError> {
        let unknown = || GitError::UnknownRevision { revision: revision.to_owned() };
        if revision.is_empty() || revision.contains(['\n', '\0']) {
            return Err(unknown());
        }
        let standing = if revision == "HEAD" { self.standing_at() } else { None };
        if let Some(found) = self.resolved().get(standing.as_ref().map_or(revision, CommitId::as_str)) {
            return Ok(found.clone());
        }
        let questions = format!("{revision}^{{commit}}\n{revision}^{{tree}}\n");
        let printed = self
            .view_call()?
            .args(["cat-file", "--batch-check=%(objectname)"])
            .stdin(questions.into_bytes())
            .run()?;
        let printed = String::from_utf8_lossy(&printed);
        let mut lines = printed.lines();
        let id = lines.next().and_then(|line| CommitId::parse(line).ok()).ok_or_else(unknown)?;
        let tree = lines.next().and_then(|line| TreeId::parse(line).ok()).ok_or_else(unknown)?;
        let commit = Commit { id, tree };
        self.remember(commit.clone());
        Ok(commit)
    }

    pub(crate) fn remember(&self, commit: Commit) {
        self.resolved().insert(commit.id.as_str().to_owned(), commit);
    }

    /// Found before by this handle, by id: a name may move, what an id means stays for ever.
    fn resolved(&self) -> MutexGuard<'_, BTreeMap<String, Commit>> {
        self.resolved.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The commit the user's checkout stands on.
    pub fn head(&self) -> Result<Commit, GitError> {
        self.resolve_commit("HEAD")
    }

    /// What HEAD leads to, as far as plain files tell: a commit, or a branch that is a file of its own. Everything else
    /// is for git to say.
    fn standing_at(&self) -> Option<CommitId> {
        let id_in =
            |path: PathBuf| CommitId::parse(String::from_utf8(read_plain(&path).ok()?).ok()?.trim_end()).ok();
        match self.current_branch().ok()? {
            Some(branch) => {
                check_name(&branch).ok()?;
                id_in(self.checkout.common_dir().join(branch))
            }
            None => id_in(self.checkout.git_dir().join("HEAD")),
        }
    }

    /// Full name of the branch the user's checkout is on (`refs/heads/…`); `None` when HEAD is detached.
    pub fn current_branch(&self) -> Result<Option<String>, GitError> {
        let path = self.checkout.git_dir().join("HEAD");
        let content = read_plain(&path).map_err(GitError::io("read", &path))?;
        let target = content.strip_prefix(b"ref: ").map(path_from_line);
        Ok(target.map(|name| name.to_string_lossy().into_owned()))
    }

    /// Puts the user's checkout on a branch that stands at the commit the checkout stands on: files and index are right
    /// for it already. Doing it twice is fine.
    pub fn switch_checkout(&self, branch: &str, at: &CommitId) -> Result<ReferenceUpdate, GitError> {
        check_name(branch)?;
        if self.current_branch()?.as_deref() == Some(branch) {
            return Ok(ReferenceUpdate::Updated);
        }
        let found = self.head()?.id;
        if found != *at || self.read_reference(branch)?.as_ref() != Some(at) {
            return Ok(ReferenceUpdate::Conflict { found: Some(found) });
        }
        replace(&self.checkout.git_dir().join("HEAD"), format!("ref: {branch}\n").as_bytes())?;
        Ok(ReferenceUpdate::Updated)
    }

    pub fn read_reference(&self, name: &str) -> Result<Option<CommitId>, GitError> {
        check_name(name)?;
        if let Some(id) = self.plainly(name)
            && let Some(known) = self.resolved().get(id.as_str())
        {
            return Ok(Some(known.id.clone()));
        }
        // A reference may name a tag object; the commit it leads to is what counts here.
        let output = self
            .view_call()?
            .args(["cat-file", "--batch-check=%(objectname)"])
            .stdin(format!("{name}^{{commit}}\n{name}^{{tree}}\n").into_bytes())
            .run()?;
        let output = String::from_utf8_lossy(&output);
        let mut lines = output.lines();
        let id = lines.next().and_then(|line| CommitId::parse(line).ok());
        let tree = lines.next().and_then(|line| TreeId::parse(line).ok());
        if let Some((id, tree)) = id.clone().zip(tree) {
            self.remember(Commit { id, tree });
        }
        Ok(id)
    }

    /// What a reference holds where it is a file of its own or stands in the list of packed ones. `None` where only git
    /// can tell: a reference to a reference, another store, nothing there.
    fn plainly(&self, name: &str) -> Option<CommitId> {
        let id = match read_plain(&self.checkout.common_dir().join(name)) {
            Ok(content) => String::from_utf8(content).ok()?,
            Err(_) => self.packed().into_iter().find_map(|(id, found)| (found == name).then_some(id))?,
        };
        CommitId::parse(id.trim_end()).ok()
    }

    /// Whether something stands under this name, usable or not. Plain files, no process.
    pub fn is_taken(&self, name: &str) -> Result<bool, GitError> {
        check_name(name)?;
        let below = format!("{name}/");
        let is_packed = self.packed_names().iter().any(|found| found == name || found.starts_with(&below));
        Ok(is_packed || self.checkout.common_dir().join(name).symlink_metadata().is_ok())
    }

    /// The reference because of which git has no room for this name: one that is a part of it, or that it would be a
    /// part of. Plain files, no process.
    pub fn in_the_way_of(&self, name: &str) -> Result<Option<String>, GitError> {
        check_name(name)?;
        let common = self.checkout.common_dir();
        let packed = self.packed_names();
        let parts = name.match_indices('/').map(|(at, _)| &name[..at]);
        for part in parts.filter(|part| *part != "refs") {
            let loose = common.join(part).symlink_metadata().is_ok_and(|found| !found.is_dir());
            if loose || packed.iter().any(|found| found == part) {
                return Ok(Some(part.to_owned()));
            }
        }
        let below = format!("{name}/");
        if let Some(found) = packed.into_iter().find(|found| found.starts_with(&below)) {
            return Ok(Some(found));
        }
        let loose = first_file_under(&common.join(name));
        Ok(loose.map(|path| path.strip_prefix(common).unwrap_or(&path).to_string_lossy().into_owned()))
    }

    fn packed_names(&self) -> Vec<String> {
        self.packed().into_iter().map(|(_, name)| name).collect()
    }

    /// Ids and names.
    fn packed(&self) -> Vec<(String, String)> {
        let packed = read_plain(&self.checkout.common_dir().join("packed-refs")).unwrap_or_default();
        let packed = String::from_utf8_lossy(&packed);
        let lines = packed.lines().filter(|line| !line.starts_with(['#', '^']));
        let pairs = lines.filter_map(|line| line.split_once(' '));
        pairs.map(|(id, name)| (id.to_owned(), name.to_owned())).collect()
    }

    /// Short names of the branches whose names begin so, sorted; one that leads nowhere may be among them. Plain files where
    /// references are such, else git is asked.
    pub fn branches_under(&self, start: &str) -> Result<Vec<String>, GitError> {
        let full = self.references_in("refs/heads/")?;
        let short = full.iter().filter_map(|name| name.strip_prefix("refs/heads/"));
        Ok(short.filter(|name| name.starts_with(start)).map(str::to_owned).collect())
    }

    /// Full names of the references in this directory (`refs/heads/`), sorted.
    pub fn references_in(&self, directory: &str) -> Result<Vec<String>, GitError> {
        let common = self.checkout.common_dir();
        if !common.join("reftable").exists() {
            let loose = files_under(&common.join(directory));
            let loose = loose.iter().filter_map(|path| path.strip_prefix(common).ok()?.to_str());
            let names = self.packed_names().into_iter().chain(loose.map(str::to_owned));
            let names = names.filter(|name| name.starts_with(directory) && check_name(name).is_ok());
            let found: BTreeSet<String> = names.collect();
            return Ok(found.into_iter().collect());
        }
        let printed = self.view_call()?.args(["for-each-ref", "--format=%(refname)", directory]).run()?;
        Ok(String::from_utf8_lossy(&printed).lines().map(str::to_owned).collect())
    }

    /// Short names of the branches that have this commit in their history.
    pub fn branches_with(&self, commit: &CommitId) -> Result<Vec<String>, GitError> {
        let printed = self
            .view_call()?
            .args(["for-each-ref", "--format=%(refname)", "--contains", commit.as_str(), "refs/heads/"])
            .run()?;
        let names = String::from_utf8_lossy(&printed);
        Ok(names.lines().filter_map(|name| name.strip_prefix("refs/heads/")).map(str::to_owned).collect())
    }

    /// Ids of the commits from `last` back to `base`, which is left out, each the first parent of the one before.
    pub fn first_parents(&self, last: &str, base: &str) -> Result<Vec<String>, GitError> {
        CommitId::parse(last).and(CommitId::parse(base))?;
        let printed =
            self.view_call()?.args(["rev-list", "--first-parent", last, &format!("^{base}"), "--"]).run()?;
        Ok(String::from_utf8_lossy(&printed).lines().map(str::to_owned).collect())
    }

    /// The newest commits from `last` back to `base`, which is left out: id and subject.
    pub fn subjects(&self, last: &str, base: &str, most: usize) -> Result<Vec<(String, String)>, GitError> {
        CommitId::parse(last).and(CommitId::parse(base))?;
        let printed = self
            .view_call()?
            .args(["log", "--first-parent", "--format=%H %s", &format!("--max-count={most}")])
            .args([last, &format!("^{base}"), "--"])
            .run()?;
        let printed = String::from_utf8_lossy(&printed);
        let pairs = printed.lines().filter_map(|line| line.split_once(' '));
        Ok(pairs.map(|(id, subject)| (id.to_owned(), subject.to_owned())).collect())
    }

    /// Moves or creates (`expected` = `None`) a reference, only if it still is what the caller saw.
    pub fn update_reference(
        &self,
        name: &str,
        new: &CommitId,
        expected: Option<&CommitId>,
    ) -> Result<ReferenceUpdate, GitError> {
        let old = expected.map_or_else(|| self.format.zero_id(), ToString::to_string);
        self.swap(name, &format!("update {name}\0{new}\0{old}\0"), Some(new), expected)
    }

    /// Creates all of them or none. A failure says nothing about which one was in the way.
    pub(crate) fn create_references(&self, names: &[&str], target: &CommitId) -> Result<(), GitError> {
        names.iter().try_for_each(|name| check_name(name))?;
        let zero = self.format.zero_id();
        let instructions: String = names
            .iter()
            .flat_map(|name| ["update ", name, "\0", target.as_str(), "\0", zero.as_str(), "\0"])
            .collect();
        self.reference_transaction(&instructions).map(drop)
    }

    /// A lock that another git holds for a moment is waited for: each time it is asked, git itself waits for a part of a second.
    fn reference_transaction(&self, instructions: &str) -> Result<Vec<u8>, GitError> {
        for _ in 1..LOCKED_TRIES {
            match self.try_transaction(instructions) {
                Err(error) if is_about_a_lock(&error) => {}
                other => return other,
            }
        }
        self.try_transaction(instructions)
    }

    fn try_transaction(&self, instructions: &str) -> Result<Vec<u8>, GitError> {
        let call = self.view_call()?.args(["update-ref", "-m", "windlass", "--no-deref", "-z", "--stdin"]);
        let control = self.control.git_dir();
        reference_locks::clear(control, self.control.view(), self.checkout.common_dir());
        let in_hand = InHand::take(control, instructions)?;
        call.env(COOKIE_VARIABLE, &in_hand.cookie).stdin(instructions.as_bytes()).run()
    }

    /// Deletes a branch (short name) that still stands where the caller expects it. Deleting it twice is fine.
    pub fn delete_branch_if(&self, branch: &str, expected: &CommitId) -> Result<ReferenceUpdate, GitError> {
        self.delete_reference_if(&format!("refs/heads/{branch}"), expected)
    }

    pub(crate) fn delete_reference_if(
        &self,
        name: &str,
        expected: &CommitId,
    ) -> Result<ReferenceUpdate, GitError> {
        check_name(name)?;
        if self.read_reference(name)?.is_none() {
            return Ok(ReferenceUpdate::Updated);
        }
        self.swap(name, &format!("delete {name}\0{expected}\0"), None, Some(expected))
    }

    fn swap(
        &self,
        name: &str,
        instruction: &str,
        new: Option<&CommitId>,
        expected: Option<&CommitId>,
    ) -> Result<ReferenceUpdate, GitError> {
        check_name(name)?;
        let Err(failed) = self.reference_transaction(instruction) else {
            return Ok(ReferenceUpdate::Updated);
        };
        let found = self.read_reference(name)?;
        if found.as_ref() == new {
            // A call that was killed after git had done its work: the wish is already fulfilled.
            Ok(ReferenceUpdate::Updated)
        } else if found.as_ref() != expected {
            Ok(ReferenceUpdate::Conflict { found })
        } else {
            Err(self.why_not_written(name, failed))
        }
    }

    /// Tells what the user can mend by hand, and what will fail again until they do, from every other failure.
    fn why_not_written(&self, name: &str, failed: GitError) -> GitError {
        if let Ok(Some(by)) = self.in_the_way_of(name) {
            return GitError::ReferenceBlocked { name: name.to_owned(), by };
        }
        if !is_about_a_lock(&failed) {
            return failed;
        }
        // Git names it by a path of ours that leads there.
        let common = self.checkout.common_dir();
        let locks = [common.join(format!("{name}.lock")), common.join("packed-refs.lock")];
        let detail = match locks.iter().find(|lock| lock.symlink_metadata().is_ok()) {
            Some(lock) => format!("remove {} if none is", lock.display()),
            None => "try again".to_owned(),
        };
        GitError::ReferenceLocked { name: name.to_owned(), detail }
    }

    /// A call on the reference view, which sees the user's objects and the HEAD of the user's checkout.
    pub(crate) fn view_call(&self) -> Result<GitCall, GitError> {
        let path = self.checkout.git_dir().join("HEAD");
        let head = read_plain(&path).map_err(GitError::io("read", &path))?;
        // Only the two forms git writes; anything else would make the view unusable until somebody repairs it.
        if head.starts_with(b"ref: refs/")
            || CommitId::parse(String::from_utf8_lossy(&head).trim_end()).is_ok()
        {
            ensure(&self.control.view().join("HEAD"), &head)?;
        }
        let nowhere = self.control.no_work_tree();
        Ok(self
            .git
            .call(self.control.view(), &nowhere)
            .work_tree(&nowhere)
            .objects_in(&self.checkout.objects_dir()))
    }
}

fn is_about_a_lock(error: &GitError) -> bool {
    matches!(error, GitError::Command { stderr, .. } if stderr.contains(".lock': File exists"))
}

/// A directory of references that were all deleted is in nobody's way; one file in it is.
fn first_file_under(directory: &Path) -> Option<PathBuf> {
    files_under(directory).into_iter().next()
}

fn files_under(directory: &Path) -> Vec<PathBuf> {
    let mut open = vec![directory.to_owned()];
    let mut files = Vec::new();
    while let Some(current) = open.pop() {
        for entry in fs::read_dir(&current).into_iter().flatten().flatten() {
            let is_directory = entry.file_type().is_ok_and(|kind| kind.is_dir());
            if is_directory { &mut open } else { &mut files }.push(entry.path());
        }
    }
    files
}

/// Git's own rules for reference names, and `refs/` in front so that no name is read as something else.
pub(crate) fn check_name(name: &str) -> Result<(), GitError> {
    let bad_character = |c: char| c.is_ascii_control() || " ~^:?*[\\".contains(c);
    let bad_component = |part: &str| {
        part.is_empty()
            || part.starts_with('.')
            || part.starts_with('-')
            || part.as_bytes().ends_with(b".lock")
    };
    let bad = !name.starts_with("refs/")
        || name.contains("..")
        || name.contains("@{")
        || name.ends_with('.')
        || name.contains(bad_character)
        || name.split('/').any(bad_component);
    if bad { Err(GitError::BadReferenceName { name: name.to_owned() }) } else { Ok(()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reference_names_git_would_misread_are_refused() {
        for good in
            ["refs/heads/main", "refs/heads/codex/loop-20260101-000000-doer", "refs/windlass/kept/a_b"]
        {
            assert!(check_name(good).is_ok(), "{good}");
        }
        let bad = [
            "HEAD",
            "main",
            "refs/heads/",
            "refs/heads/../x",
            "refs/heads/a b",
            "refs/heads/-d",
            "refs/heads/x.lock",
            "refs/heads/a\nb",
            "refs/heads/a@{1}",
            "refs//x",
            "refs/heads/.x",
            "refs/heads/x.",
            "refs/heads/a\0b",
        ];
        for name in bad {
            assert!(check_name(name).is_err(), "{name:?}");
        }
    }
}
