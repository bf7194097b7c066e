//! The state file as the base branch has it: on the roadmap that is active, with nothing live in it, for rounds live in one
//! checkout alone. It moves with the commit that needs it, so that a clone never goes on with an older revision.

use super::site::{Site, Step};
use windlass_artifact_formats::roadmap_loop::plane::{ActiveBundle, Recognised, STATE_FILE, StateFile};
use windlass_git_workspaces::TreeId;

/// The file to be committed; nothing where the one of `tree` names this roadmap already, or is none that we could write.
pub(super) fn moved_to(
    site: &Site<'_>,
    tree: &TreeId,
    active: &ActiveBundle,
) -> Step<Option<(String, Vec<u8>)>> {
    let Some(text) = site.text_at(tree, STATE_FILE)? else { return Ok(None) };
    let Recognised::Ours(state) = StateFile::recognise(&text) else { return Ok(None) };
    if state.bundle().as_ref() == Some(active) {
        return Ok(None);
    }
    let moved = state.begin_family(active).ok();
    Ok(moved.map(|state| (STATE_FILE.to_owned(), state.text().as_bytes().to_vec())))
}
