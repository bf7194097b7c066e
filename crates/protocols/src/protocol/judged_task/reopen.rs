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
use crate::outcome::CapturedChange;
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

/// The accepted change that is not landed yet, or why there is none.
pub(super) fn landable(state: &State) -> Result<&CapturedChange, Rejection> {
    let refuse = |why: &str| Rejection::NothingToLand { why: why.to_string() };
    let accepted = matches!(
        state.end,
        Some(End::Accepted { .. } | End::NeedsHuman { cause: Cause::LandingRefused { .. } })
    );
    if let Some((commit, reference)) = state.landed.as_ref().filter(|_| accepted) {
        return Err(refuse(&alloc::format!("it is landed already, as {commit} on {reference}")));
    }
    state.change.as_ref().filter(|_| accepted).ok_or_else(|| refuse("the run has no accepted change"))
}

/// Lands an accepted change that was not landed, or whose landing was refused.
pub(crate) fn land(draft: &mut Draft, by: &Actor, landing: &Landing) -> Result<(), Rejection> {
    let tree = landable(state(draft))?.tree.clone();
    if *landing == Landing::None {
        return Err(Rejection::NothingToLand { why: "no place to land was given".to_string() });
    }
    draft.record(Fact::LandingAsked { by: by.clone(), landing: landing.clone() });
    record(draft, TaskFact::Concluded { end: End::Accepted { tree } });
    go_on(draft);
    Ok(())
}
