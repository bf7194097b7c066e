//! Ignore rules that would keep what a round writes out of its commits. Asked before a plane is set up or run, not at every
//! look: it is one more process.

use super::{Trouble, names};
use crate::fault::git_fault;
use windlass_artifact_formats::roadmap_loop::plane::Generation;
use windlass_artifact_formats::roadmap_loop::round::files;
use windlass_control_api::Fault;
use windlass_git_workspaces::Repository;

/// Stands for any round to come.
const ANY_ROUND: &str = "round-001";
const PROSE: [&str; 3] = ["plan.md", "implementation-notes.md", "review.md"];
const RECORDS: [&str; 3] = ["selection-record.json", "round-plan-record.json", "review-record.json"];

pub(crate) fn kept_out(
    repository: &Repository,
    generation: Generation,
    roadmap_id: &str,
) -> Result<Option<Trouble>, Fault> {
    let (records, view): (&[&str], Option<&str>) = match generation {
        Generation::Records => (&RECORDS, Some("roadmap-view.json")),
        Generation::StructuredMarkdown => (&[], None),
    };
    let round = files::round_dir(ANY_ROUND);
    let next = names::roadmap_dir(roadmap_id, "rev-002");
    let mut paths: Vec<String> = PROSE.iter().chain(records).map(|name| format!("{round}/{name}")).collect();
    paths.push(names::update_artifact(ANY_ROUND));
    paths.extend(["roadmap.md"].into_iter().chain(view).map(|name| format!("{next}/{name}")));
    let found = repository.ignoring_files(&paths).map_err(git_fault)?;
    Ok((!found.is_empty()).then(|| Trouble::kept_out(generation, &found)))
}
