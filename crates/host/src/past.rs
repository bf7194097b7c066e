//! What a run has behind it, read once: the facts and the state they fold to, proven by the chain. A run only grows, so
//! what was read before a lease was held is still right afterwards; only the rows added since are read again.

use crate::fault::journal_fault;
use tokio::sync::mpsc::{Receiver, channel};
use windlass_control_api::Fault;
use windlass_engine::JournalError;
use windlass_engine::chain::Tip;
use windlass_journal::{Batch, SqliteJournal};
use windlass_protocols::{Fact, Run, RunId};

/// How far the reader may be ahead before it helps.
const BATCHES_AHEAD: usize = 2;

pub(crate) struct Past {
    pub(crate) facts: Vec<Fact>,
    pub(crate) run: Run,
    tip: Tip,
}

impl Past {
    /// Nothing is known yet.
    pub(crate) fn unread(run: &RunId) -> Self {
        Self { facts: Vec::new(), run: Run::default(), tip: Tip::start(run) }
    }

    /// Takes in what the journal has beyond it; nothing is built on a record whose chain is broken.
    pub(crate) async fn catch_up(&mut self, journal: &SqliteJournal) -> Result<(), Fault> {
        let (batches, coming) = channel(BATCHES_AHEAD);
        let read = journal.read_proven(self.tip.clone(), batches);
        let (tip, taken_in) = tokio::join!(read, self.take_in(coming));
        let tip = tip.and_then(|tip| taken_in.map(|()| tip)).map_err(journal_fault)?;
        self.tip = tip;
        Ok(())
    }

    async fn take_in(&mut self, mut coming: Receiver<Batch>) -> Result<(), JournalError> {
        while let Some(batch) = coming.recv().await {
            let facts = batch.into_facts(self.tip.run())?;
            for fact in &facts {
                self.run.evolve(fact);
            }
            self.facts.extend(facts);
        }
        Ok(())
    }
}
