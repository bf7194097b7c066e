//! A person's ways back into a goal loop that rests: a yes or a no to exactly what is proposed, an item let be, work taken
//! over and handed back, or simply more room.

use super::end::{Cap, Cause, End, Proposed};
use super::facts::{Ending, Fact as GoalFact, RejectedBy};
use super::next::{escalate, go_on, record, start_of, state};
use super::queue::Work;
use super::state::State;
use crate::draft::Draft;
use crate::fact::Fact;
use crate::kernel::budget::{Budget, CapChange};
use crate::kernel::gate::Waiver;
use crate::kernel::person::Word;
use crate::observation::Rejection;
use crate::vocabulary::{Actor, TreeId};
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

/// After so many designs a person said no to, the planner is not asked again.
const MAX_DESIGNS: usize = 3;

/// Refuses a reopening that could not go on.
pub(crate) fn may_reopen(state: &State, budget: &Budget, more: CapChange) -> Result<(), Rejection> {
    let refuse = |why: String| Err(Rejection::NothingToReopen { why });
    match &state.end {
        Some(End::Success) => return refuse("everything in its scope is complete".to_string()),
        Some(End::AwaitsApproval { item, proposed }) => {
            return refuse(format!("{item} waits with {}; approve or reject that", proposed.name()));
        }
        _ => {}
    }
    let mut extended = *budget;
    extended.extend(more);
    match extended.exhausted() {
        Some(dimension) => refuse(format!("nothing is left of its {dimension}; give it more")),
        None => Ok(()),
    }
}

pub(crate) fn said(draft: &mut Draft, by: &Actor, word: &Word) -> Result<(), Rejection> {
    let stands = state(draft);
    if stands.unseen_commit.is_some() && at_hand(stands).is_some() {
        return not_asked("nobody saw the end of its last commit; resume it to see that first");
    }
    match word {
        Word::Approve { tree } => approved(draft, by, tree),
        Word::Reject { reason } => rejected(draft, by, reason),
        Word::Skip { reason } => {
            skipped(draft, by, reason);
            Ok(())
        }
        Word::TakeOver { .. } if at_hand(state(draft)).is_none() => {
            not_asked("no item is at hand that could be taken over")
        }
        Word::TakeOver { .. } | Word::LetGo => {
            hear(draft, by, word);
            Ok(())
        }
        Word::HandBack { .. } => handed_back(draft, by, word),
        Word::Waive(waiver) => waived(draft, by, waiver),
    }
}

/// The last one that was open lets the change be committed, or proposed where a person is asked about that too.
fn waived(draft: &mut Draft, by: &Actor, waiver: &Waiver) -> Result<(), Rejection> {
    let state_now = state(draft);
    let waits = matches!(state_now.end, Some(End::Escalated { cause: Cause::GateFindings { .. } }));
    let Some(open) = state_now.open.as_ref().filter(|_| waits) else {
        return not_asked("it does not wait with findings about the gate");
    };
    open.gate.may_waive(waiver)?;
    hear(draft, by, &Word::Waive(waiver.clone()));
    if state(draft).open.as_ref().is_some_and(|open| open.gate.unwaived().is_empty()) {
        take_up(draft, by);
        go_on(draft);
    }
    Ok(())
}

fn not_asked(why: &str) -> Result<(), Rejection> {
    Err(Rejection::NotAsked { why: why.to_string() })
}

fn hear(draft: &mut Draft, by: &Actor, word: &Word) {
    draft.record(Fact::PersonSaid { by: by.clone(), word: word.clone() });
}

fn take_up(draft: &mut Draft, by: &Actor) {
    draft.record(Fact::RunReopened { by: by.clone(), caps: CapChange::default(), note: None });
}

fn proposed(draft: &Draft) -> Result<(String, Proposed), Rejection> {
    match &state(draft).end {
        Some(End::AwaitsApproval { item, proposed }) => Ok((item.clone(), proposed.clone())),
        _ => Err(Rejection::NotAsked { why: "nothing is proposed".to_string() }),
    }
}

fn approved(draft: &mut Draft, by: &Actor, tree: &TreeId) -> Result<(), Rejection> {
    let (item, proposed) = proposed(draft)?;
    if proposed.name() != tree.as_str() {
        let waits = TreeId::new(proposed.name());
        return Err(Rejection::OtherTree { named: tree.clone(), waits });
    }
    hear(draft, by, &Word::Approve { tree: tree.clone() });
    take_up(draft, by);
    match proposed {
        Proposed::Change { tree } => record(draft, GoalFact::ChangeApproved { item, tree }),
        Proposed::Design { .. } => record(draft, GoalFact::DesignApproved { item }),
    }
    go_on(draft);
    Ok(())
}

fn rejected(draft: &mut Draft, by: &Actor, reason: &str) -> Result<(), Rejection> {
    let (item, proposed) = proposed(draft)?;
    let reason = reason.trim().to_string();
    if reason.is_empty() {
        return not_asked("a rejection needs a reason: the next builder is told it");
    }
    hear(draft, by, &Word::Reject { reason: reason.clone() });
    take_up(draft, by);
    match proposed {
        Proposed::Change { .. } => {
            let key = format!("person:{reason}");
            super::decide::rework(draft, RejectedBy::Person, key, reason, Vec::new());
        }
        Proposed::Design { .. } => {
            record(draft, GoalFact::DesignRejected { item: item.clone(), reason });
            let faults = state(draft).item(&item).designs_rejected;
            if faults.len() >= MAX_DESIGNS {
                escalate(draft, Cause::NoDesign { item, faults });
            }
        }
    }
    go_on(draft);
    Ok(())
}

/// The item at hand is put aside and the loop goes on; where there is none, the run is let be.
fn skipped(draft: &mut Draft, by: &Actor, reason: &str) {
    let item = at_hand(state(draft));
    hear(draft, by, &Word::Skip { reason: reason.to_string() });
    let Some(item) = item else { return };
    take_up(draft, by);
    let why = if reason.trim().is_empty() { "skipped by a person".to_string() } else { reason.to_string() };
    super::decide::end_iteration(draft, Ending::Escalated { why: why.clone() });
    record(draft, GoalFact::ItemParked { item, why });
    go_on(draft);
}

/// A person's work is an iteration like any other. It is not held up by a cap on agents: nobody must be unable to bring
/// their work back.
fn handed_back(draft: &mut Draft, by: &Actor, word: &Word) -> Result<(), Rejection> {
    let Some(item) = at_hand(state(draft)) else {
        return not_asked("no item is at hand");
    };
    hear(draft, by, word);
    take_up(draft, by);
    if state(draft).open.is_none() {
        let state = state(draft);
        let (Some(queue), Some((_, head_tree))) = (&state.queue, &state.head) else {
            return not_asked("the loop has not begun");
        };
        let start = queue
            .item(&item)
            .map_or(head_tree.clone(), |item| start_of(state, item, Work::Rework, head_tree));
        let iteration = state.iteration + 1;
        record(draft, GoalFact::IterationOpened { iteration, item, work: Work::Rework, start });
    }
    go_on(draft);
    Ok(())
}

/// The item a person's word is about.
pub fn at_hand(state: &State) -> Option<String> {
    let named = match &state.end {
        Some(End::AwaitsApproval { item, .. } | End::HardKill { cap: Cap::Rework { item } }) => {
            Some(item.clone())
        }
        Some(End::Escalated { cause }) => cause.item().map(ToString::to_string),
        Some(End::HardKill { cap: Cap::Destructive { .. } }) => {
            state.past.last().map(|past| past.item.clone())
        }
        _ => None,
    };
    let open = state.open.as_ref().map(|open| open.item.clone());
    // Whoever edited the files since may have taken it out of the scope.
    let in_scope = |id: &String| state.queue.as_ref().is_some_and(|queue| queue.scope.contains(id));
    let next = state.same_item_next.clone().filter(in_scope);
    named.or(open).or(next)
}
