//! What the history of the user's repository says about two commits: where they part, which holds which, what is written
//! under them. Must not change anything.

use crate::error::GitError;
use crate::git_command::GitCall;
use crate::id_memory::Trailers;
use crate::ids::{Commit, CommitId, TreeId};
use crate::repo_path::RepoPath;
use crate::repository::Repository;

/// How far back commits of our own are followed without git.
const MADE_IN_A_ROUND: usize = 32;

impl Repository {
    /// The newest commit both have in their history; `None` where they have nothing in common.
    pub fn merge_base(&self, one: &CommitId, other: &CommitId) -> Result<Option<Commit>, GitError> {
        let question = (one.clone(), other.clone());
        if let Some(known) = self.told.bases().get(&question) {
            return Ok(known);
        }
        if let Some(id) = self.meet(one, other) {
            let base = Some(self.commit_of(&id)?);
            self.told.bases().keep(question, &base);
            return Ok(base);
        }
        let call = self.history_call()?.args(["merge-base", one.as_str(), other.as_str()]);
        let answer = call.run_accepting(&[0, 1])?;
        let printed = String::from_utf8_lossy(&answer.stdout);
        let first = printed.lines().next().map(CommitId::parse).transpose()?;
        let base = first.map(|id| self.commit_of(&id)).transpose()?;
        self.told.bases().keep(question, &base);
        Ok(base)
    }

    /// Whether the history of `later` holds `earlier`; a commit holds itself. One that is not there is held by none.
    pub fn is_ancestor(&self, earlier: &CommitId, later: &CommitId) -> Result<bool, GitError> {
        if earlier == later {
            return Ok(true);
        }
        let question = (earlier.clone(), later.clone());
        if let Some(known) = self.told.ancestors().get(&question) {
            return Ok(known);
        }
        let call = self.history_call()?.args(["merge-base", "--is-ancestor"]);
        let answer = call.args([earlier.as_str(), later.as_str()]).run_accepting(&[0, 1, 128])?;
        let holds = answer.status.success();
        // A commit that is not there yet may come.
        if answer.status.code() != Some(128) {
            self.told.ancestors().keep(question, &holds);
        }
        Ok(holds)
    }

    /// Files under these places that two commits do not have alike. Neither needs to be imported.
    pub fn differing_in_history(
        &self,
        one: &CommitId,
        other: &CommitId,
        places: &[&str],
    ) -> Result<Vec<RepoPath>, GitError> {
        let call = self.history_call()?.args(["--literal-pathspecs", "diff-tree", "-r", "-z", "--name-only"]);
        let call =
            call.args(["--no-renames", one.as_str(), other.as_str(), "--"]).args(places.iter().copied());
        let printed = call.run()?;
        let paths = printed.split(|byte| *byte == 0).filter(|path| !path.is_empty());
        Ok(paths.map(RepoPath::new).collect())
    }

    /// Values of a trailer in the messages from `last` back to `base`, which is left out, each commit the first parent of
    /// the one before. Newest first.
    pub fn trailers(
        &self,
        key: &str,
        last: &CommitId,
        base: &CommitId,
    ) -> Result<Vec<(CommitId, String)>, GitError> {
        if last == base {
            return Ok(Vec::new());
        }
        let question = (key.to_owned(), last.clone(), base.clone());
        if let Some(known) = self.told.trailers().get(&question) {
            return Ok(known);
        }
        if let Some(found) = self.own_trailers(key, last, base) {
            self.told.trailers().keep(question, &found);
            return Ok(found);
        }
        let format = format!("--format=%H %(trailers:key={key},valueonly,separator=%x09)");
        let printed = self
            .history_call()?
            .args(["log", "--first-parent", &format, last.as_str(), &format!("^{base}"), "--"])
            .run()?;
        let printed = String::from_utf8_lossy(&printed);
        let lines = printed.lines().filter_map(|line| line.split_once(' '));
        let found = lines.flat_map(|(id, values)| {
            let values = values.split('\t').map(str::trim).filter(|value| !value.is_empty());
            values.filter_map(|value| Some((CommitId::parse(id).ok()?, value.to_owned())))
        });
        let found = found.collect();
        self.told.trailers().keep(question, &found);
        Ok(found)
    }

    /// A commit by its id, from our own store where it lies there: what was made here cannot be forged by whoever writes
    /// the user's objects.
    pub fn commit_of(&self, id: &CommitId) -> Result<Commit, GitError> {
        match self.made_here(id) {
            Some(commit) => Ok(commit),
            None => self.resolve_commit(id.as_str()),
        }
    }

    /// The same, with its content in the control directory from then on.
    pub fn take_in(&self, id: &CommitId) -> Result<Commit, GitError> {
        if let Some(commit) = self.made_here(id) {
            return Ok(commit);
        }
        let commit = self.resolve_commit(id.as_str())?;
        self.import(&commit)?;
        Ok(commit)
    }

    pub(crate) fn made_here(&self, id: &CommitId) -> Option<Commit> {
        let (kind, content) = self.objects.read(id.as_str())?;
        let tree = tree_line(&content).filter(|_| kind == "commit")?;
        Some(Commit { id: id.clone(), tree })
    }

    /// Where two lines of commits that were made here come together. Lines without a merge have one such place, and it is the
    /// newest. `None` says nothing.
    fn meet(&self, one: &CommitId, other: &CommitId) -> Option<CommitId> {
        let line = self.made_in_a_line(other);
        self.made_in_a_line(one).into_iter().find(|id| line.contains(id))
    }

    /// A commit and what came before it, as far back as commits with one parent were made here; the last one may be anybody's.
    fn made_in_a_line(&self, from: &CommitId) -> Vec<CommitId> {
        let parent = |id: &CommitId| {
            let content = self.objects.read(id.as_str()).filter(|(kind, _)| kind == "commit");
            content.and_then(|(_, content)| only_parent(&content))
        };
        std::iter::successors(Some(from.clone()), parent).take(MADE_IN_A_ROUND).collect()
    }

    /// The same where all these commits were made here and end with nothing but trailers; `None` where git is to read them.
    fn own_trailers(&self, key: &str, last: &CommitId, base: &CommitId) -> Option<Trailers> {
        let mut found = Vec::new();
        let mut at = last.clone();
        for _ in 0..MADE_IN_A_ROUND {
            if at == *base {
                return Some(found);
            }
            let (_, content) = self.objects.read(at.as_str()).filter(|(kind, _)| kind == "commit")?;
            let values =
                trailers_of(&content)?.into_iter().filter(|(name, _)| name.eq_ignore_ascii_case(key));
            found.extend(values.map(|(_, value)| (at.clone(), value)));
            at = only_parent(&content)?;
        }
        None
    }

    /// A cache of the history that somebody else wrote is not believed.
    fn history_call(&self) -> Result<GitCall, GitError> {
        Ok(self.view_call()?.args(["-c", "core.commitGraph=false"]))
    }
}

/// Of a commit with one parent; a merge has two histories and is git's to follow.
fn only_parent(commit: &[u8]) -> Option<CommitId> {
    let header = commit.split(|byte| *byte == b'\n').take_while(|line| !line.is_empty());
    let mut parents = header.filter_map(|line| line.strip_prefix(b"parent "));
    let first = parents.next()?;
    if parents.next().is_some() {
        return None;
    }
    CommitId::parse(std::str::from_utf8(first).ok()?).ok()
}

/// Name and value of each line of the last paragraph, if all of them are trailers; what is less plain than that is git's to
/// judge.
fn trailers_of(commit: &[u8]) -> Option<Vec<(String, String)>> {
    let text = std::str::from_utf8(commit).ok()?;
    let (_, message) = text.split_once("\n\n")?;
    let (_, last) = message.trim_end().rsplit_once("\n\n")?;
    let trailer = |line: &str| {
        let (name, value) = line.split_once(": ")?;
        let is_name =
            !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-');
        let value = value.trim();
        (is_name && !value.is_empty()).then(|| (name.to_owned(), value.to_owned()))
    };
    last.lines().map(trailer).collect()
}

pub(crate) fn tree_line(commit: &[u8]) -> Option<TreeId> {
    let line = commit.split(|byte| *byte == b'\n').next()?.strip_prefix(b"tree ")?;
    TreeId::parse(std::str::from_utf8(line).ok()?).ok()
}
