//! A list of stories in the order it is shown, and how many of each project are in it, known without counting: a page of a
//! long list costs what a page of a short one does.

use super::Place;
use crate::protocol::story_queue::plan::StoryNumber;
use crate::protocol::story_queue::vocabulary::{ProjectId, StoryId};
use alloc::collections::{BTreeMap, BTreeSet};

#[derive(Clone, Debug, Default)]
pub(super) struct Places {
    all: BTreeSet<Place>,
    of_project: BTreeMap<ProjectId, usize>,
}

impl Places {
    /// Puts the story in, or takes it out.
    pub(super) fn list(&mut self, place: Place, belongs: bool) {
        let count = self.of_project.entry(place.0).or_insert(0);
        if belongs && self.all.insert(place) {
            *count += 1;
        } else if !belongs && self.all.remove(&place) {
            *count = count.saturating_sub(1);
        }
    }

    pub(super) const fn within(&self, project: Option<ProjectId>) -> Listed<'_> {
        Listed { places: self, project }
    }
}

/// Such a list, of one project or of the whole tenant.
#[derive(Clone, Copy, Debug)]
pub struct Listed<'a> {
    places: &'a Places,
    project: Option<ProjectId>,
}

impl<'a> Listed<'a> {
    pub fn len(self) -> usize {
        match self.project {
            Some(project) => self.places.of_project.get(&project).copied().unwrap_or(0),
            None => self.places.all.len(),
        }
    }

    pub fn is_empty(self) -> bool {
        self.len() == 0
    }

    pub fn contains(self, place: &Place) -> bool {
        self.project.is_none_or(|project| place.0 == project) && self.places.all.contains(place)
    }

    /// By number.
    pub fn iter(self) -> impl Iterator<Item = &'a Place> {
        let first = StoryNumber { major: 0, minor: None };
        let from = (self.project.unwrap_or_default(), first, StoryId::default());
        let within = move |place: &&Place| self.project.is_none_or(|project| place.0 == project);
        self.places.all.range(from..).take_while(within)
    }
}
