//! A long past for a run, played through the real decisions with the answers of a short real run, so that everything it
//! speaks of exists. It writes no file of its own but the journal it is asked for.

use std::path::Path;

use anyhow::{Context, Result, bail};
use tokio::runtime::Runtime;
use windlass_engine::{Append, Journal, Lease, LeaseAnswer};
use windlass_journal::SqliteJournal;
use windlass_protocols::outcome::CapturedChange;
use windlass_protocols::protocol::{Protocol, Spec};
use windlass_protocols::{
    Actor, Effect, Fact, Millis, Observation, Outcome, Role, Run, RunId, Stamped, TreeId, decide,
};

/// How many facts go into one transaction while a past is written.
const FACTS_A_COMMIT: usize = 5_000;
/// The moment at which pasts begin; they only need to be in order.
const LONG_AGO: u64 = 1_700_000_000_000;

/// What a short real run did and was answered.
pub(crate) struct Rehearsal {
    pub(crate) run: RunId,
    pub(crate) headline: String,
    spec: Spec,
    prepared: Outcome,
    doer: Outcome,
    change: CapturedChange,
    judge: Outcome,
}

impl Rehearsal {
    /// Reads the only run of a journal; its first round must have been rejected by the judge.
    pub(crate) fn read(runtime: &Runtime, journal: &Path) -> Result<Self> {
        let journal = SqliteJournal::open(journal)?;
        let head = runtime.block_on(journal.runs())?.into_iter().next().context("the journal is empty")?;
        let stored = runtime.block_on(journal.read(&head.run, 0))?;
        let facts: Vec<Fact> = stored.iter().map(|row| row.fact(&head.run)).collect::<Result<_, _>>()?;
        let spec = facts.iter().find_map(|fact| match fact {
            Fact::RunStarted { spec, .. } => Some(spec.clone()),
            _ => None,
        });
        let mut answers = facts.iter().filter_map(|fact| match fact {
            Fact::EffectSettled { outcome, .. } => Some(outcome.clone()),
            _ => None,
        });
        let mut next = || answers.next().context("the run ended too early");
        let (prepared, doer, change, judge) = (next()?, next()?, next()?, next()?);
        let Outcome::ChangeCaptured(change) = change else { bail!("the third answer is no change") };
        let mut spec = spec.context("the run was never started")?;
        let Spec::JudgedTask(task) = &mut spec else { unreachable!("the profile is of a task loop") };
        task.caps.rounds = u32::MAX;
        Ok(Self { run: head.run, headline: head.headline, spec, prepared, doer, change, judge })
    }

    pub(crate) fn beginning(&self) -> Observation {
        Observation::Start { run: self.run.clone(), spec: self.spec.clone() }
    }

    /// The rehearsed answer to whatever the run is waiting for, with a change of its own in each round.
    pub(crate) fn answer(&self, run: &Run) -> Result<Observation> {
        let (effect, request) = run.unsettled.first_key_value().context("the run waits for nothing")?;
        let outcome = match request {
            Effect::PrepareWorkspaces => self.prepared.clone(),
            Effect::RunAgent(asked) if asked.role == Role::Doer => self.doer.clone(),
            Effect::RunAgent(asked) if asked.role == Role::Judge => self.judge.clone(),
            Effect::CaptureChange { round } => Outcome::ChangeCaptured(CapturedChange {
                round: *round,
                tree: TreeId::new(format!("{round:040x}")),
                ..self.change.clone()
            }),
            other => bail!("nobody rehearsed {}", other.name()),
        };
        Ok(Observation::EffectFinished { effect: *effect, outcome })
    }

    /// Facts of an unfinished run that waits for its doer, at least this many.
    pub(crate) fn facts(&self, at_least: usize) -> Result<Vec<Fact>> {
        let mut run = Run::default();
        let mut facts = Vec::new();
        let mut observation = self.beginning();
        loop {
            let at = Millis(LONG_AGO + facts.len() as u64);
            let decided = decide(&run, &Stamped { at, by: Actor::Engine, body: observation })?;
            for fact in &decided {
                run.evolve(fact);
            }
            facts.extend(decided);
            if facts.len() >= at_least && waits_for_doer(&run) {
                return Ok(facts);
            }
            forget_rejected_trees(&mut run);
            observation = self.answer(&run)?;
        }
    }
}

fn waits_for_doer(run: &Run) -> bool {
    run.unsettled.values().any(|effect| matches!(effect, Effect::RunAgent(asked) if asked.role == Role::Doer))
}

/// They only matter when a change comes back, and no change does; copying them would make a long past quadratic.
fn forget_rejected_trees(run: &mut Run) {
    if let Some(started) = &mut run.started {
        let Protocol::JudgedTask(state) = &mut started.protocol else {
            unreachable!("the profile is of a task loop")
        };
        state.rejected_trees.clear();
    }
}

/// The sole right to write to a journal nobody else knows.
pub(crate) async fn lease(journal: &SqliteJournal) -> Result<Lease> {
    match journal.acquire("bench", "bench", Millis(LONG_AGO)).await? {
        LeaseAnswer::Granted(lease) => Ok(lease),
        LeaseAnswer::Held(holder) => bail!("{} holds a fresh journal", holder.owner),
    }
}

/// Makes a journal with one run of these facts.
pub(crate) async fn write(path: &Path, rehearsal: &Rehearsal, facts: &[Fact]) -> Result<()> {
    let journal = SqliteJournal::open(path)?;
    let lease = lease(&journal).await?;
    for (batch, facts) in facts.chunks(FACTS_A_COMMIT).enumerate() {
        let version = (batch * FACTS_A_COMMIT) as u64;
        let append = Append {
            lease: lease.clone(),
            run: rehearsal.run.clone(),
            expected_version: version,
            at: Millis(LONG_AGO + version),
            facts: facts.to_vec(),
            headline: rehearsal.headline.clone(),
        };
        journal.append(append).await?;
    }
    journal.release(&lease).await?;
    Ok(())
}
