//! The decision: a request by a known caller becomes entries, or a refusal. Entries are believed as they are recorded, so
//! that the second story of a bulk request is judged after the first; whoever holds the ledger throws it away and reads it
//! again when the journal did not take them.

use super::caller::Caller;
use super::facts::{Change, Entry};
use super::ledger::Ledger;
use super::refusal::Refusal;
use super::vocabulary::{Ids, Micros, ProjectId};
use super::webhooks;
use alloc::vec::Vec;

/// One request's view of the ledger. A command checks everything that could refuse it before it records anything;
/// bulk commands do so story by story.
pub struct Draft<'a> {
    ledger: &'a mut Ledger,
    caller: &'a Caller,
    at: Micros,
    ids: Ids,
    entries: Vec<Entry>,
}

impl<'a> Draft<'a> {
    pub fn new(ledger: &'a mut Ledger, caller: &'a Caller, ids: Ids) -> Self {
        let at = ids.at();
        Self { ledger, caller, at, ids, entries: Vec::new() }
    }

    pub fn ledger(&self) -> &Ledger {
        self.ledger
    }

    pub fn caller(&self) -> &'a Caller {
        self.caller
    }

    pub fn at(&self) -> Micros {
        self.at
    }

    pub fn ids(&mut self) -> &mut Ids {
        &mut self.ids
    }

    pub fn record(&mut self, project: Option<ProjectId>, change: Change) {
        let entry = Entry { at: self.at, by: self.caller.actor(), project, change };
        self.ledger.evolve(&entry);
        self.entries.push(entry);
    }

    /// What must become durable before anybody is answered, with the news of it for those who listen.
    pub fn into_entries(mut self) -> Vec<Entry> {
        if !self.ledger.webhooks.webhooks.is_empty() {
            let news = |entry: &Entry| Some((entry.project, webhooks::news_of(self.ledger, entry)?));
            let news: Vec<_> = self.entries.iter().filter_map(news).collect();
            for (project, (event, payload)) in news {
                webhooks::announce(&mut self, event, project, payload);
            }
        }
        self.entries
    }
}

/// The result of a command: what the caller is told, beside the entries in the draft.
pub type Decided<T> = Result<T, Refusal>;
