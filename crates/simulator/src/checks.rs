//! What is held against a run after every step, beyond the invariants the protocols bring themselves. Each check has a
//! name, so that a planted bug can say which of them caught it.

use crate::control;
use crate::goal;
use crate::ledger::Ledger;
use crate::roadmap;
use crate::world::Truth;
use std::fmt;
use windlass_protocols::outcome::Usage;
use windlass_protocols::protocol::feedback_control::end::End as ControlEnd;
use windlass_protocols::protocol::goal_contract::end::End as GoalEnd;
use windlass_protocols::protocol::judged_task::end::End;
use windlass_protocols::protocol::judged_task::facts::{Fact as TaskFact, Source};
use windlass_protocols::protocol::judged_task::spec::{AuditPolicy, TaskSpec};
use windlass_protocols::protocol::roadmap_rounds::end::End as RoadmapEnd;
use windlass_protocols::protocol::{Protocol, Spec};
use windlass_protocols::{Fact, Role, Run, TreeId, explain, inbox, invariants};

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Check {
    /// The record proves itself: hashes, order, text.
    Chain,
    /// What the engine believes is what the journal says.
    Replay,
    /// The protocol's own list.
    Invariants,
    /// Nothing begins in the world before the fact that asks for it is stored.
    StoredFirst,
    /// An id names one effect, for ever.
    IdNamesOneEffect,
    /// One engine starts one effect once.
    StartedOnce,
    /// An engine whose lease was taken over neither writes nor acts.
    Fencing,
    /// What was used up never becomes less.
    BudgetOnlyGrows,
    /// What ended stays ended until somebody takes it up.
    EndedStaysEnded,
    /// What was accepted is what the world's checks and agents passed.
    AcceptedInTruth,
    /// One acceptance is one commit in one place.
    LandedOnce,
    /// What counts as met passes every required sensor of its node in the world.
    MetInTruth,
    /// One iteration is one commit of the branch, each on the one before.
    CommittedOnce,
    /// No node has more iterations than its cap allows.
    Capped,
    /// Nobody is asked to work with nothing left of a share or a cap.
    RoomToWork,
    /// A tree is committed for an item only if it was green, passed and approved as it is.
    JudgedInTruth,
    /// Iterations, commits, rework: what was counted stays counted.
    CountersOnlyGrow,
    /// A person's word that is asked for is taken; one that is not is refused.
    PersonHeard,
    /// A doubled, late or unfitting answer is refused; a proper one is not.
    Answers,
    /// A request to stop is waiting, journaled or pointless; never gone.
    StopIsKept,
    /// Whoever gives an ended run enough room can take it up or land it.
    WayOn,
    /// Without faults a run ends.
    Ends,
    /// The same seed tells the same story.
    Deterministic,
    /// No code of ours panics.
    NoPanic,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Violation {
    pub check: Check,
    pub sentence: String,
}

impl Violation {
    pub(crate) fn new(check: Check, sentence: impl Into<String>) -> Self {
        Self { check, sentence: sentence.into() }
    }
}

impl fmt::Display for Violation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}: {}", self.check, self.sentence)
    }
}

/// Remembers what must not go back.
#[derive(Default)]
pub(crate) struct Checker {
    used: Usage,
    /// How many facts were looked at; others read the ledger in between.
    seen: usize,
    was_ended: bool,
    counters: goal::checks::Counters,
    of_the_roadmap: roadmap::checks::Counters,
}

impl Checker {
    /// After every step: what was stored, and what a live engine makes of it.
    pub(crate) fn step(
        &mut self,
        ledger: &mut Ledger,
        truth: &Truth,
        live: Option<&Run>,
    ) -> Result<(), Violation> {
        ledger.catch_up()?;
        let new = &ledger.facts[self.seen..];
        self.seen = ledger.facts.len();
        if let Some(live) = live {
            self.budget_only_grows(live)?;
            self.counters.grow(live)?;
            self.of_the_roadmap.grow(live)?;
        }
        self.budget_only_grows(&ledger.run)?;
        self.counters.grow(&ledger.run)?;
        self.of_the_roadmap.grow(&ledger.run)?;
        if !new.is_empty() {
            if let Some(sentence) = invariants::violations(&ledger.facts).into_iter().next() {
                return Err(Violation::new(Check::Invariants, sentence));
            }
            ended_stays_ended(self.was_ended, new)?;
            self.was_ended = ledger.run.ended;
            control::checks::hold(&ledger.facts, new, truth)?;
            goal::checks::hold(&ledger.facts, new, &ledger.run, &truth.goal)?;
            roadmap::checks::hold(new, truth.roadmap.as_ref())?;
            for fact in new {
                if let Fact::JudgedTask(TaskFact::Concluded { end: End::Accepted { tree } }) = fact {
                    accepted_in_truth(&ledger.facts, truth, tree)?;
                }
            }
        }
        if let Some(live) = live {
            if *live != ledger.run {
                let sentence = format!(
                    "the engine stands at version {}, the journal at {}, and they differ",
                    live.version, ledger.run.version
                );
                return Err(Violation::new(Check::Replay, sentence));
            }
            // Whatever the state, there is a sentence for it; this must not panic.
            let _ = (explain::explain(live), inbox::waiting(live));
        }
        Ok(())
    }

    fn budget_only_grows(&mut self, run: &Run) -> Result<(), Violation> {
        let Some(started) = &run.started else {
            return Ok(());
        };
        let (now, before) = (started.budget.used, self.used);
        if now.duration < before.duration
            || now.output_bytes < before.output_bytes
            || now.tokens < before.tokens
            || now.cost_micros < before.cost_micros
        {
            let sentence = format!("used was {before:?} and is {now:?}");
            return Err(Violation::new(Check::BudgetOnlyGrows, sentence));
        }
        self.used = now;
        Ok(())
    }
}

fn ended_stays_ended(ended_before: bool, new: &[Fact]) -> Result<(), Violation> {
    match new.first() {
        Some(Fact::RunReopened { .. } | Fact::LandingAsked { .. } | Fact::PersonSaid { .. }) | None => Ok(()),
        Some(fact) if ended_before => {
            Err(Violation::new(Check::EndedStaysEnded, format!("{} follows the end", fact.name())))
        }
        Some(_) => Ok(()),
    }
}

/// Holds an acceptance against what happened in the world, not against what was reported about it.
fn accepted_in_truth(facts: &[Fact], truth: &Truth, tree: &TreeId) -> Result<(), Violation> {
    let Some(Fact::RunStarted { spec: Spec::JudgedTask(spec), .. }) = facts.first() else {
        return Ok(());
    };
    let refuse = |why: String| Err(Violation::new(Check::AcceptedInTruth, why));
    for command in &spec.checks {
        if !truth.is_green(tree, command) {
            return refuse(format!("`{command}` is red on accepted {tree}"));
        }
    }
    if !truth.judge_passed.contains(tree) && !brought_along(spec, facts, Role::Judge) {
        return refuse(format!("no judge passed accepted {tree}"));
    }
    if spec.audit == AuditPolicy::Skipped {
        return Ok(());
    }
    for command in &spec.audit_checks {
        if !truth.is_green(tree, command) {
            return refuse(format!("audit check `{command}` is red on accepted {tree}"));
        }
    }
    if !truth.auditor_passed.contains(tree) && !brought_along(spec, facts, Role::Auditor) {
        return refuse(format!("no auditor passed accepted {tree}"));
    }
    Ok(())
}

/// A sound word of a run that was begun elsewhere counts, when its whole round was brought along and it is the last
/// one that was taken in that role.
fn brought_along(spec: &TaskSpec, facts: &[Fact], role: Role) -> bool {
    let Some(adopted) = &spec.adopted else {
        return false;
    };
    let (Some(handoff), Some(verdict)) = (&adopted.handoff, &adopted.verdict) else {
        return false;
    };
    let named = |id: &String| verdict.requirements_checked.contains(id);
    let sound = verdict.requirements_missing.is_empty() && handoff.requirements_touched.iter().all(named);
    let artifact = match role {
        Role::Auditor => match &adopted.audit {
            Some(audit) if audit.contradictions.is_empty() => &audit.artifact,
            Some(_) | None => return false,
        },
        _ => &verdict.artifact,
    };
    let last = facts.iter().rev().find_map(|fact| match fact {
        Fact::JudgedTask(TaskFact::VerdictTaken { role: of, source, .. }) if *of == role => Some(source),
        _ => None,
    });
    sound && matches!(last, Some(Source::Agent { artifact: taken }) if taken == artifact)
}

/// The last conclusion that was not taken up again says accepted, and nothing has landed.
pub(crate) fn waits_to_be_landed(facts: &[Fact]) -> bool {
    let mut accepted = false;
    for fact in facts {
        match fact {
            Fact::RunReopened { .. } => accepted = false,
            Fact::JudgedTask(TaskFact::Concluded { end: End::Accepted { .. } }) => accepted = true,
            Fact::JudgedTask(TaskFact::Landed { .. }) => return false,
            _ => {}
        }
    }
    accepted
}

/// The run ended in a way that leaves nothing to take up.
pub(crate) fn is_done(run: &Run) -> bool {
    match run.started.as_ref().map(|started| &started.protocol) {
        Some(Protocol::JudgedTask(state)) => matches!(state.end, Some(End::Accepted { .. })),
        Some(Protocol::FeedbackControl(state)) => state.end == Some(ControlEnd::Complete),
        Some(Protocol::GoalContract(state)) => state.end == Some(GoalEnd::Success),
        Some(Protocol::RoadmapRounds(state)) => state.end == Some(RoadmapEnd::Complete),
        None => false,
    }
}
