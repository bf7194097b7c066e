//! What to ask for next, read off the state alone. The start, a settled step, a person's word and a reopened run all come
//! through here, so there is one order of stages and no second way to resume. The stop contract is looked at first, every
//! time something new would begin.

use super::asking::{agent, limits};
use super::decide::{Stop, stopping};
use super::end::{Cap, Cause, End, NotReady};
use super::facts::{Ending, Fact as GoalFact};
use super::integrity;
use super::iteration::Iteration;
use super::queue::{Autonomy, Design, Item, Queue, Selection, Work};
use super::spec::{DesignRule, GoalSpec};
use super::stage::Stage;
use super::state::State;
use crate::draft::Draft;
use crate::effect::{CloseRun, CommitItem, Effect, Purpose, RunChecks, RunSuite, SuitePurpose};
use crate::fact::Fact;
use crate::kernel::budget::Dimension;
use crate::kernel::gate::GateFinding;
use crate::protocol::Protocol;
use crate::vocabulary::{Role, TreeId};
use alloc::boxed::Box;
use alloc::format;
use alloc::string::ToString;
use alloc::vec::Vec;

/// # Panics
/// Never: this loop's code is only reached by runs of this loop.
pub(super) fn state(draft: &Draft) -> &State {
    match draft.protocol() {
        Protocol::GoalContract(state) => state,
        Protocol::JudgedTask(_) | Protocol::FeedbackControl(_) | Protocol::RoadmapRounds(_) => {
            unreachable!("a goal loop's step in another loop")
        }
    }
}

pub(super) fn record(draft: &mut Draft, fact: GoalFact) {
    draft.record(Fact::GoalContract(fact));
}

pub(super) fn conclude(draft: &mut Draft, end: End) {
    record(draft, GoalFact::Concluded { end });
}

pub(super) fn escalate(draft: &mut Draft, cause: Cause) {
    conclude(draft, End::Escalated { cause });
}

/// What the contract allows, taken in by the command line.
pub(super) fn level(queue: &Queue, spec: &GoalSpec) -> Autonomy {
    spec.tightened.autonomy.map_or(queue.autonomy, |tightened| queue.autonomy.min(tightened))
}

pub(crate) fn go_on(draft: &mut Draft) {
    loop {
        match next(draft) {
            Next::Decided(fact) => record(draft, *fact),
            Next::NotWaived { findings } => integrity::refuse(draft, &findings),
            Next::Rest => return draft.record(Fact::RunEnded),
            Next::Ask(effect) => return ask(draft, effect),
            Next::WindUp(effect) => return draft.request(effect),
        }
    }
}

pub(super) enum Next {
    /// Something follows from what is known without asking anybody.
    Decided(Box<GoalFact>),
    /// What was passed is sent back over findings about the gate.
    NotWaived {
        findings: Vec<GateFinding>,
    },
    /// Nothing is left to do before a person says something, and nothing is to be written down.
    Rest,
    Ask(Effect),
    /// Bringing an ended run home is not stopped by a cap or by a request to stop.
    WindUp(Effect),
}

pub(super) fn decided(fact: GoalFact) -> Next {
    Next::Decided(Box::new(fact))
}

fn ends(end: End) -> Next {
    decided(GoalFact::Concluded { end })
}

fn next(draft: &Draft) -> Next {
    let state = state(draft);
    if let Some(end) = &state.end {
        return wind_up(draft, end);
    }
    if let Some(commit) = &state.unseen_commit {
        return Next::WindUp(Effect::CommitItem(commit.clone()));
    }
    let (Some(_), Some((_, head_tree))) = (&state.base, &state.head) else {
        return Next::Ask(Effect::PrepareWorkspaces);
    };
    let Some(queue) = state.queue.as_ref().filter(|_| !state.queue_is_old || state.open.is_some()) else {
        return Next::Ask(Effect::ReadQueue { iteration: state.iteration });
    };
    if state.baseline.is_none() {
        return baseline(draft, queue, head_tree);
    }
    match &state.open {
        Some(open) => in_iteration(draft, queue, open),
        None => check(draft, queue, head_tree),
    }
}

/// Twice on one tree: what differs between the two says nothing about anybody's work.
fn baseline(draft: &Draft, queue: &Queue, tree: &TreeId) -> Next {
    let state = state(draft);
    if queue.in_scope().next().is_none() {
        return ends(End::NotReady { why: NotReady::NothingInScope });
    }
    let Some(command) = &state.spec.suite else {
        return if level(queue, &state.spec).may_lack_tests() {
            decided(GoalFact::BaselineTaken { suite: None, flaky: Vec::new() })
        } else {
            ends(End::NotReady { why: NotReady::NoTests })
        };
    };
    let first = state.first_baseline.as_ref();
    Next::Ask(Effect::RunSuite(RunSuite {
        purpose: if first.is_some() { SuitePurpose::BaselineAgain } else { SuitePurpose::Baseline },
        iteration: state.iteration,
        tree: tree.clone(),
        command: command.clone(),
        baseline: first.and_then(|suite| suite.list.clone()),
        flaky: Vec::new(),
        limits: limits(draft),
    }))
}

/// The stop contract, then the choice of one item.
fn check(draft: &Draft, queue: &Queue, head_tree: &TreeId) -> Next {
    let state = state(draft);
    if queue.in_scope().next().is_none() {
        let reason = "the contract's scope names no item of the queue any more".to_string();
        return ends(End::Escalated { cause: Cause::Unreadable { reason } });
    }
    let selection = queue.select(state.same_item_next.as_deref(), |item| state.standing(item));
    if matches!(selection, Selection::Done) {
        return ends(End::Success);
    }
    if let Some(cap) = reached(draft) {
        return ends(if is_as_asked(state, &cap) {
            End::AsAsked { iteration: state.iteration }
        } else {
            End::HardKill { cap }
        });
    }
    if state.spec.suite.is_none() && !level(queue, &state.spec).may_lack_tests() {
        return ends(End::NotReady { why: NotReady::NoTests });
    }
    match selection {
        Selection::Done => ends(End::Success),
        Selection::Stuck(waiting) => {
            let waiting = waiting.iter().map(|(item, why)| format!("{}: {why}", item.id)).collect();
            ends(End::Escalated { cause: Cause::NothingReady { waiting } })
        }
        // A person may have lowered the cap since the item failed last.
        Selection::Next(item, _) if is_worked_up(state, item) => {
            decided(stopping(state, Stop::Cap(item.id.clone())))
        }
        Selection::Next(..) if state.hold => ends(End::Paused { iteration: state.iteration }),
        Selection::Next(item, work) => decided(GoalFact::IterationOpened {
            iteration: state.iteration + 1,
            item: item.id.clone(),
            work,
            start: start_of(state, item, work, head_tree),
        }),
    }
}

/// The one iteration that was asked for is done, and done well.
fn is_as_asked(state: &State, cap: &Cap) -> bool {
    let accepted = state.past.last().is_some_and(|past| past.ending == Ending::Accepted);
    state.spec.once && *cap == Cap::Iterations && state.more.more_rounds == 0 && accepted
}

/// The item has been tried as often as it may be.
pub(super) fn is_worked_up(state: &State, item: &Item) -> bool {
    let tried = state.items.get(&item.id).map_or(0, |known| known.rework_since);
    state.limits().is_some_and(|limits| tried >= limits.rework)
}

/// Half-built work is gone on with, unless something else was committed since.
pub(super) fn start_of(state: &State, item: &Item, work: Work, head_tree: &TreeId) -> TreeId {
    let head = state.head.as_ref().map(|(commit, _)| commit);
    let attempt = state.items.get(&item.id).and_then(|known| known.attempt.as_ref());
    match attempt {
        Some((tree, on)) if work == Work::Rework && Some(on) == head => tree.clone(),
        _ => head_tree.clone(),
    }
}

/// A counter that reached its cap: there is no "one more".
pub(super) fn reached(draft: &Draft) -> Option<Cap> {
    let state = state(draft);
    let limits = state.limits()?;
    if state.iteration >= limits.iterations {
        return Some(Cap::Iterations);
    }
    if u32::try_from(state.commits.len()).unwrap_or(u32::MAX) >= limits.commits {
        return Some(Cap::Commits);
    }
    spent(draft).map(|dimension| Cap::Used { dimension })
}

/// Time, tokens and money, of the contract and of the command line.
pub(super) fn spent(draft: &Draft) -> Option<Dimension> {
    let used = draft.budget().used;
    let of_contract = state(draft).limits().and_then(|limits| {
        let reached = |used: u64, cap: Option<u64>| cap.is_some_and(|cap| used >= cap);
        if reached(used.duration.0, limits.time.map(|time| time.0)) {
            Some(Dimension::Minutes)
        } else if reached(used.tokens, limits.tokens) {
            Some(Dimension::Tokens)
        } else if reached(used.cost_micros, limits.cost_micros) {
            Some(Dimension::Money)
        } else {
            None
        }
    });
    of_contract.or_else(|| draft.exhausted())
}

fn in_iteration(draft: &Draft, queue: &Queue, open: &Iteration) -> Next {
    let state = state(draft);
    let level = level(queue, &state.spec);
    if open.work != Work::Recheck
        && let Some(next) = before_verdict(draft, queue, open)
    {
        return next;
    }
    if open.suite.is_none()
        && let Some(command) = suite_to_run(state, open)
    {
        return Next::Ask(suite(draft, open, command));
    }
    if let Some(next) = integrity::before_evaluator(draft, open).filter(|_| open.passed.is_none()) {
        return next;
    }
    if open.passed.is_none() {
        return Next::Ask(agent(draft, open, Role::Evaluator));
    }
    if open.work == Work::Recheck {
        return decided(GoalFact::IterationEnded {
            iteration: open.number,
            item: open.item.clone(),
            result: Ending::Accepted,
            at: draft.now(),
        });
    }
    if open.pre_commit.is_none() {
        return pre_commit(draft, open);
    }
    if let Some(next) = integrity::after_verdict(draft, open) {
        return next;
    }
    if level.asks_before_commit() && !open.approved {
        let proposed = super::end::Proposed::Change { tree: open.tree().clone() };
        return ends(End::AwaitsApproval { item: open.item.clone(), proposed });
    }
    commit(draft, Some(open))
}

pub(super) fn pre_commit(draft: &Draft, open: &Iteration) -> Next {
    let (tree, commands) = (open.tree().clone(), state(draft).spec.pre_commit.clone());
    if commands.is_empty() {
        return decided(GoalFact::PreCommitPassed { tree, evidence: Vec::new(), gate: Vec::new() });
    }
    Next::Ask(Effect::RunChecks(RunChecks {
        purpose: Purpose::Audit,
        round: open.number,
        tree,
        commands,
        limits: limits(draft),
    }))
}

/// Design, build, snapshot: everything that makes the tree there is a verdict about.
fn before_verdict(draft: &Draft, queue: &Queue, open: &Iteration) -> Option<Next> {
    let state = state(draft);
    let item = queue.item(&open.item)?;
    if open.build.is_none() && open.build_failed.is_none() {
        match designed(state, queue, item) {
            Designed::Missing => return Some(Next::Ask(agent(draft, open, Role::Planner))),
            Designed::Unapproved => {
                let artifact = state.items.get(&item.id)?.design_artifact()?.clone();
                let proposed = super::end::Proposed::Design { artifact };
                return Some(ends(End::AwaitsApproval { item: item.id.clone(), proposed }));
            }
            Designed::Fit => {}
        }
        return Some(Next::Ask(agent(draft, open, Role::Builder)));
    }
    open.change.is_none().then_some(Next::Ask(Effect::CaptureChange { round: open.number }))
}

enum Designed {
    Missing,
    /// Made in this run, and this level waits for a person's yes.
    Unapproved,
    Fit,
}

fn designed(state: &State, queue: &Queue, item: &Item) -> Designed {
    let known = state.items.get(&item.id);
    let design = known.map_or(item.design, |known| known.design(item));
    let level = level(queue, &state.spec);
    let wanted = match state.spec.design {
        DesignRule::Never => false,
        DesignRule::Always => true,
        DesignRule::Auto => !item.is_trivial(level),
    };
    let made_here = known.is_some_and(|known| known.design.is_some());
    match design {
        Design::None if wanted => Designed::Missing,
        Design::Draft if made_here && level.asks_before_commit() => Designed::Unapproved,
        Design::None | Design::Draft | Design::Approved => Designed::Fit,
    }
}

/// What stands at the head was measured when it was committed or at the start.
fn suite_to_run<'a>(state: &'a State, open: &Iteration) -> Option<&'a str> {
    let measured = state.baseline.as_ref().and_then(|baseline| baseline.suite.as_ref());
    let is_known = measured.is_some_and(|suite| suite.tree == *open.tree() && suite.is_green());
    state.spec.suite.as_deref().filter(|_| !is_known)
}

fn suite(draft: &Draft, open: &Iteration, command: &str) -> Effect {
    let baseline = state(draft).baseline.as_ref();
    Effect::RunSuite(RunSuite {
        purpose: SuitePurpose::Item,
        iteration: open.number,
        tree: open.tree().clone(),
        command: command.to_string(),
        baseline: baseline.and_then(|baseline| baseline.suite.as_ref()).and_then(|suite| suite.list.clone()),
        flaky: baseline.map(|baseline| baseline.flaky.clone()).unwrap_or_default(),
        limits: limits(draft),
    })
}

/// An item's commit, or the closing one.
fn commit(draft: &Draft, open: Option<&Iteration>) -> Next {
    let state = state(draft);
    let Some((parent, tree)) = &state.head else {
        return Next::Ask(Effect::PrepareWorkspaces);
    };
    Next::WindUp(Effect::CommitItem(CommitItem {
        item: open.map(|open| open.item.clone()),
        iteration: state.iteration,
        parent: parent.clone(),
        tree: open.map_or(tree, |open| open.tree()).clone(),
        used: draft.budget().used,
        decided_at: draft.now(),
    }))
}

fn wind_up(draft: &Draft, end: &End) -> Next {
    let state = state(draft);
    if end.outcome().is_none() && !matches!(end, End::NotReady { .. }) {
        return Next::Rest;
    }
    let gave_up =
        matches!(end, End::Escalated { cause: Cause::StepKeepsGettingLost { stage: Stage::Committing } });
    match &state.unseen_commit {
        _ if gave_up => {}
        Some(commit) => return Next::WindUp(Effect::CommitItem(commit.clone())),
        None if end.outcome().is_some() && !state.is_summed_up(end) && state.iteration > 0 => {
            return commit(draft, None);
        }
        None => {}
    }
    Next::WindUp(Effect::CloseRun(CloseRun {
        final_verdict: end.outcome().unwrap_or_else(|| end.word().to_string()),
        judge_verdict: "not-run".to_string(),
        audit_gate: "not-run".to_string(),
        rounds_completed: u32::try_from(state.past.len()).unwrap_or(u32::MAX),
    }))
}

/// A new step begins only while nobody asked to stop and something is left of every budget. Reading the files uses nothing:
/// a run that is complete when its cap is reached has to find that out.
fn ask(draft: &mut Draft, effect: Effect) {
    let cut_off = match draft.stop() {
        Some(stop) => Some(End::Stopped { by: stop.by.to_string(), reason: stop.reason.clone() }),
        None if matches!(effect, Effect::ReadQueue { .. }) => None,
        None => spent(draft).map(|dimension| End::HardKill { cap: Cap::Used { dimension } }),
    };
    match cut_off {
        None => draft.request(effect),
        Some(end) => {
            conclude(draft, end);
            go_on(draft);
        }
    }
}
