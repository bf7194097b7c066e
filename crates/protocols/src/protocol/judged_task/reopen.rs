//! The ways back into an ended run: more room, a person's word, or landing what was accepted.

use super::end::{Cause, End};
use super::facts::Fact as TaskFact;
use super::next::{go_on, record, state};
use super::spec::Landing;
use super::state::State;
use crate::draft::Draft;
use crate::fact::Fact;
use crate::kernel::budget::{Budget, CapChange};
use crate::observation::Rejection;
use crate::vocabulary::Actor;
use alloc::string::ToString;

/// Refuses a reopening that would end at once for the same reason.
pub(crate) fn allowed(state: &State, budget: &Budget, more: CapChange) -> Result<(), Rejection> {
    let refuse = |why: &str| Err(Rejection::NothingToReopen { why: why.to_string() });
    let mut extended = *budget;
    extended.extend(more);
    match &state.end {
        Some(End::Accepted { .. }) => return refuse("the change was accepted"),
        Some(End::NeedsHuman { cause: Cause::LandingRefused { .. } }) => {
            return refuse("the change was accepted and only its landing was refused; land it instead");
        }
        Some(
            End::Rejected { .. }
            | End::NeedsHuman { .. }
            | End::Exhausted { .. }
            | End::Stopped { .. }
            | End::SetupFailed { .. },
        )
        | None => {}
    }
    if let Some(dimension) = extended.exhausted() {
        return refuse(&alloc::format!("nothing is left of its {dimension}; give it more"));
    }
    if state.needs_another_round(extended.caps.rounds) {
        return refuse("all its rounds are used up; give it more");
    }
    Ok(())
}

/// Lands an accepted change that was not landed, or whose landing was refused.
pub(crate) fn land(draft: &mut Draft, by: &Actor, landing: &Landing) -> Result<(), Rejection> {
    let refuse = |why: &str| Err(Rejection::NothingToLand { why: why.to_string() });
    let state = state(draft);
    let accepted = matches!(
        state.end,
        Some(End::Accepted { .. } | End::NeedsHuman { cause: Cause::LandingRefused { .. } })
    );
    let Some(change) = state.change.as_ref().filter(|_| accepted) else {
        return refuse("the run has no accepted change");
    };
    if let Some((commit, reference)) = &state.landed {
        return refuse(&alloc::format!("it is landed already, as {commit} on {reference}"));
    }
    if *landing == Landing::None {
        return refuse("no place to land was given");
    }
    let tree = change.tree.clone();
    draft.record(Fact::LandingAsked { by: by.clone(), landing: landing.clone() });
    record(draft, TaskFact::Concluded { end: End::Accepted { tree } });
    go_on(draft);
    Ok(())
}
