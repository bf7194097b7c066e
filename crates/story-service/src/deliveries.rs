//! Sends what the tenants' outboxes hold: each webhook one delivery at a time, several webhooks at once, never on the way of a
//! request. A delivery is settled after its answer came, so a server that dies in between sends it again under the same id.

use crate::asked::moment;
use crate::handlers;
use crate::operator::OperatorError;
use crate::service::{Service, millis};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::time::Duration;
use tokio::sync::oneshot;
use tokio::task::JoinSet;
use windlass_engine::Journal;
use windlass_protocols::protocol::story_queue::ledger::Ledger;
use windlass_protocols::protocol::story_queue::tenancy::TenantStatus;
use windlass_protocols::protocol::story_queue::vocabulary::{DeliveryId, Micros, TenantId, WebhookId};
use windlass_protocols::protocol::story_queue::webhooks::{self, Attempt, Delivery, Webhook};
use windlass_webhook_sender::{Reach, post, signature};

/// So many receivers are waited for at once.
const MOST_AT_ONCE: usize = 16;
/// Without news and with nothing due, so long until the next look; a clock that was set is noticed by then.
const LONGEST_REST: Duration = Duration::from_mins(1);
const USER_AGENT: &str = "Loopctl-Webhook/1.0";

/// Where webhooks may point.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WebhookReach {
    /// What anybody on the internet could call: a server must not be a way into the network behind it.
    PublicOnly,
    /// Also this machine and private networks: who runs the server says so, or the queue is nobody else's.
    Anywhere,
}

/// One try, with all that it takes.
struct Parcel {
    tenant: TenantId,
    webhook: WebhookId,
    delivery: DeliveryId,
    url: String,
    secret: String,
    body: String,
    at: Micros,
}

struct Tried {
    tenant: TenantId,
    webhook: WebhookId,
    delivery: DeliveryId,
    attempt: Attempt,
}

/// Who is being called, and with what.
type Busy = BTreeMap<WebhookId, (TenantId, DeliveryId)>;

impl<J: Journal + Send + Sync> Service<J> {
    /// Sends what is due, and what becomes due, until it is dropped. Comes back only where the journal failed.
    pub async fn keep_delivering(&self) -> Result<(), OperatorError> {
        let (mut flying, mut busy) = (JoinSet::new(), Busy::new());
        loop {
            let next = self.send_out(&mut flying, &mut busy).await?;
            let rest = next.map_or(LONGEST_REST, |next| {
                Duration::from_micros(next.0.saturating_sub(self.now().0)).min(LONGEST_REST)
            });
            tokio::select! {
                Some(Ok(tried)) = flying.join_next(), if !flying.is_empty() => {
                    self.settle_delivery(&mut busy, tried).await?;
                }
                () = self.outbox_news.notified() => {}
                () = tokio::time::sleep(rest) => {}
            }
        }
    }

    /// Tries everything that is due now once. Who has not answered when the patience is over has failed this time.
    pub async fn deliver_due(&self, patience: Duration) -> Result<(), OperatorError> {
        let (mut flying, mut busy) = (JoinSet::new(), Busy::new());
        let over = tokio::time::sleep(patience);
        tokio::pin!(over);
        loop {
            self.send_out(&mut flying, &mut busy).await?;
            if flying.is_empty() {
                return Ok(());
            }
            tokio::select! {
                Some(Ok(tried)) = flying.join_next() => self.settle_delivery(&mut busy, tried).await?,
                () = &mut over => break,
            }
        }
        for (webhook, (tenant, delivery)) in busy.clone() {
            let attempt = failed(format!("no answer in {} s", patience.as_secs()), None);
            self.settle_delivery(&mut busy, Tried { tenant, webhook, delivery, attempt }).await?;
        }
        Ok(())
    }

    /// Begins with what is due, as far as there are hands; tells when the next is due.
    async fn send_out(
        &self,
        flying: &mut JoinSet<Tried>,
        busy: &mut Busy,
    ) -> Result<Option<Micros>, OperatorError> {
        let (due, next) = self.due_parcels(busy).await?;
        for parcel in due.into_iter().take(MOST_AT_ONCE.saturating_sub(busy.len())) {
            busy.insert(parcel.webhook, (parcel.tenant, parcel.delivery));
            flying.spawn(send(parcel, self.webhook_reach));
        }
        Ok(next)
    }

    /// The next of each webhook that is not being called, and when the first of the others is due. Only what is durable is
    /// told to anybody.
    async fn due_parcels(&self, busy: &Busy) -> Result<(Vec<Parcel>, Option<Micros>), OperatorError> {
        let at = self.now();
        let (mut parcels, mut next) = (Vec::new(), None);
        for tenant in self.tenants().await?.iter().filter(|tenant| tenant.status == TenantStatus::Active) {
            let stream = self.stream(tenant.id);
            let look = |ledger: &Ledger, _: &crate::feed::Feed| {
                let outbox = &ledger.webhooks;
                let free = outbox.due(at).filter(|(_, webhook)| !busy.contains_key(&webhook.id));
                let found: Vec<_> =
                    free.map(|(delivery, webhook)| (delivery.clone(), webhook.clone())).collect();
                (found, outbox.next_due().filter(|next| *next > at))
            };
            let (found, later) = stream.look(&self.journal, millis(at), look).await?;
            next = next.into_iter().chain(later).min();
            for (delivery, webhook) in found {
                // A key that cannot be read is no fault of the receiver: the delivery stays due.
                let Ok(secret) = self.webhook_secret(tenant.id, &webhook) else { continue };
                parcels.push(parcel(tenant.id, &delivery, webhook, secret, at));
            }
        }
        Ok((parcels, next))
    }

    fn webhook_secret(&self, tenant: TenantId, webhook: &Webhook) -> Result<String, String> {
        let sealed = handlers::Sealed::read(&webhook.sealed_secret);
        Ok(handlers::webhook_secret(&*self.ring.numbered(tenant, sealed.key_number)?, &sealed))
    }

    async fn settle_delivery(&self, busy: &mut Busy, tried: Tried) -> Result<(), OperatorError> {
        let Tried { tenant, webhook, delivery, attempt } = tried;
        busy.remove(&webhook);
        let settled = self.inside(tenant, |draft| {
            let most = draft.ledger().tenancy.settings.webhook_max_consecutive_failures;
            webhooks::attempted(draft, delivery, attempt, u32::try_from(most).unwrap_or(u32::MAX))
        });
        // Removed meanwhile, with its webhook: nobody asks any more.
        let _gone = settled.await?;
        Ok(())
    }
}

fn parcel(tenant: TenantId, delivery: &Delivery, webhook: Webhook, secret: String, at: Micros) -> Parcel {
    let data: Value = serde_json::from_str(delivery.payload.as_str()).unwrap_or_default();
    let body = json!({
        "id": delivery.id,
        "event": delivery.event.name(),
        "timestamp": moment(at),
        "data": data,
    });
    Parcel {
        tenant,
        webhook: webhook.id,
        delivery: delivery.id,
        url: webhook.url,
        secret,
        body: body.to_string(),
        at,
    }
}

/// On a thread of its own, which ends with the process: whoever stops the server does not wait for a silent receiver.
async fn send(parcel: Parcel, reach: WebhookReach) -> Tried {
    let (tenant, webhook, delivery) = (parcel.tenant, parcel.webhook, parcel.delivery);
    let (tell, told) = oneshot::channel();
    let thread = std::thread::Builder::new().name("story-webhook".to_owned());
    let started = thread.spawn(move || {
        // Whoever waited may be gone.
        let _ = tell.send(post_parcel(&parcel, reach));
    });
    let attempt = match started {
        Ok(_) => told.await.unwrap_or_else(|_| failed("the attempt was given up".to_owned(), None)),
        Err(error) => failed(format!("no thread for it: {error}"), None),
    };
    Tried { tenant, webhook, delivery, attempt }
}

fn post_parcel(parcel: &Parcel, reach: WebhookReach) -> Attempt {
    let id = parcel.delivery.to_string();
    let seconds = (parcel.at.0 / 1_000_000).to_string();
    let signature = signature::sign_body(&parcel.secret, &parcel.body);
    let headers = [
        ("user-agent", USER_AGENT),
        ("x-webhook-id", id.as_str()),
        ("x-webhook-timestamp", seconds.as_str()),
        ("x-signature-256", signature.as_str()),
    ];
    let reach = match reach {
        WebhookReach::PublicOnly => Reach::Only(webhooks::is_public_address),
        WebhookReach::Anywhere => Reach::Anywhere,
    };
    match post(&parcel.url, &headers, &parcel.body, reach) {
        Ok(status @ 200..300) => Attempt::Delivered { status },
        Ok(status) => failed(format!("the answer was {status}"), Some(status)),
        Err(why) => failed(why, None),
    }
}

fn failed(error: String, status: Option<u16>) -> Attempt {
    Attempt::Failed { error, status }
}
