//! The plan's fold and what can be asked of it.

use super::State;
use super::changes::{Change, EpicEdit, ProjectEdit, StoryEdit};
use super::entities::{Dependency, Edge, Epic, Project, Story, StoryNumber};
use crate::protocol::story_queue::facts::Entry;
use crate::protocol::story_queue::vocabulary::{DependencyId, EpicId, Micros, ProjectId, StoryId};
use alloc::collections::{BTreeMap, BTreeSet};
use alloc::string::String;
use alloc::vec::Vec;

impl State {
    pub fn project(&self, id: ProjectId) -> Option<&Project> {
        self.projects.get(&id)
    }

    pub fn project_by_slug(&self, slug: &str) -> Option<&Project> {
        self.projects_by_slug.get(slug).and_then(|id| self.projects.get(id))
    }

    /// In order of creation.
    pub fn projects(&self) -> impl DoubleEndedIterator<Item = &Project> {
        self.projects.values()
    }

    pub fn epic(&self, id: EpicId) -> Option<&Epic> {
        self.epics.get(&id)
    }

    pub fn epic_by_number(&self, project: ProjectId, number: u32) -> Option<&Epic> {
        self.epics_by_number.get(&(project, number)).and_then(|id| self.epics.get(id))
    }

    /// By number.
    pub fn epics_of(&self, project: ProjectId) -> impl DoubleEndedIterator<Item = &Epic> {
        let range = (project, 0)..=(project, u32::MAX);
        self.epics_by_number.range(range).filter_map(|(_, id)| self.epics.get(id))
    }

    pub fn story(&self, id: StoryId) -> Option<&Story> {
        self.stories.get(&id)
    }

    pub fn story_by_number(&self, project: ProjectId, number: StoryNumber) -> Option<&Story> {
        self.stories_by_number.get(&(project, number)).and_then(|id| self.stories.get(id))
    }

    /// Everywhere in the tenant, for who names a story without its project.
    pub fn stories_numbered(&self, number: StoryNumber) -> impl Iterator<Item = &Story> {
        self.projects.keys().filter_map(move |project| self.story_by_number(*project, number))
    }

    /// By number.
    pub fn stories_of_project(&self, project: ProjectId) -> impl DoubleEndedIterator<Item = &Story> {
        let first = StoryNumber { major: 0, minor: None };
        let last = StoryNumber { major: u16::MAX, minor: Some(u16::MAX) };
        let range = (project, first)..=(project, last);
        self.stories_by_number.range(range).filter_map(|(_, id)| self.stories.get(id))
    }

    /// By number.
    pub fn stories_of(&self, epic: EpicId) -> impl DoubleEndedIterator<Item = &Story> {
        self.stories_by_epic.get(&epic).into_iter().flatten().filter_map(|(_, id)| self.stories.get(id))
    }

    pub fn dependency(&self, id: DependencyId) -> Option<&Dependency> {
        self.dependencies.get(&id)
    }

    pub fn dependency_of(&self, edge: Edge) -> Option<&Dependency> {
        self.edges.get(&edge).and_then(|id| self.dependencies.get(id))
    }

    /// In order of creation.
    pub fn dependencies_of(&self, project: ProjectId) -> impl Iterator<Item = &Dependency> {
        self.dependencies.values().filter(move |dependency| dependency.project == project)
    }

    /// What the story waits for, by its own edges.
    pub fn story_needs(&self, story: StoryId) -> impl Iterator<Item = StoryId> {
        self.story_needs.get(&story).into_iter().flatten().copied()
    }

    pub fn story_serves(&self, story: StoryId) -> impl Iterator<Item = StoryId> {
        self.story_serves.get(&story).into_iter().flatten().copied()
    }

    pub fn epic_needs(&self, epic: EpicId) -> impl Iterator<Item = EpicId> {
        self.epic_needs.get(&epic).into_iter().flatten().copied()
    }

    pub fn epic_serves(&self, epic: EpicId) -> impl Iterator<Item = EpicId> {
        self.epic_serves.get(&epic).into_iter().flatten().copied()
    }

    pub fn evolve(&mut self, entry: &Entry, change: &Change) {
        match change {
            Change::ProjectCreated { project } => {
                self.projects_by_slug.insert(project.slug.clone(), project.id);
                self.projects.insert(project.id, (**project).clone());
            }
            Change::ProjectChanged { project, now, .. } => {
                if let Some(project) = self.projects.get_mut(project) {
                    project.apply(now, entry.at);
                }
            }
            Change::EpicAdded { epic } => {
                self.epics_by_number.insert((epic.project, epic.number), epic.id);
                self.epics.insert(epic.id, (**epic).clone());
            }
            Change::EpicChanged { epic, now, .. } => {
                if let Some(epic) = self.epics.get_mut(epic) {
                    epic.apply(now, entry.at);
                }
            }
            Change::EpicDeleted { epic, stories } => self.drop_epic(epic, stories),
            Change::StoryAdded { story } => {
                self.stories_by_number.insert((story.project, story.number), story.id);
                self.stories_by_epic.entry(story.epic).or_default().insert((story.number, story.id));
                self.stories.insert(story.id, (**story).clone());
            }
            Change::StoryChanged { story, now, .. } => {
                if let Some(story) = self.stories.get_mut(story) {
                    story.apply(now, entry.at);
                }
            }
            Change::StoryDeleted { story } => self.drop_story(story.id),
            Change::DependencyAdded { dependency } => self.add_edge(dependency),
            Change::DependencyRemoved { dependency } => self.drop_edge(dependency.edge),
            Change::Imported { .. } => {}
        }
    }

    fn drop_epic(&mut self, epic: &Epic, stories: &[StoryId]) {
        for story in stories {
            self.drop_story(*story);
        }
        let needs = self.epic_needs(epic.id).map(|on| Edge::Epic { from: epic.id, on });
        let serves = self.epic_serves(epic.id).map(|from| Edge::Epic { from, on: epic.id });
        let edges: Vec<Edge> = needs.chain(serves).collect();
        for edge in edges {
            self.drop_edge(edge);
        }
        self.epics_by_number.remove(&(epic.project, epic.number));
        self.stories_by_epic.remove(&epic.id);
        self.epics.remove(&epic.id);
    }

    fn drop_story(&mut self, id: StoryId) {
        let needs = self.story_needs(id).map(|on| Edge::Story { from: id, on });
        let serves = self.story_serves(id).map(|from| Edge::Story { from, on: id });
        let edges: Vec<Edge> = needs.chain(serves).collect();
        for edge in edges {
            self.drop_edge(edge);
        }
        if let Some(story) = self.stories.remove(&id) {
            self.stories_by_number.remove(&(story.project, story.number));
            if let Some(siblings) = self.stories_by_epic.get_mut(&story.epic) {
                siblings.remove(&(story.number, id));
            }
        }
    }

    fn add_edge(&mut self, dependency: &Dependency) {
        self.dependencies.insert(dependency.id, *dependency);
        self.edges.insert(dependency.edge, dependency.id);
        match dependency.edge {
            Edge::Story { from, on } => {
                self.story_needs.entry(from).or_default().insert(on);
                self.story_serves.entry(on).or_default().insert(from);
            }
            Edge::Epic { from, on } => {
                self.epic_needs.entry(from).or_default().insert(on);
                self.epic_serves.entry(on).or_default().insert(from);
            }
        }
    }

    fn drop_edge(&mut self, edge: Edge) {
        if let Some(id) = self.edges.remove(&edge) {
            self.dependencies.remove(&id);
        }
        match edge {
            Edge::Story { from, on } => {
                forget(&mut self.story_needs, from, on);
                forget(&mut self.story_serves, on, from);
            }
            Edge::Epic { from, on } => {
                forget(&mut self.epic_needs, from, on);
                forget(&mut self.epic_serves, on, from);
            }
        }
    }
}

fn forget<Id: Ord>(map: &mut BTreeMap<Id, BTreeSet<Id>>, of: Id, what: Id) {
    if let Some(set) = map.get_mut(&of) {
        set.remove(&what);
        if set.is_empty() {
            map.remove(&of);
        }
    }
}

/// An empty text clears.
fn put(field: &mut Option<String>, now: Option<&String>) {
    if let Some(now) = now {
        *field = Some(now.clone()).filter(|now| !now.is_empty());
    }
}

fn replace<T: Clone>(field: &mut T, now: Option<&T>) {
    if let Some(now) = now {
        field.clone_from(now);
    }
}

fn text(field: Option<&String>) -> String {
    field.cloned().unwrap_or_default()
}

impl Project {
    fn apply(&mut self, now: &ProjectEdit, at: Micros) {
        replace(&mut self.name, now.name.as_ref());
        put(&mut self.repo_url, now.repo_url.as_ref());
        put(&mut self.description, now.description.as_ref());
        put(&mut self.tech_stack, now.tech_stack.as_ref());
        put(&mut self.mission, now.mission.as_ref());
        replace(&mut self.metadata, now.metadata.as_ref());
        replace(&mut self.status, now.status.as_ref());
        self.updated = at;
    }

    /// The fields an edit names, as they are now.
    pub(super) fn before(&self, now: &ProjectEdit) -> ProjectEdit {
        ProjectEdit {
            name: now.name.as_ref().map(|_| self.name.clone()),
            repo_url: now.repo_url.as_ref().map(|_| text(self.repo_url.as_ref())),
            description: now.description.as_ref().map(|_| text(self.description.as_ref())),
            tech_stack: now.tech_stack.as_ref().map(|_| text(self.tech_stack.as_ref())),
            mission: now.mission.as_ref().map(|_| text(self.mission.as_ref())),
            metadata: now.metadata.as_ref().map(|_| self.metadata.clone()),
            status: now.status.map(|_| self.status),
        }
    }
}

impl Epic {
    fn apply(&mut self, now: &EpicEdit, at: Micros) {
        replace(&mut self.title, now.title.as_ref());
        put(&mut self.description, now.description.as_ref());
        put(&mut self.phase, now.phase.as_ref());
        replace(&mut self.position, now.position.as_ref());
        replace(&mut self.metadata, now.metadata.as_ref());
        self.updated = at;
    }

    pub(super) fn before(&self, now: &EpicEdit) -> EpicEdit {
        EpicEdit {
            title: now.title.as_ref().map(|_| self.title.clone()),
            description: now.description.as_ref().map(|_| text(self.description.as_ref())),
            phase: now.phase.as_ref().map(|_| text(self.phase.as_ref())),
            position: now.position.map(|_| self.position),
            metadata: now.metadata.as_ref().map(|_| self.metadata.clone()),
        }
    }
}

impl Story {
    fn apply(&mut self, now: &StoryEdit, at: Micros) {
        if self.rewords(now) {
            self.wording += 1;
        }
        replace(&mut self.title, now.title.as_ref());
        put(&mut self.description, now.description.as_ref());
        replace(&mut self.criteria, now.criteria.as_ref());
        if now.estimated_hours.is_some() {
            self.estimated_hours = now.estimated_hours;
        }
        replace(&mut self.metadata, now.metadata.as_ref());
        self.updated = at;
    }

    /// The edit makes another wording. The description is no part of the number, or contracts in journals of older versions would
    /// be of no wording there is; an edit of it voids a contract by an entry of its own.
    fn rewords(&self, now: &StoryEdit) -> bool {
        now.title.as_ref().is_some_and(|title| *title != self.title)
            || now.criteria.as_ref().is_some_and(|criteria| *criteria != self.criteria)
    }

    pub(super) fn before(&self, now: &StoryEdit) -> StoryEdit {
        StoryEdit {
            title: now.title.as_ref().map(|_| self.title.clone()),
            description: now.description.as_ref().map(|_| text(self.description.as_ref())),
            criteria: now.criteria.as_ref().map(|_| self.criteria.clone()),
            estimated_hours: now.estimated_hours.map(|_| self.estimated_hours.unwrap_or_default()),
            metadata: now.metadata.as_ref().map(|_| self.metadata.clone()),
        }
    }
}
