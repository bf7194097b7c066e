//! The worktrees of a run that are made again from what is recorded: where checkers look and sensors measure. They hold no
//! work of their own, only the output of builds; what makers and people work in is not among them.

use super::keeping::{Corner, KEPT_IF_FEW};
use crate::context::{RunContext, git_commit};
use crate::fault::git_fault;
use windlass_control_api::Fault;
use windlass_git_workspaces::Commit;
use windlass_protocols::Role;
use windlass_protocols::protocol::Protocol;
use windlass_protocols::protocol::feedback_control::state::State as ControlState;

/// Those that are there, each with the commit it is compared with.
pub(super) fn of(context: &RunContext, protocol: &Protocol) -> Result<Vec<(Corner, Commit)>, Fault> {
    let mut found = match protocol {
        Protocol::JudgedTask(state) => match &state.base {
            // The original's worktrees are the original's to remove.
            Some((_, tree)) if state.spec.adopted.is_none() => {
                vec![(Corner::of(context, Role::Judge), context.base(tree)?)]
            }
            _ => Vec::new(),
        },
        Protocol::FeedbackControl(state) => match &state.head {
            Some(commit) => {
                let base = context.repository.resolve_commit(commit.as_str()).map_err(git_fault)?;
                let mut corners = vec![(Corner::of(context, Role::Controller), base)];
                corners.extend(sensors(context, state)?);
                corners
            }
            None => Vec::new(),
        },
        Protocol::GoalContract(state) => match &state.head {
            Some((commit, _)) => {
                let base = context.repository.resolve_commit(commit.as_str()).map_err(git_fault)?;
                vec![(Corner::of(context, Role::Evaluator), base)]
            }
            None => Vec::new(),
        },
        // Rounds have one worktree each, in which their makers work.
        Protocol::RoadmapRounds(_) => Vec::new(),
    };
    // One whose removal was cut off takes nothing any more; `clean` completes it.
    found.retain(|(corner, _)| corner.path.symlink_metadata().is_ok());
    Ok(found)
}

/// The places in which the sensors of every loop of a flow measure.
pub(super) fn sensors(context: &RunContext, state: &ControlState) -> Result<Vec<(Corner, Commit)>, Fault> {
    let Some(commit) = &state.head else { return Ok(Vec::new()) };
    let base = context.repository.take_in(&git_commit(commit)?).map_err(git_fault)?;
    let mut corners = Vec::new();
    for (depth, node) in state.spec.root.chain().enumerate() {
        let depth = u32::try_from(depth).unwrap_or(u32::MAX);
        for number in 0..node.sensors.len() {
            let corner = Corner {
                path: context.sensor_worktree(depth, number),
                key: context.sensor_index_key(depth, number),
                kept_name: format!("{}/sensor-{depth}-{number}", context.run),
                ignored: KEPT_IF_FEW,
            };
            corners.push((corner, base.clone()));
        }
    }
    Ok(corners)
}
