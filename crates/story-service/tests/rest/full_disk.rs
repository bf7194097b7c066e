//! A journal that takes nothing any more: writing is refused, reading goes on, and health says why.

use serde_json::{Value, json};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use windlass_control_api::stories::{Answer, Call, Method, StoryApi as _};
use windlass_engine::{
    Append, Holder, Journal, JournalError, Lease, LeaseAnswer, MemoryJournal, Message, RunHead, Stored,
};
use windlass_protocols::{Millis, RunId};
use windlass_story_service::{KeyRing, Machine, OperatorName, Service};

/// Reads as ever; what must be written down fails while the disk is full.
#[derive(Clone, Default)]
struct SmallDisk {
    content: MemoryJournal,
    full: Arc<AtomicBool>,
}

impl SmallDisk {
    fn room(&self) -> Result<(), JournalError> {
        if self.full.load(Ordering::SeqCst) {
            return Err(JournalError::Unavailable { why: "database or disk is full".to_owned() });
        }
        Ok(())
    }
}

impl Journal for SmallDisk {
    async fn append(&self, append: Append) -> Result<(), JournalError> {
        self.room()?;
        self.content.append(append).await
    }

    async fn read(&self, run: &RunId, from: u64) -> Result<Vec<Stored>, JournalError> {
        self.content.read(run, from).await
    }

    async fn runs(&self) -> Result<Vec<RunHead>, JournalError> {
        self.content.runs().await
    }

    async fn acquire(&self, key: &str, owner: &str, at: Millis) -> Result<LeaseAnswer, JournalError> {
        self.room()?;
        self.content.acquire(key, owner, at).await
    }

    async fn holder(&self, key: &str) -> Result<Option<Holder>, JournalError> {
        self.content.holder(key).await
    }

    async fn take_over(&self, holder: &Holder, owner: &str, at: Millis) -> Result<LeaseAnswer, JournalError> {
        self.room()?;
        self.content.take_over(holder, owner, at).await
    }

    async fn release(&self, lease: &Lease) -> Result<(), JournalError> {
        self.room()?;
        self.content.release(lease).await
    }

    async fn post(&self, run: &RunId, body: &str, at: Millis) -> Result<(), JournalError> {
        self.room()?;
        self.content.post(run, body, at).await
    }

    async fn messages(&self, run: &RunId) -> Result<Vec<Message>, JournalError> {
        self.content.messages(run).await
    }

    async fn acknowledge(&self, message: &Message) -> Result<(), JournalError> {
        self.room()?;
        self.content.acknowledge(message).await
    }
}

#[tokio::test]
async fn reading_goes_on_while_nothing_can_be_written() {
    let disk = SmallDisk::default();
    let keys = tempfile::tempdir().unwrap();
    let ring = KeyRing::in_directory(keys.path().to_owned());
    let service = Service::new(disk.clone(), Box::new(Machine), ring, "a test");
    let key = service.found("Acme", "acme", None, OperatorName("operator".to_owned())).await.unwrap().raw_key;
    let ask = async |method: Method, path: &str, body: Value| -> Answer {
        let mut call = Call::new(method, path).with_key(&key);
        if !body.is_null() {
            call = call.with_json(&body);
        }
        service.call(call).await.unwrap()
    };
    let make = async |name: &str| ask(Method::Post, "/api/v1/projects", json!({ "name": name })).await;
    let names = async || {
        let answer = ask(Method::Get, "/api/v1/projects", Value::Null).await;
        assert_eq!(answer.status, 200, "{}", answer.value());
        answer.value()["data"].as_array().unwrap().iter().map(|one| one["name"].clone()).collect::<Vec<_>>()
    };
    assert_eq!(make("One").await.status, 201);

    disk.full.store(true, Ordering::SeqCst);
    for _ in 0..2 {
        assert_eq!(make("Two").await.status, 503);
        assert_eq!(names().await, ["One"]);
        assert_eq!(ask(Method::Get, "/api/v1/tenants/me", Value::Null).await.status, 200);
        let health = ask(Method::Get, "/health", Value::Null).await;
        let reason = health.value()["reason"].as_str().unwrap_or_default().to_owned();
        assert!(health.status == 503 && reason.contains("disk is full"), "{}", health.value());
        assert!(reason.contains("reading goes on"), "{reason}");
    }

    disk.full.store(false, Ordering::SeqCst);
    assert_eq!(ask(Method::Get, "/health", Value::Null).await.status, 200);
    assert_eq!(make("Three").await.status, 201);
    assert_eq!(names().await, ["One", "Three"]);
    let verified = ask(Method::Get, "/api/v1/audit/verify", Value::Null).await;
    assert_eq!(verified.value()["verification"]["holds"], true, "{}", verified.value());
}
