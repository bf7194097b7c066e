//! What is to be done: projects, epics, stories with criteria, and what depends on what.
//! Where a story stands is the `work` area's.

mod changes;
mod circles;
mod dependencies;
mod entities;
mod epics;
mod import;
mod import_checks;
mod projects;
mod state;
mod stories;

use alloc::collections::{BTreeMap, BTreeSet};
use alloc::string::String;

use super::vocabulary::{DependencyId, EpicId, ProjectId, StoryId};

pub use changes::{Change, EpicEdit, ImportCounts, ImportMode, ProjectEdit, StoryEdit};
pub use dependencies::{depend, undepend};
pub use entities::{
    CentiHours, Criterion, CriterionStatus, Dependency, Edge, Epic, NotANumber, Project, ProjectStatus,
    Story, StoryNumber,
};
pub use epics::{AddEpic, add_epic, change_epic, delete_epic};
pub use import::{Import, ImportEdge, ImportEpic, ImportReport, ImportStory, InitialStatus, Orphan, import};
pub use import_checks::import_invalid;
pub use projects::{CreateProject, archive_project, change_project, create_project};
pub use stories::{AddStory, EditForce, add_story, change_story, delete_story};

#[derive(Clone, Debug, Default)]
pub struct State {
    projects: BTreeMap<ProjectId, Project>,
    projects_by_slug: BTreeMap<String, ProjectId>,
    epics: BTreeMap<EpicId, Epic>,
    epics_by_number: BTreeMap<(ProjectId, u32), EpicId>,
    stories: BTreeMap<StoryId, Story>,
    stories_by_number: BTreeMap<(ProjectId, StoryNumber), StoryId>,
    stories_by_epic: BTreeMap<EpicId, BTreeSet<(StoryNumber, StoryId)>>,
    dependencies: BTreeMap<DependencyId, Dependency>,
    edges: BTreeMap<Edge, DependencyId>,
    story_needs: BTreeMap<StoryId, BTreeSet<StoryId>>,
    story_serves: BTreeMap<StoryId, BTreeSet<StoryId>>,
    epic_needs: BTreeMap<EpicId, BTreeSet<EpicId>>,
    epic_serves: BTreeMap<EpicId, BTreeSet<EpicId>>,
}
