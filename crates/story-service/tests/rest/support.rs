//! A service with one or two tenants, their keys and agents, and short ways to ask.

use serde_json::{Value, json};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use windlass_control_api::stories::{Answer, Call, Method, StoryApi};
use windlass_engine::{Append, Journal as _, LeaseAnswer, MemoryJournal, Stored};
use windlass_protocols::{Millis, RunId};
use windlass_story_service::{KeyRing, Machine, Micros, OperatorName, Outside, Service, WebhookReach};

pub(crate) struct World {
    pub journal: MemoryJournal,
    pub service: Service<MemoryJournal>,
    keys: tempfile::TempDir,
    clock: Arc<AtomicU64>,
}

/// The start of a minute, so that no test runs over the edge of one.
const NOON: u64 = 1_800_000_000_000_000;

/// Every look at the clock is a microsecond later.
struct Steady(Arc<AtomicU64>);

impl Outside for Steady {
    fn now(&self) -> Micros {
        Micros(self.0.fetch_add(1, Ordering::SeqCst))
    }

    fn random(&self, bytes: &mut [u8]) {
        Machine.random(bytes);
    }
}

/// One tenant with everybody a story needs.
pub(crate) struct Team {
    pub user: String,
    pub implementer: String,
    pub reporter: String,
    pub reviewer: String,
    pub verifier: String,
    pub project: String,
}

impl World {
    pub(crate) fn new() -> Self {
        let keys = tempfile::tempdir().unwrap();
        Self::over(MemoryJournal::default(), keys, Arc::new(AtomicU64::new(NOON)))
    }

    /// What is in memory is gone; the journal, the keys and the time are not.
    pub(crate) fn restarted(self) -> Self {
        Self::over(self.journal, self.keys, self.clock)
    }

    /// As if somebody had cut the last entry off a tenant's chain while nobody looked.
    pub(crate) async fn restarted_with_shorter_chain(self, tenant: &str) -> Self {
        self.restarted_over(tenant, 1, |_| None).await
    }

    /// As if somebody had appended to a tenant's chain what they made of its last entry that can be made into something.
    pub(crate) async fn restarted_with_forged_end(
        self,
        tenant: &str,
        forge: impl Fn(&str) -> Option<String>,
    ) -> Self {
        self.restarted_over(tenant, 0, forge).await
    }

    /// As if somebody had deleted everything that was signed of a tenant's chain.
    pub(crate) async fn restarted_without_heads(self, tenant: &str) -> Self {
        let kept = ["stories:registry".to_owned(), format!("stories:{tenant}")];
        self.restarted_with(kept.map(|stream| (stream, 0)), |_| None).await
    }

    async fn restarted_over(self, tenant: &str, cut: usize, forge: impl Fn(&str) -> Option<String>) -> Self {
        let kept = [
            ("stories:registry".to_owned(), 0),
            (format!("story-heads:{tenant}"), 0),
            (format!("stories:{tenant}"), cut),
        ];
        self.restarted_with(kept, forge).await
    }

    /// With these streams alone, each without so many of its last entries.
    async fn restarted_with(
        self,
        kept: impl IntoIterator<Item = (String, usize)>,
        forge: impl Fn(&str) -> Option<String>,
    ) -> Self {
        let fresh = MemoryJournal::default();
        for (stream, cut) in kept {
            let run = RunId::new(stream);
            let rows = self.journal.read(&run, 0).await.unwrap();
            let LeaseAnswer::Granted(lease) =
                fresh.acquire(run.as_str(), "a forger", Millis(1)).await.unwrap()
            else {
                panic!("nobody else writes")
            };
            let kept = &rows[..rows.len() - cut];
            let forged = kept.iter().rev().find_map(|row| {
                let payload = forge(&row.payload).filter(|_| run.as_str().starts_with("stories:"))?;
                Some(Stored { payload, version: kept.len() as u64, ..row.clone() })
            });
            for row in kept.iter().chain(&forged) {
                let append = Append {
                    lease: lease.clone(),
                    run: run.clone(),
                    expected_version: row.version,
                    at: row.at,
                    facts: vec![row.fact(&run).unwrap()],
                    headline: String::new(),
                };
                fresh.append(append).await.unwrap();
            }
        }
        Self::over(fresh, self.keys, self.clock)
    }

    fn over(journal: MemoryJournal, keys: tempfile::TempDir, clock: Arc<AtomicU64>) -> Self {
        let ring = KeyRing::in_directory(keys.path().to_owned());
        let outside = Box::new(Steady(Arc::clone(&clock)));
        let service = Service::new(journal.clone(), outside, ring, "a test");
        Self { journal, service, keys, clock }
    }

    pub(crate) fn letting_webhooks(mut self, reach: WebhookReach) -> Self {
        self.service = self.service.with_webhook_reach(reach);
        self
    }

    pub(crate) fn pass(&self, seconds: u64) {
        self.clock.fetch_add(seconds * 1_000_000, Ordering::SeqCst);
    }

    /// One that was not given before.
    pub(crate) fn fresh_number(&self) -> u64 {
        self.clock.fetch_add(1, Ordering::SeqCst)
    }

    pub(crate) async fn ask(&self, key: &str, method: Method, path: &str, body: Value) -> Answer {
        let (path, query) = path.split_once('?').unwrap_or((path, ""));
        let mut call = Call::new(method, format!("/api/v1{path}")).with_key(key);
        call.query = query.to_owned();
        if !body.is_null() {
            call = call.with_json(&body);
        }
        self.service.call(call).await.unwrap()
    }

    pub(crate) async fn get(&self, key: &str, path: &str) -> Value {
        let answer = self.ask(key, Method::Get, path, Value::Null).await;
        assert_eq!(answer.status, 200, "GET {path}: {}", answer.value());
        answer.value()
    }

    /// Posts and expects it to be taken.
    pub(crate) async fn post(&self, key: &str, path: &str, body: Value) -> Value {
        let answer = self.ask(key, Method::Post, path, body).await;
        assert!(answer.is_success(), "POST {path}: {} {}", answer.status, answer.value());
        answer.value()
    }

    /// Posts and expects it to be refused.
    pub(crate) async fn refused(&self, key: &str, path: &str, body: Value) -> (u16, Value) {
        let answer = self.ask(key, Method::Post, path, body).await;
        assert!(!answer.is_success(), "POST {path} was taken: {}", answer.value());
        (answer.status, answer.value()["error"].clone())
    }

    pub(crate) async fn team(&self, slug: &str) -> Team {
        let founded =
            self.service.found(slug, slug, None, OperatorName("operator".to_owned())).await.unwrap();
        let user = founded.raw_key;
        let implementer = self.agent(&user, "implementer", "agent").await;
        let reporter = self.agent(&user, "reporter", "agent").await;
        let reviewer = self.agent(&user, "reviewer", "orchestrator").await;
        let verifier = self.agent(&user, "verifier", "orchestrator").await;
        let made = self
            .post(&user, "/projects", json!({ "name": format!("Project of {slug}"), "slug": "main" }))
            .await;
        let project = made["project"]["id"].as_str().unwrap().to_owned();
        Team { user, implementer, reporter, reviewer, verifier, project }
    }

    /// An agent registers with a key of role agent; for another role a user makes the key with its id.
    async fn agent(&self, user: &str, name: &str, role: &str) -> String {
        let made = self.post(user, "/api_keys", json!({ "name": name, "role": "agent" })).await;
        let key = made["raw_key"].as_str().unwrap().to_owned();
        let kind = if role == "agent" { "implementer" } else { "orchestrator" };
        let registered =
            self.post(&key, "/agents/register", json!({ "name": name, "agent_type": kind })).await;
        if role == "agent" {
            return key;
        }
        let id = registered["agent"]["id"].clone();
        let made = self.post(user, "/api_keys", json!({ "name": name, "role": role, "agent_id": id })).await;
        made["raw_key"].as_str().unwrap().to_owned()
    }

    pub(crate) async fn import(&self, team: &Team, payload: Value) {
        self.post(&team.user, &format!("/projects/{}/import", team.project), payload).await;
    }

    /// Two stories, the second waits for the first.
    pub(crate) async fn two_stories(&self, team: &Team) {
        let payload = json!({
            "epics": [{ "number": 3, "title": "Ingest", "stories": [
                { "number": "3.1", "title": "Read feed", "estimated_hours": 2.5,
                  "acceptance_criteria": [{ "id": "AC-1", "description": "feed is parsed" }] },
                { "number": "3.2", "title": "Store feed" },
            ] }],
            "story_dependencies": [{ "story": "3.2", "depends_on": "3.1" }],
        });
        self.import(team, payload).await;
    }
}
