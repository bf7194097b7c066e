//! Where the worktrees that a state file names may lie: in the plane's own folder for them, or where git knows a worktree of
//! this repository. Anybody may edit the file, and the loop writes, commits and deletes where it points.

use super::{Trouble, worktree_path};
use std::path::{Component, Path};
use windlass_artifact_formats::roadmap_loop::plane::names::WORKTREES;
use windlass_artifact_formats::roadmap_loop::plane::{Generation, STATE_FILE, StateFile};
use windlass_git_workspaces::Repository;

/// What names a place that is not ours to work in.
pub(super) fn strange(
    repository: &Repository,
    (top, generation): (&Path, Generation),
    state: &StateFile,
) -> Option<Trouble> {
    let rounds = state.live_rounds().map(|round| (round.round_id.as_str(), round.worktree_path.as_str()));
    let update = state.roadmap_update.iter().map(|update| ("the update", update.worktree_path.as_str()));
    let sentences: Vec<String> = rounds
        .chain(update)
        .filter(|(_, recorded)| !is_ours(repository, top, recorded))
        .map(|(who, recorded)| {
            format!(
                "{STATE_FILE}: the worktree {recorded} of {who} is neither in {WORKTREES}/ nor one that git knows of this \
                 repository (rule 2.1)"
            )
        })
        .collect();
    (!sentences.is_empty()).then(|| Trouble::strange_places(generation, sentences))
}

fn is_ours(repository: &Repository, top: &Path, recorded: &str) -> bool {
    let path = worktree_path(top, recorded);
    let plain = |part: Component<'_>| matches!(part, Component::RootDir | Component::Normal(_));
    if !path.components().all(plain) {
        return false;
    }
    let inside = path.strip_prefix(top.join(WORKTREES));
    inside.is_ok_and(|rest| rest.components().next().is_some()) || repository.knows_worktree(&path)
}
