//! Whole plans at once: fresh, or merged into what is there. Every complaint names the place in the payload, and a cycle is
//! told by numbers. All checks come before the first entry; then everything goes in, or nothing did.

use super::changes::{Change, EpicEdit, ImportCounts, ImportMode, StoryEdit};
use super::dependencies::keep_edge;
use super::entities::{CentiHours, Criterion, Edge, StoryNumber};
use super::epics::{AddEpic, keep_epic};
use super::import_checks::{Checked, check};
use super::stories::{AddStory, Rewording, keep_change, keep_story};
use crate::protocol::story_queue::custody;
use crate::protocol::story_queue::decide::{Decided, Draft};
use crate::protocol::story_queue::facts;
use crate::protocol::story_queue::refusal::Refusal;
use crate::protocol::story_queue::vocabulary::{EpicId, JsonText, KeyRole, ProjectId};
use crate::protocol::story_queue::work::{self, VerifiedStatus};
use alloc::collections::BTreeSet;
use alloc::string::String;
use alloc::vec::Vec;

#[derive(Clone, Debug)]
pub struct Import {
    pub project: ProjectId,
    pub mode: ImportMode,
    pub epics: Vec<ImportEpic>,
    pub story_dependencies: Vec<ImportEdge<StoryNumber>>,
    pub epic_dependencies: Vec<ImportEdge<u32>>,
    /// Needed where stories come in as verified.
    pub reason: Option<String>,
}

/// Absent fields are left alone in a merge. Only shapes were checked by whoever read the payload.
#[derive(Clone, Debug, Default)]
pub struct ImportEpic {
    pub number: u32,
    pub title: Option<String>,
    pub description: Option<String>,
    pub phase: Option<String>,
    pub position: Option<u32>,
    pub metadata: Option<JsonText>,
    pub stories: Vec<ImportStory>,
}

#[derive(Clone, Debug)]
pub struct ImportStory {
    pub number: StoryNumber,
    pub title: Option<String>,
    pub description: Option<String>,
    pub criteria: Option<Vec<Criterion>>,
    pub estimated_hours: Option<CentiHours>,
    pub metadata: Option<JsonText>,
    pub initial: InitialStatus,
}

/// How the author says a new story stands. Never applied in a merge.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum InitialStatus {
    #[default]
    Pending,
    /// Somebody else reviews and verifies it.
    ReportedDone,
    /// Only from a user or superadmin, with a reason.
    Verified,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ImportEdge<N> {
    pub from: N,
    pub on: N,
}

#[derive(Clone, Debug, Default)]
pub struct ImportReport {
    pub counts: ImportCounts,
    /// In the project and not in the payload of a merge.
    pub orphans: Vec<Orphan>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Orphan {
    pub number: StoryNumber,
    pub title: String,
}

pub fn import(draft: &mut Draft, ask: Import) -> Decided<ImportReport> {
    draft.caller().require_exactly(&[KeyRole::Orchestrator, KeyRole::User, KeyRole::Superadmin])?;
    if draft.ledger().plan.project(ask.project).is_none() {
        return Err(Refusal::not_found("project"));
    }
    if ask.brings_standings() {
        custody::require_going(draft)?;
        // Whoever brings a story as done counts as its reporter.
        if draft.caller().role == KeyRole::Orchestrator {
            draft.caller().require_agent()?;
        }
    }
    let checked = check(draft, &ask)?;
    if checked.rewordings.values().any(|rewording| *rewording != Rewording::Harmless) {
        custody::require_going(draft)?;
    }
    let orphans = orphans(draft, &ask);
    let (project, mode) = (ask.project, ask.mode);
    let counts = take_in(draft, ask, checked)?;
    draft.record(Some(project), facts::Change::Plan(Change::Imported { project, mode, counts }));
    Ok(ImportReport { counts, orphans })
}

fn orphans(draft: &Draft, ask: &Import) -> Vec<Orphan> {
    if ask.mode == ImportMode::Fresh {
        return Vec::new();
    }
    let named: BTreeSet<StoryNumber> =
        ask.epics.iter().flat_map(|epic| &epic.stories).map(|story| story.number).collect();
    let left = draft.ledger().plan.stories_of_project(ask.project);
    left.filter(|story| !named.contains(&story.number))
        .map(|story| Orphan { number: story.number, title: story.title.clone() })
        .collect()
}

fn take_in(draft: &mut Draft, ask: Import, mut checked: Checked) -> Decided<ImportCounts> {
    let mut counts = ImportCounts::default();
    let mut settled = Vec::new();
    for epic in ask.epics {
        let known = draft.ledger().plan.epic_by_number(ask.project, epic.number).map(|epic| epic.id);
        let id = take_epic(draft, ask.project, &epic, known, &mut counts);
        for story in epic.stories {
            let known = draft.ledger().plan.story_by_number(ask.project, story.number).map(|story| story.id);
            if let Some(known) = known {
                let rewording = checked.rewordings.remove(&known).unwrap_or(Rewording::Harmless);
                if keep_change(draft, known, story.edit(), rewording) {
                    counts.stories_updated += 1;
                }
                continue;
            }
            let initial = story.initial;
            let id = keep_story(draft, story.addition(id))?.id;
            counts.stories_created += 1;
            if ask.mode == ImportMode::Fresh && initial != InitialStatus::Pending {
                settled.push((id, initial));
            }
        }
    }
    take_edges(draft, ask.project, &ask.story_dependencies, &ask.epic_dependencies, &mut counts);
    for (id, initial) in settled {
        let (verified, reason) = match initial {
            InitialStatus::Verified => (VerifiedStatus::Verified, ask.reason.clone()),
            _ => (VerifiedStatus::Unverified, None),
        };
        work::import_standing(draft, id, verified, reason);
    }
    Ok(counts)
}

fn take_epic(
    draft: &mut Draft,
    project: ProjectId,
    epic: &ImportEpic,
    known: Option<EpicId>,
    counts: &mut ImportCounts,
) -> EpicId {
    let Some(id) = known else {
        counts.epics_created += 1;
        let add = AddEpic {
            project,
            number: epic.number,
            title: epic.title.clone().unwrap_or_default(),
            description: epic.description.clone(),
            phase: epic.phase.clone(),
            position: epic.position,
            metadata: epic.metadata.clone().unwrap_or_default(),
        };
        return keep_epic(draft, add).id;
    };
    let now = EpicEdit {
        title: epic.title.clone(),
        description: epic.description.clone(),
        phase: epic.phase.clone(),
        position: epic.position,
        metadata: epic.metadata.clone(),
    };
    let was = draft.ledger().plan.epic(id).map(|epic| epic.before(&now)).unwrap_or_default();
    if was != now {
        counts.epics_updated += 1;
        draft.record(Some(project), facts::Change::Plan(Change::EpicChanged { epic: id, was, now }));
    }
    id
}

fn take_edges(
    draft: &mut Draft,
    project: ProjectId,
    stories: &[ImportEdge<StoryNumber>],
    epics: &[ImportEdge<u32>],
    counts: &mut ImportCounts,
) {
    let plan = &draft.ledger().plan;
    let story = |number| plan.story_by_number(project, number).map(|story| story.id);
    let epic = |number| plan.epic_by_number(project, number).map(|epic| epic.id);
    let story_edge =
        |edge: &ImportEdge<StoryNumber>| Some(Edge::Story { from: story(edge.from)?, on: story(edge.on)? });
    let epic_edge = |edge: &ImportEdge<u32>| Some(Edge::Epic { from: epic(edge.from)?, on: epic(edge.on)? });
    let edges: Vec<Edge> =
        stories.iter().filter_map(story_edge).chain(epics.iter().filter_map(epic_edge)).collect();
    for edge in edges {
        if draft.ledger().plan.dependency_of(edge).is_some() {
            counts.dependencies_existing += 1;
        } else {
            counts.dependencies_created += 1;
            keep_edge(draft, project, edge);
        }
    }
}

impl Import {
    /// Some of its stories come as done; a merge moves nothing.
    fn brings_standings(&self) -> bool {
        let mut stories = self.epics.iter().flat_map(|epic| &epic.stories);
        self.mode == ImportMode::Fresh && stories.any(|story| story.initial != InitialStatus::Pending)
    }
}

impl ImportStory {
    pub(super) fn edit(&self) -> StoryEdit {
        StoryEdit {
            title: self.title.clone(),
            description: self.description.clone(),
            criteria: self.criteria.clone(),
            estimated_hours: self.estimated_hours,
            metadata: self.metadata.clone(),
        }
    }

    fn addition(self, epic: EpicId) -> AddStory {
        AddStory {
            epic,
            number: self.number,
            title: self.title.unwrap_or_default(),
            description: self.description,
            criteria: self.criteria.unwrap_or_default(),
            estimated_hours: self.estimated_hours,
            metadata: self.metadata.unwrap_or_default(),
        }
    }
}
