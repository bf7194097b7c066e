//! The queue behind its one door: a call is matched against the table, whoever asks is proven, and the tenant's ledger
//! decides. Knows no socket; the journal is whatever is given.

use crate::asked::{Asked, Look, Reply, query_of};
use crate::deliveries::WebhookReach;
use crate::envelope;
use crate::feed::Feed;
use crate::heads::Heads;
use crate::limits::{Allowance, Limits};
use crate::once::{Once, replayed};
use crate::outside::Outside;
use crate::proofs::Chains;
use crate::ring::KeyRing;
use crate::route::{self, Handler, Place, Route, Who};
use crate::seen::Seen;
use crate::stream::{Fold, Stream, StreamError};
use crate::streams::Streams;
use crate::{handlers, witness};
use serde_json::{Map, Value};
use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, RwLock};
use tokio::sync::Notify;
use windlass_control_api::stories::{Answer, Answering, BASE, Call, LONGEST_BODY, Method, StoryApi};
use windlass_engine::Journal;
use windlass_protocols::protocol::story_queue::answers;
use windlass_protocols::protocol::story_queue::caller::Caller;
use windlass_protocols::protocol::story_queue::decide::Draft;
use windlass_protocols::protocol::story_queue::facts::{Change, Entry};
use windlass_protocols::protocol::story_queue::ledger::Ledger;
use windlass_protocols::protocol::story_queue::refusal_code::RefusalCode;
use windlass_protocols::protocol::story_queue::registry;
use windlass_protocols::protocol::story_queue::vocabulary::{Micros, TenantId};
use windlass_protocols::protocol::story_queue::webhooks;
use windlass_protocols::{Millis, RunId};

impl Fold for Ledger {
    fn evolve(&mut self, entry: &Entry) {
        Self::evolve(self, entry);
    }

    fn doubt(&mut self, at: Millis, why: String) {
        self.custody.suspend(Micros(at.0 * 1000), why);
    }
}

impl Fold for registry::State {
    fn evolve(&mut self, entry: &Entry) {
        match &entry.change {
            Change::Registry(change) => Self::evolve(self, entry, change),
            Change::Answers(change) => self.answers.evolve(entry, change),
            _ => {}
        }
    }

    fn doubt(&mut self, _at: Millis, why: String) {
        self.suspend(why);
    }
}

pub struct Service<J> {
    pub(crate) journal: J,
    pub(crate) outside: Box<dyn Outside>,
    pub(crate) routes: Vec<Route>,
    pub(crate) registry: Stream<registry::State>,
    ledgers: Streams<Ledger>,
    pub(crate) heads: Streams<Heads>,
    /// Which tenant a key was found at; whether it is still good is asked there, every time.
    pub(crate) owners: RwLock<HashMap<String, TenantId>>,
    pub(crate) ring: KeyRing,
    pub(crate) chains: Chains,
    limits: Limits,
    pub(crate) seen: Seen,
    pub(crate) webhook_reach: WebhookReach,
    /// The last write did not go through; until one does, health looks whether it would.
    pub(crate) writing_failed: AtomicBool,
    /// Something was put into an outbox.
    pub(crate) outbox_news: Notify,
    /// Held by whoever does something for the operator under an idempotency key: who repeats it meanwhile waits for the answer.
    pub(crate) operating: tokio::sync::Mutex<()>,
}

/// Who asks, proven.
pub(crate) struct Proven {
    pub(crate) caller: Caller,
    /// Absent for a superadmin who acts inside no tenant.
    pub(crate) tenant: Option<(TenantId, Arc<Stream<Ledger>>)>,
    /// Requests in a minute; superadmins are not counted.
    pub(crate) per_minute: Option<u64>,
}

/// An answer given before the call reached its handler.
pub(crate) type Early<T> = Result<T, Answer>;

impl<J: Journal + Send + Sync> Service<J> {
    /// `owner` names this process in the journal's leases.
    pub fn new(journal: J, outside: Box<dyn Outside>, ring: KeyRing, owner: &str) -> Self {
        Self {
            journal,
            outside,
            routes: handlers::table(),
            registry: Stream::new(RunId::new("stories:registry"), owner),
            ledgers: Streams::new(owner),
            heads: Streams::new(owner),
            owners: RwLock::default(),
            ring,
            chains: Chains::default(),
            limits: Limits::default(),
            seen: Seen::default(),
            webhook_reach: WebhookReach::PublicOnly,
            writing_failed: AtomicBool::new(false),
            outbox_news: Notify::new(),
            operating: tokio::sync::Mutex::default(),
        }
    }

    #[must_use]
    pub fn with_webhook_reach(mut self, reach: WebhookReach) -> Self {
        self.webhook_reach = reach;
        self
    }

    pub fn routes(&self) -> &[Route] {
        &self.routes
    }

    pub(crate) fn now(&self) -> Micros {
        self.outside.now()
    }

    /// The ledger of a tenant that the registry lists; it is read when it is first needed.
    pub(crate) fn stream(&self, tenant: TenantId) -> Arc<Stream<Ledger>> {
        self.ledgers.of(tenant, || windlass_custody_proofs::export::stream(tenant))
    }

    pub(crate) async fn answer(&self, call: Call) -> Answer {
        match self.take(&call).await {
            Ok(answer) | Err(answer) => answer,
        }
    }

    async fn take(&self, call: &Call) -> Early<Answer> {
        let (route, parameters) = self.find(call.method, &call.path)?;
        if call.body.len() > route.longest {
            let message = format!("the body is longer than {} bytes", route.longest);
            return Err(envelope::plain(413, None, &message));
        }
        let at = self.now();
        let proven = match route.who {
            Who::Public => None,
            _ => Some(self.prove(call, at, route.path.starts_with("/admin")).await?),
        };
        let allowance = proven.as_ref().and_then(|proven| self.count(proven, at));
        if let Some(allowance) = allowance.filter(|allowance| allowance.exceeded) {
            let answer =
                envelope::plain(429, Some(RefusalCode::RateLimited), "too many requests in this minute");
            return Err(with_allowance(answer, allowance)
                .with_header("retry-after", allowance.retry_after.to_string()));
        }
        let witness = match &proven {
            Some(proven) => self.witnessed(call, proven, at).await?,
            None => None,
        };
        let answer = self.admitted(call, route, parameters, proven, at).await;
        let answer = witness
            .into_iter()
            .fold(answer, |answer, witness| answer.with_header(witness::CURRENT, witness.to_string()));
        Ok(allowance.into_iter().fold(answer, with_allowance))
    }

    fn count(&self, proven: &Proven, at: Micros) -> Option<Allowance> {
        let (tenant, _) = proven.tenant.as_ref()?;
        Some(self.limits.count(*tenant, proven.caller.key, proven.per_minute?, at))
    }

    async fn admitted(
        &self,
        call: &Call,
        route: &Route,
        parameters: Vec<(&'static str, String)>,
        proven: Option<Proven>,
        at: Micros,
    ) -> Answer {
        if let Some(Err(refusal)) = proven.as_ref().map(|proven| route.who.admits(&proven.caller)) {
            return Answer::json(envelope::status_of(refusal.kind), &envelope::refusal(&refusal));
        }
        let body = match body_of(call, route) {
            Ok(body) => body,
            Err(answer) => return answer,
        };
        let tenant = proven.as_ref().and_then(|proven| proven.tenant.as_ref()).map(|(id, _)| *id);
        let signers = match tenant {
            Some(tenant) => self.signers(tenant).await,
            None => self.nobodys_signers(),
        };
        let signers = match signers {
            Ok(signers) => signers,
            Err(why) => return envelope::plain(503, Some(RefusalCode::AuditKeyStorageFailed), &why),
        };
        let once = match Once::of(call, &body) {
            Ok(once) => once.filter(|_| call.method != Method::Get),
            Err(answer) => return answer,
        };
        let mut random = [0; 32];
        self.outside.random(&mut random);
        let query = query_of(&call.query);
        let webhook_reach = self.webhook_reach;
        let headers = call.headers.clone();
        let asked = Asked { parameters, query, body, headers, at, random, signers, webhook_reach };
        match (route.handler, proven) {
            (Handler::Server(what), proven) => self.serve_once(what, proven, &asked, once).await,
            (Handler::Read(read), Some(Proven { caller, tenant: Some((_, stream)), .. })) => {
                let look = |ledger: &Ledger, feed: &Feed| {
                    read(&Look { ledger, feed, caller: &caller, seen: &self.seen }, &asked)
                };
                let looked = stream.look(&self.journal, millis(at), look).await;
                looked.map_or_else(|error| unavailable(&error), |decided| rendered(decided).0)
            }
            (Handler::Write(write), Some(Proven { caller, tenant: Some((_, stream)), .. })) => {
                let written = self.write(once, &caller, &stream, |draft| write(draft, &asked), at).await;
                written.unwrap_or_else(|error| unavailable(&error))
            }
            _ => envelope::plain(
                400,
                Some(RefusalCode::TenantMissing),
                "a superadmin key belongs to no tenant: say which with x-impersonate-tenant",
            ),
        }
    }

    /// The effect, the answer that is remembered under an idempotency key, and nothing else, become durable together.
    async fn write(
        &self,
        once: Option<Once>,
        caller: &Caller,
        stream: &Stream<Ledger>,
        handler: impl FnOnce(
            &mut Draft<'_>,
        )
            -> Result<Reply, windlass_protocols::protocol::story_queue::refusal::Refusal>,
        at: Micros,
    ) -> Result<Answer, StreamError> {
        let ids = self.outside.ids();
        let mut queued = false;
        let decide = |ledger: &mut Ledger, _: &Feed| {
            if let Some(once) = &once {
                match once.recall(&ledger.answers, caller, at) {
                    Ok(None) => {}
                    Ok(Some(stored)) => return (replayed(stored), Vec::new()),
                    Err(refusal) => return (rendered(Err(refusal)).0, Vec::new()),
                }
            }
            let mut draft = Draft::new(ledger, caller, ids);
            let before = draft.ledger().version;
            let (answer, remembered) = rendered(handler(&mut draft));
            if let Some(Once { key, request, .. }) = once.filter(|_| draft.ledger().version > before) {
                answers::keep(&mut draft, key, request, answer.status, remembered);
            }
            let entries = draft.into_entries();
            queued = entries.iter().any(is_for_the_outbox);
            (answer, entries)
        };
        let decided = stream.decide(&self.journal, millis(at), decide).await;
        self.writing_failed.store(decided.is_err(), Ordering::Relaxed);
        if queued {
            self.outbox_news.notify_one();
        }
        decided
    }

    fn find(&self, method: Method, path: &str) -> Early<(&Route, Vec<(&'static str, String)>)> {
        let (place, path) = match path.strip_prefix(BASE) {
            Some(rest) if rest.is_empty() || rest.starts_with('/') => (Place::UnderBase, rest),
            _ => (Place::Root, path),
        };
        let parts: Vec<&str> = path.split('/').filter(|part| !part.is_empty()).collect();
        let mut others: Vec<Method> = Vec::new();
        for route in self.routes.iter().filter(|route| route.place == place) {
            let Some(parameters) = route.matches(&parts) else { continue };
            if route.method == method {
                return Ok((route, parameters));
            }
            others.push(route.method);
        }
        if others.is_empty() {
            return Err(envelope::plain(404, None, "there is no such route; GET /api/v1/routes lists them"));
        }
        others.sort_unstable();
        others.dedup();
        let names: Vec<&str> = others.into_iter().map(Method::name).collect();
        let answer = envelope::plain(405, None, "this route is asked with another method");
        Err(answer.with_header("allow", names.join(", ")))
    }
}

/// Also a webhook that is switched on again has something to be sent.
pub(crate) fn is_for_the_outbox(entry: &Entry) -> bool {
    let Change::Webhooks(change) = &entry.change else { return false };
    matches!(change, webhooks::Change::Queued { .. } | webhooks::Change::Changed { .. })
}

pub(crate) const fn millis(at: Micros) -> Millis {
    Millis(at.0 / 1000)
}

fn body_of(call: &Call, route: &Route) -> Early<Map<String, Value>> {
    let body = if call.body.is_empty() {
        Value::Object(Map::new())
    } else {
        serde_json::from_slice(&call.body).map_err(|error| {
            envelope::plain(400, Some(RefusalCode::MalformedJson), &format!("the body is not JSON: {error}"))
        })?
    };
    let Value::Object(body) = body else {
        return Err(envelope::plain(400, Some(RefusalCode::MalformedJson), "the body must be a JSON object"));
    };
    route::check(route.body, &body)
        .map_err(|refusal| Answer::json(envelope::status_of(refusal.kind), &envelope::refusal(&refusal)))?;
    Ok(body)
}

/// The answer, and what of it may be kept: a secret is shown once.
fn rendered(
    decided: Result<Reply, windlass_protocols::protocol::story_queue::refusal::Refusal>,
) -> (Answer, String) {
    match decided {
        Ok(mut reply) => {
            let answer = Answer::json(reply.status, &reply.body);
            if let Some(secret) = reply.secret.and_then(|pointer| reply.body.pointer_mut(pointer)) {
                *secret = Value::Null;
            }
            (answer, reply.body.to_string())
        }
        Err(refusal) => {
            let body = envelope::refusal(&refusal);
            (Answer::json(envelope::status_of(refusal.kind), &body), body.to_string())
        }
    }
}

fn with_allowance(answer: Answer, allowance: Allowance) -> Answer {
    answer
        .with_header("x-ratelimit-limit", allowance.limit.to_string())
        .with_header("x-ratelimit-remaining", allowance.remaining.to_string())
        .with_header("x-ratelimit-reset", allowance.reset.to_string())
}

/// Whether it happened is unknown, unless an idempotency key is there to ask again with.
pub(crate) fn unavailable(error: &StreamError) -> Answer {
    envelope::plain(503, Some(RefusalCode::JournalUnavailable), &error.to_string())
        .with_header("retry-after", "1")
}

impl<J: Journal + Send + Sync> StoryApi for Service<J> {
    fn call(&self, call: Call) -> Answering<'_> {
        Box::pin(async move { Ok(self.answer(call).await) })
    }

    fn longest_body(&self, method: Method, path: &str) -> usize {
        self.find(method, path).map_or(LONGEST_BODY, |(route, _)| route.longest)
    }
}
