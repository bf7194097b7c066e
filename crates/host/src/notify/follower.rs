//! Walks beside the driver of a run and puts down what people are to be told, after the facts are durable. What a killed
//! driver owed is found by its mark, by whoever drives the run next or by the next process that records anything.

use super::courier::Courier;
use super::deliveries::Deliveries;
use super::mark::Mark;
use super::message;
use super::plan::Plan;
use crate::clock::SystemClock;
use crate::fault::journal_fault;
use windlass_control_api::Fault;
use windlass_engine::{Clock, Journal};
use windlass_journal::SqliteJournal;
use windlass_protocols::{Fact, Millis, Run, RunId};

pub(crate) struct Follower {
    teller: Teller,
    courier: Courier,
    mark: Mark,
    /// Something could not be put down: the mark stays where it is, and the next one tries again.
    behind: bool,
}

impl Follower {
    /// `None` where nobody is to be told of anything, which costs nothing then.
    pub(crate) fn open(
        courier: &Courier,
        (id, plan): (&RunId, &Plan),
        (facts, run): (&[Fact], &Run),
    ) -> Result<Option<Self>, Fault> {
        if plan.is_empty() {
            return Ok(None);
        }
        let (mark, told) = Mark::take(courier.deliveries(), id)?;
        let known = usize::try_from(told.unwrap_or(run.version)).unwrap_or(usize::MAX).min(facts.len());
        let mut teller =
            Teller { plan: plan.clone(), run: Run::default(), deliveries: courier.deliveries().clone() };
        if known == facts.len() {
            teller.run = run.clone();
        } else {
            teller.run = Run::replay(&facts[..known]);
        }
        let mut follower = Self { teller, courier: courier.clone(), mark, behind: false };
        follower.follow(&facts[known..])?;
        follower.mark.tell(run.version)?;
        follower.mark.write(plan)?;
        Ok(Some(follower))
    }

    /// These facts are durable: whom they concern is told, whatever becomes of this process.
    pub(crate) fn follow(&mut self, facts: &[Fact]) -> Result<(), Fault> {
        let mut put = 0;
        for fact in facts {
            match self.teller.tell(fact, SystemClock.now()) {
                Ok(count) => put += count,
                Err(fault) => {
                    self.behind = true;
                    return Err(fault);
                }
            }
        }
        if put == 0 {
            return Ok(());
        }
        self.courier.wake();
        if self.behind { Ok(()) } else { self.mark.tell(self.teller.run.version) }
    }
}

impl Follower {
    /// What is not sent yet is left to the next process.
    pub(crate) fn leave_at_once(&self) {
        self.courier.abandon();
    }
}

impl Drop for Follower {
    fn drop(&mut self) {
        if !self.behind {
            self.mark.remove();
        }
    }
}

/// Folds a run and puts down what its facts have to say.
struct Teller {
    plan: Plan,
    run: Run,
    deliveries: Deliveries,
}

impl Teller {
    /// How many deliveries came of it.
    fn tell(&mut self, fact: &Fact, at: Millis) -> Result<usize, Fault> {
        let before = self.run.started.as_ref().map(|started| started.budget);
        self.run.evolve(fact);
        let messages = message::of_fact(&self.plan, &self.run, before.as_ref(), fact, at);
        for message in &messages {
            for channel in &self.plan.channels {
                self.deliveries.put(message, channel)?;
            }
        }
        Ok(messages.len() * self.plan.channels.len())
    }
}

/// Tells of what killed drivers owed.
pub(super) async fn take_up(deliveries: &Deliveries, journal: &SqliteJournal) -> Result<(), Fault> {
    for (mark, id, plan) in Mark::left_behind(deliveries) {
        let stored = journal.read(&id, 0).await.map_err(journal_fault)?;
        let mut teller = Teller { plan, run: Run::default(), deliveries: deliveries.clone() };
        let told = mark.told().unwrap_or(u64::MAX);
        for row in stored {
            let fact = row.fact(&id).map_err(journal_fault)?;
            if teller.run.version < told {
                teller.run.evolve(&fact);
            } else {
                teller.tell(&fact, row.at)?;
            }
        }
        mark.remove();
    }
    Ok(())
}
