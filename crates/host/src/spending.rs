//! What agents cost, step by step, from the journal: who was asked for what, when, and what it used. The one place that
//! adds money up across runs; nothing here decides anything.

use crate::fault::journal_fault;
use std::collections::BTreeMap;
use windlass_control_api::Fault;
use windlass_control_api::money::Spent;
use windlass_engine::{Journal, RunHead, Stored};
use windlass_journal::SqliteJournal;
use windlass_protocols::outcome::{Count, Outcome, Price, Usage};
use windlass_protocols::protocol::feedback_control::end::End as ControlEnd;
use windlass_protocols::protocol::feedback_control::facts::Fact as ControlFact;
use windlass_protocols::protocol::goal_contract::end::End as GoalEnd;
use windlass_protocols::protocol::goal_contract::facts::Fact as GoalFact;
use windlass_protocols::protocol::judged_task::end::End;
use windlass_protocols::protocol::judged_task::facts::Fact as TaskFact;
use windlass_protocols::protocol::roadmap_rounds::end::End as RoadmapEnd;
use windlass_protocols::protocol::roadmap_rounds::facts::Fact as RoadmapFact;
use windlass_protocols::{Effect, EffectId, Fact, Millis, Role, RunId};

/// One step of one agent that has ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct SpentStep {
    pub(crate) role: Role,
    pub(crate) agent: String,
    pub(crate) model: Option<String>,
    /// When it was settled, since 1970.
    pub(crate) at: Millis,
    pub(crate) usage: Usage,
}

impl SpentStep {
    pub(crate) fn spent(&self) -> Spent {
        spent(&self.usage)
    }
}

/// One step's use. Tokens without a price are told apart: they were not free.
pub(crate) fn spent(usage: &Usage) -> Spent {
    let unpriced = usage.cost_micros == 0 && usage.told.price == Price::AsAmount;
    Spent {
        steps: 1,
        tokens: usage.tokens,
        input: usage.kinds.input,
        cached: usage.kinds.cached,
        output: usage.kinds.output,
        reasoning: usage.kinds.reasoning,
        cost_micros: usage.cost_micros,
        unpriced_tokens: if unpriced { usage.tokens } else { 0 },
        cut_off_steps: u64::from(usage.told.count == Count::AtLeast),
    }
}

/// What one run spent, and whether anything came of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct SpentRun {
    pub(crate) run: RunId,
    pub(crate) task: String,
    /// The git directory that all worktrees of its repository share.
    pub(crate) common_dir: String,
    pub(crate) accepted: bool,
    pub(crate) steps: Vec<SpentStep>,
}

impl SpentRun {
    pub(crate) fn spent(&self) -> Spent {
        sum(self.steps.iter().map(SpentStep::spent))
    }
}

pub(crate) fn sum(parts: impl Iterator<Item = Spent>) -> Spent {
    parts.fold(Spent::default(), Spent::plus)
}

/// `None` for a run that never started.
pub(crate) async fn of_run(journal: &SqliteJournal, run: &RunId) -> Result<Option<SpentRun>, Fault> {
    let stored = journal.read(run, 0).await.map_err(journal_fault)?;
    of_stored(run, &stored)
}

pub(crate) fn of_stored(run: &RunId, stored: &[Stored]) -> Result<Option<SpentRun>, Fault> {
    let mut spent = None;
    let mut asked: BTreeMap<EffectId, (Role, String)> = BTreeMap::new();
    let mut agents = BTreeMap::new();
    for row in stored {
        match row.fact(run).map_err(journal_fault)? {
            Fact::RunStarted { spec, .. } => {
                agents.clone_from(&spec.place().agents);
                spent = Some(SpentRun {
                    run: run.clone(),
                    task: spec.task().as_str().to_owned(),
                    common_dir: spec.place().common_dir.clone(),
                    accepted: false,
                    steps: Vec::new(),
                });
            }
            Fact::EffectRequested { effect, request: Effect::RunAgent(agent) } => {
                let name = agent.agent.or_else(|| agents.get(&agent.role).cloned()).unwrap_or_default();
                asked.insert(effect, (agent.role, name));
            }
            Fact::EffectSettled { effect, outcome } => {
                if let (Some((role, agent)), Some(spent)) = (asked.remove(&effect), &mut spent) {
                    let usage = outcome.usage();
                    let model = match outcome {
                        Outcome::AgentEnded(report) => report.model,
                        _ => None,
                    };
                    spent.steps.push(SpentStep { role, agent, model, at: row.at, usage });
                }
            }
            Fact::JudgedTask(TaskFact::Concluded { end }) => {
                if let Some(spent) = &mut spent {
                    spent.accepted = matches!(end, End::Accepted { .. });
                }
            }
            Fact::FeedbackControl(ControlFact::Concluded { end }) => {
                if let Some(spent) = &mut spent {
                    spent.accepted = end == ControlEnd::Complete;
                }
            }
            Fact::GoalContract(GoalFact::Concluded { end }) => {
                if let Some(spent) = &mut spent {
                    spent.accepted = end == GoalEnd::Success;
                }
            }
            Fact::RoadmapRounds(RoadmapFact::Concluded { end }) => {
                if let Some(spent) = &mut spent {
                    spent.accepted = end == RoadmapEnd::Complete;
                }
            }
            _ => {}
        }
    }
    Ok(spent)
}

/// What the agents' steps among these facts used. Checks use no tokens, so any step that did is an agent's.
pub(crate) fn of_facts(facts: &[Fact]) -> Spent {
    sum(facts.iter().filter_map(|fact| match fact {
        Fact::EffectSettled { outcome, .. } => {
            let usage = outcome.usage();
            let agents =
                matches!(outcome, Outcome::AgentEnded(_)) || usage.tokens > 0 || !usage.told.is_usual();
            agents.then(|| spent(&usage))
        }
        _ => None,
    }))
}

/// Runs in which something may have been spent since that moment.
pub(crate) async fn since(journal: &SqliteJournal, from: Millis) -> Result<Vec<SpentRun>, Fault> {
    let heads = journal.runs().await.map_err(journal_fault)?;
    let mut runs = Vec::new();
    for RunHead { run, .. } in heads.into_iter().filter(|head| head.updated_at >= from) {
        runs.extend(of_run(journal, &run).await?);
    }
    Ok(runs)
}

/// Tokens and money of the steps that count.
pub(crate) fn total<'a>(steps: impl Iterator<Item = &'a SpentStep>) -> (u64, u64) {
    steps.fold((0, 0), |(tokens, money), step| {
        (tokens.saturating_add(step.usage.tokens), money.saturating_add(step.usage.cost_micros))
    })
}

/// Midnight in the user's own time zone before this moment.
pub(crate) fn start_of_day(now: Millis) -> Millis {
    let millis = i64::try_from(now.0).unwrap_or(i64::MAX);
    let midnight = jiff::Timestamp::from_millisecond(millis)
        .and_then(|moment| moment.to_zoned(jiff::tz::TimeZone::system()).start_of_day());
    midnight.map_or(Millis(0), |midnight| {
        Millis(u64::try_from(midnight.timestamp().as_millisecond()).unwrap_or(0))
    })
}
