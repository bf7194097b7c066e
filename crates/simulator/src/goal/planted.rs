//! Bugs of a goal loop put in on purpose: one for every sentence of its invariants and for every check of its world. What the
//! decision believes, what it is told and what it records are bent; the product's own code is never touched.

use windlass_protocols::effect::SuitePurpose;
use windlass_protocols::kernel::person::Word;
use windlass_protocols::outcome::{Answer, StepEnd, Usage};
use windlass_protocols::protocol::Protocol;
use windlass_protocols::protocol::goal_contract::end::{Cap, Cause, End, NotReady, Proposed};
use windlass_protocols::protocol::goal_contract::facts::Fact as GoalFact;
use windlass_protocols::protocol::goal_contract::queue::Autonomy;
use windlass_protocols::protocol::goal_contract::state::State;
use windlass_protocols::protocol::judged_task::facts::Fact as TaskFact;
use windlass_protocols::{CommitId, Effect, Fact, Observation, Outcome, Run, TreeId};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GoalBug {
    RecordsAnotherLoopsFact,
    TakesUpWhatAwaitsAWord,
    ApprovesAnything,
    HearsNoApproval,
    AsksForTwoSteps,
    WorksUnderAPersonsHands,
    IgnoresAStop,
    SpendsWithoutEnd,
    AsksAboutAnotherItem,
    ForgetsCauses,
    CommitsOnAnotherParent,
    CommitsAnotherTree,
    CommitsAgainWithAnotherTime,
    RedSuitesCountAsGreen,
    RedSuitesReportedGreen,
    FailsCountAsPasses,
    FailsReportedAsPasses,
    CommitsWithoutApproval,
    RunsWithoutTests,
    ReportsAnOldCommit,
    OpensAnIterationTwice,
    CountsIterationsByTwo,
    LeavesTheScope,
    ForgetsWhatWasPutAside,
    OneIterationMore,
    EndsAnotherItem,
    ForgetsRework,
    AcceptsWithoutACommit,
    RecordsACommitTwice,
    BlamesTheCapOnCommits,
    ProposesAnotherTree,
    SucceedsWithOpenItems,
    SucceedsWithoutAQueue,
    LosesACounterAfterARestart,
    OverlooksFindings,
    NeverInspects,
}

fn goal(run: &mut Run) -> Option<&mut State> {
    match run.started.as_mut().map(|started| &mut started.protocol) {
        Some(Protocol::GoalContract(state)) => Some(state),
        Some(Protocol::JudgedTask(_) | Protocol::FeedbackControl(_) | Protocol::RoadmapRounds(_)) | None => {
            None
        }
    }
}

/// What an engine finds when it reads the journal.
pub(crate) fn recall(bug: GoalBug, run: &mut Run) {
    if let (GoalBug::LosesACounterAfterARestart, Some(state)) = (bug, goal(run)) {
        state.iteration = state.iteration.saturating_sub(1);
    }
}

/// What the decision believes of the run.
pub(crate) fn believe(bug: GoalBug, run: &mut Run, observed: &Observation) {
    match (bug, &mut run.started) {
        (GoalBug::SpendsWithoutEnd, Some(started)) => started.budget.used = Usage::default(),
        (GoalBug::IgnoresAStop, _) => run.stop = None,
        (GoalBug::WorksUnderAPersonsHands, _) if matches!(observed, Observation::Reopened { .. }) => {
            run.taken_over = None;
        }
        _ => {}
    }
    let Some(state) = goal(run) else { return };
    let awaits = matches!(state.end, Some(End::AwaitsApproval { .. }));
    let approves = matches!(observed, Observation::PersonSaid { word: Word::Approve { .. } });
    match (bug, observed) {
        (GoalBug::TakesUpWhatAwaitsAWord, Observation::Reopened { .. }) if awaits => {
            state.end = Some(End::Paused { iteration: state.iteration });
        }
        (GoalBug::HearsNoApproval, _) if awaits && approves => {
            state.end = Some(End::Paused { iteration: state.iteration });
        }
        (GoalBug::ApprovesAnything, Observation::PersonSaid { word: Word::Approve { tree } }) => {
            if let Some(End::AwaitsApproval { proposed, .. }) = &mut state.end {
                *proposed = Proposed::Change { tree: tree.clone() };
            }
        }
        (GoalBug::ForgetsCauses, _) => {
            state.items.values_mut().for_each(|item| item.causes.clear());
        }
        (GoalBug::ForgetsRework, _) => {
            state.items.values_mut().for_each(|item| item.rework_since = 0);
        }
        (GoalBug::ForgetsWhatWasPutAside, _) => {
            state.items.values_mut().for_each(|item| item.parked = None);
        }
        (GoalBug::OneIterationMore, _) => state.more.more_rounds += 1,
        (GoalBug::CommitsWithoutApproval, _) => {
            state.spec.tightened.autonomy = None;
            if let Some(queue) = &mut state.queue {
                queue.autonomy = Autonomy::L2;
            }
        }
        (GoalBug::NeverInspects, _) => {
            if let Some(open) = &mut state.open {
                open.gate.inspected = true;
            }
        }
        (GoalBug::RunsWithoutTests, _) => state.spec.tightened.autonomy = Some(Autonomy::L1),
        (GoalBug::LeavesTheScope, _) => {
            if let Some(queue) = &mut state.queue {
                queue.scope = queue.items.iter().map(|item| item.id.clone()).collect();
            }
        }
        _ => {}
    }
}

/// What a step is said to have come to; absent where it is told as it was.
pub(crate) fn retold(bug: GoalBug, run: &Run, outcome: &Outcome) -> Option<Outcome> {
    let mut outcome = outcome.clone();
    match (bug, &mut outcome) {
        (GoalBug::RedSuitesCountAsGreen | GoalBug::RedSuitesReportedGreen, Outcome::SuiteRan(report))
            if report.purpose == SuitePurpose::Item =>
        {
            report.end = StepEnd::Exited { code: 0 };
            report.failing.clear();
            report.regressions.clear();
        }
        (GoalBug::FailsCountAsPasses | GoalBug::FailsReportedAsPasses, Outcome::AgentEnded(report)) => {
            let Answer::Evaluation(evaluation) = &mut report.answer else { return None };
            evaluation.pass = true;
            evaluation.cause = None;
        }
        (GoalBug::OverlooksFindings, Outcome::ChangeCaptured(change)) => change.gate.clear(),
        (GoalBug::OverlooksFindings, Outcome::GateInspected(report)) => report.findings.clear(),
        (GoalBug::OverlooksFindings, Outcome::SuiteRan(report)) => report.gate.clear(),
        (GoalBug::ReportsAnOldCommit, Outcome::ItemCommitted { commit, .. }) => {
            let (_, old) = super::goal_state(run)?.commits.last()?;
            commit.clone_from(old);
        }
        _ => return None,
    }
    Some(outcome)
}

/// Whether the record keeps what the step really came to.
pub(crate) const fn records_the_truth(bug: GoalBug) -> bool {
    matches!(bug, GoalBug::RedSuitesCountAsGreen | GoalBug::FailsCountAsPasses | GoalBug::OverlooksFindings)
}

/// What is recorded in the place of what was decided.
pub(crate) fn bend(bug: GoalBug, facts: &mut Vec<Fact>, now: windlass_protocols::Millis) {
    for fact in facts.iter_mut() {
        match fact {
            Fact::EffectRequested { request, .. } => bend_request(bug, request, now),
            Fact::GoalContract(fact) => bend_fact(bug, fact),
            _ => {}
        }
    }
    let twin = |fact: &Fact| match (bug, fact) {
        (GoalBug::AsksForTwoSteps, Fact::EffectRequested { effect, request }) => {
            Some(Fact::EffectRequested {
                effect: windlass_protocols::EffectId(effect.0 + 1),
                request: request.clone(),
            })
        }
        (GoalBug::OpensAnIterationTwice, Fact::GoalContract(GoalFact::IterationOpened { .. }))
        | (GoalBug::RecordsACommitTwice, Fact::GoalContract(GoalFact::ItemCommitted { .. })) => {
            Some(fact.clone())
        }
        (GoalBug::RecordsAnotherLoopsFact, Fact::GoalContract(GoalFact::BaselineTaken { .. })) => {
            Some(Fact::JudgedTask(TaskFact::RoundOpened { round: 1 }))
        }
        _ => None,
    };
    if let Some((position, twin)) =
        facts.iter().enumerate().find_map(|(position, fact)| Some((position, twin(fact)?)))
    {
        facts.insert(position + 1, twin);
    }
    if bug == GoalBug::AcceptsWithoutACommit {
        facts.retain(|fact| !matches!(fact, Fact::GoalContract(GoalFact::ItemCommitted { .. })));
    }
}

fn bend_request(bug: GoalBug, request: &mut Effect, now: windlass_protocols::Millis) {
    match (bug, request) {
        (GoalBug::AsksAboutAnotherItem, Effect::RunAgent(agent)) => agent.item = Some("F999".to_owned()),
        (GoalBug::CommitsOnAnotherParent, Effect::CommitItem(commit)) => {
            commit.parent = CommitId::new("somewhere");
        }
        (GoalBug::CommitsAnotherTree, Effect::CommitItem(commit)) if commit.item.is_some() => {
            commit.tree = TreeId::new("tree-nobody-judged");
        }
        (GoalBug::CommitsAgainWithAnotherTime, Effect::CommitItem(commit)) => commit.decided_at = now,
        _ => {}
    }
}

fn bend_fact(bug: GoalBug, fact: &mut GoalFact) {
    match (bug, fact) {
        (GoalBug::CountsIterationsByTwo, GoalFact::IterationOpened { iteration, .. }) => *iteration += 1,
        (GoalBug::EndsAnotherItem, GoalFact::IterationEnded { item, .. }) => item.replace_range(.., "F999"),
        (bug, GoalFact::Concluded { end }) => match (bug, &*end) {
            (GoalBug::BlamesTheCapOnCommits, End::HardKill { cap: Cap::Iterations }) => {
                *end = End::HardKill { cap: Cap::Commits };
            }
            (GoalBug::ProposesAnotherTree, End::AwaitsApproval { item, .. }) => {
                let proposed = Proposed::Change { tree: TreeId::new("tree-nobody-judged") };
                *end = End::AwaitsApproval { item: item.clone(), proposed };
            }
            (GoalBug::SucceedsWithOpenItems, End::Escalated { cause: Cause::NothingReady { .. } }) => {
                *end = End::Success;
            }
            // The workspaces are made before anything is read; a suite that cannot be started comes later.
            (GoalBug::SucceedsWithoutAQueue, End::NotReady { why: NotReady::Setup { reason } })
                if reason.contains("branch") =>
            {
                *end = End::Success;
            }
            _ => {}
        },
        _ => {}
    }
}
