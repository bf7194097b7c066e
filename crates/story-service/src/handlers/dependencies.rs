//! What waits for what.

use crate::asked::{Asked, Look, Reply};
use crate::resolve::{epic, epic_in_path, project_in_path, story};
use crate::route::Kind::Text;
use crate::route::{Route, Who, needs, takes};
use crate::views;
use serde_json::{Value, json};
use windlass_control_api::stories::Method::{Delete, Post};
use windlass_protocols::protocol::story_queue::decide::{Decided, Draft};
use windlass_protocols::protocol::story_queue::plan::{self, Edge};
use windlass_protocols::protocol::story_queue::vocabulary::{DependencyId, KeyRole};

const READING: Who = Who::AtLeast(KeyRole::Agent);
const PLANNING: Who = Who::AtLeast(KeyRole::Orchestrator);
const DELETING: Who = Who::AtLeast(KeyRole::User);

pub(crate) const ROUTES: &[Route] = &[
    Route::write(Post, "/story_dependencies", PLANNING, "Let a story wait for another", add_story).body(&[
        needs("story_id", Text),
        needs("depends_on_story_id", Text),
        takes("project_id", Text),
        takes("project", Text),
    ]),
    Route::write(Post, "/epic_dependencies", PLANNING, "Let an epic wait for another", add_epic).body(&[
        needs("epic_id", Text),
        needs("depends_on_epic_id", Text),
        takes("project_id", Text),
        takes("project", Text),
    ]),
    Route::write(Delete, "/story_dependencies/:id", DELETING, "Let a story wait no longer", remove),
    Route::write(Delete, "/epic_dependencies/:id", DELETING, "Let an epic wait no longer", remove),
    Route::read("/projects/:id/dependency_graph", READING, "Epics with their stories, and every edge", graph),
    Route::read("/projects/:id/epic_dependencies", READING, "Which epics wait for which", of_project),
    Route::read("/epics/:id/story_dependencies", READING, "What an epic's stories wait for", of_epic),
];

fn add_story(draft: &mut Draft<'_>, asked: &Asked) -> Decided<Reply> {
    let from = story(draft.ledger(), asked, &asked.needed("story_id"))?;
    let on = story(draft.ledger(), asked, &asked.needed("depends_on_story_id"))?;
    added(draft, Edge::Story { from, on })
}

fn add_epic(draft: &mut Draft<'_>, asked: &Asked) -> Decided<Reply> {
    let from = epic(draft.ledger(), asked, &asked.needed("epic_id"))?;
    let on = epic(draft.ledger(), asked, &asked.needed("depends_on_epic_id"))?;
    added(draft, Edge::Epic { from, on })
}

fn added(draft: &mut Draft<'_>, edge: Edge) -> Decided<Reply> {
    let dependency = plan::depend(draft, edge)?;
    Ok(Reply::created(json!({ "dependency": views::plan::dependency(draft.ledger(), &dependency) })))
}

fn remove(draft: &mut Draft<'_>, asked: &Asked) -> Decided<Reply> {
    let removed = plan::undepend(draft, asked.id::<DependencyId>("id", "dependency")?)?;
    Ok(Reply::ok(json!({ "deleted": removed.id })))
}

fn graph(look: &Look<'_>, asked: &Asked) -> Decided<Reply> {
    let project = project_in_path(look.ledger, asked)?;
    let plan = &look.ledger.plan;
    let node = |story: &plan::Story| {
        let standing = look.ledger.work.track(story.id).map(|track| track.standing).unwrap_or_default();
        json!({
            "id": story.id,
            "number": story.number.to_string(),
            "title": story.title,
            "agent_status": standing.agent.name(),
            "verified_status": standing.verified.name(),
        })
    };
    let epics: Vec<Value> = plan
        .epics_of(project)
        .map(|epic| {
            let stories: Vec<Value> = plan.stories_of(epic.id).map(node).collect();
            json!({ "id": epic.id, "number": epic.number, "title": epic.title, "stories": stories })
        })
        .collect();
    let mut story_edges = Vec::new();
    let mut epic_edges = Vec::new();
    for dependency in plan.dependencies_of(project) {
        match dependency.edge {
            Edge::Story { from, on } => story_edges.push(json!({ "from": from, "to": on })),
            Edge::Epic { from, on } => epic_edges.push(json!({ "from": from, "to": on })),
        }
    }
    Ok(Reply::ok(json!({ "graph": {
        "epics": epics, "story_dependencies": story_edges, "epic_dependencies": epic_edges,
    } })))
}

fn of_project(look: &Look<'_>, asked: &Asked) -> Decided<Reply> {
    let project = project_in_path(look.ledger, asked)?;
    let found: Vec<Value> = look
        .ledger
        .plan
        .dependencies_of(project)
        .filter(|dependency| matches!(dependency.edge, Edge::Epic { .. }))
        .map(|dependency| views::plan::dependency(look.ledger, dependency))
        .collect();
    Ok(Reply::ok(json!({ "data": found })))
}

fn of_epic(look: &Look<'_>, asked: &Asked) -> Decided<Reply> {
    let id = epic_in_path(look.ledger, asked)?;
    let plan = &look.ledger.plan;
    let edges = plan
        .stories_of(id)
        .flat_map(|story| plan.story_needs(story.id).map(move |on| Edge::Story { from: story.id, on }));
    let found: Vec<Value> = edges
        .filter_map(|edge| plan.dependency_of(edge))
        .map(|dependency| views::plan::dependency(look.ledger, dependency))
        .collect();
    Ok(Reply::ok(json!({ "data": found })))
}
