//! Whether the base branch asks something else of a round than its own branch says: the words about its milestone and
//! direction, how it is verified, or a revision it never saw. What follows from that is decided elsewhere.

use super::{Bundle, Reading};
use crate::fault::git_fault;
use windlass_artifact_formats::roadmap_loop::plane::Generation;
use windlass_control_api::Fault;
use windlass_git_workspaces::Commit;
use windlass_protocols::protocol::roadmap_rounds::plane::PlanSeen;

/// Between where the round left the base, or was last brought up to it, and the base as it is.
pub(super) fn since(reading: &Reading<'_>, fork: &Commit, plan: Option<&PlanSeen>) -> Result<bool, Fault> {
    let text = |name: &str| -> Result<Option<String>, Fault> {
        let path = format!("{}/{name}", reading.bundle.dir);
        let bytes = reading.repository.file_at(&fork.tree, &path).map_err(git_fault)?;
        Ok(bytes.map(|bytes| String::from_utf8_lossy(&bytes).into_owned()))
    };
    let Some(roadmap) = text("roadmap.md")? else { return Ok(true) };
    let Some(plan) = plan else { return Ok(false) };
    let view = match reading.generation {
        Generation::Records => text("roadmap-view.json")?,
        Generation::StructuredMarkdown => None,
    };
    let verification = text("verification.md")?.unwrap_or_default();
    // A checkout may be set to other line endings than are committed.
    let with_plain_ends = |text: &str| text.replace("\r\n", "\n");
    if with_plain_ends(&verification) != with_plain_ends(&reading.texts.verification) {
        return Ok(true);
    }
    let then = Bundle { roadmap, view, verification, history: None };
    let words = |texts: &Bundle| {
        texts.texts(reading.generation, &reading.bundle).words_about(&plan.milestone, &plan.direction)
    };
    Ok(words(&then) != words(&reading.texts))
}
