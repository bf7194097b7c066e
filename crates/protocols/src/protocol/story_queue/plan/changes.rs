//! What is journaled of the plan. Edits carry what was and what is, for the audit log shows both.

use super::entities::{CentiHours, Criterion, Dependency, Epic, Project, ProjectStatus, Story};
use crate::protocol::story_queue::vocabulary::{EpicId, JsonText, ProjectId, StoryId};
use alloc::boxed::Box;
use alloc::string::String;
use alloc::vec::Vec;
use serde::{Deserialize, Serialize};

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "what", rename_all = "kebab-case")]
pub enum Change {
    ProjectCreated {
        project: Box<Project>,
    },
    /// Also archiving: the status is one of the fields.
    ProjectChanged {
        project: ProjectId,
        was: ProjectEdit,
        now: ProjectEdit,
    },
    EpicAdded {
        epic: Box<Epic>,
    },
    EpicChanged {
        epic: EpicId,
        was: EpicEdit,
        now: EpicEdit,
    },
    /// Last, after its stories and every dependency on either.
    EpicDeleted {
        epic: Box<Epic>,
        stories: Vec<StoryId>,
    },
    StoryAdded {
        story: Box<Story>,
    },
    StoryChanged {
        story: StoryId,
        was: Box<StoryEdit>,
        now: Box<StoryEdit>,
    },
    StoryDeleted {
        story: Box<Story>,
    },
    DependencyAdded {
        dependency: Dependency,
    },
    DependencyRemoved {
        dependency: Dependency,
    },
    /// The summary after the single additions and changes.
    Imported {
        project: ProjectId,
        mode: ImportMode,
        counts: ImportCounts,
    },
}

/// Fields that are absent stay as they are; an empty text clears what may be absent.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct ProjectEdit {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub repo_url: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tech_stack: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mission: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub metadata: Option<JsonText>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub status: Option<ProjectStatus>,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct EpicEdit {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub phase: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub position: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub metadata: Option<JsonText>,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct StoryEdit {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub criteria: Option<Vec<Criterion>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub estimated_hours: Option<CentiHours>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub metadata: Option<JsonText>,
}

impl StoryEdit {
    /// From the fields as they were to those of `now`, other words are said: title, description or criteria.
    pub fn rewords(&self, now: &Self) -> bool {
        (&self.title, &self.description, &self.criteria) != (&now.title, &now.description, &now.criteria)
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ImportMode {
    /// Every number is new, or nothing happens.
    Fresh,
    /// Known numbers are updated, new ones added, nothing is removed and no status moves.
    Merge,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct ImportCounts {
    pub epics_created: u32,
    pub epics_updated: u32,
    pub stories_created: u32,
    pub stories_updated: u32,
    pub dependencies_created: u32,
    pub dependencies_existing: u32,
}
