//! What a person may say to a task loop nobody works on: yes to what was accepted, let it be, or "I will do it myself".

use super::end::{Cause, End};
use super::facts::Fact as TaskFact;
use super::next::{go_on, record, state};
use super::reopen::landable;
use super::state::State;
use crate::draft::Draft;
use crate::fact::Fact;
use crate::kernel::budget::CapChange;
use crate::kernel::gate::Waiver;
use crate::kernel::person::Word;
use crate::observation::Rejection;
use crate::outcome::Handoff;
use crate::vocabulary::{Actor, ArtifactRef};
use alloc::string::ToString;
use alloc::vec::Vec;

pub(crate) fn said(draft: &mut Draft, by: &Actor, word: &Word) -> Result<(), Rejection> {
    match word {
        // Whoever approves names a place next, which lands it; until then it waits as it did.
        Word::Approve { tree } => {
            let waits = &landable(state(draft))?.tree;
            if waits != tree {
                return Err(Rejection::OtherTree { named: tree.clone(), waits: waits.clone() });
            }
        }
        Word::Reject { .. } => return Err(Rejection::NotAsked { why: no_question(state(draft)) }),
        Word::TakeOver { .. } => may_take_over(state(draft))?,
        Word::Waive(waiver) => may_waive(state(draft), waiver)?,
        Word::Skip { .. } | Word::LetGo | Word::HandBack { .. } => {}
    }
    draft.record(Fact::PersonSaid { by: by.clone(), word: word.clone() });
    if let Word::HandBack { report, .. } = word {
        go_on_with(draft, by, report);
    }
    // The last one that was open lets the round go on where it stood.
    if matches!(word, Word::Waive(_)) && state(draft).integrity.unwaived().is_empty() {
        draft.record(Fact::RunReopened { by: by.clone(), caps: CapChange::default(), note: None });
        go_on(draft);
    }
    Ok(())
}

fn may_waive(state: &State, waiver: &Waiver) -> Result<(), Rejection> {
    if !matches!(state.end, Some(End::NeedsHuman { cause: Cause::GateFindings { .. } })) {
        let why = "it does not wait with findings about the gate".to_string();
        return Err(Rejection::NotAsked { why });
    }
    state.integrity.may_waive(waiver)
}

fn no_question(state: &State) -> alloc::string::String {
    let why = match &state.end {
        Some(End::Accepted { .. } | End::NeedsHuman { cause: Cause::LandingRefused { .. } }) => {
            "the change is accepted; leave it unlanded with `skip`, or start a new run for what is missing"
        }
        _ => "it asks what to do, not whether; tell it with `answer`, or leave it with `skip`",
    };
    why.to_string()
}

/// There must be something to go on with, and a way to bring it back.
fn may_take_over(state: &State) -> Result<(), Rejection> {
    let refuse = |why: &str| Err(Rejection::NotAsked { why: why.to_string() });
    match &state.end {
        Some(End::Accepted { .. } | End::NeedsHuman { cause: Cause::LandingRefused { .. } }) => {
            refuse("the change is accepted; land it instead")
        }
        _ if state.base.is_none() || state.round == 0 => refuse("nobody has worked on it yet"),
        Some(
            End::Rejected { .. }
            | End::NeedsHuman { .. }
            | End::Exhausted { .. }
            | End::Stopped { .. }
            | End::SetupFailed { .. },
        )
        | None => Ok(()),
    }
}

/// A person's work is a round like any other, with the person's own hand-off. It is not charged against the rounds the
/// agents were given: a person must never be unable to bring their work back.
fn go_on_with(draft: &mut Draft, by: &Actor, report: &ArtifactRef) {
    let state = state(draft);
    let next = state.round.saturating_add(1);
    let round_is_over = state.handoff.is_some() || state.rounds_completed == state.round;
    let more_rounds = if round_is_over { next.saturating_sub(draft.budget().caps.rounds) } else { 0 };
    let caps = CapChange { more_rounds, ..CapChange::default() };
    draft.record(Fact::RunReopened { by: by.clone(), caps, note: None });
    if round_is_over {
        record(draft, TaskFact::RoundOpened { round: next });
    }
    let handoff = Handoff { requirements_touched: Vec::new(), artifact: report.clone() };
    record(draft, TaskFact::HandoffTaken { handoff });
    go_on(draft);
}
