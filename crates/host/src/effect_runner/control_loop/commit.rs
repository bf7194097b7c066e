//! Makes an iteration a commit of the loop's branch. Doing it twice makes the same commit and changes nothing. The user's
//! hooks are not run: a hook is a program that an agent could have written.

use super::files;
use super::shown;
use crate::context::{RunContext, git_commit, git_tree};
use crate::fault::git_fault;
use windlass_artifact_formats::control_loop::{IterationMessage, Layout, SensorStatus};
use windlass_control_api::Fault;
use windlass_git_workspaces::{
    Commit, CommitRequest, FastForward, GitError, Moment, Overlay, ReferenceUpdate, TreeId,
};
use windlass_protocols::effect::CommitIteration;
use windlass_protocols::outcome::ReadingStatus;
use windlass_protocols::protocol::feedback_control::spec::{ControlSpec, Dialect, Workplace};
use windlass_protocols::protocol::feedback_control::state::State;
use windlass_protocols::{CommitId, Outcome, Run};

pub(in super::super) fn run(
    context: &RunContext,
    asked: &CommitIteration,
    run: &Run,
) -> Result<Outcome, Fault> {
    let (spec, state) = (context.control_loop()?, files::state(run)?);
    let repository = &context.repository;
    let parent = repository.resolve_commit(git_commit(&asked.parent)?.as_str()).map_err(git_fault)?;
    let (directory, outdated) = (shown::loop_directory(), files::stale(spec, state)?);
    let outdated: Vec<&str> = outdated.iter().map(String::as_str).collect();
    let parts = Overlay {
        content: &git_tree(&asked.plant)?,
        replaced: &[(&directory, Some(&parent.tree))],
        removed: &outdated,
        files: &files::of_iteration(context, run, asked)?,
    };
    let tree = repository.overlay(&parts).map_err(git_fault)?;
    let author = super::super::author(&context.author).map_err(git_fault)?;
    let request = CommitRequest {
        tree: &tree,
        parents: std::slice::from_ref(&parent.id),
        message: &message(context, spec, asked),
        author: &author,
        committer: &author,
        time: moment(asked.decided_at),
    };
    let commit = match repository.publish_new(&request, &parent.tree) {
        Ok(commit) => commit,
        Err(error @ (GitError::ForgedObject { .. } | GitError::MissingObjects { .. })) => {
            return Ok(Outcome::Refused { reason: error.to_string() });
        }
        Err(error) => return Err(git_fault(error)),
    };
    let in_place = spec.workplace == Workplace::InPlace;
    Ok(match place(context, (&spec.place.doer_branch, in_place), &parent, &commit)? {
        Ok(()) => Outcome::IterationCommitted {
            commit: CommitId::new(commit.id.as_str()),
            tree: windlass_protocols::TreeId::new(commit.tree.as_str()),
        },
        Err(reason) => Outcome::Refused { reason },
    })
}

pub(in super::super) fn moment(at: windlass_protocols::Millis) -> Moment {
    Moment { seconds: i64::try_from(at.0 / 1000).unwrap_or(i64::MAX), offset_minutes: 0 }
}

/// Moves the branch, and the user's checkout with it where the loop works in place.
pub(in super::super) fn place(
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
        return match repository.fast_forward_current(parent, commit).map_err(git_fault)? {
            FastForward::Done => Ok(Ok(())),
            FastForward::Refused(reason) => Ok(Err(super::super::land::in_the_way(&reason))),
        };
    }
    match repository.update_reference(&reference, &commit.id, Some(&parent.id)) {
        Ok(ReferenceUpdate::Updated) => Ok(Ok(())),
        Ok(ReferenceUpdate::Conflict { found }) if found.as_ref() == Some(&commit.id) => Ok(Ok(())),
        Ok(ReferenceUpdate::Conflict { found: Some(found) }) => {
            Ok(Err(format!("{branch} was moved to {found}; move it back to {}", parent.id)))
        }
        Ok(ReferenceUpdate::Conflict { found: None }) => {
            Ok(Err(format!("{branch} was deleted; `git branch {branch} {}` brings it back", parent.id)))
        }
        Err(error @ (GitError::ReferenceBlocked { .. } | GitError::ReferenceLocked { .. })) => {
            Ok(Err(error.to_string()))
        }
        Err(error) => Err(git_fault(error)),
    }
}

fn message(context: &RunContext, spec: &ControlSpec, asked: &CommitIteration) -> String {
    let status = |status: ReadingStatus| match status {
        ReadingStatus::Pass => SensorStatus::Pass,
        ReadingStatus::Fail => SensorStatus::Fail,
        ReadingStatus::Pending => SensorStatus::Pending,
    };
    let sensors: Vec<(&str, SensorStatus)> =
        asked.sensors.iter().map(|(name, of)| (name.as_str(), status(*of))).collect();
    let node_ids = spec.node_path(asked.depth as usize);
    let run_id =
        if spec.dialect == Dialect::Hierarchical { spec.run_name.as_str() } else { context.run.as_str() };
    IterationMessage {
        layout: if spec.dialect == Dialect::Flat { Layout::Flat } else { Layout::Nested },
        node_ids: &node_ids,
        label: &asked.label,
        summary: &asked.action,
        status: files::node_status(asked.status),
        target_met: asked.target_met,
        sensors: &sensors,
        action: &asked.action,
        run_id: Some(run_id),
    }
    .render()
}

/// Keeps a content that is about to be replaced under a reference of our own.
pub(super) fn keep(context: &RunContext, state: &State, head: &Commit, tree: &TreeId) -> Result<(), Fault> {
    let repository = &context.repository;
    let author = super::super::author(&context.author).map_err(git_fault)?;
    let number = state.captures + 1;
    let message =
        format!("Unfinished work of the actuator before snapshot {number}\n\nWindlass-Run: {}", context.run);
    let request = CommitRequest {
        tree,
        parents: std::slice::from_ref(&head.id),
        message: &message,
        author: &author,
        committer: &author,
        time: Moment { seconds: 0, offset_minutes: 0 },
    };
    let commit = Commit { id: repository.commit(&request).map_err(git_fault)?, tree: tree.clone() };
    repository.publish(&commit, &head.tree).map_err(git_fault)?;
    let short = commit.id.as_str().get(..12).unwrap_or(commit.id.as_str());
    let reference = format!("refs/windlass/kept/{}/interrupted-{number}-{short}", context.run);
    match repository.update_reference(&reference, &commit.id, None).map_err(git_fault)? {
        // Named after its content: what is there already is the same.
        ReferenceUpdate::Updated | ReferenceUpdate::Conflict { .. } => Ok(()),
    }
}
