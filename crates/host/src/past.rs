//! What a run has behind it, read once: its rows, the facts in them, and the state they fold to. A run only grows, so
//! what was read before a lease was held is still right afterwards; only the rows added since are read again.

use crate::fault::journal_fault;
use windlass_control_api::Fault;
use windlass_engine::{Journal, Stored};
use windlass_journal::SqliteJournal;
use windlass_protocols::{Fact, Run, RunId};

#[derive(Default)]
pub(crate) struct Past {
    pub(crate) stored: Vec<Stored>,
    pub(crate) facts: Vec<Fact>,
    pub(crate) run: Run,
}

impl Past {
    /// Takes in what the journal has beyond it.
    pub(crate) async fn catch_up(&mut self, journal: &SqliteJournal, run: &RunId) -> Result<(), Fault> {
        let news = journal.read(run, self.stored.len() as u64).await.map_err(journal_fault)?;
        self.facts.reserve(news.len());
        for row in &news {
            let fact = row.fact(run).map_err(journal_fault)?;
            self.run.evolve(&fact);
            self.facts.push(fact);
        }
        self.stored.extend(news);
        Ok(())
    }
}
