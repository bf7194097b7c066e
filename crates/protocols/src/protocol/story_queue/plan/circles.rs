//! Both levels of waiting as one graph: stories wait for stories, and for whole epics because their own epic does. Nobody may wait
//! for themselves through it, however many stories and epics lie between.

use super::State;
use super::dependencies::path_between;
use super::entities::{Edge, StoryNumber};
use crate::protocol::story_queue::decide::Decided;
use crate::protocol::story_queue::refusal::{Kind, Refusal};
use crate::protocol::story_queue::refusal_code::RefusalCode;
use crate::protocol::story_queue::vocabulary::{EpicId, StoryId};
use alloc::collections::BTreeMap;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

/// By ids or by numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Waits<S, E> {
    Story(S),
    /// A story of the epic, also one that is added later.
    Any(E),
    /// Every story of the epic.
    All(E),
}

impl State {
    /// Epic 3 waits for epic 1, a story of 1 for one of 2, and that for one of 3: each edge alone is sound, and nothing could begin.
    pub(super) fn require_no_deadlock(&self, edge: Edge) -> Decided<()> {
        let (from, on) = match edge {
            Edge::Story { from, on } => (Waits::Story(from), Waits::Story(on)),
            Edge::Epic { from, on } => (Waits::Any(from), Waits::All(on)),
        };
        let Some(path) = path_between(on, from, |at| self.waits_for(at).into_iter()) else { return Ok(()) };
        let story = |id| self.story(id).map_or_else(String::new, |story| story.number.to_string());
        let epic = |id| self.epic(id).map_or(0, |epic| epic.number);
        let mut told: Vec<String> = path.into_iter().map(|at| at.told(story, epic)).collect();
        told.insert(0, from.told(story, epic));
        Err(deadlock(&told))
    }

    fn waits_for(&self, at: Waits<StoryId, EpicId>) -> Vec<Waits<StoryId, EpicId>> {
        match at {
            Waits::Story(id) => {
                let of_its_epic = self.story(id).map(|story| Waits::Any(story.epic));
                self.story_needs(id).map(Waits::Story).chain(of_its_epic).collect()
            }
            Waits::Any(epic) => self.epic_needs(epic).map(Waits::All).collect(),
            Waits::All(epic) => {
                let stories = self.stories_of(epic).map(|story| Waits::Story(story.id));
                stories.chain([Waits::Any(epic)]).collect()
            }
        }
    }
}

impl<S: Copy, E: Copy> Waits<S, E> {
    fn told(self, story: impl Fn(S) -> String, epic: impl Fn(E) -> u32) -> String {
        match self {
            Self::Story(id) => format!("story {}", story(id)),
            Self::Any(id) => format!("epic {}", epic(id)),
            Self::All(id) => format!("all of epic {}", epic(id)),
        }
    }
}

pub(super) fn deadlock(path: &[String]) -> Refusal {
    let told = path.join(" → ");
    Refusal::new(Kind::Invalid, format!("each would wait for the next, and none could begin: {told}"))
        .with_code(RefusalCode::CrossLevelDeadlock)
        .with_context("cycle", told)
}

/// The same graph from lists by number, for the import.
pub(super) fn by_number(
    stories: &BTreeMap<StoryNumber, Vec<StoryNumber>>,
    epics: &BTreeMap<u32, Vec<u32>>,
    epic_of: &BTreeMap<StoryNumber, u32>,
) -> BTreeMap<Waits<StoryNumber, u32>, Vec<Waits<StoryNumber, u32>>> {
    let mut waits: BTreeMap<_, Vec<_>> = BTreeMap::new();
    for (story, needs) in stories {
        waits.entry(Waits::Story(*story)).or_default().extend(needs.iter().copied().map(Waits::Story));
    }
    for (epic, needs) in epics {
        waits.entry(Waits::Any(*epic)).or_default().extend(needs.iter().copied().map(Waits::All));
        for whole in needs.iter().chain([epic]) {
            waits.entry(Waits::All(*whole)).or_insert_with(|| Vec::from([Waits::Any(*whole)]));
        }
    }
    for (story, epic) in epic_of {
        waits.entry(Waits::Story(*story)).or_default().push(Waits::Any(*epic));
        let all = waits.entry(Waits::All(*epic)).or_insert_with(|| Vec::from([Waits::Any(*epic)]));
        all.push(Waits::Story(*story));
    }
    waits
}

pub(super) fn told_by_number(path: &[Waits<StoryNumber, u32>]) -> Vec<String> {
    path.iter().map(|at| at.told(|number| number.to_string(), |number| number)).collect()
}
