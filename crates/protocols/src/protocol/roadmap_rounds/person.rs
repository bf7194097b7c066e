//! A person's ways back into a roadmap loop: more room, an answer for whoever goes on, or letting it be.

use super::end::End;
use super::integrity;
use super::next::{go_on, state};
use super::state::State;
use crate::draft::Draft;
use crate::fact::Fact;
use crate::kernel::budget::{Budget, CapChange};
use crate::kernel::person::Word;
use crate::observation::Rejection;
use crate::vocabulary::Actor;
use alloc::format;
use alloc::string::{String, ToString};

/// Refuses a reopening that could not go on.
pub(crate) fn may_reopen(state: &State, budget: &Budget, more: CapChange) -> Result<(), Rejection> {
    let refuse = |why: String| Err(Rejection::NothingToReopen { why });
    match &state.end {
        Some(End::Complete) => return refuse("every milestone of its roadmap was done".to_string()),
        Some(End::RoundsUsed) if more.more_rounds == 0 => {
            return refuse("its rounds are used; give it more, or begin a new run".to_string());
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
    let why = match word {
        Word::Skip { .. } => {
            draft.record(Fact::PersonSaid { by: by.clone(), word: word.clone() });
            return Ok(());
        }
        Word::Approve { .. } | Word::Reject { .. } => {
            "rounds are approved by their reviewer; answer or resume it, or let it be"
        }
        Word::TakeOver { .. } | Word::HandBack { .. } | Word::LetGo => {
            "a round has its own worktree: work in that, then resume the run"
        }
        Word::Waive(waiver) => {
            integrity::may_waive(state(draft), waiver)?;
            draft.record(Fact::PersonSaid { by: by.clone(), word: word.clone() });
            // The last one that was open lets the rounds go on.
            if state(draft).held_over_gate().is_empty() {
                draft.record(Fact::RunReopened { by: by.clone(), caps: CapChange::default(), note: None });
                go_on(draft);
            }
            return Ok(());
        }
    };
    Err(Rejection::NotAsked { why: why.to_string() })
}
