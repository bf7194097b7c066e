//! The texts of the active bundle together, in either generation, and whether they make one usable roadmap.
//! It knows which file is which; reading each of them is done elsewhere.

use super::closeout::resolve;
use super::generation::Generation;
use super::names::history_file;
use super::problem::{Problem, Problems, Severity};
use super::roadmap::{Roadmap, RoadmapText, RoadmapView, missing_sections, read_structured};
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

    /// What is odd about a bundle that can be used: sections a person would miss (4.1).
    pub fn warnings(&self) -> Vec<Problem> {
        let text = self.roadmap_text();
        let Some(view) = self.view.filter(|_| self.generation == Generation::Records) else {
            return Vec::new();
        };
        if RoadmapView::parse(&self.view_path(), view).is_err() {
            return Vec::new();
        }
        let found = missing_sections("4.1", &text);
        found.into_iter().map(|problem| problem.weighing(Severity::Warning)).collect()
    }

    /// Anchors of unfinished milestones that a closeout could not resolve: every round of them would come to nothing.
    fn unusable_anchors(&self, view: &RoadmapView, text: &RoadmapText) -> Vec<Problem> {
        let mut found = Vec::new();
        for milestone in view.roadmap.unfinished() {
            let block = text.blocks_of(&milestone.id).next().map(|block| block.span.clone());
            let named = [&milestone.status_anchor, &milestone.completion_anchor].into_iter().flatten();
            for anchor in named.filter_map(|id| view.anchor(id)) {
                if anchor.target_file != self.roadmap_path() {
                    continue;
                }
                if let Err(why) = resolve(self.roadmap, &anchor.selector, block.clone()) {
                    let message = format!("the anchor cannot be used: {why}");
                    let place = &anchor.place;
                    found.push(
                        Problem::fatal("4.2", &self.view_path(), message)
                            .at_pointer(&place.pointer)
                            .at_line(place.line),
                    );
                }
            }
        }
        found
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
        let text = self.roadmap_text();
        found.extend(view.against_text(&text));
        found.extend(self.unusable_anchors(&view, &text));
        Problems::check(found)?;
        Ok(view)
    }
}
