//! What the steps of a roadmap loop that work with git have in common: where they work, how they commit, what they leave
//! behind for the case that they are killed, and how they end. Which step it is, is not known here.

use super::super::{author, loop_branch};
use crate::context::{RunContext, git_commit};
use crate::durable_file::place_durably;
use crate::fault::{bug, git_fault};
use crate::state_dir::make_private;
use serde::Serialize;
use serde::de::DeserializeOwned;
use std::path::{Path, PathBuf};
use windlass_control_api::Fault;
use windlass_git_workspaces::{
    Commit, CommitId, CommitRequest, GitError, IgnoredFiles, Keeping, ReferenceUpdate, Repository, TreeId,
};
use windlass_protocols::protocol::roadmap_rounds::steps::{Held, Kept, PlaneOutcome};
use windlass_protocols::{EffectId, Millis, Outcome};

/// Where one step works.
pub(super) struct Site<'a> {
    pub(super) repository: &'a Repository,
    pub(super) run: &'a str,
    pub(super) author: &'a str,
    /// Of this step alone, out of everybody's reach.
    notes: PathBuf,
}

/// Why a step ended without what it was asked for.
#[derive(Debug)]
pub(super) enum Stop {
    /// The world said no, and will say it again.
    Refused(String),
    Held(Held),
    Fault(Fault),
}

pub(super) type Step<T> = Result<T, Stop>;

impl From<Fault> for Stop {
    fn from(fault: Fault) -> Self {
        Self::Fault(fault)
    }
}

impl From<GitError> for Stop {
    /// What a person has to look at is a refusal; everything else may go better the next time.
    fn from(error: GitError) -> Self {
        match error {
            GitError::BranchTaken { .. }
            | GitError::NotOurs { .. }
            | GitError::MissingObjects { .. }
            | GitError::ForgedObject { .. }
            | GitError::UnusableWorkspace { .. }
            | GitError::UnknownRevision { .. }
            | GitError::BadReferenceName { .. }
            | GitError::ReferenceBlocked { .. }
            | GitError::ReferenceLocked { .. } => Self::Refused(error.to_string()),
            error => Self::Fault(git_fault(error)),
        }
    }
}

pub(super) fn refused<T>(why: impl Into<String>) -> Step<T> {
    Err(Stop::Refused(why.into()))
}

pub(super) fn held<T>(why: Held) -> Step<T> {
    Err(Stop::Held(why))
}

pub(super) fn stale<T>(why: impl Into<String>) -> Step<T> {
    held(Held::Stale { why: why.into() })
}

/// As the journal takes it.
pub(super) fn outcome(ended: Step<PlaneOutcome>) -> Result<Outcome, Fault> {
    match ended {
        Ok(outcome) => Ok(Outcome::Plane(outcome)),
        Err(Stop::Held(held)) => Ok(Outcome::Plane(PlaneOutcome::Held(held))),
        Err(Stop::Refused(reason)) => Ok(Outcome::Refused { reason }),
        Err(Stop::Fault(fault)) => Err(fault),
    }
}

impl<'a> Site<'a> {
    pub(super) fn of(context: &'a RunContext, effect: EffectId) -> Self {
        let notes = context.state.effect(&context.run, effect);
        Self { repository: &context.repository, run: context.run.as_str(), author: &context.author, notes }
    }

    #[cfg(test)]
    pub(super) fn for_test(repository: &'a Repository, notes: PathBuf) -> Self {
        Self { repository, run: "run-1", author: "Windlass <windlass@localhost>", notes }
    }

    /// Paths in the state file are the repository's unless they are absolute.
    pub(super) fn place(&self, recorded: &str) -> PathBuf {
        self.repository.checkout().work_tree().join(recorded)
    }

    /// Names the private index of a worktree. It is the same for every run that works there.
    pub(super) fn key(recorded: &str) -> String {
        format!("roadmap-{recorded}")
    }

    /// A commit whose content can be looked at from now on, whatever becomes of the user's store.
    pub(super) fn commit(&self, id: &windlass_protocols::CommitId) -> Step<Commit> {
        self.known(&git_commit(id)?)
    }

    pub(super) fn known(&self, id: &CommitId) -> Step<Commit> {
        Ok(self.repository.take_in(id)?)
    }

    /// Where a branch stands.
    pub(super) fn tip(&self, branch: &str) -> Step<Option<CommitId>> {
        Ok(self.repository.read_reference(&format!("refs/heads/{branch}"))?)
    }

    pub(super) fn text_at(&self, tree: &TreeId, path: &str) -> Step<Option<String>> {
        let bytes = self.repository.file_at(tree, path)?;
        Ok(bytes.map(|bytes| String::from_utf8_lossy(&bytes).into_owned()))
    }

    /// Makes a commit that is the same whenever it is made, durable with its tree, and brings it into the user's repository,
    /// which must have what it is made on.
    pub(super) fn make(
        &self,
        tree: &TreeId,
        parents: &[&Commit],
        (message, decided_at): (&str, Millis),
    ) -> Step<Commit> {
        let first = parents.first().ok_or_else(|| bug("a commit of a round without a parent"))?;
        let author = author(self.author)?;
        let ids: Vec<CommitId> = parents.iter().map(|parent| parent.id.clone()).collect();
        let request = CommitRequest {
            tree,
            parents: &ids,
            message: &without_control_characters(message),
            author: &author,
            committer: &author,
            time: loop_branch::moment(decided_at),
        };
        Ok(self.repository.publish_new(&request, &first.tree)?)
    }

    /// Moves a branch that only this loop moves to a commit, from wherever it stands. Commits that nobody here made are
    /// kept under a name of their own; comes back with whether there were any.
    pub(super) fn set_branch(&self, branch: &str, parent: &Commit, commit: &Commit) -> Step<Strangers> {
        let reference = format!("refs/heads/{branch}");
        let mut strangers = Strangers::None;
        // An agent that commits at this very moment is no agent any more: it has ended. Twice is enough.
        for _ in 0..2 {
            let found = self.tip(branch)?;
            if found.as_ref() == Some(&commit.id) {
                return Ok(strangers);
            }
            if let Some(other) = found.as_ref().filter(|other| **other != parent.id) {
                self.keep_commit(branch, other)?;
                strangers = Strangers::Kept;
            }
            match self.repository.update_reference(&reference, &commit.id, found.as_ref())? {
                ReferenceUpdate::Updated => return Ok(strangers),
                ReferenceUpdate::Conflict { .. } => {}
            }
        }
        refused(format!("{branch} is moved by somebody else all the time"))
    }

    fn keep_commit(&self, branch: &str, commit: &CommitId) -> Step<()> {
        let short = commit.as_str().get(..12).unwrap_or(commit.as_str());
        let name = format!("refs/windlass/kept/{}/{}-{short}", self.run, branch.replace('/', "-"));
        // Named after its content: what is there already is the same.
        self.repository.update_reference(&name, commit, None)?;
        Ok(())
    }

    /// Keeps a content that is about to be replaced and that nobody committed. It is given back as a branch of its own.
    pub(super) fn keep_found(&self, branch: &str, on: &Commit, (tree, at): (&TreeId, Millis)) -> Step<Kept> {
        let message = format!("What stood in the worktree of {branch}\n\nWindlass-Run: {}", self.run);
        let commit = self.make(tree, &[on], (&message, at))?;
        let short = commit.id.as_str().get(..12).unwrap_or(commit.id.as_str());
        let name = format!("{}-{short}", branch.replace('/', "-"));
        let kept = Kept { id: format!("{}/{name}", self.run), branch: format!("windlass/kept/{name}") };
        let (time, ignored) = (loop_branch::moment(at), IgnoredFiles::LeftOut);
        self.repository.keep_branch(&kept.branch, &commit.id, &Keeping { name: &kept.id, time, ignored })?;
        Ok(kept)
    }

    /// What an earlier attempt at this step wrote down.
    pub(super) fn noted<T: DeserializeOwned>(&self, name: &str) -> Option<T> {
        let bytes = std::fs::read(self.notes.join(name)).ok()?;
        serde_json::from_slice(&bytes).ok()
    }

    /// Durable before anything is changed that could not be told afterwards.
    pub(super) fn note<T: Serialize>(&self, name: &str, what: &T) -> Step<()> {
        make_private(&self.notes)?;
        let text = serde_json::to_vec(what).map_err(|error| bug(error.to_string()))?;
        place_durably(&self.notes.join(name), &text)?;
        Ok(())
    }
}

/// Whether a branch held commits that the loop did not make.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Strangers {
    None,
    Kept,
}

/// A directory itself, not a link to one somewhere else.
pub(super) fn is_there(path: &Path) -> bool {
    crate::foreign::is_real_directory(path)
}

/// A message is read in a terminal: what would move its cursor or change its colours has no place in it.
fn without_control_characters(text: &str) -> String {
    text.chars().filter(|c| !c.is_control() || *c == '\n' || *c == '\t').collect()
}
