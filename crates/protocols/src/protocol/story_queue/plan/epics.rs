//! Epics: added and changed by orchestrators, deleted with their stories by users.

use super::changes::{Change, EpicEdit};
use super::dependencies::drop_edges_of_epic;
use super::entities::Epic;
use super::projects::{LONGEST_DESCRIPTION, LONGEST_TITLE, at_most, filled, required};
use super::stories::{delete_story, require_not_held};
use crate::protocol::story_queue::decide::{Decided, Draft};
use crate::protocol::story_queue::facts;
use crate::protocol::story_queue::refusal::{Kind, Refusal};
use crate::protocol::story_queue::vocabulary::{EpicId, JsonText, KeyRole, ProjectId, StoryId};
use alloc::boxed::Box;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

#[derive(Clone, Debug, Default)]
pub struct AddEpic {
    pub project: ProjectId,
    pub number: u32,
    pub title: String,
    pub description: Option<String>,
    pub phase: Option<String>,
    pub position: Option<u32>,
    pub metadata: JsonText,
}

pub fn add_epic(draft: &mut Draft, ask: AddEpic) -> Decided<Epic> {
    draft.caller().require_at_least(KeyRole::Orchestrator)?;
    let plan = &draft.ledger().plan;
    if plan.project(ask.project).is_none() {
        return Err(Refusal::not_found("project"));
    }
    if ask.number == 0 {
        return Err(Refusal::field("number", "must be greater than 0"));
    }
    required("title", &ask.title, LONGEST_TITLE)?;
    at_most("description", ask.description.as_deref(), LONGEST_DESCRIPTION)?;
    at_most("phase", ask.phase.as_deref(), LONGEST_TITLE)?;
    if plan.epic_by_number(ask.project, ask.number).is_some() {
        let why = format!("the project already has an epic {}", ask.number);
        return Err(Refusal::new(Kind::Conflict, why).with_detail("number", "has already been taken"));
    }
    Ok(keep_epic(draft, ask))
}

/// After every check, here and in the import.
pub(super) fn keep_epic(draft: &mut Draft, ask: AddEpic) -> Epic {
    let epic = Epic {
        id: EpicId(draft.ids().fresh()),
        project: ask.project,
        number: ask.number,
        title: ask.title,
        description: filled(ask.description),
        phase: filled(ask.phase),
        position: ask.position.unwrap_or(0),
        metadata: ask.metadata,
        created: draft.at(),
        updated: draft.at(),
    };
    let change = Change::EpicAdded { epic: Box::new(epic.clone()) };
    draft.record(Some(epic.project), facts::Change::Plan(change));
    epic
}

pub fn change_epic(draft: &mut Draft, id: EpicId, now: EpicEdit) -> Decided<Epic> {
    draft.caller().require_at_least(KeyRole::Orchestrator)?;
    if let Some(title) = &now.title {
        required("title", title, LONGEST_TITLE)?;
    }
    at_most("description", now.description.as_deref(), LONGEST_DESCRIPTION)?;
    at_most("phase", now.phase.as_deref(), LONGEST_TITLE)?;
    let epic = draft.ledger().plan.epic(id).ok_or_else(|| Refusal::not_found("epic"))?;
    let (project, was) = (epic.project, epic.before(&now));
    if was != now {
        draft.record(Some(project), facts::Change::Plan(Change::EpicChanged { epic: id, was, now }));
    }
    draft.ledger().plan.epic(id).cloned().ok_or_else(|| Refusal::not_found("epic"))
}

pub fn delete_epic(draft: &mut Draft, id: EpicId) -> Decided<()> {
    draft.caller().require_at_least(KeyRole::User)?;
    let plan = &draft.ledger().plan;
    let epic = plan.epic(id).cloned().ok_or_else(|| Refusal::not_found("epic"))?;
    let stories: Vec<StoryId> = plan.stories_of(id).map(|story| story.id).collect();
    let project = epic.project;
    for story in &stories {
        require_not_held(draft, *story)?;
    }
    for story in &stories {
        delete_story(draft, *story)?;
    }
    drop_edges_of_epic(draft, id);
    let change = Change::EpicDeleted { epic: Box::new(epic), stories };
    draft.record(Some(project), facts::Change::Plan(change));
    Ok(())
}
