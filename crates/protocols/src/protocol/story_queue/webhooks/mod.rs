//! Who is told of what over HTTP, and what became of each delivery. Sending is the shell's; it asks what is due, and tells
//! what happened.
//! Reading order: `vocabulary`, this file, `subscriptions`, `outbox`, `news`, `payload`, `hosts`.

mod hosts;
mod news;
mod outbox;
mod payload;
mod subscriptions;
mod vocabulary;

pub use hosts::{Resolved, is_public_address};
pub use news::news_of;
pub use outbox::{announce, attempted, forget_deliveries};
pub use payload::Payload;
pub use subscriptions::{
    ChangeWebhook, CreateWebhook, change_webhook, create_webhook, remove_webhook, test_webhook,
};
pub use vocabulary::{Attempt, Delivery, DeliveryStatus, Event, RETRY_SECONDS, Webhook};

use super::facts::Entry;
use super::vocabulary::{DeliveryId, JsonText, Micros, ProjectId, WebhookId};
use alloc::boxed::Box;
use alloc::collections::{BTreeMap, BTreeSet};
use alloc::string::String;
use alloc::vec::Vec;
use serde::{Deserialize, Serialize};

#[derive(Clone, Debug, Default)]
pub struct State {
    pub webhooks: BTreeMap<WebhookId, Webhook>,
    pub deliveries: BTreeMap<DeliveryId, Delivery>,
    by_webhook: BTreeMap<WebhookId, BTreeSet<DeliveryId>>,
    /// By webhook, so that one with a long backlog holds up no other.
    due: BTreeMap<WebhookId, BTreeSet<(Micros, DeliveryId)>>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "what", rename_all = "kebab-case")]
pub enum Change {
    Created(Box<Webhook>),
    Changed {
        webhook: WebhookId,
        url: String,
        events: BTreeSet<Event>,
        project: Option<ProjectId>,
        active: bool,
    },
    Removed {
        webhook: WebhookId,
    },
    /// With the change that it tells of, in one append: what happened is never told without having happened, nor left untold.
    Queued {
        delivery: DeliveryId,
        webhook: WebhookId,
        event: Event,
        payload: JsonText,
        truncated: bool,
    },
    Attempted {
        delivery: DeliveryId,
        attempt: Attempt,
    },
    /// Too many deliveries in a row were given up.
    Disabled {
        webhook: WebhookId,
    },
    Forgotten {
        deliveries: Vec<DeliveryId>,
    },
}

impl State {
    pub fn evolve(&mut self, entry: &Entry, change: &Change) {
        match change {
            Change::Created(webhook) => {
                self.webhooks.insert(webhook.id, (**webhook).clone());
            }
            Change::Changed { webhook, url, events, project, active } => {
                if let Some(kept) = self.webhooks.get_mut(webhook) {
                    if *active && !kept.active {
                        kept.consecutive_failures = 0;
                    }
                    kept.url.clone_from(url);
                    kept.events.clone_from(events);
                    kept.project = *project;
                    kept.active = *active;
                }
            }
            Change::Removed { webhook } => {
                self.webhooks.remove(webhook);
                self.due.remove(webhook);
                for delivery in self.by_webhook.remove(webhook).unwrap_or_default() {
                    self.drop_delivery(delivery);
                }
            }
            Change::Queued { delivery, webhook, event, payload, truncated } => {
                self.queue(entry.at, *delivery, *webhook, (*event, payload, *truncated));
            }
            Change::Attempted { delivery, attempt } => self.settle(entry.at, *delivery, attempt),
            Change::Disabled { webhook } => {
                if let Some(kept) = self.webhooks.get_mut(webhook) {
                    kept.active = false;
                }
            }
            Change::Forgotten { deliveries } => deliveries.iter().for_each(|id| self.drop_delivery(*id)),
        }
    }

    /// Newest first.
    pub fn deliveries_of(&self, webhook: WebhookId) -> impl Iterator<Item = &Delivery> {
        let ids = self.by_webhook.get(&webhook).into_iter().flatten().rev();
        ids.filter_map(|id| self.deliveries.get(id))
    }

    /// What may be sent now: of each webhook what waits longest. One that was switched off keeps its deliveries waiting.
    pub fn due(&self, now: Micros) -> impl Iterator<Item = (&Delivery, &Webhook)> {
        self.first_of_each()
            .filter(move |(at, _, _)| *at <= now)
            .map(|(_, delivery, webhook)| (delivery, webhook))
    }

    /// When the shell should look again, if nothing new comes.
    pub fn next_due(&self) -> Option<Micros> {
        self.first_of_each().map(|(at, _, _)| at).min()
    }

    fn first_of_each(&self) -> impl Iterator<Item = (Micros, &Delivery, &Webhook)> {
        let active = self.webhooks.values().filter(|webhook| webhook.active);
        active.filter_map(|webhook| {
            let (at, id) = self.due.get(&webhook.id)?.first()?;
            Some((*at, self.deliveries.get(id)?, webhook))
        })
    }

    fn queue(
        &mut self,
        at: Micros,
        id: DeliveryId,
        webhook: WebhookId,
        (event, payload, truncated): (Event, &JsonText, bool),
    ) {
        let delivery = Delivery {
            id,
            webhook,
            event,
            payload: payload.clone(),
            truncated,
            status: DeliveryStatus::Pending,
            attempts: 0,
            error: None,
            response_status: None,
            queued_at: at,
            last_attempt_at: None,
            next_attempt_at: Some(at),
        };
        self.due.entry(webhook).or_default().insert((at, id));
        self.by_webhook.entry(webhook).or_default().insert(id);
        self.deliveries.insert(id, delivery);
    }

    fn settle(&mut self, at: Micros, id: DeliveryId, attempt: &Attempt) {
        let Some(delivery) = self.deliveries.get_mut(&id) else { return };
        let waiting = self.due.entry(delivery.webhook).or_default();
        if let Some(due) = delivery.next_attempt_at.take() {
            waiting.remove(&(due, id));
        }
        delivery.attempts = delivery.attempts.saturating_add(1);
        delivery.last_attempt_at = Some(at);
        let webhook = self.webhooks.get_mut(&delivery.webhook);
        match attempt {
            Attempt::Delivered { status } => {
                delivery.status = DeliveryStatus::Delivered;
                delivery.response_status = Some(*status);
                delivery.error = None;
                if let Some(webhook) = webhook {
                    webhook.consecutive_failures = 0;
                }
            }
            Attempt::Failed { error, status } => {
                delivery.error = Some(error.clone());
                delivery.response_status = *status;
                delivery.status = delivery.status_after_failure();
                match delivery.retry_after() {
                    Some(wait) => {
                        let due = at.plus(wait);
                        delivery.next_attempt_at = Some(due);
                        waiting.insert((due, id));
                    }
                    None => {
                        if let Some(webhook) = webhook {
                            webhook.consecutive_failures = webhook.consecutive_failures.saturating_add(1);
                        }
                    }
                }
            }
        }
    }

    fn drop_delivery(&mut self, id: DeliveryId) {
        let Some(delivery) = self.deliveries.remove(&id) else { return };
        if let (Some(due), Some(waiting)) = (delivery.next_attempt_at, self.due.get_mut(&delivery.webhook)) {
            waiting.remove(&(due, id));
        }
        if let Some(ids) = self.by_webhook.get_mut(&delivery.webhook) {
            ids.remove(&id);
        }
    }
}
