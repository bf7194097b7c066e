//! The reference journal: nothing but maps behind a lock. Tests and the simulator use it; it says by example what the
//! durable ones must do.

use crate::chain;
use crate::ports::{Append, Holder, Journal, JournalError, Lease, LeaseAnswer, Message, RunHead, Stored};
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use windlass_protocols::{Millis, RunId};

/// Clones share one content, as processes share one database.
#[derive(Clone, Debug, Default)]
pub struct MemoryJournal(Arc<Mutex<Content>>);

#[derive(Debug, Default)]
struct Content {
    streams: BTreeMap<RunId, Vec<Stored>>,
    heads: BTreeMap<RunId, RunHead>,
    leases: BTreeMap<String, LeaseRow>,
    messages: Vec<Message>,
    next_message: u64,
}

#[derive(Debug)]
struct LeaseRow {
    fence: u64,
    /// Absent when given back; the fence stays, so that it never goes down.
    held: Option<(String, Millis)>,
}

impl MemoryJournal {
    fn content(&self) -> MutexGuard<'_, Content> {
        // A panic while the lock was held leaves whole values behind: every change below is a single step.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Journal for MemoryJournal {
    async fn append(&self, append: Append) -> Result<(), JournalError> {
        let mut content = self.content();
        let holds = content
            .leases
            .get(&append.lease.key)
            .is_some_and(|row| row.fence == append.lease.fence && row.held.is_some());
        if !holds {
            return Err(JournalError::Fenced { key: append.lease.key });
        }
        let stream = content.streams.entry(append.run.clone()).or_default();
        let actual = stream.len() as u64;
        if actual != append.expected_version {
            return Err(JournalError::VersionConflict {
                run: append.run,
                expected: append.expected_version,
                actual,
            });
        }
        let mut previous =
            stream.last().map_or_else(|| chain::seed(&append.run), |stored| stored.hash.clone());
        for fact in &append.facts {
            let version = stream.len() as u64;
            let payload = serde_json::to_string(fact)
                .map_err(|error| JournalError::Unavailable { why: error.to_string() })?;
            let hash = chain::link(&previous, version, append.at, &payload);
            previous.clone_from(&hash);
            stream.push(Stored { version, at: append.at, payload, hash });
        }
        let version = stream.len() as u64;
        let started_at = stream.first().map_or(append.at, |stored| stored.at);
        content.heads.insert(
            append.run.clone(),
            RunHead {
                run: append.run,
                version,
                started_at,
                updated_at: append.at,
                headline: append.headline,
            },
        );
        Ok(())
    }

    async fn read(&self, run: &RunId, from: u64) -> Result<Vec<Stored>, JournalError> {
        let content = self.content();
        let stream = content.streams.get(run).map(Vec::as_slice).unwrap_or_default();
        let from = usize::try_from(from).unwrap_or(usize::MAX).min(stream.len());
        Ok(stream[from..].to_vec())
    }

    async fn runs(&self) -> Result<Vec<RunHead>, JournalError> {
        let mut heads: Vec<RunHead> = self.content().heads.values().cloned().collect();
        heads.sort_by(|a, b| b.started_at.cmp(&a.started_at).then_with(|| b.run.cmp(&a.run)));
        Ok(heads)
    }

    async fn acquire(&self, key: &str, owner: &str, at: Millis) -> Result<LeaseAnswer, JournalError> {
        let mut content = self.content();
        let row = content.leases.entry(key.to_owned()).or_insert(LeaseRow { fence: 0, held: None });
        Ok(match &row.held {
            Some((owner, since)) => LeaseAnswer::Held(Holder {
                key: key.to_owned(),
                owner: owner.clone(),
                fence: row.fence,
                since: *since,
            }),
            None => grant(row, key, owner, at),
        })
    }

    async fn holder(&self, key: &str) -> Result<Option<Holder>, JournalError> {
        let content = self.content();
        Ok(content.leases.get(key).and_then(|row| {
            let (owner, since) = row.held.as_ref()?;
            Some(Holder { key: key.to_owned(), owner: owner.clone(), fence: row.fence, since: *since })
        }))
    }

    async fn take_over(&self, holder: &Holder, owner: &str, at: Millis) -> Result<LeaseAnswer, JournalError> {
        let mut content = self.content();
        let row = content.leases.entry(holder.key.clone()).or_insert(LeaseRow { fence: 0, held: None });
        Ok(match &row.held {
            Some((current, since)) if row.fence != holder.fence => LeaseAnswer::Held(Holder {
                key: holder.key.clone(),
                owner: current.clone(),
                fence: row.fence,
                since: *since,
            }),
            Some(_) | None => grant(row, &holder.key, owner, at),
        })
    }

    async fn release(&self, lease: &Lease) -> Result<(), JournalError> {
        if let Some(row) = self.content().leases.get_mut(&lease.key)
            && row.fence == lease.fence
        {
            row.held = None;
        }
        Ok(())
    }

    async fn post(&self, run: &RunId, body: &str, at: Millis) -> Result<(), JournalError> {
        let mut content = self.content();
        let id = content.next_message;
        content.next_message += 1;
        content.messages.push(Message { id, run: run.clone(), body: body.to_owned(), at });
        Ok(())
    }

    async fn messages(&self, run: &RunId) -> Result<Vec<Message>, JournalError> {
        Ok(self.content().messages.iter().filter(|message| message.run == *run).cloned().collect())
    }

    async fn acknowledge(&self, message: &Message) -> Result<(), JournalError> {
        self.content().messages.retain(|kept| kept.id != message.id);
        Ok(())
    }
}

fn grant(row: &mut LeaseRow, key: &str, owner: &str, at: Millis) -> LeaseAnswer {
    row.fence += 1;
    row.held = Some((owner.to_owned(), at));
    LeaseAnswer::Granted(Lease { key: key.to_owned(), fence: row.fence })
}
