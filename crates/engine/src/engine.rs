//! The order that must never change: decide on what is known, append, only then believe it, only then act.
//! Recovery is the same order from the journal's facts: what is unsettled is sent again under the same id.

use crate::ports::{Append, Clock, EffectRunner, Journal, JournalError, Lease, Stored};
use thiserror::Error;
use windlass_protocols::{Actor, Fact, Observation, Rejection, Run, RunId, Stamped, decide};

pub struct Engine<J, R, C> {
    journal: J,
    runner: R,
    clock: C,
    id: RunId,
    lease: Lease,
    run: Run,
    headline: fn(&Run) -> String,
}

#[derive(Debug, Error)]
pub enum EngineError {
    /// Not allowed now; nothing has changed.
    #[error(transparent)]
    Rejected(#[from] Rejection),
    /// The engine must be thrown away: what the journal holds is only known after reading it again.
    #[error(transparent)]
    Journal(#[from] JournalError),
}

impl<J: Journal, R: EffectRunner, C: Clock> Engine<J, R, C> {
    /// Reads the run as it stands and sends what is unsettled. A run nobody started yet is empty.
    ///
    /// The lease must be held: two engines on one run are kept apart by its fence.
    pub async fn open(
        ports: (J, R, C),
        id: RunId,
        lease: Lease,
        headline: fn(&Run) -> String,
    ) -> Result<Self, EngineError> {
        let run = replay(&id, &ports.0.read(&id, 0).await?)?;
        Ok(Self::over(ports, id, lease, run, headline))
    }

    /// As [`Self::open`], for a caller who has read and folded the run itself, all of it and under this lease: reading
    /// a long run twice would double what resuming it costs.
    pub fn over(
        (journal, runner, clock): (J, R, C),
        id: RunId,
        lease: Lease,
        run: Run,
        headline: fn(&Run) -> String,
    ) -> Self {
        let mut engine = Self { journal, runner, clock, id, lease, run, headline };
        engine.resend();
        engine
    }

    pub fn run(&self) -> &Run {
        &self.run
    }

    pub fn runner(&mut self) -> &mut R {
        &mut self.runner
    }

    pub fn journal(&self) -> &J {
        &self.journal
    }

    /// One turn. The facts returned are durable.
    pub async fn observe(&mut self, by: Actor, body: Observation) -> Result<Vec<Fact>, EngineError> {
        let at = self.clock.now();
        let facts = decide(&self.run, &Stamped { at, by, body })?;
        let mut next = self.run.clone();
        for fact in &facts {
            next.evolve(fact);
        }
        let append = Append {
            lease: self.lease.clone(),
            run: self.id.clone(),
            expected_version: self.run.version,
            at,
            facts: facts.clone(),
            headline: (self.headline)(&next),
        };
        self.journal.append(append).await?;
        self.run = next;
        for fact in &facts {
            if let Fact::EffectRequested { effect, request } = fact {
                self.runner.start(&self.run, *effect, request);
            }
        }
        Ok(facts)
    }

    /// The whole of recovery.
    fn resend(&mut self) {
        for (effect, request) in &self.run.unsettled {
            self.runner.start(&self.run, *effect, request);
        }
    }
}

/// Folds stored facts; only the first unreadable one is an error, with its place.
pub fn replay(id: &RunId, stored: &[Stored]) -> Result<Run, JournalError> {
    let mut run = Run::default();
    for row in stored {
        run.evolve(&row.fact(id)?);
    }
    Ok(run)
}
