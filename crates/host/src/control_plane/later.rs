//! Whether the base branch is ahead of the state file: a revision or a family was published that the file does not know of. Who
//! worked on with the older one would undo what others agreed on.

use super::Trouble;
use windlass_artifact_formats::roadmap_loop::plane::names::{PLANE_DIR, revision_number, roadmap_id_parts};
use windlass_artifact_formats::roadmap_loop::plane::{ActiveBundle, Recognised, STATE_FILE, StateFile};

/// `files` are the plane's files on the base branch, `committed` the state file there.
pub(super) fn published(
    state: &StateFile,
    active: &ActiveBundle,
    (files, committed): (&[String], Option<&str>),
) -> Option<Trouble> {
    let committed = committed.and_then(|text| match StateFile::recognise(text) {
        Recognised::Ours(state) => state.bundle(),
        Recognised::Foreign(_) | Recognised::Invalid(_) => None,
    });
    let branch = state.base_branch.as_deref().unwrap_or_default();
    let take = format!("`git checkout HEAD -- {STATE_FILE}` takes the committed state, which names it");
    if let Some(family) = committed.as_ref().filter(|bundle| is_later_family(bundle, active)) {
        return Some(Trouble::outdated(active, (&family.roadmap_id, branch), &take));
    }
    let revision = later_revision(state, active, files)?;
    let hint = match committed {
        Some(bundle) if bundle.revision == revision => take,
        _ => format!(
            "set roadmap_revision and roadmap_dir in {STATE_FILE} to it, or take its folder off {branch}"
        ),
    };
    Some(Trouble::outdated(active, (&revision, branch), &hint))
}

/// Ids are opaque but for the day and the number they begin with.
fn is_later_family(found: &ActiveBundle, active: &ActiveBundle) -> bool {
    let begun = |bundle: &ActiveBundle| {
        roadmap_id_parts(&bundle.roadmap_id).map(|parts| (parts.date.to_owned(), parts.ordinal))
    };
    found.roadmap_id != active.roadmap_id
        && matches!((begun(found), begun(active)), (Some(theirs), Some(ours)) if theirs > ours)
}

/// The newest revision of the active family, unless the update that is under way is about to activate it.
fn later_revision(state: &StateFile, active: &ActiveBundle, files: &[String]) -> Option<String> {
    let proposed = state.roadmap_update.as_ref().map(|update| update.proposed_roadmap_revision.as_str());
    let start = format!("{PLANE_DIR}/roadmaps/{}/", active.roadmap_id);
    let published = files
        .iter()
        .filter_map(|path| path.strip_prefix(&start)?.strip_suffix("/roadmap.md"))
        .filter(|revision| Some(*revision) != proposed)
        .filter_map(|revision| Some((revision_number(revision)?, revision)));
    let (newest, revision) = published.max()?;
    (Some(newest) > revision_number(&active.revision)).then(|| revision.to_owned())
}
