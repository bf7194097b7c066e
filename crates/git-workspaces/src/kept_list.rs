//! What is kept under `refs/windlass/kept/`, told so that it can be given back or let go. Only what this form of keeping
//! recorded is listed; other references there belong to whoever made them. Must not touch work trees.

use std::path::PathBuf;

use crate::error::GitError;
use crate::ids::{Commit, CommitId, TreeId};
use crate::kept_state::{ABOUT, About, BRANCH, KEPT, STATE, trailer_in};
use crate::references::{ReferenceUpdate, check_name};
use crate::repository::Repository;

/// One thing that was taken away and can be given back.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KeptThing {
    /// Below `refs/windlass/kept/`.
    pub name: String,
    pub commit: CommitId,
    /// Seconds since 1970 when it was kept.
    pub at: i64,
    pub what: KeptWhat,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum KeptWhat {
    Worktree {
        path: PathBuf,
    },
    /// Short name, and where it stood.
    Branch {
        name: String,
        tip: CommitId,
    },
}

impl Repository {
    /// Everything below `refs/windlass/kept/<under>`, sorted by name; all of it for an empty one.
    pub fn kept_things(&self, under: &str) -> Result<Vec<KeptThing>, GitError> {
        let start = format!("{KEPT}{under}");
        let start = start.trim_end_matches('/');
        check_name(start)?;
        let listed =
            self.view_call()?.args(["for-each-ref", "--format=%(objectname) %(refname)", start]).run()?;
        let listed = String::from_utf8_lossy(&listed).into_owned();
        let mut things = Vec::new();
        for (id, name) in listed.lines().filter_map(|line| line.split_once(' ')) {
            let Some(name) = name.strip_prefix(KEPT) else { continue };
            let Ok(commit) = CommitId::parse(id) else { continue };
            // What is no commit is nothing of ours.
            let Ok(text) = self.commit_text(&commit) else { continue };
            if let Some(what) = self.what_is_kept(&text)? {
                things.push(KeptThing { name: name.to_owned(), commit, at: moment_of(&text), what });
            }
        }
        Ok(things)
    }

    fn what_is_kept(&self, commit: &str) -> Result<Option<KeptWhat>, GitError> {
        if let Some(name) = trailer_in(commit, BRANCH) {
            let tip = commit.lines().find_map(|line| line.strip_prefix("parent "));
            let tip = tip.and_then(|tip| CommitId::parse(tip).ok());
            let usable = check_name(&format!("refs/heads/{name}")).is_ok();
            return Ok(tip.filter(|_| usable).map(|tip| KeptWhat::Branch { name, tip }));
        }
        let state = trailer_in(commit, STATE).and_then(|id| TreeId::parse(&id).ok());
        let Some(state) = state else { return Ok(None) };
        Ok(self.about(&state)?.map(|about| KeptWhat::Worktree { path: about.path }))
    }

    pub(crate) fn about(&self, state: &TreeId) -> Result<Option<About>, GitError> {
        let found = self.state_file(state, ABOUT)?.map(|bytes| About::parse(&bytes));
        Ok(found.filter(|about| about.path.is_absolute()))
    }

    pub(crate) fn state_file(&self, state: &TreeId, name: &str) -> Result<Option<Vec<u8>>, GitError> {
        let call = self.view_call()?.args(["cat-file", "blob", &format!("{state}:{name}")]);
        let output = call.run_any()?;
        Ok(output.status.success().then_some(output.stdout))
    }

    /// Lets a kept thing go for good, if it is still what the caller saw.
    pub fn forget_kept(&self, kept: &KeptThing) -> Result<ReferenceUpdate, GitError> {
        self.delete_reference_if(&format!("{KEPT}{}", kept.name), &kept.commit)
    }

    /// A commit that is among the kept ones, with its content here from then on.
    pub(crate) fn take_in_kept(&self, id: &CommitId) -> Result<Commit, GitError> {
        self.reads_back(id)?;
        let commit = self.resolve_commit(id.as_str())?;
        self.import(&commit)?;
        Ok(commit)
    }
}

/// When a commit was made; the beginning of time where it does not say.
fn moment_of(commit: &str) -> i64 {
    let line = commit.lines().take_while(|line| !line.is_empty()).find(|line| line.starts_with("committer "));
    line.and_then(|line| line.rsplit(' ').nth(1)?.parse().ok()).unwrap_or(0)
}
