//! What the journal really holds, read row by row and proved row by row. Everybody who wants to compare something with
//! the truth asks here; nobody's memory counts.

use crate::checks::{Check, Violation};
use windlass_engine::{Journal, MemoryJournal, Stored, chain, ready};
use windlass_protocols::{Fact, Run, RunId};

pub(crate) struct Ledger {
    journal: MemoryJournal,
    id: RunId,
    pub(crate) rows: Vec<Stored>,
    pub(crate) facts: Vec<Fact>,
    /// The fold of the stored facts.
    pub(crate) run: Run,
    hash: String,
    proving: Proving,
}

/// How rows are believed.
pub(crate) enum Proving {
    /// Each one by its hash and its text.
    EveryRow,
    /// A second telling of a proved story: each one by being the same as the first time.
    SameAs { rows: Vec<Stored>, facts: Vec<Fact> },
}

impl Ledger {
    pub(crate) fn new(journal: MemoryJournal, id: RunId, proving: Proving) -> Self {
        let hash = chain::seed(&id);
        Self { journal, id, rows: Vec::new(), facts: Vec::new(), run: Run::default(), hash, proving }
    }

    /// Takes in what was appended since.
    pub(crate) fn catch_up(&mut self) -> Result<(), Violation> {
        let damaged = |why: String| Violation::new(Check::Chain, why);
        let new = ready::block_on(self.journal.read(&self.id, self.rows.len() as u64))
            .map_err(|error| damaged(error.to_string()))?;
        for row in new {
            let next = self.rows.len();
            let fact = match &self.proving {
                Proving::EveryRow => {
                    let hash = chain::link(&self.hash, next as u64, row.at, &row.payload);
                    if row.version != next as u64 || row.hash != hash {
                        return Err(damaged(format!("row {} does not continue the chain", row.version)));
                    }
                    row.fact(&self.id).map_err(|error| damaged(error.to_string()))?
                }
                Proving::SameAs { rows, facts } => match (rows.get(next), facts.get(next)) {
                    (Some(before), Some(fact)) if *before == row => fact.clone(),
                    _ => {
                        let sentence = format!("row {next} is another one the second time: {}", row.payload);
                        return Err(Violation::new(Check::Deterministic, sentence));
                    }
                },
            };
            self.run.evolve(&fact);
            self.facts.push(fact);
            self.hash.clone_from(&row.hash);
            self.rows.push(row);
        }
        Ok(())
    }

    /// Nothing that was proved was changed afterwards, and folding it again gives the same run.
    pub(crate) fn prove(&self) -> Result<(), Violation> {
        let stored = ready::block_on(self.journal.read(&self.id, 0))
            .map_err(|error| Violation::new(Check::Chain, error.to_string()))?;
        if stored != self.rows {
            return Err(Violation::new(Check::Chain, "stored rows were changed later"));
        }
        if Run::replay(&self.facts) != self.run {
            return Err(Violation::new(Check::Replay, "two replays of one journal differ"));
        }
        Ok(())
    }
}
