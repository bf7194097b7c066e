//! Commits of loops that work on a branch of their own: where they go, when they were made, and what is kept beside them.

use super::author;
use crate::context::RunContext;
use crate::fault::git_fault;
use windlass_control_api::Fault;
use windlass_git_workspaces::{
    Commit, CommitRequest, FastForward, GitError, Moment, NotFastForwarded, ReferenceUpdate, TreeId,
};

pub(super) fn moment(at: windlass_protocols::Millis) -> Moment {
    Moment { seconds: i64::try_from(at.0 / 1000).unwrap_or(i64::MAX), offset_minutes: 0 }
}

/// Moves the branch, and the user's checkout with it where the loop works in place.
pub(super) fn place(
    context: &RunContext,
    (branch, in_place): (&str, bool),
    parent: &Commit,
    commit: &Commit,
) -> Result<Result<(), String>, Fault> {
    let reference = format!("refs/heads/{branch}");
    let repository = &context.repository;
    if in_place {
        let current = repository.current_branch().map_err(git_fault)?;
        if current.as_deref() != Some(reference.as_str()) {
            return Ok(Err(format!("your checkout is no longer on {branch}; switch back to it")));
        }
        return match repository.fast_forward_current(parent, commit) {
            Ok(FastForward::Done) => Ok(Ok(())),
            Ok(FastForward::Refused(NotFastForwarded::IndexBusy)) => {
                let lock = repository.checkout().git_dir().join("index.lock");
                let why = "another git keeps the index of your checkout locked";
                Ok(Err(format!("{why}; if none is at work, remove {}", lock.display())))
            }
            Ok(FastForward::Refused(reason @ NotFastForwarded::InTheWay { .. })) => {
                let way = super::land::in_the_way(&reason);
                // A commit of one's own would stand on the loop's branch.
                Ok(Err(format!(
                    "{way}; stash what you changed (`git stash --include-untracked`), then resume"
                )))
            }
            Ok(FastForward::Refused(reason)) => Ok(Err(super::land::in_the_way(&reason))),
            Err(error) if is_locked(&error) => Ok(Err(error.to_string())),
            Err(error) => Err(git_fault(error)),
        };
    }
    match repository.update_reference(&reference, &commit.id, Some(&parent.id)) {
        Ok(ReferenceUpdate::Updated) => Ok(Ok(())),
        Ok(ReferenceUpdate::Conflict { found }) if found.as_ref() == Some(&commit.id) => Ok(Ok(())),
        Ok(ReferenceUpdate::Conflict { found: Some(found) }) => {
            let (found, parent) = (found.as_str(), parent.id.as_str());
            let kept = kept_aside(branch, found);
            let back = branch_back(branch, Some(found), parent);
            Ok(Err(format!("{branch} was moved to {found}; {kept}; {back}")))
        }
        Ok(ReferenceUpdate::Conflict { found: None }) => {
            Ok(Err(format!("{branch} was deleted; {}", branch_back(branch, None, parent.id.as_str()))))
        }
        Err(error) if is_locked(&error) => Ok(Err(error.to_string())),
        Err(error) => Err(git_fault(error)),
    }
}

/// What a person mends, and what fails again until they do.
const fn is_locked(error: &GitError) -> bool {
    matches!(error, GitError::ReferenceBlocked { .. } | GitError::ReferenceLocked { .. })
}

/// Keeps a content under a reference of our own, named after it: nothing that was built is thrown away.
pub(super) fn keep(
    context: &RunContext,
    head: &Commit,
    tree: &TreeId,
    (name, what): (&str, &str),
) -> Result<(), Fault> {
    let repository = &context.repository;
    let author = author(&context.author).map_err(git_fault)?;
    let request = CommitRequest {
        tree,
        parents: std::slice::from_ref(&head.id),
        message: &format!("{what}\n\nWindlass-Run: {}", context.run),
        author: &author,
        committer: &author,
        time: Moment { seconds: 0, offset_minutes: 0 },
    };
    let commit = Commit { id: repository.commit(&request).map_err(git_fault)?, tree: tree.clone() };
    repository.publish(&commit, &head.tree).map_err(git_fault)?;
    let short = commit.id.as_str().get(..12).unwrap_or(commit.id.as_str());
    let reference = format!("refs/windlass/kept/{}/{name}-{short}", context.run);
    match repository.update_reference(&reference, &commit.id, None).map_err(git_fault)? {
        // Named after its content: what is there already is the same.
        ReferenceUpdate::Updated | ReferenceUpdate::Conflict { .. } => Ok(()),
    }
}

/// How the branch gets where the loop left it; `moved_to` is absent where it is gone.
pub(crate) fn branch_back(branch: &str, moved_to: Option<&str>, head: &str) -> String {
    match moved_to {
        None => format!("`git branch {branch} {head}` brings it back"),
        Some(_) => format!(
            "`git branch -f {branch} {head}` moves it back (`git switch` to another branch first if you stand on it); then resume"
        ),
    }
}

/// What becomes of commits of somebody's own on the branch.
pub(crate) fn kept_aside(branch: &str, found: &str) -> String {
    format!(
        "the loop goes on from its own last commit, without what is there now: `git branch {branch}-kept {found}` keeps that to be merged later"
    )
}
