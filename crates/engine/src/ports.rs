//! The three things the engine needs from outside. Everything a second database must offer stands here, with what it
//! must promise; `conformance` holds it to that.

use std::future::Future;
use thiserror::Error;
use windlass_protocols::{Effect, EffectId, Fact, Millis, Run, RunId};

/// Where facts become durable. One journal serves many runs and many processes.
pub trait Journal {
    /// Appends all facts or none. When this returns `Ok`, they survive the loss of power.
    ///
    /// Refused when the run's version is not the expected one or when the lease was taken over since. An error of kind
    /// `Unavailable` leaves open whether the facts were stored: whoever sees it must read before deciding again.
    fn append(&self, append: Append) -> impl Future<Output = Result<(), JournalError>> + Send;

    /// All facts of a run from a version on, in order; an unknown run has none.
    fn read(&self, run: &RunId, from: u64) -> impl Future<Output = Result<Vec<Stored>, JournalError>> + Send;

    /// One line per run, the newest first.
    fn runs(&self) -> impl Future<Output = Result<Vec<RunHead>, JournalError>> + Send;

    /// Asks for the sole right to something. Whoever holds it is told; nothing is waited for.
    fn acquire(
        &self,
        key: &str,
        owner: &str,
        at: Millis,
    ) -> impl Future<Output = Result<LeaseAnswer, JournalError>> + Send;

    /// Who holds a lease, without asking for it.
    fn holder(&self, key: &str) -> impl Future<Output = Result<Option<Holder>, JournalError>> + Send;

    /// Takes a lease from a holder known to be gone; refused when somebody else was faster.
    fn take_over(
        &self,
        holder: &Holder,
        owner: &str,
        at: Millis,
    ) -> impl Future<Output = Result<LeaseAnswer, JournalError>> + Send;

    /// Gives a lease back. Giving back what was taken over since changes nothing.
    fn release(&self, lease: &Lease) -> impl Future<Output = Result<(), JournalError>> + Send;

    /// Leaves a message for whoever drives the run.
    fn post(
        &self,
        run: &RunId,
        body: &str,
        at: Millis,
    ) -> impl Future<Output = Result<(), JournalError>> + Send;

    /// The messages nobody has dealt with, the oldest first.
    fn messages(&self, run: &RunId) -> impl Future<Output = Result<Vec<Message>, JournalError>> + Send;

    /// A message was dealt with.
    fn acknowledge(&self, message: &Message) -> impl Future<Output = Result<(), JournalError>> + Send;
}

/// Where effects are carried out. Never blocks: the answer comes back as an observation.
pub trait EffectRunner {
    /// Called only after the fact that requests the effect is durable; may be called again with the same id after a
    /// restart and must then find out what became of the first time.
    fn start(&mut self, run: &Run, effect: EffectId, request: &Effect);
}

pub trait Clock {
    /// Milliseconds since 1970.
    fn now(&self) -> Millis;
}

#[derive(Clone, Debug)]
pub struct Append {
    pub lease: Lease,
    pub run: RunId,
    pub expected_version: u64,
    pub at: Millis,
    pub facts: Vec<Fact>,
    /// The run in one line of JSON for lists; can be dropped and rebuilt from the facts.
    pub headline: String,
}

/// A fact as it was stored: the exact text that was hashed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stored {
    /// Counted from 0 in each run.
    pub version: u64,
    pub at: Millis,
    pub payload: String,
    pub hash: String,
}

impl Stored {
    pub fn fact(&self, run: &RunId) -> Result<Fact, JournalError> {
        serde_json::from_str(&self.payload).map_err(|error| JournalError::Corrupt {
            run: run.clone(),
            version: self.version,
            why: format!("the fact cannot be read: {error}"),
        })
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RunHead {
    pub run: RunId,
    pub version: u64,
    pub started_at: Millis,
    pub updated_at: Millis,
    pub headline: String,
}

/// The sole right to something; every later holder of the same key has a higher fence.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Lease {
    pub key: String,
    pub fence: u64,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LeaseAnswer {
    Granted(Lease),
    Held(Holder),
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Holder {
    pub key: String,
    pub owner: String,
    pub fence: u64,
    pub since: Millis,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Message {
    pub id: u64,
    pub run: RunId,
    pub body: String,
    pub at: Millis,
}

#[derive(Debug, Error)]
pub enum JournalError {
    #[error("run {run} is at version {actual}, not {expected}")]
    VersionConflict { run: RunId, expected: u64, actual: u64 },
    #[error("the lease on {key} was taken over")]
    Fenced { key: String },
    #[error("the journal of run {run} is damaged at version {version}: {why}")]
    Corrupt { run: RunId, version: u64, why: String },
    #[error("the journal cannot be used: {why}")]
    Unavailable { why: String },
}
