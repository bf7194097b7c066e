//! Bugs put in on purpose, to see that the checks can fail. The engine with a bug is a copy of the real one's order with
//! one thing wrong; the product's own code is never touched.

use crate::control::control_state;
use crate::goal::planted::{self as of_goals, GoalBug};
use crate::ports::{FaultyJournal, Runner, SimClock};
use crate::roadmap::planted::{self as of_roadmaps, RoadmapBug};
use std::sync::atomic::{AtomicU64, Ordering};
use windlass_engine::engine::replay;
use windlass_engine::{Append, Clock, EffectRunner, EngineError, Journal, Lease, LeaseAnswer, ready};
use windlass_protocols::effect::{Ask, CommitIteration, Purpose};
use windlass_protocols::outcome::{ReadingStatus, StepEnd, Usage};
use windlass_protocols::protocol::feedback_control::end::{NodeEnd, NodeStatus};
use windlass_protocols::protocol::feedback_control::facts::Fact as ControlFact;
use windlass_protocols::protocol::feedback_control::spec::Keep;
use windlass_protocols::protocol::feedback_control::steadiness::Standing;
use windlass_protocols::{
    Actor, Effect, EffectId, Fact, Millis, Observation, Outcome, Run, RunId, Stamped, TreeId, decide,
};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PlantedBug {
    /// Nothing wrong: shows that the copy behaves like the real engine.
    None,
    NothingSentAgainAfterARestart,
    SettlesTwice,
    ActsAlthoughTheAppendFailed,
    BelievesAlthoughTheAppendFailed,
    CountsEffectsFromZeroAfterARestart,
    RedChecksCountAsGreen,
    RedChecksReportedGreen,
    FindingsOverlooked,
    LandsAnotherTree,
    LandsAgainWithAnotherTime,
    FeedbackDropped,
    BudgetResetAfterARestart,
    SecondEngineNotFenced,
    StopAcknowledgedTooEarly,
    StopForgottenAfterARestart,
    CarriesOutAgain,
    EndsWithoutClosing,
    TimeFromOutside,
    FailingSensorsCountAsPassing,
    FailingSensorsReportedPassing,
    CommitsAnotherTree,
    CommitsAgainWithAnotherTime,
    ActsOnceMoreThanTheCap,
    MeasuresTheTreeBefore,
    OpensIterationsForEver,
    SkipsCommits,
    AsksWithoutRoom,
    PutsDoubtedContentBack,
    /// Of a goal loop.
    Goal(GoalBug),
    /// Of a roadmap loop.
    Roadmap(RoadmapBug),
}

/// Stands for a clock that does not know the seed.
static OUTSIDE: AtomicU64 = AtomicU64::new(0);

pub(crate) struct BentEngine {
    journal: FaultyJournal,
    runner: Runner,
    clock: SimClock,
    id: RunId,
    lease: Lease,
    run: Run,
    bug: PlantedBug,
    /// How far effect ids are off; only the bug that counts from zero uses it.
    ids_off_by: u64,
}

impl BentEngine {
    pub(crate) fn open(
        (journal, runner, clock): (FaultyJournal, Runner, SimClock),
        id: RunId,
        lease: Lease,
        bug: PlantedBug,
    ) -> Result<Self, EngineError> {
        let mut run = replay(&id, &ready::block_on(journal.read(&id, 0))?)?;
        let ids_off_by = match bug {
            PlantedBug::CountsEffectsFromZeroAfterARestart => run.next_effect,
            _ => 0,
        };
        match (bug, &mut run.started) {
            (PlantedBug::BudgetResetAfterARestart, Some(started)) => started.budget.used = Usage::default(),
            (PlantedBug::StopForgottenAfterARestart, _) => run.stop = None,
            (PlantedBug::Goal(bug), _) => of_goals::recall(bug, &mut run),
            (PlantedBug::Roadmap(bug), _) => of_roadmaps::recall(bug, &mut run),
            _ => {}
        }
        let mut engine = Self { journal, runner, clock, id, lease, run, bug, ids_off_by };
        if bug != PlantedBug::NothingSentAgainAfterARestart {
            for (effect, request) in &engine.run.unsettled {
                engine.runner.start(&engine.run, *effect, request);
            }
        }
        Ok(engine)
    }

    pub(crate) fn run(&self) -> &Run {
        &self.run
    }

    pub(crate) fn observe(&mut self, by: Actor, body: Observation) -> Result<Vec<Fact>, EngineError> {
        let at = match self.bug {
            PlantedBug::TimeFromOutside => Millis(OUTSIDE.fetch_add(1, Ordering::Relaxed)),
            _ => self.clock.now(),
        };
        let facts = self.bent_facts(&Stamped { at, by, body })?;
        let mut next = self.run.clone();
        for fact in &facts {
            next.evolve(fact);
        }
        let append = Append {
            lease: self.bent_lease(),
            run: self.id.clone(),
            expected_version: self.run.version,
            at,
            facts: facts.clone(),
            headline: String::new(),
        };
        match (ready::block_on(self.journal.append(append)), self.bug) {
            (Ok(()), _) => {
                self.run = next;
                self.dispatch(&facts);
                Ok(facts)
            }
            (Err(_), PlantedBug::BelievesAlthoughTheAppendFailed) => {
                self.run = next;
                Ok(facts)
            }
            (Err(error), PlantedBug::ActsAlthoughTheAppendFailed) => {
                self.dispatch(&facts);
                Err(error.into())
            }
            (Err(error), _) => Err(error.into()),
        }
    }

    fn dispatch(&mut self, facts: &[Fact]) {
        for fact in facts {
            if let Fact::EffectRequested { effect, request } = fact {
                self.runner.start(&self.run, *effect, request);
            }
        }
    }

    fn bent_lease(&self) -> Lease {
        if self.bug != PlantedBug::SecondEngineNotFenced {
            return self.lease.clone();
        }
        match ready::block_on(self.journal.acquire(&self.lease.key, "anybody", self.clock.now())) {
            Ok(LeaseAnswer::Granted(lease)) => lease,
            Ok(LeaseAnswer::Held(holder)) => Lease { key: holder.key, fence: holder.fence },
            Err(_) => self.lease.clone(),
        }
    }

    fn bent_facts(&self, observed: &Stamped<Observation>) -> Result<Vec<Fact>, EngineError> {
        let answer = match &observed.body {
            Observation::EffectFinished { effect, outcome } => Some((*effect, outcome)),
            _ => None,
        };
        match (self.bug, answer) {
            (PlantedBug::SettlesTwice, Some((effect, outcome)))
                if effect.0 < self.run.next_effect && !self.run.unsettled.contains_key(&effect) =>
            {
                let outcome = outcome.clone();
                return Ok(vec![Fact::EffectSettled { effect, outcome }]);
            }
            (
                PlantedBug::RedChecksCountAsGreen | PlantedBug::FailingSensorsCountAsPassing,
                Some((effect, outcome)),
            ) => {
                let mut facts = decide(&self.run, &with_outcome(observed, effect, greened(outcome)))?;
                keep_the_record(&mut facts, outcome);
                return Ok(facts);
            }
            (PlantedBug::FindingsOverlooked, Some((effect, outcome))) => {
                let mut facts = decide(&self.run, &with_outcome(observed, effect, overlooked(outcome)))?;
                keep_the_record(&mut facts, outcome);
                return Ok(facts);
            }
            (
                PlantedBug::RedChecksReportedGreen | PlantedBug::FailingSensorsReportedPassing,
                Some((effect, outcome)),
            ) => {
                return Ok(decide(&self.run, &with_outcome(observed, effect, greened(outcome)))?);
            }
            (PlantedBug::Goal(bug), Some((effect, outcome))) => {
                if let Some(retold) = of_goals::retold(bug, &self.run, outcome) {
                    let mut facts = decide(&self.run, &with_outcome(observed, effect, retold))?;
                    if of_goals::records_the_truth(bug) {
                        keep_the_record(&mut facts, outcome);
                    }
                    return Ok(facts);
                }
            }
            (PlantedBug::Roadmap(bug), Some((effect, outcome))) => {
                if let Some(retold) = of_roadmaps::retold(bug, outcome) {
                    let run = self.bent_run(&observed.body);
                    let mut facts = decide(&run, &with_outcome(observed, effect, retold))?;
                    of_roadmaps::keep_the_record(bug, &mut facts, outcome);
                    return Ok(facts);
                }
            }
            _ => {}
        }
        let mut facts = decide(&self.bent_run(&observed.body), observed)?;
        self.bend(&mut facts);
        Ok(facts)
    }

    /// What the decision believes.
    fn bent_run(&self, observed: &Observation) -> Run {
        let mut run = self.run.clone();
        if let PlantedBug::Goal(bug) = self.bug {
            of_goals::believe(bug, &mut run, observed);
        }
        if let PlantedBug::Roadmap(bug) = self.bug {
            of_roadmaps::believe(bug, &mut run, observed);
        }
        if let (PlantedBug::ActsOnceMoreThanTheCap, Some(started)) = (self.bug, &mut run.started) {
            started.budget.caps.rounds += 1;
        }
        run
    }

    /// An entry of a node that has used up its iterations goes on.
    fn forget_the_cap(&self, facts: &mut Vec<Fact>) {
        let keeps_last = control_state(&self.run).is_some_and(|state| state.spec.keep == Keep::Last);
        if self.bug != PlantedBug::OpensIterationsForEver || !keeps_last {
            return;
        }
        facts.retain(|fact| {
            let over = ControlFact::NodeConcluded { depth: 0, end: NodeEnd::MaxIterations };
            *fact != Fact::FeedbackControl(over)
        });
    }

    /// Where the last commit of a loop puts the best content back: one that looks better and was found out.
    fn doubted_content(&self, commit: &CommitIteration) -> Option<TreeId> {
        let state = control_state(&self.run)?;
        let puts_back = commit.depth == 0 && commit.status == NodeStatus::MaxIterationsReached;
        let points = state.stack.first()?.steadiness.points();
        let doubted = points.iter().find(|point| point.standing == Standing::Doubted)?;
        (puts_back && state.spec.keep == Keep::Best).then(|| doubted.plant.clone())
    }

    fn bend(&self, facts: &mut Vec<Fact>) {
        self.forget_the_cap(facts);
        if let PlantedBug::Goal(bug) = self.bug {
            of_goals::bend(bug, facts, self.clock.now());
        }
        if let PlantedBug::Roadmap(bug) = self.bug {
            of_roadmaps::bend(bug, facts);
        }
        for fact in facts {
            let Fact::EffectRequested { effect, request } = fact else {
                continue;
            };
            match (self.bug, request) {
                (PlantedBug::CountsEffectsFromZeroAfterARestart, _) => {
                    effect.0 = effect.0.saturating_sub(self.ids_off_by);
                }
                (PlantedBug::LandsAnotherTree, Effect::LandChange(land)) => {
                    land.tree = TreeId::new("tree-nobody-judged");
                }
                (PlantedBug::LandsAgainWithAnotherTime, Effect::LandChange(land)) => {
                    land.decided_at = self.clock.now();
                }
                (PlantedBug::FeedbackDropped, Effect::RunAgent(agent)) => {
                    if let Ask::Fresh { feedback, .. } = &mut agent.ask {
                        feedback.clear();
                    }
                }
                (PlantedBug::CommitsAnotherTree, Effect::CommitIteration(commit)) => {
                    commit.plant = TreeId::new("tree-nobody-measured");
                }
                (PlantedBug::CommitsAgainWithAnotherTime, Effect::CommitIteration(commit)) => {
                    commit.decided_at = self.clock.now();
                }
                (PlantedBug::PutsDoubtedContentBack, Effect::CommitIteration(commit)) => {
                    if let Some(doubted) = self.doubted_content(commit) {
                        commit.plant = doubted;
                    }
                }
                (PlantedBug::MeasuresTheTreeBefore, Effect::Measure(measure)) => {
                    measure.tree = TreeId::new(crate::answers::BASE_TREE);
                }
                (PlantedBug::AsksWithoutRoom, Effect::RunAgent(agent)) => agent.limits.tokens = Some(0),
                (PlantedBug::EndsWithoutClosing, Effect::CloseRun(_)) => *fact = Fact::RunEnded,
                _ => {}
            }
        }
    }
}

/// The decision goes by something else than what is stored.
fn keep_the_record(facts: &mut [Fact], outcome: &Outcome) {
    for fact in facts {
        if let Fact::EffectSettled { outcome: stored, .. } = fact {
            *stored = outcome.clone();
        }
    }
}

fn with_outcome(observed: &Stamped<Observation>, effect: EffectId, outcome: Outcome) -> Stamped<Observation> {
    Stamped {
        at: observed.at,
        by: observed.by.clone(),
        body: Observation::EffectFinished { effect, outcome },
    }
}

/// The same without anything that was found about the gate.
fn overlooked(outcome: &Outcome) -> Outcome {
    let mut outcome = outcome.clone();
    match &mut outcome {
        Outcome::ChangeCaptured(change) => change.gate.clear(),
        Outcome::GateInspected(report) => report.findings.clear(),
        _ => {}
    }
    outcome
}

/// The same report with every required check green and every sensor passing.
fn greened(outcome: &Outcome) -> Outcome {
    let mut outcome = outcome.clone();
    match &mut outcome {
        Outcome::ChecksRan(report) if report.purpose != Purpose::Baseline => {
            for result in &mut report.results {
                result.end = StepEnd::Exited { code: 0 };
            }
        }
        Outcome::Measured(report) => {
            for reading in &mut report.readings {
                reading.status = ReadingStatus::Pass;
            }
        }
        _ => {}
    }
    outcome
}
