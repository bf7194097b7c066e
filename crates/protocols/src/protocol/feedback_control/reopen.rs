//! The way back into an ended control loop: more room, or a person's word.

use super::end::{Cause, End};
use super::facts::NewLimits;
use super::next::{go_on, state, strict_cap_is_reached};
use super::spec::CapRule;
use super::state::State;
use crate::draft::Draft;
use crate::fact::Fact;
use crate::kernel::budget::{Budget, CapChange, Caps, Dimension};
use crate::kernel::person::Word;
use crate::observation::Rejection;
use crate::vocabulary::Actor;
use alloc::format;
use alloc::string::ToString;

/// Refuses a reopening that would end at once for the same reason.
pub(crate) fn allowed(
    state: &State,
    budget: &Budget,
    more: CapChange,
    limits: &NewLimits,
) -> Result<(), Rejection> {
    let inner = 1..state.spec.root.chain().count();
    if limits.more_iterations.iter().any(|(depth, _)| !inner.contains(&(*depth as usize))) {
        let why = "more iterations were given to an inner node that the flow does not have".to_string();
        return Err(Rejection::InvalidSpec { why });
    }
    let refuse = |why: &str| Err(Rejection::NothingToReopen { why: why.to_string() });
    let mut extended = *budget;
    extended.extend(more);
    if state.end == Some(End::Complete) {
        return refuse("the target is met");
    }
    if let Some(dimension) = extended.exhausted() {
        return refuse(&format!("nothing is left of its {dimension}; give it more"));
    }
    if let Some(dimension) = spent_share(state, more) {
        return refuse(&format!("nothing is left of its {dimension}; give it more"));
    }
    if needs_another_iteration(state, extended.caps.rounds) {
        return refuse("all its iterations are used up; give it more");
    }
    Ok(())
}

/// What ended the run for the share of the outermost node, and would again with so much more.
fn spent_share(state: &State, more: CapChange) -> Option<Dimension> {
    let ended = matches!(state.end, Some(End::Exhausted { .. }));
    let mut frame = state.stack.first().filter(|_| ended)?.clone();
    frame.given.add(more);
    frame.spent(&state.spec.root)
}

/// The share of the outermost node as a budget, where nothing is left of it and the run ended for that.
pub(crate) fn spent_budget(state: &State, budget: &Budget) -> Option<Budget> {
    spent_share(state, CapChange::default())?;
    let frame = state.stack.first()?;
    let share = frame.share(&state.spec.root);
    let caps = Caps {
        time: share.time,
        tokens: share.tokens,
        cost_micros: share.cost_micros,
        output_bytes: None,
        ..budget.caps
    };
    Some(Budget { caps, used: frame.used })
}

/// Whether the outermost node could only go on with an iteration more than it has.
pub(crate) fn needs_another_iteration(state: &State, cap: u32) -> bool {
    matches!(state.end, Some(End::Exhausted { dimension: Dimension::Rounds })) && all_are_used(state, cap)
}

/// Whether the outermost node has no iteration left to act in, however it ended.
pub(crate) fn all_are_used(state: &State, cap: u32) -> bool {
    state.stack.first().is_some_and(|frame| match state.spec.cap_rule {
        CapRule::JudgeTheLast => frame.actuations >= cap,
        CapRule::StrictOriginal => strict_cap_is_reached(frame, cap),
    })
}

/// Every iteration is a commit on the loop's own branch: what a person would approve or take over is there already.
pub(crate) fn person_said(draft: &mut Draft, by: &Actor, word: &Word) -> Result<(), Rejection> {
    match word {
        Word::Skip { .. } | Word::LetGo => {
            draft.record(Fact::PersonSaid { by: by.clone(), word: word.clone() });
            Ok(())
        }
        Word::Approve { .. } | Word::Reject { .. } | Word::TakeOver { .. } | Word::HandBack { .. } => {
            let branch = &state(draft).spec.place.doer_branch;
            let why = format!("a control loop commits every iteration on {branch}; look at it there");
            Err(Rejection::NotAsked { why })
        }
        Word::Waive(waiver) => {
            let waits =
                matches!(state(draft).end, Some(End::NeedsHuman { cause: Cause::GateFindings { .. } }));
            if !waits {
                let why = "it does not wait with findings about the gate".to_string();
                return Err(Rejection::NotAsked { why });
            }
            state(draft).integrity.gate.may_waive(waiver)?;
            draft.record(Fact::PersonSaid { by: by.clone(), word: word.clone() });
            // The last one that was open lets the claim count.
            if state(draft).integrity.gate.unwaived().is_empty() {
                draft.record(Fact::RunReopened { by: by.clone(), caps: CapChange::default(), note: None });
                go_on(draft);
            }
            Ok(())
        }
    }
}
