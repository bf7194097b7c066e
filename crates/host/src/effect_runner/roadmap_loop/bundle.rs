//! The active bundle as it stands in a tree, and the closeout that was approved for it. Trees only: what the checkout or a
//! worktree holds does not count when something is merged.

use super::site::{Site, Step};
use windlass_artifact_formats::roadmap_loop::plane::{ActiveBundle, BundleTexts, Generation, names};
use windlass_git_workspaces::TreeId;
use windlass_protocols::protocol::roadmap_rounds::plane;

/// The texts of a bundle, read from one tree.
pub(super) struct Bundle {
    generation: Generation,
    pub(super) active: ActiveBundle,
    roadmap: String,
    view: Option<String>,
    history: Option<String>,
}

impl Bundle {
    /// A file that is not there reads as an empty one, which no rule accepts.
    pub(super) fn of(
        site: &Site<'_>,
        tree: &TreeId,
        generation: plane::Generation,
        active: ActiveBundle,
    ) -> Step<Self> {
        let generation = match generation {
            plane::Generation::Records => Generation::Records,
            plane::Generation::StructuredMarkdown => Generation::StructuredMarkdown,
        };
        let roadmap = site.text_at(tree, &format!("{}/roadmap.md", active.dir))?.unwrap_or_default();
        let view = match generation {
            Generation::Records => site.text_at(tree, &format!("{}/roadmap-view.json", active.dir))?,
            Generation::StructuredMarkdown => None,
        };
        let history = site.text_at(tree, &names::history_file(&active.roadmap_id))?;
        Ok(Self { generation, active, roadmap, view, history })
    }

    pub(super) fn texts(&self) -> BundleTexts<'_> {
        BundleTexts {
            generation: self.generation,
            bundle: &self.active,
            roadmap: &self.roadmap,
            view: self.view.as_deref(),
            history: self.history.as_deref(),
        }
    }

    /// Whether this is one of the files a closeout may edit.
    pub(super) fn holds(&self, path: &str) -> bool {
        let texts = self.texts();
        path == texts.roadmap_path() || path == texts.view_path() || path == texts.history_path()
    }
}

/// A revision of the family that was read last.
pub(super) fn revision(plane: &plane::Plane, revision: &str) -> ActiveBundle {
    ActiveBundle {
        roadmap_id: plane.roadmap_id.clone(),
        revision: revision.to_owned(),
        dir: names::roadmap_dir(&plane.roadmap_id, revision),
    }
}
