//! Whether a control loop can begin on the checkout and the branches as they lie there, or go on. `control run`, `control check`
//! and `resume` ask here, so that what one calls good the other does not refuse.

use crate::context::{RunContext, git_commit};
use crate::control::own_checkout::{OwnCheckout, dirty};
pub(super) use crate::control::own_checkout::{RUNS, hold_to_the_bytes};
use crate::control::task_spec::no_commit_yet;
use crate::effect_runner::{branch_back, kept_aside};
use crate::fault::git_fault;
use crate::settings::Environment;
use windlass_artifact_formats::control_loop::BRANCH_PREFIX;
use windlass_control_api::{Code, Fault};
use windlass_git_workspaces::{Commit, GitError, Overlay, Repository, TreeId};
use windlass_protocols::protocol::feedback_control::spec::Workplace;
use windlass_protocols::protocol::feedback_control::state::State;

/// What becomes of changes that belong to no commit.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Uncommitted {
    Refused,
    TakenAlong,
}

/// Where the loop begins, and what the user has changed since and not committed.
pub(super) fn base(
    repository: &Repository,
    environment: &Environment,
    (uncommitted, place): (Uncommitted, Workplace),
) -> Result<(Commit, Option<TreeId>), Fault> {
    let head = repository.head().map_err(|error| match error {
        GitError::UnknownRevision { .. } => no_commit_yet(),
        error => git_fault(error),
    })?;
    repository.import(&head).map_err(git_fault)?;
    let checkout = OwnCheckout::look(repository, environment)?;
    let changed = checkout.changed();
    if changed.is_empty() {
        return Ok((head, None));
    }
    if uncommitted == Uncommitted::Refused {
        let refused = dirty(&changed).hint("commit or stash them");
        if place == Workplace::InPlace {
            return Err(refused
                .hint("or let the loop work in its own worktree: `--allow-dirty` instead of `--in-place`"));
        }
        return Err(
            refused.hint("or take them along as the first commit of the loop's branch with `--allow-dirty`")
        );
    }
    let content = checkout.tree(&head)?;
    let parts = Overlay { content: &content, replaced: &[], removed: &[RUNS], files: &[] };
    let tree = repository.overlay(&parts).map_err(git_fault)?;
    Ok((head, Some(tree)))
}

/// Whether there is room for the run's directory, and for its branch: that one, or any of the usual names.
pub(super) fn room(repository: &Repository, branch: Option<&str>) -> Result<(), Fault> {
    let runs = repository.checkout().work_tree().join(RUNS.trim_end_matches('/'));
    if runs.symlink_metadata().is_ok_and(|found| !found.is_dir()) {
        return Err(Fault::new(
            Code::NotAllowedNow,
            format!("{} is a file, and runs keep their directories there", runs.display()),
        )
        .kept("nothing was begun")
        .hint("move it away, and commit that if it is committed"));
    }
    let usual = format!("{BRANCH_PREFIX}any");
    let wanted = branch.unwrap_or(&usual);
    let reference = format!("refs/heads/{wanted}");
    let Some(by) = repository.in_the_way_of(&reference).map_err(git_fault)? else { return Ok(()) };
    let by = by.trim_start_matches("refs/heads/");
    let family = wanted.rsplit_once('/').map_or(wanted, |(family, _)| family);
    Err(Fault::new(
        Code::NotAllowedNow,
        format!("the branch {by} leaves git no room for {}", branch.unwrap_or(&format!("{family}/…"))),
    )
    .kept("nothing was begun")
    .hint("give the loop's branch another name with `--branch NAME`")
    .hint(format!("or make room: `git branch -m {by} NEW-NAME`")))
}

/// In one sentence, for a list of problems.
pub(super) fn in_words(fault: &Fault) -> String {
    let mut words = vec![fault.message.clone()];
    words.extend(fault.hints.iter().cloned());
    words.join("; ")
}

/// Whether the loop's branch still stands where the loop left it. Looked at before anybody is asked: the next commit would be
/// refused, and what was paid for it would wait for nothing.
pub(crate) fn still_there(context: &RunContext, state: &State) -> Result<(), Fault> {
    // A commit whose end nobody saw may have moved it.
    let (Some(head), None) = (&state.head, &state.unseen_commit) else { return Ok(()) };
    let branch = &state.spec.place.doer_branch;
    let (reference, head) = (format!("refs/heads/{branch}"), git_commit(head)?);
    let repository = &context.repository;
    let refuse = |message: String| Fault::new(Code::NotAllowedNow, message).kept("nothing was asked or run");
    let found = repository.read_reference(&reference).map_err(git_fault)?;
    let in_place = state.spec.workplace == Workplace::InPlace;
    if found.as_ref() != Some(&head) {
        let fault = match found {
            None => refuse(format!("{branch} was deleted")).hint(branch_back(branch, None, head.as_str())),
            Some(found) => refuse(format!("{branch} was moved to {found}"))
                .hint(kept_aside(branch, found.as_str()))
                .hint(branch_back(branch, Some(found.as_str()), head.as_str())),
        };
        let back = in_place
            .then(|| format!("the loop works in your checkout: `git switch {branch}` before you resume"));
        return Err(match back {
            Some(back) => fault.hint(back),
            None => fault,
        });
    }
    if in_place && repository.current_branch().map_err(git_fault)?.as_deref() != Some(reference.as_str()) {
        return Err(refuse(format!("your checkout is no longer on {branch}"))
            .hint(format!("switch back to it: `git switch {branch}`")));
    }
    Ok(())
}
