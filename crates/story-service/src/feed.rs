//! The entries of a stream in their order. A place is a sequence number: it never changes and never repeats, so a reader
//! who has seen one can ask for what came after, whatever the clocks say.

use std::collections::HashMap;
use windlass_protocols::protocol::story_queue::facts::{Change, Entry};
use windlass_protocols::protocol::story_queue::vocabulary::StoryId;
use windlass_protocols::protocol::story_queue::{custody, plan, work};

#[derive(Debug, Default)]
pub struct Feed {
    entries: Vec<Entry>,
    /// The places of a story's entries.
    about: HashMap<StoryId, Vec<u64>>,
}

impl Feed {
    pub fn push(&mut self, entry: Entry) {
        let place = self.version() + 1;
        if let Some(story) = story_of(&entry.change) {
            self.about.entry(story).or_default().push(place);
        }
        self.entries.push(entry);
    }

    pub fn version(&self) -> u64 {
        self.entries.len() as u64
    }

    /// With their places, counted from 1: "since 0" is everything.
    pub fn after(&self, sequence: u64) -> impl DoubleEndedIterator<Item = (u64, &Entry)> {
        let from = usize::try_from(sequence).unwrap_or(usize::MAX).min(self.entries.len());
        let numbered = self.entries.get(from..).unwrap_or_default().iter().enumerate();
        numbered.map(move |(place, entry)| ((from + place) as u64 + 1, entry))
    }

    pub fn about(&self, story: StoryId) -> impl Iterator<Item = (u64, &Entry)> {
        let places = self.about.get(&story).into_iter().flatten();
        places.filter_map(|place| {
            let index = usize::try_from(place - 1).ok()?;
            Some((*place, self.entries.get(index)?))
        })
    }
}

pub(crate) fn story_of(change: &Change) -> Option<StoryId> {
    match change {
        Change::Plan(change) => match change {
            plan::Change::StoryAdded { story } | plan::Change::StoryDeleted { story } => Some(story.id),
            plan::Change::StoryChanged { story, .. } => Some(*story),
            plan::Change::DependencyAdded { dependency } | plan::Change::DependencyRemoved { dependency } => {
                match dependency.edge {
                    plan::Edge::Story { from, .. } => Some(from),
                    plan::Edge::Epic { .. } => None,
                }
            }
            _ => None,
        },
        Change::Work(change) => match change {
            work::Change::Moved { story, .. }
            | work::Change::ReviewRequested { story, .. }
            | work::Change::CriterionJudged { story, .. } => Some(*story),
            work::Change::Reviewed { review } => Some(review.story),
            work::Change::Judged { verification } => Some(verification.story),
            work::Change::ArtifactReported { artifact } => Some(artifact.story),
            work::Change::EpicCompleted { .. } => None,
        },
        Change::Custody(change) => match change {
            custody::Change::DispatchOpened { dispatch } => dispatch.story,
            custody::Change::TokenMinted { token } => Some(token.story),
            custody::Change::TokenConsumed { story, .. } | custody::Change::ViolationClosed { story, .. } => {
                Some(*story)
            }
            custody::Change::ViolationSeen { violation } => Some(violation.story),
            _ => None,
        },
        _ => None,
    }
}
