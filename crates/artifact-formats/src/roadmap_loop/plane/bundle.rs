//! The texts of the active bundle together, in either generation, and whether they make one usable roadmap.
//! It knows which file is which; reading each of them is done elsewhere.

use super::generation::Generation;
use super::names::history_file;
use super::problem::{Problem, Problems};
use super::roadmap::{Roadmap, RoadmapText, RoadmapView, read_structured};
use super::state::ActiveBundle;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BundleTexts<'t> {
    pub generation: Generation,
    pub bundle: &'t ActiveBundle,
    pub roadmap: &'t str,
    /// `roadmap-view.json`; records only.
    pub view: Option<&'t str>,
    /// The family's `roadmap-history.md`.
    pub history: Option<&'t str>,
}

impl BundleTexts<'_> {
    pub fn roadmap_path(&self) -> String {
        format!("{}/roadmap.md", self.bundle.dir)
    }

    pub fn view_path(&self) -> String {
        format!("{}/roadmap-view.json", self.bundle.dir)
    }

    pub fn history_path(&self) -> String {
        history_file(&self.bundle.roadmap_id)
    }

    /// The roadmap from its machine source, or every reason why there is none (4.3, 25.2). A broken bundle is never a
    /// finished one.
    pub fn roadmap(&self) -> Result<Roadmap, Problems> {
        match self.generation {
            Generation::StructuredMarkdown => read_structured(&self.roadmap_text()),
            Generation::Records => Ok(self.checked_view()?.roadmap),
        }
    }

    pub(super) fn roadmap_text(&self) -> RoadmapText {
        RoadmapText::read(&self.roadmap_path(), self.roadmap)
    }

    /// The view, held against the state it belongs to, the narrative and the files its anchors point into.
    pub fn checked_view(&self) -> Result<RoadmapView, Problems> {
        let path = self.view_path();
        let Some(view) = self.view else {
            return Err(Problems::one(Problem::fatal("4.3", &path, "this file is required and missing")));
        };
        let view = RoadmapView::parse(&path, view)?;
        let mut found = view.against_state(self.bundle);
        let (roadmap, history) = (self.roadmap_path(), self.history_path());
        let mut files = vec![roadmap.as_str(), path.as_str()];
        files.extend(self.history.map(|_| history.as_str()));
        found.extend(view.against_files(&files));
        found.extend(view.against_text(&self.roadmap_text()));
        Problems::check(found)?;
        Ok(view)
    }
}
