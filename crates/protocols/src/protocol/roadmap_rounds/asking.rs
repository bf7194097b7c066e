//! How an agent of a roadmap loop is asked: where, by whom, with what it is told, what it may use. Which work comes next is
//! not known here.

use super::book::Work;
use super::facts::Fact as RoadmapFact;
use super::next::state;
use super::plane::Plane;
use super::state::State;
use super::steps::{RoundWork, WorkKind};
use crate::draft::Draft;
use crate::effect::{Ask, AskedWork, Effect, RunAgent, StepLimits, Wait};
use crate::kernel::availability::Available;
use crate::vocabulary::CommitId;
use alloc::boxed::Box;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

pub(super) enum Asked {
    Now(Box<Effect>),
    Later(Wait),
    /// Nobody can ever be asked.
    Nobody(RoadmapFact),
}

/// Branch, worktree and newest commit of a piece of work.
pub(super) fn place(plane: &Plane, work: &RoundWork) -> Option<(String, String, CommitId)> {
    if work.kind.is_of_update() {
        let update = plane.update.as_ref().filter(|update| update.source_round == work.round)?;
        return Some((update.branch.clone(), update.worktree.clone(), update.head.clone()?));
    }
    let round = plane.round(&work.round)?;
    match &work.kind {
        WorkKind::Worker { worker } => {
            let plan = round.evidence.plan.as_ref()?;
            let worker = plan.workers.iter().find(|known| known.id == *worker)?;
            Some((worker.branch.clone(), worker.worktree.clone(), worker.head.clone()?))
        }
        _ => Some((round.branch.clone(), round.worktree.clone(), round.head.clone()?)),
    }
}

/// Asks the first agent of the role's chain that can be asked now.
pub(super) fn ask(draft: &Draft, plane: &Plane, work: &RoundWork) -> Asked {
    let state = state(draft);
    let role = work.kind.role();
    let fresh = Work::default();
    let known = state.book.works.get(work).unwrap_or(&fresh);
    let Some((branch, worktree, head)) = place(plane, work) else {
        let why = format!("the branch of {} is gone", super::next::named(work));
        return Asked::Nobody(given_up(work, why));
    };
    let chain: Vec<&str> = state.spec.place.chain(role).collect();
    // Somebody else first, where there is somebody else.
    let turned = usize::from(known.afresh && chain.len() > 1);
    let order = chain.iter().cycle().skip(turned).take(chain.len()).copied();
    let agent = match state.availability.choose(order, draft.now()) {
        Available::Now(agent) => Some(agent),
        Available::Never if chain.is_empty() => None,
        Available::Never => {
            let why = format!("no {role} can be asked: {}", state.last_outage);
            return Asked::Nobody(given_up(work, why));
        }
        Available::From(until) => {
            return Asked::Later(Wait { role, until, why: state.last_outage.clone() });
        }
    };
    let session = match &known.session {
        Some(last) if !known.afresh => last.with(role, agent),
        _ => None,
    };
    let ask = match &known.repairing {
        Some(faults) => Ask::Repair { faults: faults.clone() },
        None => Ask::Fresh { feedback: told(state, known, work), history: Vec::new() },
    };
    Asked::Now(Box::new(Effect::RunAgent(RunAgent {
        role,
        round: number(&work.round),
        attempt: known.asked + 1,
        tree: None,
        ask,
        inputs: known.left.iter().filter(|_| known.repairing.is_some()).cloned().collect(),
        limits: limits(draft),
        agent: agent.map(ToString::to_string),
        session,
        node: None,
        item: None,
        work: Some(Box::new(AskedWork { work: work.clone(), branch, worktree, head })),
    })))
}

pub(super) fn given_up(work: &RoundWork, why: String) -> RoadmapFact {
    let (round, update) = (Some(work.round.clone()), work.kind.is_of_update());
    RoadmapFact::Blocked { round, update, rejection: None, why }
}

/// Whatever the round, the work and a person have to say.
fn told(state: &State, known: &Work, work: &RoundWork) -> Vec<String> {
    let of_round = match (&state.book.update, state.book.rounds.get(&work.round)) {
        (Some((_, update)), _) if work.kind.is_of_update() => update.told.clone(),
        (_, Some(round)) => round.told.clone(),
        _ => Vec::new(),
    };
    let open = state.book.rounds.get(&work.round).and_then(|round| unresolved(&round.conflicts, work));
    let open = open.filter(|open| !of_round.iter().any(|told| told.contains(open.as_str())));
    let unmerged = state.book.rounds.get(&work.round).filter(|_| work.kind == WorkKind::Review);
    let unmerged = unmerged.and_then(|round| not_merged(&round.ignored));
    let seen = state.plane.as_ref().filter(|_| work.kind == WorkKind::Review);
    let lost = seen.and_then(|plane| plane.lost_of(&work.round)).map(|lost| dropped(&lost));
    let notes = state.notes.iter().map(|note| format!("a person says: {note}"));
    of_round
        .into_iter()
        .chain(unmerged)
        .chain(lost)
        .chain(open)
        .chain(known.told.iter().cloned())
        .chain(notes)
        .collect()
}

/// What lies in a worktree and is in no tree, so that judging it would be judging something else than what is merged.
pub fn not_merged(ignored: &[String]) -> Option<String> {
    let count = match ignored.len() {
        0 => return None,
        1 => "1 new file or directory is".to_string(),
        several => format!("{several} new files or directories are"),
    };
    Some(format!("{count} ignored by the repository's rules and will not be merged: {}", ignored.join(", ")))
}

/// Whoever integrates may drop what a worker made, but not without those knowing it who judge the round.
pub(super) fn dropped(lost: &str) -> String {
    format!("what workers made is not in the round, it is missing or as it was before: {lost}")
}

/// Marks that a merge left in files, for whoever may write there.
fn unresolved(conflicts: &[String], work: &RoundWork) -> Option<String> {
    let writes = matches!(work.kind, WorkKind::Plan | WorkKind::Implement | WorkKind::Integrate);
    (writes && !conflicts.is_empty())
        .then(|| format!("left conflicts to resolve in {}", conflicts.join(", ")))
}

/// The number in a round's id; rounds are free strings, and one without a number is as good as the first.
pub fn number(round: &str) -> u32 {
    let digits = round.split(|c: char| !c.is_ascii_digit()).find(|part| !part.is_empty());
    digits.and_then(|digits| digits.parse().ok()).unwrap_or(1)
}

/// Agents that work side by side share what is left.
fn limits(draft: &Draft) -> StepLimits {
    let limits = draft.budget().step_limits();
    let beside = u64::from(state(draft).cap());
    StepLimits {
        tokens: limits.tokens.map(|left| (left / beside).max(1)),
        cost_micros: limits.cost_micros.map(|left| (left / beside).max(1)),
        ..limits
    }
}
