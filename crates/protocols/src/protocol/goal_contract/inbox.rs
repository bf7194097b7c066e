//! When a goal loop waits for a person, and what it would help to do.

use super::end::{Cap, End, Proposed};
use super::explain::{after_escalation, answer_command, item_ways, resume_command};
use super::person::at_hand;
use super::state::State;
use crate::inbox::{Question, Waiting, room};
use crate::run::Run;
use crate::vocabulary::TreeId;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

/// Of the iterations of an item, so many are told.
const TOLD: usize = 5;

pub(crate) fn waiting(run: &Run, state: &State, id: &str) -> Option<Waiting> {
    let end = state.end.as_ref()?;
    let more = room(&resume_command(run, state, end, id), id);
    let retry = format!("windlass retry {id}{more}");
    let answer = answer_command(run, state, id);
    let (question, cause, suggestion, commands) = match end {
        End::AwaitsApproval { item, proposed } => {
            let what = match proposed {
                Proposed::Change { .. } => "the verified change",
                Proposed::Design { .. } => "the design",
            };
            let ways = alloc::vec![
                format!("windlass approve {id} --tree {}", proposed.name()),
                format!("windlass reject {id} --reason \"…\""),
                match proposed {
                    Proposed::Change { .. } => format!("windlass diff {id}"),
                    Proposed::Design { .. } => format!("windlass show {id}"),
                },
                format!("windlass take-over {id}"),
                format!("windlass skip {id}"),
            ];
            let suggestion = format!("read {what} of {item}, then approve or reject exactly that");
            (Question::Approval, format!("{what} of {item} waits for a yes or a no"), suggestion, ways)
        }
        End::Paused { iteration } => (
            Question::GoOn,
            format!("iteration {iteration} is done, and at L1 a person lets the next one begin"),
            "read what was committed, then let it go on".to_string(),
            alloc::vec![format!("windlass resume {id}{more}")],
        ),
        End::Escalated { cause } => {
            let ways = after_escalation(cause, answer, retry, id);
            (Question::Answer, cause.words(), cause.suggestion().to_string(), ways)
        }
        End::HardKill { cap: cap @ (Cap::Rework { .. } | Cap::Destructive { .. }) } => {
            let ways = alloc::vec![answer, retry].into_iter().chain(item_ways(id)).collect();
            let suggestion = "look at what was tried before it is tried again".to_string();
            (Question::Answer, format!("HARD KILL: {}", cap.sentence()), suggestion, ways)
        }
        // Who stopped it or gave it too little room knows; nobody is asked.
        End::Success
        | End::AsAsked { .. }
        | End::HardKill { .. }
        | End::Stopped { .. }
        | End::NotReady { .. } => return None,
    };
    Some(Waiting {
        question,
        cause,
        said: said(state),
        tree: state.open.as_ref().filter(|open| open.change.is_some()).map(|open| open.tree().clone()),
        tried: tried(state),
        suggestion,
        commands,
    })
}

/// What an approval has to name, if one is waited for.
pub(crate) fn proposed(state: &State) -> Option<TreeId> {
    match &state.end {
        Some(End::AwaitsApproval { proposed, .. }) => Some(TreeId::new(proposed.name())),
        _ => None,
    }
}

/// Whoever is asked to approve sees what the change did to its measures and who let it be.
fn said(state: &State) -> Vec<String> {
    if let (Some(End::AwaitsApproval { proposed: Proposed::Change { .. }, .. }), Some(open)) =
        (&state.end, &state.open)
    {
        return open.gate.story();
    }
    let Some(item) = at_hand(state) else { return Vec::new() };
    let last = state.item(&item).causes.pop();
    last.into_iter().flat_map(|failed| failed.issues).collect()
}

fn tried(state: &State) -> Vec<String> {
    let item = at_hand(state);
    let of_item = state.past.iter().filter(|past| item.as_ref().is_none_or(|item| past.item == *item));
    let lines: Vec<String> = of_item
        .map(|past| format!("iteration {} ({}): {}", past.number, past.item, past.ending.words()))
        .collect();
    lines.into_iter().rev().take(TOLD).rev().collect()
}
