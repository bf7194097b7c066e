//! Requests to stop that people left in the run's mailbox, and what became of each.

use crate::checks::{Check, Violation};
use crate::ledger::Ledger;
use windlass_engine::{Journal, MemoryJournal, ready};
use windlass_protocols::{Fact, RunId};

#[derive(Default)]
pub(crate) struct Stops {
    /// Posted and neither journaled nor known to be pointless.
    open: Vec<String>,
    posted: u32,
}

impl Stops {
    pub(crate) fn next(&mut self) -> String {
        self.posted += 1;
        let reason = format!("stop {}", self.posted);
        self.open.push(reason.clone());
        reason
    }

    /// The run had ended before anybody read it.
    pub(crate) fn pointless(&mut self, reason: &str) {
        self.open.retain(|open| open != reason);
    }

    pub(crate) fn are_kept(
        &mut self,
        journal: &MemoryJournal,
        run: &RunId,
        ledger: &Ledger,
    ) -> Result<(), Violation> {
        if self.open.is_empty() {
            return Ok(());
        }
        self.open.retain(|open| {
            !ledger.facts.iter().any(|fact| matches!(fact, Fact::StopAsked { reason, .. } if reason == open))
        });
        let waiting = ready::block_on(journal.messages(run)).unwrap_or_default();
        match self.open.iter().find(|open| !waiting.iter().any(|message| message.body == **open)) {
            Some(gone) => {
                Err(Violation::new(Check::StopIsKept, format!("`{gone}` is neither waiting nor journaled")))
            }
            None => Ok(()),
        }
    }
}
