//! Who is told over HTTP. A webhook's secret is not kept: it is derived from the tenant's key and what the journal holds, so
//! whoever reads the journal alone cannot sign.

use crate::asked::{Asked, Look, Reply, free_json, id_or_null, maybe_moment, moment};
use crate::deliveries::WebhookReach;
use crate::resolve;
use crate::route::Kind::{Boolean, List, Text};
use crate::route::{PAGE, Route, Who, needs, takes};
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use serde_json::{Value, json};
use sha2::{Digest, Sha256};
use std::collections::BTreeSet;
use windlass_control_api::stories::Method::{Delete, Patch, Post};
use windlass_custody_proofs::keys::SigningKey;
use windlass_protocols::protocol::story_queue::decide::{Decided, Draft};
use windlass_protocols::protocol::story_queue::ledger::Ledger;
use windlass_protocols::protocol::story_queue::refusal::Refusal;
use windlass_protocols::protocol::story_queue::vocabulary::{KeyRole, WebhookId};
use windlass_protocols::protocol::story_queue::webhooks::{
    self, ChangeWebhook, CreateWebhook, Delivery, Event, Resolved, Webhook,
};

const USER: Who = Who::AtLeast(KeyRole::User);

pub(crate) const ROUTES: &[Route] = &[
    Route::write(Post, "/webhooks", USER, "Be told of events; the secret is shown once", create).body(&[
        needs("url", Text),
        needs("events", List),
        takes("project_id", Text),
    ]),
    Route::read("/webhooks", USER, "Every webhook", list).query(&PAGE),
    Route::write(Patch, "/webhooks/:id", USER, "Change a webhook", change).body(&[
        takes("url", Text),
        takes("events", List),
        takes("project_id", Text),
        takes("active", Boolean),
    ]),
    Route::write(Delete, "/webhooks/:id", USER, "Be told no longer", remove),
    Route::write(Post, "/webhooks/:id/test", USER, "Send a test event", test),
    Route::read("/webhooks/:id/deliveries", USER, "What was sent, newest first", deliveries).query(&PAGE),
];

/// What the journal keeps of a secret: with the number of the key it is derived from, for that may be another one later.
pub(crate) struct Sealed<'a> {
    pub(crate) key_number: usize,
    word: &'a str,
}

impl<'a> Sealed<'a> {
    pub(crate) fn read(text: &'a str) -> Self {
        let numbered = text.split_once(':').and_then(|(number, word)| Some((number.parse().ok()?, word)));
        let (key_number, word) = numbered.unwrap_or((1, text));
        Self { key_number, word }
    }
}

/// The secret of a webhook, from what the journal keeps of it.
pub(crate) fn secret(signer: &SigningKey, sealed: &Sealed<'_>) -> String {
    let signature = signer.sign(format!("webhook secret {}", sealed.word).as_bytes());
    URL_SAFE_NO_PAD.encode(Sha256::digest(signature))
}

/// Names are looked up right before every delivery, not here: what they mean can change.
fn resolved(asked: &Asked) -> Resolved {
    match asked.webhook_reach {
        WebhookReach::PublicOnly => Resolved::Unknown,
        WebhookReach::Anywhere => Resolved::Trusted,
    }
}

fn view(webhook: &Webhook) -> Value {
    json!({
        "id": webhook.id,
        "url": webhook.url,
        "events": webhook.events.iter().map(|event| event.name()).collect::<Vec<_>>(),
        "project_id": id_or_null(webhook.project),
        "active": webhook.active,
        "consecutive_failures": webhook.consecutive_failures,
        "inserted_at": moment(webhook.created_at),
    })
}

fn events_of(asked: &Asked) -> Decided<BTreeSet<Event>> {
    let names = asked.texts("events")?;
    let known = |name: &String| {
        name.parse().map_err(|_| Refusal::field("events", &format!("{name} is not an event")))
    };
    names.iter().map(known).collect()
}

fn create(draft: &mut Draft<'_>, asked: &Asked) -> Decided<Reply> {
    let sealed = format!("{}:{}", asked.signers.number, crate::keys::hex(&asked.random[..16]));
    let project = asked.text("project_id").map(|word| resolve::project(draft.ledger(), word)).transpose()?;
    let most = draft.ledger().tenancy.settings.max_webhooks;
    let ask = CreateWebhook {
        url: asked.needed("url"),
        resolved: resolved(asked),
        sealed_secret: sealed.clone(),
        events: events_of(asked)?,
        project,
        most: usize::try_from(most).unwrap_or(usize::MAX),
    };
    let id = webhooks::create_webhook(draft, ask)?;
    let mut reply = shown(draft.ledger(), id)?.with_status(201);
    reply.body["signing_secret"] = json!(secret(&asked.signers.current, &Sealed::read(&sealed)));
    Ok(reply.with_secret("/signing_secret"))
}

fn shown(ledger: &Ledger, id: WebhookId) -> Decided<Reply> {
    let webhook = ledger.webhooks.webhooks.get(&id).ok_or_else(|| Refusal::not_found("webhook"))?;
    Ok(Reply::ok(json!({ "webhook": view(webhook) })))
}

fn list(look: &Look<'_>, asked: &Asked) -> Decided<Reply> {
    let all: Vec<&Webhook> = look.ledger.webhooks.webhooks.values().collect();
    Ok(Reply::ok(asked.page(20, 100)?.of(&all, |webhook| view(webhook))))
}

fn change(draft: &mut Draft<'_>, asked: &Asked) -> Decided<Reply> {
    let id = asked.id::<WebhookId>("id", "webhook")?;
    let project = match asked.body.get("project_id") {
        None => None,
        Some(Value::Null) => Some(None),
        Some(_) => Some(Some(resolve::project(draft.ledger(), &asked.needed("project_id"))?)),
    };
    let ask = ChangeWebhook {
        url: asked.owned("url").map(|url| (url, resolved(asked))),
        events: asked.value("events").map(|_| events_of(asked)).transpose()?,
        project,
        active: asked.flag("active"),
    };
    webhooks::change_webhook(draft, id, ask)?;
    shown(draft.ledger(), id)
}

fn remove(draft: &mut Draft<'_>, asked: &Asked) -> Decided<Reply> {
    let id = asked.id::<WebhookId>("id", "webhook")?;
    webhooks::remove_webhook(draft, id)?;
    Ok(Reply::ok(json!({ "deleted": id })))
}

fn test(draft: &mut Draft<'_>, asked: &Asked) -> Decided<Reply> {
    let delivery = webhooks::test_webhook(draft, asked.id("id", "webhook")?)?;
    Ok(Reply::ok(json!({ "delivery_id": delivery })).with_status(202))
}

fn deliveries(look: &Look<'_>, asked: &Asked) -> Decided<Reply> {
    let id = asked.id::<WebhookId>("id", "webhook")?;
    if !look.ledger.webhooks.webhooks.contains_key(&id) {
        return Err(Refusal::not_found("webhook"));
    }
    let found: Vec<&Delivery> = look.ledger.webhooks.deliveries_of(id).collect();
    Ok(Reply::ok(asked.page(20, 100)?.of(&found, |delivery| {
        json!({
            "id": delivery.id,
            "event_type": delivery.event.name(),
            "payload": free_json(&delivery.payload),
            "status": delivery.status.name(),
            "attempts": delivery.attempts,
            "error": delivery.error,
            "response_status": delivery.response_status,
            "inserted_at": moment(delivery.queued_at),
            "last_attempt_at": maybe_moment(delivery.last_attempt_at),
            "next_attempt_at": maybe_moment(delivery.next_attempt_at),
        })
    })))
}
