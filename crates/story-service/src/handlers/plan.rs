//! Projects and epics.

use crate::asked::{Asked, Look, Reply};
use crate::resolve::{epic_in_path, project_in_path};
use crate::route::Kind::{Boolean, Integer, Object, Text};
use crate::route::{PAGE, Route, Who, needs, takes};
use crate::views;
use serde_json::{Value, json};
use windlass_control_api::stories::Method::{Delete, Patch, Post};
use windlass_protocols::protocol::story_queue::decide::{Decided, Draft};
use windlass_protocols::protocol::story_queue::ledger::Ledger;
use windlass_protocols::protocol::story_queue::plan::{
    self, AddEpic, CentiHours, CreateProject, EpicEdit, ProjectEdit, ProjectStatus,
};
use windlass_protocols::protocol::story_queue::refusal::Refusal;
use windlass_protocols::protocol::story_queue::vocabulary::{EpicId, KeyRole, ProjectId};

const READING: Who = Who::AtLeast(KeyRole::Agent);
const PLANNING: Who = Who::AtLeast(KeyRole::Orchestrator);
const DELETING: Who = Who::AtLeast(KeyRole::User);

pub(crate) const ROUTES: &[Route] = &[
    Route::write(Post, "/projects", PLANNING, "Create a project", create_project).body(&[
        needs("name", Text),
        takes("slug", Text),
        takes("repo_url", Text),
        takes("description", Text),
        takes("tech_stack", Text),
        takes("mission", Text),
        takes("metadata", Object),
    ]),
    Route::read("/projects", READING, "The tenant's projects", list_projects).query(&[
        PAGE[0],
        PAGE[1],
        takes("status", Text),
        takes("include_archived", Boolean),
    ]),
    Route::read("/projects/:id", READING, "One project, by id, slug or name", show_project),
    Route::write(Patch, "/projects/:id", PLANNING, "Change a project", change_project).body(&[
        takes("name", Text),
        takes("repo_url", Text),
        takes("description", Text),
        takes("tech_stack", Text),
        takes("mission", Text),
        takes("metadata", Object),
        takes("status", Text),
    ]),
    Route::write(Delete, "/projects/:id", DELETING, "Archive a project", archive_project),
    Route::read("/projects/:id/progress", READING, "How far a project is", project_progress)
        .query(&[takes("include_cost", Boolean)]),
    Route::read("/projects/:id/epics", READING, "A project's epics", list_epics).query(&PAGE),
    Route::write(Post, "/projects/:id/epics", PLANNING, "Add an epic", add_epic).body(&[
        needs("number", Integer),
        needs("title", Text),
        takes("description", Text),
        takes("phase", Text),
        takes("position", Integer),
        takes("metadata", Object),
    ]),
    Route::read("/epics/:id", READING, "One epic", show_epic),
    Route::write(Patch, "/epics/:id", PLANNING, "Change an epic", change_epic).body(&[
        takes("title", Text),
        takes("description", Text),
        takes("phase", Text),
        takes("position", Integer),
        takes("metadata", Object),
    ]),
    Route::write(Delete, "/epics/:id", DELETING, "Delete an epic with its stories", delete_epic),
    Route::read("/epics/:id/progress", READING, "How far an epic is", epic_progress),
];

fn create_project(draft: &mut Draft<'_>, asked: &Asked) -> Decided<Reply> {
    let name = asked.needed("name");
    let ask = CreateProject {
        slug: asked.owned("slug").unwrap_or_else(|| slug_of(&name)),
        name,
        repo_url: asked.owned("repo_url"),
        description: asked.owned("description"),
        tech_stack: asked.owned("tech_stack"),
        mission: asked.owned("mission"),
        metadata: asked.json("metadata").unwrap_or_default(),
    };
    let project = plan::create_project(draft, ask)?;
    Ok(Reply::created(json!({ "project": views::plan::project(&project) })))
}

/// What a name comes to where nobody chose a slug.
fn slug_of(name: &str) -> String {
    let plain = name.to_ascii_lowercase();
    let words: Vec<&str> =
        plain.split(|c: char| !c.is_ascii_alphanumeric()).filter(|word| !word.is_empty()).collect();
    words.join("-")
}

fn list_projects(look: &Look<'_>, asked: &Asked) -> Decided<Reply> {
    let all = asked.query_flag("include_archived")?;
    let status = asked.query("status");
    let wanted = |project: &&plan::Project| match status {
        Some(status) => project.status.name() == status,
        None => all || project.status == ProjectStatus::Active,
    };
    let projects: Vec<_> = look.ledger.plan.projects().filter(wanted).collect();
    Ok(Reply::ok(asked.page(20, 100)?.of(&projects, |project| views::plan::project(project))))
}

fn found_project(ledger: &Ledger, id: ProjectId) -> Decided<Value> {
    let project = ledger.plan.project(id).ok_or_else(|| Refusal::not_found("project"))?;
    Ok(json!({ "project": views::plan::project(project) }))
}

fn show_project(look: &Look<'_>, asked: &Asked) -> Decided<Reply> {
    Ok(Reply::ok(found_project(look.ledger, project_in_path(look.ledger, asked)?)?))
}

fn change_project(draft: &mut Draft<'_>, asked: &Asked) -> Decided<Reply> {
    let id = project_in_path(draft.ledger(), asked)?;
    let status = match asked.text("status") {
        None => None,
        Some("active") => Some(ProjectStatus::Active),
        Some("archived") => Some(ProjectStatus::Archived),
        Some(_) => return Err(Refusal::field("status", "must be active or archived")),
    };
    let now = ProjectEdit {
        name: asked.owned("name"),
        repo_url: asked.owned("repo_url"),
        description: asked.owned("description"),
        tech_stack: asked.owned("tech_stack"),
        mission: asked.owned("mission"),
        metadata: asked.json("metadata"),
        status,
    };
    plan::change_project(draft, id, now)?;
    Ok(Reply::ok(found_project(draft.ledger(), id)?))
}

fn archive_project(draft: &mut Draft<'_>, asked: &Asked) -> Decided<Reply> {
    let id = project_in_path(draft.ledger(), asked)?;
    plan::archive_project(draft, id)?;
    Ok(Reply::ok(found_project(draft.ledger(), id)?))
}

fn project_progress(look: &Look<'_>, asked: &Asked) -> Decided<Reply> {
    let id = project_in_path(look.ledger, asked)?;
    let counts = look.ledger.work.progress(id);
    let mut shown = views::plan::progress(&counts);
    let epics: Vec<EpicId> = look.ledger.plan.epics_of(id).map(|epic| epic.id).collect();
    let completed = epics.iter().filter(|epic| look.ledger.work.is_complete(**epic)).count();
    let hours =
        |hundredths: u64| views::plan::hours(CentiHours(u32::try_from(hundredths).unwrap_or(u32::MAX)));
    shown.insert("project_id".into(), json!(id));
    shown.insert("total_epics".into(), json!(epics.len()));
    shown.insert("epics_completed".into(), json!(completed));
    shown.insert("estimated_hours_total".into(), hours(counts.hours_total));
    shown.insert("estimated_hours_completed".into(), hours(counts.hours_verified));
    shown.insert("ready_stories".into(), json!(look.ledger.work.ready(Some(id)).len()));
    shown.insert("blocked_stories".into(), json!(look.ledger.work.blocked(Some(id)).len()));
    shown.insert("awaiting_verification".into(), json!(look.ledger.work.awaiting_verdict(Some(id)).len()));
    Ok(Reply::ok(json!({ "progress": shown })))
}

fn list_epics(look: &Look<'_>, asked: &Asked) -> Decided<Reply> {
    let id = project_in_path(look.ledger, asked)?;
    let epics: Vec<_> = look.ledger.plan.epics_of(id).collect();
    Ok(Reply::ok(asked.page(20, 100)?.of(&epics, |epic| views::plan::epic(epic))))
}

pub(crate) fn small(name: &str, number: u64) -> Decided<u32> {
    u32::try_from(number).map_err(|_| Refusal::field(name, "is too large"))
}

fn add_epic(draft: &mut Draft<'_>, asked: &Asked) -> Decided<Reply> {
    let project = project_in_path(draft.ledger(), asked)?;
    let number = asked.number("number")?.map(|number| small("number", number)).transpose()?;
    let ask = AddEpic {
        project,
        number: number.unwrap_or(0),
        title: asked.needed("title"),
        description: asked.owned("description"),
        phase: asked.owned("phase"),
        position: asked.number("position")?.map(|number| small("position", number)).transpose()?,
        metadata: asked.json("metadata").unwrap_or_default(),
    };
    let epic = plan::add_epic(draft, ask)?;
    Ok(Reply::created(json!({ "epic": views::plan::epic(&epic) })))
}

fn found_epic(ledger: &Ledger, id: EpicId) -> Decided<Value> {
    let epic = ledger.plan.epic(id).ok_or_else(|| Refusal::not_found("epic"))?;
    Ok(json!({ "epic": views::plan::epic(epic) }))
}

fn show_epic(look: &Look<'_>, asked: &Asked) -> Decided<Reply> {
    Ok(Reply::ok(found_epic(look.ledger, epic_in_path(look.ledger, asked)?)?))
}

fn change_epic(draft: &mut Draft<'_>, asked: &Asked) -> Decided<Reply> {
    let id = epic_in_path(draft.ledger(), asked)?;
    let now = EpicEdit {
        title: asked.owned("title"),
        description: asked.owned("description"),
        phase: asked.owned("phase"),
        position: asked.number("position")?.map(|number| small("position", number)).transpose()?,
        metadata: asked.json("metadata"),
    };
    plan::change_epic(draft, id, now)?;
    Ok(Reply::ok(found_epic(draft.ledger(), id)?))
}

fn delete_epic(draft: &mut Draft<'_>, asked: &Asked) -> Decided<Reply> {
    let id = epic_in_path(draft.ledger(), asked)?;
    plan::delete_epic(draft, id)?;
    Ok(Reply::ok(json!({ "deleted": id })))
}

fn epic_progress(look: &Look<'_>, asked: &Asked) -> Decided<Reply> {
    let id = epic_in_path(look.ledger, asked)?;
    let mut shown = views::plan::progress(&look.ledger.work.progress_of_epic(id));
    shown.insert("epic_id".into(), json!(id));
    shown.insert("completed".into(), json!(look.ledger.work.is_complete(id)));
    Ok(Reply::ok(json!({ "progress": shown })))
}
