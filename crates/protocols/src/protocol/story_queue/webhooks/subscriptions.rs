//! Webhooks as users make, change and remove them.

use super::Change;
use super::hosts::{Resolved, check_url};
use super::outbox::queue_for;
use super::payload::Payload;
use super::vocabulary::{Event, Webhook};
use crate::protocol::story_queue::decide::{Decided, Draft};
use crate::protocol::story_queue::facts;
use crate::protocol::story_queue::refusal::{Kind, Refusal};
use crate::protocol::story_queue::refusal_code::RefusalCode;
use crate::protocol::story_queue::vocabulary::{DeliveryId, KeyRole, ProjectId, WebhookId};
use alloc::boxed::Box;
use alloc::collections::BTreeSet;
use alloc::format;
use alloc::string::String;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CreateWebhook {
    pub url: String,
    pub resolved: Resolved,
    pub sealed_secret: String,
    pub events: BTreeSet<Event>,
    pub project: Option<ProjectId>,
    /// The tenant's `max_webhooks`.
    pub most: usize,
}

pub fn create_webhook(draft: &mut Draft<'_>, ask: CreateWebhook) -> Decided<WebhookId> {
    draft.caller().require_at_least(KeyRole::User)?;
    check_url(&ask.url, ask.resolved)?;
    check_events(&ask.events)?;
    if draft.ledger().webhooks.webhooks.len() >= ask.most {
        let message = format!("this tenant may have {} webhooks, and has them", ask.most);
        return Err(Refusal::new(Kind::Invalid, message).with_code(RefusalCode::LimitReached));
    }
    let id = WebhookId(draft.ids().fresh());
    let webhook = Webhook {
        id,
        url: ask.url,
        sealed_secret: ask.sealed_secret,
        events: ask.events,
        project: ask.project,
        active: true,
        consecutive_failures: 0,
        created_at: draft.at(),
    };
    draft.record(ask.project, facts::Change::Webhooks(Change::Created(Box::new(webhook))));
    Ok(id)
}

fn check_events(events: &BTreeSet<Event>) -> Decided<()> {
    if events.is_empty() {
        return Err(Refusal::field("events", "should have at least 1 item"));
    }
    Ok(())
}

fn existing<'a>(draft: &'a Draft<'_>, id: WebhookId) -> Decided<&'a Webhook> {
    draft.ledger().webhooks.webhooks.get(&id).ok_or_else(|| Refusal::not_found("webhook"))
}

/// What is absent stays as it is.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ChangeWebhook {
    pub url: Option<(String, Resolved)>,
    pub events: Option<BTreeSet<Event>>,
    pub project: Option<Option<ProjectId>>,
    pub active: Option<bool>,
}

pub fn change_webhook(draft: &mut Draft<'_>, id: WebhookId, ask: ChangeWebhook) -> Decided<()> {
    draft.caller().require_at_least(KeyRole::User)?;
    let now = existing(draft, id)?.clone();
    if let Some((url, resolved)) = &ask.url {
        check_url(url, *resolved)?;
    }
    let events = ask.events.unwrap_or(now.events);
    check_events(&events)?;
    let project = ask.project.unwrap_or(now.project);
    let change = Change::Changed {
        webhook: id,
        url: ask.url.map_or(now.url, |(url, _)| url),
        events,
        project,
        active: ask.active.unwrap_or(now.active),
    };
    draft.record(project, facts::Change::Webhooks(change));
    Ok(())
}

pub fn remove_webhook(draft: &mut Draft<'_>, id: WebhookId) -> Decided<()> {
    draft.caller().require_at_least(KeyRole::User)?;
    let project = existing(draft, id)?.project;
    draft.record(project, facts::Change::Webhooks(Change::Removed { webhook: id }));
    Ok(())
}

/// Sent to this webhook alone, whether or not it asked for the event.
pub fn test_webhook(draft: &mut Draft<'_>, id: WebhookId) -> Decided<DeliveryId> {
    draft.caller().require_at_least(KeyRole::User)?;
    let webhook = existing(draft, id)?;
    if !webhook.active {
        return Err(Refusal::new(Kind::Conflict, "this webhook is switched off").with_remedy(
            "switch it on first: `windlass story webhook activate ID`, or PATCH it with \"active\": true",
        ));
    }
    let payload = Payload::new()
        .text("webhook_id", &format!("{id}"))
        .text("message", "a test delivery, asked for by a user");
    let project = webhook.project;
    let (payload, truncated) = payload.render();
    Ok(queue_for(draft, id, project, Event::WebhookTest, payload, truncated))
}
