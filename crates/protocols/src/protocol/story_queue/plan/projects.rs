//! Projects: made and changed by orchestrators, archived by users.

use super::changes::{Change, ProjectEdit};
use super::entities::{Project, ProjectStatus};
use crate::protocol::story_queue::decide::{Decided, Draft};
use crate::protocol::story_queue::facts;
use crate::protocol::story_queue::refusal::{Kind, Refusal};
use crate::protocol::story_queue::refusal_code::RefusalCode;
use crate::protocol::story_queue::registry;
use crate::protocol::story_queue::vocabulary::{JsonText, KeyRole, ProjectId};
use alloc::boxed::Box;
use alloc::format;
use alloc::string::String;

pub(super) const LONGEST_TITLE: usize = 500;
pub(super) const LONGEST_DESCRIPTION: usize = 50_000;
const LONGEST_MISSION: usize = 2000;

#[derive(Clone, Debug, Default)]
pub struct CreateProject {
    pub name: String,
    pub slug: String,
    pub repo_url: Option<String>,
    pub description: Option<String>,
    pub tech_stack: Option<String>,
    pub mission: Option<String>,
    pub metadata: JsonText,
}

pub fn create_project(draft: &mut Draft, ask: CreateProject) -> Decided<Project> {
    draft.caller().require_at_least(KeyRole::Orchestrator)?;
    required("name", &ask.name, 255)?;
    registry::require_slug(&ask.slug)?;
    at_most("mission", ask.mission.as_deref(), LONGEST_MISSION)?;
    at_most("description", ask.description.as_deref(), LONGEST_DESCRIPTION)?;
    let ledger = draft.ledger();
    if ledger.plan.project_by_slug(&ask.slug).is_some() {
        let why = format!("another project has the slug {}", ask.slug);
        return Err(Refusal::new(Kind::Conflict, why).with_detail("slug", "has already been taken"));
    }
    let limit = ledger.tenancy.settings.max_projects;
    let active = ledger.plan.projects().filter(|project| project.status == ProjectStatus::Active).count();
    if u64::try_from(active).unwrap_or(u64::MAX) >= limit {
        let why = format!("the tenant has its {limit} projects (max_projects)");
        return Err(Refusal::new(Kind::Invalid, why).with_code(RefusalCode::LimitReached));
    }
    let project = Project {
        id: ProjectId(draft.ids().fresh()),
        name: ask.name,
        slug: ask.slug,
        repo_url: filled(ask.repo_url),
        description: filled(ask.description),
        tech_stack: filled(ask.tech_stack),
        mission: filled(ask.mission),
        metadata: ask.metadata,
        status: ProjectStatus::Active,
        created: draft.at(),
        updated: draft.at(),
    };
    let change = Change::ProjectCreated { project: Box::new(project.clone()) };
    draft.record(Some(project.id), facts::Change::Plan(change));
    Ok(project)
}

pub fn change_project(draft: &mut Draft, id: ProjectId, now: ProjectEdit) -> Decided<Project> {
    draft.caller().require_at_least(KeyRole::Orchestrator)?;
    if now.status.is_some() {
        // Archiving takes a project out of sight; that is a destructive act.
        draft.caller().require_at_least(KeyRole::User)?;
    }
    if let Some(name) = &now.name {
        required("name", name, 255)?;
    }
    at_most("mission", now.mission.as_deref(), LONGEST_MISSION)?;
    at_most("description", now.description.as_deref(), LONGEST_DESCRIPTION)?;
    let project = draft.ledger().plan.project(id).ok_or_else(|| Refusal::not_found("project"))?;
    let was = project.before(&now);
    if was != now {
        draft.record(Some(id), facts::Change::Plan(Change::ProjectChanged { project: id, was, now }));
    }
    draft.ledger().plan.project(id).cloned().ok_or_else(|| Refusal::not_found("project"))
}

pub fn archive_project(draft: &mut Draft, id: ProjectId) -> Decided<Project> {
    draft.caller().require_at_least(KeyRole::User)?;
    let now = ProjectEdit { status: Some(ProjectStatus::Archived), ..ProjectEdit::default() };
    change_project(draft, id, now)
}

pub(super) fn filled(text: Option<String>) -> Option<String> {
    text.filter(|text| !text.is_empty())
}

pub(super) fn required(field: &str, text: &str, longest: usize) -> Decided<()> {
    if text.trim().is_empty() {
        return Err(Refusal::field(field, "can't be blank"));
    }
    at_most(field, Some(text), longest)
}

pub(super) fn at_most(field: &str, text: Option<&str>, longest: usize) -> Decided<()> {
    // Bytes bound characters, so the count is only taken where it can matter.
    if text.is_some_and(|text| text.len() > longest && text.chars().count() > longest) {
        return Err(Refusal::field(field, &format!("should be at most {longest} character(s)")));
    }
    Ok(())
}
