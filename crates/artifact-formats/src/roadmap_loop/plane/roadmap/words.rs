//! What a bundle says about one milestone and one of its directions, which is what a round is judged by. What closeouts note
//! there, a state or a pointer, is no part of it.

use super::{Block, Direction, Milestone, Place, Roadmap};
use crate::roadmap_loop::closeout::MilestoneStatus;
use crate::roadmap_loop::plane::bundle::BundleTexts;
use crate::roadmap_loop::plane::roadmap::RoadmapView;

/// To be compared with what another bundle says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Words {
    block: Option<String>,
    /// Records only.
    in_view: Option<(Option<Milestone>, Option<Direction>)>,
}

impl BundleTexts<'_> {
    pub fn words_about(&self, milestone: &str, direction: &str) -> Words {
        let text = self.roadmap_text();
        let block = text.blocks_of(milestone).next().map(|block| of_block(self.roadmap, block));
        let view = self.view.and_then(|view| RoadmapView::parse(&self.view_path(), view).ok());
        Words { block, in_view: view.map(|view| of_view(&view.roadmap, milestone, direction)) }
    }
}

/// The block line by line, without its state, its pointers and the blanks around lines.
fn of_block(source: &str, block: &Block) -> String {
    let pointers = block.label("Completion pointers").map(|label| label.span.clone());
    let mut words = block.title.clone();
    let mut in_pointers = false;
    let mut start = block.heading.end;
    for line in source.get(block.heading.end..block.span.end).unwrap_or_default().split_inclusive('\n') {
        let (text, at) = (line.trim(), start);
        start += line.len();
        if let Some(title) = text.strip_prefix('#') {
            let title = title.trim_start_matches('#').trim().to_ascii_lowercase();
            in_pointers = title.starts_with("completion pointers");
        }
        let noted = in_pointers || pointers.as_ref().is_some_and(|span| span.contains(&at));
        if !noted && !text.is_empty() {
            words.push('\n');
            words.push_str(text);
        }
    }
    words
}

fn of_view(roadmap: &Roadmap, milestone: &str, direction: &str) -> (Option<Milestone>, Option<Direction>) {
    let milestone = roadmap.milestone(milestone).map(|found| Milestone {
        status: MilestoneStatus::Pending,
        completion_pointers: None,
        status_anchor: None,
        completion_anchor: None,
        direction_ids: Vec::new(),
        place: Place::default(),
        ..found.clone()
    });
    let direction =
        roadmap.direction(direction).map(|found| Direction { place: Place::default(), ..found.clone() });
    (milestone, direction)
}
