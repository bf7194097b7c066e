//! Dispatches, lost tokens, and what was tried against custody.

use crate::asked::{Asked, Look, Reply};
use crate::handlers::tenancy::role;
use crate::route::Kind::{Any, Boolean, Integer, Text};
use crate::route::{PAGE, Route, Who, needs, takes};
use crate::seen::Seen;
use crate::{keys, resolve, tokens, views};
use serde_json::json;
use windlass_control_api::stories::Method::{Delete, Post};
use windlass_protocols::protocol::story_queue::custody::{self, OpenDispatch, TokenKind, ViolationStatus};
use windlass_protocols::protocol::story_queue::decide::{Decided, Draft};
use windlass_protocols::protocol::story_queue::refusal::Refusal;
use windlass_protocols::protocol::story_queue::vocabulary::{DispatchId, KeyRole, ViolationId};

const ORCHESTRATOR: Who = Who::AtLeast(KeyRole::Orchestrator);

pub(crate) const ROUTES: &[Route] = &[
    Route::write(Post, "/dispatches", ORCHESTRATOR, "A key for one piece of work; it is shown once", open)
        .body(&[
            needs("role", Text),
            needs("agent_id", Text),
            takes("parent_dispatch_id", Text),
            takes("story_id", Text),
            takes("project_id", Text),
            takes("expires_in_seconds", Integer),
        ]),
    Route::read("/dispatches", Who::AtLeast(KeyRole::Agent), "Dispatches, newest first", list).query(&[
        takes("role", Text),
        takes("active_only", Boolean),
        takes("limit", Integer),
        takes("offset", Integer),
    ]),
    Route::read("/dispatches/:id", Who::AtLeast(KeyRole::Agent), "One dispatch", show),
    Route::write(
        Delete,
        "/dispatches/:id",
        ORCHESTRATOR,
        "End a dispatch, its descendants and their keys",
        revoke,
    ),
    Route::write(
        Post,
        "/stories/:id/recover-cap",
        Who::AtLeast(KeyRole::Agent),
        "Another token in place of a lost one that was yours",
        recover,
    )
    .body(&[takes("cap_type", Text), takes("lineage", Any)]),
    Route::read("/violations", Who::AtLeast(KeyRole::User), "What was tried against custody", violations)
        .query(&[PAGE[0], PAGE[1], takes("status", Text)]),
    Route::write(
        Post,
        "/violations/:id/resolve",
        Who::AtLeast(KeyRole::User),
        "Settle a violation",
        resolve_one,
    )
    .body(&[takes("note", Text)]),
    Route::write(Post, "/violations/:id/ignore", Who::AtLeast(KeyRole::User), "Let a violation be", ignore)
        .body(&[takes("note", Text)]),
];

fn open(draft: &mut Draft<'_>, asked: &Asked) -> Decided<Reply> {
    let (raw, key) = keys::make(asked.random);
    let story = asked.text("story_id").map(|word| resolve::story(draft.ledger(), asked, word)).transpose()?;
    let ask = OpenDispatch {
        role: role(&asked.needed("role"))?,
        agent: resolve::agent(draft.ledger(), &asked.needed("agent_id"))?,
        parent: asked.body_id::<DispatchId>("parent_dispatch_id")?,
        story,
        expires_in_seconds: asked.number("expires_in_seconds")?,
        key,
    };
    let opened = custody::open(draft, ask)?;
    let body = json!({
        "dispatch": views::tenancy::dispatch(&opened.dispatch),
        "api_key": views::tenancy::key(&opened.key, &Seen::default()),
        "raw_key": raw,
    });
    Ok(Reply::created(body).with_secret("/raw_key"))
}

fn list(look: &Look<'_>, asked: &Asked) -> Decided<Reply> {
    let wanted = asked.query("role").map(role).transpose()?;
    let active = asked.query_flag("active_only")?;
    let found: Vec<_> = look
        .ledger
        .custody
        .dispatches()
        .rev()
        .filter(|dispatch| wanted.is_none_or(|role| dispatch.role == role))
        .filter(|dispatch| !active || dispatch.is_active(asked.at))
        .collect();
    Ok(Reply::ok(asked.page(20, 100)?.of(&found, |dispatch| views::tenancy::dispatch(dispatch))))
}

fn show(look: &Look<'_>, asked: &Asked) -> Decided<Reply> {
    let id = asked.id::<DispatchId>("id", "dispatch")?;
    let dispatch = look.ledger.custody.dispatch(id).ok_or_else(|| Refusal::not_found("dispatch"))?;
    Ok(Reply::ok(json!({ "dispatch": views::tenancy::dispatch(dispatch) })))
}

fn revoke(draft: &mut Draft<'_>, asked: &Asked) -> Decided<Reply> {
    let id = asked.id::<DispatchId>("id", "dispatch")?;
    let revoked = custody::revoke(draft, id)?;
    Ok(Reply::ok(json!({ "revoked": revoked })))
}

fn recover(draft: &mut Draft<'_>, asked: &Asked) -> Decided<Reply> {
    let story = resolve::story_in_path(draft.ledger(), asked)?;
    let name = asked.text("cap_type").unwrap_or("start_cap");
    let kind =
        [TokenKind::StartCap, TokenKind::ReportCap, TokenKind::VerifyCap, TokenKind::ReviewCompleteCap]
            .into_iter()
            .find(|kind| kind.name() == name)
            .ok_or_else(|| {
                Refusal::field("cap_type", "must be start_cap, report_cap, verify_cap or review_complete_cap")
            })?;
    let token = custody::recover(draft, story, kind)?;
    Ok(Reply::created(
        json!({ "capability": views::tenancy::token(&token, &tokens::text(draft, asked, &token)) }),
    )
    .with_secret("/capability/token"))
}

fn violations(look: &Look<'_>, asked: &Asked) -> Decided<Reply> {
    let status = asked.query("status");
    let found: Vec<_> = look
        .ledger
        .custody
        .violations()
        .filter(|violation| status.is_none_or(|status| violation.status.name() == status))
        .collect();
    Ok(Reply::ok(asked.page(20, 100)?.of(&found, |violation| views::tenancy::violation(violation))))
}

fn resolve_one(draft: &mut Draft<'_>, asked: &Asked) -> Decided<Reply> {
    settle(draft, asked, ViolationStatus::Resolved)
}

fn ignore(draft: &mut Draft<'_>, asked: &Asked) -> Decided<Reply> {
    settle(draft, asked, ViolationStatus::Ignored)
}

fn settle(draft: &mut Draft<'_>, asked: &Asked, status: ViolationStatus) -> Decided<Reply> {
    let id = asked.id::<ViolationId>("id", "violation")?;
    custody::resolve_violation(draft, id, status, asked.owned("note").unwrap_or_default())?;
    let violation = draft.ledger().custody.violation(id).ok_or_else(|| Refusal::not_found("violation"))?;
    Ok(Reply::ok(json!({ "violation": views::tenancy::violation(violation) })))
}
