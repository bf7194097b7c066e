//! The outbox: an event is queued in the same append as what it tells of, and leaves when the receiver took it or it was given up.

use super::Change;
use super::payload::Payload;
use super::vocabulary::{Attempt, DeliveryStatus, Event};
use crate::protocol::story_queue::decide::{Decided, Draft};
use crate::protocol::story_queue::facts;
use crate::protocol::story_queue::refusal::Refusal;
use crate::protocol::story_queue::vocabulary::{DeliveryId, JsonText, Micros, ProjectId, WebhookId};
use alloc::vec::Vec;

/// One round forgets this many, so that no entry grows without bound.
const FORGOTTEN_AT_ONCE: usize = 1000;

/// Queues the event for every webhook that asked for it. Costs nothing when none did.
pub fn announce(draft: &mut Draft<'_>, event: Event, project: Option<ProjectId>, payload: Payload) {
    let listening = draft.ledger().webhooks.webhooks.values().filter(|webhook| {
        let about = webhook.project.is_none() || webhook.project == project;
        webhook.active && about && webhook.events.contains(&event)
    });
    let listening: Vec<WebhookId> = listening.map(|webhook| webhook.id).collect();
    if listening.is_empty() {
        return;
    }
    let (payload, truncated) = payload.render();
    for webhook in listening {
        queue_for(draft, webhook, project, event, payload.clone(), truncated);
    }
}

pub(super) fn queue_for(
    draft: &mut Draft<'_>,
    webhook: WebhookId,
    project: Option<ProjectId>,
    event: Event,
    payload: JsonText,
    truncated: bool,
) -> DeliveryId {
    let delivery = DeliveryId(draft.ids().fresh());
    let change = Change::Queued { delivery, webhook, event, payload, truncated };
    draft.record(project, facts::Change::Webhooks(change));
    delivery
}

/// What the shell saw when it sent one. `most_failures` is the tenant's `webhook_max_consecutive_failures`.
pub fn attempted(
    draft: &mut Draft<'_>,
    id: DeliveryId,
    attempt: Attempt,
    most_failures: u32,
) -> Decided<DeliveryStatus> {
    let open = |draft: &Draft<'_>| draft.ledger().webhooks.deliveries.get(&id).cloned();
    let Some(before) = open(draft).filter(|delivery| delivery.next_attempt_at.is_some()) else {
        // Removed or settled meanwhile: a late answer changes nothing.
        return Err(Refusal::not_found("delivery"));
    };
    let project = draft.ledger().webhooks.webhooks.get(&before.webhook).and_then(|webhook| webhook.project);
    draft.record(project, facts::Change::Webhooks(Change::Attempted { delivery: id, attempt }));
    let status = open(draft).map_or(before.status, |delivery| delivery.status);
    let webhook = draft.ledger().webhooks.webhooks.get(&before.webhook);
    let worn_out =
        webhook.is_some_and(|webhook| webhook.active && webhook.consecutive_failures >= most_failures);
    if status == DeliveryStatus::Exhausted && worn_out {
        let change = Change::Disabled { webhook: before.webhook };
        draft.record(project, facts::Change::Webhooks(change));
    }
    Ok(status)
}

/// The daily round: settled deliveries older than the retention. Answers how many; ask again until it is none.
pub fn forget_deliveries(draft: &mut Draft<'_>, before: Micros) -> usize {
    let settled = draft.ledger().webhooks.deliveries.values().filter(|delivery| {
        delivery.next_attempt_at.is_none() && delivery.last_attempt_at.is_some_and(|at| at < before)
    });
    let deliveries: Vec<DeliveryId> = settled.map(|delivery| delivery.id).take(FORGOTTEN_AT_ONCE).collect();
    let count = deliveries.len();
    if count > 0 {
        draft.record(None, facts::Change::Webhooks(Change::Forgotten { deliveries }));
    }
    count
}
