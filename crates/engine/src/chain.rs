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

/// Checks a whole run from its first fact; the hash of the last one is returned.
pub fn verify(run: &RunId, stored: &[Stored]) -> Result<String, JournalError> {
    let mut previous = seed(run);
    for (position, row) in stored.iter().enumerate() {
        let damaged = |why: &str| JournalError::Corrupt {
            run: run.clone(),
            version: position as u64,
            why: why.to_owned(),
        };
        if row.version != position as u64 {
            return Err(damaged("a fact is missing or out of order"));
        }
        let expected = link(&previous, row.version, row.at, &row.payload);
        if row.hash != expected {
            return Err(damaged("the hash does not match; the row or one before it was changed"));
        }
        previous = expected;
    }
    Ok(previous)
}

/// By hand: two digits through the formatting machinery cost more than the hash they are of.
fn hex(bytes: &[u8]) -> String {
    let digit = |value: u8| char::from(b"0123456789abcdef"[usize::from(value)]);
    bytes.iter().flat_map(|byte| [digit(byte >> 4), digit(byte & 15)]).collect()
}
