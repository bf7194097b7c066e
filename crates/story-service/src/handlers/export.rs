//! A project as one document: epics with their stories and where they stand, dependencies by number.

use crate::asked::{Asked, Look, Reply, moment};
use crate::resolve::project_in_path;
use crate::views;
use serde_json::{Value, json};
use windlass_protocols::protocol::story_queue::decide::Decided;
use windlass_protocols::protocol::story_queue::plan::Edge;
use windlass_protocols::protocol::story_queue::refusal::Refusal;

pub(crate) fn export(look: &Look<'_>, asked: &Asked) -> Decided<Reply> {
    let id = project_in_path(look.ledger, asked)?;
    let plan = &look.ledger.plan;
    let project = plan.project(id).ok_or_else(|| Refusal::not_found("project"))?;
    let epics: Vec<Value> = plan
        .epics_of(id)
        .map(|epic| {
            let mut shown = views::plan::epic(epic);
            let stories: Vec<Value> =
                plan.stories_of(epic.id).map(|story| views::plan::story(look.ledger, story)).collect();
            shown["stories"] = json!(stories);
            shown
        })
        .collect();
    let mut story_edges = Vec::new();
    let mut epic_edges = Vec::new();
    for dependency in plan.dependencies_of(id) {
        match dependency.edge {
            Edge::Story { from, on } => {
                let number = |id| plan.story(id).map(|story| story.number.to_string());
                story_edges.push(json!({ "story": number(from), "depends_on": number(on) }));
            }
            Edge::Epic { from, on } => {
                let number = |id| plan.epic(id).map(|epic| epic.number);
                epic_edges.push(json!({ "epic": number(from), "depends_on": number(on) }));
            }
        }
    }
    Ok(Reply::ok(json!({
        "export_metadata": { "exported_at": moment(asked.at), "format": "loopctl", "sequence": look.feed.version() },
        "project": views::plan::project(project),
        "epics": epics,
        "story_dependencies": story_edges,
        "epic_dependencies": epic_edges,
    })))
}
