//! When a roadmap loop waits for a person, and what it would help to do.

use super::end::End;
use super::explain::resume_command;
use super::integrity::waive_command;
use super::outlook::without_branch;
use super::plane::RoundStage;
use super::state::State;
use crate::inbox::{Question, Waiting, room};
use crate::run::Run;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

/// Of the merged rounds, so many are told.
const TOLD: usize = 5;

pub(crate) fn waiting(run: &Run, state: &State, id: &str) -> Option<Waiting> {
    let end = state.end.as_ref()?;
    let (why, suggestion) = match end {
        End::Blocked { why } => (why, suggestion(state)),
        // One that never began is its starter's to mend; one in the middle rests until somebody did.
        End::NotReady { why } if state.plane.is_some() => {
            (why, "mend what is said, then retry; nothing was written into the files meanwhile".to_string())
        }
        _ => return None,
    };
    let more = room(&resume_command(run, end, id), id);
    let merged: Vec<String> = state
        .merged
        .iter()
        .map(|merged| format!("{} was merged as {}", merged.round, merged.commit))
        .collect();
    Some(Waiting {
        question: Question::Answer,
        cause: why.clone(),
        said: state.book.rounds.values().flat_map(|book| book.told.iter().cloned()).collect(),
        tree: None,
        tried: merged.into_iter().rev().take(TOLD).rev().collect(),
        suggestion,
        commands: waive_command(state, id)
            .into_iter()
            .chain([
                format!("windlass answer {id} \"…\"{more}"),
                format!("windlass retry {id}{more}"),
                "windlass roadmap inspect".to_string(),
                format!("windlass skip {id}"),
            ])
            .collect(),
    })
}

fn suggestion(state: &State) -> String {
    if !state.held_over_gate().is_empty() {
        return "look at what the round did to its tests and checks; waive it by name if it should be so, or say what is wrong"
            .to_string();
    }
    let given_up = state.given_up.keys().next().and_then(Clone::clone);
    match given_up.and_then(|round| state.plane.as_ref()?.round(&round).cloned()) {
        Some(round) if round.head.is_none() && !round.evidence.merged => {
            format!("{}; then retry", without_branch(&round))
        }
        // What keeps it is said, and is not in its worktree.
        Some(round) if was_to_be_merged(state, &round.id) => format!(
            "make room in your checkout as is said (move, commit or unstage what is named), then retry; {} is merged as it was \
             approved",
            round.id
        ),
        Some(round) => format!(
            "look at {} and its artifacts, mend what keeps it, then retry; it goes on from there",
            round.worktree
        ),
        None => "mend what is said, then retry; the state file says the same".to_string(),
    }
}

fn was_to_be_merged(state: &State, round: &str) -> bool {
    let book = state.book.rounds.get(round);
    book.is_some_and(|book| book.blocked_at == Some(RoundStage::FinalizeRound) && book.approval.is_some())
}
