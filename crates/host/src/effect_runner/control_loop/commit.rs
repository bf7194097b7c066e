//! Makes an iteration a commit of the loop's branch. Doing it twice makes the same commit and changes nothing. The user's
//! hooks are not run: a hook is a program that an agent could have written.

use super::super::loop_branch;
use super::edits;
use super::files;
use super::shown;
use crate::context::{RunContext, git_commit, git_tree};
use crate::fault::git_fault;
use windlass_artifact_formats::control_loop::{IterationMessage, Layout, SensorStatus};
use windlass_control_api::Fault;
use windlass_git_workspaces::{CommitRequest, GitError, Overlay};
use windlass_protocols::effect::CommitIteration;
use windlass_protocols::outcome::ReadingStatus;
use windlass_protocols::protocol::feedback_control::spec::{ControlSpec, Dialect, Workplace};
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
        time: loop_branch::moment(asked.decided_at),
    };
    let commit = match repository.publish_new(&request, &parent.tree) {
        Ok(commit) => commit,
        Err(error @ (GitError::ForgedObject { .. } | GitError::MissingObjects { .. })) => {
            return Ok(Outcome::Refused { reason: error.to_string() });
        }
        Err(error) => return Err(git_fault(error)),
    };
    let in_place = spec.workplace == Workplace::InPlace;
    Ok(match loop_branch::place(context, (&spec.place.doer_branch, in_place), &parent, &commit)? {
        Ok(()) => Outcome::IterationCommitted {
            commit: CommitId::new(commit.id.as_str()),
            tree: windlass_protocols::TreeId::new(commit.tree.as_str()),
            setup_edited: edits::since_the_start(context, spec),
        },
        Err(reason) => Outcome::Refused { reason },
    })
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
