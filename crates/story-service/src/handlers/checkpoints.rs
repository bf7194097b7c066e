//! An orchestrator's notes, with the version that must match.

use crate::asked::{Asked, Look, Reply, free_json, id_or_null, moment};
use crate::resolve::project_in_path;
use crate::route::Kind::{Integer, Object, Text};
use crate::route::{PAGE, Route, Who, needs, takes};
use serde_json::{Value, json};
use windlass_control_api::stories::Method::Put;
use windlass_protocols::protocol::story_queue::checkpoints::{self, Checkpoint, Expects, MAIN, Save, Saved};
use windlass_protocols::protocol::story_queue::decide::{Decided, Draft};
use windlass_protocols::protocol::story_queue::refusal::Refusal;
use windlass_protocols::protocol::story_queue::vocabulary::KeyRole;

const WHO: Who = Who::Exactly(&[KeyRole::Orchestrator, KeyRole::Superadmin]);

pub(crate) const ROUTES: &[Route] = &[
    Route::write(Put, "/orchestrator/state/:id", WHO, "Save notes over the version that was read", save)
        .body(&[takes("state_key", Text), needs("state_data", Object), takes("version", Integer)]),
    Route::read("/orchestrator/state/:id", WHO, "The notes of a project", load)
        .query(&[takes("state_key", Text)]),
    Route::read("/orchestrator/state/:id/history", WHO, "Every version of the notes", history).query(&[
        PAGE[0],
        PAGE[1],
        takes("state_key", Text),
    ]),
];

fn save(draft: &mut Draft<'_>, asked: &Asked) -> Decided<Reply> {
    let project = project_in_path(draft.ledger(), asked)?;
    let expects = asked.number("version")?.map_or(Expects::Nothing, Expects::Version);
    let ask = Save {
        project,
        key: asked.owned("state_key"),
        data: asked.json("state_data").unwrap_or_default(),
        expects,
    };
    let saved = checkpoints::save(draft, ask)?;
    let key = asked.text("state_key").unwrap_or(MAIN);
    let note = draft.ledger().checkpoints.get(project, key).ok_or_else(|| Refusal::not_found("state"))?;
    let status = if saved.version == 1 { 201 } else { 200 };
    Ok(Reply::ok(json!({ "state": view(note, &saved) })).with_status(status))
}

fn view(note: &Checkpoint, saved: &Saved) -> Value {
    json!({
        "id": note.id,
        "project_id": note.project,
        "state_key": note.key,
        "state_data": free_json(&saved.data),
        "version": saved.version,
        "saved_by": saved.by.label,
        "saved_by_agent_id": id_or_null(saved.by.agent),
        "saved_at": moment(saved.at),
        "inserted_at": moment(note.created),
        "updated_at": moment(saved.at),
    })
}

fn find<'a>(look: &Look<'a>, asked: &Asked) -> Decided<&'a Checkpoint> {
    let project = project_in_path(look.ledger, asked)?;
    let key = asked.query("state_key").unwrap_or(MAIN);
    look.ledger.checkpoints.get(project, key).ok_or_else(|| Refusal::not_found("state"))
}

fn load(look: &Look<'_>, asked: &Asked) -> Decided<Reply> {
    let note = find(look, asked)?;
    let saved = note.current().ok_or_else(|| Refusal::not_found("state"))?;
    Ok(Reply::ok(json!({ "state": view(note, saved) })))
}

fn history(look: &Look<'_>, asked: &Asked) -> Decided<Reply> {
    let note = find(look, asked)?;
    let newest: Vec<&Saved> = note.history.iter().rev().collect();
    Ok(Reply::ok(asked.page(25, 100)?.of(&newest, |saved| view(note, saved))))
}
