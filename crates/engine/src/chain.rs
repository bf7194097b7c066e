//! How a record proves itself: each fact's hash covers the one before it, so changing, dropping or reordering a row
//! breaks every row after it. Anybody with the rows can check this; no key and no program of ours is needed.

use crate::ports::{JournalError, Stored};
use sha2::{Digest, Sha256};
use windlass_protocols::{Millis, RunId};

/// What the first fact of a run is chained to: the run's own name, so that rows cannot be moved between runs.
pub fn seed(run: &RunId) -> String {
    hex(&Sha256::digest(format!("windlass run {run}").as_bytes()))
}

pub fn link(previous: &str, version: u64, at: Millis, payload: &str) -> String {
    let mut hasher = Sha256::new();
    hasher.update(previous.as_bytes());
    hasher.update(version.to_be_bytes());
    hasher.update(at.0.to_be_bytes());
    hasher.update(payload.as_bytes());
    hex(&hasher.finalize())
}

/// How far a chain was followed: what the next row is held against.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tip {
    run: RunId,
    version: u64,
    hash: String,
}

impl Tip {
    /// Before the first fact.
    pub fn start(run: &RunId) -> Self {
        Self { run: run.clone(), version: 0, hash: seed(run) }
    }

    pub fn run(&self) -> &RunId {
        &self.run
    }

    /// The version of the next fact.
    pub fn version(&self) -> u64 {
        self.version
    }

    /// Goes on to this row, or stays and says why it is not the next one.
    pub fn advance(&mut self, row: &Stored) -> Result<(), JournalError> {
        if row.version != self.version {
            return Err(self.damaged("a fact is missing or out of order"));
        }
        let expected = link(&self.hash, row.version, row.at, &row.payload);
        if row.hash != expected {
            return Err(self.damaged("the hash does not match; the row or one before it was changed"));
        }
        self.hash = expected;
        self.version += 1;
        Ok(())
    }

    fn damaged(&self, why: &str) -> JournalError {
        JournalError::Corrupt { run: self.run.clone(), version: self.version, why: why.to_owned() }
    }
}

/// Checks a whole run from its first fact; the hash of the last one is returned.
pub fn verify(run: &RunId, stored: &[Stored]) -> Result<String, JournalError> {
    let mut tip = Tip::start(run);
    stored.iter().try_for_each(|row| tip.advance(row))?;
    Ok(tip.hash)
}

/// By hand: two digits through the formatting machinery cost more than the hash they are of.
fn hex(bytes: &[u8]) -> String {
    let digit = |value: u8| char::from(b"0123456789abcdef"[usize::from(value)]);
    let mut text = String::with_capacity(2 * bytes.len());
    for byte in bytes {
        text.push(digit(byte >> 4));
        text.push(digit(byte & 15));
    }
    text
}
